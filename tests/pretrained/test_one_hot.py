"""Neighbouring one-hot columns are one category to the pretrained network."""

import numpy as np
import pytest

from robustpu import PretrainedPUClassifier
from robustpu.pretrained import EncodedTable, load_network
from robustpu.pretrained.one_hot import find_one_hot


def table(levels=5, rows=120):
    """A number, a category of some levels, and which rows are labelled."""
    random = np.random.default_rng(0)
    number, code = random.normal(size=rows), random.integers(levels, size=rows)
    return number, code, (number + (code == 2) > 0.8) & (random.random(rows) < 0.5)


def one_hot(number, code, levels=5):
    return np.column_stack([number, np.eye(levels)[code]])


def merged(X, is_category=None):
    X = np.asarray(X, float)
    found = find_one_hot(X, np.zeros(X.shape[1], bool) if is_category is None else is_category)
    return found.merge(X).tolist()


def test_it_is_scored_as_the_category_is():
    number, code, is_positive = table()
    network, new = load_network(), one_hot(*table(rows=30)[:2])
    ours = EncodedTable(network, one_hot(number, code), is_positive)
    theirs = EncodedTable(
        network, np.column_stack([number, code + 1.0]), is_positive, [False, True]
    )
    codes = np.column_stack([new[:, 0], 1 + new[:, 1:].argmax(1)])
    np.testing.assert_array_equal(ours.score(new), theirs.score(codes))
    np.testing.assert_array_equal(ours.training.probability, theirs.training.probability)


def test_scaled_columns_count_too():
    X = one_hot(*table()[:2])
    scaled = (X - X.mean(0)) / X.std(0)
    assert merged(scaled)[0][1:] == merged(X)[0][1:]


@pytest.mark.parametrize(
    "X",
    [
        [[0, 1], [1, 1], [1, 0]],  # Both are 1 in a row.
        [[0, 1, 0], [1, 2, 0], [0, 3, 1]],  # A number stands between.
        [[0, np.nan], [1, 0], [0, 1]],
        [[0, 5], [1, 5], [0, 5]],  # A constant.
    ],
)
def test_other_columns_stay(X):
    assert merged(X) == pytest.approx(np.asarray(X, float), nan_ok=True)


def test_columns_that_are_said_to_be_categories_stay():
    assert merged([[0, 1], [1, 0]], np.array([False, True])) == [[0, 1], [1, 0]]


def test_rows_without_any_and_with_two_have_a_code():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = find_one_hot(X, np.zeros(3, bool))
    new = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [np.nan, 0.0, 1.0]])
    assert found.merge(new).tolist() == [[0.0], [2.0], [3.0]]


def test_two_categories_side_by_side_are_two():
    random = np.random.default_rng(0)
    first, second = random.integers(3, size=(2, 200))
    X = np.column_stack([np.eye(3)[first], np.eye(3)[second]])
    assert merged(X) == np.column_stack([first + 1, second + 1]).tolist()


def test_a_classifier_takes_them_and_is_saved(tmp_path):
    number, code, is_positive = table()
    X = one_hot(number, code)
    model = PretrainedPUClassifier(prior=0.3, random_state=0).fit(X, is_positive.astype(int))
    model.save(tmp_path / "model")
    loaded = PretrainedPUClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model.n_features_in_ == 6
