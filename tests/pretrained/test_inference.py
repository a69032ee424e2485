"""Use on numpy arrays: chunks, members, missing values, categories, wide tables."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

from robustpu.pretrained import EncodedTable, inference, load_network
from robustpu.pretrained.inference import _sigmoid
from robustpu.pretrained.network import Cache, KeysValues, NetworkConfig, PUNetwork


@pytest.fixture(scope="module")
def network():
    return load_network()


@pytest.fixture(scope="module")
def small_network(perturbed):
    config = NetworkConfig(
        cell_width=8, cell_heads=2, n_cell_blocks=1, row_width=8, row_heads=2, n_row_blocks=1
    )
    return perturbed(PUNetwork(config))


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    X[::7, 1] = np.nan
    X[:, 3] = rng.integers(0, 4, 120)
    is_positive = np.arange(120) < 20
    X[is_positive, 0] += 2
    return X, is_positive


def test_shipped_weights_learn_in_one_pass(network):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    positive, negative = rng.permutation(np.flatnonzero(y == 0)), np.flatnonzero(y == 1)
    rows = np.concatenate([positive[:60], negative[:100]])
    rest = np.concatenate([positive[60:], negative[100:]])

    found = EncodedTable(network, X[rows], np.arange(160) < 30, n_members=1)

    assert roc_auc_score(y[rest] == 0, found.score(X[rest])) > 0.97
    assert found.estimate_prior() == pytest.approx(30 / 130, abs=0.12)


def test_shipped_weights_score_as_they_did(network, table):
    """Figures of version 2 of the weights."""
    X, is_positive = table
    encoded = EncodedTable(network, X, is_positive, np.arange(5) == 3, n_members=2)

    expected = [0.61080058, 0.04910182, 0.15983781, 0.05440364]
    np.testing.assert_allclose(encoded.score(X)[[0, 30, 60, 90]], expected, rtol=1e-4)
    assert encoded.estimate_prior() == pytest.approx(0.11120797, rel=1e-4)


def test_rows_attend_to_the_context(small_network, table):
    """Otherwise the tests of chunks, threads and categories would not see a broken cache."""
    X, is_positive = table
    encoded = EncodedTable(small_network, X, is_positive, n_members=1)
    before = encoded.score(X)
    [member] = encoded.members
    for part in (0, 1):
        kept = [[*kinds] for kinds in member.cache]
        kept[part] = [KeysValues(kv.keys, kv.values + 1) for kv in kept[part]]
        encoded.members[0] = replace(member, cache=Cache(*kept))
        assert np.abs(encoded.score(X) - before).max() > 1e-3


def test_chunked_queries_equal_unchunked(small_network, table, monkeypatch):
    X, is_positive = table
    encoded = EncodedTable(small_network, X, is_positive, n_members=2)
    whole = encoded.score(X)

    monkeypatch.setitem(inference.CHUNK_CELLS, "cpu", 21)

    np.testing.assert_allclose(encoded.score(X), whole, rtol=1e-5)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_threads_change_nothing(small_network, table, two_threads):
    X, is_positive = table
    together = EncodedTable(small_network, X, is_positive, n_members=3)

    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)
    alone = EncodedTable(small_network, X, is_positive, n_members=3)
    np.testing.assert_allclose(together.score(X), alone.score(X), rtol=1e-6)
    np.testing.assert_allclose(together.training.probability, alone.training.probability, rtol=1e-6)


def test_threads_end_with_an_error(two_threads):
    def divide(x):
        return 1 / x

    with pytest.raises(ZeroDivisionError):
        inference.on_threads(divide, [1, 0, 2], torch.device("cpu"))
    assert torch.get_num_threads() == 2


def test_training_rows_outside_of_a_context_are_held_out(small_network, table):
    X, is_positive = table
    encoded = EncodedTable(small_network, X, is_positive, n_members=2, max_context=40)
    first, second = encoded.members
    found = encoded.training
    inside = np.zeros((2, len(X)), bool)
    inside[0, first.rows] = inside[1, second.rows] = True

    # No row is in both contexts: one member or two have not seen it.
    assert not inside.all(0).any()
    scores = [_sigmoid(encoded._query_logits(member, X)) for member in (first, second)]
    expected = np.average(scores, axis=0, weights=~inside)
    np.testing.assert_allclose(found.held_out, expected, rtol=1e-5)
    np.testing.assert_array_equal(found.probability[is_positive], found.held_out[is_positive])
    seen = first.rows[~is_positive[first.rows]]
    each = _sigmoid(first.logits[~is_positive[first.rows]])
    np.testing.assert_allclose(found.probability[seen], (each + scores[1][seen]) / 2, rtol=1e-5)


def test_training_rows_inside_of_all_contexts_are_not_held_out(small_network, table):
    X, is_positive = table
    found = EncodedTable(small_network, X, is_positive, n_members=2).training

    assert np.isnan(found.held_out).all()
    np.testing.assert_array_equal(np.isnan(found.probability), is_positive)


def test_one_seed_one_answer(small_network, table):
    X, is_positive = table
    first, second, other = (
        EncodedTable(small_network, X, is_positive, n_members=1, seed=seed).score(X)
        for seed in (0, 0, 1)
    )

    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def test_categories_have_no_order(small_network, table):
    X, is_positive = table
    is_category = np.arange(5) == 3
    plain = EncodedTable(small_network, X, is_positive, is_category, n_members=1)
    renamed = X.copy()
    renamed[:, 3] = renamed[:, 3] * 10 + 5

    other = EncodedTable(small_network, renamed, is_positive, is_category, n_members=1)

    np.testing.assert_allclose(plain.score(X), other.score(renamed))
    unseen = X[:3].copy()
    unseen[:, 3] = (99, np.nan, 1)
    assert np.isfinite(plain.score(unseen)).all()


def test_long_and_wide_tables_are_split(small_network, monkeypatch):
    monkeypatch.setattr(inference, "MAX_COLUMNS", 20)
    monkeypatch.setattr(inference, "MAX_POSITIVE", 50)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 23))
    is_positive = np.arange(400) < 200

    encoded = EncodedTable(small_network, X, is_positive, n_members=1, max_context=128)

    assert len(encoded.members) == 2
    seen = np.unique(np.concatenate([member.columns for member in encoded.members]))
    assert len(seen) == 23
    for member in encoded.members:
        assert len(member.rows) == 128
        assert is_positive[member.rows].sum() <= 50
    assert np.isfinite(encoded.training.probability[~is_positive]).all()


def test_constant_empty_and_huge_columns_are_accepted(small_network, table):
    X, is_positive = table
    X[:, 0], X[:, 1], X[:, 2] = 7.0, np.nan, X[:, 2] * 1e30

    assert np.isfinite(EncodedTable(small_network, X, is_positive, n_members=1).score(X)).all()


def test_rows_of_one_kind_are_refused(small_network, table):
    with pytest.raises(ValueError, match="all rows are of one kind"):
        EncodedTable(small_network, table[0], np.ones(120, bool))


def test_unknown_levels_are_like_no_known_one(small_network):
    random = np.random.default_rng(0)
    code = random.integers(4, size=100)
    encoded = EncodedTable(small_network, code[:, None], code == 2, [True], n_members=4)
    for member in encoded.members:
        known = encoded._values(np.arange(4.0)[:, None], member.columns, member.levels)
        new = encoded._values(np.array([[99.0]]), member.columns, member.levels)
        assert not (known == new).any()


def test_new_values_far_from_a_tiny_column_do_not_warn(small_network):
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 1] = np.where(np.arange(60) % 7, 0.0, 1e-312)
    encoded = EncodedTable(small_network, X, np.arange(60) < 20)
    assert np.isfinite(encoded.score([[0.0, 0.5]])).all()
