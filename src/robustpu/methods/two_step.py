"""Two steps: rows of U that are reliably negative are picked, then P is told from these."""

from abc import abstractmethod
from typing import Any

import numpy as np
from scipy.special import expit

from robustpu.base.learners import scores
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.calibration import log_odds, matching_shift, quantile_shift
from robustpu.training import TrainingData
from robustpu.training.data import Floats, Mask
from robustpu.validation.parameters import number, param, parameters

# Of the negatives that U should hold, the share that is picked at least.
LEAST = 0.2


@parameters
class TwoStepClassifier(WrapperPUClassifier):
    """Base of the two-step methods; a method fills in ``pick_negatives``.

    Reliable negatives lie far from the boundary, so a learner of P against them predicts positive
    too often, and their number has nothing to do with the prior. Therefore the log-odds of the
    second step are shifted until the mean probability of the rows that are a sample of the
    population (U, or all rows if single-set) is ``population_prior_``. The mean of what is no
    probability says nothing: without ``predict_proba`` the share predicted positive is matched.
    """

    n_draws: int = param(5, number(least=1, whole=True))

    @abstractmethod
    def pick_negatives(self, data: TrainingData, random: np.random.RandomState) -> Mask:
        """Pick reliable negatives, at least one, among the unlabelled rows, (n,)."""

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        data = data.with_weight()
        self.estimators_, picked = [], []
        for _ in range(self.n_draws):
            negative = self.pick_negatives(data, random)
            if data.is_negative is not None:
                negative = negative | data.is_negative
            self.estimators_.append(self._against(data, negative, random))
            picked.append(int(negative.sum()))
        self.n_reliable_ = np.array(picked)
        match = matching_shift if hasattr(self.estimators_[0], "predict_proba") else quantile_shift
        self.shift_ = match(*self._sample(self._log_odds(data.X), data))

    def score_rows(self, X: Any) -> Floats:
        probability: Floats = expit(self._log_odds(X) + self.shift_)
        return probability

    def _log_odds(self, X: Any) -> Floats:
        return log_odds(np.mean([scores(learner, X) for learner in self.estimators_], axis=0))

    def _against(self, data: TrainingData, negative: Mask, random: np.random.RandomState) -> Any:
        """Fit the learner to P against some negatives; the other rows are left out."""
        part = data.take(np.flatnonzero(data.is_positive | negative))
        return self.fitted_learner(part.X, part.is_positive, part.weight, random)

    def _sample(self, score: Floats, data: TrainingData) -> tuple[Floats, float, Floats]:
        """Give scores of a sample of the population, its share of positives, and weights."""
        is_in = np.ones(len(data), dtype=np.bool_)
        rows = ~data.is_positive if self.scenario == "case-control" else is_in
        return score[rows], self.population_prior_, data.weight[rows]

    def _reliable(self, score: Floats, below: float) -> Mask:
        return reliable(score, below, LEAST * (1 - self.prior_))


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
