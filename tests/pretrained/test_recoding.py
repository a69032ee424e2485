"""One-hot columns are a category to the pretrained network, and filled gaps are missing."""

import numpy as np
import pytest

from robustpu import PretrainedPUClassifier
from robustpu.pretrained import EncodedTable, load_network
from robustpu.pretrained.recoding import find_recoding


def table(levels=5, rows=120):
    """A number, a category of some levels, and which rows are labelled."""
    random = np.random.default_rng(0)
    number, code = random.normal(size=rows), random.integers(levels, size=rows)
    return number, code, (number + (code == 2) > 0.8) & (random.random(rows) < 0.5)


def one_hot(number, code, levels=5):
    return np.column_stack([number, np.eye(levels)[code]])


def recoded(X, is_category=None):
    X = np.asarray(X, float)
    found = find_recoding(X, np.zeros(X.shape[1], bool) if is_category is None else is_category)
    return found.apply(X).tolist()


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
    assert recoded(scaled)[0][1:] == recoded(X)[0][1:]


@pytest.mark.parametrize(
    "X",
    [
        [[0, 1], [1, 1], [1, 0]],  # Both are 1 in a row.
        [[0, 1, 0], [1, 2, 0], [0, 3, 1]],  # A number stands between.
        [[0, np.nan], [1, 0], [0, 1]],
        [[0, 5], [1, 5], [0, 5]],  # A constant.
        [[0, 1], [1, 0], [0, 0], [0, 0]],  # Two rare things, which need not be one.
    ],
)
def test_other_columns_stay(X):
    assert recoded(X) == pytest.approx(np.asarray(X, float), nan_ok=True)


def test_columns_that_are_said_to_be_categories_stay():
    assert recoded([[0, 1], [1, 0]], np.array([False, True])) == [[0, 1], [1, 0]]


def test_rows_without_any_and_with_two_have_a_code():
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = find_recoding(X, np.zeros(3, bool))
    new = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0], [np.nan, 0.0, 1.0], [np.nan, 0.0, 0.0]])
    np.testing.assert_array_equal(found.apply(new).ravel(), [0, 4, 3, np.nan])


def test_two_categories_side_by_side_are_two():
    random = np.random.default_rng(0)
    first, second = random.integers(3, size=(2, 200))
    X = np.column_stack([np.eye(3)[first], np.eye(3)[second]])
    assert recoded(X) == np.column_stack([first + 1, second + 1]).tolist()


def test_a_classifier_takes_them_and_is_saved(tmp_path):
    number, code, is_positive = table()
    X = one_hot(number, code)
    model = PretrainedPUClassifier(prior=0.3, random_state=0).fit(X, is_positive.astype(int))
    model.save(tmp_path / "model")
    loaded = PretrainedPUClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert model.n_features_in_ == 6


def gaps(rows=200):
    """Amounts with gaps, beside another number, and the same as our vectorizer writes them."""
    random = np.random.default_rng(1)
    amount, other = random.normal(size=(2, rows))
    is_missing = random.random(rows) < 0.2
    filled = np.where(is_missing, np.median(amount[~is_missing]), amount)
    raw = np.column_stack([np.where(is_missing, np.nan, amount), other])
    return (
        raw,
        np.column_stack([filled, is_missing, other]),
        (other > 0) & (random.random(rows) < 0.5),
    )


def test_filled_gaps_are_scored_as_missing():
    raw, filled, is_positive = gaps()
    network = load_network()
    ours, theirs = (EncodedTable(network, X, is_positive) for X in (filled, raw))
    np.testing.assert_array_equal(recoded(filled), raw)
    np.testing.assert_array_equal(ours.score(filled[:30]), theirs.score(raw[:30]))


def test_all_parts_of_a_date_are_missing_together():
    _, filled, _ = gaps()
    X = np.column_stack([2 * filled[:, :1], filled])
    assert np.isnan(recoded(X)).sum(0).tolist() == [filled[:, 1].sum()] * 2 + [0]


def test_what_our_vectorizer_fills_is_missing_again():
    from robustpu.tables import Vectorizer

    raw, _, _ = gaps()
    table = {
        "amount": raw[:, 0],
        "city": np.where(raw[:, 1] > 0, "Bern", "Rome"),
        "other": raw[:, 1],
    }
    X = Vectorizer().fit_transform(table).astype(float)
    assert np.isnan(recoded(X)).sum() == np.isnan(raw).sum()
    assert np.shape(recoded(X)) == (200, 3)


@pytest.mark.parametrize(
    "X",
    [
        [[0, 1], [0, 1], [0, 1], [3, 0], [4, 0]],  # An extreme: perhaps none of a thing.
        [[2, 1], [2, 1], [1, 0], [4, 0]],  # Two rows tell nothing.
        [[2, 1], [2, 1], [3, 1], [1, 0], [4, 0]],
        [[2, 1], [2, 1], [2, 1], [1, 0], [2, 0], [2, 0], [2, 0], [4, 0]],  # A frequent value.
    ],
)
def test_other_columns_before_an_indicator_stay(X):
    assert recoded(X) == X


def test_only_the_fill_value_becomes_missing_in_new_rows():
    _, filled, _ = gaps()
    fill = filled[filled[:, 1] == 1, 0][0]
    found = find_recoding(filled, np.zeros(3, bool))
    new = found.apply(np.array([[fill, 1.0, 0.0], [9.0, 1.0, 0.0], [fill, 0.0, 0.0]]))
    np.testing.assert_array_equal(new[:, 0], [np.nan, 9.0, fill])


@pytest.mark.parametrize("change", [np.float32, lambda X: X.round(6)])
def test_rounded_rows_are_recoded_alike(change):
    _, filled, _ = gaps()
    X = np.column_stack([np.eye(3)[np.arange(200) % 3], filled])
    X = (X - X.mean(0)) / X.std(0)
    found = find_recoding(X, np.zeros(6, bool))
    exact, rounded = found.apply(X), found.apply(np.asarray(change(X), float))
    assert found.width == 3
    np.testing.assert_allclose(rounded, exact, atol=1e-5)


def test_an_indicator_of_a_column_with_other_gaps_stays():
    _, filled, _ = gaps()
    filled[np.flatnonzero(filled[:, 1] == 0)[:5], 0] = np.nan
    assert find_recoding(filled, np.zeros(3, bool)).width == 3


def test_a_rare_flag_that_goes_with_one_value_by_chance_stays():
    dose = np.arange(250) % 6 * 1.0
    flag = np.isin(np.arange(250), [3, 63, 123])
    X = np.column_stack([dose, flag, np.random.default_rng(0).normal(size=250)])
    assert (dose[flag] == 3).all()
    assert find_recoding(X, np.zeros(3, bool)).width == 3


def test_independent_rare_columns_stay():
    random = np.random.default_rng(0)
    for _ in range(50):
        X = (random.random((200, 4)) < 0.05).astype(float)
        assert find_recoding(X, np.zeros(4, bool)).width == 4


def test_a_category_whose_first_level_was_dropped_is_one():
    code = np.random.default_rng(0).integers(4, size=200)
    X = np.eye(4)[code][:, 1:]
    assert recoded(X) == code[:, None].tolist()
