"""Robust-PU: what it learns, what it reports, and what it refuses."""

import math

import numpy as np
import pytest
import torch
from gaussians import problem
from sklearn.base import clone

from robustpu import NNPUClassifier, Pacing, PNClassifier, RobustPUClassifier
from robustpu import hardness as hardnesses
from robustpu import pacing as pacings
from robustpu import weighting as weightings
from robustpu.methods import robust_pu
from robustpu.methods.balance import balanced
from robustpu.risks import logistic

PACING_POSITIVE = Pacing("linear", lambda0=0.5, beta=1.0, t_grow=4)
PACING_UNLABELED = Pacing("convex", lambda0=0.4, beta=0.8, t_grow=4)


def before(**changes):
    given = {"surrogate": "logistic", "epochs": 15, "lr": 3e-3, "weight_decay": 0.0}
    return NNPUClassifier(**{**given, **changes})


def robust(**changes):
    given = {
        "prior": 0.5,
        "epochs": 3,
        "lr": 3e-3,
        "batch_size": 64,
        "max_rounds": 6,
        "patience": None,
        "n_members": 2,
        "n_keep": None,
        "validation_fraction": 0.2,
        "threshold": 0.5,
        "pretrain": before(),
        "weight_decay": 0.0,
        "temperature_positive": 1.0,
        "temperature_unlabeled": 1.0,
        "pacing_positive": PACING_POSITIVE,
        "pacing_unlabeled": PACING_UNLABELED,
        "random_state": 0,
    }
    # The networks alone; test_beside has the rest.
    return RobustPUClassifier(**{"beside": None, **given, **changes})


@pytest.fixture(scope="module")
def pu():
    return problem()


@pytest.fixture(scope="module")
def model(pu):
    return robust(record_weights=True).fit(pu.X, pu.y)


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

    def test_with_an_estimated_prior(self, pu):
        model = robust(prior="auto").fit(pu.X, pu.y)
        assert model.prior_ == pytest.approx(0.5, abs=0.1)
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
        model = robust(n_members=1, record_weights=True, max_rounds=2, validation_fraction=0.25)
        path = model.fit(X, y).weight_path_
        assert (np.isnan(path).all(0) == np.isnan(path).any(0)).all()
        assert np.isnan(path[0]).sum() == 25
        assert np.isnan(path[0])[y == 1].sum() == 10

    def test_no_path_unless_asked(self, small):
        assert not hasattr(robust(max_rounds=1).fit(*small), "weight_path_")


class TestBalanced:
    def test_share_and_sum(self):
        rng = np.random.default_rng(0)
        weight = torch.tensor(rng.uniform(0, 1, (3, 50)))
        mask = torch.tensor(rng.uniform(size=(3, 50)) < 0.3)
        prior = torch.tensor([0.1, 0.5, 0.9], dtype=torch.float64)
        scaled = balanced(weight, mask, prior)
        share = torch.where(mask, scaled, 0.0).sum(1) / scaled.sum(1)
        torch.testing.assert_close(share, prior)
        torch.testing.assert_close(scaled.sum(1), weight.sum(1))

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("side", [True, False])
    def test_a_side_without_weight_stays_so(self, dtype, side):
        mask = torch.arange(100) < 50
        weight = torch.where(mask == side, 0.0, 1.0).to(dtype)
        scaled = balanced(weight, mask, torch.tensor(0.5, dtype=dtype))
        assert torch.isfinite(scaled).all()
        assert (scaled[mask == side] == 0).all()

    def test_no_weight_at_all(self):
        mask = torch.tensor([True, False])
        assert balanced(torch.zeros(2), mask, torch.tensor(0.5)).tolist() == [0, 0]

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
        assert seen == [(member, turn) for member in range(2) for turn in range(7)]

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
        own = {"n_members": 1, "lr": 1e-12, "max_rounds": 1, "calibrate": False}
        after = robust(pretrain=given, **own).fit(X, y)
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

    def test_robust_pu_with_parameters_left_open(self, small):
        inner = RobustPUClassifier(pretrain=before(epochs=2), epochs=1, max_rounds=1)
        model = robust(pretrain=inner, max_rounds=1).fit(*small)
        assert np.isfinite(model.probability_).all()

    def test_its_own_prior_seed_and_members_are_not_used(self, small):
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
            ({"weighting": "welch"}, "did you mean 'welsch'"),
            ({"weighting": None}, "weighting"),
            ({"pacing_unlabeled": Pacing("lienar")}, "did you mean 'linear'"),
            ({"pacing_unlabeled": Pacing(lambda0=0)}, "lambda0 must be a number above 0"),
            ({"pacing_positive": Pacing(beta=-1)}, "beta must be a number above 0"),
            ({"pacing_positive": Pacing(t_grow=0)}, "t_grow must be a whole number"),
            ({"pacing_positive": Pacing(gamma=1)}, "gamma must be a number above 0 and below 1"),
            ({"pacing_positive": Pacing(lambda0="low")}, "lambda0"),
            ({"pacing_positive": 0.5}, "pacing_positive"),
            ({"pacing_unlabeled": "linear"}, "pacing_unlabeled"),
            ({"temperature_positive": 0}, "temperature_positive must be a number above 0"),
            ({"temperature_unlabeled": -1}, "temperature_unlabeled must be a number above 0"),
            ({"max_rounds": 0}, "max_rounds must be a whole number"),
            ({"max_rounds": 2.5}, "max_rounds must be a whole number"),
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

    def test_thresholds_that_are_never_reached_are_not_refused(self, small):
        late = Pacing("linear", lambda0=0.1, beta=1.0, t_grow=5)
        model = robust(
            weighting="logarithmic",
            pacing_unlabeled=late,
            pacing_positive=late,
            max_rounds=3,
            threshold="prior",
        )
        assert np.isfinite(model.fit(*small).probability_).all()

    def test_temperature_flattens_the_hardness(self, small):
        X, y = small
        one = robust(lr=1e-12, max_rounds=1).fit(X, y)
        hot = robust(lr=1e-12, max_rounds=1, temperature_unlabeled=10.0).fit(X, y)
        np.testing.assert_array_equal(one.probability_, hot.probability_)
        assert np.ptp(hot.hardness_[y == 0]) < 0.2 * np.ptp(one.hardness_[y == 0])
        np.testing.assert_array_equal(one.hardness_[y == 1], hot.hardness_[y == 1])


class TestSizes:
    """How much is done by default, for few and for many rows."""

    @pytest.mark.parametrize(
        ("rows", "members", "batch"),
        [(100, 40, 64), (10_000, 40, 64), (20_000, 20, 256), (33_000, 12, 256), (10**7, 12, 256)],
    )
    def test_networks_and_batches(self, rows, members, batch):
        model = RobustPUClassifier()
        assert model._size(rows) == members
        for recipe in model._recipes(rows):
            assert recipe["batch_size"] == recipe["pretrain"].batch_size == batch

    @pytest.mark.parametrize(
        ("rows", "epochs", "before"),
        [(100, 10, 50), (10_000, 10, 50), (20_000, 5, 25), (50_000, 2, 20), (10**7, 2, 20)],
    )
    def test_epochs(self, rows, epochs, before):
        for recipe in RobustPUClassifier()._recipes(rows):
            assert recipe["epochs"] == epochs
            assert recipe["pretrain"].epochs == before

    def test_what_is_given_holds(self):
        model = RobustPUClassifier(n_members=3, batch_size=8, epochs=7)
        assert model._size(10**6) == 3
        assert all(not {"batch_size", "epochs"} & set(own) for own in model._recipes(10**6))
        own = NNPUClassifier(epochs=70)
        given = RobustPUClassifier(pretrain=own)._recipes(10**6)
        assert all("pretrain" not in recipe for recipe in given)
        assert RobustPUClassifier.from_preset("paper")._recipes(10**6) == ({},)

    def test_the_default_adapts_to_the_rows_it_is_given(self, monkeypatch):
        monkeypatch.setattr(robust_pu, "MANY", 40)
        pu = problem(n_positive=60, n_unlabeled=100)
        model = RobustPUClassifier(prior=0.5, max_rounds=1, epochs=1, random_state=0)
        model.fit(pu.X, pu.y)
        assert len(model.member_scores_) == 12
        trees, bags = model.beside_
        assert trees.max_samples == 40
        assert bags.max_samples == pytest.approx(40 / 60)

    @pytest.mark.parametrize("name", ["n_members", "batch_size", "epochs"])
    def test_other_methods_do_not_adapt(self, name):
        pu = problem()
        with pytest.raises(ValueError, match=f"{name} must be a whole number"):
            NNPUClassifier(**{name: None}).fit(pu.X, pu.y)
