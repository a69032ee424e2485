"""Elkan-Noto: a classifier of labelled against unlabelled rows, corrected (Elkan, Noto, 2008)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robustpu import labels
from robustpu.base import parameters
from robustpu.naming import suggest
from robustpu.scenario import population_prior
from robustpu.wrapper import Floats, Mask, WrapperPUClassifier, masses, rows_of, scores


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
        ``"scaled"``: probabilities are g(x) / c, or w(x) if the scenario is case-control; those of
        the training rows, ``probability_``, are out of fold.
    prior
        ``"auto"``: c is the mean out-of-fold g of the labelled positives, which is right if
        classes do not overlap, and gives too large a prior if they do.

    Attributes
    ----------
    label_frequency_
        c in the rows that were given, each counted by its sample weight.

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
        if not (isinstance(self.correction, str) and self.correction in CORRECTIONS):
            hint = suggest(self.correction, CORRECTIONS)
            raise ValueError(f"unknown correction {self.correction!r}{hint}")

    def _set_prior(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        if weight is not None:
            labels.refuse_weightless(is_positive, weight)
        # g sees weights, not counts, and so does c.
        mass = masses(is_positive, weight)
        # Needed for c, for w(x) or for the answers on these rows: whatever the parameters are.
        self._labelled_ = self._out_of_fold(X, is_positive, weight, random)
        if self.prior != "auto":
            super()._set_prior(X, is_positive, weight, random)
        else:
            own = None if weight is None else weight[is_positive]
            found = np.average(self._labelled_[is_positive], weights=own)
            labelled = np.clip(found, 1e-6, 1)
            edge = 1 / (int((~is_positive).sum()) + 1)
            # n_P / (n_P + prior n_U) = c, solved for the prior.
            prior = mass[0] * (1 - labelled) / (labelled * mass[1])
            self.prior_ = float(min(max(prior, edge), 1 - edge))
            self.population_prior_ = population_prior(self.prior_, *mass, self.scenario)
        self.label_frequency_ = mass[0] / (mass[0] + self.prior_ * mass[1])

    def _learn(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        CORRECTIONS[self.correction].learn(self, X, is_positive, weight, random)

    def _scale(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        self.estimator_ = self._fitted(X, is_positive, weight, random)

    def _reweigh(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        positive, unlabeled = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        own = np.ones(len(is_positive)) if weight is None else weight
        share = posterior(self._labelled_[unlabeled], self.label_frequency_)
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
        return CORRECTIONS[self.correction].answer(self, scores(self.estimator_, X))

    def _answer_own(self, X: Any) -> Floats:
        return CORRECTIONS[self.correction].answer_own(self, X)

    def _answer_out_of_fold(self, X: Any) -> Floats:
        # A learner that has seen a row without a label denies it one.
        return self._corrected(self._labelled_)

    def _as_they_are(self, positive: Floats) -> Floats:
        return positive

    def _corrected(self, labelled: Floats) -> Floats:
        share = posterior(labelled, self.label_frequency_)
        return to_population(share, self.prior_, self.population_prior_)


class Correction(NamedTuple):
    """How the learner is fitted, what its scores mean, and what its own rows are answered."""

    learn: Callable[..., None]
    answer: Callable[[ElkanNotoClassifier, Floats], Floats]
    answer_own: Callable[[ElkanNotoClassifier, Any], Floats]


CORRECTIONS = {
    "weighted": Correction(
        ElkanNotoClassifier._reweigh, ElkanNotoClassifier._as_they_are, ElkanNotoClassifier._answer
    ),
    "scaled": Correction(
        ElkanNotoClassifier._scale,
        ElkanNotoClassifier._corrected,
        ElkanNotoClassifier._answer_out_of_fold,
    ),
}


def posterior(labelled: Floats, frequency: float) -> Floats:
    """P(positive | x, unlabelled) = (1 - c) / c g / (1 - g), capped at 1 so that order is kept.

    Learners are not exact, so the formula may exceed 1; the further it does, the nearer to 1.

    Parameters
    ----------
    labelled
        g, the probability of a label of each row, (n,).
    frequency
        c, the probability of a label of a positive.

    Examples
    --------
    >>> posterior(np.array([0.0, 0.2, 0.5, 0.6]), 0.5).round(4).tolist()
    [0.0, 0.25, 0.995, 0.9998]
    """
    ratio = (1 - frequency) / frequency * labelled / np.maximum(1 - labelled, 1e-12)
    # A hyperbola that meets the line at 0.99 with slope 1: suspects beyond it stay ranked.
    return np.where(ratio < 0.99, ratio, 1 - 1e-4 / np.maximum(ratio - 0.98, 0.01))


def to_population(probability: Floats, prior: float, population: float) -> Floats:
    """P(positive | x) in the population from that among the unlabelled rows: odds times a constant.

    In case-control data both are the same. In single-set data it makes g / c of ``posterior``.

    Parameters
    ----------
    probability
        P(positive | x, unlabelled) of each row, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.

    Examples
    --------
    >>> to_population(np.array([0.25, 0.5]), 0.25, 0.5).tolist()
    [0.5, 0.75]
    """
    positive = population / prior * probability
    return positive / (positive + (1 - population) / (1 - prior) * (1 - probability))
