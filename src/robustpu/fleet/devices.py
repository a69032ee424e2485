"""Threads and GPUs: how many threads a step gets, and work on several GPUs at once."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from queue import SimpleQueue
from threading import Event, Thread
from typing import TypeAlias

import torch

Tick: TypeAlias = Callable[[int], None]

# Whether other threads train at the same time: then process-wide settings must not be changed.
IN_COMPANY = ContextVar("in_company", default=False)


# Multiplications in a step on a CPU. Below that, a second thread gains little on an idle machine
# and costs much on a busy one: a fit of 1,200 rows took seven times as long.
WORTH = 1 << 26


class Stopped(Exception):  # noqa: N818 - not an error of this thread.
    """Another thread has failed, or the user has interrupted."""


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
    """Make a GPU the current device of this thread.

    Examples
    --------
    >>> with on(torch.device("cpu")):
    ...     1
    1
    """
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def side_by_side(works: Sequence[Callable[[Tick], None]], tick: Tick) -> None:
    """Run each function in a thread of its own, and return when all have ended.

    The first exception is raised here. The other threads then stop when they next report progress;
    so they do when this thread is interrupted.

    Parameters
    ----------
    works
        Each is called with a function that takes its progress.
    tick
        Called in this thread with the progress of all.

    Examples
    --------
    >>> seen = []
    >>> side_by_side([lambda count: count(1), lambda count: count(2)], seen.append)
    >>> sum(seen)
    3
    """
    messages: SimpleQueue[int | BaseException | None] = SimpleQueue()
    stop, cores = Event(), torch.get_num_threads()

    def count(done: int) -> None:
        if stop.is_set():
            raise Stopped
        messages.put(done)

    def run(work: Callable[[Tick], None]) -> None:
        IN_COMPANY.set(True)
        end: BaseException | None = None
        try:
            # A new thread starts with the number that any thread set last.
            torch.set_num_threads(cores)
            work(count)
        except BaseException as error:
            end = error
        messages.put(end)

    threads = [Thread(target=run, args=(work,), daemon=True) for work in works]
    failed: BaseException | None = None
    try:
        for thread in threads:
            thread.start()
        left = len(threads)
        while left:
            message = messages.get()
            if isinstance(message, int):
                tick(message)
                continue
            left -= 1
            if message is not None:
                failed = failed or message
                stop.set()
    finally:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join()
    if failed is not None:
        raise failed


@contextmanager
def threads_for(products: int) -> Iterator[None]:
    """Use one thread for small steps, and all threads for others.

    Parameters
    ----------
    products
        In a step: parameters times rows.

    Examples
    --------
    >>> with threads_for(1000):
    ...     torch.get_num_threads()
    1
    """
    before = torch.get_num_threads()
    if products >= WORTH or before == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
