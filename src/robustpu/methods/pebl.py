"""PEBL: from strong negatives to the boundary, by a learner that is fitted again and again."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from robustpu.base.folds import hold_out
from robustpu.base.learners import scores
from robustpu.calibration import boundary, log_odds
from robustpu.methods.two_step import TwoStepClassifier
from robustpu.selection import positive_rates, proxy_accuracy
from robustpu.sparse.projection import is_wide
from robustpu.training import TrainingData
from robustpu.training.data import Floats, Index, Mask, rows_of
from robustpu.validation.parameters import number, param, parameters

SVM = make_pipeline(StandardScaler(), LinearSVC(dual=False))


@parameters
class PEBLClassifier(TwoStepClassifier):
    """Strong negatives have no positive feature; what P against N predicts negative joins N.

    A feature is positive if it is more frequent in P than in U. The learner is fitted to P against
    N, unlabelled rows that it predicts negative move into N, until none moves. A part of P and U
    is held out: the iteration that predicts it best is kept. Assumes that labels are
    selected completely at random (SCAR). Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    estimator
        A scikit-learn classifier; by default a linear support vector machine on standardised
        columns, whose probabilities are a sigmoid of its decisions and rank only.
    n_bins
        A numeric column with more than two values is cut at its quantiles into this many bins, and
        every bin is a feature.
    guard_fraction
        Share of P and of U that watches; 0 keeps the last iteration. After that all rows are used.
    tolerance
        The loop stops if the share of the watching positives that is predicted positive is by more
        than this below its best so far.
    max_iter
        Iterations at most.
    n_draws
        How often watching rows are drawn. The probabilities of the draws are averaged.

    Attributes
    ----------
    estimators_
        The last learner of each draw.
    n_reliable_
        Number of negatives that it was fitted to, (n_draws,).
    shift_
        Added to the log-odds of the averaged probabilities, so that positive answers have the
        share that the prior says.
    n_iter_
        Number of iterations of each draw, (n_draws,).
    history_
        One dictionary a draw and iteration: ``draw`` from 0, ``iteration`` from 1, ``n_negative``
        that it was fitted to, and of the watching rows ``recall`` and ``score``, the proxy
        accuracy.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> from robustpu.methods.pebl import PEBLClassifier
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PEBLClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.85
    True
    """

    _default = SVM

    n_bins: int = param(10, number(least=2, whole=True))
    guard_fraction: float = param(0.2, number(least=0, below=1))
    tolerance: float = param(0.05, number(least=0, most=1))
    max_iter: int = param(30, number(least=1, whole=True))

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        self.history_: list[dict[str, float]] = []
        self.n_iter_ = np.zeros(0, dtype=np.intp)
        super().fit_learners(data, random)

    def pick_negatives(self, data: TrainingData, random: np.random.RandomState) -> Mask:
        is_positive = data.is_positive
        kept, guard = hold_out(is_positive, self.guard_fraction, random)
        part = data.take(kept)

        # Step 1: strong negatives.
        count = positive_features(part.X, part.is_positive, part.weight, self.n_bins)
        negative = np.zeros_like(part.is_positive)
        negative[~part.is_positive] = self._reliable(count[~part.is_positive], 1)

        # Step 2: P against N; what is predicted negative moves into N; until none moves.
        best, top, picked = -np.inf, 0.0, np.zeros_like(is_positive)
        for iteration in range(1, self.max_iter + 1):
            learner = self._against(part, negative, random)
            score = log_odds(scores(learner, part.X))
            edge = boundary(*self._sample(score, part))
            predicted = _predictions(learner, data.X, guard, edge)
            recall, accuracy = self._evaluate(predicted, data, guard)
            record = {"draw": len(self.n_iter_), "iteration": iteration}
            record["n_negative"] = int(negative.sum())
            self.history_.append({**record, "recall": recall, "score": accuracy})
            if recall < top - self.tolerance:
                break
            top = max(top, recall)
            # Of equal iterations the last: its negatives are nearest to the boundary.
            if accuracy >= best:
                best, picked[kept] = accuracy, negative
                picked[guard] = ~is_positive[guard] & ~predicted
            moving = ~part.is_positive & ~negative & (score < edge)
            if not moving.any():
                break
            negative |= moving
        self.n_iter_ = np.append(self.n_iter_, iteration)
        return picked

    def _evaluate(self, predicted: Mask, data: TrainingData, rows: Index) -> tuple[float, float]:
        """Recall and proxy accuracy of predictions for watching rows; 1 if there are none."""
        if not len(rows):
            return 1.0, 1.0
        given = predicted.astype(float), data.is_positive[rows], data.weight[rows]
        tensors = [torch.from_numpy(part) for part in given]
        numbers = torch.tensor([self.prior_, self.population_prior_], dtype=torch.float64)
        return float(positive_rates(*tensors)[0]), float(proxy_accuracy(*tensors, *numbers))


def _predictions(learner: Any, X: Any, rows: Index, edge: float) -> Mask:
    """Which of some rows, if any, score at the edge or above it."""
    if not len(rows):
        return np.zeros(0, dtype=np.bool_)
    return log_odds(scores(learner, rows_of(X, rows))) >= edge


def positive_features(X: Any, is_positive: Mask, weight: Floats, n_bins: int) -> Floats:
    """Count the features of each row that are more frequent in P than in U, (n,).

    Parameters
    ----------
    X
        Rows with columns, (n, ...): an array, a DataFrame or a sparse matrix. Of a sparse one with
        very many columns, such as words, the feature is to have an entry.
    is_positive
        Which rows are labelled, (n,).
    weight
        Of each row, (n,).
    n_bins
        See :func:`features`.

    Examples
    --------
    >>> X = np.array([[1, 0], [1, 0], [0, 0], [0, 1], [1, 1]])
    >>> mask = np.array([True, True, False, False, False])
    >>> positive_features(X, mask, np.ones(5), 10).tolist()
    [1.0, 1.0, 0.0, 0.0, 1.0]
    """
    in_positive = np.where(is_positive, weight, 0) / weight[is_positive].sum()
    in_unlabeled = np.where(is_positive, 0, weight) / weight[~is_positive].sum()
    if issparse(X) and is_wide(X):
        has = (X != 0).astype(np.float64)
        # Equal frequencies may differ by rounding.
        is_sign = has.T @ (in_positive - in_unlabeled) > 1e-12
        found: Floats = has @ is_sign.astype(np.float64)
        return found
    count = np.zeros(len(weight))
    for column in _columns(X):
        feature = features(column, n_bins)
        more = np.bincount(feature, in_positive) - np.bincount(feature, in_unlabeled)
        # Equal frequencies may differ by rounding.
        is_sign = more > 1e-12
        is_sign[0] = False
        count += is_sign[feature]
    return count


def features(column: NDArray[Any], n_bins: int) -> NDArray[np.intp]:
    """Number the feature that each row of a column has, from 1, or 0 if it has none, (n,).

    Of two numbers the larger is a feature and the smaller is none. More numbers are cut into bins
    at their quantiles k / n_bins, which belong to the bin below; equal quantiles are one. Missing
    numbers are a feature of their own. Of what is no number each value is a feature.

    Examples
    --------
    >>> features(np.array([0, 1, 1]), 2).tolist(), features(np.array([1, 2, 3, 9]), 2).tolist()
    ([0, 1, 1], [1, 1, 2, 2])
    """
    if column.dtype.kind == "O":
        try:
            column = column.astype(np.float64)
        except (TypeError, ValueError):
            column = column.astype(str)
    if column.dtype.kind not in "biuf":
        return np.unique(column, return_inverse=True)[1] + 1
    missing = np.isnan(column)
    known = np.sort(column[~missing])
    cuts = np.unique(known)
    feature = np.searchsorted(cuts, column)
    if len(cuts) > 2:
        places = -(-np.arange(1, n_bins) * len(known) // n_bins) - 1
        feature = np.searchsorted(np.unique(known[places]), column) + 1
    return np.where(missing, feature[~missing].max(initial=0) + 1, feature)


def _columns(X: Any) -> Iterable[NDArray[Any]]:
    """Give the columns of rows one by one, (n,) each."""
    if hasattr(X, "iloc"):
        return (X.iloc[:, place].to_numpy() for place in range(X.shape[1]))
    if issparse(X):
        table = X.tocsc()
        return (table[:, [place]].toarray()[:, 0] for place in range(X.shape[1]))
    table = np.asarray(X)
    if table.ndim < 2:
        raise ValueError(
            f"X must have rows and columns, but its shape is {table.shape}: PEBL compares columns. "
            "Turn texts into columns first, or take SpyClassifier."
        )
    return np.moveaxis(table, 0, -1).reshape(-1, len(table))
