"""One metric at a time, as a plain number.

All take ``(y, score, *, prior, threshold=0.5, scenario="case-control", pos_label=None,
neg_label=None, checked=None, sample_weight=None, k=None)``, which describe the rows, and use of it
what they need; :func:`robustpu.metrics.evaluate` says what each means. What is called *unbiased* is
so before the value is cut to its range.
"""

from collections.abc import Callable, Mapping
from typing import Required, TypeAlias, TypedDict, Unpack

from numpy.typing import ArrayLike

from robustpu.labels import Label
from robustpu.metrics import ranking, rates
from robustpu.metrics.estimates import Estimate
from robustpu.metrics.sample import Sample, sample_of


class Setting(TypedDict, total=False):
    """What is known about the rows."""

    prior: Required[float]
    threshold: float
    scenario: str
    pos_label: Label | None
    neg_label: Label | None
    checked: ArrayLike | None
    sample_weight: ArrayLike | None
    k: int | None


Metric: TypeAlias = Callable[..., float]


def recall(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """mean_P 1[score >= threshold]: share of the positives that are predicted positive. Unbiased.

    Examples
    --------
    >>> recall([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.3)
    0.5
    """
    return estimate_of("recall", sample_of(y, score, **setting)).value


def precision(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """population_prior recall / population_rate: share of the positive predictions that are right.

    The rate is that of positive predictions. A ratio, so only consistent: too high on average, by
    about precision (1 - rate) / (n_U rate). Without any positive prediction it is 0.

    Examples
    --------
    >>> precision([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.4)
    0.8
    """
    return estimate_of("precision", sample_of(y, score, **setting)).value


def f1(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """2 population_prior recall / (population_prior + population_rate). Consistent.

    Examples
    --------
    >>> f1([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25)
    0.5
    """
    return estimate_of("f1", sample_of(y, score, **setting)).value


def accuracy(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """1 + 2 population_prior recall - population_prior - population_rate. Unbiased.

    The share of correct predictions in the population: the proxy accuracy that selects rounds and
    members. Always predicting negative gets 1 - population_prior.

    Examples
    --------
    >>> accuracy([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25)
    0.75
    """
    return estimate_of("accuracy", sample_of(y, score, **setting)).value


def specificity(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """1 - (rate - prior recall) / (1 - prior): share of negatives predicted negative. Unbiased.

    Examples
    --------
    >>> round(specificity([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25), 4)
    0.8333
    """
    return estimate_of("specificity", sample_of(y, score, **setting)).value


def balanced_accuracy(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """(recall + specificity) / 2. Unbiased.

    Examples
    --------
    >>> y, score = [1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2]
    >>> round(balanced_accuracy(y, score, prior=0.25), 4)
    0.6667
    """
    return estimate_of("balanced_accuracy", sample_of(y, score, **setting)).value


def zero_one_risk(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """1 - accuracy: share of wrong predictions in the population. Unbiased.

    Examples
    --------
    >>> zero_one_risk([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25)
    0.25
    """
    return estimate_of("zero_one_risk", sample_of(y, score, **setting)).value


def lee_liu(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """recall^2 / population_rate = recall precision / population_prior (Lee and Liu, 2003).

    High only if recall and precision both are; at most 1 / population_prior. The prior serves for
    that bound alone. Consistent; too high on average in small samples.

    Examples
    --------
    >>> lee_liu([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25)
    1.0
    """
    return estimate_of("lee_liu", sample_of(y, score, **setting)).value


def auc(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """(A - prior/2) / (1 - prior), A the chance that a P row outranks a U row. Unbiased.

    The area under the ROC curve: the chance that a positive outranks a negative.

    Examples
    --------
    >>> round(auc([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25), 4)
    1.0
    """
    return estimate_of("auc", sample_of(y, score, **setting)).value


def average_precision(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """mean_P population_prior recall(t) / population_rate(t), t the row's own score.

    The precision averaged over thresholds: the area under the precision-recall curve. Nearly
    unbiased: too low by at most one in the number of positives among the unlabelled rows.

    Examples
    --------
    >>> y = [1] * 50 + [0] * 100
    >>> round(average_precision(y, [0.7] * 150, prior=0.25), 4)
    0.25
    """
    return estimate_of("average_precision", sample_of(y, score, **setting)).value


def precision_at_k(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """prior recall(t) / (k / n_U), t the k-th highest score of U. Consistent.

    The share of positives among the k unlabelled rows with the highest scores.

    Examples
    --------
    >>> precision_at_k([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25, k=2)
    0.5
    """
    return estimate_of("precision_at_k", sample_of(y, score, **setting)).value


def lift_at_k(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """precision_at_k / prior: how many times better than k random rows. Consistent.

    Examples
    --------
    >>> lift_at_k([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25, k=2)
    2.0
    """
    return estimate_of("lift_at_k", sample_of(y, score, **setting)).value


def positives_at_k(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """k precision_at_k: expected positives among the k first unlabelled rows. Consistent.

    Examples
    --------
    >>> positives_at_k([1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2], prior=0.25, k=2)
    1.0
    """
    return estimate_of("positives_at_k", sample_of(y, score, **setting)).value


METRICS: Mapping[str, Metric] = {
    "recall": recall,
    "precision": precision,
    "f1": f1,
    "accuracy": accuracy,
    "specificity": specificity,
    "balanced_accuracy": balanced_accuracy,
    "zero_one_risk": zero_one_risk,
    "lee_liu": lee_liu,
    "auc": auc,
    "average_precision": average_precision,
    "precision_at_k": precision_at_k,
    "lift_at_k": lift_at_k,
    "positives_at_k": positives_at_k,
}


def estimate_of(name: str, sample: Sample) -> Estimate:
    """The estimate of the metric of that name."""
    if name in rates.FORMULAS:
        return rates.estimate_at(rates.rates_of(sample), sample, rates.FORMULAS[name])
    return ranking.RANKINGS[name](sample)
