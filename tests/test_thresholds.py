"""Thresholds, and the answers of models that have them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from robustpu import (
    ElkanNotoClassifier,
    NNPUClassifier,
    PriorWarning,
    PUClassifier,
    PUExtraTreesClassifier,
    VPUClassifier,
    datasets,
    make_pu,
    metrics,
)
from robustpu.calibration import log_odds, matching_shift, shifted
from robustpu.thresholds import at_precision, at_recall, at_share, parse


@pytest.fixture(scope="module")
def pu():
    table = datasets.load("spambase")
    return make_pu(
        table.data, table.target, n_positive=300, n_unlabeled=800, prior=0.4, n_test=1500,
        random_state=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [(0.3, ("at", 0.3)), ("recall:0.9", ("recall", 0.9)), ("precision:.8", ("precision", 0.8)),
     ("top:12", ("top", 12))],
)  # fmt: skip
def test_what_a_threshold_says(given, expected):
    assert parse(given) == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0, "above 0"),
        (1.0, "below 1"),
        ("priro", "did you mean 'prior'"),
        ("recal:0.5", "did you mean 'recall:'"),
        ("recall", "it is 'recall'"),
        ("recall:half", "must end in a number"),
        ("recall:1", "below 1"),
        ("precision:0", "above 0"),
        ("top:0", "at least 1"),
        ("top:2.5", "must end in a number"),
    ],
)
def test_what_it_cannot_say(given, message):
    with pytest.raises(ValueError, match=message):
        parse(given)


@pytest.mark.parametrize("low", [1, 3, 5, 7, 8, 10])
def test_a_share_does_not_cut_through_equals(low):
    """Ten rows, some of them equally low, and a share of 0.4: the nearest there is."""
    score = np.repeat([0.2, 0.9], [low, 10 - low])
    answered = int((score >= at_share(score, 0.4)).sum())
    shares = {int((score >= cut).sum()) for cut in (*score, 1.0)}
    assert abs(answered - 4) == min(abs(share - 4) for share in shares)


@pytest.mark.parametrize("recall", [0.05, 0.1, 0.5, 0.93, 0.999])
def test_recall_is_reached_and_no_more_than_needed(recall):
    score = np.random.default_rng(0).normal(size=40)
    at = at_recall(score, recall)
    assert np.mean(score >= at) >= recall
    assert np.mean(score > at) < recall


def test_a_weight_is_as_many_rows():
    rng = np.random.default_rng(0)
    positive, unlabeled = rng.normal(1, 1, 60).round(1), rng.normal(0, 1, 90).round(1)
    weights = rng.integers(0, 4, 60), rng.integers(0, 4, 90)
    many = np.repeat(positive, weights[0]), np.repeat(unlabeled, weights[1])
    for share in (0.05, 0.3, 0.9):
        assert at_share(unlabeled, share, weights[1]) == at_share(many[1], share)
        assert at_recall(positive, share, weights[0]) == at_recall(many[0], share)
        found = at_precision(positive, unlabeled, 0.5, share, weights)
        assert found == pytest.approx(at_precision(*many, 0.5, share))


def test_a_heavy_row_is_no_precision():
    """One positive at the top has a fifth of the weight, and still is one row."""
    rng = np.random.default_rng(0)
    positive, unlabeled = np.append(0.99, rng.uniform(0, 0.9, 99)), rng.uniform(0, 0.9, 400)
    weight = np.append(25.0, np.ones(99))
    found, _ = at_precision(positive, unlabeled, 0.3, 0.99, (weight, np.ones(400)))
    assert (positive >= found).sum() >= 10


def test_neighbours_among_numbers_are_told_apart():
    low = 0.5 + np.finfo(float).eps / 2
    score = np.array([0.1, low, np.nextafter(low, 1), 0.9])
    assert (score >= at_share(score, 0.5)).sum() == 2


def test_precision_by_hand():
    positive = np.array([0.9, 0.8, 0.6, 0.3])
    unlabeled = np.array([0.95, 0.85, 0.7, 0.65, 0.5, 0.4, 0.35, 0.1, 0.05, 0.0])
    # At 0.6: half of U is positive, 3 of 4 are found: 3.75 of 10 rows, and 4 are above.
    assert at_precision(positive, unlabeled, 0.5, 0.9) == (0.6, pytest.approx(0.9375))
    # At 0.3: all are found, 5 of 10 rows, and 7 are above.
    assert at_precision(positive, unlabeled, 0.5, 0.7) == (0.3, pytest.approx(5 / 7))


def test_the_highest_precision_if_none_is_high_enough():
    positive, unlabeled = np.array([0.2, 0.6]), np.array([0.1, 0.3, 0.7, 0.8])
    assert at_precision(positive, unlabeled, 0.4, 0.9) == (0.2, pytest.approx(0.4 * 4 / 3))


def test_the_luck_of_a_few_rows_is_no_precision():
    """Scores that tell nothing: some row at the top has no neighbour in U."""
    rng = np.random.default_rng(0)
    reached = [at_precision(rng.normal(size=200), rng.normal(size=600), 0.3, 0.9)[1]
               for _ in range(20)]  # fmt: skip
    assert max(reached) < 0.9
    assert np.mean(reached) < 0.5


@pytest.mark.parametrize("prior", [0.01, 0.3, 0.9])
def test_a_shift_brings_the_mean_to_the_prior(prior):
    probability = np.random.default_rng(0).beta(0.3, 0.5, 300)
    moved = shifted(probability, matching_shift(log_odds(probability), prior))
    assert moved.mean() == pytest.approx(prior, abs=1e-9)
    assert (np.argsort(moved) == np.argsort(probability)).all()


KINDS = {
    "network": NNPUClassifier(epochs=30, n_members=5, validation_fraction=0.2),
    "scaled network": VPUClassifier(epochs=20, n_members=5, validation_fraction=0.2),
    "learner": ElkanNotoClassifier(validation_fraction=0.3),
    "trees": PUExtraTreesClassifier(n_estimators=40, validation_fraction=0.2),
}


def fitted(kind, pu, **changes):
    model = clone(KINDS[kind]).set_params(prior=0.4, random_state=0, **changes)
    X = (pu.X - pu.X.mean(0)) / pu.X.std(0)
    return model.fit(X, pu.y), (pu.X_test - pu.X.mean(0)) / pu.X.std(0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
class TestModels:
    def test_recall_of_the_test_rows(self, kind, pu):
        model, X = fitted(kind, pu, threshold="recall:0.8")
        assert np.mean(model.predict(X)[pu.y_test == 1]) == pytest.approx(0.8, abs=0.1)

    def test_precision_of_the_test_rows(self, kind, pu):
        model, X = fitted(kind, pu, threshold="precision:0.9")
        precision = np.mean(pu.y_test[model.predict(X) == 1])
        assert precision == pytest.approx(0.9, abs=0.1)

    def test_so_many_of_the_training_rows(self, kind, pu):
        model, _ = fitted(kind, pu, threshold="top:100")
        unlabeled = model.probability_[pu.y == 0]
        assert np.sum(unlabeled >= model.threshold_) == pytest.approx(100, abs=12)

    def test_calibrated_answers_have_the_mean_of_the_prior(self, kind, pu):
        plain, X = fitted(kind, pu)
        model, _ = fitted(kind, pu, calibrate=True)
        unseen = model.out_of_fold_[(pu.y == 0) & np.isfinite(model.out_of_fold_)]
        assert unseen.mean() == pytest.approx(0.4, abs=1e-6)
        moved = shifted(plain.predict_proba(X)[:, 1], model.calibration_)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], moved, atol=1e-7)
        assert plain.calibration_ == 0

    def test_unseen_rows_tell_how_good_a_model_is(self, kind, pu):
        model, X = fitted(kind, pu)
        known = np.isfinite(model.out_of_fold_)
        assert known.mean() > 0.1
        found = model.evaluate(k=50)
        same = metrics.evaluate(
            pu.y[known], model.out_of_fold_[known], prior=0.4, threshold=model.threshold_, k=50
        )
        assert dict(found) == dict(same)
        truth = np.mean(model.predict(X) == pu.y_test)
        assert found["accuracy"].low - 0.03 < truth < found["accuracy"].high + 0.03


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning", "ignore::robustpu.CollapseWarning")
class TestWeights:
    """Rows that look like positives weigh five times as much as others, and some weigh nothing."""

    def fitted(self, kind, pu, **changes):
        X = (pu.X - pu.X.mean(0)) / pu.X.std(0)
        looks = LogisticRegression().fit(X, pu.y).decision_function(X)
        weight = np.where(looks > np.median(looks), 5.0, 1.0)
        weight[np.random.default_rng(0).uniform(size=len(weight)) < 0.1] = 0
        model = clone(KINDS[kind]).set_params(prior=0.4, random_state=0, **changes)
        return model.fit(X, pu.y, weight), weight

    def held_out(self, model, weight, y, kind):
        rows = np.isfinite(model.out_of_fold_) & (weight > 0) & (y == kind)
        return model.out_of_fold_[rows], weight[rows]

    def test_count_in_what_unseen_rows_tell(self, kind, pu):
        model, weight = self.fitted(kind, pu, scenario="single-set")
        known = np.isfinite(model.out_of_fold_)
        expected = metrics.evaluate(
            pu.y[known], model.out_of_fold_[known], prior=0.4, scenario="single-set",
            sample_weight=weight[known], labeled_share=weight[pu.y == 1].sum() / weight.sum(),
        )  # fmt: skip
        for name, estimate in model.evaluate().items():
            assert estimate.value == pytest.approx(expected[name].value), name

    def test_count_in_the_calibration(self, kind, pu):
        model, weight = self.fitted(kind, pu, calibrate=True)
        unseen = np.isfinite(model.out_of_fold_) & (pu.y == 0) & (weight > 0)
        mean = np.average(model.out_of_fold_[unseen], weights=weight[unseen])
        assert mean == pytest.approx(0.4, abs=1e-6)

    def test_count_in_the_quantile_of_the_prior(self, kind, pu):
        model, weight = self.fitted(kind, pu, threshold="prior")
        above = model.probability_[pu.y == 0] >= model.threshold_
        assert np.average(above, weights=weight[pu.y == 0]) == pytest.approx(0.4, abs=0.02)

    def test_count_in_a_recall(self, kind, pu):
        model, weight = self.fitted(kind, pu, threshold="recall:0.8")
        score, weights = self.held_out(model, weight, pu.y, 1)
        reached = np.average(score >= model.threshold_, weights=weights)
        beyond = np.average(score > model.threshold_, weights=weights)
        assert beyond < 0.8 <= reached + 1e-9

    @pytest.mark.filterwarnings("ignore:no threshold has a precision")
    def test_count_in_a_precision(self, kind, pu):
        model, weight = self.fitted(kind, pu, threshold="precision:0.55")
        sides = [self.held_out(model, weight, pu.y, side) for side in (1, 0)]
        (positive, unlabeled), weights = zip(*sides, strict=True)
        assert model.threshold_ == at_precision(positive, unlabeled, 0.4, 0.55, weights)[0]
        assert model.threshold_ != at_precision(positive, unlabeled, 0.4, 0.55)[0]

    def test_are_no_rows_of_a_list(self, kind, pu):
        model, _ = self.fitted(kind, pu, threshold="top:100")
        above = model.probability_[pu.y == 0] >= model.threshold_
        assert above.sum() == pytest.approx(100, abs=12)

    def test_count_in_the_alarm_of_a_collapse(self, kind, pu):
        model, _ = self.fitted(kind, pu)
        model.threshold_ = float(np.quantile(model.probability_[pu.y == 0], 0.97))
        assert caught(model) is not None
        # All the weight is on the few that are predicted positive.
        model.sample_weight_ = np.where(model.probability_ >= model.threshold_, 20.0, 1.0)
        assert caught(model) is None

    def test_of_nothing_is_as_good_as_no_row(self, kind, pu):
        model, weight = self.fitted(kind, pu)
        heavy = metrics.evaluate(
            pu.y[known := np.isfinite(model.out_of_fold_) & (weight > 0)],
            model.out_of_fold_[known], prior=0.4, sample_weight=weight[known],
        )  # fmt: skip
        found = model.evaluate()
        assert len(found.sample.unlabeled) == len(heavy.sample.unlabeled)
        model.sample_weight_ = np.where(pu.y == 1, 0.0, 1.0)
        with pytest.raises(ValueError, match="no labelled and unlabelled rows were held out"):
            model.evaluate()


def caught(model):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model._warn_if_collapsed()
    return str(told[0].message) if told else None


@pytest.fixture(scope="module")
def apart():
    """Classes that hardly overlap."""
    rng = np.random.default_rng(0)
    truth = np.arange(4000) % 2
    X = rng.normal(2.2 * truth[:, None], 1.0, (4000, 3))
    return make_pu(X, truth, n_positive=300, n_unlabeled=800, prior=0.4, n_test=500, random_state=0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimated_prior_widens_what_unseen_rows_tell(kind, apart):
    model, _ = fitted(kind, apart)
    known = model.evaluate()
    model.set_params(prior="auto")
    found = model.evaluate()
    assert found.is_prior_known
    assert "prior 0.4 [" in str(found)
    low, high = found.sample.priors
    assert 0 < low < 0.4 < high < 0.6
    assert found["precision"].low < known["precision"].low
    assert found["precision"].value == known["precision"].value
    assert model.evaluate(prior_interval=(0.39, 0.41)).sample.priors == (0.39, 0.41)


def test_trees_tell_the_share_from_rows_that_they_have_not_seen(pu):
    model, _ = fitted("trees", pu)
    found = model.set_params(prior="auto").evaluate()
    assert found.is_prior_known
    low, high = found.sample.priors
    assert 0.1 < low < pu.prior < high < 0.5
    assert found["precision"].low < 0.5 < found["precision"].high


def test_what_needs_a_share_that_unseen_rows_do_not_tell_is_left_out(pu):
    model, _ = fitted("learner", pu)
    known = model.evaluate()
    model.set_params(prior="auto")
    found = model.evaluate()
    assert not found.is_prior_known
    assert set(found) == {"recall", "lift_at_k", "auc_of_labeled"}
    assert found["recall"] == known["recall"]
    low, high = found.sample.priors
    assert low == 0
    assert 0.4 <= high < 0.6
    assert f"prior unknown, up to {high:.3g}" in str(found)
    with pytest.raises(KeyError, match="needs the share of positives"):
        found["precision"]
    given = model.evaluate(prior_interval=(0.39, 0.41))
    assert given.is_prior_known
    assert given.sample.priors == (0.39, 0.41)
    assert given["precision"].value == known["precision"].value
    at_most = model.evaluate(prior_interval=(0, 0.41))
    assert at_most.sample.priors == (0, 0.41)
    assert at_most["precision"].low == 0


def test_an_estimate_where_classes_overlap_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2400, 3)), np.arange(2400) < 300
    X[:500] += 0.5
    model = NNPUClassifier(
        epochs=10, n_members=5, validation_fraction=0.2, threshold="prior", random_state=0
    )
    with pytest.warns(PriorWarning) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    found = model.prior_interval()
    assert not found.is_known
    # A tenth of the unlabelled rows are positive.
    assert found.low < 200 / 2100 < found.high
    assert str(caught[0].message) == found.doubt(model.prior_)
    assert f"up to {found.high:.1%} are possible" in found.doubt(model.prior_)
    assert model.evaluate().sample.priors == (found.low, found.high)
    wide = model.prior_interval(level=0.99)
    # No share is too small for scores that overlap.
    assert wide.low == found.low == 0
    assert found.high < wide.high
    # Nobody doubts a share that was given.
    model.set_params(prior=0.4).fit(X, y)
    assert model.evaluate().is_prior_known


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_a_precision_that_rests_on_an_unknown_share_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2400, 3)), np.arange(2400) < 300
    X[:500] += 0.5
    given = {"members": ["logistic"], "random_state": 0}
    with pytest.warns(PriorWarning, match=r"'precision:0.3' cannot be kept.*'recall:0.8'"):
        PUClassifier(**given, threshold="precision:0.3").fit(X, y)
    with pytest.warns(PriorWarning) as caught:
        PUClassifier(**given, threshold="recall:0.3").fit(X, y)
    assert "cannot be kept" not in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PriorWarning)
        PUClassifier(**given, threshold="precision:0.3", prior=0.1).fit(X, y)


def test_unseen_rows_are_those_that_members_held_out(pu):
    model, _ = fitted("network", pu, validation_fraction=0.1)
    known = np.isfinite(model.out_of_fold_)
    assert known.mean() == pytest.approx(0.5, abs=0.01)
    assert (model.out_of_fold_ != model.probability_)[known].all()
    whole, _ = fitted("network", pu)
    assert np.isfinite(whole.out_of_fold_).all()


def test_nothing_held_out_nothing_known(pu):
    model, _ = fitted("network", pu, validation_fraction=0, threshold="prior")
    assert np.isnan(model.out_of_fold_).all()
    with pytest.raises(ValueError, match="no labelled and unlabelled rows were held out"):
        model.evaluate()
    for target in ("recall:0.9", "precision:0.9"):
        with pytest.raises(ValueError, match="validation_fraction= a share above 0"):
            fitted("network", pu, validation_fraction=0, threshold=target)


def test_true_labels_hold_nothing_out(pu):
    model = NNPUClassifier(epochs=2, prior=0.4, threshold="recall:0.9")
    with pytest.raises(ValueError, match="leave eval_set out"):
        model.fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
def test_a_precision_that_no_threshold_has_is_told():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), np.arange(600) < 200
    model = NNPUClassifier(epochs=3, prior=0.3, threshold="precision:0.99", n_members=5)
    with pytest.warns(UserWarning, match="no threshold has a precision of 0.99"):
        model.set_params(random_state=0).fit(X, y)


def test_few_positives_that_were_asked_for_are_no_collapse(pu):
    model, _ = fitted("network", pu, threshold="top:5")
    assert model.threshold_ > 0.5


@pytest.mark.parametrize(("mean", "is_raised"), [(0.37, False), (0.35, True), (0.6, False)])
def test_auto_raises_a_mean_that_is_far_below_the_prior(mean, is_raised):
    model = PUExtraTreesClassifier(calibrate="auto")
    model.prior_, model.is_positive_, model.sample_weight_ = 0.4, np.arange(999) < 0, np.ones(999)
    answers = np.clip(np.random.default_rng(0).normal(mean, 0.05, 999), 0, 1)
    answers += mean - answers.mean()
    shift = model._find_calibration(answers, answers)
    assert (shift != 0) == is_raised
    assert not is_raised or shifted(answers, shift).mean() == pytest.approx(0.4)


def test_calibrate_is_checked(pu):
    with pytest.raises(ValueError, match="calibrate must be True, False or 'auto'; it is 'yes'"):
        fitted("trees", pu, calibrate="yes")


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_an_estimated_prior_near_0_has_an_interval():
    random = np.random.RandomState(0)
    X = np.r_[random.randn(60, 4) + 8, random.randn(2000, 4) - 8]
    model = NNPUClassifier(validation_fraction=0.03, epochs=3, random_state=0)
    # Two labelled rows are held out: no ground to doubt the estimate.
    model.fit(X, np.arange(2060) < 60)
    low, high = model.evaluate().sample.priors
    assert 0 == low < model.prior_ <= high
    assert model.prior_ < 0.002


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
def test_the_population_has_as_many_labelled_rows_as_the_table():
    random = np.random.RandomState(0)
    X, y = random.randn(1002, 3), np.arange(1002) < 2
    model = NNPUClassifier(prior=0.1, scenario="single-set", epochs=2, random_state=0)
    assert model.fit(X, y).evaluate().sample.labeled == pytest.approx(2 / 1002)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_calibrated_answers_of_single_set_data_have_the_mean_of_the_population(kind, pu):
    model, _ = fitted(kind, pu, calibrate=True, scenario="single-set")
    unseen = np.isfinite(model.out_of_fold_)
    answers = np.where(unseen, model.out_of_fold_, model.probability_)
    assert answers.mean() == pytest.approx(model.population_prior_, abs=1e-6)
    assert model.population_prior_ > 0.5
