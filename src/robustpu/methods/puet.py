"""PU extra-trees: trees that minimise a risk of positives and unlabelled rows (Wilton, 2022)."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, validate_data

from robustpu import labels
from robustpu.base import parameters
from robustpu.checks import check_number
from robustpu.priors import from_scores, is_open
from robustpu.scenario import check_prior, check_scenario
from robustpu.trees import Forest, Limits, Masses, grow
from robustpu.wrapper import (
    Floats,
    Mask,
    SinglePUClassifier,
    balanced_logits,
    folds,
    hold_out,
    masses,
    n_folds,
    refuse_huge,
)


@dataclass(frozen=True)
class _Rows:
    X: Floats
    is_positive: Mask
    weight: Floats

    def __getitem__(self, index: NDArray[np.intp]) -> "_Rows":
        return _Rows(self.X[index], self.is_positive[index], self.weight[index])

    def sums(self) -> tuple[float, float]:
        """Sums of the weights of the labelled and of the unlabelled rows."""
        labels.refuse_weightless(self.is_positive, self.weight)
        return masses(self.is_positive, self.weight)


@parameters
class PUExtraTreesClassifier(SinglePUClassifier):
    """Splits that minimise 4 W_P W_N / (W_P + W_N), W_N = max(0, W - W_P), over both children.

    W_P is the mass of a node's positives in the population, estimated from the labelled ones, and
    W that of all its rows. A split is the best of some random features with one random threshold
    each; a node without risk is a leaf; a row's probability is the mean over the trees of W_P / W,
    at most 1, in its leaf. Assumes that labelled positives are a fair sample of all positives, and
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
        The trees as flat arrays, a :class:`robustpu.trees.Forest`.
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

    n_estimators: int = 100
    max_features: int | str | None = "sqrt"
    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_samples: int | None = 50_000

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("n_estimators", self.n_estimators, least=1, whole=True)
        check_number("max_depth", self.max_depth, least=1, whole=True, optional=True)
        check_number("min_samples_leaf", self.min_samples_leaf, least=1, whole=True)
        check_number("max_samples", self.max_samples, least=1, whole=True, optional=True)
        if isinstance(self.max_features, str) and self.max_features != "sqrt":
            raise ValueError(
                f"max_features must be 'sqrt', a number or None; it is {self.max_features!r}."
            )
        if self.max_features != "sqrt":
            check_number("max_features", self.max_features, least=1, whole=True, optional=True)

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
            Rows (n, d) of finite numbers.
        y
            Two labels (n,): labelled positive (by default the larger) and unlabelled.
        sample_weight
            Weight of each row in the masses of the nodes, (n,): 2 is as if it were given twice.
        eval_set
            ``(X, y_true)`` with *true* labels. The accuracy on it is noted as the score of this
            model, ``member_scores_``; nothing is chosen by it.
        """
        return self._fit(X, y, sample_weight, eval_set, lambda done, total: None)

    def _fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
        progress: Callable[[int, int], None],
    ) -> Self:
        """Fit, and tell how many trees there are, and will be."""
        self._check_parameters()
        self._forget()
        labels.refuse_missing(y)
        table: Floats
        table, y = validate_data(self, X, y, dtype=np.float64)
        self.classes_, is_positive = labels.encode(y, self.pos_label)
        truth = rows_true = None
        if eval_set is not None:
            truth = self._truth_of(eval_set)
            rows_true = validate_data(self, eval_set[0], reset=False, dtype=np.float64)
        weight = _check_sample_weight(
            sample_weight, table, dtype=np.float64, ensure_non_negative=True
        )
        # Only ratios count; a power of 2 leaves whole weights, and their sums, exact.
        weight = np.ldexp(weight, -np.frexp(weight.max())[1])
        random = check_random_state(self.random_state)
        kept, held_out = hold_out(is_positive, self.validation_fraction, random)
        # Rows that weigh nothing would still move the ranges that thresholds are drawn from.
        seen = kept[weight[kept] > 0]
        rows = _Rows(table, is_positive, weight)[seen]
        self._set_prior(rows, random)
        half = math.ceil(self.n_estimators / 2)
        tell = counter(self.n_estimators + half * n_folds(rows.is_positive), progress)
        self.forest_ = self._grow(rows, self.n_estimators, random, tell)
        self.feature_importances_ = self.forest_.importances(table.shape[1])
        probability, unseen = _ask(self.forest_, table), np.full(len(table), np.nan)
        unseen[held_out] = probability[held_out]
        for training, other in folds(rows.is_positive, random):
            forest = self._grow(rows[training], half, random, tell)
            unseen[seen[other]] = _ask(forest, rows.X[other])
        probability = np.where(np.isnan(unseen), probability, unseen)
        self._conclude(is_positive, weight, probability, unseen, depth=2)
        on_truth = None if rows_true is None else _ask(self.forest_, rows_true)
        self._score(held_out, weight, truth, on_truth)
        return self

    def _set_prior(self, rows: _Rows, random: np.random.RandomState) -> None:
        labelled, unlabeled = rows.sums()
        if not is_open(self.prior):
            self.prior_ = check_prior(self.prior)
        else:
            score = _out_of_fold(rows, self.n_estimators, random)
            self.prior_ = from_scores(*balanced_logits(score, rows.is_positive, 0.5), self.prior)
        share = 1.0 if self.scenario == "case-control" else unlabeled / (labelled + unlabeled)
        self.population_prior_ = 1 - (1 - self.prior_) * share

    def _grow(
        self,
        rows: _Rows,
        count: int,
        random: np.random.RandomState,
        tell: Callable[[int], None],
    ) -> Forest:
        seeds = random.randint(np.iinfo(np.int32).max, size=count)
        return grow(
            rows.X,
            rows.is_positive,
            rows.weight,
            masses_of(self.prior_, *rows.sums(), self.scenario),
            [np.random.default_rng(seed) for seed in seeds],
            Limits(
                self._n_tried(rows.X.shape[1]),
                self.max_depth,
                self.min_samples_leaf,
                self.max_samples,
            ),
            tell,
        )

    def _n_tried(self, n_features: int) -> int:
        if self.max_features == "sqrt":
            return math.ceil(math.sqrt(n_features))
        return n_features if self.max_features is None else min(int(self.max_features), n_features)

    def _answer(self, X: ArrayLike) -> Floats:
        return _ask(self.forest_, validate_data(self, X, reset=False, dtype=np.float64))

    def _positive_probability(self, X: ArrayLike) -> Floats:
        return self._answer(X)


def counter(total: int, progress: Callable[[int, int], None]) -> Callable[[int], None]:
    """Add up what is told, and tell it on with the total.

    Parameters
    ----------
    total
        What it will add up to.
    progress
        Called with the sum so far, and the total.

    Examples
    --------
    >>> tell = counter(3, lambda done, total: print(done, "of", total))
    >>> tell(1), tell(2)
    1 of 3
    3 of 3
    (None, None)
    """
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return tell


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
    """Answers of a forest, (n,)."""
    answer = forest.answer(X)
    # Trees often tie. predict has a tie as positive, and the larger probability must say so, too.
    return np.where(answer == 0.5, np.nextafter(0.5, 1), answer)


def _out_of_fold(rows: _Rows, n_estimators: int, random: np.random.RandomState) -> Floats:
    """Probability of a label, both kinds of rows weighing the same, by extra-trees, (n,)."""
    is_positive = rows.is_positive
    n_positive, n_unlabeled = int(is_positive.sum()), int((~is_positive).sum())
    if min(n_positive, n_unlabeled) < 2:
        raise ValueError(
            "to estimate the prior takes at least 2 labelled positives and 2 unlabelled rows; "
            f"there are {n_positive} and {n_unlabeled}. Give prior= a number: the share of "
            "positives that you expect among the unlabelled rows."
        )
    # scikit-learn's trees hold rows in single precision.
    refuse_huge(rows.X)
    score = np.empty(len(is_positive))
    for training, other in folds(is_positive, random):
        own = rows[training]
        # Leaves of several rows rank the top better; balance keeps few positives from being lost.
        scorer = ExtraTreesClassifier(
            n_estimators, min_samples_leaf=5, class_weight="balanced", random_state=random
        )
        scorer.fit(own.X, own.is_positive, own.weight)
        score[other] = scorer.predict_proba(rows.X[other])[:, 1]
    return score
