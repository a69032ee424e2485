"""Progress of a command, stage by stage, with the time that is left."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

TITLES = {
    "reading": "Reading",
    "prior": "Estimating how many are positive",
    "training": "Training",
    "judging": "Judging on rows that were not trained on",
    "importance": "Finding the columns that count",
    "drivers": "Finding what drives the suspects",
    "scoring": "Scoring",
}


@contextmanager
def stages(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A function to be told of progress; it draws on standard error if that is a terminal.

    Parameters
    ----------
    quiet
        Whether to draw nothing anyway.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield lambda stage, done, total: None
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeLeft(elapsed_when_finished=True),
        console=console,
        transient=True,
    ) as shown:
        tasks: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    # What began before is over.
                    shown.update(task, total=1, completed=1)
                title = TITLES.get(stage, stage.capitalize())
                tasks[stage] = shown.add_task(title, total=None)
            shown.update(tasks[stage], completed=done, total=total or None)

        yield tell
