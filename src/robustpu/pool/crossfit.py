"""One cross-fit of all members: out-of-fold scores of every row, and each member fitted to all."""

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from robustpu.base.classifier import BasePUClassifier
from robustpu.base.folds import folds
from robustpu.base.learners import fit_learner
from robustpu.calibration import log_odds
from robustpu.modules.rows import is_mapped, some_of_each
from robustpu.training import TrainingData
from robustpu.training.data import Floats, Index, Mask, kept_masses

# Labelled, and unlabelled, rows that a member is fitted to, at most; all are scored.
MOST = 20_000
# Numbers of these rows, if they are not sparse, unless that leaves too few rows.
NUMBERS, LEAST = 1 << 25, 1_000
# Rows that are scored at a time.
SCORED = 1 << 15
# Probabilities of learners that give no decisions are clipped to this distance from 0 and 1.
EDGE = 1e-6
# Those of positive-unlabelled classifiers, of which many are 0 or 1, to this one.
SURE = 1e-3
TINY = 1e-12

Split = tuple[Index, Index]


@dataclass(frozen=True, eq=False)
class FittedMember:
    """A member after the cross-fit.

    Attributes
    ----------
    name, learner
        Its name, and the learner that was fitted to all rows.
    out_of_fold
        Score of each row by a learner that was not fitted to it, (n,).
    mean, scale
        Of these scores; the pool adds standardised ones.
    """

    name: str
    learner: Any
    out_of_fold: Floats
    mean: float
    scale: float

    @property
    def standardized(self) -> Floats:
        """(out_of_fold - mean) / scale, (n,)."""
        return (self.out_of_fold - self.mean) / self.scale


def folds_of(data: TrainingData, rows: Index, random: np.random.RandomState) -> list[Split]:
    """Split rows into five folds; copies of a row stay in one, unless X is a mapped file.

    Empty if there are fewer than two labelled or two unlabelled rows.

    Parameters
    ----------
    data, rows
        The data, and the rows with non-zero sample weight.
    random
        Decides which row is where.

    Examples
    --------
    >>> data = TrainingData(np.arange(20.0)[:, None], np.arange(20) < 5, np.ones(20))
    >>> [len(other) for _, other in folds_of(data, np.arange(20), np.random.RandomState(0))]
    [4, 4, 4, 4, 4]
    """
    table = None if is_mapped(data.X) else data.X[rows]
    splits = folds(data.is_positive[rows], random, table)
    return [(rows[training], rows[other]) for training, other in splits]


def cross_fit(
    name: str,
    learner: Any,
    data: TrainingData,
    splits: list[Split],
    random: np.random.RandomState,
    *,
    seconds_left: float = np.inf,
    is_required: bool = False,
    tick: Callable[[], object] = bool,
) -> FittedMember | None:
    """Score each row by a learner that has not seen it, and fit the learner to all rows.

    Parameters
    ----------
    name, learner
        The member; the learner is not changed.
    data
        Rows with zero sample weight are scored by the learner of all others.
    splits
        Rows to learn from and rows to score, of each fold; without any, rows are scored in sample.
    random
        Of the learner and of the rows that are drawn.
    seconds_left
        After the first fold it is known how long all will take; if that is longer, None.
    is_required
        The other fits are to fewer rows then, at least 1,000 of each kind.
    tick
        Called after each fit.
    """
    try:
        return _cross_fit(name, learner, data, splits, random, seconds_left, is_required, tick)
    # It may be anybody's.
    except Exception as error:
        raise ValueError(
            f"the member {name!r} of the pool cannot be fitted: {type(error).__name__}: {error}"
        ) from error


def _cross_fit(
    name: str,
    learner: Any,
    data: TrainingData,
    splits: list[Split],
    random: np.random.RandomState,
    seconds_left: float,
    is_required: bool,
    tick: Callable[[], object],
) -> FittedMember | None:
    most = MOST
    started = time.perf_counter()
    score, is_scored = np.empty(len(data)), np.zeros(len(data), dtype=np.bool_)
    # Half of the trees rank nearly as well.
    in_folds = learner.lighter() if hasattr(learner, "lighter") else learner
    for number, (training, other) in enumerate(splits):
        fitted = _fit(in_folds, data, training, random, most)
        score[other], is_scored[other] = score_rows(fitted, data.X, other), True
        tick()
        seconds = time.perf_counter() - started
        # The fit to all rows has twice the trees.
        fits = len(splits) + (1 if in_folds is learner else 2)
        if number == 0 and seconds * fits > seconds_left:
            if not is_required:
                return None
            share = max(0.0, seconds_left - seconds) / (seconds * (fits - 1))
            most = max(LEAST, int(share * min(MOST, len(training))))
    if issparse(data.X):
        _align(score, data.is_positive, splits)
    fitted = _fit(learner, data, np.flatnonzero(data.weight), random, most)
    tick()
    others = np.flatnonzero(~is_scored)
    score[others] = score_rows(fitted, data.X, others)
    spreads = [np.ptp(score[other]) for _, other in splits]
    if splits and max(spreads) <= TINY * max(1.0, float(np.abs(score).max())):
        # Constants that differ by fold rank nothing.
        score[:] = score.mean()
    return _member(name, fitted, score, data.weight)


def _align(score: Floats, is_positive: Mask, splits: list[Split]) -> None:
    """Give the unlabelled rows of each fold the same mean score.

    A strongly regularised learner of sparse rows gives scores that vary less within a fold than the
    intercepts do from fold to fold.
    """
    parts = [other[~is_positive[other]] for _, other in splits]
    if not splits or not all(map(len, parts)):
        return
    usual = np.mean([score[part].mean() for part in parts])
    for (_, other), part in zip(splits, parts, strict=True):
        score[other] += usual - score[part].mean()


def _member(name: str, learner: Any, score: Floats, weight: Floats) -> FittedMember:
    """Note mean and deviation of the scores."""
    mean = float(np.average(score, weights=weight))
    scale = float(np.sqrt(np.average((score - mean) ** 2, weights=weight)))
    # A learner that ranks nothing counts for nothing.
    scale = scale if scale > TINY * max(1.0, abs(mean)) else 1.0
    return FittedMember(name, learner, score, mean, scale)


def fit_classifier(
    name: str,
    classifier: BasePUClassifier,
    data: TrainingData,
    splits: list[Split],
    random: np.random.RandomState,
    most: int = MOST,
) -> FittedMember:
    """Fit a positive-unlabelled classifier, which knows the prior.

    Its out-of-fold scores are taken if all its rows have one; otherwise it is cross-fitted.

    Parameters
    ----------
    name, classifier
        The member, with prior and scenario; it is not changed.
    data, splits, random
        As above.
    most
        Labelled, and unlabelled, rows that it is fitted to, at most.
    """
    everything = np.flatnonzero(data.weight)
    fitted, rows = _fit_some(classifier, data, everything, random, most)
    score = np.full(len(data), np.nan)
    if np.isfinite(fitted.out_of_fold_).all() or not splits:
        found = np.where(np.isfinite(fitted.out_of_fold_), fitted.out_of_fold_, fitted.probability_)
        score[rows] = _clipped_odds(found)
    else:
        for training, other in splits:
            score[other] = score_rows(
                _fit_some(classifier, data, training, random, most)[0], data.X, other
            )
    others = np.flatnonzero(np.isnan(score))
    score[others] = score_rows(fitted, data.X, others)
    return _member(name, fitted, score, data.weight)


def _fit_some(
    classifier: BasePUClassifier,
    data: TrainingData,
    among: Index,
    random: np.random.RandomState,
    most: int,
) -> tuple[Any, Index]:
    """Fit a copy to some of these rows; the masses of P and U are those of all."""
    seed = random.randint(np.iinfo(np.int32).max)
    rows = among[some_of_each(data.is_positive[among], _most(data.X, most), seed)]
    part = data.take(rows)
    weight = kept_masses(data.weight, data.is_positive, rows)
    copy = clone(classifier).set_params(random_state=seed)
    with warnings.catch_warnings():
        # Alarms are those of the pool.
        warnings.simplefilter("ignore")
        return copy.fit(part.X, part.is_positive, weight), rows


def _fit(
    learner: Any, data: TrainingData, rows: Index, random: np.random.RandomState, most: int
) -> Any:
    seed = random.randint(np.iinfo(np.int32).max)
    part = data.take(rows[some_of_each(data.is_positive[rows], _most(data.X, most), seed)])
    return fit_learner(learner, part.X, part.is_positive, part.weight, random)


def _most(X: Any, most: int) -> tuple[int, int]:
    """Labelled and unlabelled rows that a member is fitted to, at most."""
    if not issparse(X):
        most = max(min(LEAST, most), min(most, NUMBERS // X.shape[1]))
    return most, most


def score_rows(learner: Any, X: Any, rows: Index | None = None) -> Floats:
    """Decisions of a learner, or log-odds if it has probabilities alone, (n,), block by block.

    Parameters
    ----------
    learner
        Fitted to the labels 0 and 1.
    X
        Rows (n, d).
    rows
        Which; all by default.
    """
    parts = [_score(learner, block) for block in _blocks(X, rows)]
    found: Floats = np.concatenate(parts) if parts else np.zeros(0)
    n_rows = X.shape[0] if rows is None else len(rows)
    if found.shape != (n_rows,):
        raise ValueError(
            f"{type(learner).__name__} gives scores of shape {found.shape} for {n_rows} rows; "
            "a ranker gives one number a row."
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{type(learner).__name__} gives scores that are not finite.")
    return found


def _blocks(X: Any, rows: Index | None) -> Iterator[Any]:
    step = SCORED if issparse(X) else max(1, min(SCORED, NUMBERS // X.shape[1]))
    for start in range(0, X.shape[0] if rows is None else len(rows), step):
        block = slice(start, start + step)
        part = X[block] if rows is None else X[rows[block]]
        yield part if issparse(part) else np.asarray(part)


def _clipped_odds(probability: Floats) -> Floats:
    return log_odds(np.clip(probability, SURE, 1 - SURE))


def _score(learner: Any, X: Any) -> Floats:
    if hasattr(learner, "score_fast"):
        return _clipped_odds(learner.score_fast(X))
    if isinstance(learner, BasePUClassifier):
        return _clipped_odds(learner.predict_proba(X)[:, 1])
    if hasattr(learner, "decision_function"):
        return np.asarray(learner.decision_function(X), dtype=np.float64)
    probability = np.asarray(learner.predict_proba(X), dtype=np.float64)[:, 1]
    return log_odds(np.clip(probability, EDGE, 1 - EDGE))
