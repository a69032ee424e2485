"""Records -> tables: means, the best of each kind, paired tests, and the paper's errors."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TypeAlias

from robustpu.bench.paper import Reference, references
from robustpu.bench.protocol import PROTOCOLS
from robustpu.bench.report.cells import Cell
from robustpu.bench.report.kinds import Kind, kind_of, label_of
from robustpu.bench.report.paired_tests import PairedTest, rank
from robustpu.bench.report.records import Record, check, identity
from robustpu.bench.store import key_of
from robustpu.datasets.catalogue import SOURCES

Key: TypeAlias = tuple[str, float, str]  # data set, prior, method


@dataclass(frozen=True)
class Method:
    """A row.

    Parameters
    ----------
    key, label
        Its name in the records, and its name in the report.
    x
        Its value on the axis of a sweep.
    paper
        Its name in the paper.
    family
        Methods of one family are variants of each other, not rivals.
    kind
        What it trains; methods are compared with others of their kind only.
    """

    key: str
    label: str
    x: float | None
    paper: str
    family: str
    kind: Kind


@dataclass(frozen=True)
class Table:
    """One experiment under one way of selection.

    Parameters
    ----------
    experiment, title
        Name of its file, and its heading.
    selection, validation, tune
        As in the records.
    reference
        The paper's table; None where it has no error for any cell.
    datasets, priors, methods
        Columns, row groups, rows. Priors ascend, and so do methods with an x; the others are in the
        paper's order, then in order of first appearance.
    cells
        All of them, also those that were not run.
    paired_tests
        The best of each kind against its best rival.
    records
        What the table was made of.
    """

    experiment: str
    title: str
    selection: str
    validation: str
    tune: str
    reference: Reference | None
    datasets: tuple[str, ...]
    priors: tuple[float, ...]
    methods: tuple[Method, ...]
    cells: Mapping[Key, Cell]
    paired_tests: tuple[PairedTest, ...]
    records: tuple[Record, ...]

    def row(self, prior: float, method: str) -> list[Cell]:
        """Cells of a row, one per data set."""
        return [self.cells[dataset, prior, method] for dataset in self.datasets]

    def label(self, method: str) -> str:
        """Name of a method in the report."""
        return next(row.label for row in self.methods if row.key == method)


def tables(records: Iterable[Record]) -> list[Table]:
    """Make one table per experiment and selection.

    Cells that differ in validation or tuning never share a table.

    Parameters
    ----------
    records
        Of any number of experiments, one per trial. See `robustpu.bench.store.read`.

    Returns
    -------
    tables
        Those of the paper first, in its order, all others by name; a pure function of the records.

    Raises
    ------
    ValueError
        A record lacks a field, or there are two records of one trial.
    """
    groups: dict[tuple[str, ...], list[Record]] = {}
    keys = set()
    for record in records:
        check(record)
        key = key_of(record)
        if key in keys:
            raise ValueError(
                f"two records of one trial: {identity(record)}. Give only one of the files."
            )
        keys.add(key)
        kind = tuple(record[name] for name in ("experiment", "selection", "validation", "tune"))
        groups.setdefault(kind, []).append(record)
    return [_table(group) for group in sorted(groups.values(), key=_order)]


def _order(group: Sequence[Record]) -> tuple[int, bool, str, bool]:
    """Sort as the paper does, its own tables before others with the same name; oracles first."""
    known = [*references()]
    name, experiment = group[0].get("table"), group[0]["experiment"]
    place = known.index(name) if name in known else len(known)
    return place, experiment != name, experiment, group[0]["selection"] != "oracle"


def _table(records: Sequence[Record]) -> Table:
    first = records[0]
    by_key: dict[Key, list[Record]] = {}
    for record in records:
        key = record["dataset"], float(record["prior"]), record["method"]
        by_key.setdefault(key, []).append(record)
    reference = references().get(first.get("table") or "")
    methods = _methods(records, reference)
    datasets = list(dict.fromkeys(dataset for dataset, _, _ in by_key))
    if reference:
        printed = reference.datasets()
        datasets.sort(key=lambda name: _place(name, printed))
    priors = sorted({prior for _, prior, _ in by_key})
    families = {method.key: method.family for method in methods}
    cells: dict[Key, Cell] = {}
    tests = []
    for prior, dataset, kind in product(priors, datasets, Kind):
        group = _cells(
            by_key, dataset, prior, [row for row in methods if row.kind is kind], reference
        )
        ranked, test = rank(group, dataset, prior, families)
        cells |= {(dataset, prior, name): cell for name, cell in ranked.items()}
        tests += [test] if test else []
    return Table(
        experiment=first["experiment"],
        title=first["title"],
        selection=first["selection"],
        validation=first["validation"],
        tune=first["tune"],
        reference=reference if any(cell.paper for cell in cells.values()) else None,
        datasets=tuple(datasets),
        priors=tuple(priors),
        methods=methods,
        cells=cells,
        paired_tests=tuple(tests),
        records=tuple(records),
    )


def _methods(records: Iterable[Record], reference: Reference | None) -> tuple[Method, ...]:
    """Find the rows, in the order of a sweep, of the paper, or of the records."""
    by_name: dict[str, list[Record]] = {}
    for record in records:
        by_name.setdefault(record["method"], []).append(record)
    first = {name: group[0] for name, group in by_name.items()}
    in_paper = {name: record.get("paper") or name for name, record in first.items()}
    # What the paper has under one name is a family, except for the values of a sweep.
    families = {
        name: in_paper[name] if record.get("x") is None else name for name, record in first.items()
    }
    if len(set(families.values())) == 1:
        # Without any other family in the table, variants are each other's rivals.
        families = {name: name for name in first}
    methods = [
        Method(
            name,
            label_of(record),
            record.get("x"),
            in_paper[name],
            families[name],
            kind_of(by_name[name]),
        )
        for name, record in first.items()
    ]
    if all(method.x is not None for method in methods):
        methods.sort(key=lambda method: method.x or 0.0)
    elif reference:
        printed = list(reference.errors)
        methods.sort(key=lambda method: _place(method.paper, printed))
    return tuple(methods)


def _place(name: str, printed: Sequence[str]) -> int:
    """Where the paper prints a name; what it does not have comes last."""
    return printed.index(name) if name in printed else len(printed)


def _cells(
    by_key: Mapping[Key, Sequence[Record]],
    dataset: str,
    prior: float,
    methods: Sequence[Method],
    reference: Reference | None,
) -> dict[str, Cell]:
    """Make the cells of one kind of methods."""
    stored = {method.key: by_key.get((dataset, prior, method.key), []) for method in methods}
    current = {name: _current(records) for name, records in stored.items()}
    all_records = [record for records in current.values() for record in records]
    rows = {_rows(record) for record in all_records if not record.get("failure")}
    return {
        method.key: Cell(
            errors={
                record["trial"]: float(record["scores"]["error"])
                for record in sorted(current[method.key], key=lambda record: record["trial"])
                if not record.get("failure")
            },
            failures=tuple(r["failure"] for r in current[method.key] if r.get("failure")),
            expected=frozenset(record["trial"] for record in all_records),
            most_trials=max(len(records) for records in by_key.values()),
            dropped=len(stored[method.key]) - len(current[method.key]),
            same_rows=len(rows) < 2,
            paper_sizes=all(_has_paper_sizes(record) for record in current[method.key]),
            paper=reference.find(method.paper, prior, dataset) if reference else None,
            rows_used=_rows_used(dataset, current[method.key]),
        )
        for method in methods
    }


def _current(records: Sequence[Record]) -> list[Record]:
    """Keep the records with the plan and the data of the latest one."""
    if not records:
        return []
    last = records[-1]
    return [
        record
        for record in records
        if record["fingerprint"] == last["fingerprint"]
        and (record.get("failure") or last.get("failure") or record.get("data") == last.get("data"))
    ]


def _rows(record: Record) -> str:
    """Identify the rows of a trial: how many in each part, and of which data."""
    return json.dumps([record.get("sizes"), record.get("data"), record["validation"]])


def _rows_used(dataset: str, records: Sequence[Record]) -> str:
    """Say how many rows there were of how many, if not all."""
    found = max((record.get("rows") or 0 for record in records), default=0)
    known = SOURCES[dataset].rows if dataset in SOURCES else found
    return f"{found:,} of {known:,}" if 0 < found < known else ""


def _has_paper_sizes(record: Record) -> bool:
    sizes, protocol = record.get("sizes"), PROTOCOLS.get(record["dataset"])
    return sizes is None or protocol is None or sizes == asdict(protocol.sizes)
