"""A crew on a Dask cluster: each of its worker processes trains one cell at a time."""

import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

import distributed

from robustpu.bench.eta import many
from robustpu.bench.plan import Cell
from robustpu.bench.remote import TOPIC, meet, refusal, serve
from robustpu.bench.store import Record
from robustpu.bench.train import Machine, failures
from robustpu.bench.workers import News, WorkerDied

# Seconds: between looks at who is there; for finished records to come over.
GLANCE, FETCH = 1.0, 30.0
# A cell that has lost so many workers has failed.
TRIES = 3


@dataclass
class _Job:
    """A cell, who trains it, and since when."""

    cell: Cell
    worker: str
    future: Any
    start: float


class Cluster:
    """Gives each worker one cell; what a lost worker had goes to another one.

    Parameters
    ----------
    client
        Of the cluster.
    machine
        Device and data folder, as the workers are to understand them.
    needed
        Data sets that each worker must have.
    say
        Told in a line what people should know.

    Raises
    ------
    OSError
        A worker does not suit, or the scheduler has gone.
    """

    def __init__(
        self, client: Any, machine: Machine, needed: tuple[str, ...], say: Callable[[str], None]
    ):
        self._client, self._machine, self._needed, self._say = client, machine, needed, say
        self._jobs: dict[str, _Job] = {}
        self._waiting: deque[Cell] = deque()
        self._lost: Counter[Cell] = Counter()
        # Workers that suit, with the names of their devices; and all that were asked.
        self._suited: dict[str, str] = {}
        self._asked: set[str] = set()
        self._present: set[str] = set()
        self._looked, self._told = -GLANCE, False
        self._news: SimpleQueue[Any] = SimpleQueue()
        client.subscribe_topic(TOPIC, self._news.put)
        if refusals := self._look():
            raise OSError(" ".join(refusals))

    def __len__(self) -> int:
        return len(self._suited)

    @property
    def has_room(self) -> bool:
        """Whether a worker has nothing to do."""
        return len(self._free()) > len(self._waiting)

    def give(self, cell: Cell) -> None:
        """Have a cell trained by a worker that has nothing to do, as soon as there is one."""
        self._waiting.append(cell)
        self._share()

    def news(self) -> Iterator[News]:
        """Wait for a message, or for a look at the cluster, and tell what came of it."""
        try:
            told = self._news.get(timeout=GLANCE)
        except Empty:
            told = None
        if isinstance(told, tuple):
            yield from self._progress(*told[1])
        elif told is not None:
            yield from self._ended(told)
        if time.monotonic() - self._looked >= GLANCE:
            for against in self._look():
                self._say(f"Left aside: {against}")
            gone = [job for job in self._jobs.values() if job.worker not in self._present]
            for job in gone:
                yield from self._missed(job)
            self._share()

    def dismiss(self) -> None:
        """Cancel what is being trained: workers notice at the next epoch."""
        futures = [job.future for job in self._jobs.values()]
        self._jobs.clear()
        # A scheduler that is gone has nothing to cancel.
        with suppress(Exception):
            self._client.unsubscribe_topic(TOPIC)
            self._client.cancel(futures, force=True)

    def _free(self) -> list[str]:
        busy = {job.worker for job in self._jobs.values()}
        return [worker for worker in self._suited if worker not in busy]

    def _share(self) -> None:
        for worker in self._free()[: len(self._waiting)]:
            cell, key = self._waiting.popleft(), f"robustpu-cell-{uuid4().hex}"
            future = self._client.submit(
                serve, cell, self._machine, key=key, workers=[worker], allow_other_workers=False
            )
            self._jobs[key] = _Job(cell, worker, future, time.perf_counter())
            future.add_done_callback(self._news.put)

    def _progress(self, key: str, done: int, total: int) -> Iterator[News]:
        # Other runs may use the cluster, and this one may have given up on a worker.
        if key in self._jobs:
            yield News(self._jobs[key].cell, done, total)

    def _ended(self, future: Any) -> Iterator[News]:
        job = self._jobs.get(future.key)
        if job is None:
            return
        try:
            records = future.result(timeout=FETCH)
        except (TimeoutError, distributed.CancelledError, distributed.KilledWorker):
            # It died with its records in hand, or was restarted.
            yield from self._missed(job)
            return
        except Exception as error:
            records = self._failures(job, error)
        del self._jobs[future.key]
        self._share()
        yield News(job.cell, 0, 0, records)

    def _missed(self, job: _Job) -> Iterator[News]:
        """Put the cell of a lost worker first in the queue, unless it lost too many."""
        del self._jobs[job.future.key]
        with suppress(distributed.CancelledError):
            self._client.cancel([job.future], force=True)
        self._lost[job.cell] += 1
        if self._lost[job.cell] < TRIES:
            self._waiting.appendleft(job.cell)
            yield News(job.cell, 0, 0)
            return
        error = WorkerDied(
            f"{TRIES} workers were lost while they trained this cell, the last one {job.worker}; "
            "out of memory?"
        )
        yield News(job.cell, 0, 0, self._failures(job, error))

    def _failures(self, job: _Job, error: Exception) -> list[Record]:
        # A device of another machine is known by its name alone.
        machine = replace(self._machine, device=self._suited.get(job.worker, "unknown"))
        return failures(job.cell, machine, error, time.perf_counter() - job.start)

    def _look(self) -> list[str]:
        """See who is there, and ask those who are new; return what speaks against some."""
        try:
            self._present = set(self._client.nthreads())
        except (OSError, RuntimeError, ValueError) as error:
            raise OSError(
                f"the Dask scheduler has gone ({error}). What was finished is kept; run again to "
                "go on."
            ) from None
        # One that comes back at its old address may be another one.
        self._asked &= self._present
        refusals = []
        for worker, answer in self._meet(self._present - self._asked).items():
            if against := refusal(answer):
                refusals.append(f"worker {worker}: {against}")
            else:
                self._suited[worker] = answer["device"]
        self._suited = {
            worker: device for worker, device in self._suited.items() if worker in self._present
        }
        if not self._suited and not self._told:
            self._say(
                f"No worker at {self._client.scheduler.address} yet: waiting. Start some by `dask "
                f"worker {self._client.scheduler.address} --nthreads 1`, or stop by Ctrl-C."
            )
        elif self._suited and self._told:
            self._say(f"{many(len(self._suited), 'worker')} came.")
        self._told = not self._suited
        self._looked = time.monotonic()
        return refusals

    def _meet(self, workers: set[str]) -> dict[str, Any]:
        if not workers:
            return {}
        try:
            answers: dict[str, Any] = self._client.run(
                meet, self._needed, self._machine, workers=sorted(workers), on_error="return"
            )
        except (OSError, RuntimeError):
            # One of them left while it was asked: the next look tells.
            return {}
        # One that could not be reached is asked again.
        answers = {own: told for own, told in answers.items() if not isinstance(told, OSError)}
        self._asked |= answers.keys()
        return answers
