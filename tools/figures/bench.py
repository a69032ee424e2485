"""Figures from the records of the bench, ``experiments/results/*.jsonl``."""

from collections.abc import Callable, Iterable
from functools import cache
from statistics import fmean
from typing import Any, Final

from robustpu.bench.paper import MeanSD, references
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.kinds import Kind
from robustpu.bench.report.lowest import lowest
from robustpu.bench.report.tables import Table, tables
from robustpu.bench.store import read
from tools.figures.stored import RESULTS

PRIORS: Final = (0.2, 0.4, 0.6)
TABLES: Final = ("mushrooms", "shuttle", "spambase")
IMAGES: Final = ("mnist", "fashion-mnist")
NAMES: Final = {
    "cifar10": "CIFAR-10",
    "stl10": "STL-10",
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
}


@cache
def table(place: str) -> Table:
    """Make the table of an experiment and a selection, ``main/oracle``."""
    experiment, _, selection = place.partition("/")
    made = tables(read(RESULTS / f"{experiment}.jsonl"))
    return next(each for each in made if each.selection == selection)


def cell(place: str, method: str, dataset: str, prior: float) -> Cell:
    """One cell of a table; an incomplete one is refused."""
    found = table(place).cells[dataset, prior, method]
    if not found.was_run:
        raise ValueError(f"{place}: {dataset}/{method}/{prior} is not stored.")
    return found


def was_run(place: str, method: str, *datasets: str) -> bool:
    """Whether a method is stored on these data sets at all priors."""
    cells = table(place).cells
    wanted = [(dataset, prior, method) for dataset in datasets for prior in PRIORS]
    return all(key in cells and cells[key].was_run for key in wanted)


def mean(place: str, method: str, datasets: Iterable[str], prior: float) -> float:
    """Mean error over data sets."""
    return fmean(cell(place, method, dataset, prior).mean for dataset in datasets)


def in_paper(method: str, dataset: str, prior: float, name: str = "main") -> MeanSD:
    """What the paper prints."""
    found = references()[name].find(method, prior, dataset)
    if found is None:
        raise ValueError(f"the paper has no {dataset}/{method}/{prior}.")
    return found


def slashes(values: Iterable[float]) -> str:
    """Write a mean a prior: ``0.54 / 0.35 / 0.85``."""
    return " / ".join(f"{value:.2f}" for value in values)


# In sentences.


def error(place: str, method: str, dataset: str, prior: str = "") -> str:
    """Mean error at a prior, or at all three."""
    priors = [float(prior)] if prior else PRIORS
    return slashes(cell(place, method, dataset, each).mean for each in priors)


def mean_error(place: str, method: str, *datasets: str) -> str:
    """Mean over data sets and priors."""
    return f"{fmean(mean(place, method, datasets or TABLES, prior) for prior in PRIORS):.2f}"


def paper(method: str, dataset: str, prior: str, name: str = "main") -> str:
    """Mean error that the paper prints."""
    return f"{in_paper(method, dataset, float(prior), name).mean:.2f}"


def below(place: str, method: str, *datasets: str) -> str:
    """Count the cells whose mean is at or below the paper's: ``10 of 21``."""
    cells = [
        each
        for (dataset, _, key), each in table(place).cells.items()
        if key == method and (not datasets or dataset in datasets)
    ]
    verdicts = [each.at_or_below for each in cells if each.at_or_below is not None]
    return f"{sum(verdicts)} of {len(verdicts)}"


def below_robust_pu(place: str, method: str, *datasets: str) -> str:
    """Count the cells whose mean is at or below that of the paper's Robust-PU."""
    verdicts = [
        round(cell(place, method, dataset, prior).mean, 2)
        <= in_paper("robust-pu", dataset, prior).mean
        for dataset in datasets
        for prior in PRIORS
    ]
    return f"{sum(verdicts)} of {len(verdicts)}"


def below_others(place: str, method: str, *others: str) -> str:
    """Count the cells where a mean is lower than those of all these."""
    wins = [
        each.mean < min(cell(place, other, dataset, prior).mean for other in others)
        for (dataset, prior, key), each in table(place).cells.items()
        if key == method and each.was_run
    ]
    return f"{sum(wins)} of {len(wins)}"


def lowest_in(place: str, *methods: str) -> str:
    """Count the cells where one of these methods is lowest of its kind."""
    found = next(each for each in lowest(table(place)) if methods[0] in each.counts)
    return str(sum(found.counts[method] for method in methods))


def compared(place: str) -> str:
    """Count the cells where all single networks have the same trials."""
    found = next(each for each in lowest(table(place)) if each.kind is Kind.NETWORK)
    return str(len(found.compared))


def settings_with(place: str, method: str, name: str, value: str) -> str:
    """Count the cells whose selected setting has this value: ``15 of 21``."""
    selected = {
        (record["dataset"], record["prior"]): record["settings"].get(name)
        for record in table(place).records
        if record["method"] == method
    }
    count = sum(str(each).lower() == value.lower() for each in selected.values())
    return f"{count} of {len(selected)}"


def significant(place: str) -> str:
    """Count the cells where the best is significantly ahead of the second."""
    tests = table(place).paired_tests
    return f"{sum(test.significant for test in tests)} of {len(tests)}"


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "below": below,
    "below-robust-pu": below_robust_pu,
    "below-others": below_others,
    "compared": compared,
    "error": error,
    "lowest": lowest_in,
    "mean-error": mean_error,
    "paper": paper,
    "settings-with": settings_with,
    "significant": significant,
}
