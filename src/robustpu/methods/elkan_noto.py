"""Elkan-Noto: a classifier of labelled against unlabelled rows, corrected (Elkan, Noto, 2008)."""

from typing import Any

import numpy as np

from robustpu.base import parameters
from robustpu.naming import pick
from robustpu.scenario import label_frequency, population_prior
from robustpu.wrapper import Floats, Mask, WrapperPUClassifier, rows_of, scores


@parameters
class ElkanNotoClassifier(WrapperPUClassifier):
    """g(x) / c, or the learner fitted again with P(positive | x, unlabelled) as weights.

    g is the probability of a label, by any learner, and c = P(labelled | positive). Assumes that
    labelled positives are a fair sample of all positives. Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    estimator
        A scikit-learn classifier whose probabilities can be trusted; by default logistic
        regression on standardised columns. ``"weighted"`` needs one that takes sample weights.
    correction
        ``"weighted"``: every unlabelled row counts as a positive with weight w(x) and as a negative
        with weight 1 - w(x), w(x) = (1 - c) / c g(x) / (1 - g(x)) out of fold.
        ``"scaled"``: probabilities are g(x) / c, or w(x) if the scenario is case-control.
    prior
        ``"auto"``: c is the mean out-of-fold g of the labelled positives, which is right if
        classes do not overlap, and gives too large a prior if they do.

    Attributes
    ----------
    label_frequency_
        c in the rows that were given.

    Examples
    --------
    >>> from robustpu import ElkanNotoClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = ElkanNotoClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    correction: str = "weighted"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        pick("correction", self.correction, CORRECTIONS)

    def _set_prior(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        n_positive, n_unlabeled = int(is_positive.sum()), int((~is_positive).sum())
        if self.prior != "auto":
            super()._set_prior(X, is_positive, weight, random)
        else:
            score = self._out_of_fold(X, is_positive, weight, random)
            labelled = np.clip(np.average(score[is_positive]), 1e-6, 1)
            # n_P / (n_P + prior n_U) = c, solved for the prior.
            found = n_positive * (1 - labelled) / (labelled * n_unlabeled)
            edge = 1 / (n_unlabeled + 1)
            self.prior_ = float(min(max(found, edge), 1 - edge))
            counts = n_positive, n_unlabeled
            self.population_prior_ = population_prior(self.prior_, *counts, self.scenario)
        self.label_frequency_ = label_frequency(self.prior_, n_positive, n_unlabeled)

    def _learn(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        CORRECTIONS[self.correction](self, X, is_positive, weight, random)

    def _scale(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        self.estimator_ = self._fitted(X, is_positive, weight, random)

    def _reweigh(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        labelled = self._out_of_fold(X, is_positive, weight, random)
        positive, unlabeled = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        own = np.ones(len(is_positive)) if weight is None else weight
        share = posterior(labelled[unlabeled], self.label_frequency_)
        # Labelled rows are positives, unlabelled ones are both.
        rows = np.concatenate([positive, unlabeled, unlabeled])
        target = np.repeat([1, 1, 0], [len(positive), len(unlabeled), len(unlabeled)])
        weights = own[rows] * np.concatenate([np.ones(len(positive)), share, 1 - share])
        # The rows at hand may have another share of positives than the population has.
        mass = np.array([weights[target == 0].sum(), weights[target == 1].sum()])
        wanted = np.array([1 - self.population_prior_, self.population_prior_])
        weights *= (wanted / np.maximum(mass, 1e-12))[target] * len(own)
        self.estimator_ = self._fitted(rows_of(X, rows), target, weights, random)

    def _answer(self, X: Any) -> Floats:
        score = scores(self.estimator_, X)
        if self.correction == "weighted":
            return score
        if self.scenario == "single-set":
            return np.minimum(score / self.label_frequency_, 1)
        return posterior(score, self.label_frequency_)


CORRECTIONS = {
    "weighted": ElkanNotoClassifier._reweigh,
    "scaled": ElkanNotoClassifier._scale,
}


def posterior(labelled: Floats, frequency: float) -> Floats:
    """P(positive | x, unlabelled) = (1 - c) / c g / (1 - g), at most 1.

    Parameters
    ----------
    labelled
        g, the probability of a label of each row, (n,).
    frequency
        c, the probability of a label of a positive.

    Examples
    --------
    >>> posterior(np.array([0.0, 0.2, 0.5]), 0.5).tolist()
    [0.0, 0.25, 1.0]
    """
    odds = labelled / np.maximum(1 - labelled, 1e-12)
    return np.minimum((1 - frequency) / frequency * odds, 1)
