"""Two steps: rows of U that are reliably negative are picked, then P is told from these."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit

from robustpu import labels
from robustpu.base import parameters
from robustpu.checks import check_number
from robustpu.thresholds import log_odds, matching_shift
from robustpu.wrapper import Floats, Mask, WrapperPUClassifier, rows_of, scores

# Of the negatives that U should hold, the share that is picked at least.
LEAST = 0.2


@parameters
class TwoStepClassifier(WrapperPUClassifier):
    """Base of the two-step methods; a method fills in ``_pick``.

    Reliable negatives lie far from the boundary, so a learner of P against them answers positive
    too often, and their number has nothing to do with the prior. Therefore the log-odds of the
    second step are shifted until the mean probability of the rows that are a sample of the
    population (U, or all rows if single-set) is ``population_prior_``. The mean of what is no
    probability says nothing: without ``predict_proba`` the share of positive answers is matched.
    """

    n_draws: int = 5

    @abstractmethod
    def _pick(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> Mask:
        """Pick reliable negatives, at least one, among the unlabelled rows, (n,)."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_draws", self.n_draws, least=1, whole=True)

    def _learn(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        if weight is not None:
            X, is_positive, weight = _counting(X, is_positive, weight)
        self.estimators_, picked = [], []
        for _ in range(self.n_draws):
            negative = self._pick(X, is_positive, weight, random)
            self.estimators_.append(self._against(X, is_positive, negative, weight, random))
            picked.append(int(negative.sum()))
        self.n_reliable_ = np.array(picked)
        match = matching_shift if hasattr(self.estimators_[0], "predict_proba") else _quantile_shift
        self.shift_ = match(*self._sample(self._log_odds(X), is_positive, weight))

    def _answer(self, X: Any) -> Floats:
        answer: Floats = expit(self._log_odds(X) + self.shift_)
        return answer

    def _log_odds(self, X: Any) -> Floats:
        return log_odds(np.mean([scores(own, X) for own in self.estimators_], axis=0))

    def _against(
        self,
        X: Any,
        is_positive: Mask,
        negative: Mask,
        weight: Floats | None,
        random: np.random.RandomState,
    ) -> Any:
        """Fit the learner to P against some negatives; the other rows are left out."""
        rows = np.flatnonzero(is_positive | negative)
        own = None if weight is None else weight[rows]
        return self._fitted(rows_of(X, rows), is_positive[rows], own, random)

    def _sample(
        self, score: Floats, is_positive: Mask, weight: Floats | None
    ) -> tuple[Floats, float, Floats]:
        """Give scores of a sample of the population, its share of positives, and weights."""
        rows = ~is_positive if self.scenario == "case-control" else np.ones_like(is_positive)
        own = np.ones(len(score)) if weight is None else weight
        return score[rows], self.population_prior_, own[rows]

    def _reliable(self, score: Floats, below: float) -> Mask:
        return reliable(score, below, LEAST * (1 - self.prior_))


def _counting(X: Any, is_positive: Mask, weight: Floats) -> tuple[Any, Mask, Floats]:
    """Leave out rows of weight 0."""
    labels.refuse_weightless(is_positive, weight)
    rows = np.flatnonzero(weight)
    return rows_of(X, rows), is_positive[rows], weight[rows]


def reliable(score: Floats, below: float, least: float) -> Mask:
    """Pick the rows with score < below; if these are too few, the lowest-scored share ``least``.

    Parameters
    ----------
    score
        Of unlabelled rows, the lower the less like a positive, (n,).
    below
        Scores below it are reliable.
    least
        Share of the rows that is too few. Rows that tie with the last one of them are in as well.

    Examples
    --------
    >>> reliable(np.array([0.1, 0.2, 0.2, 0.9]), below=0.15, least=0.25).tolist()
    [True, False, False, False]
    >>> reliable(np.array([0.1, 0.2, 0.2, 0.9]), below=0.15, least=0.5).tolist()
    [True, True, True, False]
    """
    chosen: Mask = score < below
    if chosen.mean() < least or not chosen.any():
        # Rounding must not ask for one row more.
        count = max(1, int(np.ceil(least * len(score) - 1e-9)))
        chosen = score <= np.sort(score)[count - 1]
    return chosen


def boundary(score: Floats, share: float, weight: Floats) -> float:
    """Find the middle of the gap of the scores above which the share is nearest to ``share``.

    Parameters
    ----------
    score
        Of each row, (n,). If all are equal there is no gap, and the boundary is this score.
    share
        Wanted above the boundary, in (0, 1).
    weight
        Of each row, (n,).

    Examples
    --------
    >>> boundary(np.array([1.0, 2.0, 4.0, 4.0]), 0.6, np.ones(4))
    3.0
    """
    values, place = np.unique(score, return_inverse=True)
    if len(values) == 1:
        return float(values[0])
    mass = np.bincount(place, weight)
    above = np.cumsum(mass[::-1])[::-1][1:] / mass.sum()
    gap = int(np.argmin(np.abs(above - share)))
    return float((values[gap] + values[gap + 1]) / 2)


def _quantile_shift(odds: Floats, share: float, weight: Floats) -> float:
    return -boundary(odds, share, weight)
