"""Spies: positives hidden among the unlabelled rows tell which of these are negative."""

from typing import Any

import numpy as np

from robustpu.base.learners import scores
from robustpu.methods.two_step import TwoStepClassifier
from robustpu.training import TrainingData
from robustpu.training.data import Floats, Mask
from robustpu.validation.parameters import number, param, parameters


@parameters
class SpyClassifier(TwoStepClassifier):
    """Negatives are the unlabelled rows that score below all but a few spies; P against these.

    Some labelled positives, the spies, are put among the unlabelled rows, and a learner tells the
    rest of P from U and spies. Spies score as the hidden positives do, so an unlabelled row below
    nearly all spies is reliably negative. Assumes that labels are selected completely at
    random (SCAR). Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    estimator
        A scikit-learn classifier for both steps; by default logistic regression on standardised
        columns. It need not take sample weights, nor have ``predict_proba``.
    spy_ratio
        Share of the labelled positives that are spies.
    tolerance
        Share of the spies that may score below the threshold: some are outliers.
    n_draws
        How often spies are drawn. The probabilities of the draws are averaged.

    Attributes
    ----------
    estimators_
        The learner of the second step of each draw.
    n_reliable_
        Number of reliable negatives of each draw, (n_draws,).
    shift_
        Added to the log-odds of the averaged probabilities: no negative near the boundary is
        reliable, so without it too many rows would be predicted positive.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> from robustpu.methods.spy import SpyClassifier
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = SpyClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    spy_ratio: float = param(0.15, number(above=0, below=1))
    tolerance: float = param(0.05, number(least=0, below=1))

    def pick_negatives(self, data: TrainingData, random: np.random.RandomState) -> Mask:
        is_positive = data.is_positive
        spies = _draw(is_positive, self.spy_ratio, random)
        target = is_positive.copy()
        target[spies] = False
        score = scores(self.fitted_learner(data.X, target, data.weight, random), data.X)
        below = spy_threshold(score[spies], self.tolerance, data.weight[spies])
        negative = np.zeros_like(is_positive)
        negative[~is_positive] = self._reliable(score[~is_positive], below)
        return negative


def spy_threshold(score: Floats, tolerance: float, weight: Floats) -> float:
    """Find the largest score of a spy below which spies have at most the share ``tolerance``.

    Parameters
    ----------
    score
        Of each spy, (n,).
    tolerance
        Share of the weight of the spies; 0 gives the lowest score.
    weight
        Of each spy, (n,).

    Examples
    --------
    >>> spy_threshold(np.array([0.7, 0.1, 0.9, 0.8]), 0.25, np.ones(4))
    0.7
    """
    order = np.argsort(score)
    below = np.cumsum(weight[order]) - weight[order]
    # Of equal scores the first decides; a sum that is the share up to rounding is within it.
    within = below <= (tolerance + 1e-12) * weight.sum()
    return float(score[order][within].max())


def _draw(
    is_positive: Mask, ratio: float, random: np.random.RandomState
) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Choose spies, at least one; at least one positive stays."""
    positive = np.flatnonzero(is_positive)
    if len(positive) < 2:
        raise ValueError(
            "at least 2 labelled positives are needed, one of them as a spy; there is 1. Label "
            "more rows."
        )
    count = min(max(1, round(ratio * len(positive))), len(positive) - 1)
    return random.permutation(positive)[:count]
