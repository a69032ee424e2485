"""Columns that give the label away."""

import tracemalloc

import numpy as np
import pytest
from scipy.stats import rankdata

from robustpu.tables import Vectorizer
from robustpu.tables.leaks import separation

N = 2_000
Y = (np.arange(N) < 120).astype(int)


def alarms(cells):
    columns = Vectorizer().fit({"x": np.arange(N) ** 0.5, "tried": cells}, Y).columns_
    return {column.name for column in columns if column.alarm} - {"x"}


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_values_that_only_positives_have_are_an_alarm(n_values):
    random = np.random.default_rng(0)
    theirs, others = random.integers(n_values, size=N), random.integers(4, size=N)
    cells = np.where(Y == 1, np.char.mod("closed %d", theirs), np.char.mod("open %d", others))
    assert alarms(cells.tolist()) == {"tried"}


@pytest.mark.parametrize("n_values", [3, 25, 400])
def test_values_that_have_nothing_to_do_with_the_label_are_none(n_values):
    values = np.random.default_rng(1).integers(n_values, size=N)
    assert alarms([f"v{value}" for value in values]) == set()


def test_separation_is_that_of_ranks_in_little_memory():
    random = np.random.default_rng(0)
    X = random.normal(size=(N, 400)).astype(np.float32)
    X[:, ::2] = X[:, ::2].round()
    ranks = rankdata(X, axis=0)[Y == 1].sum(axis=0)
    auc = (ranks - 120 * 121 / 2) / (120 * (N - 120))
    tracemalloc.start()
    found = separation(X, Y == 1)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_allclose(found, np.abs(2 * auc - 1), atol=1e-12)
    assert most < X.nbytes / 4
