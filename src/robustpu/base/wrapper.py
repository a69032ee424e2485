"""What the methods around a scikit-learn learner share."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import _num_samples, validate_data

from robustpu import labels
from robustpu.base.arrays import bounded, refuse_dates, refuse_huge, refuse_repeated_names
from robustpu.base.classifier import BasePUClassifier
from robustpu.base.folds import folds, hold_out
from robustpu.base.learners import balanced_logits, fit_learner, scores
from robustpu.calibration import shifted
from robustpu.priors import from_weighted, is_joint
from robustpu.selection import oracle_accuracy, proxy_accuracy
from robustpu.sparse.learners import picks_columns, takes_sparse
from robustpu.sparse.rows import as_csr, is_sparse
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats, Mask, rows_of
from robustpu.validation.parameters import learner, number, param, parameters


@parameters
class SinglePUClassifier(BasePUClassifier):
    """Base of the classifiers that have nothing to choose among: neither epochs nor members.

    Nothing needs to be held out for them; a benchmark that compares settings asks for it.
    """

    validation_fraction: float = param(0.0, number(least=0, below=1))

    @abstractmethod
    def score_rows(self, X: Any) -> Floats:
        """Probability of being positive of each row, (n,)."""

    def check_combination(self) -> None:
        super().check_combination()
        if is_joint(self.prior):
            raise ValueError(
                f"prior={self.prior!r} needs networks of its own, and {type(self).__name__} has "
                "none: give prior= the number that robustpu.estimate_prior(X, y, "
                f"method={self.prior!r}) finds, or another method, such as 'auto'."
            )

    def hold_out(self, data: TrainingData, random: np.random.RandomState) -> TrainingData:
        rows = np.flatnonzero(data.weight)
        held_out = hold_out(data.is_positive[rows], self.validation_fraction, random)[1]
        return replace(data, held_out=rows[held_out])

    def finalize(self, data: TrainingData, scores: Scores) -> None:
        super().finalize(data, scores)
        self._score(data, scores)

    def _score(self, data: TrainingData, scores: Scores) -> None:
        """Record how good the model is on rows that it has not seen, as far as there are any."""
        self.selection_, score = "none", np.nan
        numbers = torch.tensor([self.prior_, self.population_prior_], dtype=torch.float64)
        if data.truth is not None and scores.on_eval is not None:
            self.selection_ = "oracle"
            predicted = shifted(scores.on_eval, self.calibration_) >= self.threshold_
            given = predicted.astype(float), data.truth, np.ones(len(data.truth))
            score = float(oracle_accuracy(*map(torch.from_numpy, given), *numbers))
        elif len(data.held_out):
            self.selection_, rows = "pu", data.held_out
            predicted = self.probability_[rows] >= self.threshold_
            given = predicted.astype(float), data.is_positive[rows], data.weight[rows]
            score = float(proxy_accuracy(*map(torch.from_numpy, given), *numbers))
        self.member_scores_, self.kept_ = np.array([score]), np.array([0])


DEFAULT = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


@parameters
class WrapperPUClassifier(SinglePUClassifier):
    """Base of the classifiers around a scikit-learn learner; a method fills in ``fit_learners``.

    Rows reach the learner as they came: what it takes (missing values, categories, DataFrames)
    can be given. ``estimator`` is any classifier with ``predict_proba``, or at least
    ``decision_function``; by default logistic regression on standardised columns. Sparse rows stay
    sparse if it takes them, with scalers that do not centre, and are bounded by
    :func:`robustpu.base.arrays.bounded` if not.
    """

    estimator: Any = param(None, learner, positional=True)

    _default = DEFAULT

    @abstractmethod
    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        """Fit the learner, or several; ``prior_`` and ``population_prior_`` are known."""

    def score_training_rows(self, X: Any) -> Floats:
        """Probability of being positive of each of the rows that were trained on, (n,)."""
        return self.score_rows(X)

    def is_out_of_fold(self, n_rows: int) -> Mask:
        """Which of these are scored by learners that were not fitted to them, (n,)."""
        return np.zeros(n_rows, dtype=np.bool_)

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        if any(hasattr(given, "__dask_graph__") for given in (X, y)):
            raise TypeError(
                f"{type(self).__name__} holds all rows in memory, and these are a Dask collection: "
                "give it X.compute(), or take robustpu.distributed.DaskRobustPUMetaClassifier, "
                "which leaves them where they are."
            )
        labels.refuse_missing(y)
        _refuse_unusable(X)
        y = validate_data(self, y=y)
        rows = self._rows(X, _num_samples(y), reset=True)
        is_positive = self.encode_labels(y)
        weight = self.check_weight(sample_weight, is_positive)
        truth = self.check_truth(eval_set)
        if eval_set is None:
            return TrainingData(rows, is_positive, weight)
        return TrainingData(rows, is_positive, weight, self._rows(eval_set[0]), truth)

    def _rows(self, X: Any, n_rows: int | None = None, *, reset: bool = False) -> Any:
        """Rows as the learner gets them; it checks them, and here names and number of columns."""
        if is_sparse(X) and not picks_columns(self.learner()):
            rows = as_csr(X, n_rows)
            validate_data(self, X, reset=reset, skip_check_array=True)
            if reset and takes_sparse(self.learner()):
                self.is_sparse_ = True
        else:
            (rows,) = indexable(X) if reset else (X,)
            validate_data(self, rows, reset=reset, skip_check_array=True)
        if n_rows is not None and _num_samples(rows) != n_rows:
            raise ValueError(f"X has {_num_samples(rows)} rows but y has {n_rows}.")
        refuse_huge(rows)
        is_bounded = issparse(rows) or hasattr(self, "projection_")
        return bounded(self, rows, reset=reset) if is_bounded else rows

    def estimate_prior(self, data: TrainingData, random: np.random.RandomState) -> float:
        """Estimate the prior from out-of-fold scores of the learner."""
        data = data.with_weight()
        score = self.cross_fit(data, random)
        logits = balanced_logits(score, self.labelled_share(data))
        return from_weighted(logits, data.is_positive, data.weight, self.prior, data.outcome)

    def labelled_share(self, data: TrainingData) -> float:
        """Share of the labelled rows in what a learner of ``cross_fit`` sees."""
        labelled, unlabeled = data.masses()
        return labelled / (labelled + unlabeled)

    def fit_data(self, problem: Problem) -> Scores:
        data = problem.data
        training, kept = data.training(), data.kept
        self.fit_learners(training, problem.random)
        probability, out_of_fold = np.empty(len(data)), np.full(len(data), np.nan)
        probability[kept] = self.score_training_rows(training.X)
        if len(data.held_out):
            probability[data.held_out] = self.score_rows(rows_of(data.X, data.held_out))
        unseen = np.concatenate([data.held_out, kept[self.is_out_of_fold(len(kept))]])
        out_of_fold[unseen] = probability[unseen]
        # Rows that the learner refuses must not leave a fitted model.
        on_eval = None if data.truth is None else self.score_rows(data.X_eval)
        return Scores(probability, out_of_fold, on_eval)

    def predict_rows(self, X: ArrayLike) -> Floats:
        # A column of text is rows enough for a learner that reads it.
        is_number = getattr(getattr(X, "dtype", None), "kind", "O") in "biufc"
        if getattr(X, "ndim", 2) == 1 and is_number:
            raise ValueError("X must have rows and columns. Reshape your data: X.reshape(1, -1).")
        _refuse_unusable(X)
        return self.score_rows(self._rows(X))

    # For methods: learners that tell positives (1) from other rows (0).

    def learner(self) -> Any:
        """Return the learner that was given, or the default of the method."""
        return self._default if self.estimator is None else self.estimator

    def fitted_learner(
        self, X: Any, target: NDArray[Any], weight: Floats, random: np.random.RandomState
    ) -> Any:
        """Fit a fresh copy of the learner to rows with targets 0 and 1."""
        return fit_learner(self.learner(), X, target, weight, random)

    def cross_fit(self, data: TrainingData, random: np.random.RandomState) -> Floats:
        """Score each row, P against U, by a learner that has not seen it, (n,)."""
        splits = folds(data.is_positive, random)
        if not splits:
            positive = int(data.is_positive.sum())
            raise ValueError(
                "at least 2 labelled positives and 2 unlabelled rows are needed to score rows out "
                f"of fold; there are {positive} and {len(data) - positive}. Rows with zero sample "
                "weight do not count."
            )
        score = np.empty(len(data))
        for training, other in splits:
            part = data.take(training)
            learner = self.fitted_learner(part.X, part.is_positive, part.weight, random)
            score[other] = scores(learner, rows_of(data.X, other))
        return score

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.learner()).input_tags.allow_nan
        return tags


def _refuse_unusable(X: Any) -> None:
    """Refuse repeated names, and arrays of dates; those in a frame are for the learner to read."""
    refuse_repeated_names(X)
    if not hasattr(X, "columns"):
        refuse_dates(X)
