"""Progress of a run: a live screen, plain lines, or failures only."""

from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from statistics import fmean, stdev
from threading import RLock
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from robustpu.bench.eta import Eta
from robustpu.bench.plan import Cell
from robustpu.bench.store import Record
from robustpu.charts.wording import duration

# Lines of finished cells, and of failures, that stay visible.
VISIBLE = 5


class Screen(AbstractContextManager[Any], Protocol):
    """Receives the progress of a run."""

    def watch(self, cell: Cell, done: int, total: int) -> None:
        """Receive finished and total epochs of a cell; (0, 0) when it starts."""

    def finished(self, cell: Cell, records: Sequence[Record]) -> None:
        """Receive the records of a cell that has ended."""


def open_screen(
    work: Mapping[Cell, float], workers: int, quiet: bool, console: Console | None = None
) -> Screen:
    """Choose the screen for the terminal.

    Parameters
    ----------
    work
        Cells to train, and their work.
    workers
        Number of cells that are trained at a time.
    quiet
        Whether to show failures only.
    console
        Where; by default standard error.
    """
    console = console or Console(stderr=True)
    if quiet or not console.is_terminal or console.is_dumb_terminal:
        return PlainScreen(len(work), quiet, console)
    return LiveScreen(work, workers, console)


class PlainScreen:
    """One line per finished cell; if quiet, per failed one."""

    def __init__(self, cells: int, quiet: bool, console: Console):
        self._cells, self._quiet, self._console = cells, quiet, console
        self._ended = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, cell: Cell, done: int, total: int) -> None:
        """Ignore progress."""

    def finished(self, cell: Cell, records: Sequence[Record]) -> None:
        """Print the result."""
        self._ended += 1
        if not self._quiet or reason(records):
            line = f"[{self._ended}/{self._cells}] {summary(cell, records)}"
            self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class LiveScreen:
    """Progress, time left, failures and the last results, redrawn in place."""

    def __init__(self, work: Mapping[Cell, float], workers: int, console: Console):
        self._cells = len(work)
        self._eta = Eta(work, workers)
        self._running: dict[Cell, tuple[int, int]] = {}
        self._ended = self._failed = 0
        self._results: deque[str] = deque(maxlen=VISIBLE)
        self._failures: deque[str] = deque(maxlen=VISIBLE)
        # Another thread draws while this one trains.
        self._lock = RLock()
        self._live = Live(get_renderable=self.render, console=console, refresh_per_second=4)

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.__exit__(kind, error, trace)

    def watch(self, cell: Cell, done: int, total: int) -> None:
        """Move the bars."""
        with self._lock:
            if cell not in self._running:
                self._eta.begin(cell)
            self._running[cell] = (done, total)
            self._eta.advance(cell, done / total if total else 0.0)

    def finished(self, cell: Cell, records: Sequence[Record]) -> None:
        """Move the cell from the running ones to the results or failures."""
        failed = bool(reason(records))
        with self._lock:
            del self._running[cell]
            self._eta.finish(cell, failed)
            self._ended += 1
            self._failed += failed
            (self._failures if failed else self._results).append(summary(cell, records))

    def render(self) -> Group:
        """Draw the screen as it is now."""
        with self._lock:
            bars = self._bars()
            lines = [(line, "") for line in self._results]
            lines += [(line, "red") for line in self._failures]
        texts = [Text(line, style, no_wrap=True, overflow="ellipsis") for line, style in lines]
        return Group(bars, *texts)

    def _bars(self) -> Table:
        left = self._eta.seconds_left()
        bars = Table.grid(padding=(0, 2))
        bars.add_row(
            Text(f"{self._ended} of {self._cells} cells", "bold"),
            ProgressBar(total=1.0, completed=self._eta.share, width=30),
            Text(f"{duration(left)} left" if left else ""),
            Text(f"{self._failed} failed", "red") if self._failed else Text(""),
        )
        for cell, (done, total) in self._running.items():
            bars.add_row(
                Text(cell.name),
                ProgressBar(total=total or None, completed=done, width=30, pulse=not total),
                Text(f"{done:,} of {total:,} epochs" if total else "reading"),
            )
        return bars


def reason(records: Sequence[Record]) -> str:
    """Say why trials failed, in one line; empty if none did."""
    failures = [" ".join(record["failure"].split()) for record in records if "failure" in record]
    return failures[0] if failures else ""


def summary(cell: Cell, records: Sequence[Record]) -> str:
    """Sum up a finished cell in one line."""
    errors = [record["scores"]["error"] for record in records if "scores" in record]
    parts = [f"{cell.experiment}: {cell.name}"]
    if errors:
        spread = f" ± {stdev(errors):.2f}" if len(errors) > 1 else ""
        seconds = duration(sum(record["seconds"] for record in records))
        parts.append(f"error {fmean(errors):.2f}{spread} %, {len(errors)} trials, {seconds}")
    if why := reason(records):
        parts.append(f"{len(records) - len(errors)} trials failed: {why}")
    return ", ".join(parts)
