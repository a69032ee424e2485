"""Linear rankers: ridge regression of the label on functions of the columns."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from robustpu.modules import scale_of
from robustpu.modules.rows import blocks
from robustpu.pool.basis import BASES, Floats, standardized, whitening
from robustpu.pool.weights import auc

# Eigenvalues below it are rounding.
TINY = 1e-12
# Strengths of the penalty to choose from. Copies of rows flatter the weakest, so they end there.
PENALTIES = {
    "hinges": (3.0, 1.0, 0.3, 0.1, 0.03),
    "laplacian": (0.02, 0.01, 0.005, 0.002, 0.001),
}


class RidgeRanker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """w = (S + penalty I)^-1 (mean of P - mean of U) on features of standardised columns.

    S is the covariance of all rows, so this is Fisher's discriminant, and ridge regression of the
    label. The penalty is that with the highest AUC of labelled against unlabelled rows, each scored
    as if it had been left out: with one decomposition of S all are known.

    Parameters
    ----------
    basis
        A name of ``robustpu.pool.basis.BASES``: ``"hinges"`` or ``"laplacian"``.
    random_state
        Draws the landmarks of the kernel.

    Attributes
    ----------
    mean_, scale_
        Of the columns, (d,).
    fitted_
        What the basis learned.
    coef_, intercept_
        One number a feature, (m,), and what is added to the score.
    penalty_
        The strength that was chosen.
    """

    def __init__(
        self,
        basis: str = "hinges",
        *,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.basis = basis
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows with labels 1 and 0.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n, d), labels (n,) and weights (n,).
        """
        if self.basis not in BASES:
            raise ValueError(f"basis must be one of {', '.join(BASES)}; it is {self.basis!r}.")
        basis = BASES[self.basis]
        table, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, place = np.unique(labels, return_inverse=True)
        weight = np.ones(len(place)) if sample_weight is None else np.asarray(sample_weight)
        weight = weight / weight.sum()
        self.mean_, self.scale_ = scale_of(table)
        Z = standardized(table, self.mean_, self.scale_)
        self.fitted_ = basis.fit(Z, check_random_state(self.random_state))
        features, whitened = basis.features(Z, self.fitted_), whitening(self.fitted_)
        F: Floats = features if whitened is None else features @ whitened
        is_positive = place == 1
        coef, self.penalty_ = fit_ridge(F, is_positive, weight, PENALTIES[self.basis])
        score = F @ coef
        # 0 is the middle of the mean scores of both labels.
        means = [
            np.average(score[side], weights=weight[side]) for side in (is_positive, ~is_positive)
        ]
        self.intercept_ = -float(np.mean(means))
        self.coef_ = coef if whitened is None else whitened @ coef
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of each row, (n,).

        Parameters
        ----------
        X
            Rows (n, d).
        """
        check_is_fitted(self)
        table: Floats = validate_data(self, X, reset=False, dtype=np.float64)
        scorer = BASES[self.basis].scorer(self.fitted_, self.coef_)
        score = np.empty(len(table))
        for rows in blocks(table, width=max(len(self.coef_), table.shape[1])):
            Z = standardized(table[rows], self.mean_, self.scale_)
            score[rows] = scorer(Z) + self.intercept_
        return score

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label 1 above the middle of the scores of the classes.

        Parameters
        ----------
        X
            Rows (n, d).
        """
        labels: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels


def fit_ridge(
    F: Floats, is_positive: NDArray[np.bool_], weight: Floats, penalties: Sequence[float]
) -> tuple[Floats, float]:
    """Coefficients, (m,), with the penalty whose scores of left-out rows have the highest AUC.

    Parameters
    ----------
    F
        Features (n, m).
    is_positive
        The label of each row, (n,).
    weight
        Of each row, (n,), of sum 1.
    penalties
        Strengths to choose from.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(200) < 50
    >>> F = rng.normal(size=(200, 3)) + np.outer(y, [2, 0, 0])
    >>> coef, _ = fit_ridge(F, y, np.full(200, 1 / 200), (1.0, 0.1))
    >>> int(np.argmax(np.abs(coef)))
    0
    """
    target = is_positive - weight @ is_positive
    centred = F - weight @ F
    values, vectors = _directions(centred * np.sqrt(weight)[:, None])
    projected = centred @ vectors
    slope = projected.T @ (weight * target)
    # (rows, penalties): fitted values, and how much each row's own label counts in its own. The
    # means stay: without a labelled row they would move against it.
    shrunk = 1.0 / (values[:, None] + np.array(penalties))
    fitted = projected @ (slope[:, None] * shrunk)
    leverage = weight[:, None] * (projected**2 @ shrunk)
    left_out = (fitted - leverage * target[:, None]) / np.maximum(1.0 - leverage, 0.05)
    found = [auc(column[is_positive], column[~is_positive], weight[is_positive],
                 weight[~is_positive]) for column in left_out.T]  # fmt: skip
    best = int(np.argmax(found))
    coef: Floats = vectors @ (slope * shrunk[:, best])
    return coef, float(penalties[best])


def _directions(A: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues of A'A, (r,), and its eigenvectors, (m, r); of few rows by those of AA'.

    With fewer rows than features it takes time that grows linearly with the latter.
    """
    n, m = A.shape
    if m <= n:
        values, vectors = np.linalg.eigh(A.T @ A)
        return np.maximum(values, 0.0), vectors
    values, sides = np.linalg.eigh(A @ A.T)
    # The others have no direction but by rounding.
    counts = values > TINY * max(values[-1], TINY)
    return values[counts], A.T @ (sides[:, counts] / np.sqrt(values[counts]))
