"""What the methods around a scikit-learn learner share."""

from abc import abstractmethod
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import _num_samples, has_fit_parameter, validate_data

from robustpu import labels
from robustpu.base.arrays import refuse_dates, refuse_repeated_names
from robustpu.base.classifier import BasePUClassifier
from robustpu.calibration import shifted
from robustpu.priors import from_weighted, is_joint
from robustpu.selection import oracle_accuracy, proxy_accuracy
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats, Index, Mask, rows_of
from robustpu.training.members import held_out_sizes
from robustpu.validation.parameters import learner, number, param, parameters

FOLDS = 5

# Many learners hold numbers in single precision, others square them.
LARGEST = float(np.finfo(np.float32).max)
LEAST = 1e-150
ROUNDING = 1e-6


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
                f"prior={self.prior!r} trains networks of its own, and {type(self).__name__} has "
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
    ``decision_function``; by default logistic regression on standardised columns.
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
        (X,) = indexable(X)
        _refuse_unusable(X)
        # The learner checks the rows; here only names and number of columns are noted.
        y = validate_data(self, y=y)
        validate_data(self, X, skip_check_array=True)
        is_positive = self.encode_labels(y)
        if _num_samples(X) != len(is_positive):
            raise ValueError(f"X has {_num_samples(X)} rows but y has {len(is_positive)}.")
        refuse_huge(X)
        weight = self.check_weight(sample_weight, is_positive)
        truth = self.check_truth(eval_set)
        if eval_set is None:
            return TrainingData(X, is_positive, weight)
        validate_data(self, eval_set[0], reset=False, skip_check_array=True)
        refuse_huge(eval_set[0])
        return TrainingData(X, is_positive, weight, eval_set[0], truth)

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
        validate_data(self, X, reset=False, skip_check_array=True)
        refuse_huge(X)
        return self.score_rows(X)

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
        inner = get_tags(self.learner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def fit_learner(
    learner: Any,
    X: Any,
    target: NDArray[Any],
    weight: Floats,
    random: np.random.RandomState,
    start: Any = None,
) -> Any:
    """Fit a fresh copy of a learner to rows with targets 0 and 1.

    A linear one with ``warm_start=True`` goes on from the coefficients of another fit. Ensembles do
    not: they would keep the trees of that fit. Nor do scikit-learn's networks, which would stop at
    the losses of other weights.

    Parameters
    ----------
    learner
        A scikit-learn classifier; it stays as it is.
    X, target, weight
        Rows, their targets, (n,), and weights, (n,). Weights that are all 1 are not passed on, so
        that learners without ``sample_weight`` can be fitted.
    random
        Every ``random_state`` of the learner is drawn from it.
    start
        The same learner after another fit, or None; it stays as it is.
    """
    goes_on = getattr(learner, "warm_start", False) and hasattr(start, "coef_")
    learner = deepcopy(start) if goes_on else clone(learner)
    states = {
        name: random.randint(np.iinfo(np.int32).max)
        for name in sorted(learner.get_params())
        if name == "random_state" or name.endswith("__random_state")
    }
    learner.set_params(**states)
    target = np.asarray(target, dtype=np.int64)
    weights = {} if (weight == 1).all() else {_weight_name(learner): weight}
    try:
        return learner.fit(X, target, **weights)
    except ValueError as error:
        names = _text_columns(X)
        if not names or "could not convert string" not in str(error):
            raise
        raise ValueError(
            f"{type(learner).__name__} takes no text, and X has columns of it: {', '.join(names)}. "
            'Make categories of them, X.astype({name: "category"}), if the learner takes those, or '
            "put an encoder in front of it, in a pipeline."
        ) from error


def _text_columns(X: Any) -> list[str]:
    """Names of the columns of a pandas frame that hold text or objects; none of other rows."""
    if not hasattr(X, "select_dtypes"):
        return []
    # Categories are of the kind "O" as well.
    kinds = X.dtypes.items()
    return [repr(name) for name, kind in kinds if kind.kind in "OU" and str(kind) != "category"]


def scores(learner: Any, X: Any) -> Floats:
    """Score rows by a fitted learner: probabilities of target 1, or a sigmoid of its decisions.

    Parameters
    ----------
    learner
        Fitted to targets 0 and 1.
    X
        Rows.
    """
    if hasattr(learner, "predict_proba"):
        both = np.asarray(learner.predict_proba(X))
        if both.ndim != 2 or both.shape[1] != 2:
            raise ValueError(
                f"{type(learner).__name__}.predict_proba must return two columns, one a class; it "
                f"returns an array of shape {both.shape}."
            )
        return _checked(learner, both[:, 1])
    decision: Floats = np.clip(learner.decision_function(X), -500, 500)
    return _checked(learner, 1 / (1 + np.exp(-decision)))


def _checked(learner: Any, probability: Floats) -> Floats:
    """Refuse what is no probability: one such score would spoil those of all rows."""
    # A rounding error beyond the ends does no harm.
    wrong = ~((probability >= -ROUNDING) & (probability <= 1 + ROUNDING))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            f"{type(learner).__name__} predicts {probability[first]} for row {first} of "
            f"{len(wrong)}, which is no probability; it does so for {int(wrong.sum())} of them. "
            "Take another estimator=, or rows that it can score."
        )
    return probability


def balanced_logits(probability: Floats, share: float) -> Floats:
    """Log-odds as if labelled and unlabelled rows had the same weight, (n,).

    Parameters
    ----------
    probability
        Of being labelled, (n,).
    share
        Of the labelled rows, as the learner saw it.

    Examples
    --------
    >>> balanced_logits(np.array([0.25, 0.25]), 0.25).round(6)
    array([0., 0.])
    """
    inside = np.clip(probability, 1e-9, 1 - 1e-9)
    odds: Floats = np.log(inside / (1 - inside)) - np.log(share / (1 - share))
    return odds


def _refuse_unusable(X: Any) -> None:
    """Refuse repeated names, and arrays of dates; those in a frame are for the learner to read."""
    refuse_repeated_names(X)
    if not hasattr(X, "columns"):
        refuse_dates(X)


def refuse_huge(X: Any) -> None:
    """Refuse numbers that single precision cannot hold; infinity is for the learner to refuse.

    And tables of nothing but numbers whose squares are 0: learners cannot scale them, or never end.

    Examples
    --------
    >>> refuse_huge([[1e200]])
    Traceback (most recent call last):
    ValueError: X holds numbers beyond 3.4e+38, such as 1e+200: scale the columns, or ...
    """
    if hasattr(X, "select_dtypes"):
        X = X.select_dtypes(np.floating).to_numpy(dtype=np.float64, na_value=np.nan)
    try:
        table = np.asarray(X.tocoo().data if issparse(X) else X)
    except ValueError:
        # Rows of several lengths, which some learners read.
        return
    if table.dtype.kind == "f" and table.dtype.itemsize > 4:
        huge = np.isfinite(table) & (np.abs(table) > LARGEST)
        if huge.any():
            raise ValueError(
                f"X holds numbers beyond {LARGEST:.2g}, such as {table[huge][0]:.3g}: scale the "
                "columns, or take their logarithms."
            )
        most = np.max(np.abs(table), initial=0.0, where=np.isfinite(table))
        if 0 < most < LEAST:
            raise ValueError(f"X holds no number beyond {most:.2g}: scale the columns.")


def _weight_name(learner: Any) -> str:
    """Name the parameter of ``fit`` that takes the weights of the rows."""
    if isinstance(learner, Pipeline):
        name, last = learner.steps[-1]
        if has_fit_parameter(last, "sample_weight"):
            return f"{name}__sample_weight"
    elif has_fit_parameter(learner, "sample_weight"):
        return "sample_weight"
    raise ValueError(
        f"{type(learner).__name__} takes no sample_weight, and rows have to be weighted here. Take "
        "another estimator=, such as HistGradientBoostingClassifier()."
    )


def n_folds(is_positive: Mask) -> int:
    """Folds that rows are dealt into: no more than there are rows of either kind.

    Examples
    --------
    >>> n_folds(np.array([True, True, False, False, False]))
    2
    """
    return min(FOLDS, int(is_positive.sum()), int((~is_positive).sum()))


def folds(
    is_positive: Mask, random: np.random.RandomState, X: NDArray[Any] | None = None
) -> list[tuple[Index, Index]]:
    """Split P and U evenly: rows to learn from and rows to score; none if they are too few.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    random
        Decides which row is where.
    X
        If given, copies of a row are kept in one fold: trees would recognise them.

    Examples
    --------
    >>> mask = np.array([True, True, False, False, False])
    >>> [len(other) for _, other in folds(mask, np.random.RandomState(0))]
    [3, 2]
    """
    count = n_folds(is_positive)
    if count < 2:
        return []
    splitter = StratifiedKFold(count, shuffle=True, random_state=random)
    splits = list(splitter.split(np.zeros(len(is_positive)), is_positive))
    if X is None:
        return splits
    fold = np.empty(len(is_positive), dtype=np.intp)
    for place, (_, other) in enumerate(splits):
        fold[other] = place
    together = fold[first_copies(X)]
    # Where all rows of one label are copies, they cannot be kept in one fold.
    if not has_both_outside(together, is_positive):
        return splits
    return [
        (np.flatnonzero(together != place), np.flatnonzero(together == place))
        for place in np.unique(together)
    ]


def has_both_outside(fold: Index, is_positive: Mask) -> bool:
    """Whether labelled and unlabelled rows lie outside of every fold.

    Examples
    --------
    >>> has_both_outside(np.array([0, 1, 1]), np.array([True, False, False]))
    False
    """
    places = np.unique(fold)
    return len(places) > 1 and all(
        0 < is_positive[fold != place].sum() < (fold != place).sum() for place in places
    )


def first_copies(X: NDArray[Any]) -> Index:
    """The first row that is equal to each row, (n,).

    Examples
    --------
    >>> first_copies(np.array([[1.0], [2.0], [1.0]])).tolist()
    [0, 1, 0]
    """
    keys = np.ascontiguousarray(X).view(np.dtype((np.void, X.dtype.itemsize * X.shape[1]))).ravel()
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first[number]


def hold_out(
    is_positive: Mask, fraction: float, random: np.random.RandomState
) -> tuple[Index, Index]:
    """Divide rows into those to learn from and those held out, of P and of U alike.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    fraction
        Share to hold out, at least one row of each; none of classes with a single row.
    random
        Decides who is where.

    Examples
    --------
    >>> mask = np.array([True, True, False, False, False])
    >>> [len(part) for part in hold_out(mask, 0.5, np.random.RandomState(0))]
    [3, 2]
    """
    everything = np.arange(len(is_positive))
    parts = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    sizes = held_out_sizes(len(parts[0]), len(is_positive), fraction)
    if not any(sizes):
        return everything, everything[:0]
    held_out = np.concatenate(
        [random.permutation(part)[:size] for part, size in zip(parts, sizes, strict=True)]
    )
    return np.setdiff1d(everything, held_out), np.sort(held_out)
