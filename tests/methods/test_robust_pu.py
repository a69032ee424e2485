"""Robust-PU: what it learns, what it reports, and what it refuses."""

import math

import numpy as np
import pytest
import torch
from gaussians import problem
from sklearn.base import clone
from sklearn.model_selection import ParameterSampler

from robustpu import Curriculum, NNPUClassifier, Pacing, PNClassifier, RobustPUClassifier
from robustpu import hardness as hardnesses
from robustpu import pacing as pacings
from robustpu import weighting as weightings
from robustpu.methods import robust_pu
from robustpu.methods.paper import PAPER_GRID
from robustpu.risks import logistic

# What the paper tunes over.
BETA, T_GROW = {1, 2, 5}, {10, 15, 20}
CHOICES = {
    "lr": {1e-2, 1e-3, 1e-4},
    "weight_decay": {0, 1e-4, 1e-2},
    "warmup_epochs": {0, 5, 10},
    "epochs": {10, 20, 50},
    "curriculum__pacing_positive__beta": BETA,
    "curriculum__pacing_unlabeled__beta": BETA,
    "curriculum__pacing_positive__t_grow": T_GROW,
    "curriculum__pacing_unlabeled__t_grow": T_GROW,
}
INTERVALS = {
    "curriculum__temperature_positive": (0.2, 3.0),
    "curriculum__temperature_unlabeled": (0.2, 3.0),
    "curriculum__pacing_positive__lambda0": (0.1, 0.9),
    "curriculum__pacing_unlabeled__lambda0": (0.1, 0.9),
}

ROUNDS = set(Curriculum().get_params(deep=False))
PACING_POSITIVE = Pacing("linear", lambda0=0.5, beta=1.0, t_grow=4)
PACING_UNLABELED = Pacing("convex", lambda0=0.4, beta=0.8, t_grow=4)


def before(**changes):
    given = {"surrogate": "logistic", "epochs": 15, "lr": 3e-3, "weight_decay": 0.0}
    return NNPUClassifier(**{**given, **changes})


def curriculum(**changes):
    given = {
        "temperature_unlabeled": 1.0,
        "pacing_positive": PACING_POSITIVE,
        "pacing_unlabeled": PACING_UNLABELED,
        "max_rounds": 6,
    }
    return Curriculum(**{**given, **changes})


def robust(**changes):
    """Two networks; what belongs to the curriculum goes there."""
    rounds = {name: changes.pop(name) for name in ROUNDS & set(changes)}
    given = {
        "prior": 0.5,
        "epochs": 3,
        "lr": 3e-3,
        "patience": None,
        "n_members": 2,
        "validation_fraction": 0.2,
        "pretrain": before(),
        "curriculum": curriculum(**rounds),
        "random_state": 0,
    }
    return RobustPUClassifier(**{**given, **changes})


@pytest.fixture(scope="module")
def pu():
    return problem()


@pytest.fixture(scope="module")
def model(pu):
    return robust().fit(pu.X, pu.y)


@pytest.fixture(scope="module")
def small():
    pu = problem(n_positive=40, n_unlabeled=60)
    return pu.X, pu.y


class TestLearning:
    def test_is_nearly_as_good_as_can_be(self, pu, model):
        assert model.score(pu.X_test, pu.y_test) > 0.92

    @pytest.mark.parametrize("prior", [0.2, 0.7])
    def test_at_other_priors(self, prior):
        pu = problem(prior)
        assert robust(prior=prior).fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.9

    def test_with_an_estimated_prior(self):
        pu = problem(0.5, distance=2)
        model = robust(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.5, abs=0.1)
        assert model.prior_interval().is_known
        assert model.score(pu.X_test, pu.y_test) > 0.9

    def test_suspects_are_hidden_positives(self, pu, model):
        rows, _ = model.suspects(100)
        assert pu.y_true[rows].mean() > 0.97

    def test_single_set(self):
        pu = problem(0.3, scenario="single-set")
        model = robust(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.9


class TestWeights:
    def test_hidden_positives_are_down_weighted(self, pu, model):
        hidden = (pu.y == 0) & (pu.y_true == 1)
        negative = (pu.y == 0) & (pu.y_true == 0)
        assert model.weight_[hidden].mean() < 0.4 * model.weight_[negative].mean()
        assert model.hardness_[hidden].mean() > 3 * model.hardness_[negative].mean()

    def test_shapes_and_ranges(self, pu, model):
        assert model.weight_.shape == model.hardness_.shape == pu.y.shape
        assert model.weight_.min() >= 0
        assert model.weight_.max() <= 1
        assert model.hardness_.min() >= 0

    def test_are_those_of_the_selected_round(self, pu):
        model = robust(n_members=1, validation_fraction=0, max_rounds=3).fit(pu.X, pu.y)
        # Without held-out rows that is the last one, t = 2 counted from 0.
        margin = np.where(pu.y == 1, 1, -1) * model.decision_function(pu.X)
        hardness = np.log1p(np.exp(-margin))
        np.testing.assert_allclose(model.hardness_, hardness, atol=1e-4)
        threshold = np.where(pu.y == 1, PACING_POSITIVE(2), PACING_UNLABELED(2))
        np.testing.assert_allclose(model.weight_, np.exp(-hardness / threshold**2), atol=1e-4)

    def test_path(self, pu, model):
        path = model.weight_path_
        assert path.shape == (6, len(pu.y))
        known = ~np.isnan(path)
        # A row is unknown where both members hold it out, and they hold out different rows.
        assert known.all()
        assert path.min() >= 0
        assert path.max() <= 1
        # The threshold grows, and with it the weight of what is easy.
        negative = (pu.y == 0) & (pu.y_true == 0)
        assert path[-1, negative].mean() > path[0, negative].mean()

    def test_path_of_one_member_leaves_out_what_it_held_out(self, small):
        X, y = small
        model = robust(n_members=1, max_rounds=2, validation_fraction=0.25)
        path = model.fit(X, y).weight_path_
        assert (np.isnan(path).all(0) == np.isnan(path).any(0)).all()
        assert np.isnan(path[0]).sum() == 25
        assert np.isnan(path[0])[y == 1].sum() == 10

    def test_no_path_of_many_rows(self, small, monkeypatch):
        monkeypatch.setattr(robust_pu, "MOST_RECORDED", 80)
        assert robust(max_rounds=1).fit(*small).weight_path_.shape == (1, 100)
        monkeypatch.setattr(robust_pu, "MOST_RECORDED", 79)
        assert robust(max_rounds=1).fit(*small).weight_path_ is None


class TestHistory:
    def test_keys(self, model):
        documented = {"member", "round", "score", "positive_rate"}
        documented |= {
            f"{what}_{side}"
            for what in ("threshold", "mass", "effective")
            for side in ("positive", "unlabeled")
        }
        for entry in model.history_:
            expected = documented if entry["round"] else {"member", "round", "score"}
            assert set(entry) == expected
            assert all(math.isfinite(value) for value in entry.values())

    def test_one_entry_a_member_and_round(self, model):
        seen = [(entry["member"], entry["round"]) for entry in model.history_]
        assert seen == [(member, t) for member in range(2) for t in range(7)]

    def test_thresholds_follow_the_pacing(self, model):
        for entry in model.history_:
            if entry["round"]:
                t = int(entry["round"]) - 1
                assert entry["threshold_positive"] == pytest.approx(PACING_POSITIVE(t))
                assert entry["threshold_unlabeled"] == pytest.approx(PACING_UNLABELED(t))
        assert model.history_[1]["threshold_positive"] == pytest.approx(0.5)

    @pytest.mark.parametrize("balance", [True, False])
    def test_mass_and_effective_number(self, pu, balance):
        model = robust(balance=balance, prior=0.3, max_rounds=3, threshold="prior")
        # 0.2 of 150 and of 400 rows are held out.
        rows = {"positive": 120, "unlabeled": 320}
        for entry in model.fit(pu.X, pu.y).history_:
            if not entry["round"]:
                continue
            mass = {side: entry[f"mass_{side}"] for side in rows}
            for side, n in rows.items():
                assert 1 <= entry[f"effective_{side}"] <= n * 1.0001
                assert mass[side] > 0
                assert mass[side] <= n

    def test_rates_and_scores(self, model):
        for entry in model.history_:
            assert 0 <= entry.get("positive_rate", 0) <= 1
            assert entry["score"] <= 1.5

    def test_no_scores_without_held_out_rows(self, small):
        model = robust(validation_fraction=0, max_rounds=2).fit(*small)
        assert all("score" not in entry for entry in model.history_)
        assert max(entry["round"] for entry in model.history_) == 2

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    @pytest.mark.parametrize("balance", [True, False])
    def test_a_round_in_which_no_positive_counts(self, small, balance):
        X, y = small
        model = robust(
            weighting="hard",
            pacing_positive=Pacing("const", lambda0=1e-9),
            balance=balance,
            validation_fraction=0,
            threshold="prior",
            max_rounds=2,
        ).fit(X, y)
        assert np.isfinite(model.predict_proba(X)).all()
        assert all(math.isfinite(value) for entry in model.history_ for value in entry.values())


class TestStopping:
    def test_no_patience(self, small):
        model = robust(lr=1e-12, patience=None, max_rounds=9).fit(*small)
        assert max(entry["round"] for entry in model.history_) == 9

    def test_max_rounds(self, small):
        model = robust(max_rounds=1).fit(*small)
        assert {entry["round"] for entry in model.history_} == {0, 1}

    def test_rounds_beyond_the_best_are_undone(self, small):
        X, y = small
        stopped = robust(lr=1e-12, patience=1, max_rounds=9).fit(X, y)
        longer = robust(lr=1e-12, patience=5, max_rounds=9).fit(X, y)
        np.testing.assert_array_equal(stopped.probability_, longer.probability_)


class TestPretrain:
    def test_by_name(self, pu):
        model = robust(pretrain="nnpu", max_rounds=1, n_members=1, threshold="prior")
        assert model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.88

    def test_pre_training_alone_is_nnpu(self, small):
        """Rounds that change nothing leave what NNPUClassifier learns by itself."""
        X, y = small
        given = before(prior=0.5, lr=1e-2, validation_fraction=0.2, random_state=0)
        alone = clone(given).fit(X, y)
        after = robust(pretrain=given, n_members=1, lr=1e-12, max_rounds=1).fit(X, y)
        np.testing.assert_allclose(after.probability_, alone.probability_, atol=1e-6)
        assert not hasattr(given, "classes_")

    def test_none(self, pu):
        model = robust(pretrain=None, max_rounds=15, lr=1e-2).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.8

    def test_another_method(self, pu):
        model = robust(pretrain=PNClassifier(epochs=5), threshold="prior").fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.85

    def test_robust_pu_itself(self, small):
        model = robust(pretrain=robust(max_rounds=1), max_rounds=1).fit(*small)
        assert np.isfinite(model.probability_).all()

    def test_its_prior_seed_and_members_are_not_used(self, small):
        X, y = small
        plain = robust(max_rounds=1, pretrain=before(epochs=4)).fit(X, y)
        changed = before(epochs=4, prior=0.9, random_state=5, n_members=3, threshold=0.9)
        other = robust(max_rounds=1, pretrain=changed).fit(X, y)
        np.testing.assert_array_equal(plain.probability_, other.probability_)

    @pytest.mark.parametrize("pretrain", ["pn", 3, NNPUClassifier, Pacing(), True])
    def test_what_cannot_pre_train(self, small, pretrain):
        with pytest.raises(ValueError, match="pretrain must be 'nnpu', None, or an estimator"):
            robust(pretrain=pretrain).fit(*small)

    def test_its_parameters_are_checked(self, small):
        with pytest.raises(ValueError, match="lr must be a number above 0"):
            robust(pretrain=before(lr=-1)).fit(*small)


def half_square(logit, is_positive, temperature):
    return 0.5 * torch.sigmoid(torch.where(is_positive, -logit, logit) / temperature) ** 2


def reciprocal(hardness, threshold):
    return threshold / (threshold + hardness)


def steps(t, lambda0, beta, t_grow, gamma):
    return lambda0 if t < t_grow else beta


class TestParts:
    @pytest.mark.parametrize("name", sorted(hardnesses.HARDNESS))
    def test_hardness(self, pu, name):
        model = robust(hardness=name, threshold="prior", max_rounds=2).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.85

    @pytest.mark.parametrize("name", sorted(weightings.WEIGHTING))
    def test_weighting(self, pu, name):
        # The domain of l1l2 begins where that of logarithmic ends.
        ends = {"lambda0": 5.0, "beta": 2.0} if name == "l1l2" else {"lambda0": 0.4, "beta": 0.6}
        low = Pacing("linear", t_grow=4, **ends)
        model = robust(
            weighting=name,
            threshold="prior",
            max_rounds=2,
            pacing_unlabeled=low,
            pacing_positive=low,
        ).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.85

    def test_a_function_is_as_its_name(self, small):
        X, y = small
        named = robust(max_rounds=2).fit(X, y)
        given = robust(
            max_rounds=2,
            hardness=hardnesses.logistic,
            weighting=weightings.welsch,
            pacing_unlabeled=clone(PACING_UNLABELED).set_params(shape=pacings.convex),
            pretrain=before(surrogate=logistic),
        ).fit(X, y)
        np.testing.assert_array_equal(given.probability_, named.probability_)
        np.testing.assert_array_equal(given.weight_, named.weight_)

    def test_functions_of_the_user(self, pu):
        model = robust(
            hardness=half_square,
            weighting=reciprocal,
            pacing_positive=Pacing(steps, lambda0=0.2, beta=0.5, t_grow=2),
            pacing_unlabeled=Pacing(steps, lambda0=0.1, beta=0.4, t_grow=3),
            threshold="prior",
        ).fit(pu.X, pu.y)
        assert model.score(pu.X_test, pu.y_test) > 0.85
        assert model.hardness_.max() <= 0.5
        thresholds = [e["threshold_unlabeled"] for e in model.history_[1:7]]
        assert thresholds == pytest.approx([0.1, 0.1, 0.1, 0.4, 0.4, 0.4])

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"hardness": "logitsic"}, "did you mean 'logistic'"),
            ({"max_rounds": 0}, "max_rounds must be a whole number"),
            ({"curriculum": Pacing()}, "curriculum must be a robustpu.Curriculum or None"),
            ({"curriculum": "paper"}, "curriculum must be a robustpu.Curriculum or None"),
            ({"patience": 0}, "patience must be a whole number"),
        ],
    )
    def test_what_is_refused(self, small, changes, match):
        with pytest.raises(ValueError, match=match):
            robust(**changes).fit(*small)

    def test_thresholds_that_the_weighting_cannot_take_are_refused_at_once(self):
        """Nothing is looked at before: the rows are no rows."""
        late = Pacing("linear", lambda0=0.1, beta=1.0, t_grow=5)
        model = robust(weighting="logarithmic", pacing_unlabeled=late, pacing_positive=late)
        with pytest.raises(ValueError, match=r"threshold must lie in \(0, 1\) for logarithmic"):
            model.fit("no rows", "no labels")

    def test_temperature_flattens_the_hardness(self, small):
        X, y = small
        one = robust(lr=1e-12, max_rounds=1).fit(X, y)
        hot = robust(lr=1e-12, max_rounds=1, temperature_unlabeled=10.0).fit(X, y)
        np.testing.assert_array_equal(one.probability_, hot.probability_)
        assert np.ptp(hot.hardness_[y == 0]) < 0.2 * np.ptp(one.hardness_[y == 0])
        np.testing.assert_array_equal(one.hardness_[y == 1], hot.hardness_[y == 1])


class TestDefaults:
    """The paper's Algorithm 1, in its settings."""

    def test_one_network_and_no_calibration(self):
        model = RobustPUClassifier()
        assert (model.n_members, model.calibrate, model.threshold) == (1, False, 0.5)
        assert (model.epochs, model.batch_size, model.patience) == (20, 64, 5)

    def test_pre_training(self):
        first = RobustPUClassifier().pretraining
        assert isinstance(first, NNPUClassifier)
        assert (first.epochs, first.batch_size, first.surrogate) == (100, 64, "sigmoid")
        assert RobustPUClassifier(pretrain=None).pretraining is None

    def test_fits(self, small):
        X, y = small
        model = RobustPUClassifier(prior=0.5, epochs=2, threshold="prior", random_state=0)
        model.set_params(curriculum=Curriculum(max_rounds=2))
        assert model.fit(X, y).score(X, X.sum(1) > 0) > 0.8

    def test_spelled_out(self, small):
        """A copy in which every part is an object of its own, and that fits as the original."""
        given = RobustPUClassifier(prior=0.5, epochs=1, patience=1, random_state=0)
        one, two = given.spelled_out(), given.spelled_out()
        assert given.get_params(deep=False) == given.get_params(deep=True)
        one.set_params(pretrain__epochs=3, curriculum__pacing_positive__t_grow=7)
        assert two.pretrain.epochs == RobustPUClassifier().pretraining.epochs == 100
        assert two.curriculum.pacing_positive.t_grow == 10
        found = [model.fit(*small).probability_ for model in (given, two)]
        np.testing.assert_array_equal(*found)

    def test_spelled_out_keeps_what_was_given(self):
        given = robust(pretrain=None, max_rounds=9)
        copy = given.spelled_out()
        assert (copy.pretrain, copy.curriculum.max_rounds) == (None, 9)
        assert copy.curriculum is not given.curriculum

    def test_a_subclass_gives_itself(self):
        class Changed(RobustPUClassifier):
            pass

        assert type(Changed().spelled_out()) is Changed

    @pytest.mark.parametrize("name", ["n_members", "batch_size", "epochs"])
    def test_sizes_are_numbers(self, small, name):
        with pytest.raises(ValueError, match=f"{name} must be a whole number"):
            robust(**{name: None}).fit(*small)


class TestGrid:
    """Section 4.1, "Hyperparameter Setting" in the paper's experiments."""

    @pytest.mark.parametrize(("name", "values"), CHOICES.items())
    def test_choices(self, name, values):
        assert set(PAPER_GRID[name]) == values
        assert RobustPUClassifier().spelled_out().get_params()[name] in values

    @pytest.mark.parametrize(("name", "ends"), INTERVALS.items())
    def test_intervals(self, name, ends):
        low, high = PAPER_GRID[name].support()
        assert (low, high) == pytest.approx(ends)
        assert low <= RobustPUClassifier().spelled_out().get_params()[name] <= high

    def test_is_complete(self):
        assert set(PAPER_GRID) == set(CHOICES) | set(INTERVALS)

    def test_is_usable_in_a_search(self, small):
        model = robust(n_members=1, max_rounds=1, pretrain=before(epochs=3), threshold="prior")
        for given in ParameterSampler(PAPER_GRID, 3, random_state=0):
            model.set_params(**{**given, "epochs": 1}).fit(*small)
            lowest = given["curriculum__pacing_unlabeled__lambda0"]
            assert model.history_[1]["threshold_unlabeled"] == pytest.approx(lowest)
