"""What the docstrings claim about bias and intervals, over many draws from a known population."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from robustpu import metrics
from robustpu.metrics import rates
from robustpu.metrics.ranking import average_precision
from robustpu.metrics.sample import sample_of
from robustpu.scenario import unlabeled_prior

# Scores of positives are normal about SHIFT, of negatives about 0.
SHIFT, THRESHOLD, PI, LABELED = 1.5, 0.8, 0.35, 0.5
RECALL, FALSE_ALARM = norm.sf(THRESHOLD - SHIFT), norm.sf(THRESHOLD)
RATE = PI * RECALL + (1 - PI) * FALSE_ALARM
DRAWS = 500
UNBIASED = [
    "recall",
    "accuracy",
    "specificity",
    "balanced_accuracy",
    "zero_one_risk",
    "auc",
]


def precision_at(score):
    hits = PI * norm.sf(score - SHIFT)
    return hits / (hits + (1 - PI) * norm.sf(score))


TRUE = {
    "recall": RECALL,
    "precision": PI * RECALL / RATE,
    "f1": 2 * PI * RECALL / (PI + RATE),
    "accuracy": PI * RECALL + (1 - PI) * (1 - FALSE_ALARM),
    "specificity": 1 - FALSE_ALARM,
    "balanced_accuracy": (RECALL + 1 - FALSE_ALARM) / 2,
    "zero_one_risk": PI * (1 - RECALL) + (1 - PI) * FALSE_ALARM,
    "lee_liu": RECALL**2 / RATE,
    "auc": norm.cdf(SHIFT / 2**0.5),
    "average_precision": quad(lambda s: norm.pdf(s - SHIFT) * precision_at(s), -7, 9)[0],
}


def draw(scenario, rng, n_positive=100, n_unlabeled=400):
    """(y, score, truth, prior of U), as the scenario says that the rows came about."""
    if scenario == "case-control":
        truth = np.r_[np.ones(n_positive, bool), rng.random(n_unlabeled) < PI]
        return np.arange(len(truth)) < n_positive, rng.normal(SHIFT * truth, 1), truth, PI
    truth = rng.random(n_positive + n_unlabeled) < PI
    y = truth & (rng.random(len(truth)) < LABELED)
    return y, rng.normal(SHIFT * truth, 1), truth, unlabeled_prior(PI, LABELED)


@pytest.fixture(scope="module", params=["case-control", "single-set"])
def results(request):
    """Raw values, whether the intervals hold the truth, and the truth; (draws,) a metric."""
    rng = np.random.default_rng(0)
    found = {name: [] for name in metrics.METRICS}
    for _ in range(DRAWS):
        y, score, truth, prior = draw(request.param, rng)
        best = np.argsort(-score[~y])[:40]
        share = truth[~y][best].mean()
        at_k = {"precision_at_k": share, "lift_at_k": share / prior, "positives_at_k": 40 * share}
        for name, estimate in metrics.evaluate(
            y, score, prior=prior, threshold=THRESHOLD, scenario=request.param, k=40
        ).items():
            true = (TRUE | at_k)[name]
            found[name].append((estimate.raw - true, estimate.low <= true <= estimate.high))
    return {name: np.array(pairs).T for name, pairs in found.items()}


@pytest.mark.parametrize("name", UNBIASED)
def test_unbiased(results, name):
    error = results[name][0]
    assert abs(error.mean()) < 3 * error.std() / DRAWS**0.5
    # A test that could not see a bias of two points would be worth little.
    assert error.std() / DRAWS**0.5 < 0.003


@pytest.mark.parametrize("name", ["precision_at_k", "lift_at_k", "positives_at_k"])
def test_metrics_at_k_are_right_on_average(results, name):
    error = results[name][0]
    assert abs(error.mean()) < 3 * error.std() / DRAWS**0.5


@pytest.mark.parametrize("name", sorted(metrics.METRICS))
def test_nine_of_ten_intervals_hold_the_truth(results, name):
    assert 0.85 <= results[name][1].mean() <= 0.95


def ratio_bias(name, n_positive, n_unlabeled, labeled):
    """Mean of the metric over draws of recall and rate, less the truth."""
    rng = np.random.default_rng(0)
    draws = 40_000
    prior = unlabeled_prior(PI, LABELED) if labeled else PI
    rate = prior * RECALL + (1 - prior) * FALSE_ALARM
    recalls = rng.binomial(n_positive, RECALL, draws) / n_positive
    rated = rng.binomial(n_unlabeled, rate, draws) / n_unlabeled
    half = 0.5 / n_unlabeled
    share = LABELED * PI if labeled else 0.0
    value = [
        rates.FORMULAS[name](rates.Rates(r, q, prior, share, half))
        for r, q in zip(recalls.tolist(), rated.tolist(), strict=True)
    ]
    return np.mean(value) - TRUE[name], np.std(value) / draws**0.5


@pytest.mark.parametrize("labeled", [False, True])
@pytest.mark.parametrize("name", ["precision", "f1", "lee_liu"])
def test_the_bias_of_ratios_shrinks_with_the_rows(name, labeled):
    small, error = ratio_bias(name, 20, 80, labeled)
    large, _ = ratio_bias(name, 200, 800, labeled)
    assert abs(small) < 0.1 * TRUE[name]
    assert abs(large) < abs(small) / 5 + 3 * error


def test_the_bias_of_the_precision_is_as_stated():
    bias, error = ratio_bias("precision", 20, 80, labeled=False)
    stated = TRUE["precision"] * (1 - RATE) / (80 * RATE)
    assert stated > 10 * error
    assert bias == pytest.approx(stated, rel=0.25)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_the_average_precision_is_too_low_by_one_unlabelled_positive_at_most(scenario):
    rng = np.random.default_rng(1)
    error = []
    for _ in range(800):
        y, score, _, prior = draw(scenario, rng, 40, 120)
        sample = sample_of(y, score, prior=prior, scenario=scenario)
        error.append(average_precision(sample).raw - TRUE["average_precision"])
    slack = 3 * np.std(error) / len(error) ** 0.5
    assert -1 / (prior * 120) - slack < np.mean(error) < slack


def test_intervals_make_room_for_the_error_of_the_prior():
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(300):
        y, score, _, prior = draw("case-control", rng, 400, 2000)
        guess = prior + 0.03 * rng.normal()
        ends = (guess - 0.03 * 1.645, guess + 0.03 * 1.645)
        for interval in (ends, None):
            sample = sample_of(y, score, prior=guess, prior_interval=interval, threshold=THRESHOLD)
            formulas = [rates.precision, rates.f1, rates.accuracy]
            found = [rates.estimate_at(rates.rates_of(sample), sample, f) for f in formulas]
            true = [TRUE[name] for name in ("precision", "f1", "accuracy")]
            covered.append([e.low <= t <= e.high for e, t in zip(found, true, strict=True)])
    with_room, without = np.array(covered).reshape(300, 2, 3).mean(0)
    assert np.all((with_room >= 0.85) & (with_room <= 0.95))
    assert without[0] < 0.75
