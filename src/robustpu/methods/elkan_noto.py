"""Elkan-Noto: a classifier of labelled against unlabelled rows, corrected (Elkan, Noto, 2008)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.base.learners import scores
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.calibration import posterior
from robustpu.priors import inside
from robustpu.scenario import to_population
from robustpu.training import TrainingData
from robustpu.training.data import Floats, rows_of
from robustpu.validation.parameters import one_of, param, parameters


@parameters
class ElkanNotoClassifier(WrapperPUClassifier):
    """g(x) / c, or the learner fitted again with P(positive | x, unlabelled) as weights.

    g is the probability of a label, by any learner, and c = P(labelled | positive). Assumes that
    labels are selected completely at random (SCAR). Parameters as in
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

    correction: str = param("weighted", one_of("weighted", "scaled"))

    def estimate_prior(self, data: TrainingData, random: np.random.RandomState) -> float:
        self._labelled_ = self.cross_fit(data, random)
        if self.prior != "auto":
            return super().estimate_prior(data, random)
        # g sees weights, not counts, and so does c.
        positive, unlabeled = data.masses()
        rows = data.is_positive
        found = np.average(self._labelled_[rows], weights=data.weight[rows])
        labelled = np.clip(found, 1e-6, 1)
        # n_P / (n_P + prior n_U) = c, solved for the prior.
        prior = positive * (1 - labelled) / (labelled * unlabeled)
        return inside(float(prior), int((~rows).sum()))

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        # Needed for w(x) or for the scores of these rows, whatever the parameters are.
        if not hasattr(self, "_labelled_"):
            self._labelled_ = self.cross_fit(data, random)
        positive, unlabeled = data.masses()
        self.label_frequency_ = positive / (positive + self.prior_ * unlabeled)
        if self.correction == "scaled":
            rows = data.X, data.is_positive, data.weight
        else:
            rows = self._weighted(data)
        self.estimator_ = self.fitted_learner(*rows, random)

    def _weighted(self, data: TrainingData) -> tuple[Any, NDArray[Any], Floats]:
        """Rows, targets and weights: labelled rows are positives, unlabelled ones are both."""
        positive, unlabeled = np.flatnonzero(data.is_positive), np.flatnonzero(~data.is_positive)
        share = posterior(self._labelled_[unlabeled], self.label_frequency_)
        rows = np.concatenate([positive, unlabeled, unlabeled])
        target = np.repeat([1, 1, 0], [len(positive), len(unlabeled), len(unlabeled)])
        weight = data.weight[rows] * np.concatenate([np.ones(len(positive)), share, 1 - share])
        # The rows at hand may have another share of positives than the population has.
        mass = np.array([weight[target == 0].sum(), weight[target == 1].sum()])
        wanted = np.array([1 - self.population_prior_, self.population_prior_])
        weight *= (wanted / np.maximum(mass, 1e-12))[target] * len(data)
        return rows_of(data.X, rows), target, weight

    def score_rows(self, X: Any) -> Floats:
        score = scores(self.estimator_, X)
        return self._corrected(score) if self.correction == "scaled" else score

    def score_training_rows(self, X: Any) -> Floats:
        if self.correction == "weighted":
            return self.score_rows(X)
        # A learner that has seen a row without a label denies it one: scores out of fold.
        return self._corrected(self._labelled_)

    def _corrected(self, labelled: Floats) -> Floats:
        share = posterior(labelled, self.label_frequency_)
        return to_population(share, *self.score_priors())
