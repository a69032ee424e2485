"""What all estimators share: labels in, answers and suspects out."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.validation import _num_samples, check_is_fitted

import robustpu
from robustpu import labels, priors, thresholds
from robustpu.checks import check_number
from robustpu.estimation import VOTES, Judged, Parts, PriorWarning, judged
from robustpu.metrics import Evaluation, collapse, evaluate
from robustpu.scenario import check_scenario


class CollapseWarning(UserWarning):
    """The model answers almost only one class on the unlabelled rows."""


# A threshold has finite odds.
EDGE = 1e-9
# How often held-out scores are drawn anew, for the interval of an estimated prior, and for a fit.
DRAWS, FEW_DRAWS = 100, 10
# calibrate="auto" leaves a mean answer as it is that has at least this share of the prior.
NEAR = 0.9

# A dataclass writes the constructor that scikit-learn asks for: explicit keyword parameters, stored
# verbatim, inherited ones included.
parameters = dataclass(kw_only=True, eq=False, repr=False)


@parameters
class BasePUClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all positive-unlabelled classifiers.

    In ``y``, one label marks labelled positives and the other *unlabelled* rows; in predictions
    the other label means *negative*. See :class:`robustpu.RobustPUClassifier` for the parameters.
    A fit leaves ``classes_``, ``is_positive_``, ``sample_weight_``, ``probability_``,
    ``out_of_fold_``, ``prior_``, ``calibration_`` and ``threshold_``.
    """

    prior: float | str | Callable[..., float] = "auto"
    scenario: str = "case-control"
    pos_label: labels.Label | None = None
    validation_fraction: float = 0.1
    threshold: float | str = 0.5
    calibrate: bool | str = False
    random_state: int | np.random.RandomState | None = None

    # What the alarm of a collapse advises.
    _causes = "The prior is probably wrong, or the learner too weak or too flexible."

    @abstractmethod
    def _positive_probability(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of being positive of each row, (n,), from a fitted model."""

    def _check_parameters(self) -> None:
        check_scenario(self.scenario)
        priors.check(self.prior)
        check_number("validation_fraction", self.validation_fraction, least=0, below=1)
        if self.calibrate not in (True, False, "auto"):
            raise ValueError(f"calibrate must be True, False or 'auto'; it is {self.calibrate!r}.")
        kind, _ = thresholds.parse(self.threshold)
        if kind in ("recall", "precision") and self.validation_fraction == 0:
            raise ValueError(
                f"threshold={self.threshold!r} is found on rows that were held out: give "
                "validation_fraction= a share above 0."
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

    def _conclude(
        self,
        is_positive: NDArray[np.bool_],
        weight: NDArray[np.float64] | None,
        probability: NDArray[np.float64],
        out_of_fold: NDArray[np.float64],
        depth: int,
    ) -> None:
        """Note the answers to the training rows, and find the threshold.

        ``out_of_fold`` holds answers by what has not seen the row, NaN where all have. ``depth`` is
        the number of calls between this one and that of the user.
        """
        self.is_positive_ = is_positive
        self.sample_weight_ = np.ones(len(is_positive)) if weight is None else weight
        self.calibration_ = self._find_calibration(probability, out_of_fold)
        self.probability_ = thresholds.shifted(probability, self.calibration_)
        self.out_of_fold_ = thresholds.shifted(out_of_fold, self.calibration_)
        self.threshold_ = float(np.clip(self._find_threshold(), EDGE, 1 - EDGE))
        self._warn_if_collapsed(depth + 1)
        self._warn_of_prior(depth + 1)

    def _find_calibration(
        self, probability: NDArray[np.float64], out_of_fold: NDArray[np.float64]
    ) -> float:
        """What to add to the log-odds: answers, to unseen rows if any, then have the right mean."""
        if not self.calibrate:
            return 0.0
        counts, known = self.sample_weight_ > 0, np.isfinite(out_of_fold)
        answer, rows, target = np.where(known, out_of_fold, probability), counts, self.prior_
        if self.scenario == "single-set":
            # Answers are about all rows then, labelled ones among them.
            target = self.population_prior_
        else:
            rows = counts & ~self.is_positive_
            rows = rows & known if (rows & known).any() else rows
        answer, weight = answer[rows], self.sample_weight_[rows]
        if self.calibrate == "auto" and np.average(answer, weights=weight) >= NEAR * target:
            return 0.0
        return thresholds.matching_shift(thresholds.log_odds(answer), target, weight)

    def _find_threshold(self) -> float:
        kind, number = thresholds.parse(self.threshold)
        unlabeled = self.probability_[~self.is_positive_]
        if kind == "at":
            return number
        if kind == "top":
            return thresholds.at_share(unlabeled, min(1.0, number / len(unlabeled)))
        if kind == "prior":
            weight = self.sample_weight_[~self.is_positive_]
            return thresholds.at_share(unlabeled, self.prior_, weight)
        rows = self._held_out_rows()
        if rows is None:
            raise ValueError(
                f"threshold={self.threshold!r} is found on labelled and unlabelled rows that were "
                "held out, and there are none: leave eval_set out, or give a number."
            )
        parts, weights = (
            self._by_kind(own, rows) for own in (self.out_of_fold_, self.sample_weight_)
        )
        if kind == "recall":
            return thresholds.at_recall(parts[0], number, weights[0])
        found, reached = thresholds.at_precision(*parts, self.prior_, number, weights)
        if reached < number:
            warnings.warn(
                f"no threshold has a precision of {number:g} on held-out rows; the highest is "
                f"{reached:.3g}, at {found:.3g}.",
                stacklevel=3,
            )
        return found

    def _warn_if_collapsed(self, depth: int) -> None:
        """Warn if the share of positive answers on U is nowhere near the prior.

        ``depth`` is the number of calls between this one and that of the user.
        """
        # A target may ask for few or many positives; a half then tells of a collapse.
        is_target = thresholds.parse(self.threshold)[0] in thresholds.TARGETS
        at = 0.5 if is_target else self.threshold_
        unlabeled = self.probability_[~self.is_positive_]
        weight = self.sample_weight_[~self.is_positive_]
        rate = float(np.average(unlabeled >= at, weights=weight))
        side = collapse(rate, self.prior_, len(unlabeled))
        if side is None:
            return
        warnings.warn(
            f"{type(self).__name__} answers positive on {rate:.1%} of the unlabelled rows, far "
            f"from the prior of {self.prior_:.1%}: it has probably collapsed to all-{side}. "
            f"{self._causes}",
            CollapseWarning,
            stacklevel=depth + 2,
        )

    def _warn_of_prior(self, depth: int) -> None:
        """Warn if an estimated prior is probably too high; ``depth`` as above."""
        rows = self._held_out_rows() if priors.is_open(self.prior) else None
        if rows is None:
            return
        doubt = self._judged_prior(rows, 0.9, FEW_DRAWS).doubt
        if doubt is not None:
            warnings.warn(doubt, PriorWarning, stacklevel=depth + 2)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class, (n, 2), columns in the order of ``classes_``.

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        check_is_fitted(self)
        positive = thresholds.shifted(self._positive_probability(X), self.calibration_)
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
            Row numbers in the X of fit, from 0, the most suspect first, (k,).
        probability
            Their probabilities, (k,).
        """
        check_is_fitted(self)
        check_number("k", k, least=1, whole=True)
        rows = thresholds.most_likely(self.probability_, ~self.is_positive_, k)
        return rows, self.probability_[rows]

    def evaluate(
        self,
        prior_interval: Sequence[float] | None = None,
        k: int | None = None,
        level: float = 0.9,
    ) -> Evaluation:
        """Estimate how good the model is, without negatives, from rows that were held out.

        Each row is judged by the members that did not train on it, so the whole model is rather
        better. The rows had a say in the choice of epochs or rounds, which flatters a little; rows
        that were never given to ``fit`` can be judged by :func:`robustpu.metrics.evaluate`. They
        have the weights of ``fit``, but for the interval of an estimated prior.

        Parameters
        ----------
        prior_interval, k, level
            As in :func:`robustpu.metrics.evaluate`. An estimated prior has an interval by default:
            that of estimates from the same rows.

        Returns
        -------
        evaluation
            Accuracy, precision, AUC and others with intervals; prints as a table.

        Raises
        ------
        ValueError
            No labelled, or no unlabelled, rows were held out.
        """
        check_is_fitted(self)
        rows = self._held_out_rows()
        if rows is None:
            raise ValueError(
                "no labelled and unlabelled rows were held out to judge the model by: fit with "
                "validation_fraction above 0, without eval_set, and with nothing beside that has "
                "seen all rows."
            )
        if prior_interval is None and priors.is_open(self.prior):
            prior_interval = self._prior_interval(rows, level)
        return evaluate(
            self.is_positive_[rows],
            self.out_of_fold_[rows],
            prior=self.prior_,
            prior_interval=prior_interval,
            threshold=self.threshold_,
            scenario=self.scenario,
            sample_weight=self.sample_weight_[rows],
            labeled_share=float(
                np.average(self.is_positive_, weights=self.sample_weight_).clip(EDGE, 1 - EDGE)
            ),
            k=k,
            level=level,
        )

    def _prior_interval(self, rows: NDArray[np.bool_], level: float) -> tuple[float, float]:
        """Interval of an estimated prior, by the spread of estimates from held-out answers."""
        low, high, _ = self._judged_prior(rows, level, DRAWS)
        edge = 0.1 / (int((rows & ~self.is_positive_).sum()) + 1)
        return min(max(low, edge), self.prior_), max(min(high, 1 - edge), self.prior_)

    def _judged_prior(self, rows: NDArray[np.bool_], level: float, n_bootstrap: int) -> Judged:
        odds = self._by_kind(thresholds.log_odds(self.out_of_fold_), rows)
        votes = [priors.PRIORS[name](*odds) for name in VOTES]
        random = np.random.RandomState(0)
        return judged(odds, self.prior_, votes, level=level, n_bootstrap=n_bootstrap, random=random)

    def _held_out_rows(self) -> NDArray[np.bool_] | None:
        """Which rows have a weight and were held out, (n,); None without either kind of them."""
        rows: NDArray[np.bool_] = np.isfinite(self.out_of_fold_) & (self.sample_weight_ > 0)
        both = (rows & self.is_positive_).any() and (rows & ~self.is_positive_).any()
        return rows if both else None

    def _by_kind(self, values: NDArray[np.float64], rows: NDArray[np.bool_]) -> Parts:
        """Values of the labelled and of the unlabelled ones of some rows."""
        return values[rows & self.is_positive_], values[rows & ~self.is_positive_]

    # Models on disk know all classes, and lie above this layer: the front door leads there.

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted model to a folder, see :func:`robustpu.save`.

        Parameters
        ----------
        path
            The folder.
        overwrite
            Whether to replace a model that is there.
        """
        robustpu.save(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | PathLike[str], /, **given: Any) -> Self:
        """Read a fitted model of this class from a folder, see :func:`robustpu.load`.

        Parameters
        ----------
        path
            The folder.
        given
            Functions of your own that the model was fitted with, by the names of the parameters.
        """
        model = robustpu.load(path, **given)
        if not isinstance(model, cls):
            raise robustpu.ModelFolderError(
                f"{path}: it holds a {type(model).__name__}, not a {cls.__name__}: take "
                "robustpu.load, which reads any."
            )
        return model

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
