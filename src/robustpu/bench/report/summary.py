"""A table in sentences: comparison with the paper, lowest errors, tests, tuning, cost."""

import math
from collections.abc import Iterable
from typing import Final

from robustpu.bench.report.cells import SIGNIFICANT, Cell
from robustpu.bench.report.kinds import Kind
from robustpu.bench.report.lowest import lowest
from robustpu.bench.report.paired_tests import FEWEST_PAIRS
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import selection, spread, trials
from robustpu.bench.store import key_of
from robustpu.charts.wording import duration

TUNE: Final = {
    "cell": "one setting for all trials of a cell, by its mean validation score",
    "trial": "one setting for each trial, by its validation score",
}

POOL: Final = (
    "All trials are drawn from one pool of rows and overlap, so tests and intervals tell chance of "
    "the draw and of the seed, and are too sure for other data."
)


def sentences(table: Table) -> list[str]:
    """Say what the table shows; `lowest.sentences` come before.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    sentences
        Paired tests, comparison with the paper, trials and tuning, cost.
    """
    return [line for line in (_ahead(table), _against_paper(table), _tuning(table)) if line] + [
        _cost(table)
    ]


def at_or_below(cells: Iterable[Cell]) -> tuple[int, int]:
    """Count the cells at or below the paper.

    Parameters
    ----------
    cells
        Any cells; incomplete ones and those that the paper does not have are not counted.

    Returns
    -------
    count, total
        At or below, and compared.
    """
    verdicts = [cell.at_or_below for cell in cells if cell.at_or_below is not None]
    return sum(verdicts), len(verdicts)


def seconds(table: Table) -> float:
    """Add up the wall-clock time of the training, also that of parallel processes.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    seconds
        Of all trials, also failed ones. A training that methods share is counted once.
    """
    return math.fsum(trainings(table).values())


def trainings(table: Table) -> dict[tuple[object, ...], float]:
    """Give the wall-clock time of each training of a trial, by its identity.

    Parameters
    ----------
    table
        The table.
    """
    return {
        (record.get("training") or key_of(record), record["trial"]): (record.get("seconds") or 0.0)
        for record in table.records
    }


def devices(table: Table) -> list[str]:
    """Name the hardware.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    devices
        In order of first appearance.
    """
    return _distinct(record.get("device") for record in table.records)


def _against_paper(table: Table) -> str:
    """Count single networks, as the paper has; ensembles are counted apart."""
    parts = []
    for kind in Kind:
        keys = [method.key for method in table.methods if method.kind is kind]
        counts = {key: at_or_below(_cells(table, key)) for key in keys}
        each = [
            f"{table.label(key)} in {below} of {total}"
            for key, (below, total) in counts.items()
            if total
        ]
        if not each:
            continue
        below, total = (sum(numbers) for numbers in zip(*counts.values(), strict=True))
        together = f"; together in {below} of {total} cells" if len(each) > 1 else " cells"
        whose = "" if kind is Kind.NETWORK else f" ({kind}s against the paper's single networks)"
        parts.append(f"At or below the paper{whose}: {', '.join(each)}{together}.")
    return " ".join(parts)


def _cells(table: Table, method: str) -> list[Cell]:
    return [cell for prior in table.priors for cell in table.row(prior, method)]


def _ahead(table: Table) -> str:
    """Count significant tests, on cells that all methods of a kind have."""
    kinds = {method.key: method.kind for method in table.methods}
    compared = {(found.kind, place) for found in lowest(table) for place in found.compared}
    tests = [
        test
        for test in table.paired_tests
        if (kinds[test.best], (test.dataset, test.prior)) in compared
    ]
    if not tests:
        return ""
    if all(test.p is None for test in tests):
        return f"With fewer than {FEWEST_PAIRS} trials no paired test can be significant."
    ahead = sum(test.significant for test in tests)
    return (
        f"There the best is significantly ahead of its best rival in {ahead} of {len(tests)} "
        "comparisons (Wilcoxon's signed-rank test over the trials, two-sided, "
        f"p < {SIGNIFICANT:g}, not corrected for the number of tests). {POOL}"
    )


def _tuning(table: Table) -> str:
    count = trials(table)
    tried = [record["candidates"] for record in table.records if record.get("candidates")]
    if not tried or max(tried) == 1:
        return f"{count} per cell, {selection(table)}; nothing was tuned."
    how = TUNE.get(table.tune, table.tune)
    settings = spread(tried, "candidate setting")
    return f"{count} per cell, {selection(table)}; {settings} per method, {how}."


def _cost(table: Table) -> str:
    found: dict[str, dict[str, None]] = {}
    for record in table.records:
        for name, version in (record.get("versions") or {}).items():
            found.setdefault(name, {})[version] = None
    versions = [f"{name} {' and '.join(each)}" for name, each in found.items()]
    where = " and ".join(devices(table)) or "unknown hardware"
    versions += _commits(table)
    what = f" ({', '.join(versions)})" if versions else ""
    spent = duration(seconds(table))
    count = spread([len(table.records)], "trial")
    return f"{count} took {spent} (sum over processes) on {where}{what}."


def _commits(table: Table) -> list[str]:
    """Name the commits, and say how many records are of changed code or of none that is known."""
    commits = _distinct(record.get("commit") for record in table.records)
    if not commits:
        return []
    changed = sum(record.get("clean") is False for record in table.records)
    unknown = sum(not record.get("commit") for record in table.records)
    words = [f"commit {' and '.join(commit[:7] for commit in commits)}"]
    words += [f"{spread([changed], 'trial')} with uncommitted changes"] if changed else []
    return words + ([f"{spread([unknown], 'trial')} without a commit"] if unknown else [])


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
