"""Cells in, records out: in this process, or in several."""

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
from typing import Any, NamedTuple, TypeAlias

import torch

from robustpu.bench.plan import Cell
from robustpu.bench.store import Record
from robustpu.bench.train import Machine, failures, train

# Called with a cell, its finished epochs and all its epochs; first with (cell, 0, 0).
Watch: TypeAlias = Callable[[Cell, int, int], None]

Results: TypeAlias = Generator[tuple[Cell, list[Record]], None, None]

# Seconds between two messages of a worker.
PAUSE = 0.2


class Message(NamedTuple):
    """Progress of a cell in epochs; at its end, its records."""

    cell: Cell
    done: int
    total: int
    records: list[Record] | None = None


class WorkerDied(RuntimeError):  # noqa: N818
    """A process ended while it trained a cell."""


def train_all(cells: Sequence[Cell], machine: Machine, workers: int, watch: Watch) -> Results:
    """Train cells, and yield each with its records as it is done.

    Parameters
    ----------
    cells
        What to train; started in this order.
    machine
        Where.
    workers
        Number of processes; 1 is this process.
    watch
        Called on progress.
    """
    if workers == 1:
        yield from _train_here(cells, machine, watch)
    else:
        yield from _train_in_pool(cells, _Pool(machine, workers), watch)


def _train_here(cells: Sequence[Cell], machine: Machine, watch: Watch) -> Results:
    _use_one_thread(machine)
    for cell in cells:
        watch(cell, 0, 0)
        yield cell, train(cell, machine, partial(watch, cell))


def _use_one_thread(machine: Machine) -> None:
    """Use one thread: two gain little on networks this small, and results depend on the number."""
    if machine.device == "cpu":
        torch.set_num_threads(1)


def _train_in_pool(cells: Sequence[Cell], pool: "_Pool", watch: Watch) -> Results:
    waiting, running = deque(cells), 0
    try:
        while waiting or running:
            while waiting and not pool.is_full:
                cell = waiting.popleft()
                watch(cell, 0, 0)
                pool.submit(cell)
                running += 1
            if not waiting:
                pool.close_idle()
            for cell, done, total, records in pool.messages():
                if records is None:
                    watch(cell, done, total)
                else:
                    running -= 1
                    yield cell, records
    finally:
        pool.close()


@dataclass
class _Worker:
    """A process, the connection to it, its cell, and when the cell was started."""

    process: BaseProcess
    connection: "Connection[Any, Any]"
    cell: Cell
    start: float

    def close(self) -> None:
        """Close the connection, which ends an idle process, and wait for the end."""
        self.connection.close()
        self.process.join()


class _Pool:
    """Processes of this machine. Each starts when there is a cell for it.

    Idle ones end when no cell is left, since each holds memory, maybe that of a GPU.
    """

    def __init__(self, machine: Machine, workers: int):
        self._machine, self._workers = machine, workers
        self._busy: dict[Any, _Worker] = {}
        self._idle: list[_Worker] = []

    @property
    def is_full(self) -> bool:
        """Whether all processes are busy."""
        return len(self._busy) >= self._workers

    def submit(self, cell: Cell) -> None:
        """Send a cell to an idle process, or to a new one."""
        worker = self._idle.pop() if self._idle else _start(cell, self._machine)
        worker.cell, worker.start = cell, time.perf_counter()
        self._busy[worker.connection] = worker
        # If it is dead, the next attempt to read shows it.
        with suppress(OSError):
            worker.connection.send(cell)

    def messages(self) -> Iterator[Message]:
        """Wait for messages. The cell of a process that dies has failed."""
        for connection in wait(list(self._busy)):
            worker = self._busy[connection]
            try:
                message = Message(worker.cell, *worker.connection.recv())
            except (EOFError, OSError):
                del self._busy[connection]
                yield Message(worker.cell, 0, 0, _failures_of_dead(worker, self._machine))
                continue
            if message.records is not None:
                self._idle.append(self._busy.pop(connection))
            yield message

    def close_idle(self) -> None:
        """End the processes that have no cell."""
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Kill busy processes, and end idle ones."""
        for worker in self._busy.values():
            worker.process.kill()
            worker.close()
        self.close_idle()


def _start(cell: Cell, machine: Machine) -> _Worker:
    # A forked process would share the state of torch with this one.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, machine), daemon=True)
    # Ctrl-C reaches all processes of a terminal. Workers ignore it: this process decides.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    process.start()
    signal.signal(signal.SIGINT, before)
    # Only the worker holds its end, so that its death closes the pipe.
    there.close()
    return _Worker(process, here, cell, time.perf_counter())


def _failures_of_dead(worker: _Worker, machine: Machine) -> list[Record]:
    """Make the records of the cell that a process was training when it died."""
    worker.close()
    code = worker.process.exitcode
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit status {code}"
    error = WorkerDied(f"the process that trained this cell ended {how}; out of memory?")
    return failures(worker.cell, machine, error, time.perf_counter() - worker.start)


def _serve(connection: "Connection[Any, Any]", machine: Machine) -> None:
    """Train the cells that come, until the other end of the connection is closed."""
    _use_one_thread(machine)
    try:
        while True:
            records = train(connection.recv(), machine, _progress_to(connection))
            connection.send((0, 0, records))
    except (EOFError, OSError):
        return


def _progress_to(connection: "Connection[Any, Any]") -> Callable[[int, int], None]:
    last = 0.0

    def send(done: int, total: int) -> None:
        nonlocal last
        if time.perf_counter() - last > PAUSE:
            last = time.perf_counter()
            connection.send((done, total, None))

    return send
