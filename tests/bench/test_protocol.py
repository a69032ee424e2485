import numpy as np
import pytest

from robustpu import datasets, make_pu
from robustpu.bench.protocol import PROTOCOLS, Sizes, as_floats, split, splits
from robustpu.datasets.catalogue import SOURCES


def parts(pu):
    rows = pu.rows
    return [set(part.tolist()) for part in (rows.positive, rows.unlabeled, rows.validation)]


def test_every_data_set_has_a_protocol():
    assert set(PROTOCOLS) == set(datasets.names())
    assert PROTOCOLS["mnist"].sizes == Sizes(2000, 4000, 500, 5000)
    assert PROTOCOLS["stl10"].sizes == Sizes(1000, 2000, 500, 5000)
    assert PROTOCOLS["spambase"].sizes == Sizes(400, 800, 100, 1000)
    assert PROTOCOLS["cifar10"].module == "all_conv"


@pytest.mark.parametrize("dataset", [name for name in PROTOCOLS if name != "alzheimer"])
@pytest.mark.parametrize("prior", [0.2, 0.4, 0.6])
def test_every_data_set_has_rows_enough(dataset, prior):
    source, sizes = SOURCES[dataset], PROTOCOLS[dataset].sizes
    truth = np.arange(source.rows) < source.positives
    pu = make_pu(truth[:, None], truth, prior=prior, random_state=0, **vars(sizes))
    assert pu.prior == prior


def test_a_split_is_that_of_make_pu():
    table = datasets.load("spambase")
    sizes = {"n_positive": 400, "n_unlabeled": 800, "n_validation": 100, "n_test": 1000}
    expected = make_pu(table.data, table.target, prior=0.4, random_state=3, **sizes)
    pu = split("spambase", 0.4, trial=3)
    for part in ("X", "y", "X_validation", "y_validation", "X_test", "y_test"):
        np.testing.assert_array_equal(getattr(pu, part), getattr(expected, part))


def test_disjoint_validation_shares_no_row_with_training():
    pu = split("spambase", 0.4, trial=0)
    positive, unlabeled, validation = parts(pu)
    assert not validation & (positive | unlabeled | set(pu.rows.test.tolist()))


@pytest.mark.parametrize("trial", [0, 1])
def test_overlapping_validation_is_drawn_from_all_but_the_test_rows(trial):
    sizes = Sizes(400, 800, 300, 1000)
    disjoint = split("spambase", 0.4, trial, sizes)
    pu = split("spambase", 0.4, trial, sizes, validation="overlapping")
    positive, unlabeled, validation = parts(pu)
    table = datasets.load("spambase")
    # Training and test rows are the same as ever.
    np.testing.assert_array_equal(pu.X, disjoint.X)
    np.testing.assert_array_equal(pu.X_test, disjoint.X_test)
    assert not validation & set(pu.rows.test.tolist())
    assert len(validation) == 300
    assert pu.y_validation.sum() == 120
    # 1,200 of the 3,601 rows to draw from are training rows: about a third of those drawn.
    assert 60 < len(validation & (positive | unlabeled)) < 160
    np.testing.assert_array_equal(pu.X_validation, table.data[pu.rows.validation])
    np.testing.assert_array_equal(pu.y_validation, table.target[pu.rows.validation])


def test_overlapping_validation_differs_from_trial_to_trial():
    first, second = (split("digits", 0.4, trial, validation="overlapping") for trial in (0, 1))
    assert set(first.rows.validation) != set(second.rows.validation)


def test_an_unknown_validation_is_refused():
    with pytest.raises(ValueError, match="did you mean 'disjoint'"):
        split("digits", 0.4, 0, validation="disjunct")


def test_bytes_become_floats_when_they_are_used():
    X = np.array([[0, 51, 255]], dtype=np.uint8)
    assert as_floats(X).dtype == np.float32
    np.testing.assert_allclose(as_floats(X), [[0, 0.2, 1]], rtol=1e-6)
    table = np.array([[300.0]])
    assert as_floats(table) is table


def test_images_are_scaled_in_a_split_and_bytes_in_the_cache(monkeypatch):
    images = np.arange(2000, dtype=np.int64).reshape(2000, 1, 1, 1).astype(np.uint8)
    bunch = datasets.load("digits")
    fake = type(bunch)(data=images, target=np.arange(2000) % 2)
    monkeypatch.setitem(datasets.LOADERS, "digits", lambda folder: fake)
    from robustpu.bench import protocol

    protocol._table.cache_clear()
    try:
        pu = split("digits", 0.4, 0)
        assert pu.X.dtype == np.float32
        assert pu.X.max() <= 1
        assert pu.X_test.dtype == pu.X_validation.dtype == np.float32
        sizes = Sizes(10, 20, 5, 10)
        assert splits("digits", 0.4, (0, 1), sizes)[1].X.dtype == np.uint8
    finally:
        protocol._table.cache_clear()
        splits.cache_clear()


def test_the_splits_of_the_trials_are_made_once():
    sizes = PROTOCOLS["digits"].sizes
    first = splits("digits", 0.4, (0, 1), sizes)
    assert splits("digits", 0.4, (0, 1), sizes) is first
    np.testing.assert_array_equal(first[1].X, split("digits", 0.4, 1).X)
