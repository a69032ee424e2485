"""Metrics of a ranking: no threshold, only the order of the scores."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np
from scipy.special import stdtrit

from robustpu.metrics.checked import precision_of_list
from robustpu.metrics.estimates import Estimate, combine, scaled, widened, wilson
from robustpu.metrics.sample import Floats, Sample, effective_rows
from robustpu.thresholds import tail

Ranking: TypeAlias = Callable[[Sample], Estimate]


def auc(sample: Sample) -> Estimate:
    """(A - prior/2) / (1 - prior), A the chance that a labelled row outranks an unlabelled one.

    A U-statistic of two samples, with its variance after DeLong et al. (1988).
    """
    wins, losses = placements(sample)
    area = float(sample.weight_positive @ wins)
    error = math.hypot(
        standard_error(wins, sample.weight_positive),
        standard_error(losses, sample.weight_unlabeled),
    )

    alike = _above_hidden(sample)

    def corrected(area: float, prior: float) -> float:
        return (area - prior * alike) / (1 - prior)

    raw = corrected(area, sample.prior)
    if fewest(sample) <= 1:
        return _unknown(raw)
    half = quantile(sample) * error / (1 - sample.prior)
    ends = [
        (raw - half, raw + half),
        (corrected(area, sample.priors[0]), corrected(area, sample.priors[1])),
    ]
    # Few rows that are all ranked correctly have no spread. A row with a score is worth
    # about two rows with a prediction: the variance of scores that fall off exponentially.
    room = wilson(min(max(raw, 0.0), 1.0), 2 * fewest(sample), sample.z)
    return widened(combine(raw, ends, (0.0, 1.0)), room)


def _above_hidden(sample: Sample) -> float:
    """Chance that a positive outranks an unlabelled one: 1/2 unless some were likelier labelled."""
    if sample.weight_hidden is sample.weight_positive:
        return 0.5
    above, not_below = tail(sample.positive, sample.weight_hidden, sample.positive)
    return 1 - float(sample.weight_positive @ (above + not_below)) / 2


def placements(sample: Sample) -> tuple[Floats, Floats]:
    """Share of the U rows that each P row outranks, and of the P rows that outrank each U row."""
    above, not_below = tail(sample.unlabeled, sample.weight_unlabeled, sample.positive)
    wins = 1 - (above + not_below) / 2
    above, not_below = tail(sample.positive, sample.weight_positive, sample.unlabeled)
    return wins, (above + not_below) / 2


def auc_of_labeled(sample: Sample) -> Estimate:
    """A of :func:`auc`: the chance that a labelled row outranks an unlabelled one.

    It does not depend on the prior, and is at most 1 - prior/2: hidden positives rank as high.
    """
    return auc(replace(sample, prior=0.0, priors=(0.0, 0.0)))


class Interval(Protocol):
    """A value with the ends of its interval."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


def beats_chance(area: Interval) -> bool:
    """low > 1/2, of the AUC of labelled against unlabelled rows: no share of positives is used.

    Examples
    --------
    >>> beats_chance(Estimate(0.47, 0.39, 0.54, 0.47, False))
    False
    """
    return area.low > 0.5


def chance_doubt(area: Interval, level: float) -> str:
    """Say that no ranking was shown, and why that may be."""
    return (
        "Held-out rows do not show that labelled positives rank above unlabelled rows more than by "
        f"chance: AUC {area.value:.2f} ({area.low:.2f} to {area.high:.2f}, {level:.0%} interval), "
        "and 0.5 is chance. Either the columns say nothing about what is positive, or there are "
        "too few labelled rows to see it, or nearly all unlabelled rows are positive. Do not act "
        "on the list."
    )


def average_precision(sample: Sample) -> Estimate:
    """Mean over labelled positives of pi recall / rate, both at the positive's own score.

    The recall leaves the positive itself out, and the rate of case-control data has one row added:
    so the mean of the ratio is the ratio wanted, except for the chance that no unlabelled row is as
    high, which lowers the estimate by at most one in the number of unlabelled positives. That is
    before the cut at 1, which a good model on few rows often needs. The interval is by the delta
    method: a row counts at every threshold below its score.
    """
    score, weight = sample.positive, sample.weight_positive
    labeled = sample.labeled
    _, reached = tail(score, weight, score)
    recall = (reached - weight) / (1 - weight) if len(score) > 1 else reached
    _, rate = tail(sample.unlabeled, sample.weight_unlabeled, score)
    if labeled == 0:
        row = 1 / effective_rows(sample.weight_unlabeled)
        rate = (rate + row) / (1 + row)
    _, of_labeled = tail(score, sample.weight_labeled, score)
    predicted = labeled * (recall + of_labeled - reached) + (1 - labeled) * rate
    # The highest row of all, if labelled, has nothing at or above it but itself.
    predicted = np.where(predicted > 0, predicted, np.inf)

    def population(prior: float) -> float:
        return labeled + (1 - labeled) * prior

    ratio = recall / predicted
    mean = float(weight @ ratio)
    grad = weight * population(sample.prior) * (1 - labeled) / predicted**2
    by_positive = population(sample.prior) * ratio + _at_most(score, grad * rate, score)
    by_unlabeled = _at_most(score, grad * recall, sample.unlabeled)
    raw = population(sample.prior) * mean
    if fewest(sample) <= 1:
        return _unknown(raw)
    half = quantile(sample) * math.hypot(
        standard_error(by_positive, weight),
        standard_error(by_unlabeled, sample.weight_unlabeled),
    )
    # Ratios have long tails to the right: the logarithm is nearer to normal.
    factor = math.exp(min(half / raw, 700.0)) if raw > 0 else 1.0
    ends = [
        (raw / factor, raw * factor),
        (population(sample.priors[0]) * mean, population(sample.priors[1]) * mean),
    ]
    room = wilson(min(max(raw, 0.0), 1.0), fewest(sample), sample.z)
    return widened(combine(raw, ends, (0.0, 1.0)), room)


def precision_at_k(sample: Sample) -> Estimate:
    """prior recall(t) / rate(t), with t the k-th highest score of the unlabelled rows.

    The share of positives among the k unlabelled rows with the highest scores, these very rows:
    the interval accounts for the sampling of these rows too. Of
    rows with equal scores at the end of the list, as many count as fit, as if drawn at random.
    From ten checked rows on, it is what they and the ranks say of the first k others.
    """
    if sample.posterior is not None:
        return precision_of_list(sample)
    recall, rate = _first_k(sample)
    raw = sample.prior * recall / rate
    share = min(max(raw, 0.0), 1.0)
    weight = sample.weight_unlabeled
    rows = sample.k * effective_rows(weight) / len(weight)
    # Luck of the list, Bernoulli(share) a row, and of its end, which settles the rate:
    # share (1 - share) / k + share^2 (1 - rate) / k.
    half = sample.z * math.sqrt(share * (1 - share * rate) / rows)
    of_recall = wilson(recall, effective_rows(sample.weight_hidden), sample.z)
    low, high = (sample.prior * end / rate for end in of_recall)
    ends = [
        (low, high),
        (raw - half, raw + half),
        (sample.priors[0] * recall / rate, sample.priors[1] * recall / rate),
    ]
    # A share far above 1 before the cut would leave no room at all.
    return widened(combine(raw, ends, (0.0, 1.0)), wilson(share, rows, sample.z))


def lift_at_k(sample: Sample) -> Estimate:
    """precision_at_k / prior = recall(t) / rate(t), which does not depend on the prior.

    At most 1 / rate(t), where all positives are in the list.
    """
    known = replace(sample, priors=(sample.prior, sample.prior), posterior=None)
    found = scaled(precision_at_k(known), 1 / sample.prior)
    _, rate = _first_k(sample)
    return replace(found, high=min(found.high, 1 / rate))


def _first_k(sample: Sample) -> tuple[float, float]:
    """Shares of the labelled and of the unlabelled rows that are in the list."""
    k, hidden = sample.k, sample.weight_hidden
    last = np.partition(sample.unlabeled, -k)[-k]
    above, not_below = (float(x) for x in tail(sample.positive, hidden, last))
    before = int((sample.unlabeled > last).sum())
    fitting = (k - before) / int((sample.unlabeled == last).sum())
    recall = above + fitting * (not_below - above)
    above, not_below = (float(x) for x in tail(sample.unlabeled, sample.weight_unlabeled, last))
    return recall, above + fitting * (not_below - above)


def prior_of_lift(sample: Sample) -> float:
    """The prior for the lift where the share is not known: that of the sample, or k / n_U if less.

    The recall is at most 1, so the lift is at most n_U / k, and with this prior nothing is cut off.
    With none at all a single positive on the list by chance would be any lift.
    """
    return min(sample.prior, sample.k / len(sample.unlabeled))


def positives_at_k(sample: Sample) -> Estimate:
    """k precision_at_k."""
    return scaled(precision_at_k(sample), sample.k)


RANKINGS: Mapping[str, Ranking] = {
    "auc": auc,
    "average_precision": average_precision,
    "precision_at_k": precision_at_k,
    "lift_at_k": lift_at_k,
    "positives_at_k": positives_at_k,
}


def estimates(sample: Sample) -> dict[str, Estimate]:
    """All metrics of the sample's ranking."""
    return {name: metric(sample) for name, metric in RANKINGS.items()}


def standard_error(value: Floats, weight: Floats) -> float:
    """sqrt(sum w^2 (v - mean)^2 / (1 - sum w^2)) of a weighted mean; the weights sum to 1.

    Examples
    --------
    >>> standard_error(np.array([1.0, 3.0]), np.array([0.5, 0.5]))
    1.0
    """
    spread = weight @ (weight * (value - weight @ value) ** 2)
    left = 1 - weight @ weight
    return math.sqrt(spread / left) if left > 0 else 0.0


def fewest(sample: Sample) -> float:
    """Rows of the label that has fewer of them, as many as tell."""
    return min(effective_rows(sample.weight_positive), effective_rows(sample.weight_unlabeled))


def quantile(sample: Sample) -> float:
    """Half the width of an interval in standard errors that were estimated: Student's t."""
    return float(stdtrit(max(1.0, fewest(sample) - 1), (1 + sample.level) / 2))


def _unknown(raw: float) -> Estimate:
    """The estimate of a single row: it says nothing about the others."""
    return widened(combine(raw, [(raw, raw)], (0.0, 1.0)), (0.0, 1.0))


def _at_most(score: Floats, mass: Floats, at: Floats) -> Floats:
    """Mass of the scores at or below each of ``at``."""
    above, _ = tail(score, mass, at)
    at_most: Floats = mass.sum() - above
    return at_most
