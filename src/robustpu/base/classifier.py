"""What all classifiers share: labels in, one way to fit, probabilities and suspects out."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, column_or_1d
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

import robustpu
from robustpu import calibration, labels, priors, thresholds
from robustpu.cautious import share_posterior
from robustpu.metrics import Evaluation, collapse, evaluate, ranking
from robustpu.metrics.estimates import Estimate
from robustpu.metrics.sample import sample_of
from robustpu.priors.estimation import (
    Parts,
    PriorInterval,
    PriorWarning,
    counted_interval,
    prior_interval,
)
from robustpu.scenario import check_scenario
from robustpu.sparse.rows import blocks, is_sparse
from robustpu.training import Job, Problem, Scores, TrainingData, fit_together
from robustpu.training.data import Floats, Mask
from robustpu.training.progress import bar
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import (
    accepted_by,
    number,
    one_of,
    param,
    parameters,
    random_state,
)
from robustpu.validation.warning import warn


class ChanceWarning(UserWarning):
    """Labelled rows that were held out rank no better than by chance among unlabelled ones."""


class CollapseWarning(UserWarning):
    """The model predicts almost only one class on the unlabelled rows."""


# A threshold has finite odds.
EDGE = 1e-9
# Bootstrap samples of held-out scores for the interval of an estimated prior.
DRAWS = 100
# Of intervals in alarms.
LEVEL = 0.9
# A model with this AUC of labelled against unlabelled rows has not collapsed.
RANKS = 0.6
# Fewer held-out labelled rows, if they are less than half of all, are no ground for doubt.
TELLING = 50
# An estimator without networks counts as this many epochs of one network.
STEPS = 100
NOT_GIVEN: Floats | None = None
NO_INTERVAL: tuple[float, float, float, bool] | None = None
NO_SHARES: tuple[float, float] | None = None
# calibrate="auto" leaves a mean probability as it is from this share of the prior on.
NEAR = 0.9


@parameters
class BasePUClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of all positive-unlabelled classifiers.

    In ``y``, one label marks labelled positives and the other *unlabelled* rows; in predictions
    the other label means *negative*, unless ``neg_label`` does. A fit leaves ``classes_``,
    ``is_positive_``, ``sample_weight_``, ``probability_``, ``out_of_fold_``, ``prior_``,
    ``population_prior_``, ``calibration_`` and ``threshold_``.

    A fit has four steps, see :mod:`robustpu.training.fit`: ``check_data``, the prior (given, or
    ``estimate_prior``), ``fit_data``, ``finalize``. A method fills in ``fit_data``, and
    ``predict_rows`` for new rows.

    Parameters
    ----------
    prior
        Share of positives *among the unlabelled rows*, as they were before any was checked: a
        number in (0, 1), ``"auto"`` or another name of ``robustpu.priors.PRIORS``, by which it is
        estimated; or a function from out-of-fold scores of labelled and of unlabelled rows to the
        prior. Only ``"auto"`` learns from checked rows.
    scenario
        ``"case-control"``: the unlabelled rows are a sample of the population. ``"single-set"``:
        they are what was left of one after its positives were labelled.
    pos_label
        The label of the labelled positives; by default the larger of the two.
    neg_label
        The label of known negatives, if ``y`` holds some: then the label that ``predict`` gives to
        negatives. None: ``y`` holds two labels.
    validation_fraction
        Share of the labelled and of the unlabelled rows to hold out.
    threshold
        Probability from which ``predict`` answers with the positive label. ``"prior"``: such that
        the share ``prior_`` of the unlabelled training rows is above it; ``"top:200"``: 200 of
        them. ``"recall:0.9"``: such that 0.9 of the held-out positives are above it.
        ``"precision:0.8"``: such that an estimated 0.8 of the unlabelled rows above are positive.
    calibrate
        Whether to shift the log-odds of all predictions so that their mean on the unlabelled rows
        is the prior (of single-set data, that on all rows the prior of the population).
        ``"auto"``: only if it is below nine tenths of that.
    random_state
        Seed of everything random.

    Attributes
    ----------
    classes_
        The labels that are predicted, sorted: the two of y, or those of known positives and
        negatives.
    prior_, population_prior_
        Share of positives among the unlabelled rows, given or estimated, and in the population.
    prior_interval_
        Of a prior that ``robustpu fit`` estimated or was given as a range: low, high, level, and
        whether it is known. None of others.
    trained_priors_
        The two shares that training went by, where these differ: without the unlabelled rows that
        were checked. None of others.
    is_positive_, sample_weight_
        Whether each training row is labelled positive, other than by a check, and its weight up to
        a factor, (n,): that of labelled rows over their propensity, and 0 of known negatives that
        are not among the checked rows.
    propensity_
        As given, NaN for rows that are not labelled, (n,). None without propensities.
    outcome_
        Of checked rows and known negatives: 1 positive, 0 negative; NaN of others, (n,). None
        without such rows.
    probability_
        Probability of being positive of each training row, (n,).
    out_of_fold_
        The same by models that did not train on the row, NaN where all did, (n,).
    calibration_
        What ``calibrate`` added to the log-odds.
    threshold_
        Probability from which ``predict`` answers with the positive label.
    """

    prior: float | str | Callable[..., float] = param("auto", accepted_by(priors.check))
    scenario: str = param("case-control", accepted_by(check_scenario))
    pos_label: labels.Label | None = param(None)
    neg_label: labels.Label | None = param(None)
    validation_fraction: float = param(0.1, number(least=0, below=1))
    threshold: float | str = param(0.5, accepted_by(thresholds.parse))
    calibrate: bool | str = param(False, one_of(True, False, "auto"))
    random_state: int | np.random.RandomState | None = param(None, random_state)

    # Whether ``fit_data`` finds the prior, from scores that it has to make anyway.
    estimates_while_fitting = False
    # Set by a fit with propensities, to known negatives or checked rows. With types of their own
    # they would be fields.
    propensity_ = NOT_GIVEN
    outcome_ = NOT_GIVEN
    # Set after a fit whose prior came from elsewhere, with an interval.
    prior_interval_ = NO_INTERVAL
    trained_priors_ = NO_SHARES
    # What the alarm of a collapse advises.
    _causes = "The prior is probably wrong, or the learner too weak or too flexible."

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[ArrayLike, ArrayLike] | None = None,
        propensity: ArrayLike | None = None,
        checked: ArrayLike | None = None,
    ) -> Self:
        """Fit to positives and unlabelled rows, and to known negatives if there are any.

        Parameters
        ----------
        X
            Rows (n, ...). Networks and PU trees take numbers; networks also images (n, channels,
            height, width) and mapped files, as ``numpy.load(path, mmap_mode="r")`` gives them,
            which are read as training goes. A classifier around a scikit-learn learner takes what
            the learner takes. All take sparse matrices.
        y
            Two labels (n,): labelled positive (by default the larger) and unlabelled; a third one,
            ``neg_label``, marks known negatives.
        sample_weight
            Weight of each row, (n,). Only ratios count.
        eval_set
            ``(X, y_true)`` with *true* labels, as the paper's validation set. Where there are
            epochs or rounds to choose from, it chooses by accuracy, and marks the model as
            ``selection_ == "oracle"``. Without it a share of the positives and of the unlabelled
            rows is held out, and no negative is used.
        propensity
            Of each labelled row, its probability of having been labelled, given that it is
            positive; NaN for unlabelled and for checked rows, (n,). Labels that are not selected
            completely at random are made good by weights 1 / propensity, at most twenty times the
            least. In single-set data ``prior="auto"`` is then the share that the propensities
            count.
        checked
            Which rows owe their label to a check of unlabelled rows, (n,). Only they, not other
            known negatives, count in the prior, in calibration and in ``evaluate()``.
        """
        shown = bar(type(self).__name__) if getattr(self, "verbose", 0) else nullcontext()
        with shown as progress:
            job = Job(self, X, y, eval_set, sample_weight, propensity=propensity, checked=checked)
            fit_together([job], progress)
        return self

    # The steps of a fit, in their order.

    def check_combination(self) -> None:
        """Refuse parameters that do not go together; each alone was checked before."""
        kind, _ = thresholds.parse(self.threshold)
        if kind in ("recall", "precision") and self.validation_fraction == 0:
            raise ValueError(
                f"threshold={self.threshold!r} is found on rows that were held out: give "
                "validation_fraction= a share above 0."
            )

    def reset(self, **known: Any) -> None:
        """Drop what an earlier fit left, so that a fit that fails leaves nothing half-new."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in known.items():
            setattr(self, name, value)

    @abstractmethod
    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        """Check what fit was given."""

    def n_seeds(self, data: TrainingData) -> int:
        """How many seeds to draw from the random state: one a network."""
        return 0

    def n_steps(self) -> int:
        """How much of a fit that trains no networks there is to show; ``problem.tick`` counts."""
        return STEPS

    def row_cost(self) -> int:
        """What scoring a row costs, in quarters of a millisecond; 1 if less.

        Effects of columns are found by scoring changed rows: the fewer, the more a row costs.
        """
        return 1

    def hold_out(self, data: TrainingData, random: np.random.RandomState) -> TrainingData:
        """Choose rows that are not trained on at all."""
        return data

    def estimate_prior(self, data: TrainingData, random: np.random.RandomState) -> float:
        """Estimate the prior from the rows to train on."""
        raise NotImplementedError

    def score_priors(self) -> tuple[float, float]:
        """Shares among unlabelled rows and in the population that scores are turned by."""
        return self.trained_priors_ or (self.prior_, self.population_prior_)

    def counted_prior(self, data: TrainingData) -> float | None:
        """The prior that propensities count, if it is wanted; None without; sets its error."""
        if data.propensity is not None and priors.is_joint(self.prior):
            raise ValueError(
                f"prior={self.prior!r} trains networks that take no propensities: give a number, "
                "or another method, such as 'auto'."
            )
        if data.counted is None or self.prior != "auto":
            return None
        share, self.prior_error_ = data.counted.check()
        return priors.inside(share, int((~data.is_positive).sum()))

    def part_jobs(self, data: TrainingData, seeds: Sequence[int]) -> list[Job]:
        """Give the estimators of an ensemble with what they are fitted on."""
        return []

    @abstractmethod
    def fit_data(self, problem: Problem) -> Scores:
        """Fit, and score the training rows. ``prior_`` and ``population_prior_`` are known."""

    def finalize(self, data: TrainingData, scores: Scores) -> None:
        """Keep the scores of the training rows, calibrate, and find the threshold."""
        self.is_positive_, self.sample_weight_ = data.is_positive, data.weight
        if data.propensity is not None:
            self.propensity_ = data.propensity
        if data.outcome is not None:
            self.outcome_ = data.outcome
        self.calibration_ = self._find_calibration(scores.in_sample, scores.out_of_fold)
        self.probability_ = calibration.shifted(scores.in_sample, self.calibration_)
        self.out_of_fold_ = calibration.shifted(scores.out_of_fold, self.calibration_)
        self.threshold_ = float(np.clip(self._find_threshold(), EDGE, 1 - EDGE))

    def raise_alarms(self) -> None:
        """Warn of chance, a collapse, and a share of positives that held-out rows do not tell."""
        self._warn_if_chance()
        self._warn_if_collapsed()
        self._warn_of_prior()

    # What the steps use.

    def encode_labels(self, y: ArrayLike) -> Mask:
        """Which rows are labelled positives, (n,); sets ``classes_``."""
        self.classes_, is_positive = labels.encode(y, self.pos_label)
        if self.neg_label is not None:
            place = labels.positive_index(self.classes_, self.pos_label)
            self.classes_ = labels.predicted_classes(self.classes_, place, self.neg_label)
        return is_positive

    def check_weight(self, sample_weight: ArrayLike | None, is_positive: Mask) -> Floats:
        """Sample weights, (n,), up to a factor: ones if there are none."""
        if sample_weight is None:
            return np.ones(len(is_positive))
        weight = _check_sample_weight(
            sample_weight, is_positive, dtype=np.float64, ensure_non_negative=True
        )
        labels.require_both_classes(is_positive, weight)
        weight = self.scale_weight(weight)
        # The smallest may not be held beside the largest.
        labels.require_both_classes(is_positive, weight)
        return weight

    @staticmethod
    def scale_weight(weight: Floats) -> Floats:
        """Divide by the mean of those above 0: only ratios count."""
        # Their sum may be infinite.
        weight = weight / weight.max()
        scaled: Floats = weight / weight[weight > 0].mean()
        return scaled

    def check_truth(self, eval_set: tuple[ArrayLike, ArrayLike] | None) -> Mask | None:
        """Which rows of an eval_set are positive, (n,); None without one."""
        if eval_set is None:
            return None
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
        truth: Mask = y == self._positive_label()
        return truth

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "threshold_")

    @abstractmethod
    def predict_rows(self, X: ArrayLike) -> Floats:
        """Probability of being positive of new rows, (n,), before calibration."""

    def _find_calibration(self, in_sample: Floats, out_of_fold: Floats) -> float:
        """What to add to the log-odds so that the mean, out of fold if known, is the prior."""
        if not self.calibrate:
            return 0.0
        counts, known = self.sample_weight_ > 0, np.isfinite(out_of_fold)
        probability, target = np.where(known, out_of_fold, in_sample), self.prior_
        rows = counts
        if self.scenario == "single-set":
            # Probabilities are about all rows then, labelled ones among them.
            target = self.population_prior_
        else:
            rows = counts & ~self.is_positive_
            rows = rows & known if (rows & known).any() else rows
        probability, weight = probability[rows], self.sample_weight_[rows]
        if self.calibrate == "auto" and np.average(probability, weights=weight) >= NEAR * target:
            return 0.0
        return calibration.matching_shift(calibration.log_odds(probability), target, weight)

    def _find_threshold(self) -> float:
        kind, number = thresholds.parse(self.threshold)
        if kind == "at":
            return number
        if kind == "top":
            unlabeled = self.probability_[self.is_unlabeled_]
            return thresholds.at_share(unlabeled, min(1.0, number / len(unlabeled)))
        if kind == "prior":
            weight = self.sample_weight_[~self.is_positive_]
            return thresholds.at_share(self.probability_[~self.is_positive_], self.prior_, weight)
        rows = self._held_out_rows()
        if rows is None:
            raise ValueError(
                f"threshold={self.threshold!r} is found on labelled and unlabelled rows that were "
                "held out, and there are none: leave eval_set out, or give a number."
            )
        scores, weights = (
            self._by_label(values, rows) for values in (self.out_of_fold_, self.sample_weight_)
        )
        if kind == "recall":
            return thresholds.at_recall(scores[0], number, weights[0])
        if self.scenario == "single-set" and self.propensity_ is not None:
            # A precision is that among the unlabelled rows, which some positives have left.
            weights = weights[0] * (1 - self.propensity_[rows & self.is_positive_]), weights[1]
        found, reached = thresholds.at_precision(*scores, self.prior_, number, weights)
        if reached < number:
            warn(
                f"no threshold has a precision of {number:g} on held-out rows; the highest is "
                f"{reached:.3g}, at {found:.3g}."
            )
        return found

    def _warn_if_collapsed(self) -> None:
        """Warn if the share of unlabelled rows predicted positive is nowhere near the prior."""
        # A target may ask for few or many positives; a half then tells of a collapse.
        is_target = thresholds.parse(self.threshold)[0] in thresholds.TARGETS
        at = 0.5 if is_target else self.threshold_
        unlabeled = self.probability_[~self.is_positive_]
        weight = self.sample_weight_[~self.is_positive_]
        rate = float(np.average(unlabeled >= at, weights=weight))
        side = collapse(rate, self.prior_, len(unlabeled))
        if side == "negative" and self._ranks():
            # Who asked for few positives gets few.
            if is_target or self.threshold != 0.5:
                return
            warn(
                f"only {rate:.1%} of the unlabelled rows have a probability of {at:g} or more, and "
                f"{self.prior_:.1%} are expected to be positive: single positives are hard to tell "
                "apart, but the ranking is sound. Choose threshold='prior', 'top:100' or "
                "'recall:0.8'.",
                CollapseWarning,
            )
        elif side is not None:
            warn(
                f"{type(self).__name__} predicts positive on {rate:.1%} of the unlabelled rows, "
                f"far from the prior of {self.prior_:.1%}: it has probably collapsed to "
                f"all-{side}. {self._causes}",
                CollapseWarning,
            )

    def _warn_if_chance(self) -> None:
        """Warn if held-out rows do not show that the model ranks at all, whatever the prior."""
        rows = self._held_out_rows()
        if rows is None or not self._tells(rows):
            return
        area = self._auc_of_labeled(rows)
        if not ranking.beats_chance(area):
            warn(ranking.chance_doubt(area, LEVEL), ChanceWarning)

    def _ranks(self) -> bool:
        """Whether held-out labelled rows rank clearly above unlabelled ones."""
        rows = self._held_out_rows()
        if rows is None:
            return False
        area = self._auc_of_labeled(rows)
        return area.value >= RANKS and ranking.beats_chance(area)

    def _auc_of_labeled(self, rows: NDArray[np.bool_]) -> Estimate:
        given = self.is_positive_[rows], self.out_of_fold_[rows]
        # It does not depend on the prior.
        weight, propensity = self._weights_of(rows)
        sample = sample_of(
            *given, prior=self.prior_, level=LEVEL, sample_weight=weight, propensity=propensity
        )
        return ranking.auc_of_labeled(sample)

    def _warn_of_prior(self) -> None:
        """Warn if held-out rows do not tell the share of positives, and it was not given."""
        rows = self._held_out_rows() if priors.needs_estimation(self.prior) else None
        if rows is None:
            return
        # An interval by a bootstrap is of shares that are known.
        if not self._tells(rows) or hasattr(self, "prior_error_"):
            return
        posterior = share_posterior(*self._held_out_odds(rows), self._held_out_outcome(rows))
        if not posterior.is_known:
            found = self._prior_interval(rows, LEVEL, DRAWS)
            warn(found.doubt(self.prior_) + self._doubt_of_threshold(), PriorWarning)

    def _doubt_of_threshold(self) -> str:
        """Say that a threshold for a precision rests on a share that is not known."""
        if thresholds.parse(self.threshold)[0] != "precision":
            return ""
        return " " + thresholds.precision_doubt(self.threshold)

    def _tells(self, rows: NDArray[np.bool_]) -> bool:
        """Whether held-out rows are enough to doubt an estimate that more rows were used for."""
        held_out = int((rows & self.is_positive_).sum())
        return held_out >= min(TELLING, int(self.is_positive_.sum()) / 2)

    def prior_interval(self, level: float = 0.9) -> PriorInterval:
        """Interval of an estimated prior, and whether held-out rows tell the share of positives.

        Parameters
        ----------
        level
            Probability that the interval holds the truth. ``prior_interval_`` keeps its own.

        Raises
        ------
        ValueError
            No labelled, or no unlabelled, rows were held out.
        """
        check_is_fitted(self)
        if self.prior_interval_ is not None:
            return PriorInterval(*self.prior_interval_)
        return self._prior_interval(self._require_held_out(), level, DRAWS)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class, (n, 2), columns in the order of ``classes_``.

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        check_is_fitted(self)
        if is_sparse(X):
            # Inside, rows may become dense.
            found = np.concatenate([self.predict_rows(block) for block in blocks(X)])
        else:
            found = self.predict_rows(X)
        positive = calibration.shifted(found, self.calibration_)
        columns = [1 - positive, positive]
        if self._positive_place() == 0:
            columns.reverse()
        return np.column_stack(columns)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log-odds of ``classes_[1]`` beyond the threshold, (n,): its label is predicted above 0.

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        probability = self.predict_proba(X)[:, self._positive_place()]
        tiny = np.finfo(np.float64).tiny
        # Nearer to 1 than this, a probability is rounding, and differs from batch to batch.
        rest = np.maximum(1 - probability, np.finfo(np.float64).eps)
        odds = np.log(np.maximum(probability, tiny)) - np.log(rest)
        beyond: NDArray[np.float64] = odds - np.log(self.threshold_ / (1 - self.threshold_))
        # Rounding must not decide on which side of the threshold a probability lies.
        above = probability >= self.threshold_
        beyond = np.where(above, np.maximum(beyond, tiny), np.minimum(beyond, -tiny))
        return beyond if self._positive_place() == 1 else -beyond

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels of ``y``: the positive one, or the other one for negative, (n,).

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        second = self.decision_function(X) > 0
        predicted: NDArray[Any] = self.classes_[second.astype(int)]
        return predicted

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
        rows = thresholds.most_likely(self.probability_, self.is_unlabeled_, k)
        return rows, self.probability_[rows]

    def to_check(
        self, n: int = 30, by: str = "suspect", random_state: int | None = 0
    ) -> NDArray[np.intp]:
        """Unlabelled rows of the training table that are worth a check, see ``checked`` of fit.

        Parameters
        ----------
        n
            How many; fewer if there are fewer unlabelled rows.
        by
            ``"suspect"``: the most likely positives. ``"informative"``: those nearest to the
            threshold. ``"random"``: drawn from all.
        random_state
            Seed of the draw.

        Returns
        -------
        rows
            Row numbers in the X of fit, from 0, the most wanted first, (n,).

        Examples
        --------
        >>> from robustpu import PUExtraTreesClassifier
        >>> X, y = np.arange(40.0)[:, None], np.arange(40) > 34
        >>> model = PUExtraTreesClassifier(prior=0.1, random_state=0).fit(X, y)
        >>> model.to_check(2).tolist()
        [34, 33]
        """
        check_is_fitted(self)
        check_number("n", n, least=1, whole=True)
        random = np.random.default_rng(random_state)
        wanted = thresholds.priority(self.probability_, by, self.threshold_, random)
        return thresholds.most_likely(wanted, self.is_unlabeled_, n)

    @property
    def is_unlabeled_(self) -> Mask:
        """Which training rows are unlabelled, (n,): neither labelled positive nor known."""
        if self.outcome_ is None:
            return ~self.is_positive_
        return ~self.is_positive_ & np.isnan(self.outcome_)

    def evaluate(
        self,
        prior_interval: Sequence[float] | None = None,
        k: int | None = None,
        level: float = 0.9,
    ) -> Evaluation:
        """Estimate how good the model is, without negatives, from rows that were held out.

        Each row is scored by the members that did not train on it, so the whole model is rather
        better. Epochs or rounds were chosen on the same rows, which flatters a little; for rows
        that were never given to ``fit`` take :func:`robustpu.metrics.evaluate`. Sample weights of
        ``fit`` count, but for the interval of an estimated prior.

        Parameters
        ----------
        prior_interval, k, level
            As in :func:`robustpu.metrics.evaluate`. An estimated prior has an interval by default:
            that of :meth:`prior_interval`. Where rows do not tell the share of positives, metrics
            that need it are left out, unless you give an interval.

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
        rows = self._require_held_out()
        is_estimated, is_known = priors.needs_estimation(self.prior), True
        prior = self.prior_
        if prior_interval is None and (is_estimated or self.prior_interval_ is not None):
            found = self.prior_interval(level)
            prior_interval, is_known = (found.low, found.high), found.is_known
        if prior_interval is not None and is_estimated:
            low, high = sorted(prior_interval)
            # The estimate itself may lie outside.
            prior = float(np.clip(prior, low, high))
        weight, propensity = self._weights_of(rows)
        y, known = labels.as_numbers(self.is_positive_, self.outcome_)
        return evaluate(
            y[rows],
            self.out_of_fold_[rows],
            neg_label=None if known is None else -1,
            checked=None if known is None else known[rows],
            prior=prior,
            prior_interval=prior_interval,
            threshold=self.threshold_,
            scenario=self.scenario,
            labeled_share=float(
                np.average(self.is_positive_, weights=self.sample_weight_).clip(EDGE, 1 - EDGE)
            ),
            k=k,
            level=level,
            is_prior_known=is_known,
            sample_weight=weight,
            propensity=propensity,
        )

    def _weights_of(self, rows: NDArray[np.bool_]) -> tuple[Floats, Floats | None]:
        """Sample weights and propensities of some rows, as metrics take them: apart."""
        weight, propensity = self.sample_weight_, self.propensity_
        if propensity is None:
            return weight[rows], None
        weight = weight * np.where(self.is_positive_, propensity, 1.0)
        return weight[rows], propensity[rows]

    def _prior_interval(
        self, rows: NDArray[np.bool_], level: float, n_bootstrap: int
    ) -> PriorInterval:
        """Interval of an estimated prior, from held-out scores."""
        error = getattr(self, "prior_error_", None)
        if error is not None:
            return counted_interval(self.prior_, error, level)
        odds, random = self._held_out_odds(rows), np.random.RandomState(0)
        found = prior_interval(
            odds,
            self.prior_,
            level=level,
            n_bootstrap=n_bootstrap,
            random=random,
            outcome=self._held_out_outcome(rows),
        )
        low, high = found.low, found.high
        if found.is_known:
            edge = 0.1 / (int((rows & ~self.is_positive_).sum()) + 1)
            low, high = max(low, edge), min(high, 1 - edge)
        return found._replace(
            low=min(low, self.prior_),
            high=max(high, self.prior_),
            is_known=found.is_known or not self._tells(rows),
        )

    def _held_out_odds(self, rows: NDArray[np.bool_]) -> Parts:
        """Log-odds of held-out labelled and unlabelled rows, each as often as it weighs."""
        odds = self._by_label(calibration.log_odds(self.out_of_fold_), rows)
        positive, unlabeled = self._by_label(self.sample_weight_, rows)
        return priors.by_weight(odds[0], positive), priors.by_weight(odds[1], unlabeled)

    def _held_out_outcome(self, rows: NDArray[np.bool_]) -> Floats | None:
        """Outcomes of the unlabelled rows among those of ``_held_out_odds``."""
        if self.outcome_ is None:
            return None
        weight = self._by_label(self.sample_weight_, rows)[1]
        return priors.by_weight(self._by_label(self.outcome_, rows)[1], weight)

    def _held_out_rows(self) -> NDArray[np.bool_] | None:
        """Held-out rows with non-zero sample weight, (n,); None without labelled or unlabelled."""
        rows: NDArray[np.bool_] = np.isfinite(self.out_of_fold_) & (self.sample_weight_ > 0)
        both = (rows & self.is_positive_).any() and (rows & ~self.is_positive_).any()
        return rows if both else None

    def _require_held_out(self) -> NDArray[np.bool_]:
        rows = self._held_out_rows()
        if rows is None:
            raise ValueError(
                "no labelled and unlabelled rows were held out to evaluate the model on: fit with "
                "validation_fraction above 0 and without eval_set."
            )
        return rows

    def _by_label(self, values: NDArray[np.float64], rows: NDArray[np.bool_]) -> Parts:
        """Values of the labelled and of the unlabelled rows among some."""
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
        return labels.positive_index(self.classes_, self.pos_label, self.neg_label)

    def _positive_label(self) -> Any:
        return self.classes_[self._positive_place()]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        # The y of fit is not the truth, so accuracy against it means little.
        tags.classifier_tags.poor_score = True
        return tags
