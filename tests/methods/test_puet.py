"""PU extra-trees."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from robustpu import CollapseWarning, datasets, make_pu
from robustpu.methods.puet import PUExtraTreesClassifier, masses_of


def problem(prior=0.5, seed=0, scenario="case-control"):
    """Two Gaussians whose best accuracy is 0.95."""
    rng = np.random.default_rng(seed)
    truth = np.arange(4000) % 2
    X = rng.normal(np.where(truth == 1, 0.82, -0.82)[:, None], 1.0, (4000, 4))
    sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
    return make_pu(X, truth, prior=prior, scenario=scenario, random_state=seed, **sizes)


def forest(**changes):
    return PUExtraTreesClassifier(
        **{"prior": 0.5, "n_estimators": 30, "random_state": 0, **changes}
    )


def depths(trees):
    """Depth of each node."""
    depth = np.zeros(len(trees.feature), dtype=int)
    for node in np.flatnonzero(trees.feature >= 0):
        depth[trees.left[node] : trees.left[node] + 2] = depth[node] + 1
    return depth


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
def test_learns(prior):
    pu = problem(prior)
    assert forest(prior=prior).fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.9


@pytest.mark.parametrize("prior", [0.4, 0.6])
def test_beats_taking_unlabelled_rows_as_negatives(prior):
    table = datasets.load("spambase")
    sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000}
    pu = make_pu(table.data, table.target, prior=prior, random_state=0, **sizes)
    naive = ExtraTreesClassifier(20, random_state=0).fit(pu.X, pu.y)
    model = forest(prior=prior, n_estimators=20).fit(pu.X, pu.y)
    found, other = (kind.score(pu.X_test, pu.y_test) for kind in (model, naive))
    assert found > 0.87
    assert found > other + 0.1


# Masses and scenarios.


def test_masses_are_shares_of_the_population():
    """100 labelled and 400 unlabelled rows, 100 of them positive; 30 and 60 are in a node."""
    w_positive, w = masses_of(0.25, 100, 400, "case-control").of(30, 60)
    assert (w_positive, w) == pytest.approx((0.25 * 30 / 100, 60 / 400))
    # One sample of 500 with 200 positives: 30 % of those, and 90 of all, are in the node.
    w_positive, w = masses_of(0.25, 100, 400, "single-set").of(30, 60)
    assert (w_positive, w) == pytest.approx((0.3 * 200 / 500, 90 / 500))


def test_negatives_have_the_same_part_of_the_unlabelled_mass_in_both_scenarios():
    sums = np.array([30.0, 0.0, 100.0, 5.0]), np.array([60.0, 70.0, 400.0, 3.0])
    (one, all_one), (two, all_two) = (
        masses_of(0.25, 100, 400, name).of(*sums) for name in ("case-control", "single-set")
    )
    np.testing.assert_allclose(all_two - two, 0.8 * (all_one - one))


def test_masses_of_the_root_are_the_prior_and_one():
    pu = problem(0.3, scenario="single-set")
    model = forest(prior=pu.prior, scenario="single-set", n_estimators=3).fit(pu.X, pu.y)
    assert model.population_prior_ == pytest.approx(pu.population_prior)
    roots = model.forest_.value[model.forest_.start]
    np.testing.assert_allclose(roots, pu.population_prior)


def test_single_set_asks_for_more_positives():
    pu = problem(0.3, scenario="single-set")
    model = forest(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    other = forest(prior=pu.prior).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    limits = {"prior": pu.prior, "max_depth": 3}
    low, high = (
        forest(scenario=name, **limits).fit(pu.X, pu.y).predict_proba(pu.X_test)[:, 1].mean()
        for name in ("case-control", "single-set")
    )
    assert high > low + 0.03
    assert other.population_prior_ == pytest.approx(pu.prior)


def test_a_larger_prior_gives_larger_probabilities():
    pu = problem()
    low, high = (forest(prior=p, threshold="prior").fit(pu.X, pu.y) for p in (0.2, 0.8))
    assert low.probability_.mean() < high.probability_.mean() - 0.1


def test_estimates_the_prior():
    pu = problem(0.4)
    model = forest(prior="auto").fit(pu.X, pu.y)
    assert model.prior_ == pytest.approx(0.4, abs=0.1)
    again = forest(prior="auto").fit(pu.X, pu.y)
    assert again.prior_ == model.prior_


# Weights.


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_a_weight_of_two_is_a_row_given_twice(scenario):
    pu = problem()
    times = np.random.default_rng(0).integers(0, 4, len(pu.y))
    given = {"scenario": scenario, "n_estimators": 10}
    weighted = forest(**given).fit(pu.X, pu.y, times)
    repeated = forest(**given).fit(np.repeat(pu.X, times, axis=0), np.repeat(pu.y, times))
    np.testing.assert_array_equal(weighted.forest_.threshold, repeated.forest_.threshold)
    one, two = (model.predict_proba(pu.X_test) for model in (weighted, repeated))
    np.testing.assert_allclose(one, two)
    assert weighted.population_prior_ == pytest.approx(repeated.population_prior_)


def test_only_ratios_of_weights_count():
    pu = problem()
    weight = np.random.default_rng(0).uniform(1, 2, len(pu.y))
    plain, small, large = (
        forest(n_estimators=5).fit(pu.X, pu.y, weight * scale).predict_proba(pu.X_test)
        for scale in (1, 2.0**-900, 2.0**900)
    )
    np.testing.assert_array_equal(plain, small)
    np.testing.assert_array_equal(plain, large)


@pytest.mark.parametrize(("kind", "name"), [(1, "labelled positives"), (0, "unlabelled rows")])
def test_one_kind_without_weight_is_refused(kind, name):
    pu = problem()
    with pytest.raises(ValueError, match=f"sample_weight is zero for all {name}"):
        forest().fit(pu.X, pu.y, pu.y != kind)


# Answers on the training rows.


def test_training_rows_are_answered_by_trees_that_have_not_seen_them():
    pu = problem(0.2)
    model = forest(prior=0.2).fit(pu.X, pu.y)
    unlabeled, negative = pu.y == 0, pu.y_true == 0
    found = model.predict_proba(pu.X)[:, 1]
    new = model.predict_proba(pu.X_test)[:, 1]
    # The forest itself isolates them, and says negative more surely than of any other row.
    assert found[unlabeled].mean() < new.mean() - 0.05
    assert model.probability_[unlabeled].mean() == pytest.approx(new.mean(), abs=0.03)
    other = new[pu.y_test == 0].mean()
    assert model.probability_[negative].mean() == pytest.approx(other, abs=0.03)


def test_rows_without_weight_and_rows_held_out_are_answered_by_the_forest():
    pu = problem()
    weight = np.arange(len(pu.y)) % 3 > 0
    model = forest().fit(pu.X, pu.y, weight)
    answer = model.predict_proba(pu.X)[:, 1]
    np.testing.assert_array_equal(model.probability_[~weight], answer[~weight])
    assert np.mean(model.probability_[weight] == answer[weight]) < 0.5
    model = forest(validation_fraction=0.2).fit(pu.X, pu.y)
    same = model.probability_ == model.predict_proba(pu.X)[:, 1]
    assert same.sum() >= int(0.2 * 150) + int(0.2 * 400)


def test_one_labelled_positive():
    # Nothing can be answered out of fold. Three unlabelled rows lie beside it.
    X = np.r_[np.full((4, 2), 5.0), np.random.default_rng(0).normal(size=(28, 2))]
    model = forest(prior=0.1, n_estimators=10).fit(X, np.arange(32) == 0)
    assert model.suspects(3)[0].tolist() == [1, 2, 3]
    np.testing.assert_array_equal(model.probability_, model.predict_proba(X)[:, 1])
    with pytest.raises(ValueError, match="at least 2 labelled positives and 2 unlabelled rows"):
        forest(prior="auto").fit(X, np.arange(32) == 0)


def test_suspects_are_hidden_positives():
    pu = problem(0.3)
    rows, probability = forest(prior=0.3).fit(pu.X, pu.y).suspects(40)
    assert not pu.y[rows].any()
    assert pu.y_true[rows].mean() > 0.9
    assert np.all(np.diff(probability) <= 0)


def test_the_threshold_of_the_prior():
    pu = problem(0.2)
    model = forest(prior=0.2, threshold="prior").fit(pu.X, pu.y)
    assert model.threshold_ != 0.5
    assert np.mean(model.predict(pu.X_test)) == pytest.approx(0.2, abs=0.05)


def test_a_tie_is_positive_by_predict_and_by_the_larger_probability():
    pu = problem()
    model = forest(n_estimators=2).fit(pu.X, pu.y)
    probability = model.predict_proba(pu.X_test)
    ties = np.abs(probability[:, 1] - 0.5) < 1e-12
    assert ties.any()
    assert model.predict(pu.X_test)[ties].all()
    assert np.argmax(probability[ties], axis=1).all()


# Parameters.


def test_number_of_trees():
    pu = problem()
    assert len(forest(n_estimators=7).fit(pu.X, pu.y).forest_.start) == 7


def test_max_depth():
    pu = problem()
    shallow = forest(max_depth=2).fit(pu.X, pu.y).forest_
    assert depths(shallow).max() == 2
    assert depths(forest().fit(pu.X, pu.y).forest_).max() > 5


@pytest.mark.parametrize("least", [1, 12])
def test_min_samples_leaf(least):
    pu = problem()
    trees = forest(min_samples_leaf=least, n_estimators=1).fit(pu.X, pu.y).forest_
    node = np.zeros(len(pu.X), dtype=int)
    while (inside := trees.feature[node] >= 0).any():
        at = node[inside]
        right = pu.X[inside, trees.feature[at]] > trees.threshold[at]
        node[inside] = trees.left[at] + right
    assert least <= np.unique(node, return_counts=True)[1].min() < 2 * least
    np.testing.assert_array_equal(np.unique(node), np.flatnonzero(trees.feature < 0))


def test_max_features():
    """One column tells the classes apart, and 15 are noise."""
    rng = np.random.default_rng(0)
    truth = np.arange(2000) % 2
    X = rng.normal(size=(2000, 16))
    X[:, 5] += 6 * truth
    pu = make_pu(X, truth, n_positive=100, n_unlabeled=200, prior=0.5, random_state=0)
    share = {}
    for given in (1, 4, "sqrt", 16, 99, None):
        trees = forest(max_features=given, max_depth=1, n_estimators=100).fit(pu.X, pu.y).forest_
        share[given] = float(np.mean(trees.feature[trees.start] == 5))
    assert share[1] < 0.15 < share["sqrt"] == share[4] < share[16]
    assert share[16] == share[99] == share[None] > 0.5


def test_importances_name_the_columns_that_matter():
    rng = np.random.default_rng(0)
    truth = np.arange(2000) % 2
    X = rng.normal(size=(2000, 6))
    X[:, [1, 4]] += 2 * truth[:, None]
    pu = make_pu(X, truth, n_positive=100, n_unlabeled=200, prior=0.5, random_state=0)
    importances = forest().fit(pu.X, pu.y).feature_importances_
    assert set(np.argsort(importances)[-2:]) == {1, 4}
    assert importances.sum() == pytest.approx(1)
    assert importances[[1, 4]].sum() > 0.5


# What all methods have in common.


def test_any_labels_and_tables():
    pu = problem()
    plain = forest().fit(pu.X, pu.y)
    frame = pd.DataFrame(pu.X, columns=list("abcd"))
    words = np.where(pu.y == 1, "case", "unknown")
    model = forest(pos_label="case").fit(frame, words)
    np.testing.assert_array_equal(model.probability_, plain.probability_)
    assert model.classes_.tolist() == ["case", "unknown"]
    answer = model.predict(pd.DataFrame(pu.X_test, columns=list("abcd")))
    np.testing.assert_array_equal(answer == "case", plain.predict(pu.X_test) == 1)


def test_is_reproducible_and_other_seeds_differ():
    pu = problem()
    one, two, other = (forest(random_state=seed).fit(pu.X, pu.y).probability_ for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_scales_of_columns_do_not_matter():
    pu = problem()
    scale = 2.0 ** np.array([-20, 0, 3, 40])
    plain = forest().fit(pu.X, pu.y).predict(pu.X_test)
    np.testing.assert_array_equal(
        forest().fit(pu.X * scale, pu.y).predict(pu.X_test * scale), plain
    )


def test_scores_on_an_eval_set_and_on_rows_held_out():
    pu = problem()
    model = forest().fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
    assert model.selection_ == "oracle"
    assert model.member_scores_[0] == pytest.approx(model.score(pu.X_test, pu.y_test))
    model = forest(validation_fraction=0.3).fit(pu.X, pu.y)
    assert model.selection_ == "pu"
    assert model.member_scores_[0] == pytest.approx(0.93, abs=0.1)
    model = forest().fit(pu.X, pu.y)
    assert model.selection_ == "none"
    assert np.isnan(model.member_scores_[0])
    with pytest.raises(ValueError, match="eval_set must be a pair"):
        forest().fit(pu.X, pu.y, eval_set=pu.X_test)


def test_warns_of_a_collapse():
    pu = problem()
    with pytest.warns(CollapseWarning, match=r"only .* but the ranking is sound") as caught:
        forest(prior=0.05, max_depth=1).fit(pu.X, pu.y)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"n_estimators": 0}, "n_estimators must be a whole number at least 1"),
        ({"max_depth": 0}, "max_depth must be a whole number at least 1 or None"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf must be a whole number"),
        ({"max_features": "log2"}, "max_features must be 'sqrt', a number or None; it is 'log2'"),
        ({"max_features": 0}, "max_features must be a whole number at least 1 or None"),
        ({"max_features": 0.5}, "max_features must be a whole number"),
        ({"prior": 1.0}, "prior must be a number between 0 and 1"),
        ({"scenario": "both"}, "scenario must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        forest(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


# The checks train on noise, and give string labels without pos_label. Weights of rows that are
# given once or twice are no exception here, unless the prior has to be estimated out of fold.
@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@parametrize_with_checks([forest(n_estimators=4)])
def test_sklearn_check(estimator, check):
    check(estimator)


def test_compiled_trees_score_as_the_arrays_do():
    pu = problem()
    model = PUExtraTreesClassifier(n_estimators=20, prior=0.5, random_state=0).fit(pu.X, pu.y)
    np.testing.assert_allclose(model.score_fast(pu.X), model.forest_.answer(pu.X), atol=1e-12)
