"""Values against scikit-learn with the truth, against brute force, and by hand."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from sklearn import metrics as truth_metrics

from robustpu import metrics, selection
from robustpu.metrics.ranking import standard_error
from robustpu.metrics.sample import sample_of

THRESHOLD = 0.55


def exact(seed=0, n_unlabeled=60, ties=True):
    """Labelled rows that are a perfect sample: copies of the positives among the unlabelled."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_unlabeled) < n_unlabeled // 3
    score = np.clip(rng.normal(0.4 + 0.2 * truth, 0.2), 0, 1)
    score = score.round(1) if ties else score
    labeled = score[truth]
    y = np.r_[np.ones(len(labeled), int), np.zeros(n_unlabeled, int)]
    return y, np.r_[labeled, score], np.r_[np.ones(len(labeled), bool), truth]


def true_metrics(truth, score):
    answer = score >= THRESHOLD
    return {
        "recall": truth_metrics.recall_score(truth, answer),
        "precision": truth_metrics.precision_score(truth, answer),
        "f1": truth_metrics.f1_score(truth, answer),
        "accuracy": truth_metrics.accuracy_score(truth, answer),
        "specificity": truth_metrics.recall_score(~truth, ~answer),
        "balanced_accuracy": truth_metrics.balanced_accuracy_score(truth, answer),
        "zero_one_risk": truth_metrics.zero_one_loss(truth, answer),
        "auc": truth_metrics.roc_auc_score(truth, score),
        "lee_liu": truth_metrics.recall_score(truth, answer) ** 2 / answer.mean(),
    }


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("seed", range(3))
def test_a_perfect_sample_of_positives_gives_the_true_metrics(scenario, seed):
    y, score, truth = exact(seed)
    rows = np.ones(len(y), bool) if scenario == "single-set" else y == 0
    expected = true_metrics(truth[rows], score[rows])
    for name, value in expected.items():
        found = metrics.METRICS[name](y, score, prior=1 / 3, threshold=0.55, scenario=scenario)
        assert found == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_average_precision_is_near_the_true_one_for_a_perfect_sample(scenario):
    y, score, truth = exact(n_unlabeled=3000, ties=False)
    rows = np.ones(len(y), bool) if scenario == "single-set" else y == 0
    expected = truth_metrics.average_precision_score(truth[rows], score[rows])
    found = metrics.average_precision(y, score, prior=1 / 3, scenario=scenario)
    assert found == pytest.approx(expected, abs=0.01)


def test_average_precision_of_noise_is_the_prior():
    rng = np.random.default_rng(0)
    y = np.arange(21000) < 1000
    found = metrics.average_precision(y, rng.random(21000), prior=0.05)
    assert found == pytest.approx(0.05, abs=0.004)
    # The linear formula of others would say 0.5 prior + (1 - prior) AUC = 0.5.


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_average_precision_by_brute_force(scenario):
    rng = np.random.default_rng(1)
    y = np.arange(50) < 15
    score = rng.normal(y, 1).round(1)
    positive, unlabeled, prior = score[y], score[~y], 0.3
    terms = []
    for place, at in enumerate(positive):
        others = np.delete(positive, place)
        recall = np.mean(others >= at)
        if scenario == "case-control":
            rate = (np.sum(unlabeled >= at) + 1) / 36
            terms.append(prior * recall / rate)
        else:
            rate = 0.3 * recall + 0.7 * np.mean(unlabeled >= at)
            terms.append((0.3 + 0.7 * prior) * recall / rate if rate else 0.0)
    sample = sample_of(y, score, prior=prior, scenario=scenario)
    raw = metrics.ranking.average_precision(sample).raw
    assert raw == pytest.approx(np.mean(terms), abs=1e-12)


@pytest.mark.parametrize("k", [1, 7, 20, 60])
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_metrics_at_k_count_the_positives_of_the_list(k, scenario):
    y, score, truth = exact(ties=False)
    unlabeled = y == 0
    list_of_k = np.argsort(-score[unlabeled])[:k]
    positives = truth[unlabeled][list_of_k].sum()
    setting = {"prior": 1 / 3, "k": k, "scenario": scenario}
    assert metrics.positives_at_k(y, score, **setting) == pytest.approx(positives)
    assert metrics.precision_at_k(y, score, **setting) == pytest.approx(positives / k)
    assert metrics.lift_at_k(y, score, **setting) == pytest.approx(3 * positives / k)


def test_ties_at_the_end_of_the_list_count_by_lot():
    # One row above, and of the three rows at 0.5 two fit: they hold 2 of the 6 labelled rows.
    y = [1] * 6 + [0] * 8
    score = [0.9, 0.5, 0.5, 0.1, 0.1, 0.1, 0.8, 0.5, 0.5, 0.5, 0.2, 0.1, 0.1, 0.1]
    recall = (1 + 2 * 2 / 3) / 6
    found = metrics.precision_at_k(y, score, prior=0.5, k=3)
    assert found == pytest.approx(0.5 * recall / (3 / 8))


def test_k_is_by_default_the_number_of_positives_expected():
    y, score, _ = exact()
    assert metrics.evaluate(y, score, prior=1 / 3).sample.k == 20


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_accuracy_is_the_proxy_accuracy_of_selection(scenario):
    rng = np.random.default_rng(3)
    y, score = np.arange(80) < 30, rng.random(80)
    population = (30 + 0.25 * 50) / 80 if scenario == "single-set" else 0.25
    expected = selection.proxy_accuracy(
        torch.tensor(score >= 0.5, dtype=torch.float64),
        torch.tensor(y),
        torch.ones(80, dtype=torch.float64),
        torch.tensor(0.25, dtype=torch.float64),
        torch.tensor(population, dtype=torch.float64),
    )
    raw = metrics.evaluate(y, score, prior=0.25, scenario=scenario)["accuracy"].raw
    assert raw == pytest.approx(expected.item(), abs=1e-12)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
@pytest.mark.parametrize("name", list(metrics.METRICS)[:9])
def test_a_row_of_weight_two_is_two_rows(name, scenario):
    y, score, _ = exact(1)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    setting = {"prior": 0.3, "threshold": THRESHOLD, "scenario": scenario}
    metric = metrics.METRICS[name]
    expected = metric(y[rows], score[rows], **setting)
    assert metric(y, score, sample_weight=weight, **setting) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", sorted(metrics.METRICS))
def test_equal_weights_of_any_size_change_nothing(name):
    y, score, _ = exact(2)
    plain = metrics.evaluate(y, score, prior=0.3)[name]
    heavy = metrics.evaluate(y, score, prior=0.3, sample_weight=np.full(len(y), 7.0))[name]
    assert [heavy.value, heavy.low, heavy.high] == pytest.approx(
        [plain.value, plain.low, plain.high]
    )


def test_the_list_at_k_is_weighted_too():
    # Two rows in the list, with 4 of 8 units of weight; they outrank half of the labelled rows.
    y, score = [1, 1, 0, 0, 0, 0], [0.9, 0.1, 0.8, 0.7, 0.3, 0.2]
    weight = [1, 1, 3, 1, 2, 2]
    found = metrics.precision_at_k(y, score, prior=0.4, k=2, sample_weight=weight)
    assert found == pytest.approx(0.4 * 0.5 / 0.5)


def test_standard_error_of_the_auc_by_the_jackknife():
    # Of a U-statistic, the jackknife over one of the samples gives the same as the components.
    rng = np.random.default_rng(0)
    positive, unlabeled = rng.normal(1, 1, 40), rng.normal(0, 1, 70)
    wins = (positive[:, None] > unlabeled).mean(1)
    without = [np.delete(wins, place).mean() for place in range(40)]
    jackknife = np.sqrt(39 / 40 * np.sum((np.array(without) - np.mean(without)) ** 2))
    assert standard_error(wins, np.full(40, 1 / 40)) == pytest.approx(jackknife)


@pytest.mark.parametrize("n_positive", [3, 7, 49])
def test_the_highest_row_has_nothing_above_it_but_itself(n_positive):
    # Rounding must not make a ratio out of nothing. The rest ties with all the unlabelled rows.
    y = np.arange(n_positive + 30) < n_positive
    score = np.r_[1.0, np.zeros(n_positive + 29)]
    sample = sample_of(y, score, prior=0.3, scenario="single-set")
    labeled = n_positive / len(y)
    share = (n_positive - 1) / n_positive * (labeled + (1 - labeled) * 0.3)
    assert metrics.ranking.average_precision(sample).raw == pytest.approx(share)


def test_labels_may_be_strings():
    y, score, _ = exact()
    words = np.where(y == 1, "fraud", "unknown")
    found = metrics.auc(words, score, prior=1 / 3, pos_label="fraud")
    assert found == metrics.auc(y, score, prior=1 / 3)


def test_infinite_scores_are_ranked():
    y, score = [1, 1, 0, 0], [np.inf, 0.3, 0.2, -np.inf]
    assert metrics.auc(y, score, prior=0.1) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prior": 40}, "prior must be a number between 0 and 1"),
        ({"scenario": "two"}, "scenario must be"),
        ({"threshold": "prior"}, "threshold must be a number"),
        ({"k": 0}, "k must be"),
        ({"k": 61}, "k must be at most the number of unlabelled rows, 60; it is 61"),
        ({"sample_weight": [1, 2]}, "sample_weight must have one finite number"),
        ({"sample_weight": np.full(80, -1.0)}, "at least 0"),
        ({"sample_weight": np.zeros(80)}, "y is empty"),
        ({"pos_label": 3}, "pos_label=3 is not in y"),
    ],
)
def test_errors_of_settings(change, message):
    y, score, _ = exact()
    with pytest.raises(ValueError, match=message):
        metrics.accuracy(y, score, **{"prior": 0.3, **change})


def test_errors_of_scores():
    with pytest.raises(ValueError, match="one number a row"):
        metrics.auc([1, 0], [[0.1, 0.9], [0.8, 0.2]], prior=0.3)
    with pytest.raises(ValueError, match="NaN"):
        metrics.auc([1, 0], [0.1, np.nan], prior=0.3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        metrics.auc([1, 0, 0], [0.1, 0.2], prior=0.3)
    with pytest.raises(ValueError, match="no unlabelled rows"):
        metrics.auc([1, 1], [0.1, 0.2], prior=0.3)
    with pytest.raises(TypeError, match="prio"):
        metrics.auc([1, 0], [0.1, 0.2], prior=0.3, prio=0.3)


def test_the_import_does_not_wait_for_torch():
    code = "import robustpu.metrics, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
