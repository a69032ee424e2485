"""Priors from out-of-fold scores, by networks that are trained together."""

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from robustpu import ElkanNotoClassifier, NNPUClassifier, PUExtraTreesClassifier
from robustpu.cautious import share_posterior
from robustpu.priors import PRIORS, Sample, estimate, from_scores
from robustpu.priors import crossfit as room
from robustpu.priors.crossfit import FOLDS, REPEATS, folds_of
from robustpu.priors.estimates import combined, votes


def gaussians(prior, n_positive=300, n_unlabeled=600, seed=0, d=3, gap=1.5, module="mlp"):
    rng = np.random.default_rng(seed)
    above = n_positive + round(prior * n_unlabeled)
    n = n_positive + n_unlabeled
    x = rng.normal(np.where(np.arange(n) < above, gap, -gap)[:, None], 1.0, (n, d))
    is_positive = np.arange(n) < n_positive
    order = rng.permutation(n)
    x = torch.tensor(x[order] / x.std(0), dtype=torch.float32)
    return Sample(x, is_positive[order], module, seed)


@pytest.fixture
def small_forests(monkeypatch):
    """For what holds whatever the number of trees."""
    monkeypatch.setattr(room, "TREES", 4)


@pytest.fixture
def _few_trees(monkeypatch):
    """Small forests, where estimates are compared with each other and not with the truth."""
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)


class TestEstimate:
    @pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
    def test_easy_gaussians(self, prior):
        samples = [gaussians(prior, seed=seed) for seed in range(3)]
        np.testing.assert_allclose(estimate(samples), prior, atol=0.1)

    @pytest.mark.parametrize("prior", [0.2, 0.5])
    def test_small_tables(self, prior):
        samples = [gaussians(prior, 30, 90, seed=seed) for seed in range(3)]
        for sample, score in zip(samples, room.out_of_fold(samples), strict=True):
            parts = score[sample.is_positive], score[~sample.is_positive]
            assert np.median(votes(*parts)) == pytest.approx(prior, abs=0.15)
            # So few rows may not tell the share; the answer is then below it.
            found = from_scores(*parts)
            low, high = share_posterior(*parts).interval(0.9)
            assert low < found < prior + 0.15
            assert low < prior < high

    @pytest.mark.parametrize("prior", [0.2, 0.5])
    def test_a_linear_model(self, prior):
        """The problem is linear, so a linear network has to do as well."""
        samples = [gaussians(prior, seed=seed, module="linear") for seed in range(3)]
        np.testing.assert_allclose(estimate(samples), prior, atol=0.1)

    def test_positives_that_do_not_stand_out_may_be_many(self):
        """A network that had seen the rows which it scores would find that they do."""
        rng = np.random.default_rng(0)
        x = torch.tensor(rng.normal(size=(120, 40)), dtype=torch.float32)
        is_positive = np.arange(120) < 40
        (score,) = room.out_of_fold([Sample(x, is_positive, "mlp", 0)])
        parts = score[is_positive], score[~is_positive]
        assert np.median(votes(*parts)) > 0.4
        found = share_posterior(*parts)
        assert not found.is_known
        assert found.quantile(0.95) > 0.4
        assert from_scores(*parts) == found.quantile(0.5) < 0.4

    @pytest.mark.usefixtures("small_forests")
    @pytest.mark.usefixtures("_few_trees")
    def test_no_row_is_scored_by_a_network_that_saw_it(self, monkeypatch):
        fleets = []

        class Recorded(room.Fleet):
            def __init__(self, pool, members, *rest):
                super().__init__(pool, members, *rest)
                self.members, self.scored = members, None
                fleets.append(self)

            def logits(self, index=None):
                self.scored = index
                return super().logits(index)

        monkeypatch.setattr(room, "Fleet", Recorded)
        # 33 and 71 rows: the five folds differ in size.
        samples = [gaussians(0.5, 33, 71, seed=seed) for seed in (0, 1)]
        estimate(samples)
        (fleet,) = fleets
        assert len(fleet.members) == 2 * REPEATS * FOLDS
        for split, (place, repeat) in enumerate(product((0, 1), range(REPEATS))):
            fold, offset = folds_of(samples[place], repeat), place * 104
            seen = np.zeros(104, dtype=int)
            for held_out in range(FOLDS):
                number = split * FOLDS + held_out
                training = fleet.members[number].training.index.numpy() - offset
                rows = np.flatnonzero(fold == held_out)
                scored = fleet.scored[number, : len(rows)].numpy() - offset
                np.testing.assert_array_equal(scored, rows)
                assert not set(training) & set(rows)
                assert training.min() >= 0
                assert training.max() < 104
                # Of what is left at most a row or two is dropped, for equal sizes.
                assert len(training) >= 104 - len(rows) - 2
                seen[rows] += 1
            assert (seen == 1).all()

    @pytest.mark.usefixtures("_few_trees")
    @pytest.mark.parametrize(("n_positive", "n_unlabeled"), [(2, 2), (2, 50), (3, 4), (50, 2)])
    @pytest.mark.usefixtures("small_forests")
    def test_folds_hold_some_of_each(self, n_positive, n_unlabeled):
        sample = gaussians(0.5, n_positive, n_unlabeled)
        fold = folds_of(sample, 0)
        assert set(fold) == set(range(min(5, n_positive, n_unlabeled)))
        for held_out in set(fold):
            assert sample.is_positive[fold == held_out].any()
            assert not sample.is_positive[fold == held_out].all()
        (found,) = estimate([sample])
        assert 0 < found < 1

    @pytest.mark.parametrize(("n_positive", "n_unlabeled"), [(1, 50), (50, 1), (1, 1)])
    def test_too_few_rows(self, n_positive, n_unlabeled):
        x = torch.zeros(n_positive + n_unlabeled, 2)
        sample = Sample(x, np.arange(len(x)) < n_positive, "mlp", 0)
        there = f"there are {n_positive} and {n_unlabeled}"
        with pytest.raises(ValueError, match=f"{there}. Give prior= a number: the share"):
            estimate([gaussians(0.5, 20, 20), sample])

    @pytest.mark.usefixtures("small_forests")
    @pytest.mark.usefixtures("_few_trees")
    def test_at_once_is_as_one_by_one(self):
        samples = [
            gaussians(0.3, 40, 80, seed=0),
            gaussians(0.6, 40, 80, seed=1),
            gaussians(0.6, 25, 95, seed=2),
            gaussians(0.5, 40, 80, seed=3, module="linear"),
            gaussians(0.5, 40, 80, seed=4, d=5),
            gaussians(0.3, 40, 80, seed=5, module=lambda shape: nn.Linear(*shape, 1)),
        ]
        apart = [estimate([sample])[0] for sample in samples]
        assert estimate(samples) == pytest.approx(apart)
        assert estimate(samples[::-1]) == pytest.approx(apart[::-1])

    def test_of_none(self):
        assert estimate([]) == []

    @pytest.mark.usefixtures("small_forests")
    @pytest.mark.usefixtures("_few_trees")
    def test_same_seed_same_estimate(self):
        assert estimate([gaussians(0.4, 50, 80)]) == estimate([gaussians(0.4, 50, 80)])

    def test_is_in_the_open_interval(self):
        rng = np.random.default_rng(0)
        far = torch.tensor(rng.normal(0, 0.1, (60, 2)), dtype=torch.float32)
        is_positive = np.arange(60) < 20
        far[:20] += 5
        none = estimate([Sample(far, is_positive, "mlp", 0)])[0]
        every = estimate([Sample(torch.zeros(60, 2), is_positive, "mlp", 0, "best-bin")])[0]
        # The smallest bin that counts holds two rows.
        assert 1 / 41 <= none <= 2 / 40
        assert every == pytest.approx(40 / 41)

    def test_scores_that_are_all_equal_tell_nothing(self):
        (found,) = estimate([Sample(torch.zeros(60, 2), np.arange(60) < 20, "mlp", 0)])
        assert found == share_posterior(np.zeros(20), np.zeros(40)).quantile(0.5)
        assert 0.05 < found < 0.5


class TestMethods:
    def test_the_median_outvotes_a_gross_error(self, monkeypatch):
        module = "robustpu.priors.estimates."
        for name, answer in (("dedpul", 0.01), ("best_bin", 0.3), ("km1", 0.4)):
            monkeypatch.setattr(module + name, lambda *_, answer=answer, **__: answer)
        assert combined(np.arange(60, 100), np.arange(100)) == 0.3

    def test_without_a_known_share_there_is_no_vote(self, monkeypatch):
        """Estimates of three are too high where classes overlap."""
        monkeypatch.setattr("robustpu.priors.estimates.votes", None)
        rng = np.random.default_rng(0)
        positive = rng.normal(1, 1, 300)
        unlabeled = np.concatenate([rng.normal(1, 1, 150), rng.normal(0, 1, 1350)])
        assert combined(positive, unlabeled) == share_posterior(positive, unlabeled).quantile(0.5)
        assert combined(positive, unlabeled) == pytest.approx(0.1, abs=0.07)

    @pytest.mark.parametrize("method", PRIORS)
    def test_every_method_can_be_named(self, method):
        rng = np.random.default_rng(0)
        positive = rng.normal(4, 1, 300)
        unlabeled = np.concatenate([rng.normal(4, 1, 240), rng.normal(-4, 1, 360)])
        # Elkan-Noto needs calibrated scores; these are.
        scores = [np.log(1 / (0.4 + 0.6 * np.exp(-8 * x))) for x in (positive, unlabeled)]
        slack = 0.2 if method == "tice" else 0.1
        assert from_scores(*scores, method) == pytest.approx(0.4, abs=slack)

    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("kind", [NNPUClassifier, ElkanNotoClassifier, PUExtraTreesClassifier])
    @pytest.mark.parametrize("method", ["best-bin", "dedpul", lambda positive, unlabeled: 0.123])
    def test_every_estimator_takes_them(self, kind, method):
        sample = gaussians(0.4, 150, 300)
        model = kind(prior=method, random_state=0)
        given = {"epochs": 5, "threshold": "prior"} if kind is NNPUClassifier else {}
        model.set_params(**given).fit(sample.x.numpy(), sample.is_positive)
        expected = 0.123 if callable(method) else pytest.approx(0.4, abs=0.12)
        assert model.prior_ == expected

    def test_an_unknown_name_is_refused(self):
        with pytest.raises(ValueError, match="it is 'km3': did you mean 'km"):
            NNPUClassifier(prior="km3").fit(np.zeros((4, 1)), [0, 1, 0, 1])


@pytest.mark.parametrize("answer", [float("nan"), 30, -1.0, None, "much", np.zeros(3)])
def test_a_function_that_returns_no_share_is_refused(answer):
    with pytest.raises(ValueError, match="prior= is a function that returned"):
        from_scores(np.zeros(5), np.zeros(9), lambda positive, unlabeled: answer)
