"""Tree rankers: trees and boosted trees on balanced draws of labelled and unlabelled rows."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from robustpu.modules import scale_of
from robustpu.pool.trees import Trees, packed, packed_boosting

Floats = NDArray[np.float64]
Index = NDArray[np.intp]

# Labelled rows in a draw, at most.
MOST_POSITIVE = 2_000
# Shares are clipped to this distance from 0 and 1.
EDGE = 1e-4
# Standardised numbers end here, inside single precision.
FAR = 1e30


class BagRanker(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base of the rankers whose learners each see labelled rows and some times as many others."""

    n_estimators: int
    ratio: int
    trees_: Trees

    def lighter(self) -> Self:
        """Make a copy, not fitted, with half of the learners."""
        copy: Self = clone(self).set_params(n_estimators=-(-self.n_estimators // 2))
        return copy

    @abstractmethod
    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of each row, (n,)."""

    def _draws(
        self, is_positive: NDArray[np.bool_], weight: Floats, random: np.random.RandomState
    ) -> tuple[Index, Index]:
        """Bootstrap samples of P and of U, by their weights."""
        sizes = min(MOST_POSITIVE, int((weight[is_positive] > 0).sum())), 0
        sizes = sizes[0], min(int((weight[~is_positive] > 0).sum()), self.ratio * sizes[0])
        parts = []
        for side, size in zip((is_positive, ~is_positive), sizes, strict=True):
            rows = np.flatnonzero(side)
            parts.append(random.choice(rows, size, p=weight[rows] / weight[rows].sum()))
        return parts[0], parts[1]

    def _check(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[np.float32], NDArray[np.bool_], Floats]:
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        self.classes_, place = np.unique(labels, return_inverse=True)
        weight = np.ones(len(place)) if sample_weight is None else np.asarray(sample_weight)
        # Trees hold single precision, which has few digits for numbers far from 0.
        self.mean_, self.scale_ = scale_of(rows)
        return self._standardized(rows), place == 1, weight

    def _rows(self, X: ArrayLike) -> NDArray[np.float32]:
        check_is_fitted(self)
        return self._standardized(validate_data(self, X, reset=False, dtype=np.float64))

    def _standardized(self, X: Floats) -> NDArray[np.float32]:
        inside = np.clip((X - self.mean_) / self.scale_, -FAR, FAR)
        return np.ascontiguousarray(inside, dtype=np.float32)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the label 1 above a score of 0."""
        labels: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels


class ForestRanker(BagRanker):
    """Log-odds of the mean share of labelled rows in the leaves of trees on balanced draws.

    Parameters
    ----------
    n_estimators
        Number of trees.
    ratio
        Unlabelled rows a labelled one in a draw; both have the same weight in the tree.
    min_samples_leaf
        Rows in a leaf.
    random_state
        Of draws and trees.
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        ratio: int = 1,
        min_samples_leaf: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_estimators = n_estimators
        self.ratio = ratio
        self.min_samples_leaf = min_samples_leaf
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows with labels 1 and 0."""
        table, is_positive, weight = self._check(X, y, sample_weight)
        random = check_random_state(self.random_state)
        trees = []
        for _ in range(self.n_estimators):
            drawn = self._draws(is_positive, weight, random)
            sizes = [len(rows) for rows in drawn]
            rows = np.concatenate(drawn)
            # Of few rows, small leaves: a tree that cannot be split ranks nothing.
            leaf = min(self.min_samples_leaf, max(1, sizes[0] // 3))
            tree = DecisionTreeClassifier(
                min_samples_leaf=leaf,
                max_features="sqrt",
                random_state=random.randint(np.iinfo(np.int32).max),
            )
            mass = np.repeat([sizes[1] / sizes[0], 1.0], sizes)
            tree.fit(table[rows], is_positive[rows], sample_weight=mass, check_input=False)
            trees.append(tree.tree_)
        self.trees_ = packed(trees)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of each row, (n,)."""
        mean = self.trees_.total(self._rows(X)) / self.n_estimators
        odds: Floats = logit(np.clip(mean, EDGE, 1 - EDGE))
        return odds


class BoostingRanker(BagRanker):
    """Mean log-odds of several histogram boostings on balanced draws.

    Parameters
    ----------
    n_estimators
        Number of boostings.
    ratio
        Unlabelled rows a labelled one in a draw; labelled rows are repeated as often, so that both
        have the same weight.
    max_iter
        Trees of a boosting.
    random_state
        Of draws and boostings.
    """

    def __init__(
        self,
        n_estimators: int = 8,
        *,
        ratio: int = 3,
        max_iter: int = 30,
        random_state: int | np.random.RandomState | None = None,
    ):
        self.n_estimators = n_estimators
        self.ratio = ratio
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows with labels 1 and 0."""
        table, is_positive, weight = self._check(X, y, sample_weight)
        random = check_random_state(self.random_state)
        trees: list[dict[str, Any]] = []
        # A draw is small: threads would wait for one another.
        with threadpool_limits(1, "openmp"):
            for _ in range(self.n_estimators):
                trees += self._boost(table, is_positive, weight, random)
        self.trees_ = packed(trees)
        return self

    def _boost(
        self,
        table: NDArray[np.float32],
        is_positive: NDArray[np.bool_],
        weight: Floats,
        random: np.random.RandomState,
    ) -> list[dict[str, Any]]:
        """Fit to one draw, and return the trees."""
        positive, unlabeled = self._draws(is_positive, weight, random)
        # Repeated rather than weighted: with weights scikit-learn bins columns far slower.
        rows = np.concatenate([np.repeat(positive, self.ratio), unlabeled])
        leaf = min(5 * self.ratio, max(1, len(positive) * self.ratio // 3))
        model = HistGradientBoostingClassifier(
            max_iter=self.max_iter,
            max_leaf_nodes=8,
            min_samples_leaf=leaf,
            max_features=0.5,
            max_bins=31,
            early_stopping=False,
            random_state=random.randint(np.iinfo(np.int32).max),
        )
        return packed_boosting(model.fit(table[rows], is_positive[rows]))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Score of each row, (n,)."""
        return self.trees_.total(self._rows(X)) / self.n_estimators
