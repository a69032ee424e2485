"""Records as the bench writes them, made up."""

from itertools import product


def record(**changes):
    """One finished trial; ``error`` is put where it belongs, ``None`` takes a field away."""
    error = changes.pop("error", 3.0)
    whole = {
        "experiment": "table3",
        "title": "Main results",
        "table": "main",
        "dataset": "mnist",
        "method": "nnpu",
        "label": "nnPU",
        "x": None,
        "prior": 0.2,
        "trial": 0,
        "seed": 0,
        "selection": "oracle",
        "validation": "disjoint",
        "tune": "cell",
        "fingerprint": "abc",
        "candidates": 24,
        "candidate": 7,
        "settings": {"lr": 0.01},
        "scores": {"error": error, "auc": 99.0},
        "tried": [96.4],
        "seconds": 0.5,
        "versions": {"robustpu": "0.1.0", "torch": "2.11.0"},
        "device": "NVIDIA H200",
    }
    whole.update(changes)
    if "failure" in whole:
        for name in ("candidate", "settings", "scores", "tried"):
            del whole[name]
    return whole


def trials(errors, **changes):
    """A cell: one record a trial."""
    return [record(trial=i, error=error, **changes) for i, error in enumerate(errors)]


def table3():
    """Two methods, two data sets, two priors, both selections, ten trials; ours is robust-pu."""
    records = []
    for selection, dataset, prior in product(("oracle", "pu"), ("mnist", "cifar10"), (0.2, 0.4)):
        common = {"selection": selection, "dataset": dataset, "prior": prior}
        base = {"mnist": 3.0, "cifar10": 8.0}[dataset] + 5 * prior
        for method, label, more in (("nnpu", "nnPU", 5.0), ("robust-pu", "Robust-PU", 0.0)):
            errors = [round(base + more + 0.1 * (7 * i % 10), 2) for i in range(10)]
            records += trials(errors, method=method, label=label, **common)
    return records


def families():
    """Two variants of one method ahead of another method, with its own name in the paper."""
    lowest, second, other = ([base + 0.1 * i for i in range(8)] for base in (3.0, 3.2, 5.0))
    return [
        *trials(lowest, method="robust-pu-5", label="Five best", paper="robust-pu"),
        *trials(second, method="robust-pu", label="Robust-PU", paper="robust-pu"),
        *trials(other, paper="nnpu"),
    ]


def large(datasets, methods):
    """A table of three priors with long names, in which every cell has a figure of the paper."""
    return [
        row
        for dataset, prior, i in product(datasets, (0.2, 0.4, 0.6), range(methods))
        for row in trials(
            [12.34 + i, 23.45 + i] * 3,
            dataset=dataset,
            prior=prior,
            method=f"m{i}",
            label=f"Robust-PU, {i} best",
            paper="robust-pu",
        )
    ]


def temperature(**changes):
    """A sweep over three temperatures."""
    records = []
    for x, prior in product((0.5, 1.0, 2.0), (0.2, 0.4)):
        sides = ("curriculum__temperature_positive", "curriculum__temperature_unlabeled")
        settings = {**dict.fromkeys(sides, x), "lr": 0.01}
        common = {"x": x, "prior": prior, "settings": settings, "method": f"t{x:g}"}
        common |= {"experiment": "temperature", "title": "Error against temperature"}
        errors = [3 + prior + abs(x - 1) + 0.1 * i for i in range(3)]
        records += trials(errors, table=None, label=f"τ = {x:g}", **common, **changes)
    return records
