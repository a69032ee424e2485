"""A cluster of two processes, one for all tests, and a table whose truth is known."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs robustpu[dask]")
pytest.importorskip("lightgbm", reason="the learner of these tests")


class Known(NamedTuple):
    """Single-set data: rows, labels and truth; other rows and their truth; the prior among U."""

    X: np.ndarray
    y: np.ndarray
    truth: np.ndarray
    X_test: np.ndarray
    truth_test: np.ndarray
    prior: float


def rows(number: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    truth = random.random(number) < 0.35
    return random.normal(size=(number, 5)) + truth[:, None] * [1.4, 1.4, 0.7, 0, 0], truth


@pytest.fixture(scope="session")
def known() -> Known:
    X, truth = rows(6000, 0)
    y = (truth & (np.random.default_rng(2).random(len(truth)) < 0.4)).astype(int)
    return Known(X, y, truth, *rows(10_000, 1), float(truth[y == 0].mean()))


@pytest.fixture(scope="session")
def client() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            yield client


@pytest.fixture
def blocks(client: Any, known: Known) -> tuple[Any, Any]:
    """X and y of the table as Dask arrays, of four blocks of unequal size."""
    import dask.array as da

    chunks = (1000, 2000, 1500, 1500)
    return da.from_array(known.X, chunks=(chunks, 5)), da.from_array(known.y, chunks=(chunks,))
