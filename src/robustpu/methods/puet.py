"""PU extra-trees: trees that minimise a risk of positives and unlabelled rows (Wilton, 2022)."""

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import ExtraTreesClassifier

from robustpu import labels
from robustpu.base.arrays import check_rows, refuse_huge
from robustpu.base.folds import folds
from robustpu.base.learners import balanced_logits
from robustpu.base.wrapper import SinglePUClassifier
from robustpu.methods.trees import Forest, Limits, Masses, grow
from robustpu.pool.forests import FAR
from robustpu.pool.trees import Trees
from robustpu.priors import from_weighted
from robustpu.scenario import check_scenario
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import number, param, parameters

# Compiled forms of forests with the scale of their columns, which are not stored with a model.
COMPILED: WeakKeyDictionary[Forest, tuple[Trees, Floats, Floats]] = WeakKeyDictionary()


@parameters
class PUExtraTreesClassifier(SinglePUClassifier):
    """Splits that minimise 4 W_P W_N / (W_P + W_N), W_N = max(0, W - W_P), over both children.

    W_P is the mass of a node's positives in the population, estimated from the labelled ones, and
    W that of all its rows. A split is the best of some random features with one random threshold
    each; a node without risk is a leaf; a row's probability is the mean over the trees of W_P / W,
    at most 1, in its leaf. Assumes that labels are selected completely at random (SCAR), and
    the prior. Scales of columns do not matter. Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    n_estimators
        Number of trees.
    max_features
        Features to choose a split from, of those that vary in the node: a number, ``"sqrt"`` of
        all, or None for all.
    max_depth
        Splits above a leaf at most; by default there is no limit.
    min_samples_leaf
        Rows in a leaf at least.
    max_samples
        Labelled rows, and unlabelled rows, that each tree sees at most, drawn for it alone; None
        for all.
    prior
        To be estimated, it is so from out-of-fold scores of scikit-learn's extra-trees, P against
        U, as many as here.

    Attributes
    ----------
    forest_
        The trees as flat arrays, a :class:`robustpu.methods.trees.Forest`.
    feature_importances_
        Share of the risk at the roots that splits on each feature took away, (d,); the sum is 1 if
        all leaves are pure.
    probability_
        Of each training row, by trees that have not seen it: a tree of full depth knows its rows.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> from robustpu.methods.puet import PUExtraTreesClassifier
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PUExtraTreesClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    n_estimators: int = param(100, number(least=1, whole=True))
    max_features: int | str | None = param("sqrt", lambda name, value: _check_features(name, value))
    max_depth: int | None = param(None, number(least=1, whole=True, optional=True))
    min_samples_leaf: int = param(1, number(least=1, whole=True))
    max_samples: int | None = param(50_000, number(least=1, whole=True, optional=True))

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        labels.refuse_missing(y)
        table, y = check_rows(self, X, y, dtype=np.float64)
        is_positive = self.encode_labels(y)
        truth = self.check_truth(eval_set)
        rows = None if eval_set is None else self._check_rows(eval_set[0])
        weight = self.check_weight(sample_weight, is_positive)
        return TrainingData(table, is_positive, weight, rows, truth)

    @staticmethod
    def scale_weight(weight: Floats) -> Floats:
        # Only ratios count; a power of 2 leaves whole weights, and their sums, exact.
        scaled: Floats = np.ldexp(weight, -np.frexp(weight.max())[1])
        return scaled

    def estimate_prior(self, data: TrainingData, random: np.random.RandomState) -> float:
        data = data.with_weight()
        score = _cross_fit(data, self.n_estimators, random)
        logits = balanced_logits(score, 0.5)
        return from_weighted(logits, data.is_positive, data.weight, self.prior, data.outcome)

    def fit_data(self, problem: Problem) -> Scores:
        data, random = problem.data, problem.random
        # Rows with zero sample weight would still move the ranges that thresholds are drawn from.
        seen = data.kept[data.weight[data.kept] > 0]
        rows = data.take(seen)
        self.forest_ = self._grow(rows, self.n_estimators, random)
        self.feature_importances_ = self.forest_.importances(data.X.shape[1])
        probability, out_of_fold = _ask(self.forest_, data.X), np.full(len(data), np.nan)
        out_of_fold[data.held_out] = probability[data.held_out]
        for training, other in folds(rows.is_positive, random, rows.X):
            forest = self._grow(rows.take(training), math.ceil(self.n_estimators / 2), random)
            out_of_fold[seen[other]] = _ask(forest, rows.X[other])
        in_sample = np.where(np.isnan(out_of_fold), probability, out_of_fold)
        on_eval = None if data.truth is None else _ask(self.forest_, data.X_eval)
        return Scores(in_sample, out_of_fold, on_eval)

    def _grow(self, data: TrainingData, count: int, random: np.random.RandomState) -> Forest:
        labels.require_both_classes(data.is_positive, data.weight)
        seeds = random.randint(np.iinfo(np.int32).max, size=count)
        limits = Limits(
            self._n_tried(data.X.shape[1]), self.max_depth, self.min_samples_leaf, self.max_samples
        )
        return grow(
            data.X,
            data.is_positive,
            data.weight,
            masses_of(self.prior_, *data.masses(), self.scenario),
            [np.random.default_rng(seed) for seed in seeds],
            limits,
        )

    def _n_tried(self, n_features: int) -> int:
        if self.max_features == "sqrt":
            return math.ceil(math.sqrt(n_features))
        return n_features if self.max_features is None else min(int(self.max_features), n_features)

    def _check_rows(self, X: ArrayLike) -> Floats:
        table: Floats = check_rows(self, X, reset=False, dtype=np.float64)
        return table

    def score_rows(self, X: ArrayLike) -> Floats:
        return _ask(self.forest_, self._check_rows(X))

    def predict_rows(self, X: ArrayLike) -> Floats:
        return self.score_rows(X)

    def score_fast(self, X: NDArray[Any]) -> Floats:
        """Probabilities of rows in single precision, (n,), five times as fast.

        Parameters
        ----------
        X
            Rows (n, d).
        """
        found = COMPILED.get(self.forest_)
        if found is None:
            centre, scale = self.forest_.spread(X.shape[1])
            found = self.forest_.compiled(centre, scale), centre, scale
            COMPILED[self.forest_] = found
        trees, centre, scale = found
        rows = np.clip((np.asarray(X, dtype=np.float64) - centre) / scale, -FAR, FAR)
        total = trees.total(np.ascontiguousarray(rows, dtype=np.float32))
        return total / len(self.forest_.start)


def _check_features(name: str, value: Any) -> None:
    """Allow "sqrt", a number of columns, or None."""
    if isinstance(value, str):
        if value != "sqrt":
            raise ValueError(f"{name} must be 'sqrt', a number or None; it is {value!r}.")
    else:
        check_number(name, value, least=1, whole=True, optional=True)


def masses_of(prior: float, labelled: float, unlabeled: float, scenario: str) -> Masses:
    """W_P = prior s_P / S_P and W = s_U / S_U; single-set: pi s_P / S_P, (s_P + s_U) / (S_P + S_U).

    s are the sums of the weights in a node and S those of all rows. If P was picked out of one
    sample with U, the population is both together, and pi = (S_P + prior S_U) / (S_P + S_U) is its
    share of positives. W - W_P is then S_U / (S_P + S_U) times what it is in case-control data.

    Parameters
    ----------
    prior
        Share of positives among the unlabelled rows.
    labelled, unlabeled
        S_P and S_U.
    scenario
        ``"case-control"`` or ``"single-set"``.

    Examples
    --------
    >>> masses_of(0.25, 100, 400, "case-control")
    Masses(positive=0.0025, labelled=0.0, unlabeled=0.0025)
    >>> masses_of(0.25, 100, 400, "single-set")
    Masses(positive=0.004, labelled=0.002, unlabeled=0.002)
    """
    if check_scenario(scenario) == "case-control":
        return Masses(prior / labelled, 0.0, 1 / unlabeled)
    whole = labelled + unlabeled
    return Masses((labelled + prior * unlabeled) / whole / labelled, 1 / whole, 1 / whole)


def _ask(forest: Forest, X: Floats) -> Floats:
    """Probabilities of a forest, (n,)."""
    probability = forest.answer(X)
    # Trees often tie. predict has a tie as positive, and the larger probability must say so, too.
    return np.where(probability == 0.5, np.nextafter(0.5, 1), probability)


def _cross_fit(data: TrainingData, n_estimators: int, random: np.random.RandomState) -> Floats:
    """Probability of a label, both kinds of rows with the same weight, by extra-trees, (n,)."""
    positive = int(data.is_positive.sum())
    if min(positive, len(data) - positive) < 2:
        raise ValueError(
            "to estimate the prior takes at least 2 labelled positives and 2 unlabelled rows; "
            f"there are {positive} and {len(data) - positive}. Give prior= a number: the share of "
            "positives that you expect among the unlabelled rows."
        )
    # scikit-learn's trees hold rows in single precision.
    refuse_huge(data.X)
    score = np.empty(len(data))
    for training, other in folds(data.is_positive, random):
        part = data.take(training)
        # Leaves of several rows rank the top better; balance keeps few positives from being lost.
        scorer = ExtraTreesClassifier(
            n_estimators, min_samples_leaf=5, class_weight="balanced", random_state=random
        )
        scorer.fit(part.X, part.is_positive, part.weight)
        score[other] = scorer.predict_proba(data.X[other])[:, 1]
    return score
