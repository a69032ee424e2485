"""What scores say about the share of positives where classes overlap."""

import numpy as np
import pytest

from robustpu.cautious import SHARES, separation, share_posterior


def mixture(share, distance, n_positive=200, n_unlabeled=1500, deviation=1.0, seed=0):
    """Scores of labelled and of unlabelled rows, of two normal distributions."""
    rng = np.random.default_rng(seed)
    is_positive = np.arange(n_unlabeled) < round(share * n_unlabeled)
    place, scale = np.where(is_positive, distance, 0.0), np.where(is_positive, deviation, 1.0)
    return rng.normal(distance, deviation, n_positive), rng.normal(place, scale)


def width(posterior, level=0.9):
    """Ratio of the ends of the interval."""
    low, high = posterior.interval(level)
    return high / low


class TestPosterior:
    def test_is_a_distribution_over_shares(self):
        found = share_posterior(*mixture(0.1, 1.5))
        for probability in (found.tempered, found.full):
            assert probability.shape == SHARES.shape == (60,)
            assert probability.sum() == pytest.approx(1)
            assert (probability >= 0).all()
        quantiles = [found.quantile(at) for at in (0.0, 0.05, 0.5, 0.95, 1.0)]
        assert quantiles == sorted(quantiles)
        assert quantiles[0] >= SHARES[0]
        assert quantiles[-1] <= SHARES[-1]
        ends = found.quantile(0.05), found.quantile(0.95)
        assert found.interval(0.9) == pytest.approx(ends)

    @pytest.mark.parametrize(
        "monotone",
        [lambda x: 3 * x - 7, np.exp, lambda x: x**3, np.tanh],
        ids=["line", "exp", "cube", "tanh"],
    )
    @pytest.mark.parametrize("distance", [0.8, 4.0])
    def test_only_ranks_count(self, monotone, distance):
        positive, unlabeled = mixture(0.2, distance)
        found = share_posterior(positive, unlabeled)
        again = share_posterior(monotone(positive), monotone(unlabeled))
        np.testing.assert_array_equal(again.tempered, found.tempered)
        np.testing.assert_array_equal(again.full, found.full)
        assert again.is_known == found.is_known

    def test_equal_scores_are_those_of_a_random_order(self):
        """All labelled rows in the middle would mean that hardly any row is negative."""
        equal = share_posterior(np.zeros(100), np.zeros(1000))
        evenly = share_posterior((np.arange(100) + 0.5) / 100, (np.arange(1000) + 0.5) / 1000)
        np.testing.assert_allclose(equal.tempered, evenly.tempered, atol=1e-3)
        assert equal.quantile(0.5) < 0.3

    @pytest.mark.parametrize("share", [0.02, 0.1, 0.8])
    def test_intervals_hold_shares_that_cannot_be_seen(self, share):
        low, high = share_posterior(*mixture(share, 1.0)).interval(0.9)
        assert low < share < high

    def test_a_high_share_of_separable_classes_is_found(self):
        found = share_posterior(*mixture(0.8, 5.0))
        assert found.quantile(0.5) == pytest.approx(0.8, abs=0.05)

    def test_order_of_rows_does_not_count(self):
        positive, unlabeled = mixture(0.2, 1.0)
        found = share_posterior(positive, unlabeled)
        again = share_posterior(positive[::-1], unlabeled[::-1])
        np.testing.assert_array_equal(again.tempered, found.tempered)

    def test_the_reverse_of_a_ranking_is_another_one(self):
        positive, unlabeled = mixture(0.2, 3.0)
        found = share_posterior(-positive, -unlabeled)
        assert not found.is_known
        assert found.separation < 0.1

    @pytest.mark.parametrize("share", [0.05, 0.2])
    def test_overlap_widens_the_interval(self, share):
        far, near = (
            np.mean([width(share_posterior(*mixture(share, gap, seed=seed))) for seed in range(3)])
            for gap in (4.0, 1.0)
        )
        assert near > 4 * far

    def test_more_labels_narrow_the_interval(self):
        few, many = (width(share_posterior(*mixture(0.2, 4.0, count))) for count in (20, 800))
        assert few > 1.5 * many

    def test_more_of_the_likelihood_narrows_the_interval(self):
        found = share_posterior(*mixture(0.2, 3.0))
        spread = [
            np.sqrt(np.cov(np.log(SHARES), aweights=probability, ddof=0))
            for probability in (found.tempered, found.full)
        ]
        assert spread[1] < 0.8 * spread[0]


class TestKnown:
    @pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6])
    def test_separable_classes_tell_the_share(self, share):
        found = share_posterior(*mixture(share, 6.0))
        assert found.is_known
        assert found.separation > 0.85
        assert found.quantile(0.5) == pytest.approx(share, rel=0.2)

    @pytest.mark.parametrize("n_positive", [30, 300])
    @pytest.mark.parametrize("distance", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.6])
    def test_overlapping_classes_do_not(self, share, distance, n_positive):
        assert not share_posterior(*mixture(share, distance, n_positive)).is_known

    def test_a_narrow_full_posterior_is_not_enough(self):
        """The likelihood is that of normal distributions; classes have to be separable too."""
        found = share_posterior(*mixture(0.3, 1.5, 1000, 5000))
        low, high = SHARES[np.searchsorted(np.cumsum(found.full), [0.05, 0.95])]
        assert high < 2 * low
        assert found.separation < 0.85
        assert not found.is_known

    def test_none_positive(self):
        positive, negative = np.arange(100.0, 120.0), np.arange(40.0)
        found = share_posterior(positive, negative)
        assert found.is_known
        assert found.quantile(0.95) < 0.05


class TestCoverage:
    @pytest.mark.parametrize("distance", [0.5, 1.0, 2.0, 3.0])
    def test_intervals_hold_the_truth(self, distance):
        """Of 0.9 of all samples: shares that the logit-normal prior makes likely."""
        inside = []
        for share, seed in zip(np.repeat([0.03, 0.1, 0.3], 6), range(18), strict=True):
            low, high = share_posterior(*mixture(share, distance, 100, seed=seed)).interval(0.9)
            inside.append(low <= share <= high)
        assert np.mean(inside) >= 0.85

    @pytest.mark.parametrize("deviation", [0.7, 1.5])
    def test_classes_of_other_widths(self, deviation):
        inside = []
        for seed in range(10):
            scores = mixture(0.1, 1.5, deviation=deviation, seed=seed)
            low, high = share_posterior(*scores).interval(0.9)
            inside.append(low <= 0.1 <= high)
        assert np.mean(inside) >= 0.9

    def test_the_middle_is_not_too_high_where_classes_overlap(self):
        """Estimators that assume a pure region are, by a factor of two and more."""
        middle = [
            share_posterior(*mixture(0.1, 1.0, seed=seed)).quantile(0.5) for seed in range(10)
        ]
        assert 0.06 < np.median(middle) < 0.16


class TestOddScores:
    def test_equal_scores_say_nothing(self):
        found = share_posterior(np.zeros(20), np.zeros(40))
        assert not found.is_known
        assert found.separation == 0
        assert width(found) > 20

    def test_labelled_rows_are_spread_over_their_ties(self):
        tied = share_posterior(np.ones(10), np.repeat([0.0, 1.0, 2.0], 20))
        broken = np.concatenate([np.zeros(20), 1 + (np.arange(20) + 0.5) / 40, np.full(20, 2.0)])
        spread = share_posterior(1 + (np.arange(10) + 0.5) / 20, broken)
        np.testing.assert_allclose(tied.tempered, spread.tempered, rtol=0.1)

    def test_scores_of_few_values(self):
        exact = mixture(0.1, 6.0)
        found = share_posterior(*(part.round() for part in exact))
        assert found.is_known
        assert found.quantile(0.5) == pytest.approx(share_posterior(*exact).quantile(0.5), rel=0.25)

    @pytest.mark.parametrize("n_unlabeled", [1, 2, 50, 2000])
    def test_two_labelled_rows(self, n_unlabeled):
        positive, unlabeled = mixture(0.3, 3.0, 2, n_unlabeled)
        found = share_posterior(positive, unlabeled)
        assert not found.is_known
        low, high = found.interval(0.9)
        assert SHARES[0] <= low < 0.05
        assert 0.2 < high <= SHARES[-1]

    def test_lists_and_whole_numbers(self):
        found = share_posterior([5, 6, 7], [1, 2, 3, 4, 5, 6])
        again = share_posterior(np.arange(5.0, 8.0), np.arange(1.0, 7.0))
        np.testing.assert_array_equal(found.tempered, again.tempered)


class TestSeparation:
    def test_is_1_where_classes_are_separable(self):
        for share in (0.02, 0.1, 0.3):
            assert separation(*mixture(share, 20.0, 1000, 10_000)) == pytest.approx(1, abs=0.03)

    def test_falls_with_overlap(self):
        found = [separation(*mixture(0.1, gap)) for gap in (6, 4, 3, 2, 1)]
        assert found == sorted(found, reverse=True)
        assert found[-1] < 0.65
        assert found[0] > 0.95

    def test_does_not_depend_on_the_share(self):
        found = [separation(*mixture(share, 2.0, 1000, 10_000)) for share in (0.02, 0.1, 0.2)]
        assert max(found) - min(found) < 0.12

    def test_only_ranks_count(self):
        positive, unlabeled = mixture(0.2, 1.0)
        assert separation(np.exp(positive), np.exp(unlabeled)) == separation(positive, unlabeled)

    def test_by_hand(self):
        # Half of P is above 3.5, as is one of eight in U: a quarter would be positive if all is
        # pure there, and full separation a difference of 3/4. All of P and 3 of U are above 1.5.
        positive, unlabeled = [2, 3, 4, 5], [0, 0, 0, 1, 1, 2, 3, 6]
        assert separation(positive, unlabeled) == pytest.approx((1 - 3 / 8) / (1 - 2 / 8))

    def test_of_nothing_to_separate_is_0(self):
        assert separation(np.zeros(5), np.zeros(9)) == 0
        assert separation([1.0, 2.0], [3.0, 4.0]) == 0


class TestChecked:
    """Overlapping classes, 5 % positive; the first rows are positive."""

    scores = mixture(0.05, 1.2, 60, 2000)

    def outcome(self, rows):
        found = np.full(2000, np.nan)
        found[rows] = rows < 100
        return found

    def top(self, n):
        return np.argsort(-self.scores[1])[:n]

    def drawn(self, n, seed=0):
        return np.random.default_rng(seed).choice(2000, n, replace=False)

    def test_checks_narrow_the_interval_and_move_it_to_the_truth(self):
        plain = share_posterior(*self.scores)
        for rows in (self.top(60), self.drawn(200)):
            found = share_posterior(*self.scores, self.outcome(rows))
            assert width(found) < 0.7 * width(plain)
            assert abs(np.log(found.quantile(0.5) / 0.05)) < abs(np.log(plain.quantile(0.5) / 0.05))

    def test_rows_from_the_top_are_no_random_sample(self):
        """A fifth of the first sixty is positive, and the interval of all does not hold that."""
        rows = self.top(60)
        assert self.outcome(rows)[rows].mean() > 0.2
        assert share_posterior(*self.scores, self.outcome(rows)).quantile(0.95) < 0.15

    @pytest.mark.parametrize("pick", ["top", "drawn"])
    def test_intervals_hold_the_share_of_any_rows(self, pick):
        found = share_posterior(*self.scores, self.outcome(getattr(self, pick)(100)))
        for rows in (self.top(50), self.top(300), np.arange(2000)):
            drawn = found.draw_shares(self.scores[1][rows], np.ones(len(rows)))
            low, high = np.quantile(drawn, [0.02, 0.98])
            assert low <= np.mean(rows < 100) <= high

    def test_weights_of_rows(self):
        found = share_posterior(*self.scores, self.outcome(self.top(60)))
        score = self.scores[1][:40]
        twice = found.draw_shares(np.repeat(score, 2), np.ones(80))
        np.testing.assert_allclose(twice, found.draw_shares(score, np.full(40, 3.0)), rtol=1e-9)

    def test_unchecked_rows_change_nothing(self):
        plain = share_posterior(*self.scores)
        found = share_posterior(*self.scores, np.full(2000, np.nan))
        np.testing.assert_allclose(found.tempered, plain.tempered)

    def test_many_labels_do_not_outvote_checked_rows(self):
        positive, unlabeled = self.scores
        outcome = self.outcome(self.top(60))
        found, again = (
            share_posterior(labels, unlabeled, outcome)
            for labels in (positive, np.tile(positive, 20))
        )
        np.testing.assert_allclose(again.mixtures, found.mixtures)
        assert width(again) < width(found)
