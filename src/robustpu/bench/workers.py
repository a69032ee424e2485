"""Cells in, records out: in this process, or in several that share them out."""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeAlias

import torch

from robustpu.bench.plan import Cell
from robustpu.bench.store import Record
from robustpu.bench.train import Machine, failures, train

# Told of a cell how many of its epochs are done; first with (0, 0), when it begins.
Watch: TypeAlias = Callable[[Cell, int, int], None]

Results: TypeAlias = Generator[tuple[Cell, list[Record]], None, None]

# Seconds between two messages of a worker.
PAUSE = 0.2


class WorkerDied(RuntimeError):  # noqa: N818
    """A process ended while it trained a cell."""


def train_all(cells: Sequence[Cell], machine: Machine, workers: int, watch: Watch) -> Results:
    """Train cells, and yield each with its records as it is done.

    Parameters
    ----------
    cells
        What to train; begun in this order.
    machine
        Where.
    workers
        Processes; with 1 it is this process.
    watch
        Told of progress.
    """
    if workers == 1:
        yield from _train_here(cells, machine, watch)
    else:
        yield from _train_apart(cells, machine, min(workers, len(cells)), watch)


def _train_here(cells: Sequence[Cell], machine: Machine, watch: Watch) -> Results:
    _spare_threads(machine)
    for cell in cells:
        watch(cell, 0, 0)
        yield cell, train(cell, machine, partial(watch, cell))


def _spare_threads(machine: Machine) -> None:
    """Keep to one thread: two gain little on networks this small, and results depend on it."""
    if machine.device == "cpu":
        torch.set_num_threads(1)


@dataclass
class _Worker:
    """A process, the way to talk to it, and what it trains since when."""

    process: BaseProcess
    connection: "Connection[Any, Any]"
    cell: Cell
    start: float


def _train_apart(cells: Sequence[Cell], machine: Machine, workers: int, watch: Watch) -> Results:
    waiting = deque(cells)
    busy: dict[Any, _Worker] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < workers:
                worker = _start(waiting.popleft(), machine, watch)
                busy[worker.connection] = worker
            for connection in wait(list(busy)):
                worker = busy[connection]
                try:
                    done, total, records = worker.connection.recv()
                except (EOFError, OSError):
                    records = _obituary(busy.pop(connection), machine)
                    yield worker.cell, records
                    continue
                if records is None:
                    watch(worker.cell, done, total)
                    continue
                yield worker.cell, records
                if waiting:
                    _give(worker, waiting.popleft(), watch)
                else:
                    _dismiss(busy.pop(connection))
    finally:
        for worker in busy.values():
            worker.process.kill()
            _dismiss(worker)


def _start(cell: Cell, machine: Machine, watch: Watch) -> _Worker:
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
    worker = _Worker(process, here, cell, time.perf_counter())
    _give(worker, cell, watch)
    return worker


def _give(worker: _Worker, cell: Cell, watch: Watch) -> None:
    worker.cell, worker.start = cell, time.perf_counter()
    watch(cell, 0, 0)
    # If it is dead, the next attempt to read tells.
    with suppress(OSError):
        worker.connection.send(cell)


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
    _spare_threads(machine)
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
