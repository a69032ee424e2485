"""Progress of a command, stage by stage: with the time that is left, or in plain lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from robustpu.training.progress import clock_time, left_column
from robustpu.validation.sanitize import shown

# Called as progress(stage, done, total); a total of 0 is unknown.
Progress: TypeAlias = Callable[[str, int, int], None]

TITLES: Final = {
    "reading": "Reading",
    "columns": "Preparing the columns",
    "prior": "Estimating the share of positives",
    "training": "Training",
    "evaluating": "Evaluating on held-out rows",
    "importance": "Measuring the importance of columns",
    "drivers": "Explaining the suspects",
    "scoring": "Scoring",
}
# Networks are trained in these stages, and may stop before the planned epochs.
STOPPING: Final = ("training", "evaluating", "fitting")
# Seconds between two lines of a long stage.
INTERVAL: Final = 60.0


def silent(stage: str, done: int, total: int) -> None:
    """Show no progress."""


@contextmanager
def reporter(progress: Progress | None, verbose: bool) -> Iterator[Progress]:
    """The given callback; without one, progress on standard error if verbose.

    Parameters
    ----------
    progress
        A callback of the user's, or None.
    verbose
        Whether to show progress if there is no callback.

    Examples
    --------
    >>> with reporter(print, verbose=False) as progress:
    ...     progress("scoring", 1, 2)
    scoring 1 2
    """
    if progress is not None:
        yield progress
        return
    with show_progress(quiet=not verbose) as shown_progress:
        yield shown_progress


@contextmanager
def show_progress(quiet: bool, started: float | None = None) -> Iterator[Progress]:
    """A callback that shows progress on standard error.

    A terminal gets bars, anything else a line a stage, and one a minute in long stages.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    started
        When the clock of the lines began, by ``time.monotonic``; now, by default.
    """
    if quiet:
        yield silent
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with _bars(console) as progress:
            yield progress
    else:
        yield print_lines(time.monotonic, started)


def print_lines(clock: Callable[[], float], started: float | None = None) -> Progress:
    """Progress in plain lines, each with the time since the start.

    Parameters
    ----------
    clock
        Returns the seconds.
    started
        What it returned at the start; asked now, by default.

    Examples
    --------
    >>> from contextlib import redirect_stderr
    >>> with redirect_stderr(sys.stdout):
    ...     print_lines(iter([0.0, 75.0]).__next__)("scoring", 0, 0)
    1:15  Scoring
    """
    started = clock() if started is None else started
    last_stage, last_time = "", 0.0

    def progress(stage: str, done: int, total: int) -> None:
        nonlocal last_stage, last_time
        now = clock() - started
        if stage == last_stage and now - last_time < INTERVAL:
            return
        least = "at least " if may_stop_early(stage) and done < total else ""
        share = f", {least}{done / total:.0%}" if stage == last_stage and total else ""
        last_stage, last_time = stage, now
        print(f"{clock_time(now)}  {title(stage)}{share}", file=sys.stderr, flush=True)

    return progress


def may_stop_early(stage: str) -> bool:
    """Whether a stage may end before all planned epochs are done.

    Examples
    --------
    >>> may_stop_early("fitting nnpu"), may_stop_early("scoring")
    (True, False)
    """
    return stage.startswith(STOPPING)


def title(stage: str) -> str:
    """The title of a stage.

    Examples
    --------
    >>> title("scoring"), title("fitting nnpu")
    ('Scoring', 'Fitting nnpu')
    """
    return TITLES.get(stage, shown(stage[:1].upper() + stage[1:]))


@contextmanager
def _bars(console: Any) -> Iterator[Progress]:
    from rich import progress as rich

    with rich.Progress(
        rich.TextColumn("{task.description}", markup=False),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        left_column(),
        console=console,
        transient=True,
    ) as drawn:
        tasks: dict[str, rich.TaskID] = {}

        def progress(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    # Earlier stages are over.
                    drawn.update(task, total=1, completed=1)
                tasks[stage] = drawn.add_task(
                    title(stage), total=None, is_most=may_stop_early(stage)
                )
            drawn.update(tasks[stage], completed=done, total=total or None)

        yield progress
