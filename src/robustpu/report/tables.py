"""Records -> tables: mean and deviation, the best, paired tests, and the paper's figures beside."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeAlias

from robustpu.bench.paper import Reference, references
from robustpu.bench.protocol import PROTOCOLS
from robustpu.bench.store import KEY, key_of
from robustpu.datasets.catalogue import SOURCES
from robustpu.report.cells import Cell
from robustpu.report.duels import Duel, rank

Record: TypeAlias = Mapping[str, Any]
Key: TypeAlias = tuple[str, float, str]  # data set, prior, method

TEXT, NUMBER = (str,), (int, float)
FIELDS: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("experiment", "dataset", "method", "selection"), TEXT),
    **dict.fromkeys(("title", "validation", "tune", "fingerprint"), TEXT),
    **dict.fromkeys(("prior", "trial"), NUMBER),
}
# No count, time or place is larger.
MOST: Final = 1e12
OPTIONAL: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("table", "label", "paper", "data", "training", "device", "failure"), TEXT),
    **dict.fromkeys(("x", "candidates", "seconds", "rows"), NUMBER),
    **dict.fromkeys(("settings", "sizes", "versions"), (dict,)),
}


@dataclass(frozen=True)
class Method:
    """A row.

    Parameters
    ----------
    key, label
        Its name in the records, and its name for people.
    x
        Its place on the axis of a sweep.
    family
        Methods of one family are variants of one another, and no rivals.
    """

    key: str
    label: str
    x: float | None
    family: str


@dataclass(frozen=True)
class Table:
    """One experiment under one way of selecting.

    Parameters
    ----------
    experiment, title
        Name of its file, and what to write above it.
    selection, validation, tune
        As in the records.
    reference
        The paper's table; None where it has no figure for any cell.
    datasets, priors, methods
        Columns, row groups, rows. Priors ascend, and so do methods with an x; the others are in
        order of first appearance.
    cells
        All of them, also those that were not run.
    duels
        The best against its best rival, where methods of two families have all trials.
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
    duels: tuple[Duel, ...]
    records: tuple[Record, ...]

    def row(self, prior: float, method: str) -> list[Cell]:
        """Cells of a row, one a data set."""
        return [self.cells[dataset, prior, method] for dataset in self.datasets]

    def label(self, method: str) -> str:
        """Name of a method for people."""
        return next(row.label for row in self.methods if row.key == method)


def tables(records: Iterable[Record]) -> list[Table]:
    """Make one table an experiment and selection.

    Cells whose validation rows or whose way of tuning differ never share a table.

    Parameters
    ----------
    records
        Of any number of experiments, one a trial. See `robustpu.bench.store.read`.

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
    seen = set()
    for record in records:
        check(record)
        key = key_of(record)
        if key in seen:
            raise ValueError(
                f"two records of one trial: {_identity(record)}. Give only one of the files."
            )
        seen.add(key)
        kind = tuple(record[name] for name in ("experiment", "selection", "validation", "tune"))
        groups.setdefault(kind, []).append(record)
    return [_table(group) for group in sorted(groups.values(), key=_place)]


def _place(group: Sequence[Record]) -> tuple[int, bool, str, bool]:
    """Where a table stands: as in the paper, before others that take its figures; oracles first."""
    known = [*references()]
    name, experiment = group[0].get("table"), group[0]["experiment"]
    place = known.index(name) if name in known else len(known)
    return place, experiment != name, experiment, group[0]["selection"] != "oracle"


def check(record: Record) -> None:
    """Refuse a record that cannot stand in a table.

    Parameters
    ----------
    record
        One line of a result file.

    Raises
    ------
    ValueError
        A field is missing or of the wrong type, or there is neither an error nor a failure.
    """
    for name, kinds in (FIELDS | OPTIONAL).items():
        value = record.get(name)
        if not isinstance(value, kinds) and (name in FIELDS or value is not None):
            wanted = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{name} must be {wanted}, not {value!r}, in {_identity(record)}")
    scores = record.get("scores")
    numbers = {
        "prior": (record["prior"], 0, 1),
        "trial": (record["trial"], 0, MOST),
        "seconds": (record.get("seconds") or 0, 0, MOST),
        "x": (record.get("x") or 0, -MOST, MOST),
        "rows": (record.get("rows") or 0, 0, MOST),
    }
    if not record.get("failure"):
        error = scores.get("error") if isinstance(scores, dict) else None
        numbers["scores.error"] = (error, 0, 100)
    for name, (value, least, most) in numbers.items():
        if not isinstance(value, NUMBER) or not least <= value <= most:
            raise ValueError(
                f"{name} must be a number from {least:g} to {most:g}, not {value!r}, in "
                f"{_identity(record)}"
            )
    if not all(isinstance(value, str) for value in (record.get("versions") or {}).values()):
        raise ValueError(f"versions must be texts, in {_identity(record)}")


def _identity(record: Record) -> str:
    return ", ".join(f"{name} {record.get(name, '?')}" for name in KEY)


def _table(records: Sequence[Record]) -> Table:
    first = records[0]
    by_key: dict[Key, list[Record]] = {}
    in_paper: dict[str, str] = {}
    for record in records:
        name = record["method"]
        by_key.setdefault((record["dataset"], float(record["prior"]), name), []).append(record)
        in_paper.setdefault(name, record.get("paper") or name)
    methods = _methods(records, in_paper)
    reference = references().get(first.get("table") or "")
    if all(method.x is not None for method in methods.values()):
        methods = dict(sorted(methods.items(), key=lambda pair: pair[1].x or 0.0))
    elif reference:
        names = _as_printed(methods, reference.errors, in_paper.__getitem__)
        methods = {name: methods[name] for name in names}
    datasets = tuple(dict.fromkeys(dataset for dataset, _, _ in by_key))
    if reference:
        datasets = tuple(_as_printed(datasets, reference.datasets(), str))
    priors = tuple(sorted({prior for _, prior, _ in by_key}))
    in_paper = {name: in_paper[name] for name in methods}
    families = {name: method.family for name, method in methods.items()}
    cells: dict[Key, Cell] = {}
    duels = []
    for prior in priors:
        for dataset in datasets:
            group = _cells(by_key, dataset, prior, in_paper, reference)
            ranked, duel = rank(group, dataset, prior, families)
            cells |= {(dataset, prior, name): cell for name, cell in ranked.items()}
            duels += [duel] if duel else []
    return Table(
        experiment=first["experiment"],
        title=first["title"],
        selection=first["selection"],
        validation=first["validation"],
        tune=first["tune"],
        reference=reference if any(cell.paper for cell in cells.values()) else None,
        datasets=datasets,
        priors=priors,
        methods=tuple(methods.values()),
        cells=cells,
        duels=tuple(duels),
        records=tuple(records),
    )


def _methods(records: Iterable[Record], in_paper: Mapping[str, str]) -> dict[str, Method]:
    """Find the rows; variants are what the paper has under one name, but for places of a sweep."""
    first: dict[str, Record] = {}
    for record in records:
        first.setdefault(record["method"], record)
    families = {
        name: in_paper[name] if record.get("x") is None else name for name, record in first.items()
    }
    if len(set(families.values())) == 1:
        # With nobody else in the table, variants are each other's rivals.
        families = {name: name for name in first}
    return {
        name: Method(name, record.get("label") or name, record.get("x"), families[name])
        for name, record in first.items()
    }


def _as_printed(
    names: Iterable[str], printed: Iterable[str], in_paper: Callable[[str], str]
) -> list[str]:
    """Sort as the paper does; what it does not have comes after, in the order it came in."""
    places = {name: place for place, name in enumerate(printed)}
    return sorted(names, key=lambda name: places.get(in_paper(name), len(places)))


def _cells(
    by_key: Mapping[Key, Sequence[Record]],
    dataset: str,
    prior: float,
    in_paper: Mapping[str, str],
    reference: Reference | None,
) -> dict[str, Cell]:
    group = {name: by_key.get((dataset, prior, name), []) for name in in_paper}
    stored = {name: len(records) for name, records in group.items()}
    group = {name: _newest(records) for name, records in group.items()}
    everything = [record for records in group.values() for record in records]
    trials = frozenset(record["trial"] for record in everything)
    alike = len({_rows(record) for record in everything if not record.get("failure")}) < 2
    return {
        name: Cell(
            errors={
                record["trial"]: float(record["scores"]["error"])
                for record in sorted(records, key=lambda record: record["trial"])
                if not record.get("failure")
            },
            failures=tuple(record["failure"] for record in records if record.get("failure")),
            expected=trials,
            usual=max(len(records) for records in by_key.values()),
            dropped=stored[name] - len(records),
            alike=alike,
            as_paper=all(_as_paper(record) for record in records),
            paper=reference.find(in_paper[name], prior, dataset) if reference else None,
            partly=_partly(dataset, records),
        )
        for name, records in group.items()
    }


def _newest(records: Sequence[Record]) -> list[Record]:
    """Keep the records of the plan, and of the data, that the latest one has."""
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
    """Say in one word which rows a trial has: how many in each part, and of which data."""
    return json.dumps([record.get("sizes"), record.get("data"), record["validation"]])


def _partly(dataset: str, records: Sequence[Record]) -> str:
    """Say how many rows there were of how many, if not all."""
    found = max((record.get("rows") or 0 for record in records), default=0)
    known = SOURCES[dataset].rows if dataset in SOURCES else found
    return f"{found:,} of {known:,}" if 0 < found < known else ""


def _as_paper(record: Record) -> bool:
    sizes, protocol = record.get("sizes"), PROTOCOLS.get(record["dataset"])
    return sizes is None or protocol is None or sizes == asdict(protocol.sizes)
