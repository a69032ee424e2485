"""Cells in, records out: in this process, or by a crew that shares them out."""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple, Protocol, TypeAlias

import torch

from robustpu.bench.plan import Cell
from robustpu.bench.store import Record
from robustpu.bench.train import Machine, failures, train

# Told of a cell how many of its epochs are done; first with (0, 0), when it begins.
Watch: TypeAlias = Callable[[Cell, int, int], None]

Results: TypeAlias = Generator[tuple[Cell, list[Record]], None, None]

# Seconds between two messages of a worker.
PAUSE = 0.2


class News(NamedTuple):
    """How many epochs of a cell are done; or, at its end, its records."""

    cell: Cell
    done: int
    total: int
    records: list[Record] | None = None


class Crew(Protocol):
    """Those who train cells, several at a time."""

    def __len__(self) -> int:
        """How many they are."""

    @property
    def has_room(self) -> bool:
        """Whether one more cell would be begun at once."""

    def give(self, cell: Cell) -> None:
        """Have a cell trained."""

    def news(self) -> Iterator[News]:
        """Wait a while for news, and tell them; each cell ends with its records, come what may."""

    def dismiss(self) -> None:
        """Stop whatever is being trained, and let all go."""


class WorkerDied(RuntimeError):  # noqa: N818
    """A process ended while it trained a cell."""


def train_all(
    cells: Sequence[Cell], machine: Machine, workers: int | Crew, watch: Watch
) -> Results:
    """Train cells, and yield each with its records as it is done.

    Parameters
    ----------
    cells
        What to train; begun in this order.
    machine
        Where.
    workers
        Processes, with 1 it is this process; or a crew.
    watch
        Told of progress.
    """
    if workers == 1:
        yield from _train_here(cells, machine, watch)
    else:
        crew = workers
        if isinstance(crew, int):
            crew = Processes(machine, crew, len(cells))
        yield from _share_out(cells, crew, watch)


def _train_here(cells: Sequence[Cell], machine: Machine, watch: Watch) -> Results:
    spare_threads(machine)
    for cell in cells:
        watch(cell, 0, 0)
        yield cell, train(cell, machine, partial(watch, cell))


def spare_threads(machine: Machine) -> None:
    """Keep to one thread: two gain little on networks this small, and results depend on it."""
    if machine.device == "cpu":
        torch.set_num_threads(1)


def _share_out(cells: Sequence[Cell], crew: Crew, watch: Watch) -> Results:
    waiting, running = deque(cells), 0
    try:
        while waiting or running:
            while waiting and crew.has_room:
                cell = waiting.popleft()
                watch(cell, 0, 0)
                crew.give(cell)
                running += 1
            for cell, done, total, records in crew.news():
                if records is None:
                    watch(cell, done, total)
                else:
                    running -= 1
                    yield cell, records
    finally:
        crew.dismiss()


@dataclass
class _Worker:
    """A process, the way to talk to it, and what it trains since when."""

    process: BaseProcess
    connection: "Connection[Any, Any]"
    cell: Cell
    start: float


class Processes:
    """A crew of processes on this machine: they start when there is a cell for them.

    They end when there is none any more, since each holds memory, maybe a GPU's.
    """

    def __init__(self, machine: Machine, workers: int, cells: int):
        self._machine, self._workers, self._to_come = machine, workers, cells
        self._busy: dict[Any, _Worker] = {}
        self._idle: list[_Worker] = []

    def __len__(self) -> int:
        return self._workers

    @property
    def has_room(self) -> bool:
        """Whether not all are busy."""
        return len(self._busy) < self._workers

    def give(self, cell: Cell) -> None:
        """Give a cell to a process that has none, or to a new one."""
        worker = self._idle.pop() if self._idle else _start(cell, self._machine)
        worker.cell, worker.start = cell, time.perf_counter()
        self._busy[worker.connection] = worker
        self._to_come -= 1
        # If it is dead, the next attempt to read tells.
        with suppress(OSError):
            worker.connection.send(cell)

    def news(self) -> Iterator[News]:
        """Wait until a process has something to say, or dies; the cell of a dead one has failed."""
        for connection in wait(list(self._busy)):
            worker = self._busy[connection]
            try:
                told = News(worker.cell, *worker.connection.recv())
            except (EOFError, OSError):
                del self._busy[connection]
                yield News(worker.cell, 0, 0, _obituary(worker, self._machine))
                continue
            if told.records is not None:
                self._rest(self._busy.pop(connection))
            yield told

    def _rest(self, worker: _Worker) -> None:
        if self._to_come:
            self._idle.append(worker)
        else:
            _dismiss(worker)

    def dismiss(self) -> None:
        """Kill those that are busy; the others end when nobody talks to them any more."""
        for worker in self._busy.values():
            worker.process.kill()
        for worker in (*self._busy.values(), *self._idle):
            _dismiss(worker)


def _start(cell: Cell, machine: Machine) -> _Worker:
    # A forked process would share what torch set up in this one.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, machine), daemon=True)
    # Ctrl-C reaches all processes of a terminal. A worker is born deaf to it: the parent decides.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process.start()
    signal.signal(signal.SIGINT, before)
    # Only the worker holds its end, so that its death closes the pipe.
    there.close()
    return _Worker(process, here, cell, time.perf_counter())


def _dismiss(worker: _Worker) -> None:
    worker.connection.close()
    worker.process.join()


def _obituary(worker: _Worker, machine: Machine) -> list[Record]:
    """Make the records of the cell that a worker was training when it died."""
    _dismiss(worker)
    code = worker.process.exitcode
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit status {code}"
    error = WorkerDied(f"the process that trained this cell ended {how}; out of memory?")
    return failures(worker.cell, machine, error, time.perf_counter() - worker.start)


def _serve(connection: "Connection[Any, Any]", machine: Machine) -> None:
    """Train the cells that come, until none comes any more or nobody listens."""
    spare_threads(machine)
    try:
        while True:
            records = train(connection.recv(), machine, _report_to(connection))
            connection.send((0, 0, records))
    except (EOFError, OSError):
        return


def _report_to(connection: "Connection[Any, Any]") -> Callable[[int, int], None]:
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last > PAUSE:
            last = time.perf_counter()
            connection.send((done, total, None))

    return report
