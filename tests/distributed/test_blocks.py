"""Blocks of rows: every formula against the same on all rows at once."""

import itertools

import numpy as np
import pytest
from scipy.special import logit

dask = pytest.importorskip("dask", reason="needs robustpu[dask]")
pytest.importorskip("distributed", reason="needs robustpu[dask]")

import dask.array as da  # noqa: E402

from robustpu.distributed import blocks, summaries, training_sets  # noqa: E402
from robustpu.distributed.blocks import Folded  # noqa: E402


@pytest.fixture(autouse=True)
def _here():
    with dask.config.set(scheduler="sync"):
        yield


SIZES = (7, 1, 20, 12)


@pytest.fixture
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 3))
    y = (random.random(40) < 0.3).astype(int)
    parts = da.from_array(X, chunks=(SIZES, 3)), da.from_array(y, chunks=(SIZES,))
    return X, y, blocks.read(*parts, None, 5)[1]


def joined(parts):
    return np.concatenate(dask.compute(*parts))


def test_folds_are_even_in_both_classes_and_their_sizes_are_known(table):
    _, y, read = table
    folded = dask.compute(*read.folded)
    fold = np.concatenate([one.fold for one in folded])
    assert np.array_equal(np.concatenate([one.labelled for one in folded]), y == 1)
    for side in (y == 1, y == 0):
        assert abs(int(fold[side].sum()) - int((~fold[side]).sum())) <= 1
    assert read.in_fold(1).tolist() == [int(one.fold.sum()) for one in folded]
    assert read.in_fold(0).tolist() == [int((~one.fold).sum()) for one in folded]
    assert read.totals == (int(y.sum()), int((1 - y).sum()))


def test_a_block_is_split_the_same_when_it_is_made_again():
    y = np.array([0, 1] * 20)
    once, again, other = (blocks.split(y, 1, (0, 0), seed) for seed in ((1, 2), (1, 2), (1, 3)))
    assert np.array_equal(once.fold, again.fold)
    assert not np.array_equal(once.fold, other.fold)


def test_histogram_is_that_of_all_rows(table):
    _, y, read = table
    score = np.random.default_rng(1).random(40)
    score[:2] = 0, 1
    ends = np.cumsum((0, *SIZES))
    parts = [dask.delayed(score[a:b]) for a, b in itertools.pairwise(ends)]
    found = summaries.histogram(read, parts)
    assert (found.positive.sum(), found.unlabeled.sum()) == read.totals
    exact = logit(np.clip(score[y == 0], 1e-15, 1 - 1e-15))
    assert np.average(found.odds, weights=found.unlabeled) == pytest.approx(exact.mean(), abs=0.01)
    rows, best = summaries.top(read, parts, 3)
    hidden = np.where(y == 0, score, -1)
    assert rows.tolist() == np.argsort(-hidden)[:3].tolist()
    assert best == pytest.approx(np.sort(hidden)[:-4:-1])
    positive, unlabeled = summaries.sample(read, parts, 5, 0)
    assert (len(positive), len(unlabeled)) == (5, 5)
    assert set(positive) <= set(score[y == 1])
    assert set(unlabeled) <= set(score[y == 0])
    assert len(summaries.sample(read, parts, 1000, 0)[1]) == read.totals[1]


def test_training_sets_hold_the_rows_of_a_fold_that_have_weight(table):
    X, y, read = table
    fold = joined([part.fold for part in read.folded])
    weight = np.arange(40) % 3 / 2
    ends = np.cumsum((0, *SIZES))
    parts = [dask.delayed(weight[a:b]) for a, b in itertools.pairwise(ends)]
    pairs = zip(parts, read.folded, strict=True)
    notes = dask.compute(*(dask.delayed(training_sets.noted)(*pair) for pair in pairs))
    kept = np.array(notes)[:, :2].astype(int)
    given = training_sets.Weights(parts, kept, np.ones(2), np.ones(2))
    for number in (0, 1):
        mine = fold == bool(number)
        rows, target = training_sets.training_set(read, number)
        assert np.array_equal(rows.compute(), X[mine])
        assert np.array_equal(target.compute(), y[mine])
        assert not np.isnan(rows.shape[0])
        mine &= weight > 0
        rows, target, weights = training_sets.training_set(read, number, given, (2.0, 3.0))
        assert rows.shape == (int(mine.sum()), 3)
        assert np.array_equal(rows.compute(), X[mine])
        assert weights.compute() == pytest.approx((weight * np.where(y == 1, 2, 3))[mine])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, 2, 0], "two values"),
        ([0.0, np.nan, 1.0, 1.0], "NaN or None"),
        (np.array(["fraud", np.nan, "fraud", None], dtype=object), "NaN or None"),
        ([0, 0, 0, 0], "no labelled positives"),
        ([1, 0, 0], "4 rows but y has 3"),
    ],
)
def test_labels_are_refused(y, words):
    X = da.zeros((4, 2), chunks=(2, 2))
    with pytest.raises(ValueError, match=words):
        blocks.read(X, da.from_array(np.array(y), chunks=2), None, 0)


def test_rows_in_memory_and_blocks_that_differ_are_refused():
    with pytest.raises(TypeError, match="expected a Dask array or frame; got ndarray"):
        blocks.parts_of(np.zeros((2, 2)))
    mask = np.array([True, False])
    with pytest.raises(ValueError, match="has 3 rows, that of y 2"):
        training_sets.rows_of(np.zeros((3, 1)), Folded(mask, mask), 0, None, (1.0, 1.0))


def test_columns_in_several_chunks_and_labels_of_any_kind():
    X = da.ones((6, 4), chunks=(3, 2))
    y = da.from_array(np.array(["?", "spam", "?", "?", "spam", "?"]), chunks=2)
    classes, read = blocks.read(X, y, "spam", 0)
    assert classes.tolist() == ["?", "spam"]
    assert read.counts.tolist() == [[1, 2], [1, 2]]
    assert read.rows[0].compute().shape == (3, 4)
