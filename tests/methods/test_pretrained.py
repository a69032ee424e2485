"""The pretrained network as a classifier; the network itself is tested in tests/pretrained."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import robustpu
from robustpu import ModelFolderError, PretrainedPUClassifier, make_pu
from robustpu.methods import pretrained
from robustpu.pretrained import EncodedTable, load_network

# Small tables, and shares that the network finds by itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning"),
    pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning"),
    pytest.mark.filterwarnings("ignore::robustpu.PriorWarning"),
]


def model(**changes):
    return PretrainedPUClassifier(**{"n_members": 1, "random_state": 0, **changes})


def problem(prior=0.4, seed=0, scenario="case-control"):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(1000) % 2
    X = rng.normal(np.where(truth == 1, 0.95, -0.95)[:, None], 1.0, (1000, 3))
    sizes = {"n_positive": 40, "n_unlabeled": 80, "n_test": 200}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


@pytest.fixture(scope="module")
def pu():
    return problem()


@pytest.fixture(scope="module")
def fitted(pu):
    return model().fit(pu.X, pu.y)


# What it predicts.


def test_learns_and_finds_the_prior():
    # Its share is too low with so few labels, and varies; the order of rows is right.
    drawn = [problem(seed=seed) for seed in range(4)]
    models = [model().fit(pu.X, pu.y) for pu in drawn]
    for pu, one in zip(drawn, models, strict=True):
        assert roc_auc_score(pu.y_test, one.predict_proba(pu.X_test)[:, 1]) > 0.97
        assert one.given_prior_ is None
    scores = [one.score(pu.X_test, pu.y_test) for pu, one in zip(drawn, models, strict=True)]
    assert np.mean(scores) > 0.8
    assert np.mean([one.prior_ for one in models]) == pytest.approx(0.4, abs=0.15)


def test_is_the_network(pu, fitted):
    found = EncodedTable(load_network(), pu.X, pu.y == 1, n_members=1, seed=fitted.seed_)
    unlabeled = pu.y == 0
    np.testing.assert_allclose(fitted.predict_proba(pu.X_test)[:, 1], found.score(pu.X_test))
    training = found.training.probability[unlabeled]
    np.testing.assert_allclose(fitted.probability_[unlabeled], training)
    assert fitted.prior_ == pytest.approx(found.estimate_prior())


def test_a_known_prior_is_given_to_the_network(pu):
    low, right, high = (model(prior=prior).fit(pu.X, pu.y) for prior in (0.1, 0.4, 0.7))
    assert (low.prior_, low.given_prior_) == (0.1, 0.1)
    assert right.score(pu.X_test, pu.y_test) > 0.87
    assert low.probability_[pu.y == 0].mean() < high.probability_[pu.y == 0].mean() - 0.2


@pytest.mark.parametrize("prior", ["dedpul", lambda positive, unlabeled: 0.25])
def test_other_estimates_are_made_from_its_scores(pu, prior):
    found = model(prior=prior).fit(pu.X, pu.y)
    assert found.given_prior_ == found.prior_
    assert 0.1 < found.prior_ < 0.7


@pytest.mark.parametrize("prior", ["tedn", "pretrained"])
def test_an_estimate_by_another_network_is_refused(pu, prior):
    with pytest.raises(ValueError, match="or another method, such as 'auto'"):
        model(prior=prior).fit(pu.X, pu.y)


def test_scoring_a_row_costs_more_with_more_members(pu, fitted):
    assert fitted.row_cost() < model(prior=0.4, n_members=8).fit(pu.X, pu.y).row_cost()
    changed = pickle.loads(pickle.dumps(fitted)).set_params(n_members=50)
    assert changed.row_cost() == fitted.row_cost()


def test_single_set_asks_for_more_positives():
    pu = problem(0.2, scenario="single-set")
    one, other = (
        model(prior=pu.prior, scenario=name).fit(pu.X, pu.y)
        for name in ("single-set", "case-control")
    )
    assert one.population_prior_ == pytest.approx(pu.population_prior)
    assert one.score(pu.X_test, pu.y_test) > 0.87
    odds, less = (p[:, 1] / p[:, 0] for p in (m.predict_proba(pu.X_test) for m in (one, other)))
    np.testing.assert_allclose(odds / less, (40 + 0.2 * 80) / (0.2 * 80), rtol=1e-4)


def test_missing_values_are_inputs(pu):
    rng = np.random.default_rng(0)
    X, X_test = (np.where(rng.random(rows.shape) < 0.2, np.nan, rows) for rows in (pu.X, pu.X_test))
    found = model().fit(X, pu.y)
    probability = found.predict_proba(X_test)[:, 1]
    assert np.isfinite(probability).all()
    assert roc_auc_score(pu.y_test, probability) > 0.88
    # That a value is missing may tell of positives.
    X = np.where((pu.y_true == 1)[:, None] & [True, False, False], np.nan, rng.normal(size=X.shape))
    rows, _ = model().fit(X, pu.y).suspects(20)
    assert pu.y_true[rows].mean() > 0.9


def test_infinite_and_huge_numbers_are_refused(pu, fitted):
    for value, match in ((np.inf, "infinity"), (1e200, "beyond 3.4e")):
        with pytest.raises(ValueError, match=match):
            fitted.predict_proba(np.full((1, 3), value))
    assert np.isfinite(fitted.predict_proba(np.full((1, 3), 1e38))).all()


def test_categories(pu):
    """Codes in a random order: positives have the even ones."""
    rng = np.random.default_rng(0)
    code = 2 * rng.integers(0, 6, len(pu.y)) + (pu.y_true == 0)
    frame = pd.DataFrame({"code": code, "noise": rng.normal(size=len(code))})
    found, same, plain = (
        model(categorical_features=given).fit(frame, pu.y) for given in (["code"], [0], None)
    )
    assert found.is_category_.tolist() == [True, False]
    np.testing.assert_array_equal(found.probability_, same.probability_)
    assert not np.array_equal(found.probability_, plain.probability_)
    for wrong in (["other"], [2], [-1]):
        with pytest.raises(ValueError, match="X has no such column"):
            model(categorical_features=wrong).fit(frame, pu.y)
    with pytest.raises(ValueError, match="must be None, or a list of column"):
        model(categorical_features="code").fit(frame, pu.y)


# Rows that were trained on.


def test_out_of_fold_scores_evaluate(pu, fitted):
    assert np.isfinite(fitted.out_of_fold_).all()
    is_unlabeled = pu.y == 0
    assert not np.array_equal(fitted.out_of_fold_[is_unlabeled], fitted.probability_[is_unlabeled])
    assert roc_auc_score(pu.y_true, fitted.out_of_fold_) > 0.85
    found = fitted.evaluate()
    # So few rows do not tell the share of positives, and without it there is no AUC.
    assert not found.is_prior_known
    assert found["auc_of_labeled"].value > 0.7
    assert fitted.evaluate(prior_interval=(0.3, 0.5))["auc"].value > 0.75
    found = model(threshold="recall:0.8", validation_fraction=0.2).fit(pu.X, pu.y)
    held_out = np.setdiff1d(np.flatnonzero(pu.y == 1), found.context_rows_)
    assert np.mean(found.probability_[held_out] >= found.threshold_) == pytest.approx(0.8, abs=0.1)


def test_suspects_are_hidden_positives(pu, fitted):
    rows, probability = fitted.suspects(20)
    assert not pu.y[rows].any()
    assert pu.y_true[rows].mean() > 0.85
    assert np.all(np.diff(probability) <= 0)


def test_held_out_rows_are_not_in_the_context(pu):
    found = model(prior=0.4, validation_fraction=0.25).fit(pu.X, pu.y)
    outside = np.setdiff1d(np.arange(len(pu.y)), found.context_rows_)
    assert len(outside) == 30
    answer = found.predict_proba(pu.X[outside])[:, 1]
    np.testing.assert_allclose(found.out_of_fold_[outside], answer, rtol=1e-5)
    assert found.selection_ == "pu"


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_rows_with_zero_weight_do_not_matter(pu, scenario):
    weight = np.arange(len(pu.y)) % 4 > 0
    strange = np.where(weight[:, None], pu.X, 40 - 9 * pu.X)
    one, other, without = (
        model(scenario=scenario).fit(*rows)
        for rows in (
            (pu.X, pu.y, weight),
            (strange, pu.y, 7 * weight),
            (pu.X[weight], pu.y[weight]),
        )
    )
    expected = without.predict_proba(pu.X_test)
    np.testing.assert_allclose(one.predict_proba(pu.X_test), expected, rtol=1e-6)
    np.testing.assert_allclose(other.predict_proba(pu.X_test), expected, rtol=1e-6)
    assert one.prior_ == pytest.approx(without.prior_)
    assert len(one.probability_) == len(pu.y)


def test_weights_count_in_the_estimated_prior(pu, fitted):
    weight = np.where(pu.y_true == 1, 3.0, 1.0)
    weighted = model().fit(pu.X, pu.y, weight)
    unlabeled = pu.y == 0
    expected = np.average(fitted.probability_[unlabeled], weights=weight[unlabeled])
    assert weighted.prior_ == pytest.approx(expected)
    np.testing.assert_array_equal(weighted.context_, fitted.context_)


def test_one_labelled_positive():
    X = np.r_[np.full((4, 2), 5.0), np.random.default_rng(0).normal(size=(28, 2))]
    found = model(prior=0.1).fit(X, np.arange(32) == 0)
    assert np.isfinite(found.probability_).all()
    with pytest.raises(ValueError, match="no labelled and unlabelled rows were held out"):
        found.evaluate()
    with pytest.raises(ValueError, match="at least 2 labelled positives"):
        model(prior="dedpul").fit(X, np.arange(32) == 0)


def test_long_tables_are_drawn_from(pu, monkeypatch):
    monkeypatch.setattr(pretrained, "MAX_CONTEXT", 50)
    found = model(prior=0.4).fit(pu.X, pu.y)
    assert pu.y[found.context_rows_].sum() == 40
    assert len(found.context_) == 90
    assert np.isfinite(found.out_of_fold_).all()
    assert found.score(pu.X_test, pu.y_test) > 0.85


def test_rows_outside_of_a_context_need_no_folds(pu, monkeypatch):
    def refuse(*_):
        raise AssertionError("a pass for each fold, and all rows have a member without them")

    monkeypatch.setattr(pretrained, "EncodedTable", partial(EncodedTable, max_context=50))
    monkeypatch.setattr(pretrained, "_folds", refuse)
    found = model(prior=0.4, n_members=2).fit(pu.X, pu.y)
    expected = pretrained.TABLES[found].training.held_out
    np.testing.assert_allclose(found.out_of_fold_, expected)
    labelled = pu.y == 1
    np.testing.assert_array_equal(found.probability_[labelled], found.out_of_fold_[labelled])


def test_rows_of_both_labels_are_held_out_alike(pu, monkeypatch):
    """With few labels all contexts of a long table have them, and lack unlabelled rows."""
    alike = "robustpu.methods.pretrained.PretrainedPUClassifier._cross_fit"
    monkeypatch.setattr(
        alike,
        lambda self, X, y, prior, random, others: (
            np.full(len(X), 0.25),
            np.full(len(others), 0.5),
        ),
    )
    monkeypatch.setattr(pretrained, "MAX_CONTEXT", 70)
    monkeypatch.setattr(pretrained, "EncodedTable", partial(EncodedTable, max_context=60))
    rows = np.r_[np.flatnonzero(pu.y == 1)[:10], np.flatnonzero(pu.y == 0)]
    found = model(prior=0.4).fit(pu.X[rows], pu.y[rows])
    held_out = pretrained.TABLES[found].training.held_out
    assert np.isnan(held_out[:10]).all()
    assert np.isfinite(held_out).any()
    is_drawn = np.isin(np.arange(90), found.context_rows_)
    assert is_drawn.sum() == 80
    np.testing.assert_allclose(found.out_of_fold_, np.where(is_drawn, 0.25, 0.5))


def test_noise_in_a_long_table_is_not_ranked(monkeypatch):
    monkeypatch.setattr(pretrained, "EncodedTable", partial(EncodedTable, max_context=256))
    y, far = np.arange(1000) < 60, []
    for seed in (3, 4, 5):
        X = np.random.default_rng(seed).normal(size=(1000, 4))
        found = model(n_members=2, random_state=seed).fit(X, y)
        far.append(abs(roc_auc_score(y, found.out_of_fold_) - 0.5))
    assert np.mean(far) < 0.1


@pytest.mark.parametrize(("n_labelled", "count"), [(40, 5), (100, 3), (2, 2), (1, 0)])
def test_fewer_folds_where_labels_are_many(n_labelled, count):
    is_positive = np.arange(300) < n_labelled
    splits = pretrained._folds(is_positive, np.random.RandomState(0))
    assert len(splits) == count
    for training, other in splits:
        assert is_positive[training].any()
        assert is_positive[other].any()
        assert not np.intersect1d(training, other).size


# Models that are kept.


def test_a_saved_model_predicts_the_same(pu, fitted, tmp_path):
    fitted.save(tmp_path / "model")
    again = PretrainedPUClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(pu.X_test), fitted.predict_proba(pu.X_test))
    np.testing.assert_array_equal(again.context_, fitted.context_)
    assert again.evaluate()["auc_of_labeled"] == fitted.evaluate()["auc_of_labeled"]
    # The weights are not copied.
    assert sum(path.stat().st_size for path in (tmp_path / "model").iterdir()) < 100_000


def test_missing_values_and_categories_are_saved(pu, tmp_path):
    X = np.c_[np.where(np.arange(len(pu.y)) % 5 == 0, np.nan, pu.X[:, 0]), np.round(pu.X[:, 1])]
    found = model(categorical_features=[1], prior=0.4).fit(X, pu.y)
    found.save(tmp_path / "model")
    again = robustpu.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), found.predict_proba(X))


def test_other_weights_are_refused(pu, fitted, tmp_path, monkeypatch):
    fitted.save(tmp_path / "model")
    stored = pickle.dumps(fitted)
    about = {"version": "3", "sha256": "0" * 64}
    monkeypatch.setattr("robustpu.persist.classifiers.read_about", lambda: about)
    with pytest.raises(ModelFolderError, match="not that of version 3 of the network's weights"):
        robustpu.load(tmp_path / "model")
    monkeypatch.setattr(pretrained, "read_about", lambda: about)
    with pytest.raises(ValueError, match="fitted with version 2 of the network's weights, and"):
        pickle.loads(stored).predict(pu.X_test)


def test_parameters_that_change_after_the_fit_change_no_prediction(pu):
    changed = model().fit(pu.X, pu.y)
    before = changed.predict_proba(pu.X_test)
    again = pickle.loads(pickle.dumps(changed.set_params(n_members=3)))
    np.testing.assert_array_equal(again.predict_proba(pu.X_test), before)


def test_a_pickle_holds_rows_and_not_the_network(pu, fitted):
    stored = pickle.dumps(fitted)
    assert len(stored) < 50_000
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.predict_proba(pu.X_test), fitted.predict_proba(pu.X_test))


def test_encoded_contexts_go_with_their_model(pu):
    before = len(pretrained.TABLES)
    found = model(prior=0.4).fit(pu.X, pu.y)
    assert isinstance(pretrained.TABLES[found], EncodedTable)
    assert clone(found) not in pretrained.TABLES
    del found
    assert len(pretrained.TABLES) == before


# Parameters.


def test_members_differ_and_are_averaged(pu):
    one, two = (model(prior=0.4, n_members=n).fit(pu.X, pu.y) for n in (1, 2))
    table = pretrained.TABLES[two]
    assert len(table.members) == 2
    assert np.abs(one.probability_ - two.probability_).max() > 1e-4


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"n_members": 0}, "n_members must be a whole number at least 1"),
        ({"device": "abacus"}, "device must be 'auto' or one that torch has"),
        ({"prior": 1.0}, "prior must be a number between 0 and 1"),
        ({"scenario": "both"}, "scenario must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        model(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def expected_failures(estimator):
    """Weights above 0 do not change what the network sees."""
    reason = "a row of weight two is once in the context, a row given twice is there twice"
    return {
        f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")
    }


# The checks give string labels without pos_label.
@parametrize_with_checks([model()], expected_failed_checks=expected_failures)
def test_sklearn_check(estimator, check):
    check(estimator)
