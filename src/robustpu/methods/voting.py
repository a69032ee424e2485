"""Averages of classifiers of this library: any of them, networks trained together."""

import math
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from robustpu.base.arrays import check_table, check_training_data, edges_of
from robustpu.base.classifier import BasePUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.methods.diagram import side_by_side
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.modules import scale_of
from robustpu.modules.rows import blocks, inputs_of, is_mapped, some_of_each
from robustpu.priors import Sample, needs_estimation
from robustpu.training import Job, Problem, Scores, TrainingData
from robustpu.training.data import Floats, Index, Mask, kept_masses
from robustpu.training.members import Inputs, first_folds
from robustpu.validation.parameters import check_parameters, param, parameters

Named = Sequence[tuple[str, Any]]

# Bytes of rows, in double precision, that a classifier gets of a mapped file if it holds them; and
# rows at least.
HELD = 1 << 28
LEAST = 2_000
# Standardised numbers that are as far away as can be: sums of them are finite in single precision.
FAR = 1e30
# Numbers of the rows that are scored at a time.
SCORED = 1 << 22


@parameters
class PUVotingClassifier(BasePUClassifier):
    """p(x) = sum of w_k p_k(x): the weighted mean of the probabilities of several classifiers.

    All their networks are trained together. They take prior, scenario and random state from here.
    Classifiers around a scikit-learn learner get standardised rows. Parameters not listed here are
    those of every classifier, see :class:`robustpu.base.classifier.BasePUClassifier`.

    Parameters
    ----------
    estimators
        ``[(name, classifier), ...]``, classifiers of this library.
    weights
        One number a classifier, at least 0; None for equal ones.
    validation_fraction
        Where the folds of networks of one class begin; what is held out is for each classifier to
        say.
    verbose
        1 shows a progress bar.

    Attributes
    ----------
    estimators_, named_estimators_
        The fitted classifiers, as a list and by name.
    weights_
        Their weights, of sum 1.
    selection_
        What chose epochs or rounds: ``"oracle"`` if any classifier saw true labels in an
        ``eval_set``, ``"pu"`` if any chose by held-out rows, or ``"none"``.

    Examples
    --------
    >>> from robustpu import NNPUClassifier, PUExtraTreesClassifier, PUVotingClassifier
    >>> from robustpu import datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> pair = [("nnpu", NNPUClassifier(epochs=20)), ("trees", PUExtraTreesClassifier())]
    >>> model = PUVotingClassifier(pair, prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    estimators: Named | None = param(None, positional=True)
    weights: Sequence[float] | None = param(None)
    verbose: int = param(0)

    def compose(self, data: TrainingData) -> tuple[Named, Sequence[float] | None]:
        """Give the classifiers and their weights for these rows."""
        return self.estimators or [], self.weights

    def check_combination(self) -> None:
        super().check_combination()
        if self.estimators is not None:
            _check_estimators(self.estimators)
            _check_weights(self.weights, len(self.estimators))
            _check_priors(self.estimators, self.prior)
        elif self.weights is not None:
            raise ValueError("weights are those of estimators=; give both, or neither.")

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        # Each classifier takes sparse rows as it does alone.
        data = check_training_data(
            self, X, y, sample_weight, eval_set, keeps_sparse=lambda rows: True
        )
        table = data.X
        is_scaled = table.ndim == 2 and not issparse(table)
        self.input_scale_ = scale_of(table, edges_of(self, table)) if is_scaled else None
        named, weights = self.compose(data)
        if not named:
            raise ValueError(
                "estimators is empty: give [(name, classifier), ...], or take PUClassifier, which "
                "has an ensemble of its own."
            )
        chosen = np.ones(len(named)) if weights is None else np.asarray(weights, dtype=np.float64)
        self.estimators_ = [clone(estimator) for _, estimator in named]
        self.estimator_names_ = _names(named)
        self.weights_ = chosen / chosen.sum()
        return data

    def row_cost(self) -> int:
        return max(int(estimator.row_cost()) for estimator in self.estimators_)

    @property
    def named_estimators_(self) -> Bunch:
        """The fitted classifiers by name."""
        return Bunch(**dict(zip(self.estimator_names_, self.estimators_, strict=True)))

    def _sk_visual_block_(self) -> Any:
        if hasattr(self, "weights_"):
            return side_by_side(self.estimator_names_, self.estimators_, self.weights_.tolist())
        named = self.estimators or []
        return side_by_side(_names(named), [estimator for _, estimator in named])

    scale_weight = staticmethod(NeuralPUClassifier.scale_weight)

    def n_seeds(self, data: TrainingData) -> int:
        return max(1, sum(int(estimator.n_members) for estimator in self._committee()))

    def _committee(self) -> list[Any]:
        """Give the first classifiers that are of one class, if that trains networks.

        They share one split into folds, so that together they hold out every row.
        """
        first = type(self.estimators_[0])
        if not issubclass(first, NeuralPUClassifier):
            return []
        return list(takewhile(lambda estimator: type(estimator) is first, self.estimators_))

    def _speak_for_each_other(self) -> Mask:
        """Which classifiers are averaged out of fold over those that know a row: the networks."""
        return np.array([isinstance(each, NeuralPUClassifier) for each in self.estimators_])

    def prior_sample(self, data: TrainingData, inputs: Inputs | None, seed: int) -> Sample:
        """Rows to estimate the prior from, as the first networks take them."""
        networks = [each for each in self.estimators_ if isinstance(each, NeuralPUClassifier)]
        scorer = networks[0] if networks else NNPUClassifier()
        scorer.set_params(prior=self.prior)
        scorer.input_shape_ = self.input_shape_
        if issparse(data.X):
            data = scorer.check_data(data.X, data.is_positive, data.weight, None)
        return scorer.prior_sample(data, scorer.inputs_of(data), seed)

    def part_jobs(self, data: TrainingData, seeds: Sequence[int]) -> list[Job]:
        """Give each classifier its rows; networks of one class share seeds and folds in turn."""
        committee = self._committee()
        firsts = first_folds(len(committee) or 1, len(seeds), self.validation_fraction)
        shared = split_seeds(seeds, [estimator.n_members for estimator in committee])
        jobs = []
        for place, estimator in enumerate(self.estimators_):
            estimator.set_params(
                prior=self.prior_, scenario=self.scenario, pos_label=None, random_state=seeds[0]
            )
            rows = self._sample(estimator, data, seeds[0])
            X, is_positive, weight = data.X, data.is_positive, data.weight
            if rows is not None:
                X, is_positive = X[rows], is_positive[rows]
                weight = kept_masses(weight, data.is_positive, rows)
            job = Job(estimator, self._rows_for(estimator, X), is_positive, None, weight)
            if place < len(committee):
                job = job._replace(split=seeds[0], seeds=shared[place], first_fold=firsts[place])
            if data.truth is not None:
                job = job._replace(eval_set=(self._rows_for(estimator, data.X_eval), data.truth))
            jobs.append(job)
        return jobs

    def fit_data(self, problem: Problem) -> Scores:
        """Average the scores of the classifiers, which are fitted."""
        seed = problem.plan.seeds[0]
        found = [self._scores_of(estimator, problem.data, seed) for estimator in self.estimators_]
        in_sample, out_of_fold = map(np.array, zip(*found, strict=True))
        group = self._speak_for_each_other()
        if group.sum() > 1:
            # Each holds out other rows: those that did not train on a row speak for all.
            out_of_fold[group] = _mean_known(out_of_fold[group], self.weights_[group])
        chosen_by = {estimator.selection_ for estimator in self.estimators_}
        self.selection_ = next(name for name in ("oracle", "pu", "none") if name in chosen_by)
        self.member_scores_, self.kept_ = np.array([np.nan]), np.array([0])
        return Scores(self._average(in_sample), self._average(out_of_fold))

    def _average(self, scores: Floats) -> Floats:
        """Weighted mean over the classifiers, (n,)."""
        counts = self.weights_ > 0
        averaged: Floats = np.tensordot(self.weights_[counts], scores[counts], axes=1)
        return averaged

    def _scores_of(self, estimator: Any, data: TrainingData, seed: int) -> tuple[Floats, Floats]:
        """Scores of the training rows by one classifier, in sample and out of fold."""
        rows = self._sample(estimator, data, seed)
        if rows is None:
            return estimator.probability_, estimator.out_of_fold_
        in_sample = self._predict(estimator, data.X)
        out_of_fold = in_sample.copy()
        in_sample[rows], out_of_fold[rows] = estimator.probability_, estimator.out_of_fold_
        return in_sample, out_of_fold

    def predict_rows(self, X: ArrayLike) -> Floats:
        return self._average(self.part_probabilities(X))

    def part_probabilities(self, X: ArrayLike) -> Floats:
        """Probability of being positive by each of the classifiers, (classifiers, n).

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        check_is_fitted(self)
        table = check_table(self, X)
        return np.array([self._predict(estimator, table) for estimator in self.estimators_])

    def _predict(self, estimator: Any, X: NDArray[Any]) -> Floats:
        """Probabilities by one classifier, (n,); rows of a mapped file a block at a time."""
        if isinstance(estimator, NeuralPUClassifier) or not (
            is_mapped(X) or self._is_standardised(estimator)
        ):
            whole: Floats = estimator.predict_proba(X)[:, 1]
            return whole
        table = np.asarray(X)
        parts = [
            estimator.predict_proba(self._rows_for(estimator, table[block]))[:, 1]
            for block in blocks(table, SCORED)
        ]
        return np.concatenate(parts)

    def _is_standardised(self, estimator: Any) -> bool:
        return self.input_scale_ is not None and is_standardised(estimator)

    def _rows_for(self, estimator: Any, X: NDArray[Any]) -> NDArray[Any]:
        """Give rows as a classifier takes them; those from very far away are put nearer."""
        if not self._is_standardised(estimator):
            return X
        return inputs_of(X, self.input_scale_, np.float64).clip(-FAR, FAR)

    def _sample(self, estimator: Any, data: TrainingData, seed: int) -> Index | None:
        """Rows of a mapped file for a classifier that holds them, None for all."""
        table = data.X
        if issparse(table):
            return None
        most = max(LEAST, HELD // (8 * math.prod(table.shape[1:])))
        holds = not isinstance(estimator, NeuralPUClassifier)
        if not holds or len(table) <= most or not is_mapped(table):
            return None
        weighted = np.flatnonzero(data.weight > 0)
        is_positive = data.is_positive[weighted]
        n_positive = int(is_positive.sum())
        # Half for labelled rows, or more where unlabelled ones do not fill the rest.
        positive = min(n_positive, max(most // 2, most - (len(weighted) - n_positive)))
        return weighted[some_of_each(is_positive, (positive, most - positive), seed)]


def split_seeds(seeds: Sequence[int], sizes: Sequence[int]) -> list[list[int]]:
    """Split seeds over several classifiers in turn, until each has as many as it has networks.

    Examples
    --------
    >>> split_seeds([1, 2, 3, 4, 5, 6], [2, 1, 3])
    [[1, 4], [2], [3, 5, 6]]
    """
    left = iter(seeds)
    shared: list[list[int]] = [[] for _ in sizes]
    for count in range(max(sizes, default=0)):
        for part, size in zip(shared, sizes, strict=True):
            if count < size:
                part.append(next(left))
    return shared


def _mean_known(scores: Floats, weights: Floats) -> Floats:
    """Weighted mean over the classifiers (m, n) whose score is known, (n,); NaN where none is."""
    known = np.isfinite(scores)
    weight = np.where(known, weights[:, None], 0.0)
    total = weight.sum(0)
    mean = (weight * np.where(known, scores, 0.0)).sum(0) / np.where(total > 0, total, 1.0)
    return np.where(total > 0, mean, np.nan)


def is_standardised(estimator: Any) -> bool:
    """Whether a classifier gets standardised rows: learners mostly hold single precision.

    Examples
    --------
    >>> from robustpu import BaggingPUClassifier, PUExtraTreesClassifier
    >>> is_standardised(BaggingPUClassifier()), is_standardised(PUExtraTreesClassifier())
    (True, False)
    """
    return isinstance(estimator, WrapperPUClassifier)


def _names(named: Named) -> list[str]:
    return [name for name, _ in named]


def _check_estimators(named: Any) -> None:
    wanted = "estimators must be [(name, classifier), ...] of classifiers of this library"
    if not isinstance(named, Sequence) or isinstance(named, str):
        raise ValueError(f"{wanted}; it is {named!r}.")
    for entry in named:
        is_pair = isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], str)
        if not is_pair or not isinstance(entry[1], BasePUClassifier):
            raise ValueError(f"{wanted}; it holds {entry!r}.")
        check_parameters(entry[1])
    names = _names(named)
    if len(set(names)) < len(names):
        raise ValueError(f"estimators need different names; they are {', '.join(names)}.")


def _check_priors(named: Named, prior: Any) -> None:
    for name, estimator in named:
        if not needs_estimation(estimator.prior) and estimator.prior != prior:
            raise ValueError(
                f"{name} has prior={estimator.prior!r}, but the classifiers of an ensemble take "
                f"that of the ensemble, which is {prior!r}: give prior= there."
            )


def _check_weights(weights: Any, count: int) -> None:
    if weights is None:
        return
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != (count,) or not (values >= 0).all() or not 0 < values.sum() < np.inf:
        raise ValueError(
            f"weights must be one number a classifier, {count} in all, at least 0 and not all 0; "
            f"they are {weights!r}."
        )
