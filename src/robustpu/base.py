"""What all estimators share: labels in, answers and suspects out."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

from robustpu import labels
from robustpu.checks import check_number
from robustpu.metrics import collapse
from robustpu.scenario import check_prior, check_scenario


class CollapseWarning(UserWarning):
    """The model answers almost only one class on the unlabelled rows."""


# A dataclass writes the constructor that scikit-learn asks for: explicit keyword parameters, stored
# verbatim, inherited ones included.
parameters = dataclass(kw_only=True, eq=False, repr=False)


@parameters
class BasePUClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all positive-unlabelled classifiers.

    In ``y``, one label marks labelled positives and the other *unlabelled* rows; in predictions
    the other label means *negative*. See :class:`robustpu.RobustPUClassifier` for the parameters.
    A fit leaves ``classes_``, ``is_positive_``, ``probability_``, ``prior_`` and ``threshold_``.
    """

    prior: float | str = "auto"
    scenario: str = "case-control"
    pos_label: labels.Label | None = None
    validation_fraction: float = 0.1
    threshold: float | str = 0.5
    random_state: int | np.random.RandomState | None = None

    # What the alarm of a collapse advises.
    _causes = "The prior is probably wrong, or the learner too weak or too flexible."

    @abstractmethod
    def _positive_probability(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of being positive of each row, (n,), from a fitted model."""

    def _check_parameters(self) -> None:
        check_scenario(self.scenario)
        if self.prior != "auto":
            check_prior(self.prior)
        check_number("validation_fraction", self.validation_fraction, least=0, below=1)
        if not isinstance(self.threshold, str):
            check_number("threshold", self.threshold, above=0, below=1)
        elif self.threshold != "prior":
            raise ValueError(
                f"threshold must be a number in (0, 1) or 'prior'; it is {self.threshold!r}."
            )

    def _truth_of(self, eval_set: tuple[ArrayLike, ArrayLike]) -> NDArray[np.bool_]:
        """Check an eval_set, and tell which of its rows are positive, (n,)."""
        if not isinstance(eval_set, tuple) or len(eval_set) != 2:
            raise ValueError("eval_set must be a pair (X, y_true) of rows and their true labels.")
        rows, y = _num_samples(eval_set[0]), column_or_1d(eval_set[1], warn=True)
        if rows != len(y):
            raise ValueError(f"eval_set has {rows} rows but {len(y)} labels.")
        known = self.classes_.tolist()
        unknown = [label for label in y.tolist() if label not in known]
        if unknown:
            raise ValueError(
                f"eval_set must hold true labels, {known[0]!r} or {known[1]!r} as in y; it holds "
                f"{unknown[0]!r} too."
            )
        answer: NDArray[np.bool_] = y == self._positive_label()
        return answer

    def _forget(self) -> None:
        """Drop all that an earlier fit left, so that a fit that fails leaves nothing half-new."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    def _threshold_at(self, unlabeled: NDArray[np.float64]) -> float:
        if self.threshold != "prior":
            return float(self.threshold)
        quantile = np.quantile(unlabeled, 1 - self.prior_)
        # Of rows that share one probability, all or none are positive: whatever is nearer.
        shares = np.mean(unlabeled >= quantile), np.mean(unlabeled > quantile)
        if abs(shares[1] - self.prior_) < abs(shares[0] - self.prior_):
            quantile = np.nextafter(quantile, 1)
        return float(np.clip(quantile, 1e-6, 1 - 1e-6))

    def _warn_if_collapsed(self, depth: int) -> None:
        """Warn if the share of positive answers on U is nowhere near the prior.

        ``depth`` is the number of calls between this one and that of the user.
        """
        unlabeled = self.probability_[~self.is_positive_]
        rate = float((unlabeled >= self.threshold_).mean())
        side = collapse(rate, self.prior_)
        if side is None:
            return
        warnings.warn(
            f"{type(self).__name__} answers positive on {rate:.1%} of the unlabelled rows, far "
            f"from the prior of {self.prior_:.1%}: it has probably collapsed to all-{side}. "
            f"{self._causes}",
            CollapseWarning,
            stacklevel=depth + 2,
        )

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class, (n, 2), columns in the order of ``classes_``.

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        check_is_fitted(self)
        positive = self._positive_probability(X)
        columns = [1 - positive, positive]
        if self._positive_place() == 0:
            columns.reverse()
        return np.column_stack(columns)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log-odds of ``classes_[1]`` beyond the threshold, (n,): predict answers it if above 0.

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        probability = self.predict_proba(X)[:, self._positive_place()]
        tiny = np.finfo(np.float64).tiny
        odds = np.log(np.maximum(probability, tiny)) - np.log(np.maximum(1 - probability, tiny))
        beyond: NDArray[np.float64] = odds - np.log(self.threshold_ / (1 - self.threshold_))
        # Rounding must not decide on which side of the threshold a probability lies.
        above = probability >= self.threshold_
        beyond = np.where(above, np.maximum(beyond, tiny), np.minimum(beyond, -tiny))
        return beyond if self._positive_place() == 1 else -beyond

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Answer in the labels of ``y``: the positive one, or the other one for negative, (n,).

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        second = self.decision_function(X) > 0
        answers: NDArray[Any] = self.classes_[second.astype(int)]
        return answers

    def suspects(self, k: int = 20) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Rows of the training table that are unlabelled and most likely positive.

        Parameters
        ----------
        k
            How many; fewer if there are fewer unlabelled rows.

        Returns
        -------
        rows
            Row numbers in the X of fit, the most suspect first, (k,).
        probability
            Their probabilities, (k,).
        """
        check_is_fitted(self)
        check_number("k", k, least=1, whole=True)
        unlabeled = np.flatnonzero(~self.is_positive_)
        rows = unlabeled[np.argsort(-self.probability_[unlabeled], kind="stable")[:k]]
        return rows, self.probability_[rows]

    def _positive_place(self) -> int:
        return labels.positive_index(self.classes_, self.pos_label)

    def _positive_label(self) -> Any:
        return self.classes_[self._positive_place()]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # The y of fit is not the truth, so accuracy against it means little.
        tags.classifier_tags.poor_score = True
        return tags
