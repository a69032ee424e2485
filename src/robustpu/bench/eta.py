"""How far a run is, and how long it still takes: by work, not by the number of cells."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping

from robustpu.bench.plan import Cell


class Eta:
    """Keeps the books of a run.

    What is known of a cell beforehand is its work, in operations. How long an operation takes is
    learnt from the cells of the same data set; until one of those has begun, from all.

    Parameters
    ----------
    work
        Cell -> operations, roughly.
    workers
        How many cells are trained at a time.
    now
        The clock, in seconds.
    """

    def __init__(
        self,
        work: Mapping[Cell, float],
        workers: int = 1,
        now: Callable[[], float] = time.monotonic,
    ):
        self._work = dict(work)
        self._workers = workers
        self._now = now
        self._begun: dict[Cell, float] = {}
        self._share: dict[Cell, float] = {}
        self._finished: dict[Cell, float] = {}

    def begin(self, cell: Cell) -> None:
        """Note that a cell begins."""
        self._begun[cell], self._share[cell] = self._now(), 0.0

    def advance(self, cell: Cell, share: float) -> None:
        """Note how much of a cell is done, from 0 to 1."""
        self._share[cell] = share

    def finish(self, cell: Cell, failed: bool) -> None:
        """Note that a cell has ended; one that failed says nothing about time."""
        took = self._now() - self._begun.pop(cell)
        del self._share[cell]
        if failed:
            del self._work[cell]
        else:
            self._finished[cell] = took

    @property
    def share(self) -> float:
        """Share of the work that is done, from 0 to 1."""
        total = sum(self._work.values())
        return 1.0 if not total else 1 - self._left(lambda dataset: 1.0) / total

    def seconds_left(self) -> float | None:
        """Estimate what is left; None as long as nothing is known."""
        spent: dict[str, float] = defaultdict(float)
        done: dict[str, float] = defaultdict(float)
        for cell, took in self._finished.items():
            spent[cell.dataset] += took
            done[cell.dataset] += self._work[cell]
        for cell, share in self._share.items():
            if share > 0:
                spent[cell.dataset] += self._now() - self._begun[cell]
                done[cell.dataset] += share * self._work[cell]
        if not done:
            return None
        usual = sum(spent.values()) / sum(done.values())
        left = self._left(
            lambda dataset: spent[dataset] / done[dataset] if done[dataset] else usual
        )
        return left / max(1, min(self._workers, len(self._work) - len(self._finished)))

    def _left(self, price: Callable[[str], float]) -> float:
        """Sum the work that is left, at the price of each data set."""
        return sum(
            price(cell.dataset) * work * (1 - self._share.get(cell, 0.0))
            for cell, work in self._work.items()
            if cell not in self._finished
        )


def duration(seconds: float) -> str:
    """Write a time for people.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.4, 75, 600, 9000, 900_000)]
    ['0.4 s', '75 s', '10 min', '2.5 h', '10 days']
    """
    for unit, size, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < size * most:
            return f"{seconds / size:.{1 if seconds < 10 * size else 0}f} {unit}"
    return f"{seconds / 86400:,.0f} days"


def many(count: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> many(1, "cell"), many(1200, "cell")
    ('1 cell', '1,200 cells')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
