"""Tables and counts of docs/reproduction.md."""

from collections.abc import Callable, Sequence
from itertools import product
from statistics import fmean
from typing import Any, Final

from robustpu.bench.report.kinds import Kind
from robustpu.bench.report.lowest import lowest
from robustpu.bench.report.paired_tests import FEWEST_PAIRS, mean_interval, signed_rank
from tools.figures.bench import (
    IMAGES,
    NAMES,
    PRIORS,
    TABLES,
    below,
    below_others,
    below_robust_pu,
    cell,
    error,
    in_paper,
    mean_error,
    slashes,
    table,
    was_run,
)

Rows = list[list[str]]
MAIN: Final = "main/oracle"
BASELINES: Final = ("pn", "upu", "nnpu")
PICTURES: Final = ("cifar10", "stl10")
SMALL: Final = (*IMAGES, *TABLES)
DATASETS: Final = (*PICTURES, *SMALL)


def _marked_errors(place: str, method: str, dataset: str) -> str:
    """Mean errors by prior, in italics where they are above the paper's; empty where not run."""
    texts = []
    for prior in PRIORS if was_run(place, method, dataset) else ():
        found = cell(place, method, dataset, prior).mean
        is_above = round(found, 2) > in_paper("robust-pu", dataset, prior).mean
        texts.append(f"*{found:.2f}*" if is_above else f"{found:.2f}")
    return " / ".join(texts)


def overview() -> Rows:
    """The paper, ours, the paper's own grid and the average of five, at all three priors."""
    rows = [["0.2 / 0.4 / 0.6", "paper", "Robust-PU, our search space", "the paper's grid"]]
    rows[0].append("5 best averaged")
    for dataset in DATASETS:
        paper = " / ".join(f"{in_paper('robust-pu', dataset, prior).mean:.2f}" for prior in PRIORS)
        places = [(MAIN, "robust-pu"), ("paper_grid/oracle", "robust-pu-paper")]
        row = [_marked_errors(*place, dataset) for place in [*places, (MAIN, "robust-pu-5")]]
        rows.append([NAMES.get(dataset, dataset), paper, *row])
    return rows


def counts() -> Rows:
    """How often each method is at or below the paper, below the baselines, and lowest."""
    names = ("pn", "upu", "nnpu", "pusb", "pubn", "pulns", "p3mix-c", "p3mix-e", "dist-pu")
    labels = {method.key: method.label for method in table(MAIN).methods}
    found = next(each for each in lowest(table(MAIN)) if each.kind is Kind.NETWORK)
    rows = [["oracle selection", "at or below the paper", "lower than PN, uPU and nnPU here"]]
    rows[0].append(f"lowest single network, of {len(found.compared)} cells")
    for name in (*names, "robust-pu", "robust-pu-5"):
        others = "" if name in BASELINES else below_others(MAIN, name, *BASELINES)
        count = str(found.counts[name] or "never") if name in found.counts else "an ensemble"
        rows.append([labels[name], below(MAIN, name), others, count])
    return rows


def advantage() -> Rows:
    """Points that Robust-PU is below the best of PN, uPU and nnPU, with p of the paired test."""
    rows = [["", *(f"{prior:g}" for prior in PRIORS)]]
    for dataset in (*SMALL, *PICTURES):
        row = []
        for prior in PRIORS:
            ours = cell(MAIN, "robust-pu", dataset, prior)
            rivals = [cell(MAIN, name, dataset, prior) for name in BASELINES]
            rival = min(rivals, key=lambda each: each.mean)
            differences = [rival.errors[trial] - ours.errors[trial] for trial in ours.errors]
            p = f" ({signed_rank(differences):.3f})" if len(differences) >= FEWEST_PAIRS else ""
            row.append(f"{rival.mean - ours.mean:.2f}{p}")
        rows.append([NAMES.get(dataset, dataset), *row])
    return rows


def without_negatives() -> Rows:
    """Errors of settings that were selected without negatives."""
    methods = ("nnpu", "nnpu-5", "p3mix-c", "robust-pu", "robust-pu-5")
    labels = {method.key: method.label for method in table("main/pu").methods}
    rows = [["", *(NAMES.get(dataset, dataset) for dataset in SMALL)]]
    for name in methods:
        rows.append([labels[name], *(error("main/pu", name, dataset) for dataset in SMALL)])
    printed = [
        error("paper_grid/pu", "robust-pu-paper", dataset)
        if was_run("paper_grid/pu", "robust-pu-paper", dataset)
        else ""
        for dataset in SMALL
    ]
    return [*rows, ["Robust-PU, the paper's grid", *printed]]


def baselines(what: str) -> str:
    """Count the cells of PN, uPU and nnPU that are below the paper's, or at half of it."""
    pairs = [
        (cell(MAIN, name, dataset, prior).mean, in_paper(name, dataset, prior).mean)
        for name, dataset, prior in product(BASELINES, DATASETS, PRIORS)
    ]
    factor = 0.5 if what == "half" else 1.0
    return f"{sum(round(ours, 2) <= factor * paper for ours, paper in pairs)} of {len(pairs)}"


def ahead(method: str, *datasets: str) -> str:
    """Count the cells of these data sets where a method is lower than Robust-PU."""
    pairs = [
        cell(MAIN, method, dataset, prior).mean < cell(MAIN, "robust-pu", dataset, prior).mean
        for dataset, prior in product(datasets, PRIORS)
    ]
    return f"{sum(pairs)} of {len(pairs)}"


def steadiest(method: str) -> str:
    """Count the compared cells where a method has the lowest standard deviation."""
    found = next(each for each in lowest(table(MAIN)) if each.kind is Kind.NETWORK)
    count = 0
    for dataset, prior in found.compared:
        deviations = {name: cell(MAIN, name, dataset, prior).ours.sd for name in found.counts}
        count += deviations[method] == min(deviations.values())
    return f"{count} of {len(found.compared)}"


def most_often_best(place: str, method: str) -> str:
    """Count the cells of an ablation where a variant has the lowest mean."""
    found = next(each for each in lowest(table(place)) if method in each.counts)
    return f"{found.counts[method]} of {len(found.compared)}"


def same_errors(first: str, second: str, dataset: str, prior: str = "") -> str:
    """Count the trials in which two methods have the same error, at a prior or at all."""
    count = total = 0
    for each in [float(prior)] if prior else PRIORS:
        one, two = (
            cell(place, method, dataset, each).errors
            for place, _, method in (name.rpartition("/") for name in (first, second))
        )
        count += sum(one[trial] == two.get(trial) for trial in one)
        total += len(one)
    return f"{count} of {total}"


# The paper's own grid.
GRID: Final = ("paper_grid", "robust-pu-paper")


def _differences(first: str, second: str, datasets: Sequence[str]) -> list[float]:
    """Error of the first minus that of the second, a pair a trial, over cells both have."""
    ours, theirs = (tuple(name.rsplit("/", 1)) for name in (first, second))
    pairs = [
        (cell(*ours, dataset, prior).errors, cell(*theirs, dataset, prior).errors)
        for dataset, prior in product(datasets or TABLES, PRIORS)
    ]
    return [one[trial] - two[trial] for one, two in pairs for trial in one]


def with_interval(differences: Sequence[float], digits: int = 2) -> str:
    """Write a mean and Student's 95 % interval."""
    low, high = mean_interval(differences)
    return f"{fmean(differences):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def difference(first: str, second: str, *datasets: str) -> str:
    """Mean difference of two methods over paired trials, and its interval."""
    return with_interval(_differences(first, second, datasets))


def tuned_correction() -> Rows:
    """Error of nnPU and of Robust-PU, both tuned, and the difference; one network and five."""
    rows = [["", "selected", "nnPU", "Robust-PU", "gain"]]
    ways = {"oracle": "by true labels", "pu": "without negatives"}
    groups = {"tables": TABLES, "MNISTs": IMAGES}
    for name, selection, suffix in product(groups, ways, ("", "-5")):
        pair = [f"main/{selection}/{method}{suffix}" for method in ("nnpu", "robust-pu")]
        means = [mean_error(*each.rsplit("/", 1), *groups[name]) for each in pair]
        how = "5 best averaged" if suffix else "one network"
        gain = with_interval(_differences(*pair, groups[name]))
        rows.append([f"{name}, {how}", ways[selection], *means, gain])
    return rows


def validated() -> Rows:
    """Validation error of what was selected by it, and its test error, over the tables."""
    rows = [["mean of nine cells", "validation error of the selected", "its test error", "factor"]]
    labels = {method.key: method.label for method in table(MAIN).methods}
    for name in ("nnpu", "robust-pu", "robust-pu-5"):
        scores = [
            record["scores"]
            for record in table(MAIN).records
            if record["method"] == name and record["dataset"] in TABLES
        ]
        validation = fmean(100 - each["validation"] for each in scores)
        test = fmean(each["error"] for each in scores)
        rows.append([labels[name], f"{validation:.2f}", f"{test:.2f}", f"{test / validation:.1f}"])
    return rows


def printed_grid() -> Rows:
    """The paper's grid beside our search space, over the tables and over the MNISTs."""
    rows = [["mean error", "tables, by true labels", "tables, without negatives"]]
    rows[0].append("MNISTs, by true labels")
    experiment, name = GRID
    oracle, pu = f"{experiment}/oracle", f"{experiment}/pu"
    for method, label in {
        "nnpu": "nnPU",
        "robust-pu": "Robust-PU, our search space",
        name: "Robust-PU, the paper's grid",
    }.items():
        means = [mean_error(oracle, method), mean_error(pu, method)]
        rows.append([label, *means, mean_error(oracle, method, *IMAGES)])
    paper = [
        fmean(in_paper("robust-pu", *key).mean for key in product(group, PRIORS))
        for group in (TABLES, IMAGES)
    ]
    theirs = "Robust-PU in the paper, overlapping validation"
    return [*rows, [theirs, f"{paper[0]:.2f}", "", f"{paper[1]:.2f}"]]


def _validated(experiment: str, dataset: str, prior: float) -> dict[int, tuple[float, float]]:
    """Trial -> test error and validation error of what was selected."""
    return {
        record["trial"]: (record["scores"]["error"], 100 - record["scores"]["validation"])
        for record in table(f"{experiment}/oracle").records
        if (record["method"], record["dataset"], record["prior"]) == (GRID[1], dataset, prior)
    }


def _overlap_pairs(dataset: str) -> list[tuple[tuple[float, float], ...]]:
    """(disjoint, overlapping), each (test error, validation error), a pair a prior and trial."""
    pairs = []
    for prior in PRIORS:
        disjoint, overlapping = (
            _validated(name, dataset, prior) for name in (GRID[0], "paper_overlapping")
        )
        pairs += [(disjoint[trial], overlapping[trial]) for trial in sorted(overlapping)]
    return pairs


def overlap() -> Rows:
    """What validation rows that overlap with training rows are worth."""
    sets = {NAMES.get(dataset, dataset): _overlap_pairs(dataset) for dataset in SMALL}
    sets["all"] = [pair for pairs in sets.values() for pair in pairs]
    rows = [["", "test error, disjoint", "overlapping", "difference"]]
    rows[0] += ["validation error, disjoint", "overlapping"]
    for label, pairs in sets.items():
        test, validation = ([[pair[side][k] for pair in pairs] for side in (0, 1)] for k in (0, 1))
        gain = [two - one for one, two in zip(*test, strict=True)]
        means = [[f"{fmean(side):.2f}" for side in sides] for sides in (test, validation)]
        rows.append([label, *means[0], with_interval(gain), *means[1]])
    return rows


SEARCHED: Final = {
    "nnpu": "nnpu",
    "robust-pu": "robust-pu",
    "p3mix-c": "p3mix",
    "dist-pu": "dist-pu",
}


def searched_pictures() -> Rows:
    """CIFAR-10 with searched settings: the paper's errors, ours, and points below nnPU."""
    place = "pictures/oracle"
    labels = {method.key: method.label for method in table(place).methods}
    rows = [["0.2 / 0.4 / 0.6", "paper", "here", "trials"]]
    rows[0] += [f"below nnPU, {prior:g}" for prior in PRIORS]
    for name, theirs in SEARCHED.items():
        found = [table(place).cells["cifar10", prior, name].errors for prior in PRIORS]
        paper = slashes(in_paper(theirs, "cifar10", prior).mean for prior in PRIORS)
        ours = slashes(fmean(errors.values()) for errors in found)
        row = [labels[name], paper, ours, str(len(found[0]))]
        for prior, errors in zip(PRIORS, found, strict=True):
            base = table(place).cells["cifar10", prior, "nnpu"].errors
            gains = [base[trial] - errors[trial] for trial in errors]
            row.append("" if name == "nnpu" else with_interval(gains))
        rows.append(row)
    return rows


def at_start(*priors: str) -> str:
    """Count the trials on CIFAR-10 in which the pre-trained network was selected."""
    chosen = [
        record["iterations"] == [0]
        for record in table("pictures/oracle").records
        if record["method"] == "robust-pu" and f"{record['prior']:g}" in priors
    ]
    return f"{sum(chosen)} of {len(chosen)}"


AVERAGED: Final = {
    "robust-pu-balanced": "Robust-PU, balanced",
    "robust-pu-printed": "Robust-PU, printed",
    "nnpu-40": "nnPU",
}


def averaged() -> Rows:
    """Forty networks of one setting, nothing searched, beside the paper's Robust-PU."""
    ways = {"averaged/oracle": "by true labels", "averaged/pu": "without negatives"}
    keys = [*product(ways, AVERAGED)]
    datasets = [name for name in SMALL if all(was_run(*key, name) for key in keys)]
    theirs = [in_paper("robust-pu", *key).mean for key in product(datasets, PRIORS)]
    rows = [["0.2 / 0.4 / 0.6", "selected", *(NAMES.get(name, name) for name in datasets)]]
    rows[0] += ["mean", "at or below the paper's Robust-PU"]
    by_dataset = [slashes(theirs[start : start + 3]) for start in range(0, len(theirs), 3)]
    rows.append(["paper's Robust-PU", "by true labels", *by_dataset, f"{fmean(theirs):.2f}", ""])
    for place, method in keys:
        row = [
            AVERAGED[method],
            ways[place],
            *(_marked_errors(place, method, name) for name in datasets),
        ]
        count = below_robust_pu(place, method, *datasets)
        rows.append([*row, mean_error(place, method, *datasets), count])
    return rows


def averaged_below(selection: str) -> str:
    """Count, of each of these, the tables' cells at or below the paper's Robust-PU."""
    counts = [below_robust_pu(f"averaged/{selection}", name, *TABLES) for name in AVERAGED]
    *first, last = (count.split()[0] for count in counts)
    return f"{', '.join(first)} and {last}"


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "reproduction-overview": overview,
    "reproduction-counts": counts,
    "reproduction-advantage": advantage,
    "reproduction-pu": without_negatives,
    "baselines-below": baselines,
    "ahead-of-robust-pu": ahead,
    "steadiest": steadiest,
    "best-variant": most_often_best,
    "same-errors": same_errors,
    "paired-difference": difference,
    "printed-grid": printed_grid,
    "validated": validated,
    "tuned-correction": tuned_correction,
    "overlap": overlap,
    "searched-pictures": searched_pictures,
    "searched-at-start": at_start,
    "averaged": averaged,
    "averaged-below": averaged_below,
}
