"""Metrics at a threshold: functions of the recall and of the rate of positive predictions on U."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from robustpu.metrics.checked import precision_above
from robustpu.metrics.estimates import Estimate, combine, wilson
from robustpu.metrics.sample import Sample, effective_rows

# A collapsed model gives one class less than this part of its share among the unlabelled rows.
SLACK = 0.2


@dataclass(frozen=True)
class Rates:
    """Rates of positive predictions on P and U, and the priors.

    Attributes
    ----------
    recall
        Share of the positives that are predicted positive.
    rate
        Share of the unlabelled rows that are predicted positive.
    prior
        Share of positives among the unlabelled rows.
    labeled
        Share of labelled rows in the population: 0 if case-control.
    half_row
        Half an unlabelled row, as a share: a smaller rate counts as that.
    of_labeled, of_hidden
        What to add to the recall for that of the labelled, and of the unlabelled, positives: 0 if
        labels are selected completely at random.
    """

    recall: float
    rate: float
    prior: float
    labeled: float = 0.0
    half_row: float = 0.0
    of_labeled: float = 0.0
    of_hidden: float = 0.0

    @property
    def population_prior(self) -> float:
        """labeled + (1 - labeled) prior, the share of positives in the population."""
        return self.labeled + (1 - self.labeled) * self.prior

    @property
    def population_rate(self) -> float:
        """labeled recall + (1 - labeled) rate, the rate in the population."""
        recall = min(max(self.recall + self.of_labeled, 0.0), 1.0)
        return self.labeled * recall + (1 - self.labeled) * max(self.rate, self.half_row)


Formula: TypeAlias = Callable[[Rates], float]


def recall(rates: Rates) -> float:
    """The share of the labelled positives that are predicted positive."""
    return rates.recall


def specificity(rates: Rates) -> float:
    """1 - (rate - prior recall) / (1 - prior)."""
    recall = min(max(rates.recall + rates.of_hidden, 0.0), 1.0)
    return 1 - (rates.rate - rates.prior * recall) / (1 - rates.prior)


def balanced_accuracy(rates: Rates) -> float:
    """(recall + specificity) / 2."""
    return (rates.recall + specificity(rates)) / 2


def accuracy(rates: Rates) -> float:
    """pi recall + (1 - pi) specificity, with pi the share of positives in the population."""
    prior = rates.population_prior
    return prior * rates.recall + (1 - prior) * specificity(rates)


def zero_one_risk(rates: Rates) -> float:
    """1 - accuracy."""
    return 1 - accuracy(rates)


def precision(rates: Rates) -> float:
    """pi recall / population rate; 0 if nothing at all is predicted positive."""
    if rates.recall == 0:
        return 0.0
    return rates.population_prior * rates.recall / rates.population_rate


def f1(rates: Rates) -> float:
    """2 pi recall / (pi + population rate)."""
    prior = rates.population_prior
    return 2 * prior * rates.recall / (prior + rates.population_rate)


def lee_liu(rates: Rates) -> float:
    """recall^2 / population rate = recall precision / pi."""
    return rates.recall**2 / rates.population_rate if rates.recall else 0.0


FORMULAS: Mapping[str, Formula] = {
    "recall": recall,
    "precision": precision,
    "f1": f1,
    "accuracy": accuracy,
    "specificity": specificity,
    "balanced_accuracy": balanced_accuracy,
    "zero_one_risk": zero_one_risk,
    "lee_liu": lee_liu,
}


def rates_of(sample: Sample) -> Rates:
    """Recall and rate of a sample at its threshold."""
    above = sample.positive >= sample.threshold
    recall, of_labeled, of_hidden = (
        float(weight @ above)
        for weight in (sample.weight_positive, sample.weight_labeled, sample.weight_hidden)
    )
    rate = float(sample.weight_unlabeled @ (sample.unlabeled >= sample.threshold))
    return Rates(
        # Weights sum to 1 up to rounding.
        recall=min(recall, 1.0),
        rate=min(rate, 1.0),
        prior=sample.prior,
        labeled=sample.labeled,
        half_row=0.5 / effective_rows(sample.weight_unlabeled),
        of_labeled=of_labeled - recall,
        of_hidden=of_hidden - recall,
    )


def estimate_at(rates: Rates, sample: Sample, formula: Formula) -> Estimate:
    """The formula's value, and an interval from those of recall, rate and prior.

    Recall and rate are shares of two sets of rows drawn apart, so their errors are independent.
    The precision is by checked rows, if there are ten or more.
    """
    if formula is precision and sample.posterior is not None:
        return precision_above(sample)
    of_recall = wilson(rates.recall, effective_rows(sample.weight_positive), sample.z)
    of_rate = wilson(rates.rate, effective_rows(sample.weight_unlabeled), sample.z)
    ends = [
        _pair(formula, [replace(rates, recall=end) for end in of_recall]),
        _pair(formula, [replace(rates, rate=end) for end in of_rate]),
        _pair(formula, [replace(rates, prior=end) for end in sample.priors]),
    ]
    most = 1 / rates.population_prior if formula is lee_liu else 1.0
    return combine(formula(rates), ends, (0.0, most))


def estimates(sample: Sample) -> dict[str, Estimate]:
    """All metrics at the sample's threshold."""
    rates = rates_of(sample)
    return {name: estimate_at(rates, sample, formula) for name, formula in FORMULAS.items()}


def _pair(formula: Formula, ends: list[Rates]) -> tuple[float, float]:
    low, high = (formula(end) for end in ends)
    return low, high


def collapse(rate: float, prior: float, rows: float = math.inf) -> str | None:
    """Negative if rate < 0.2 prior, positive if 1 - rate < 0.2 (1 - prior), else None.

    A class of which less than one row is expected does not count.

    Parameters
    ----------
    rate
        Share of the unlabelled rows that a model predicts positive.
    prior
        Share of positives among the unlabelled rows.
    rows
        Number of these rows.

    Returns
    -------
    side
        "negative" or "positive", nearly the only prediction of a collapsed model; or None.

    Examples
    --------
    >>> collapse(0.01, prior=0.3), collapse(0.25, prior=0.3), collapse(0.95, prior=0.3)
    ('negative', None, 'positive')
    >>> collapse(0.0, prior=0.001, rows=50) is None
    True
    """
    if rate < SLACK * prior and prior * rows >= 1:
        return "negative"
    if rate > 1 - SLACK * (1 - prior) and (1 - prior) * rows >= 1:
        return "positive"
    return None
