"""A progress bar for the terminal, and the time that is left."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console

    from robustpu.training.fit import Progress as OnProgress

# Seconds, and the share of the work, before which no remaining time is shown.
SECONDS: Final = 3.0
SHARE: Final = 0.02


@contextmanager
def bar(title: str, console: "Console | None" = None) -> Iterator["OnProgress"]:
    """Show how far a fit is, on standard error, and how long it can still take.

    Parameters
    ----------
    title
        What is being fitted.
    console
        Where to draw; by default standard error.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        left_column(),
        console=console or Console(stderr=True),
    ) as progress:
        task = progress.add_task(title, total=None, is_most=True)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield report


def left_column() -> Any:
    """A column of ``rich`` with the time that is left; tasks have a field ``is_most``."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Left(ProgressColumn):
        # More often it would flicker.
        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            if task.finished:
                return Text(clock_time(task.finished_time or 0), style="progress.elapsed")
            left = time_left(
                task.elapsed or 0, task.completed, task.total or 0, is_most=task.fields["is_most"]
            )
            return Text(left, style="progress.remaining")

    return Left()


def time_left(elapsed: float, done: float, total: float, *, is_most: bool) -> str:
    """elapsed (total - done) / done, in words; empty as long as it is not known well.

    Parameters
    ----------
    elapsed
        Seconds since it began.
    done, total
        How far it is; a total of 0 is not known.
    is_most
        Whether the total is what it can be at most: networks may stop early.

    Examples
    --------
    >>> time_left(30, 25, 100, is_most=True), time_left(30, 25, 100, is_most=False)
    ('at most about 1:30', '1:30')
    """
    if elapsed < SECONDS or done < SHARE * total or not total:
        return ""
    left = clock_time(elapsed * max(total - done, 0) / done)
    return f"at most about {left}" if is_most else left


def clock_time(seconds: float) -> str:
    """Minutes and seconds, and hours if there are some.

    Examples
    --------
    >>> clock_time(75.4), clock_time(3600)
    ('1:15', '1:00:00')
    """
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
