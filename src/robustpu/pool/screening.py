"""Rankers of the columns that tell labelled from unlabelled rows most, of very many."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

Floats = NDArray[np.float64]


class ScreenedRanker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A ranker of the columns with the largest |mean of P - mean of U| / (s + median of s).

    s is the deviation of a column among the unlabelled rows. Time grows with the number of columns
    only as that of a mean does.

    Parameters
    ----------
    learner
        A ranker; it stays as it is.
    n_columns
        Columns that it gets, at most.

    Attributes
    ----------
    columns_
        Which, ascending, (m,).
    learner_
        The fitted ranker.

    Examples
    --------
    >>> from robustpu.pool.forests import ForestRanker
    >>> X, y = np.random.default_rng(0).normal(size=(200, 50)), np.arange(200) < 40
    >>> X[y, 7] += 2
    >>> ScreenedRanker(ForestRanker(5), 1).fit(X, y).columns_.tolist()
    [7]
    """

    def __init__(self, learner: Any, n_columns: int = 300):
        self.learner = learner
        self.n_columns = n_columns

    def lighter(self) -> Self:
        """Make a copy, not fitted, with the lighter ranker."""
        copy: Self = clone(self).set_params(learner=self.learner.lighter())
        return copy

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Choose columns, and fit the ranker to them.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n, d), labels 1 and 0, (n,), and weights, (n,).
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, place = np.unique(labels, return_inverse=True)
        weight = np.ones(len(place)) if sample_weight is None else np.asarray(sample_weight)
        found = differences(rows, place == 1, weight)
        self.columns_ = np.sort(np.argsort(-found, kind="stable")[: self.n_columns])
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.learner_ = clone(self.learner).fit(rows[:, self.columns_], labels, **given)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of each row, (n,).

        Parameters
        ----------
        X
            Rows (n, d).
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, dtype=np.float64)
        score: Floats = self.learner_.decision_function(rows[:, self.columns_])
        return score

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label 1 above a score of 0.

        Parameters
        ----------
        X
            Rows (n, d).
        """
        labels: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels


def differences(X: Floats, is_positive: NDArray[np.bool_], weight: Floats) -> Floats:
    """|mean of P - mean of U| / (s + median of s) of each column, (d,).

    Parameters
    ----------
    X
        Rows (n, d).
    is_positive, weight
        The label of each row, and its weight, (n,).

    Examples
    --------
    >>> X = np.array([[3.0, 1.0], [0.0, 1.0], [2.0, 1.0]])
    >>> differences(X, np.array([True, False, False]), np.ones(3)).round(3).tolist()
    [1.0, 0.0]
    """
    # Numbers far from 0 would lose their digits.
    X = X - X[0]
    shares = (np.where(side, weight, 0.0) for side in (is_positive, ~is_positive))
    in_positive, in_unlabeled = (share / share.sum() for share in shares)
    mean = X.T @ in_unlabeled
    square = np.einsum("ij,ij,i->j", X, X, in_unlabeled)
    deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
    usual = float(np.median(deviation[deviation > 0])) if deviation.any() else 1.0
    found: Floats = np.abs(X.T @ in_positive - mean) / (deviation + usual)
    return found
