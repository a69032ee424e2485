"""Fits of a Dask learner, again if a worker was lost, and its scores of rows it has not seen."""

import logging
import time
import warnings
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from typing import Any

import dask
import distributed
import numpy as np
from dask.delayed import delayed

from robustpu.base.learners import scores
from robustpu.distributed.blocks import Floats, Folded, Parts, Table

logger = logging.getLogger(__name__)

# Seconds: between looks at the cluster; that a fit may go on after it lost a worker; that a lost
# worker has to come back, before its rows go to the others.
GLANCE, GRACE, RETURN = 0.5, 10.0, 60.0


class LostWorkerError(RuntimeError):
    """Workers went away in the middle of a fit, each time that it was tried."""


def client_of() -> Any:
    """Return the client of the cluster that the user has started."""
    try:
        return distributed.default_client()
    except ValueError:
        raise ValueError(
            "there is no Dask cluster: start one first, say distributed.Client() for this machine; "
            "see docs/dask.md."
        ) from None


def fresh(learner: Any, seed: int) -> Any:
    """Make a new learner of the same parameters, with another seed."""
    params = learner.get_params(deep=False)
    # Of the client of the fit, see ``_watched``.
    given = {"random_state": seed, "client": None}
    return type(learner)(**params | {name: given[name] for name in given.keys() & params.keys()})


def local(learner: Any) -> Any:
    """Make of a fitted Dask learner one that scores a block of rows where it lies."""
    if hasattr(learner, "to_local"):
        return learner.to_local()
    if hasattr(learner, "get_booster"):
        import xgboost

        # A booster does not know which number stands for a missing one.
        plain = xgboost.XGBClassifier(missing=learner.missing)
        plain.load_model(learner.get_booster().save_raw("ubj"))
        return plain
    return learner


def fit(learner: Any, lesson: tuple[Any, ...], seed: int, retries: int) -> Any:
    """Fit a fresh copy of a Dask learner; if a worker is lost meanwhile, do it again.

    Parameters
    ----------
    learner
        It stays as it is.
    lesson
        Rows, targets and maybe weights, as Dask collections.
    seed
        Of the learner.
    retries
        How often to do it again.

    Returns
    -------
    fitted
        Scores blocks of rows in memory.
    """
    client = client_of()
    for tried in range(retries + 1):
        settled(lesson)
        watch = Watch(client)
        try:
            return local(_watched(client, fresh(learner, seed), lesson, watch))
        except Exception as error:
            lost = watch.wait()
            if not lost:
                raise
            _renew(client, watch.before)
            if tried == retries:
                raise LostWorkerError(
                    f"workers were lost in {retries + 1} fits of one learner, the last ones "
                    f"{sorted(lost)}. See their logs, too little memory is the usual cause; or "
                    "raise retries."
                ) from error
            logger.warning("lost %s in the middle of a fit, which starts again", sorted(lost))
    raise AssertionError


class Watch:
    """Who of the workers has gone since it was made, also if others came back at their addresses.

    Parameters
    ----------
    client
        Of the cluster.
    """

    def __init__(self, client: Any):
        self._client = client
        self.before = set(client.nthreads())
        self._lost: set[str] = set()

    def look(self) -> set[str]:
        """Addresses of those that were seen to be gone."""
        self._lost |= self.before - set(self._client.nthreads())
        return self._lost

    def wait(self) -> set[str]:
        """The same after some moments: peers of a worker may know before the scheduler does."""
        for _ in range(10):
            if self.look():
                break
            time.sleep(GLANCE)
        return self._lost


def settled(collections: tuple[Any, ...]) -> None:
    """Wait until collections are there; raise what went wrong with them."""
    futures = distributed.futures_of(list(collections))
    distributed.wait(futures)
    for future in futures:
        if future.status == "error":
            future.result()


def _watched(client: Any, learner: Any, lesson: tuple[Any, ...], watch: Watch) -> Any:
    """Fit on a thread; if a worker is lost and nothing comes of it, break the fit off."""
    # Futures end with their client, so a fit has one of its own; as the default it is found by all
    # learners.
    with distributed.Client(client.scheduler.address, security=client.security):
        pool = ThreadPoolExecutor(1)
        try:
            job: Future[Any] = pool.submit(_fitted, learner, lesson)
            deadline = np.inf
            while True:
                try:
                    return job.result(timeout=GLANCE)
                except NotYet:
                    if job.done():
                        raise
                if not watch.look():
                    continue
                deadline = min(deadline, time.monotonic() + GRACE)
                if time.monotonic() > deadline:
                    raise LostWorkerError(f"broken off {GRACE:g} seconds after the loss")
        finally:
            pool.shutdown(wait=False)


def _fitted(learner: Any, lesson: tuple[Any, ...]) -> Any:
    with warnings.catch_warnings():
        # LightGBM says so of each fit, whether they were given or not.
        warnings.filterwarnings("ignore", r"Parameter (n_jobs|num_threads) will be ignored")
        return learner.fit(**dict(zip(("X", "y", "sample_weight"), lesson, strict=False)))


def _renew(client: Any, before: set[str]) -> None:
    """Restart the workers that are left, and wait for the lost ones.

    In native code, those that are left may wait for a lost one for hours, or keep a broken
    connection to it for the next fit.
    """
    client.restart_workers(sorted(before & set(client.nthreads())), raise_for_error=False)
    try:
        client.wait_for_workers(len(before), timeout=RETURN)
    except (TimeoutError, distributed.TimeoutError):
        logger.warning("a lost worker has not come back, the others go on without it")
        client.wait_for_workers(1, timeout=RETURN)


def unseen(table: Table, learners: list[Any]) -> Parts:
    """Score each row by the learner that has not seen it; scores stay on the workers.

    Parameters
    ----------
    table
        Rows.
    learners
        That of rows of fold 0, and that of fold 1.
    """
    # A learner is one task, not a part of each: it travels once a worker.
    shared = [delayed(learner, traverse=False) for learner in learners]
    parts = [
        delayed(unseen_of)(rows, folded, *shared)
        for rows, folded in zip(table.rows, table.folded, strict=True)
    ]
    held: Parts = dask.persist(*parts)
    return held


def unseen_of(rows: Any, folded: Folded, *learners: Any) -> Floats:
    """Scores of the rows of a block, each by the learner of the other fold, (n,)."""
    answer = np.empty(len(folded.fold))
    for fold, learner in zip((True, False), learners, strict=True):
        inside = folded.fold == fold
        if inside.any():
            answer[inside] = scores(learner, rows[inside])
    return answer


def mean_of(rows: Any, *learners: Any) -> Floats:
    """Scores of the rows of a block, the mean over the learners, (n,)."""
    if not len(rows):
        return np.zeros(0)
    answer: Floats = np.mean([scores(learner, rows) for learner in learners], axis=0)
    return answer.astype(np.float64)
