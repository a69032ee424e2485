"""What runs on a worker of a cluster: it answers whether it suits, and trains a cell."""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import distributed

import robustpu
from robustpu.bench.machine import device_name
from robustpu.bench.plan import Cell
from robustpu.bench.refusals import absent
from robustpu.bench.store import Record
from robustpu.bench.train import Machine, train
from robustpu.bench.workers import spare_threads
from robustpu.neural import device_of

# What progress is told under, and how many seconds apart.
TOPIC, PAUSE = "robustpu-bench", 1.0


def meet(needed: Iterable[str], machine: Machine) -> dict[str, str]:
    """Answer, on a worker, what a client asks before it gives it anything.

    Parameters
    ----------
    needed
        Data sets.
    machine
        Device and data folder.
    """
    told = {"version": robustpu.__version__, "absent": absent(needed, machine.data_dir)}
    try:
        return {**told, "device": device_name(str(device_of(machine.device)))}
    except ValueError as error:
        return {**told, "trouble": str(error)}


def refusal(answer: Any) -> str:
    """Say what speaks against a worker; nothing if it suits.

    Parameters
    ----------
    answer
        What it answered to ``meet``, or the exception that it raised.

    Examples
    --------
    >>> refusal({"version": "0", "absent": ""})[:14]
    'has robustpu 0'
    """
    here = robustpu.__version__
    if isinstance(answer, BaseException):
        return (
            f"cannot run robustpu ({type(answer).__name__}: {answer}). Install robustpu {here} on "
            "all machines of the cluster."
        )
    if answer["version"] != here:
        return (
            f"has robustpu {answer['version']}, and this is {here}. Results of two versions must "
            "not mix: install one of them everywhere, and restart the worker."
        )
    if answer["absent"]:
        return f"{answer['absent']} A worker reads ROBUSTPU_DATA of its own machine."
    return str(answer.get("trouble", ""))


class UnwantedError(Exception):
    """Nobody waits for this cell any more."""


def serve(cell: Cell, machine: Machine) -> list[Record]:
    """Train a cell on a worker.

    Parameters
    ----------
    cell
        What to train.
    machine
        Device and data folder; ``"auto"`` is the worker's own GPU if it has one.
    """
    worker: Any = distributed.get_worker()
    own = replace(machine, device=str(device_of(machine.device)))
    spare_threads(own)
    return train(cell, own, _report_to(worker, worker.get_current_task()))


def _report_to(worker: Any, key: str) -> Callable[[int, int], None]:
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > PAUSE:
            last = time.monotonic()
            task = worker.state.tasks.get(key)
            if task is None or task.state == "cancelled":
                raise UnwantedError
            worker.log_event(TOPIC, (key, done, total))

    return report
