"""Several GPUs: which there are, and work side by side, a thread each."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeAlias

import torch

Tick: TypeAlias = Callable[[int], None]

# Whether other threads train: then nothing may be tried out that holds for the whole process.
IN_COMPANY = ContextVar("in_company", default=False)


class Stopped(Exception):  # noqa: N818 - it tells of no error of its own.
    """Another thread has failed, or the user has had enough."""


def gpus(device: str) -> list[torch.device]:
    """All GPUs that torch sees, if the user named none; else, and if there is one, an empty list.

    Parameters
    ----------
    device
        As an estimator was given it: ``"auto"``, ``"cpu"``, ``"cuda"``, ``"cuda:1"``...

    Examples
    --------
    >>> gpus("cpu"), gpus("cuda:1")
    ([], [])
    """
    count = torch.cuda.device_count() if device in ("auto", "cuda") else 0
    return [torch.device("cuda", place) for place in range(count)] if count > 1 else []


def on(device: torch.device) -> AbstractContextManager[object]:
    """Make a GPU the one that this thread computes on.

    Examples
    --------
    >>> with on(torch.device("cpu")):
    ...     1
    1
    """
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def side_by_side(works: Sequence[Callable[[Tick], None]], tick: Tick) -> None:
    """Run each work in a thread of its own, and come back when all have ended.

    The first exception of a work is raised here; the others stop when they next count, and so they
    do when this thread is interrupted.

    Parameters
    ----------
    works
        Each is called with a function to count its progress with.
    tick
        Called in this thread with what works count.

    Examples
    --------
    >>> seen = []
    >>> side_by_side([lambda count: count(1), lambda count: count(2)], seen.append)
    >>> sum(seen)
    3
    """
    news: SimpleQueue[int | BaseException | None] = SimpleQueue()
    stop, cores = Event(), torch.get_num_threads()

    def count(done: int) -> None:
        if stop.is_set():
            raise Stopped
        news.put(done)

    def run(work: Callable[[Tick], None]) -> None:
        IN_COMPANY.set(True)
        end: BaseException | None = None
        try:
            # A new thread has the number that some thread set last, which may be for a small step.
            torch.set_num_threads(cores)
            work(count)
        except BaseException as error:
            end = error
        news.put(end)

    threads = [Thread(target=run, args=(work,), daemon=True) for work in works]
    failed: BaseException | None = None
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            told = news.get()
            if isinstance(told, int):
                tick(told)
                continue
            left -= 1
            if told is not None:
                failed = failed or told
                stop.set()
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if failed is not None:
        raise failed
