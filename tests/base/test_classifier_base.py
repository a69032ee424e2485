"""What all estimators share: labels, data of every kind, answers, and life as an estimator."""

import copy
import io
import pickle
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pandas as pd
import pytest
import torch
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from robustpu import (
    CollapseWarning,
    Curriculum,
    NNPUClassifier,
    Pacing,
    PNClassifier,
    PriorWarning,
    RobustPUClassifier,
    UPUClassifier,
    fit_together,
)
from robustpu.modules import mlp

ALL = [PNClassifier, UPUClassifier, NNPUClassifier, RobustPUClassifier]


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Forests that estimate a prior are small: how well they do is for the tests of the priors."""
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)


def table(n_positive=60, n_unlabeled=60, prior=0.5, d=3, seed=0):
    """Two Gaussians in random order: rows, and 1 for labelled positives, 0 for unlabelled."""
    rng = np.random.default_rng(seed)
    above = n_positive + round(prior * n_unlabeled)
    n = n_positive + n_unlabeled
    center = np.where(np.arange(n) < above, 1.2, -1.2)
    X = rng.normal(center[:, None], 1.0, (n, d))
    y = (np.arange(n) < n_positive).astype(int)
    order = rng.permutation(n)
    return X[order], y[order]


def quick(cls=NNPUClassifier, **changes):
    """An estimator that learns `table` in a tenth of a second."""
    given = {"prior": 0.5, "epochs": 15, "lr": 1e-2, "batch_size": 32, "random_state": 0}
    given |= {"weight_decay": 0.0}
    if cls in (NNPUClassifier, UPUClassifier):
        given |= {"surrogate": "logistic"}
    if cls is RobustPUClassifier:
        given |= {
            "epochs": 3,
            "n_members": 2,
            "pretrain": NNPUClassifier(
                surrogate="logistic", epochs=10, lr=1e-2, weight_decay=0.0, batch_size=32
            ),
            "curriculum": Curriculum(
                max_rounds=3,
                temperature_unlabeled=1.0,
                pacing_positive=Pacing(lambda0=0.5, beta=1.0, t_grow=5),
                pacing_unlabeled=Pacing(lambda0=0.4, beta=0.8, t_grow=5),
                balance=True,
            ),
        }
    return cls(**given).set_params(**changes)


def positive(model, X):
    """Probability of the positive label."""
    place = 1 if model.pos_label is None else list(model.classes_).index(model.pos_label)
    return model.predict_proba(X)[:, place]


@pytest.fixture(scope="module")
def fitted():
    X, y = table()
    return quick().fit(X, y), X, y


# A user's modules, at module level so that they can be pickled.


def tanh_net(shape):
    return nn.Sequential(nn.Linear(shape[0], 8), nn.Tanh(), nn.Linear(8, 1))


def batch_norm_net(shape):
    layers = nn.Linear(shape[0], 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1)
    return nn.Sequential(*layers, nn.Flatten(0))


def dropout_net(shape):
    return nn.Sequential(nn.Linear(shape[0], 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))


class UserNet(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.inner = nn.Linear(shape[0], 4)
        self.outer = nn.Linear(4, 1)

    def forward(self, x):
        return self.outer(torch.relu(self.inner(x))).squeeze(-1)


class EqualFactory:
    """A callable with parameters, equal by value and hence without a hash."""

    def __init__(self, width):
        self.width = width

    def __eq__(self, other):
        return isinstance(other, EqualFactory) and self.width == other.width

    def __call__(self, shape):
        return mlp(shape, hidden=(self.width,))


class TestLabels:
    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.parametrize(
        ("unlabeled", "labelled", "pos_label"),
        [
            (-1, 1, None),
            (False, True, None),
            (0.0, 1.0, None),
            (1, 2, 2),
            (1, 0, 0),
            (2.0, -3.0, -3.0),
            (True, False, False),
            ("unknown", "yes", "yes"),
            ("unknown", "fraud", "fraud"),
        ],
    )
    def test_any_two_labels_are_the_same_problem(self, cls, unlabeled, labelled, pos_label):
        X, y = table()
        reference = quick(cls).fit(X, y)
        named = np.where(y == 1, labelled, unlabeled)
        model = quick(cls, pos_label=pos_label).fit(X, named)

        assert model.classes_.tolist() == sorted([unlabeled, labelled])
        assert model.classes_.dtype == named.dtype
        place = model.classes_.tolist().index(labelled)
        answer, probability = model.predict(X), model.predict_proba(X)
        decision = model.decision_function(X)
        np.testing.assert_array_equal(probability[:, place], reference.predict_proba(X)[:, 1])
        np.testing.assert_array_equal(answer == labelled, reference.predict(X) == 1)
        np.testing.assert_array_equal(answer == model.classes_[1], decision > 0)
        np.testing.assert_array_equal(answer, model.classes_[probability.argmax(1)])
        assert answer.dtype == named.dtype
        assert set(answer) == {unlabeled, labelled}
        # True labels that say the same score the same.
        assert model.score(X, named) == reference.score(X, y)

    def test_texts_without_pos_label(self):
        X, y = table()
        model = quick().fit(X, np.where(y == 1, "p", "u"))
        assert model.predict(X)[y == 1].tolist().count("p") > 40
        with pytest.raises(ValueError, match="give pos_label='a' or pos_label='b'"):
            quick().fit(X, np.where(y == 1, "a", "b"))

    def test_pandas_labels(self):
        X, y = table()
        reference = quick().fit(X, y).predict_proba(X)
        odd = pd.Series(y, index=np.arange(len(y))[::-1] * 7)
        for labels in (
            odd,
            odd.astype("Int64"),
            odd.astype(object),
            (odd == 1).astype("boolean"),
            odd.astype("category"),
            odd.tolist(),
        ):
            np.testing.assert_array_equal(quick().fit(X, labels).predict_proba(X), reference)

    def test_column_vector_warns_as_in_scikit_learn(self):
        X, y = table()
        with pytest.warns(DataConversionWarning):
            model = quick().fit(X, y[:, None])
        np.testing.assert_array_equal(model.predict_proba(X), quick().fit(X, y).predict_proba(X))

    @pytest.mark.parametrize(
        ("make", "match"),
        [
            (lambda y: np.arange(len(y)) % 3, "two values, labelled positive and unlabelled"),
            (lambda y: np.where(y == 1, 1, -1) * (np.arange(len(y)) % 5 > 0), "Known negatives"),
            (lambda y: y * 0, "no labelled positives"),
            (lambda y: y * 0 + 1, "no unlabelled rows"),
            (lambda y: y * 0.3, "continuous"),
            (lambda y: np.column_stack([y, y]), "1d array"),
            (lambda y: y[:-1], "inconsistent numbers of samples"),
            (lambda y: [], "."),
            (lambda y: None, "requires y to be passed"),
        ],
        ids=["three", "pnu", "no P", "no U", "continuous", "two columns", "short", "empty", "None"],
    )
    def test_bad_y(self, make, match):
        X, y = table()
        with pytest.raises(ValueError, match=match):
            quick().fit(X, make(y))

    @pytest.mark.parametrize(
        "make",
        [
            lambda y: np.where(y == 1, 1.0, np.nan),
            lambda y: np.array([1 if label else None for label in y], dtype=object),
            lambda y: pd.Series([1 if label else pd.NA for label in y], dtype="Int64"),
            lambda y: pd.Series(np.where(y == 1, "yes", None)),
        ],
        ids=["NaN", "None", "NA", "strings"],
    )
    def test_missing_labels_say_what_to_do(self, make):
        X, y = table()
        with pytest.raises(ValueError, match="Mark every unlabelled row with 0"):
            quick().fit(X, make(y))

    def test_labels_of_two_types_are_refused(self):
        X, y = table()
        # Whichever type comes first.
        for order in (np.argsort(y), np.argsort(-y)):
            mixed = np.array(["yes" if label else 0 for label in y[order]], dtype=object)
            with pytest.raises(ValueError, match="label"):
                quick(pos_label="yes").fit(X[order], mixed)

    def test_absent_pos_label(self):
        X, y = table()
        with pytest.raises(ValueError, match="pos_label=7 is not in y"):
            quick(pos_label=7).fit(X, y)


class TestInputs:
    @pytest.mark.parametrize(
        ("make", "error", "match"),
        [
            (lambda X: np.where(X > 2, np.nan, X), ValueError, "NaN"),
            (lambda X: np.where(X > 2, np.inf, X), ValueError, "infinity"),
            (lambda X: X[:, 0], ValueError, "Expected 2D array"),
            (lambda X: X[:, :0], ValueError, "0 feature"),
            (lambda X: X[:0], ValueError, "0 sample"),
            (lambda X: X + 1j, ValueError, "Complex data not supported"),
            (lambda X: X.astype(str), ValueError, "numeric"),
            (lambda X: csr_array(np.where(X > 2, np.nan, X)), ValueError, "NaN"),
            (lambda X: csr_array(np.where(X > 2, np.inf, X)), ValueError, "infinity"),
            pytest.param(
                *(lambda X: coo_array(X[:, 0]), ValueError, "Expected 2D array"),
                marks=pytest.mark.skipif(
                    coo_array(np.ones(2)).ndim > 1, reason="earlier releases of scipy make it a row"
                ),
            ),
            (lambda X: csr_array(X[:, :0]), ValueError, "0 feature"),
            (lambda X: csr_array(X[:0]), ValueError, "0 sample"),
            (lambda X: csr_array(X + 1j), ValueError, "Complex data not supported"),
        ],
        ids=[
            *("NaN", "inf", "1-D", "no column", "no row", "complex", "strings"),
            *("sparse NaN", "sparse inf", "sparse 1-D", "sparse, no column", "sparse, no row"),
            "sparse complex",
        ],
    )
    def test_bad_x(self, make, error, match, fitted):
        model, X, y = fitted
        y = y[: make(X).shape[0]]
        with pytest.raises(error, match=match):
            quick().fit(make(X), y)
        with pytest.raises(error, match=match):
            model.predict(make(X))

    def test_wrong_width(self, fitted):
        model, X, _ = fitted
        for method in (model.predict, model.predict_proba, model.decision_function):
            with pytest.raises(ValueError, match="X has 2 features, but NNPUClassifier"):
                method(X[:, :2])

    @pytest.mark.parametrize("standardize", [True, False])
    @pytest.mark.parametrize(
        "make",
        [
            lambda X: X.astype(np.float64),
            lambda X: X.astype(np.float16),
            lambda X: X.astype(np.int8),
            lambda X: X.astype(np.int64),
            lambda X: X.astype(object),
            lambda X: X.astype(">f8"),
            lambda X: X.astype(np.longdouble),
            lambda X: np.asfortranarray(X),
            lambda X: X[::-1][::-1],
            lambda X: X.tolist(),
            lambda X: pd.DataFrame(X),
            lambda X: pd.DataFrame(X).convert_dtypes(),
            lambda X: torch.from_numpy(X),
        ],
        ids=[
            "f8",
            "f2",
            "i1",
            "i8",
            "object",
            "big-endian",
            "longdouble",
            "fortran",
            "strides",
            "list",
            "frame",
            "nullable",
            "torch",
        ],
    )
    def test_every_kind_of_array_is_the_same_table(self, make, standardize):
        X, y = table()
        X = np.round(X)
        given = quick(standardize=standardize, epochs=3, threshold="prior")
        reference = clone(given).fit(X.astype(np.float32), y).predict_proba(X)
        answer = clone(given).fit(make(X), y).predict_proba(make(X))
        np.testing.assert_allclose(answer, reference, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("standardize", [True, False])
    def test_booleans(self, standardize):
        X, y = table()
        given = quick(standardize=standardize)
        reference = clone(given).fit((X > 0).astype(float), y).predict_proba((X > 0).astype(float))
        np.testing.assert_array_equal(given.fit(X > 0, y).predict_proba(X > 0), reference)

    @pytest.mark.parametrize("standardize", [True, False])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_read_only_arrays_are_neither_refused_nor_changed(self, standardize, dtype):
        X, y = table()
        X = X.astype(dtype)
        before = X.copy()
        X.setflags(write=False)
        y.setflags(write=False)
        # torch warns once in a process of an array that it may not write to.
        torch.set_warn_always(True)
        try:
            quick(standardize=standardize).fit(X, y).predict(X)
        finally:
            torch.set_warn_always(False)
        np.testing.assert_array_equal(X, before)

    @pytest.mark.parametrize("scale", [1e-12, 1e-3, 1e6, 1e30])
    def test_units_do_not_matter(self, scale):
        X, y = table()
        reference = quick().fit(X, y).predict_proba(X)
        units = scale ** np.array([1, -1, 0.5])
        answer = quick().fit(X * units, y).predict_proba(X * units)
        np.testing.assert_allclose(answer, reference, rtol=0, atol=1e-3)

    def test_offsets_do_not_matter(self):
        X, y = table()
        offset = np.array([1e6, -1e3, 10.0])
        answer = quick().fit(X + offset, y).predict_proba(X + offset)
        np.testing.assert_allclose(answer, quick().fit(X, y).predict_proba(X), rtol=0, atol=1e-3)

    @pytest.mark.parametrize("value", [0.0, 1.0, -1e9, 0.1, 1e-300])
    def test_constant_columns_change_nothing_much(self, value):
        X, y = table()
        X = np.column_stack([X, np.full(len(X), value)])
        model = quick().fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert model.predict(X)[y == 1].mean() > 0.8

    def test_numbers_that_single_precision_cannot_hold(self):
        X, y = table()
        try:
            model = quick(standardize=False).fit(X * 1e300, y)
        except ValueError as error:
            assert "standardize" in str(error)  # noqa: PT017
        else:
            assert np.isfinite(model.predict_proba(X * 1e300)).all()

    def test_rows_far_outside_the_training_data(self, fitted):
        model, X, _ = fitted
        for scale in (1e10, 1e100, 1e300):
            probability = model.predict_proba(X * scale)
            assert np.isfinite(probability).all()
            np.testing.assert_allclose(probability.sum(1), 1)
            assert np.isfinite(model.decision_function(X * scale)).all()

    def test_duplicate_rows(self):
        X, y = table()
        X, y = np.tile(X[:20], (6, 1)), np.tile(y[:20], 6)
        model = quick().fit(X, y)
        np.testing.assert_array_equal(model.probability_[:20], model.probability_[20:40])

    def test_data_frames_keep_their_names(self):
        X, y = table()
        frame = pd.DataFrame(X, columns=["age", "dose", "days"], index=np.arange(len(X)) * 3)
        model = quick().fit(frame, pd.Series(y, index=frame.index[::-1]))
        assert model.feature_names_in_.tolist() == ["age", "dose", "days"]
        assert model.n_features_in_ == 3
        expected = quick().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=0, atol=1e-9)
        with pytest.raises(ValueError, match="Feature names must be in the same order"):
            model.predict(frame[["dose", "age", "days"]])
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame.rename(columns={"age": "years"}))
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(X)


class TestParameters:
    @pytest.mark.parametrize("prior", [0, 1, 1.5, -0.1, "x", "0.5", None, np.nan, True, [0.5]])
    def test_bad_prior(self, prior):
        with pytest.raises(ValueError, match="prior must be a number between 0 and 1"):
            quick(prior=prior).fit(*table())

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("scenario", "two-sample"),
            ("module", "mpl"),
            ("module", None),
            ("epochs", 0),
            ("epochs", 2.5),
            ("batch_size", 0),
            ("batch_size", True),
            ("lr", 0),
            ("lr", np.nan),
            ("lr", "fast"),
            ("weight_decay", -1),
            ("warmup_epochs", -1),
            ("validation_fraction", 1.0),
            ("validation_fraction", -0.1),
            ("patience", 0),
            ("n_members", 0),
            ("threshold", "half"),
            ("threshold", 0),
            ("threshold", 1),
            ("surrogate", "hinge"),
            ("beta", -1),
            ("gamma", 1.5),
            ("random_state", "seed"),
            ("device", "abacus"),
        ],
    )
    def test_a_bad_parameter_is_named(self, name, value):
        named = "seed" if name == "random_state" else name
        with pytest.raises(ValueError, match=named):
            quick(**{name: value}).fit(*table())

    def test_a_close_name_is_suggested(self):
        with pytest.raises(ValueError, match="did you mean 'mlp'"):
            quick(module="mpl").fit(*table())

    def test_a_device_that_is_not_there_is_named(self):
        if torch.cuda.is_available():
            pytest.skip("there is one")
        with pytest.raises((ValueError, RuntimeError), match=r"device|CUDA|cuda"):
            quick(device="cuda").fit(*table())

    @pytest.mark.parametrize("cls", ALL)
    def test_fit_leaves_the_parameters_alone(self, cls):
        model = quick(cls)
        before = model.get_params(deep=False)
        model.fit(*table())
        after = model.get_params(deep=False)
        assert all(after[name] is value for name, value in before.items())


class TestSmallData:
    def test_a_batch_larger_than_the_data(self):
        X, y = table()
        one, two = quick(batch_size=10_000, epochs=40), quick(batch_size=len(X), epochs=40)
        np.testing.assert_array_equal(
            one.fit(X, y).predict_proba(X), two.fit(X, y).predict_proba(X)
        )

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    def test_batches_without_a_positive(self, cls):
        X, y = table(n_positive=3, n_unlabeled=90)
        model = quick(cls, batch_size=4, epochs=3).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_batches_of_one_row(self, cls):
        X, y = table(n_positive=8, n_unlabeled=8)
        model = quick(cls, batch_size=1, epochs=2).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_a_single_labelled_positive(self, cls):
        X, y = table(n_positive=1, n_unlabeled=60)
        model = quick(cls).fit(X, y)
        # It cannot be both trained on and held out.
        assert model.selection_ == "none"
        assert np.isnan(model.member_scores_).all()
        assert np.isfinite(model.predict_proba(X)).all()
        with pytest.raises(
            ValueError, match=r"at least 2 labelled positives.*Give prior= a number"
        ):
            quick(cls, prior="auto").fit(X, y)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_a_single_unlabelled_row(self):
        X, y = table(n_positive=30, n_unlabeled=2)
        keep = np.flatnonzero(y == 1).tolist() + np.flatnonzero(y == 0)[:1].tolist()
        X, y = X[keep], y[keep]
        model = quick().fit(X, y)
        assert model.selection_ == "none"
        assert model.suspects()[0].tolist() == [30]
        with pytest.raises(ValueError, match="2 unlabelled rows"):
            quick(prior="auto").fit(X, y)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    def test_two_positives_and_an_unknown_prior(self):
        X, y = table(n_positive=2, n_unlabeled=40)
        with pytest.warns(PriorWarning, match="do not tell the share of positives"):
            model = quick(prior="auto").fit(X, y)
        assert 0 < model.prior_ < 1
        assert not model.prior_interval().is_known
        assert model.selection_ == "pu"

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_two_rows(self, cls):
        model = quick(cls).fit([[0.0], [1.0]], [0, 1])
        assert np.isfinite(model.predict_proba([[0.0], [1.0], [2.0]])).all()

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_nearly_everything_held_out(self):
        X, y = table()
        model = quick(validation_fraction=0.999).fit(X, y)
        assert model.selection_ == "pu"
        assert np.isfinite(model.predict_proba(X)).all()

    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    def test_more_members_than_rows(self):
        X, y = table(n_positive=8, n_unlabeled=8)
        model = quick(n_members=20, epochs=10).fit(X, y)
        assert model.member_scores_.shape == (20,)


class TestSampleWeight:
    @pytest.mark.parametrize("cls", ALL)
    def test_weights_change_the_result(self, cls):
        X, y = table()
        weight = np.where(y == 1, 1.0, np.where(X[:, 0] > 0, 0.2, 1.0))
        # All epochs: the first one, if it were the best, would differ by little.
        model = quick(cls, validation_fraction=0)
        equal = clone(model).fit(X, y, sample_weight=np.ones(len(y)))
        plain = clone(model).fit(X, y)
        np.testing.assert_array_equal(equal.predict_proba(X), plain.predict_proba(X))
        weighted = clone(model).fit(X, y, sample_weight=weight)
        assert np.abs(weighted.probability_ - equal.probability_).max() > 0.05

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_rows_that_look_positive_count_less_in_pn(self):
        X, y = table()
        weight = np.where((y == 0) & (X.mean(1) > 0), 0.1, 1.0)
        plain, weighted = (quick(PNClassifier).fit(X, y, values) for values in (None, weight))
        assert weighted.probability_[y == 0].mean() > plain.probability_[y == 0].mean() + 0.02

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.parametrize("factor", [2.0, 1e-60, 1e60])
    def test_only_the_ratios_of_the_weights_count(self, cls, factor):
        X, y = table()
        weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
        one = quick(cls).fit(X, y, weight).predict_proba(X)
        np.testing.assert_allclose(
            quick(cls).fit(X, y, weight * factor).predict_proba(X), one, rtol=0, atol=1e-3
        )

    def test_a_number_stands_for_equal_weights(self):
        X, y = table()
        np.testing.assert_allclose(
            quick().fit(X, y, 3.0).predict_proba(X), quick().fit(X, y).predict_proba(X), atol=1e-6
        )

    @pytest.mark.parametrize(
        ("make", "match"),
        [
            (lambda y: np.where(y == 1, 0.0, 1.0), "zero for all labelled positives"),
            (lambda y: np.where(y == 1, 1.0, 0.0), "zero for all unlabelled rows"),
            # scikit-learn refuses it first, from 1.7 on.
            (lambda y: np.zeros(len(y)), "non-zero|zero for all"),
            (lambda y: np.where(y == 1, -1.0, 1.0), "[Nn]egative"),
            (lambda y: np.full(len(y), np.nan), "NaN"),
            (lambda y: np.full(len(y), np.inf), "infinity"),
            (lambda y: np.ones((len(y), 1)), "1D"),
            (lambda y: np.ones(3), "shape"),
        ],
        ids=["P", "U", "all", "negative", "NaN", "inf", "column", "short"],
    )
    def test_bad_weights(self, make, match):
        X, y = table()
        with pytest.raises(ValueError, match=match):
            quick().fit(X, y, sample_weight=make(y))

    def test_balance_counts_the_sample_weights(self):
        """Ten times the weight on positives is undone by scaling them to the prior's share."""
        X, y = table()
        given = quick(RobustPUClassifier, pretrain=None, epochs=20, validation_fraction=0)
        plain = clone(given).fit(X, y)
        tenfold = clone(given).fit(X, y, sample_weight=np.where(y == 1, 10.0, 1.0))
        assert tenfold.probability_.mean() == pytest.approx(plain.probability_.mean(), abs=0.02)


class TestAnswers:
    def test_log_odds_do_not_jump_at_a_probability_of_1(self, fitted, monkeypatch):
        """What is nearer to 1 than rounding depends on the batch."""
        model, X = fitted[0], fitted[1]
        near = np.array([1.0, 1 - 1.1e-16, 1 - 2.2e-16])
        monkeypatch.setattr(model, "predict_proba", lambda X: np.column_stack([1 - near, near]))
        assert np.ptp(model.decision_function(X)) < 1e-9

    @pytest.mark.parametrize("cls", ALL)
    def test_probabilities(self, cls):
        X, y = table()
        model = quick(cls).fit(X, y)
        wide = np.random.default_rng(1).normal(0, 100, (500, 3))
        probability = model.predict_proba(wide)
        assert probability.shape == (500, 2)
        assert probability.min() >= 0
        assert probability.max() <= 1
        np.testing.assert_allclose(probability.sum(1), 1, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(model.predict_proba(X)[:, 1], model.probability_)

    @pytest.mark.parametrize("module", ["mlp", "linear", tanh_net, batch_norm_net])
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_a_row_alone_is_answered_as_in_a_batch(self, module):
        X, y = table(d=7)
        model = quick(module=module, n_members=3).fit(X, y)
        together = model.predict_proba(X)
        alone = np.concatenate([model.predict_proba(row[None]) for row in X])
        # Modules of the user's are scored in the precision that they were trained in.
        atol = 1e-12 if isinstance(module, str) else 1e-6
        np.testing.assert_allclose(alone, together, rtol=0, atol=atol)

    def test_answers_in_parts(self, fitted, monkeypatch):
        model, X, _ = fitted
        whole = model.predict_proba(X)
        monkeypatch.setattr("robustpu.base.neural.SCORE", 1000)
        np.testing.assert_allclose(model.predict_proba(X), whole, rtol=0, atol=1e-12)

    def test_many_rows_are_quick(self):
        X, y = table(d=10)
        model = quick(n_members=5).fit(X, y)
        rows = np.random.default_rng(0).normal(size=(100_000, 10))
        begin = time.perf_counter()
        model.predict(rows)
        assert time.perf_counter() - begin < 5

    def test_suspects(self, fitted):
        model, _, y = fitted
        rows, probability = model.suspects(10)
        assert (y[rows] == 0).all()
        assert (np.diff(probability) <= 0).all()
        np.testing.assert_array_equal(probability, model.probability_[rows])
        rest = np.setdiff1d(np.flatnonzero(y == 0), rows)
        assert model.probability_[rest].max() <= probability.min()
        everything, _ = model.suspects(k=10_000)
        assert sorted(everything) == np.flatnonzero(y == 0).tolist()
        assert len(model.suspects()[0]) == 20

    @pytest.mark.parametrize("k", [0, -1, 2.5, "all", None])
    def test_bad_number_of_suspects(self, fitted, k):
        with pytest.raises(ValueError, match="k must be a whole number"):
            fitted[0].suspects(k)

    def test_suspects_of_a_smaller_positive_label(self):
        X, y = table()
        rows, probability = quick(pos_label=0).fit(X, 1 - y).suspects(5)
        expected, same = quick().fit(X, y).suspects(5)
        np.testing.assert_array_equal(rows, expected)
        np.testing.assert_array_equal(probability, same)

    def test_a_given_threshold(self):
        X, y = table()
        model = quick(threshold=0.3).fit(X, y)
        assert model.threshold_ == 0.3
        np.testing.assert_array_equal(model.predict(X) == 1, model.predict_proba(X)[:, 1] > 0.3)
        np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
        # The threshold is applied to the answers and leaves the training alone.
        np.testing.assert_array_equal(model.predict_proba(X), quick().fit(X, y).predict_proba(X))

    def test_a_given_threshold_with_the_smaller_positive_label(self):
        X, y = table()
        model = quick(threshold=0.3, pos_label=0).fit(X, 1 - y)
        np.testing.assert_array_equal(model.predict(X) == 0, model.predict_proba(X)[:, 0] > 0.3)
        np.testing.assert_array_equal(model.predict(X) == 1, model.decision_function(X) > 0)

    @pytest.mark.parametrize("cls", ALL)
    @pytest.mark.parametrize("prior", [0.2, 0.4, 0.7])
    def test_the_threshold_of_the_prior(self, cls, prior):
        X, y = table(n_unlabeled=200)
        model = quick(cls, threshold="prior", prior=prior, epochs=3).fit(X, y)
        assert model.predict(X[y == 0]).mean() == pytest.approx(prior, abs=0.011)

    def test_a_probability_on_the_threshold_is_positive(self):
        """ "Probability from which a row is predicted positive", whichever label that is."""
        X, y = table()
        same = np.zeros_like(X)
        for pos_label in (0, 1):
            labels = np.where(y == 1, pos_label, 1 - pos_label)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CollapseWarning)
                model = quick(threshold="prior", pos_label=pos_label).fit(same, labels)
            np.testing.assert_allclose(positive(model, same), model.threshold_, rtol=1e-12)
            assert (model.predict(same) == pos_label).all()


class TestSelection:
    def test_held_out_rows_select_without_negatives(self, fitted):
        model, _, _ = fitted
        assert model.selection_ == "pu"
        assert model.member_scores_.shape == (1,)
        assert np.isfinite(model.member_scores_).all()

    def test_nothing_held_out(self):
        X, y = table()
        model = quick(validation_fraction=0).fit(X, y)
        assert model.selection_ == "none"
        assert np.isnan(model.member_scores_).all()
        assert [entry["epoch"] for entry in model.history_] == list(range(1, 16))

    @pytest.mark.parametrize("cls", ALL)
    def test_an_oracle_is_marked(self, cls):
        X, y = table()
        rows, truth = table(n_positive=1, n_unlabeled=99, seed=5)
        truth = (rows.mean(1) > 0).astype(int)
        model = quick(cls).fit(X, y, eval_set=(rows, truth))
        assert model.selection_ == "oracle"
        # It is the accuracy of one network at one half, so with one member it can be checked.
        single = quick(cls, n_members=1, calibrate=False).fit(X, y, eval_set=(rows, truth))
        assert single.member_scores_[0] == pytest.approx(single.score(rows, truth), abs=1e-3)

    def test_an_oracle_in_other_labels(self):
        X, y = table()
        truth = (X.mean(1) > 0).astype(int)
        reference = quick().fit(X, y, eval_set=(X, truth)).predict_proba(X)
        names = np.array(["no", "fraud"])
        model = quick(pos_label="fraud").fit(X, names[y], eval_set=(X, names[truth]))
        np.testing.assert_array_equal(positive(model, X), reference[:, 1])
        listed = quick().fit(X, y, eval_set=(X.tolist(), pd.Series(truth, index=X[:, 0])))
        np.testing.assert_array_equal(listed.predict_proba(X), reference)

    @pytest.mark.parametrize(
        "make",
        [
            lambda X, y: (X, np.where(y == 1, 1, -1)),
            lambda X, y: (X, np.where(y == 1, 1, np.nan)),
            lambda X, y: (X, np.where(y == 1, "a", "b")),
            lambda X, y: (X, np.array(["a" if label else 0 for label in y], dtype=object)),
            lambda X, y: (X, y[:-1]),
            lambda X, y: (X, np.column_stack([y, y])),
            lambda X, y: (X[:, :2], y),
            lambda X, y: (np.where(X > 2, np.nan, X), y),
            lambda X, y: (X[:0], y[:0]),
            lambda X, y: (X,),
            lambda X, y: [(X, y)],
        ],
        ids=[
            "labels",
            "NaN",
            "strings",
            "mixed",
            "short",
            "columns",
            "width",
            "x-NaN",
            "empty",
            "alone",
            "list",
        ],
    )
    def test_a_bad_eval_set(self, make):
        X, y = table()
        with pytest.raises(ValueError, match=r"eval_set|X (has|contains)|0 sample|1d array"):
            quick().fit(X, y, eval_set=make(X, y))

    def test_labels_of_an_eval_set_may_be_a_column(self):
        X, y = table()
        truth = (X.mean(1) > 0).astype(int)
        try:
            model = quick().fit(X, y, eval_set=(X, truth[:, None]))
        except (ValueError, DataConversionWarning):
            return  # Refused in words is fine too.
        reference = quick().fit(X, y, eval_set=(X, truth))
        np.testing.assert_array_equal(model.predict_proba(X), reference.predict_proba(X))

    def test_scenario(self):
        X, y = table(n_positive=30, n_unlabeled=90, prior=0.4)
        case_control = quick(prior=0.4, threshold="prior").fit(X, y)
        assert case_control.prior_ == case_control.population_prior_ == 0.4
        single_set = quick(prior=0.4, threshold="prior", scenario="single-set").fit(X, y)
        assert single_set.prior_ == 0.4
        assert single_set.population_prior_ == pytest.approx((30 + 0.4 * 90) / 120)
        assert single_set.probability_.mean() > case_control.probability_.mean()


class TestCollapse:
    def test_all_negative_warns(self):
        X, y = table(n_positive=20, n_unlabeled=200)
        with pytest.warns(CollapseWarning, match="collapsed to all-negative") as caught:
            quick(PNClassifier).fit(X, y)
        assert caught[0].filename == __file__

    def test_all_positive_warns(self):
        X, y = table(n_positive=100, n_unlabeled=20, prior=1.0)
        with pytest.warns(CollapseWarning, match="collapsed to all-positive"):
            quick(PNClassifier).fit(X, y)

    def test_a_low_prior_that_was_learnt_does_not_warn(self):
        X, y = table(n_unlabeled=200, prior=0.1)
        assert quick(prior=0.1).fit(X, y).predict(X[y == 0]).mean() < 0.2

    @pytest.mark.parametrize("cls", ALL)
    def test_a_good_model_does_not_warn(self, cls):
        quick(cls).fit(*table())


class TestModules:
    @pytest.mark.parametrize(
        "module",
        [
            "linear",
            partial(mlp, hidden=(8, 8)),
            tanh_net,
            UserNet,
            batch_norm_net,
            dropout_net,
            EqualFactory(8),
        ],
    )
    # Six labelled rows are held out, too few to tell the share.
    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("prior", [0.5, "auto"])
    def test_learns(self, module, prior):
        X, y = table()
        model = quick(module=module, prior=prior, epochs=30, threshold="prior").fit(X, y)
        # How well the prior is estimated is for the tests of the priors to say.
        assert prior == "auto" or roc_auc_score(X.mean(1) > 0, model.probability_) > 0.9
        again = clone(model).fit(X, y)
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))

    def test_robust_pu_takes_them_too(self):
        X, y = table()
        for module in (UserNet, batch_norm_net):
            given = quick(RobustPUClassifier, module=module, threshold="prior")
            assert given.fit(X, y).score(X, X.mean(1) > 0) > 0.8

    @pytest.mark.parametrize("n", [32, 33, 63, 65])
    def test_batch_norm_with_any_number_of_rows(self, n):
        """Batch norm cannot train on one row, so none may be left over for the last batch."""
        X, y = table(n_positive=20, n_unlabeled=n - 20)
        model = quick(module=batch_norm_net, validation_fraction=0, threshold="prior").fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()

    # With so few rows most shares of positives are impossible.
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    @pytest.mark.parametrize("n", [8, 9])
    def test_images(self, n):
        rng = np.random.default_rng(0)
        truth = np.arange(n) % 2
        X = rng.normal(truth[:, None, None, None], 0.3, (n, 2, 5, 4))
        y = truth * (np.arange(n) < n - 2)
        model = quick(
            module="all_conv", epochs=2, batch_size=4, validation_fraction=0, threshold="prior"
        ).fit(X, y)
        assert model.input_shape_ == (2, 5, 4)
        np.testing.assert_allclose(model.predict_proba(X).sum(1), 1)
        np.testing.assert_allclose(
            model.predict_proba(X[:1]), model.predict_proba(X)[:1], atol=1e-5
        )
        with pytest.raises(ValueError, match=r"rows of shape \(2, 4, 5\), but"):
            model.predict(X.transpose(0, 1, 3, 2))
        with pytest.raises(ValueError, match=r"rows of shape \(2,\), but"):
            model.predict(X[:, :, 0, 0])

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_tiny_images_with_a_row_left_over(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(9, 1, 2, 2)), np.arange(9) % 2
        quick(
            module="all_conv", epochs=1, batch_size=8, validation_fraction=0, threshold="prior"
        ).fit(X, y)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_mirrored_images_are_learnt_too(self):
        rng = np.random.default_rng(0)
        truth = np.arange(300) % 2
        X = rng.normal(size=(300, 1, 4, 6))
        X[:, :, :, 0] += 2 * truth[:, None, None]
        y = truth * (np.arange(300) < 200)
        right = {}
        for mirror in (False, True):
            model = quick(mirror=mirror, epochs=30, prior=1 / 3, threshold="prior").fit(X, y)
            right[mirror] = np.mean(model.predict(X[..., ::-1]) == truth)
        assert right[True] > 0.8 > right[False] + 0.1

    def test_a_table_has_no_mirror_image(self):
        X, y = table()
        with pytest.raises(ValueError, match="mirror=True is for images"):
            quick(mirror=True).fit(X, y)

    def test_an_mlp_flattens_images(self):
        X, y = table(d=12)
        images = X.reshape(-1, 3, 2, 2)
        model = quick(standardize=False).fit(images, y)
        flat = quick(standardize=False).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(images), flat.predict_proba(X), atol=1e-5)

    @pytest.mark.parametrize(
        ("module", "match"),
        [
            ("all_conv", "For tables use module='mlp'"),
            (lambda shape: nn.Linear(shape[0], 2), "one logit a row"),
            (lambda shape: nn.Sequential(nn.Linear(shape[0], 2)), "one logit a row"),
            (lambda shape: nn.Flatten(), "no trainable parameters"),
            (lambda shape: "mlp", "must return a torch.nn.Module"),
            (mlp((3,)), "module"),
        ],
        ids=["images", "two-outputs", "two-outputs-stacked", "nothing", "text", "instance"],
    )
    def test_bad_modules(self, module, match):
        with pytest.raises((ValueError, TypeError), match=match):
            quick(module=module).fit(*table())

    def test_frozen_parameters_stay(self):
        def frozen(shape):
            net = nn.Sequential(nn.Linear(shape[0], 8), nn.ReLU(), nn.Linear(8, 1))
            net[0].requires_grad_(False)
            return net

        X, y = table()
        model = quick(module=frozen, threshold="prior").fit(X, y)
        assert set(model.state_.buffers) == {"0.weight", "0.bias"}
        assert model.state_.flat.shape == (1, 9)


class TestEcosystem:
    @pytest.mark.parametrize("cls", ALL)
    def test_pipeline(self, cls):
        X, y = table()
        model = make_pipeline(StandardScaler(), quick(cls, standardize=False)).fit(X * 1e5, y)
        assert model.score(X * 1e5, X.mean(1) > 0) > 0.8

    def test_grid_search_over_nested_parameters(self):
        X, y = table()
        grid = {
            "lr": [1e-3, 1e-2],
            "pretrain__lr": [1e-2],
            "curriculum__pacing_unlabeled__lambda0": [0.2, 0.5],
        }
        search = GridSearchCV(quick(RobustPUClassifier, threshold="prior"), grid, cv=2).fit(X, y)
        assert set(search.best_params_) == set(grid)
        best = search.best_estimator_
        assert best.pretrain.lr == 1e-2
        assert best.curriculum.pacing_unlabeled.lambda0 in (0.2, 0.5)
        assert best.predict(X).shape == y.shape

    def test_cross_val_score(self):
        X, y = table()
        scores = cross_val_score(quick(threshold="prior"), X, y, cv=3)
        assert np.isfinite(scores).all()
        ranked = cross_val_score(quick(threshold="prior"), X, y, cv=3, scoring="roc_auc")
        assert ranked.min() > 0.6

    @pytest.mark.parametrize("cls", ALL)
    def test_copies_answer_alike(self, cls, tmp_path):
        X, y = table()
        model = quick(cls).fit(X, y)
        joblib.dump(model, tmp_path / "model.joblib")
        for twin in (
            joblib.load(tmp_path / "model.joblib"),
            pickle.loads(pickle.dumps(model)),
            copy.deepcopy(model),
        ):
            np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))
            np.testing.assert_array_equal(twin.suspects()[0], model.suspects()[0])
        unfitted = clone(model)
        assert not [name for name in vars(unfitted) if name.endswith("_")]
        np.testing.assert_array_equal(unfitted.fit(X, y).predict_proba(X), model.predict_proba(X))

    def test_pickles_of_modules_of_the_user(self):
        X, y = table()
        for module in (UserNet, batch_norm_net, partial(mlp, hidden=(8, 8))):
            model = quick(module=module, threshold="prior").fit(X, y)
            twin = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(twin.predict_proba(X), model.predict_proba(X))

    def test_a_pickle_holds_one_model_and_not_its_fleet(self):
        X, y = table()
        alone = quick().fit(X, y)
        jobs = [(quick(random_state=seed, threshold="prior"), X, y) for seed in range(30)]
        together = fit_together(jobs)
        assert len(pickle.dumps(together[0])) < 1.1 * len(pickle.dumps(alone))

    @pytest.mark.parametrize("module", ["mlp", UserNet, batch_norm_net])
    def test_models_of_one_fleet_answer_from_several_threads(self, module):
        X, y = table()
        jobs = [
            (quick(module=module, random_state=seed, epochs=2, threshold="prior"), X, y)
            for seed in range(4)
        ]
        models = fit_together(jobs)
        rows = np.tile(X, (50, 1))
        expected = [model.predict_proba(rows) for model in models]
        with ThreadPoolExecutor(4) as pool:
            for _ in range(20):
                answers = list(pool.map(lambda model: model.predict_proba(rows), models))
                for answer, wanted in zip(answers, expected, strict=True):
                    np.testing.assert_allclose(answer, wanted, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("module", ["mlp", dropout_net])
    def test_fits_in_several_threads_are_the_same_fits(self, module):
        X, y = table()

        def fit(seed):
            model = quick(
                module=module, random_state=seed, epochs=2, n_members=3, threshold="prior"
            )
            return model.fit(X, y).predict_proba(X)

        expected = [fit(seed) for seed in range(12)]
        with ThreadPoolExecutor(6) as pool:
            for answer, wanted in zip(pool.map(fit, range(12)), expected, strict=True):
                np.testing.assert_allclose(answer, wanted, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("cls", ALL)
    def test_verbose_writes_to_stderr_and_changes_nothing(self, cls, capsys):
        X, y = table()
        model = quick(cls, verbose=1).fit(X, y)
        out, err = capsys.readouterr()
        assert out == ""
        assert cls.__name__ in err
        np.testing.assert_array_equal(model.predict_proba(X), quick(cls).fit(X, y).predict_proba(X))

    def test_silent_by_default(self, capfd):
        quick().fit(*table())
        assert capfd.readouterr() == ("", "")


class TestRandomness:
    @pytest.mark.parametrize("cls", ALL)
    def test_same_seed_same_model_bit_for_bit(self, cls):
        X, y = table()
        first = quick(cls).fit(X, y)
        np.testing.assert_array_equal(first.probability_, quick(cls).fit(X, y).probability_)
        other = quick(cls, random_state=1).fit(X, y)
        assert np.abs(first.probability_ - other.probability_).max() > 1e-3

    def test_a_random_state_instance_moves_on(self):
        X, y = table()
        model = quick(random_state=np.random.RandomState(0))
        first, second = model.fit(X, y).probability_, model.fit(X, y).probability_
        np.testing.assert_array_equal(
            first, quick(random_state=np.random.RandomState(0)).fit(X, y).probability_
        )
        np.testing.assert_array_equal(first, quick(random_state=0).fit(X, y).probability_)
        assert np.abs(first - second).max() > 1e-3

    def test_without_a_seed_models_differ(self):
        X, y = table()
        one, two = (quick(random_state=None).fit(X, y).probability_ for _ in range(2))
        assert np.abs(one - two).max() > 1e-3

    # Twelve labelled rows are held out, too few to tell the share.
    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("module", ["mlp", dropout_net])
    def test_nothing_global_is_seeded_or_used(self, module):
        X, y = table()
        given = quick(RobustPUClassifier, module=module, prior="auto", threshold="prior")
        torch.manual_seed(1)
        before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
        first = clone(given).fit(X, y).probability_
        assert torch.equal(before[0], torch.get_rng_state())
        np.testing.assert_array_equal(before[1], np.random.get_state()[1])  # noqa: NPY002
        torch.manual_seed(2)
        np.testing.assert_array_equal(clone(given).fit(X, y).probability_, first)


class TestFitted:
    def test_unfitted(self):
        X, _ = table()
        model = quick()
        for call in (
            lambda: model.predict(X),
            lambda: model.predict_proba(X),
            lambda: model.decision_function(X),
            lambda: model.score(X, X[:, 0] > 0),
            model.suspects,
        ):
            with pytest.raises(NotFittedError):
                call()

    def test_a_fit_that_failed_leaves_it_unfitted(self):
        X, y = table()
        model = quick()
        with pytest.raises(ValueError, match="eval_set"):
            model.fit(X, y, eval_set=(X, y + 5))
        with pytest.raises(NotFittedError):
            model.predict_proba(X)

    def test_a_fit_that_was_interrupted_leaves_it_unfitted(self):
        X, y = table()
        model = quick()

        def interrupt(done, total):
            if done > 3:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit_together([(model, X, y)], interrupt)
        for call in (lambda: model.predict(X), model.suspects):
            with pytest.raises(NotFittedError):
                call()
        np.testing.assert_array_equal(
            model.fit(X, y).predict_proba(X), quick().fit(X, y).predict_proba(X)
        )

    def test_a_refit_that_failed_does_not_mix_two_fits(self):
        X, y = table()
        model = quick().fit(X, y)
        expected = model.predict_proba(X)
        names = np.array(["no", "yes"])
        with pytest.raises(ValueError, match="eval_set"):
            model.set_params(pos_label="yes").fit(X * 100, names[y], eval_set=(X, y))
        model.set_params(pos_label=None)
        # Either it still answers as before, or it says that it cannot.
        try:
            answer = model.predict_proba(X)
        except NotFittedError:
            return
        np.testing.assert_array_equal(answer, expected)
        assert model.classes_.tolist() == [0, 1]

    def test_a_refit_leaves_nothing_of_the_old_fit(self):
        X, y = table()
        frame = pd.DataFrame(X, columns=["a", "b", "c"])
        names = np.array(["no", "yes"])
        model = quick(RobustPUClassifier, pos_label="yes", scenario="single-set")
        model.fit(frame, names[y], eval_set=(frame, names[y]))

        other, labels = table(n_positive=50, n_unlabeled=70, d=2, seed=3)
        plain = quick(RobustPUClassifier, threshold="prior")
        model.set_params(**plain.get_params(deep=False)).fit(other, labels)
        plain.fit(other, labels)
        assert set(vars(model)) == set(vars(plain))
        np.testing.assert_array_equal(model.predict_proba(other), plain.predict_proba(other))
        assert model.classes_.tolist() == [0, 1]
        assert model.n_features_in_ == 2
        assert model.selection_ == "pu"

    def test_attributes(self, fitted):
        model, _, y = fitted
        assert model.classes_.tolist() == [0, 1]
        assert model.n_features_in_ == 3
        assert model.input_shape_ == (3,)
        assert model.prior_ == 0.5
        assert model.threshold_ == 0.5
        assert model.kept_.tolist() == [0]
        assert model.probability_.shape == y.shape
        assert not model.state_.flat.requires_grad
        np.testing.assert_array_equal(model.is_positive_, y == 1)

    def test_repr_of_a_fitted_one(self, fitted):
        assert repr(fitted[0]).startswith("NNPUClassifier(batch_size=32,")
        buffer = io.StringIO()
        print(fitted[0], file=buffer)
        assert "state_" not in buffer.getvalue()

    def test_members_are_averaged(self):
        X, y = table()
        model = quick(n_members=4).fit(X, y)
        assert model.kept_.tolist() == [0, 1, 2, 3]
        logit = model._member_logits(model._tensor(X, torch.float64))
        each = torch.sigmoid(logit).numpy()
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], each.mean(0), atol=1e-12)


class TestToTorch:
    @pytest.mark.parametrize("standardize", [True, False])
    @pytest.mark.parametrize("module", ["mlp", batch_norm_net])
    def test_modules_answer_what_the_model_averages(self, module, standardize):
        X, y = table()
        X = 3 + 5 * X
        model = quick(n_members=3, module=module, standardize=standardize, lr=1e-3).fit(X, y)
        with torch.no_grad():
            logits = [model.to_torch(k)(torch.from_numpy(X).float()).flatten() for k in range(3)]
        mean = torch.sigmoid(torch.stack(logits)).mean(0)
        np.testing.assert_allclose(mean.numpy(), model.predict_proba(X)[:, 1], atol=1e-5)

    def test_it_is_a_copy(self):
        X, y = table()
        model = quick().fit(X, y)
        before = model.predict_proba(X)
        with torch.no_grad():
            for weight in model.to_torch().parameters():
                weight.zero_()
        np.testing.assert_array_equal(model.predict_proba(X), before)

    @pytest.mark.parametrize("member", [-1, 1, 0.5])
    def test_there_is_no_such_member(self, member):
        with pytest.raises(ValueError, match="member"):
            quick().fit(*table()).to_torch(member)


class TestDiverged:
    @pytest.mark.parametrize("validation_fraction", [0.2, 0])
    @pytest.mark.filterwarnings("ignore::RuntimeWarning")
    def test_a_network_that_diverges_is_refused(self, validation_fraction):
        X, y = table(d=5)
        model = NNPUClassifier(
            prior=0.3,
            lr=1e30,
            epochs=2,
            surrogate="logistic",
            random_state=0,
            validation_fraction=validation_fraction,
        )
        with pytest.raises(ValueError, match=r"training diverged.*Lower lr"):
            model.fit(X, y)

    def test_members_that_diverge_are_left_out(self, monkeypatch):
        X, y = table()
        train = NNPUClassifier.train.__func__

        def spoiled(cls, fleet, settings):
            course = train(cls, fleet, settings)
            fleet.state.flat[::2] = torch.inf
            return course

        monkeypatch.setattr(NNPUClassifier, "train", classmethod(spoiled))
        model = quick(n_members=6).fit(X, y)
        assert model.kept_.tolist() == [1, 3, 5]
        assert len(model.best_epoch_) == len(model.state_.flat) == 3
        assert len(model.member_scores_) == 6
        assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("eval_set", [3, [np.ones((4, 3)), np.ones(4)], (np.ones((4, 3)),)])
def test_an_eval_set_that_is_no_pair_is_refused(eval_set):
    with pytest.raises(ValueError, match="eval_set must be a pair"):
        quick().fit(*table(), eval_set=eval_set)


def test_a_threshold_that_is_no_number_names_the_word_that_is_allowed():
    with pytest.raises(ValueError, match=r"it is 'Prior': did you mean 'prior'"):
        quick(threshold="Prior").fit(*table())
