"""A progress bar for the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from robustpu.together import Progress as OnProgress


@contextmanager
def bar(title: str, console: Console | None = None) -> Iterator[OnProgress]:
    """Show how far a fit is, on standard error, with the time that is left.

    Parameters
    ----------
    title
        What is being fitted.
    console
        Where to draw; by default standard error.
    """
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console or Console(stderr=True),
    ) as progress:
        task = progress.add_task(title, total=None)

        def report(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        yield report
