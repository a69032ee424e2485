"""Progress of a run, and time left: by work, not by the number of cells."""

import time
from collections import defaultdict
from collections.abc import Callable, Mapping

from robustpu.bench.plan import Cell


class Eta:
    """Estimates the time left of a run.

    The work of a cell is known in advance, in operations. The time of an operation is estimated
    from cells of the same data set; until one of those has started, from all cells.

    Parameters
    ----------
    work
        Cell -> operations, roughly.
    workers
        Number of cells that are trained at a time.
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
        """Record the start of a cell."""
        self._begun[cell], self._share[cell] = self._now(), 0.0

    def advance(self, cell: Cell, share: float) -> None:
        """Record the finished share of a cell, from 0 to 1."""
        self._share[cell] = share

    def finish(self, cell: Cell, failed: bool) -> None:
        """Record the end of a cell; the time of a failed one is not used."""
        took = self._now() - self._begun.pop(cell)
        del self._share[cell]
        if failed:
            del self._work[cell]
        else:
            self._finished[cell] = took

    @property
    def share(self) -> float:
        """Finished share of the work, from 0 to 1."""
        total = sum(self._work.values())
        return 1.0 if not total else 1 - self._left(lambda dataset: 1.0) / total

    def seconds_left(self) -> float | None:
        """Estimate the time left; None until some cell has made progress."""
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
        """Sum the work left, times the price of an operation on each data set."""
        return sum(
            price(cell.dataset) * work * (1 - self._share.get(cell, 0.0))
            for cell, work in self._work.items()
            if cell not in self._finished
        )
