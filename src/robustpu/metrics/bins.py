"""Are probabilities what they say? The share of positives in each bin of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from robustpu.labels import Label
from robustpu.metrics.estimates import Estimate
from robustpu.metrics.rates import Rates, estimate_at, precision, rates_of
from robustpu.metrics.sample import Floats, Sample, effective_rows, sample_of
from robustpu.validation.numbers import check_number


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """Predicted and estimated shares of positives, bin by bin; prints as a table.

    Attributes
    ----------
    predicted
        Mean probability in each bin, ascending, shape (bins,).
    share
        Estimated share of positives in each bin.
    weight
        Share of the population in each bin.
    error
        Expected calibration error: sum of weight * abs(predicted - share). Never negative, so on
        average above the truth.
    chance
        About what ``error`` is, on as many rows, if the probabilities are right: an error that is
        not well above it means nothing.
    """

    predicted: Floats
    share: tuple[Estimate, ...]
    weight: Floats
    error: float
    chance: float

    def __str__(self) -> str:
        lines = [f"{'predicted':>9}{'share':>9}{'low':>9}{'high':>9}{'weight':>9}"]
        for predicted, share, weight in zip(self.predicted, self.share, self.weight, strict=True):
            numbers = (predicted, share.value, share.low, share.high, weight)
            lines.append("".join(f"{x:9.3f}" for x in numbers) + (" *" if share.clipped else ""))
        end = f"calibration error {self.error:.3f} (by chance about {self.chance:.3f})"
        return "\n".join([*lines, end])

    __repr__ = __str__


def reliability(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    prior: float,
    prior_interval: Sequence[float] | None = None,
    scenario: str = "case-control",
    pos_label: Label | None = None,
    sample_weight: ArrayLike | None = None,
    bins: int = 10,
    level: float = 0.9,
) -> Reliability:
    """prior * (share of P in the bin) / (share of U in the bin), against the mean probability.

    In single-set data population_prior and P and U together take the places of prior and U. It
    holds if labels are selected completely at random.

    Parameters
    ----------
    y, prior, prior_interval, scenario, pos_label, sample_weight, level
        As in :func:`robustpu.metrics.evaluate`.
    probability
        Of being positive, of rows that the model was not fitted on; shape (n,).
    bins
        Number of bins, with equal numbers of unlabelled rows; rows with equal probabilities stay
        together, so there may be fewer.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> probability = rng.random(20000)
    >>> positive = rng.random(20000) < probability**2
    >>> labeled = positive & (rng.random(20000) < 0.5)
    >>> found = reliability(labeled, probability, prior=0.2, scenario="single-set", bins=4)
    >>> found.predicted.round(1).tolist(), [round(share.value, 1) for share in found.share]
    ([0.1, 0.3, 0.6, 0.8], [0.0, 0.1, 0.3, 0.7])
    """
    check_number("bins", bins, least=1, whole=True)
    sample = sample_of(
        y,
        probability,
        prior=prior,
        prior_interval=prior_interval,
        scenario=scenario,
        pos_label=pos_label,
        sample_weight=sample_weight,
        level=level,
    )
    if min(sample.positive.min(), sample.unlabeled.min()) < 0 or (
        max(sample.positive.max(), sample.unlabeled.max()) > 1
    ):
        raise ValueError(
            "probability must lie in [0, 1]. Scores can only be evaluated as a ranking."
        )
    return _summary(sample, _edges(sample.unlabeled, bins))


def _edges(unlabeled: Floats, bins: int) -> Floats:
    """The lowest probability of each bin but the first, each one that occurs."""
    places = np.arange(1, bins) * len(unlabeled) // bins
    edges: Floats = np.unique(np.sort(unlabeled)[places])
    # The first bin must not be empty.
    above: Floats = edges[edges > unlabeled.min()]
    return above


def _summary(sample: Sample, edges: Floats) -> Reliability:
    def totals(probability: Floats, weight: Floats) -> tuple[Floats, Floats]:
        place = np.searchsorted(edges, probability, side="right")
        size = len(edges) + 1
        mass = np.bincount(place, weight, size).astype(np.float64)
        return mass, np.bincount(place, weight * probability, size).astype(np.float64)

    in_positive, sum_positive = totals(sample.positive, sample.weight_positive)
    in_unlabeled, sum_unlabeled = totals(sample.unlabeled, sample.weight_unlabeled)
    labeled = sample.labeled
    weight = labeled * in_positive + (1 - labeled) * in_unlabeled
    predicted = (labeled * sum_positive + (1 - labeled) * sum_unlabeled) / weight
    found = [
        replace(rates_of(sample), recall=float(p), rate=float(u))
        for p, u in zip(in_positive, in_unlabeled, strict=True)
    ]
    share = tuple(estimate_at(rates, sample, precision) for rates in found)
    error = weight @ np.abs(predicted - [estimate.value for estimate in share])
    errors = [_standard_error(p, rates, sample) for p, rates in zip(predicted, found, strict=True)]
    # The mean of the absolute value of a normal number is sqrt(2 / pi) of its standard error.
    chance = math.sqrt(2 / math.pi) * float(weight @ np.array(errors))
    return Reliability(predicted, share, weight, float(error), chance)


def _standard_error(predicted: float, rates: Rates, sample: Sample) -> float:
    """That of the share of positives in a bin, if the share is the predicted one."""
    prior, labeled, unlabeled = rates.population_prior, rates.labeled, rates.rate
    # The share s of P that makes prior s / (labeled s + (1 - labeled) unlabeled) the predicted one.
    positive = (1 - labeled) * unlabeled * predicted / max(prior - labeled * predicted, 1e-12)
    positive = min(positive, 1.0)
    total = labeled * positive + (1 - labeled) * unlabeled
    grad = prior * (1 - labeled) / total**2
    return math.hypot(
        grad * unlabeled * math.sqrt(_variance(positive, sample.weight_positive)),
        grad * positive * math.sqrt(_variance(unlabeled, sample.weight_unlabeled)),
    )


def _variance(share: float, weight: Floats) -> float:
    return share * (1 - share) / effective_rows(weight)
