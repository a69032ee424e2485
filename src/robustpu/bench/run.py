"""A run: unfinished cells are trained, and their records stored."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from robustpu.bench.plan import Cell, in_parts
from robustpu.bench.screen import Screen, reason
from robustpu.bench.store import Record, key_of, read, writer
from robustpu.bench.train import Machine, names, relabelled
from robustpu.bench.workers import train_all


class Outcome(NamedTuple):
    """Numbers of cells: finished, failed, and taken over from other experiments."""

    finished: int
    failed: int
    taken: int = 0


def file_of(cell: Cell, out: Path) -> Path:
    """Name the file of a cell's records."""
    return out / f"{cell.experiment}.jsonl"


def missing(cells: Sequence[Cell], out: Path) -> dict[Cell, frozenset[int]]:
    """Find the trials that have no result under this plan; finished cells are left out.

    Parameters
    ----------
    cells
        The plan.
    out
        Folder of the records.
    """
    files = {file_of(cell, out) for cell in cells}
    done = {
        key_of(record): record
        for path in sorted(files)
        for record in read(path)
        if _is_result(record)
    }
    trials = {
        cell: frozenset(
            trial for trial in range(cell.trials) if not _holds(done.get(_key(cell, trial)), cell)
        )
        for cell in cells
    }
    return {cell: left for cell, left in trials.items() if left}


def run(
    cells: Sequence[Cell],
    out: Path,
    machine: Machine,
    workers: int,
    open_screen: Callable[[Sequence[Cell]], Screen],
) -> Outcome:
    """Train what is missing, and append records as soon as a cell or a part of it is done.

    Parameters
    ----------
    cells
        The plan.
    out
        Folder of the records.
    machine
        Where to train.
    workers
        Number of processes.
    open_screen
        Makes the screen, given the cells that are to be trained.

    Raises
    ------
    OSError
        Records cannot be written, or another run writes them.
    """
    failed = set()
    with ExitStack() as stack:
        files = {file_of(cell, out) for cell in cells}
        append = {path: stack.enter_context(writer(path)) for path in sorted(files)}
        # Read under the lock: another run may just have ended.
        left = missing(cells, out)
        taken = _trained_elsewhere(left, out)
        for cell, records in taken.items():
            append[file_of(cell, out)](records)
            del left[cell]
        todo = in_parts(left, machine.device)
        screen = stack.enter_context(open_screen(todo))
        outcomes = train_all(todo, machine, workers, screen.watch)
        stack.enter_context(closing(outcomes))
        for first, records in outcomes:
            # A training may serve several cells; each keeps its own records.
            for cell in [cell for cell in left if cell.training == first.training]:
                new = [record for record in records if _belongs(record, cell)]
                if len(left[cell]) < cell.trials:
                    new = _new(new, left[cell], read(file_of(cell, out)))
                append[file_of(cell, out)](new)
                if reason(new):
                    failed.add(cell)
            screen.finished(first, [record for record in records if _belongs(record, first)])
    return Outcome(len(left) - len(failed), len(failed), len(taken))


def _new(records: list[Record], left: frozenset[int], stored: Sequence[Record]) -> list[Record]:
    """Leave out the trials that are stored, unless they are of another candidate or other data.

    That can happen on a GPU, where sums are not always taken in one order, or if files were added
    to a data set; trials of one cell belong together.
    """

    def source(record: Record) -> tuple[Any, ...]:
        return tuple(record.get(name) for name in ("fingerprint", "candidate", "data"))

    before = {key_of(record): source(record) for record in stored}
    # A failure does not replace an earlier result.
    records = [record for record in records if _is_result(record) or record["trial"] in left]
    again = [record for record in records if record["trial"] not in left]
    if any(before.get(key_of(record)) != source(record) for record in again):
        return records
    return [record for record in records if record["trial"] in left]


def _belongs(record: Record, cell: Cell) -> bool:
    return (record["experiment"], record["method"]) == (cell.experiment, cell.method)


def _trained_elsewhere(left: Mapping[Cell, frozenset[int]], out: Path) -> dict[Cell, list[Record]]:
    """Find cells that another experiment in the folder has trained with the same settings."""
    stored: dict[tuple[Any, ...], Record] = {}
    for path in sorted(out.glob("*.jsonl")):
        # Files of something else are skipped.
        with suppress(ValueError, TypeError, OSError):
            stored |= {
                (record.get("fingerprint"), record["trial"]): record
                for record in read(path)
                if _is_result(record)
            }
    found = {}
    for cell, trials in left.items():
        records = [stored.get((cell.fingerprint, trial)) for trial in sorted(trials)]
        if all(records):
            found[cell] = [relabelled(record, cell) for record in records if record is not None]
    return found


def _is_result(record: Record) -> bool:
    scores = record.get("scores")
    return isinstance(scores, dict) and isinstance(scores.get("error"), int | float)


def _key(cell: Cell, trial: int) -> tuple[object, ...]:
    return (cell.experiment, cell.dataset, cell.method, cell.prior, cell.selection, trial)


def _holds(record: Record | None, cell: Cell) -> bool:
    """Whether a record is of this plan, and under its present names."""
    if record is None or record.get("fingerprint") != cell.fingerprint:
        return False
    return all(record.get(name) == value for name, value in names(cell).items())
