"""What the methods around a scikit-learn learner share."""

from abc import abstractmethod
from copy import deepcopy
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import (
    Tags,
    _safe_indexing,
    check_random_state,
    get_tags,
    indexable,
)
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    has_fit_parameter,
    validate_data,
)

from robustpu import labels
from robustpu.base import BasePUClassifier, parameters
from robustpu.held_out import held_out_sizes
from robustpu.priors import from_scores, is_joint, is_open
from robustpu.scenario import check_prior, population_prior
from robustpu.selection import oracle_accuracy, proxy_accuracy
from robustpu.thresholds import shifted

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

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

    validation_fraction: float = 0.0

    @abstractmethod
    def _answer(self, X: Any) -> Floats:
        """Probability of being positive of each row, (n,)."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if is_joint(self.prior):
            raise ValueError(
                f"prior={self.prior!r} trains networks of its own, and {type(self).__name__} has "
                "none: give prior= the number that robustpu.estimate_prior(X, y, "
                f"method={self.prior!r}) finds, or another method, such as 'auto'."
            )

    def _score(
        self,
        held_out: NDArray[np.intp],
        weight: Floats | None,
        truth: Mask | None,
        on_truth: Floats | None,
    ) -> None:
        """Note how good the model is on rows that it has not seen, as far as there are such.

        ``weight`` is of all rows, or None; ``truth`` and ``on_truth`` are the labels of an eval_set
        and the answers to its rows.
        """
        self.selection_, criterion = "none", proxy_accuracy
        answer = mask = np.zeros(0, dtype=np.bool_)
        if truth is not None and on_truth is not None:
            self.selection_, criterion, mask = "oracle", oracle_accuracy, truth
            answer = shifted(on_truth, self.calibration_) >= self.threshold_
        elif len(held_out):
            self.selection_, mask = "pu", self.is_positive_[held_out]
            answer = self.probability_[held_out] >= self.threshold_
        own = np.ones(len(mask))
        if self.selection_ == "pu" and weight is not None:
            own = weight[held_out]
        score = np.nan
        if self.selection_ != "none":
            numbers = torch.tensor([self.prior_, self.population_prior_], dtype=torch.float64)
            rows = [torch.from_numpy(part) for part in (answer.astype(float), mask, own)]
            score = float(criterion(*rows, *numbers))
        self.member_scores_, self.kept_ = np.array([score]), np.array([0])


DEFAULT = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


@parameters
class WrapperPUClassifier(SinglePUClassifier):
    """Base of the classifiers around a scikit-learn learner; a method fills in ``_learn``.

    Rows reach the learner as they came: what it takes (missing values, categories, DataFrames)
    can be given. ``estimator`` is any classifier with ``predict_proba``, or at least
    ``decision_function``; by default logistic regression on standardised columns.
    """

    estimator: Any = None

    _default = DEFAULT

    @abstractmethod
    def _learn(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        """Fit the learner, or several; ``prior_`` and ``population_prior_`` are known."""

    def _answer_own(self, X: Any) -> Floats:
        """Probability of being positive of each of the rows that were learnt from, (n,)."""
        return self._answer(X)

    def _is_unseen(self, is_positive: Mask) -> Mask:
        """Tell which of these are answered by what was not fitted to them, (n,)."""
        return np.zeros(len(is_positive), dtype=np.bool_)

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Fit to positives and unlabelled rows.

        Parameters
        ----------
        X
            Rows (n, ...), whatever the learner takes.
        y
            Two labels (n,): labelled positive (by default the larger) and unlabelled.
        sample_weight
            Weight of each row, (n,); the learner has to take it. Only ratios count.
        eval_set
            ``(X, y_true)`` with *true* labels. The accuracy on it is noted as the score of this
            model, ``member_scores_``; nothing is chosen by it.
        """
        X, is_positive, weight, truth = self._check_data(X, y, sample_weight, eval_set)
        random = check_random_state(self.random_state)
        kept, held_out = hold_out(is_positive, self.validation_fraction, random)
        own, own_positive = rows_of(X, kept), is_positive[kept]
        own_weight = None if weight is None else weight[kept]
        self._set_prior(own, own_positive, own_weight, random)
        self._learn(own, own_positive, own_weight, random)
        probability = np.empty(len(is_positive))
        probability[kept] = self._answer_own(own)
        if len(held_out):
            probability[held_out] = self._answer(rows_of(X, held_out))
        is_unseen = np.ones(len(is_positive), dtype=np.bool_)
        is_unseen[kept] = self._is_unseen(own_positive)
        unseen = np.where(is_unseen, probability, np.nan)
        # Rows that the learner refuses must not leave a fitted model.
        on_truth = None if eval_set is None else self._answer(eval_set[0])
        self._conclude(is_positive, weight, probability, unseen, depth=1)
        self._score(held_out, weight, truth, on_truth)
        return self

    def _check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> tuple[Any, Mask, Floats | None, Mask | None]:
        """Check all that fit was given: rows, which are labelled, weights, truth of an eval_set."""
        self._check_parameters()
        self._forget()
        if any(hasattr(own, "__dask_graph__") for own in (X, y)):
            raise TypeError(
                f"{type(self).__name__} holds all rows in memory, and these are a Dask collection: "
                "give it X.compute(), or take robustpu.distributed.DaskRobustPUMetaClassifier, "
                "which leaves them where they are."
            )
        labels.refuse_missing(y)
        (X,) = indexable(X)
        # The learner checks the rows; here only names and number of columns are noted.
        y = validate_data(self, y=y)
        validate_data(self, X, skip_check_array=True)
        self.classes_, is_positive = labels.encode(y, self.pos_label)
        if _num_samples(X) != len(is_positive):
            raise ValueError(f"X has {_num_samples(X)} rows but y has {len(is_positive)}.")
        refuse_huge(X)
        weight = truth = None
        if sample_weight is not None:
            weight = _check_sample_weight(
                sample_weight, is_positive, dtype=np.float64, ensure_non_negative=True
            )
            weight = ratios(weight, is_positive)
        if eval_set is not None:
            truth = self._truth_of(eval_set)
            validate_data(self, eval_set[0], reset=False, skip_check_array=True)
            refuse_huge(eval_set[0])
        return X, is_positive, weight, truth

    def _set_prior(
        self, X: Any, is_positive: Mask, weight: Floats | None, random: np.random.RandomState
    ) -> None:
        """Note the prior that was given, or estimate it from out-of-fold scores of the learner."""
        if not is_open(self.prior):
            self.prior_ = check_prior(self.prior)
        else:
            if weight is not None:
                rows = np.flatnonzero(weight)
                X, is_positive, weight = rows_of(X, rows), is_positive[rows], weight[rows]
            score = self._out_of_fold(X, is_positive, weight, random)
            share = self._label_share(is_positive, weight)
            self.prior_ = from_scores(*balanced_logits(score, is_positive, share), self.prior)
        mass = masses(is_positive, weight)
        self.population_prior_ = population_prior(self.prior_, *mass, self.scenario)

    def _label_share(self, is_positive: Mask, weight: Floats | None) -> float:
        """Share of the labelled rows in what a learner of ``_out_of_fold`` sees."""
        labelled, unlabeled = masses(is_positive, weight)
        return labelled / (labelled + unlabeled)

    def _positive_probability(self, X: ArrayLike) -> Floats:
        # A column of text is rows enough for a learner that reads it.
        is_number = getattr(getattr(X, "dtype", None), "kind", "O") in "biufc"
        if getattr(X, "ndim", 2) == 1 and is_number:
            raise ValueError("X must have rows and columns. Reshape your data: X.reshape(1, -1).")
        validate_data(self, X, reset=False, skip_check_array=True)
        refuse_huge(X)
        return self._answer(X)

    # For methods: learners that tell positives (1) from other rows (0).

    def _learner(self) -> Any:
        """Return the learner that was given, or the default of the method."""
        return self._default if self.estimator is None else self.estimator

    def _fitted(
        self,
        X: Any,
        target: NDArray[Any],
        weight: Floats | None,
        random: np.random.RandomState,
    ) -> Any:
        """Fit a fresh copy of the learner to rows with targets 0 and 1."""
        return fit_learner(self._learner(), X, target, weight, random)

    def _out_of_fold(
        self,
        X: Any,
        is_positive: Mask,
        weight: Floats | None,
        random: np.random.RandomState,
    ) -> Floats:
        """Score each row, P against U, by a learner that has not seen it, (n,)."""
        splits = folds(is_positive, random)
        if not splits:
            raise ValueError(
                "at least 2 labelled positives and 2 unlabelled rows are needed to score rows out "
                f"of fold; there are {int(is_positive.sum())} and {int((~is_positive).sum())}. "
                "Rows of weight 0 do not count."
            )
        score = np.empty(len(is_positive))
        for training, other in splits:
            own = None if weight is None else weight[training]
            learner = self._fitted(rows_of(X, training), is_positive[training], own, random)
            score[other] = scores(learner, rows_of(X, other))
        return score

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner())
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def fit_learner(
    learner: Any,
    X: Any,
    target: NDArray[Any],
    weight: Floats | None,
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
        Rows, their targets, (n,), and weights, (n,), or None if all count alike.
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
    weights = {} if weight is None else {_weight_name(learner): weight}
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
                f"{type(learner).__name__}.predict_proba must answer two columns, one a class; it "
                f"answers an array of shape {both.shape}."
            )
        return _checked(learner, both[:, 1])
    decision: Floats = np.clip(learner.decision_function(X), -500, 500)
    return _checked(learner, 1 / (1 + np.exp(-decision)))


def _checked(learner: Any, probability: Floats) -> Floats:
    """Refuse what is no probability: one such answer would spoil those to all rows."""
    # A rounding error beyond the ends does no harm.
    wrong = ~((probability >= -ROUNDING) & (probability <= 1 + ROUNDING))
    if wrong.any():
        first = int(wrong.argmax())
        raise ValueError(
            f"{type(learner).__name__} answers {probability[first]} for row {first} of "
            f"{len(wrong)}, which is no probability; it does so for {int(wrong.sum())} of them. "
            "Take another estimator=, or rows that it can answer."
        )
    return probability


def balanced_logits(
    probability: Floats, is_positive: Mask, share: float | None = None
) -> tuple[Floats, Floats]:
    """Log-odds of the labelled and of the unlabelled rows, as if both weighed the same.

    Parameters
    ----------
    probability
        Of being labelled, (n,).
    is_positive
        Which rows are labelled, (n,).
    share
        Of the labelled rows, as the learner saw it; by default each row counted the same.

    Examples
    --------
    >>> balanced_logits(np.array([0.25, 0.25, 0.25, 0.25]), np.array([1, 0, 0, 0]) > 0)[1].round(6)
    array([0., 0., 0.])
    """
    share = float(is_positive.mean()) if share is None else share
    inside = np.clip(probability, 1e-9, 1 - 1e-9)
    score = np.log(inside / (1 - inside)) - np.log(share / (1 - share))
    return score[is_positive], score[~is_positive]


def masses(is_positive: Mask, weight: Floats | None) -> tuple[float, float]:
    """Sums of the weights of the labelled and of the unlabelled rows, or their numbers.

    Examples
    --------
    >>> masses(np.array([True, False, False]), np.array([2.0, 1.0, 0.5]))
    (2.0, 1.5)
    """
    own = np.ones(len(is_positive)) if weight is None else weight
    return float(own[is_positive].sum()), float(own[~is_positive].sum())


def ratios(weight: Floats, is_positive: Mask) -> Floats:
    """Weights over the mean of those above 0, (n,): only ratios count, whatever the learner is.

    Examples
    --------
    >>> ratios(np.array([1e300, 3e300, 0]), np.array([True, False, False])).tolist()
    [0.5, 1.5, 0.0]
    """
    labels.refuse_weightless(is_positive, weight)
    # Their sum may be infinite.
    weight = weight / weight.max()
    answer: Floats = weight / weight[weight > 0].mean()
    return answer


def refuse_huge(X: Any) -> None:
    """Refuse numbers that single precision cannot hold; infinity is for the learner to judge.

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


def rows_of(X: Any, index: NDArray[np.intp]) -> Any:
    """Take rows of an array, a DataFrame, a sparse matrix or a list, by their numbers.

    Examples
    --------
    >>> rows_of([[1], [2], [3]], np.array([2, 0]))
    [[3], [1]]
    """
    return _safe_indexing(X, index)


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
    is_positive: Mask, random: np.random.RandomState
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Deal out P and U evenly: rows to learn from and rows to answer; none if they are too few.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    random
        Decides who is where.

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
    return list(splitter.split(np.zeros(len(is_positive)), is_positive))


def hold_out(
    is_positive: Mask, fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
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
