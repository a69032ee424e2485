"""Answers of a fitted model: Dask in, Dask out, lazily; rows in memory in, NumPy out."""

from collections.abc import Callable
from typing import Any

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from robustpu import calibration, labels
from robustpu.distributed import learning
from robustpu.distributed.blocks import Floats, parts_of
from robustpu.distributed.training_sets import gathered
from robustpu.methods.robust_pu_meta import Scale


class Answers:
    """Answers by the mean score of ``estimators_``, scaled."""

    pos_label: labels.Label | None
    threshold: float
    classes_: NDArray[Any]
    estimators_: list[Any]
    shift_: float
    label_frequency_: float | None
    prior_: float
    population_prior_: float

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "positive_rate_")

    def _scale(self) -> Scale:
        return Scale(self.shift_, self.label_frequency_)

    def _scaled(self, score: Floats) -> Floats:
        return self._scale()(score, self.prior_, self.population_prior_)

    def _answered(self, X: Any, make: Callable[[Floats], NDArray[Any]]) -> Any:
        """Make answers of the probability of each row: of Dask rows lazily."""
        check_is_fitted(self)
        if not dask.is_dask_collection(X):
            return make(self._scaled(learning.mean_of(X, *self.estimators_)))
        parts = parts_of(X)
        shared = [delayed(learner, traverse=False) for learner in self.estimators_]
        # Not self, which would bring all learners along with each task.
        scale, shares = self._scale(), (self.prior_, self.population_prior_)

        def answer(rows: Any, *learners: Any) -> NDArray[Any]:
            return make(scale(learning.mean_of(rows, *learners), *shares))

        work = delayed(answer, traverse=False)
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        return gathered([work(part, *shared) for part in parts], sizes, make(np.zeros(0)))

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, (n, 2), columns in the order of ``classes_``.

        Parameters
        ----------
        X
            Rows: Dask in, Dask out, lazily; or rows in memory, NumPy out.
        """
        check_is_fitted(self)
        place = labels.positive_index(self.classes_, self.pos_label)

        def columns(positive: Floats) -> Floats:
            both = np.column_stack([1 - positive, positive])
            return both if place == 1 else both[:, ::-1]

        return self._answered(X, columns)

    def predict(self, X: Any) -> Any:
        """Answer in the labels of ``y``: the positive one, or the other one for negative, (n,).

        Parameters
        ----------
        X
            Rows, as in ``predict_proba``.
        """
        check_is_fitted(self)
        place = labels.positive_index(self.classes_, self.pos_label)
        threshold, classes = self.threshold, self.classes_

        def answer(positive: Floats) -> NDArray[Any]:
            chosen: NDArray[Any] = classes[np.where(positive >= threshold, place, 1 - place)]
            return chosen

        return self._answered(X, answer)

    def decision_function(self, X: Any) -> Any:
        """Log-odds of ``classes_[1]`` beyond the threshold, (n,).

        Parameters
        ----------
        X
            Rows, as in ``predict_proba``.
        """
        check_is_fitted(self)
        sign = 1 if labels.positive_index(self.classes_, self.pos_label) == 1 else -1
        least = float(np.log(self.threshold / (1 - self.threshold)))
        return self._answered(X, lambda score: sign * (calibration.log_odds(score) - least))
