"""Rows on their way through a fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from robustpu.training.data import TrainingData, rows_of

X = np.arange(12.0).reshape(6, 2)
IS_POSITIVE = np.array([True, True, False, False, False, False])
WEIGHT = np.array([1.0, 2.0, 0.0, 1.0, 4.0, 0.0])


@pytest.fixture
def data():
    return TrainingData(X, IS_POSITIVE, WEIGHT)


def test_without_held_out_rows_all_are_trained_on(data):
    assert len(data) == 6
    assert data.kept.tolist() == list(range(6))
    assert data.training() is data


def test_held_out_rows(data):
    some = replace(data, held_out=np.array([4, 0]), X_eval=X, truth=IS_POSITIVE)
    assert some.kept.tolist() == [1, 2, 3, 5]
    training = some.training()
    np.testing.assert_array_equal(training.X, X[[1, 2, 3, 5]])
    np.testing.assert_array_equal(training.is_positive, IS_POSITIVE[[1, 2, 3, 5]])
    np.testing.assert_array_equal(training.weight, WEIGHT[[1, 2, 3, 5]])
    assert training.truth is None
    assert len(training.held_out) == 0
    assert len(data.held_out) == 0


def test_rows_with_weight(data):
    found = data.with_weight()
    np.testing.assert_array_equal(found.X, X[[0, 1, 3, 4]])
    assert found.weight.tolist() == [1, 2, 1, 4]
    assert found.with_weight() is found


def test_masses_and_the_population(data):
    assert data.masses() == (3, 5)
    assert data.population_prior(0.4, "case-control") == 0.4
    assert data.population_prior(0.4, "single-set") == pytest.approx((3 + 0.4 * 5) / 8)


def test_is_not_changed_in_place(data):
    with pytest.raises(AttributeError):
        data.X = None


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, csr_array, np.ndarray.tolist])
def test_rows_of(kind):
    found = rows_of(kind(X), np.array([5, 0]))
    assert type(found) is type(kind(X))
    dense = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    np.testing.assert_array_equal(dense, X[[5, 0]])


def test_rows_of_nothing():
    none = np.zeros(0, dtype=np.intp)
    assert rows_of(X, none).shape == (0, 2)
    assert rows_of(pd.DataFrame(X), none).shape == (0, 2)
