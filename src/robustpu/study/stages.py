"""Progress of a command, stage by stage: with the time that is left, or in plain lines."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from robustpu.progress import clock_time, left_column
from robustpu.unseen import shown

# Called as tell(stage, done, total); a total of 0 is not known.
Tell: TypeAlias = Callable[[str, int, int], None]

TITLES: Final = {
    "reading": "Reading",
    "prior": "Estimating how many are positive",
    "training": "Training",
    "judging": "Judging on rows that were not trained on",
    "importance": "Finding the columns that count",
    "drivers": "Finding what drives the suspects",
    "scoring": "Scoring",
}
# Networks are trained in these, and may stop before the epochs that were planned.
STOPPING: Final = ("training", "judging", "fitting")
# Seconds between two lines of a stage that takes long.
OFTEN: Final = 60.0


def silent(stage: str, done: int, total: int) -> None:
    """Show no progress."""


@contextmanager
def told(progress: Tell | None, verbose: bool) -> Iterator[Tell]:
    """What was given to be told of progress, or what shows it, or nothing.

    Parameters
    ----------
    progress
        As given.
    verbose
        Whether to show progress if nothing was given.

    Examples
    --------
    >>> with told(print, verbose=False) as tell:
    ...     tell("scoring", 1, 2)
    scoring 1 2
    """
    if progress is not None:
        yield progress
        return
    with stages(quiet=not verbose) as tell:
        yield tell


@contextmanager
def stages(quiet: bool) -> Iterator[Tell]:
    """A function to be told of progress, which shows it on standard error.

    A terminal gets bars, anything else a line a stage, and one a minute where it takes long.

    Parameters
    ----------
    quiet
        Whether to show nothing.
    """
    if quiet:
        yield silent
        return
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal:
        with _bars(console) as tell:
            yield tell
    else:
        yield lines(time.monotonic)


def lines(clock: Callable[[], float]) -> Tell:
    """Progress in plain lines, each with the time since the start.

    Parameters
    ----------
    clock
        Tells the seconds.

    Examples
    --------
    >>> from contextlib import redirect_stderr
    >>> with redirect_stderr(sys.stdout):
    ...     lines(iter([0.0, 75.0]).__next__)("scoring", 0, 0)
    1:15  Scoring
    """
    started = clock()
    last_stage, last_time = "", 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last_stage, last_time
        now = clock() - started
        if stage == last_stage and now - last_time < OFTEN:
            return
        least = "at least " if is_stopping(stage) and done < total else ""
        share = f", {least}{done / total:.0%}" if stage == last_stage and total else ""
        last_stage, last_time = stage, now
        print(f"{clock_time(now)}  {title(stage)}{share}", file=sys.stderr, flush=True)

    return tell


def is_stopping(stage: str) -> bool:
    """Whether a stage may be over before all that was planned is done.

    Examples
    --------
    >>> is_stopping("fitting nnpu"), is_stopping("scoring")
    (True, False)
    """
    return stage.startswith(STOPPING)


def title(stage: str) -> str:
    """What a stage is called.

    Examples
    --------
    >>> title("scoring"), title("fitting nnpu")
    ('Scoring', 'Fitting nnpu')
    """
    return TITLES.get(stage, shown(stage[:1].upper() + stage[1:]))


@contextmanager
def _bars(console: Any) -> Iterator[Tell]:
    from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        left_column(),
        console=console,
        transient=True,
    ) as drawn:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    # What began before is over.
                    drawn.update(task, total=1, completed=1)
                tasks[stage] = drawn.add_task(title(stage), total=None, is_most=is_stopping(stage))
            drawn.update(tasks[stage], completed=done, total=total or None)

        yield tell
