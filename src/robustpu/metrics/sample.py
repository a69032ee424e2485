"""Labels and scores in, the scores of P and of U with their weights out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length

from robustpu import labels
from robustpu.cautious import SharePosterior, by_weight, share_posterior
from robustpu.propensity import check, inverse_weight
from robustpu.scenario import check_prior, check_scenario
from robustpu.validation.numbers import check_number

Floats: TypeAlias = NDArray[np.float64]

# Of fewer checked rows, intervals hold the truth too rarely, see docs/checked_rows.md.
FEWEST: Final = 10


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Held-out labelled positives and unlabelled rows, and what is known about them.

    Attributes
    ----------
    positive, unlabeled
        Scores, shapes (n_P,) and (n_U,).
    weight_positive, weight_unlabeled
        Weights of these rows, each array with the sum 1.
    prior
        Share of positives among the unlabelled rows.
    priors
        Lower and upper end of the interval of the prior; both are the prior if it is known.
    labeled
        Share of labelled rows in the population: 0 if case-control.
    threshold
        Rows with at least this score are predicted positive.
    k
        Length of the list of the unlabelled rows with the highest scores.
    level
        Probability that an interval holds the truth.
    propensity
        Of the labelled rows, (n_P,), whose weights have its inverse; None if labels are selected
        completely at random.
    outcome
        Of the unlabelled rows that were checked: 1 positive, 0 negative; NaN of others, (n_U,).
        None without checked rows.
    posterior
        What ranks and outcomes say of the share of positives at each rank; None if fewer than ten
        rows were checked.
    """

    positive: Floats
    unlabeled: Floats
    weight_positive: Floats
    weight_unlabeled: Floats
    prior: float
    priors: tuple[float, float]
    labeled: float
    threshold: float
    k: int
    level: float
    propensity: Floats | None = None
    outcome: Floats | None = None
    posterior: SharePosterior | None = None

    @property
    def weight_labeled(self) -> Floats:
        """Weights of the labelled rows as what they are, (n_P,), of sum 1."""
        return self._weight_times(self.propensity)

    @property
    def weight_hidden(self) -> Floats:
        """Weights of the labelled rows as a sample of the unlabelled positives, (n_P,), of sum 1.

        Of single-set data the labels have taken away those that were likely to get one.
        """
        if self.propensity is None or self.labeled == 0:
            return self.weight_positive
        return self._weight_times(1 - self.propensity)

    def _weight_times(self, factor: Floats | None) -> Floats:
        if factor is None or not factor.any():
            return self.weight_positive
        weight = self.weight_positive * factor
        scaled: Floats = weight / weight.sum()
        return scaled

    @property
    def n_checked(self) -> int:
        """Number of the rows that were checked."""
        return 0 if self.outcome is None else int(np.isfinite(self.outcome).sum())

    @property
    def z(self) -> float:
        """Half the width of an interval, in standard errors."""
        return NormalDist().inv_cdf((1 + self.level) / 2)


def sample_of(
    y: ArrayLike,
    score: ArrayLike,
    *,
    prior: float,
    prior_interval: Sequence[float] | None = None,
    threshold: float = 0.5,
    scenario: str = "case-control",
    pos_label: labels.Label | None = None,
    neg_label: labels.Label | None = None,
    checked: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    labeled_share: float | None = None,
    k: int | None = None,
    level: float = 0.9,
    propensity: ArrayLike | None = None,
) -> Sample:
    """Check the input and split it; for the parameters see :func:`robustpu.metrics.evaluate`.

    Examples
    --------
    >>> sample = sample_of([1, 1, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.2], prior=0.4)
    >>> sample.unlabeled.tolist(), sample.k
    ([0.8, 0.1, 0.2], 1)
    """
    prior = check_prior(prior)
    check_scenario(scenario)
    check_number("threshold", threshold)
    check_number("level", level, above=0, below=1)
    check_number("labeled_share", labeled_share, above=0, below=1, optional=True)
    scores = read_scores(score)
    check_consistent_length(y, scores)
    weight = _weights(sample_weight, len(scores))
    # Rows with zero sample weight do not count.
    kept = np.flatnonzero(weight > 0)
    rows = None if checked is None else np.asarray(checked)[kept]
    known = labels.read_known(np.asarray(y)[kept], pos_label, neg_label, rows)
    before = known.before(labels.encode(known.y, pos_label)[1])
    kept, is_positive = kept[before.tells], before.is_positive[before.tells]
    scores, weight = scores[kept], weight[kept]
    given = None
    if propensity is not None:
        given = check(np.asarray(propensity)[kept], is_positive)
        weight = inverse_weight(weight, given, is_positive)
    mass = [weight[is_positive].sum(), weight[~is_positive].sum()]
    unlabeled = scores[~is_positive]
    labeled = float(mass[0] / sum(mass)) if labeled_share is None else float(labeled_share)
    outcome = None if before.outcome is None else before.outcome[before.tells][~is_positive]
    if outcome is not None and np.isnan(outcome).all():
        outcome = None
    sample = Sample(
        positive=scores[is_positive],
        unlabeled=unlabeled,
        weight_positive=weight[is_positive] / mass[0],
        weight_unlabeled=weight[~is_positive] / mass[1],
        prior=prior,
        priors=_interval(prior, prior_interval),
        labeled=labeled if scenario == "single-set" else 0.0,
        threshold=float(threshold),
        k=_length(k, prior, len(unlabeled)),
        level=float(level),
        propensity=None if given is None else given[is_positive],
        outcome=outcome,
    )
    return sample if sample.n_checked < FEWEST else replace(sample, posterior=_posterior(sample))


def _posterior(sample: Sample) -> SharePosterior:
    positive = sample.positive
    if sample.propensity is not None:
        # Ranks of the unlabelled positives.
        positive = by_weight(positive, sample.weight_hidden)
    return share_posterior(positive, sample.unlabeled, sample.outcome)


def effective_rows(weight: Floats) -> float:
    """(sum w)^2 / sum w^2, the effective sample size (Kish).

    Examples
    --------
    >>> effective_rows(np.array([2.0, 2.0, 2.0]))
    3.0
    """
    return float(weight.sum() ** 2 / (weight**2).sum())


def read_scores(score: ArrayLike) -> Floats:
    """Scores as numbers, (n,); NaN is refused."""
    scores = np.asarray(score, dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(
            f"score must have one number a row, shape (n,); its shape is {scores.shape}. Of "
            "predict_proba, give the column of the positive class."
        )
    if np.isnan(scores).any():
        raise ValueError("score contains NaN, expected a number for each row.")
    return scores


def _weights(sample_weight: ArrayLike | None, rows: int) -> Floats:
    if sample_weight is None:
        return np.ones(rows)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (rows,) or not np.all(np.isfinite(weight) & (weight >= 0)):
        raise ValueError(
            f"sample_weight must have one finite number of at least 0 for each of the {rows} rows."
        )
    return weight


def _interval(prior: float, interval: Sequence[float] | None) -> tuple[float, float]:
    if interval is None:
        return prior, prior
    low, high = (float(end) for end in interval) if len(interval) == 2 else (math.nan, math.nan)
    if not 0 <= low <= prior <= high < 1:
        raise ValueError(
            f"prior_interval must be a pair (low, high) in [0, 1) around the prior of {prior:g}; "
            f"it is {interval!r}."
        )
    return low, high


def _length(k: int | None, prior: float, rows: int) -> int:
    check_number("k", k, least=1, whole=True, optional=True)
    if k is None:
        return min(rows, max(1, round(prior * rows)))
    if k > rows:
        raise ValueError(
            f"k must be at most the number of unlabelled rows, {rows}; it is {k}. Give a smaller "
            "k, or more rows."
        )
    return int(k)
