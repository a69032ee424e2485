"""Shares of positives in bins of probability."""

import numpy as np
import pytest

from robustpu.metrics import reliability
from robustpu.scenario import unlabeled_prior

PI, LABELED = 0.5, 0.4


def rows(scenario, rng, n_positive=300, n_unlabeled=1500, power=1.0):
    """(y, probability, prior): the chance of being positive is probability ** power."""

    def draw(number):
        probability = rng.random(number)
        return probability, rng.random(number) < probability**power

    if scenario == "single-set":
        probability, truth = draw(n_positive + n_unlabeled)
        y = truth & (rng.random(len(truth)) < LABELED)
        return y, probability, unlabeled_prior(1 / (1 + power), LABELED)
    pool, truth = draw(20 * n_positive)
    labeled = pool[truth][:n_positive]
    y = np.arange(n_positive + n_unlabeled) < n_positive
    return y, np.r_[labeled, draw(n_unlabeled)[0]], 1 / (1 + power)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_a_perfect_sample_gives_the_true_shares(scenario):
    rng = np.random.default_rng(0)
    unlabeled = rng.random(200)
    truth = rng.random(200) < unlabeled
    probability = np.r_[unlabeled[truth], unlabeled]
    y = np.arange(len(probability)) < truth.sum()
    found = reliability(y, probability, prior=truth.mean(), scenario=scenario, bins=4)
    ascending = np.sort(unlabeled)
    for place, share in enumerate(found.share):
        low, high = ascending[50 * place], ascending[50 * place + 49]
        inside = (unlabeled >= low) & (unlabeled <= high)
        positive, mean, count = truth[inside].sum(), unlabeled[inside].sum(), 50
        if scenario == "single-set":
            mean += unlabeled[inside & truth].sum()
            count += positive
            positive *= 2
        assert share.raw == pytest.approx(positive / count)
        assert found.predicted[place] == pytest.approx(mean / count)
    assert found.weight.sum() == pytest.approx(1)
    gaps = [abs(p - s.value) for p, s in zip(found.predicted, found.share, strict=True)]
    assert found.error == pytest.approx(found.weight @ gaps)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_right_probabilities_have_the_error_of_chance_and_covered_bins(scenario):
    rng = np.random.default_rng(1)
    errors, chances, covered = [], [], []
    for _ in range(200):
        y, probability, prior = rows(scenario, rng)
        found = reliability(y, probability, prior=prior, scenario=scenario, bins=5)
        errors.append(found.error)
        chances.append(found.chance)
        # The true share of a bin is, but for little, its mean probability.
        covered += [s.low <= p <= s.high for p, s in zip(found.predicted, found.share, strict=True)]
    assert np.mean(errors) == pytest.approx(np.mean(chances), rel=0.15)
    assert 0.85 <= np.mean(covered) <= 0.95


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_wrong_probabilities_are_found_out(scenario):
    y, probability, prior = rows(scenario, np.random.default_rng(2), 3000, 15000, power=3)
    found = reliability(y, probability, prior=prior, scenario=scenario)
    # The mean of p - p^3 is 1/4.
    assert found.error == pytest.approx(0.25, abs=0.02)
    assert found.error > 5 * found.chance


def test_an_uncertain_prior_widens():
    y, probability, prior = rows("case-control", np.random.default_rng(3))
    known = reliability(y, probability, prior=prior)
    unsure = reliability(y, probability, prior=prior, prior_interval=(0.4, 0.6))
    assert all(
        u.high - u.low >= k.high - k.low for k, u in zip(known.share, unsure.share, strict=True)
    )


def test_equal_probabilities_share_a_bin():
    y = np.arange(40) < 10
    found = reliability(y, np.where(y, 0.7, np.arange(40) % 2 * 0.7), prior=0.3)
    assert found.predicted.tolist() == pytest.approx([0, 0.7])
    assert [share.raw for share in found.share] == pytest.approx([0, 0.6])


def test_weights_count():
    rng = np.random.default_rng(4)
    y, probability, prior = rows("case-control", rng, 30, 60)
    weight = np.where(y, rng.integers(1, 4, 90), 1)
    again = np.repeat(np.arange(90), weight)
    weighted = reliability(y, probability, prior=prior, bins=3, sample_weight=weight)
    repeated = reliability(y[again], probability[again], prior=prior, bins=3)
    assert [s.raw for s in weighted.share] == pytest.approx([s.raw for s in repeated.share])


def test_the_table():
    y = [1] * 20 + [0] * 40
    found = reliability(y, [0.8] * 20 + [0.8, 0.1] * 20, prior=0.4)
    lines = str(found).splitlines()
    assert lines[0].split() == ["predicted", "share", "low", "high", "weight"]
    assert lines[1].split()[:2] == ["0.100", "0.000"]
    assert lines[2].split()[:2] == ["0.800", "0.800"]
    assert lines[3].startswith("calibration error 0.050 (by chance about 0.")
    assert repr(found) == str(found)


def test_a_share_beyond_one_is_marked():
    y = [1] * 20 + [0] * 40
    found = reliability(y, [0.8] * 20 + [0.8, 0.1] * 20, prior=0.7)
    assert found.share[1].clipped
    assert str(found).splitlines()[2].endswith("*")


def test_errors():
    with pytest.raises(ValueError, match=r"probability must lie in \[0, 1\]"):
        reliability([1, 0], [3.0, 0.1], prior=0.3)
    with pytest.raises(ValueError, match="bins must be a whole number at least 1"):
        reliability([1, 0], [0.3, 0.1], prior=0.3, bins=0)
