"""Folds with labelled and unlabelled rows in each."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from robustpu.metrics import PUKFold, PUTimeSplit


def some_y(n_positive=23, n_unlabeled=100):
    y = np.arange(n_positive + n_unlabeled) < n_positive
    return np.random.default_rng(0).permutation(y).astype(int)


def test_folds_are_a_partition_with_the_shares_kept():
    y = some_y()
    parts = list(PUKFold(5, random_state=0).split(y, y))
    assert sorted(np.concatenate([test for _, test in parts])) == list(range(123))
    for train, test in parts:
        assert sorted([*train, *test]) == list(range(123))
        assert y[test].sum() in (4, 5)
        assert (1 - y[test]).sum() == 20


def test_seeds_and_order():
    y = some_y()
    tests = [
        [test.tolist() for _, test in PUKFold(5, random_state=seed).split(y, y)]
        for seed in (0, 0, 1)
    ]
    assert tests[0] == tests[1] != tests[2]
    # Unshuffled folds do not need a seed, and do not mind one.
    still = [PUKFold(5, shuffle=False, random_state=seed).split(y, y) for seed in (0, None)]
    assert [t.tolist() for _, t in still[0]] == [t.tolist() for _, t in still[1]]


def test_as_few_as_possible():
    y = np.array([1, 1, 1, 0, 0, 0])
    assert all(y[test].sum() == 1 == len(test) - 1 for _, test in PUKFold(3).split(y, y))


def test_string_labels_do_not_warn():
    y = np.where(some_y(), "b", "a")
    assert len(list(PUKFold(5).split(y, y))) == PUKFold(5).get_n_splits() == 5


@pytest.mark.parametrize("n_negative", [3, 40])
def test_known_negatives(n_negative):
    y = np.r_[some_y(), np.full(n_negative, -1)]
    for train, test in PUKFold(5, random_state=0, neg_label=-1).split(y, y):
        assert sorted([*train, *test]) == list(range(len(y)))
        assert (y[test] == 1).sum() in (4, 5)
        assert 19 <= (y[test] == 0).sum() <= 21
        assert n_negative < 5 or (y[test] == -1).sum() == 8
    time = np.arange(len(y))[::-1]
    for train, test in PUTimeSplit(3, neg_label=-1).split(y, y, time):
        assert time[train].max() < time[test].min()
        assert {0, 1} <= set(y[test])
    with pytest.raises(ValueError, match="Known negatives"):
        list(PUKFold(5).split(y, y))


def test_groups_never_straddle():
    rng = np.random.default_rng(1)
    y = some_y(60, 240)
    groups = rng.integers(0, 40, 300)
    for seed in range(5):
        for train, test in PUKFold(5, random_state=seed).split(y, y, groups):
            assert not set(groups[train]) & set(groups[test])
            # Shares of 0.2 as well as groups of seven or so allow.
            assert 0.1 < y[test].mean() < 0.3


def test_in_scikit_learn():
    y = some_y()
    X = np.random.default_rng(0).normal(y[:, None], 1, (123, 2))
    groups = np.arange(123) % 30
    found = cross_val_score(LogisticRegression(), X, y, cv=PUKFold(4), groups=groups)
    assert len(found) == 4
    search = GridSearchCV(LogisticRegression(), {"C": [1.0]}, cv=PUKFold(3, random_state=0))
    assert clone(search).fit(X, y).n_splits_ == 3
    assert len(cross_val_predict(LogisticRegression(), X, y, cv=PUKFold(3))) == 123
    assert cross_val_score(LogisticRegression(), X, y, cv=PUTimeSplit(3)).shape == (3,)


def test_time_goes_forward():
    rng = np.random.default_rng(0)
    time = rng.integers(0, 60, 300)
    y = some_y(60, 240)
    parts = list(PUTimeSplit(4).split(y, y, time))
    assert len(parts) == PUTimeSplit(4).get_n_splits() == 4
    for train, test in parts:
        assert time[train].max() < time[test].min()
        assert 0 < y[test].sum() < len(test)
        assert np.all(np.diff(time[test]) >= 0)
    first = parts[0][0]
    everything = np.concatenate([first, *(test for _, test in parts)])
    assert sorted(everything) == list(range(300))


def test_blocks_of_time_are_balanced_when_labels_come_late():
    # Nearly all labels are in the last third, where blocks are therefore shorter.
    y = np.r_[[1, 0], np.zeros(98), np.tile([1, 0], 25)].astype(int)
    tests = [test for _, test in PUTimeSplit(3).split(y, y)]
    share = [y[test].mean() for test in tests]
    assert len(tests[-1]) < len(tests[0])
    assert min(share) > 0
    halves = [y[t].sum() / y.sum() + (1 - y[t]).sum() / (1 - y).sum() for t in tests]
    assert halves == pytest.approx([0.5] * 3, abs=0.06)


def test_times_may_be_dates():
    y = some_y(20, 40)
    dates = np.datetime64("2024-01-01") + np.arange(60)[::-1]
    for train, test in PUTimeSplit(2).split(y, y, dates):
        assert dates[train].max() < dates[test].min()


def test_errors():
    y = some_y(3, 50)
    with pytest.raises(ValueError, match=r"each of 5 folds needs .* only 3 rows. Give fewer"):
        list(PUKFold(5).split(y, y))
    with pytest.raises(ValueError, match=r"each of 4 folds needs .* only 3 rows"):
        list(PUTimeSplit(3).split(y, y))
    with pytest.raises(ValueError, match="n_splits must be a whole number at least 2"):
        list(PUKFold(1).split(y, y))
    with pytest.raises(ValueError, match="n_splits must be a whole number at least 1"):
        list(PUTimeSplit(0).split(y, y))
    with pytest.raises(ValueError, match="one class only"):
        list(PUKFold(2).split(np.zeros(5), np.zeros(5)))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        list(PUKFold(2).split(np.zeros(5), y))
    with pytest.raises(ValueError, match="inconsistent numbers"):
        list(PUKFold(2).split(y, y, np.zeros(5)))


def test_errors_of_groups():
    y = np.r_[np.ones(10), np.zeros(40)]
    with pytest.raises(ValueError, match=r"are in only 2 groups. Give fewer splits"):
        list(PUKFold(3).split(y, y, np.r_[np.arange(10) % 2, np.arange(40)]))
    # Two groups hold all labelled rows, and one of them nearly all unlabelled ones too.
    groups = np.r_[np.zeros(9), [1], np.zeros(39), [0]]
    with pytest.raises(ValueError, match="each of 2 folds needs"):
        list(PUKFold(2).split(y, y, groups))
    y = np.array([0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0, 1])
    groups = np.array([1, 2, 3, 1, 3, 2, 3, 1, 1, 2, 2, 2])
    with pytest.raises(ValueError, match=r"fold 0 has 0 and 4 .* smaller groups"):
        list(PUKFold(2, shuffle=False).split(y, y, groups))


def test_errors_of_time():
    y = np.r_[np.ones(10), np.zeros(40)]
    with pytest.raises(ValueError, match="different times: give fewer splits"):
        list(PUTimeSplit(2).split(y, y))
