"""The best-bin estimate of the class prior."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from robustpu.priors import Sample, best_bin, estimate
from robustpu.priors import crossfit as room


def literal(positive, unlabeled, delta=0.1, gamma=0.01):
    """argmin over t of q_U/q_P + (1 + gamma)/q_P (two widths), row by row."""
    n_positive, n_unlabeled = len(positive), len(unlabeled)
    width = math.sqrt(math.log(4 / delta) / (2 * n_unlabeled))
    width += math.sqrt(math.log(4 / delta) / (2 * n_positive))
    lowest, answer = math.inf, 0.0
    for threshold in sorted(set(unlabeled)):
        above_positive = sum(score >= threshold for score in positive)
        above_unlabeled = sum(score >= threshold for score in unlabeled)
        if above_positive < 2 or above_unlabeled < 2:
            continue
        q_positive, q_unlabeled = above_positive / n_positive, above_unlabeled / n_unlabeled
        bound = q_unlabeled / q_positive + (1 + gamma) / q_positive * width
        if bound < lowest:
            lowest, answer = bound, q_unlabeled / q_positive
    return min(1.0, answer)


def scores(prior, n_positive, n_unlabeled, seed, decimals=None):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    positive = rng.normal(2, 1, n_positive)
    unlabeled = np.concatenate([rng.normal(2, 1, hidden), rng.normal(0, 1, n_unlabeled - hidden)])
    if decimals is not None:
        positive, unlabeled = positive.round(decimals), unlabeled.round(decimals)
    return positive, rng.permutation(unlabeled)


def gaussians(prior, n_positive=300, n_unlabeled=600, seed=0, d=3, gap=1.5, module="mlp"):
    rng = np.random.default_rng(seed)
    above = n_positive + round(prior * n_unlabeled)
    n = n_positive + n_unlabeled
    x = rng.normal(np.where(np.arange(n) < above, gap, -gap)[:, None], 1.0, (n, d))
    is_positive = np.arange(n) < n_positive
    order = rng.permutation(n)
    x = torch.tensor(x[order] / x.std(0), dtype=torch.float32)
    return Sample(x, is_positive[order], module, seed)


class TestBestBin:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("prior", [0.1, 0.5, 0.9])
    @pytest.mark.parametrize("decimals", [None, 1, 0], ids=["distinct", "some ties", "ties"])
    def test_is_the_formula(self, seed, prior, decimals):
        positive, unlabeled = scores(prior, 60, 150, seed, decimals)
        assert best_bin(positive, unlabeled) == pytest.approx(literal(positive, unlabeled))

    @pytest.mark.parametrize(("delta", "gamma"), [(0.01, 0.0), (0.5, 1.0)])
    def test_is_the_formula_at_other_confidence(self, delta, gamma):
        positive, unlabeled = scores(0.3, 80, 100, 7)
        expected = literal(positive, unlabeled, delta, gamma)
        assert best_bin(positive, unlabeled, delta, gamma) == pytest.approx(expected)

    def test_by_hand(self):
        # At t = 3: all positives and 2 of 8 unlabelled rows are above; lower t only adds rows of U.
        unlabeled = np.array([3.0, 3.5, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5])
        assert best_bin(np.array([3.0, 4.0, 5.0, 6.0]), unlabeled) == pytest.approx(2 / 8)

    def test_scores_that_say_nothing_give_one(self):
        assert best_bin(np.zeros(50), np.zeros(70)) == 1.0

    def test_never_above_one(self):
        rng = np.random.default_rng(0)
        assert best_bin(rng.normal(0, 1, 30), rng.normal(1, 1, 30)) == 1.0

    @pytest.mark.parametrize(
        ("positive", "unlabeled"), [([5.0], [1.0, 2.0]), ([1.0, 2.0], [5.0]), ([1, 2], [5, 6])]
    )
    def test_no_bin_with_two_of_each_gives_zero(self, positive, unlabeled):
        assert best_bin(np.array(positive), np.array(unlabeled)) == 0.0

    def test_depends_on_the_order_of_the_scores_alone(self):
        positive, unlabeled = scores(0.4, 100, 200, 3)
        expected = best_bin(positive, unlabeled)
        assert best_bin(np.exp(positive), np.exp(unlabeled)) == pytest.approx(expected)
        assert best_bin(positive[::-1], np.sort(unlabeled)) == pytest.approx(expected)


class TestEstimate:
    @pytest.mark.parametrize("prior", [0.2, 0.5, 0.8])
    def test_easy_gaussians(self, prior):
        samples = [gaussians(prior, seed=seed) for seed in range(3)]
        np.testing.assert_allclose(estimate(samples), prior, atol=0.1)

    @pytest.mark.parametrize("prior", [0.2, 0.5])
    def test_small_tables(self, prior):
        samples = [gaussians(prior, 30, 90, seed=seed) for seed in range(3)]
        np.testing.assert_allclose(estimate(samples), prior, atol=0.15)

    @pytest.mark.parametrize("prior", [0.2, 0.5])
    def test_a_linear_model(self, prior):
        """The problem is linear, so a linear network has to do as well."""
        samples = [gaussians(prior, seed=seed, module="linear") for seed in range(3)]
        np.testing.assert_allclose(estimate(samples), prior, atol=0.1)

    def test_positives_that_do_not_stand_out_give_nearly_one(self):
        """A network that had seen the rows which it scores would find that they do."""
        rng = np.random.default_rng(0)
        x = torch.tensor(rng.normal(size=(120, 40)), dtype=torch.float32)
        (found,) = estimate([Sample(x, np.arange(120) < 40, "mlp", 0)])
        assert found > 0.6

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
        assert len(fleet.members) == 2 * room.FOLDS
        for place, sample in enumerate(samples):
            fold, offset = room._folds(sample), place * 104
            seen = np.zeros(104, dtype=int)
            for held_out in range(room.FOLDS):
                number = place * room.FOLDS + held_out
                training = fleet.members[number].training.index.numpy() - offset
                own = np.flatnonzero(fold == held_out)
                scored = fleet.scored[number, : len(own)].numpy() - offset
                np.testing.assert_array_equal(scored, own)
                assert not set(training) & set(own)
                assert training.min() >= 0
                assert training.max() < 104
                # Of what is left at most a row or two is dropped, for equal sizes.
                assert len(training) >= 104 - len(own) - 2
                seen[own] += 1
            assert (seen == 1).all()

    @pytest.mark.parametrize(("n_positive", "n_unlabeled"), [(2, 2), (2, 50), (3, 4), (50, 2)])
    def test_folds_hold_some_of_each(self, n_positive, n_unlabeled):
        sample = gaussians(0.5, n_positive, n_unlabeled)
        fold = room._folds(sample)
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

    def test_same_seed_same_estimate(self):
        assert estimate([gaussians(0.4, 50, 80)]) == estimate([gaussians(0.4, 50, 80)])

    def test_is_in_the_open_interval(self):
        rng = np.random.default_rng(0)
        far = torch.tensor(rng.normal(0, 0.1, (60, 2)), dtype=torch.float32)
        is_positive = np.arange(60) < 20
        far[:20] += 5
        none = estimate([Sample(far, is_positive, "mlp", 0)])[0]
        every = estimate([Sample(torch.zeros(60, 2), is_positive, "mlp", 0)])[0]
        # The smallest bin that counts holds two rows.
        assert 1 / 41 <= none <= 2 / 40
        assert every == pytest.approx(40 / 41)
