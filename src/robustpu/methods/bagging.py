"""PU bagging: many learners, each of all P against a few unlabelled rows (Mordelet, Vert, 2014)."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from robustpu import labels
from robustpu.base.folds import n_folds
from robustpu.base.learners import fit_learner, scores
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.calibration import matched, posterior
from robustpu.scenario import to_population
from robustpu.training import TrainingData
from robustpu.training.data import Floats, Mask, rows_of
from robustpu.validation.names import pick
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import n_jobs, number, param, parameters
from robustpu.validation.warning import warn

Correction: TypeAlias = Callable[[Floats, Floats, float, float], float]

# A tree that sees few columns at a time differs from bag to bag, and a mean lives on that.
TREE = DecisionTreeClassifier(min_samples_leaf=5, max_features="sqrt")

# Learners whose scores are held at once: memory is in proportion to it and to the rows.
BLOCK = 8


@parameters
class BaggingPUClassifier(WrapperPUClassifier):
    """f(x) = mean over T learners, each of all P against K rows drawn from U with replacement.

    Each bag holds other hidden positives, and few of them, so that the mean ranks rows well.
    Unlabelled training rows are scored by the learners that have not seen them. Assumes that
    labels are selected completely at random (SCAR). Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    estimator
        A scikit-learn classifier, with sample weights or without; by default a decision tree with
        at least 5 rows a leaf that tries the square root of the columns at each split.
    n_estimators
        T, the number of learners.
    max_samples
        Labelled positives that a learner sees: a number, or a share of them; by default all. If it
        is not all, each learner gets others, and enough learners answer every row out of bag.
    bag_size
        K, the number of unlabelled rows that a learner sees; by default that of the labelled
        positives that it sees, but no more than there are unlabelled rows.
    correction
        What makes a f / (1 - f) the probability of a positive among the unlabelled rows.
        ``"formula"``: a = prior K / |P|, which is right if f is a probability. ``"matched"``: the
        a at which its mean over the unlabelled rows, out of bag, is the prior. Or a function, see
        :func:`robustpu.calibration.matched`.
    n_jobs
        Threads, by joblib, that fit and score learners. Answers do not depend on it.

    Attributes
    ----------
    estimators_
        The T learners.
    label_frequency_
        c = 1 / (1 + a): the share of the positives in P and a bag that carry the label.
    probability_
        By the learners that have not seen the row. If every learner has seen every labelled
        positive, theirs are by all learners, and too large.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> from robustpu.methods.bagging import BaggingPUClassifier
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = BaggingPUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    _default = TREE

    n_estimators: int = param(100, number(least=1, whole=True))
    max_samples: int | float | None = param(None, lambda name, value: _check_samples(name, value))
    bag_size: int | None = param(None, number(least=1, whole=True, optional=True))
    correction: str | Correction = param(
        "matched", lambda name, value: pick(name, value, CORRECTIONS) and None
    )
    n_jobs: int | None = param(None, n_jobs)

    def fitted_learner(
        self, X: Any, target: NDArray[Any], weight: Floats, random: np.random.RandomState
    ) -> "Bagged":
        """Fit the learners of all bags; the folds of ``prior="auto"`` are scored by bags too."""
        is_positive = np.asarray(target, dtype=np.bool_)
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_estimators)

        def tasks() -> Iterator[Any]:
            for rows, state in self._bags(is_positive, weight, seeds):
                # Only the rows of the bag travel, should the user ask joblib for processes.
                given = self.learner(), rows_of(X, rows), is_positive[rows], weight[rows], state
                yield delayed(fit_learner)(*given)

        return Bagged(Parallel(self.n_jobs, prefer="threads")(tasks()), seeds, self.n_jobs)

    def _bags(
        self, is_positive: Mask, weight: Floats, seeds: NDArray[np.int64]
    ) -> Iterator[tuple[NDArray[np.intp], np.random.RandomState]]:
        """Draw the rows of each learner, the same for the same seed; the state serves on."""
        labels.require_both_classes(is_positive, weight)
        positive = np.flatnonzero(is_positive & (weight > 0))
        unlabeled = np.flatnonzero(~is_positive & (weight > 0))
        n_seen, size = self._sizes(len(positive), len(unlabeled))
        for seed in seeds:
            state = np.random.RandomState(seed)
            bag, seen = state.choice(unlabeled, size), positive
            if n_seen < len(positive):
                seen = state.choice(positive, n_seen, replace=False)
            yield np.concatenate([seen, bag]), state

    def _sizes(self, n_positive: int, n_unlabeled: int) -> tuple[int, int]:
        """Numbers of labelled and of unlabelled rows that a learner sees, of these."""
        seen = n_positive if self.max_samples is None else self.max_samples
        if isinstance(seen, float | np.floating):
            seen = max(1, int(seen * n_positive))
        seen = min(seen, n_positive)
        # Rows that are in every bag would have no learner left to score them.
        return seen, self.bag_size or min(seen, n_unlabeled)

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        is_positive, weight = data.is_positive, data.weight
        bagged = self.fitted_learner(data.X, is_positive, weight, random)
        self.estimators_ = bagged.learners
        everyone, outside, count = np.zeros((3, len(data)))
        bags = self._bags(is_positive, weight, bagged.seeds)
        bag_scores = each_score(bagged.learners, data.X, self.n_jobs)
        for (rows, _), score in zip(bags, bag_scores, strict=True):
            out = np.ones(len(data), dtype=np.bool_)
            out[rows] = False
            everyone += score
            outside += np.where(out, score, 0)
            count += out
        everyone /= self.n_estimators
        self._out_of_bag_ = np.where(count > 0, outside / np.maximum(count, 1), everyone)
        self._is_out_of_bag_ = count > 0
        ratio = self._ratio(data)
        correct = pick("correction", self.correction, CORRECTIONS)
        self.label_frequency_ = correct(
            self._out_of_bag_[~is_positive], weight[~is_positive], self.prior_, ratio
        )

    def _ratio(self, data: TrainingData, share: float = 1.0) -> float:
        """K over the positives that a learner sees, or the ratio of weights, of a share of rows."""
        counted = data.with_weight()
        positive = counted.weight[counted.is_positive]
        unlabeled = counted.weight[~counted.is_positive]
        seen, size = self._sizes(round(share * len(positive)), round(share * len(unlabeled)))
        return float(size * unlabeled.mean() / (seen * positive.mean()))

    def labelled_share(self, data: TrainingData) -> float:
        return 1 / (1 + self._ratio(data, 1 - 1 / n_folds(data.is_positive)))

    def raise_alarms(self) -> None:
        super().raise_alarms()
        seen_by_all = int(np.isnan(self.out_of_fold_[self.is_unlabeled_]).sum())
        if seen_by_all:
            warn(
                f"{seen_by_all} unlabelled rows are in every bag: their probability_ is by "
                "learners that took them as negatives. Raise n_estimators, which is "
                f"{self.n_estimators}, or lower bag_size."
            )

    def score_rows(self, X: Any) -> Floats:
        return self._corrected(mean_score(self.estimators_, X, self.n_jobs))

    def score_training_rows(self, X: Any) -> Floats:
        return self._corrected(self._out_of_bag_)

    def is_out_of_fold(self, n_rows: int) -> Mask:
        return self._is_out_of_bag_

    def _corrected(self, score: Floats) -> Floats:
        share = posterior(score, self.label_frequency_)
        return to_population(share, *self.score_priors())


def _check_samples(name: str, value: Any) -> None:
    """Allow a whole number, a share, or None."""
    if isinstance(value, float | np.floating):
        check_number(name, value, above=0, most=1)
    else:
        check_number(name, value, least=1, whole=True, optional=True)


class Bagged(NamedTuple):
    """The learners of all bags, the seeds of their bags, and how many threads score rows."""

    learners: list[Any]
    seeds: NDArray[np.int64]
    n_jobs: int | None

    def predict_proba(self, X: Any) -> Floats:
        mean = mean_score(self.learners, X, self.n_jobs)
        return np.column_stack([1 - mean, mean])


def each_score(learners: Sequence[Any], X: Any, n_jobs: int | None) -> Iterator[Floats]:
    """Scores of all rows, (n,), by one learner after the other; a few learners work at a time."""
    for start in range(0, len(learners), BLOCK):
        tasks = (delayed(scores)(learner, X) for learner in learners[start : start + BLOCK])
        yield from Parallel(n_jobs, require="sharedmem")(tasks)


def mean_score(learners: Sequence[Any], X: Any, n_jobs: int | None) -> Floats:
    """f, the mean over the learners of the score of each row, (n,)."""
    total: Floats = sum(each_score(learners, X, n_jobs), start=np.zeros(_num_samples(X)))
    return total / len(learners)


def formula(score: Floats, weight: Floats, prior: float, ratio: float) -> float:
    """1 / (1 + prior K / |P|), the c of ``posterior`` if scores are probabilities.

    Parameters as those of :func:`robustpu.calibration.matched`.

    Examples
    --------
    >>> formula(np.zeros(3), np.ones(3), 0.5, 2.0)
    0.5
    """
    return 1 / (1 + prior * ratio)


CORRECTIONS: dict[str, Correction] = {"formula": formula, "matched": matched}
