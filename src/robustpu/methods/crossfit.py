"""Fits of one learner on many parts of the rows, and its scores of the rows it has not seen."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from robustpu.base.learners import fit_learner, scores
from robustpu.training.data import Floats, Index, Mask, rows_of


class Member(NamedTuple):
    """Rows to learn from, all others, and the former in folds (training, other), by number."""

    kept: Index
    held_out: Index
    folds: list[tuple[Index, Index]]


class TrainingSet(NamedTuple):
    """Rows by number, their targets and weights."""

    rows: Index
    target: Mask
    weight: Floats


class Round(NamedTuple):
    """Learners, one a member and fold, and scores (members, rows), NaN where there are none.

    ``inner`` are scores of rows that the member trains on, by its learner that has not seen them;
    ``unseen`` of those that it holds out, and ``oracle`` of the rows of an eval_set, by the mean of
    its learners.
    """

    learners: list[Any]
    inner: Floats
    unseen: Floats
    oracle: Floats

    def pooled(self) -> Floats:
        """Score of each row by who knows least of it: those that hold it out, if any do, (n,)."""
        unseen = mean_known(self.unseen)
        return np.where(np.isnan(unseen), mean_known(self.inner), unseen)


def split_members(
    is_positive: Mask,
    has_weight: Mask,
    n_members: int,
    share: float,
    n_folds: int,
    random: np.random.RandomState,
) -> list[Member]:
    """Split P and U evenly: each member holds out a share, and trains on the rest in folds.

    Members hold out different rows until all rows were held out once, then they start anew. Rows
    with zero sample weight are in no fold, and nobody learns from them.

    Parameters
    ----------
    is_positive, has_weight
        Which rows are labelled, and which have a weight above 0, (n,) each.
    n_members, n_folds
        How many; fewer folds if rows are too few.
    share
        Of the rows, to hold out, rounded to 1/2, 1/3...; 0 for none.
    random
        Decides who is where.

    Examples
    --------
    >>> mask = np.array([True, False, False] * 10)
    >>> one, two = split_members(mask, np.ones(30, dtype=bool), 2, 0.2, 3, np.random.RandomState(0))
    >>> len(one.kept), len(one.held_out), len(np.intersect1d(one.held_out, two.held_out))
    (24, 6, 0)
    """
    rows, others = np.flatnonzero(has_weight), np.flatnonzero(~has_weight)
    n_positive = int(is_positive[rows].sum())
    counts = n_positive, len(rows) - n_positive
    if min(counts) < 2:
        raise ValueError(
            "at least 2 labelled positives and 2 unlabelled rows are needed to score rows out of "
            f"fold; there are {counts[0]} and {counts[1]}. Rows with zero sample weight do not "
            "count."
        )
    # Of two rows none can be spared.
    parts = 0 if share == 0 or min(counts) < 3 else min(max(2, round(1 / share)), *counts)
    members: list[Member] = []
    while len(members) < n_members:
        outer = [(rows, rows[:0])]
        if parts:
            outer = _split(rows, is_positive[rows], parts, random)
        for kept, held_out in outer[: n_members - len(members)]:
            labelled = is_positive[kept]
            fewest = min(n_folds, int(labelled.sum()), int((~labelled).sum()))
            folds = _split(kept, labelled, fewest, random)
            members.append(Member(kept, np.concatenate([held_out, others]), folds))
    return members


def _split(
    rows: Index, is_positive: Mask, count: int, random: np.random.RandomState
) -> list[tuple[Index, Index]]:
    splitter = StratifiedKFold(count, shuffle=True, random_state=random)
    return [(rows[a], rows[b]) for a, b in splitter.split(rows, is_positive)]


def fit_round(
    learner: Any,
    X: Any,
    members: Sequence[Member],
    training_sets: Sequence[TrainingSet],
    random: np.random.RandomState,
    *,
    last: Round | None = None,
    X_true: Any = None,
    n_jobs: int | None = None,
) -> Round:
    """Fit the learner once a member and fold, and score the rows that it has not seen.

    Parameters
    ----------
    learner
        A classifier; it stays as it is.
    X
        Rows.
    members
        As split.
    training_sets
        What each member trains on; a fold takes the part that is of its rows.
    random
        Gives each learner its seed.
    last
        The round before, from whose coefficients linear learners go on if they have
        ``warm_start=True``.
    X_true
        Rows of an eval_set, or None.
    n_jobs
        Threads.
    """
    places = [
        (m, training, other) for m, member in enumerate(members) for training, other in member.folds
    ]
    seeds = random.randint(np.iinfo(np.int32).max, size=len(places))
    starts = [None] * len(places) if last is None else last.learners

    def tasks() -> Iterator[Any]:
        for place, (m, training, other) in enumerate(places):
            rows, target, weight = _part(training_sets[m], training, _num_samples(X))
            asked = [rows_of(X, other), rows_of(X, members[m].held_out)]
            asked += [] if X_true is None else [X_true]
            given = rows_of(X, rows), target, weight
            yield delayed(_fit_and_score)(learner, starts[place], *given, asked, seeds[place])

    done = Parallel(n_jobs, prefer="threads")(tasks())
    inner, unseen = np.full((2, len(members), _num_samples(X)), np.nan)
    oracle = np.zeros((len(members), 0 if X_true is None else _num_samples(X_true)))
    for m, member in enumerate(members):
        unseen[m, member.held_out] = 0
    for (m, _, other), (_, answers) in zip(places, done, strict=True):
        share = 1 / len(members[m].folds)
        inner[m, other] = answers[0]
        unseen[m, members[m].held_out] += share * answers[1]
        if X_true is not None:
            oracle[m] += share * answers[2]
    return Round([fitted for fitted, _ in done], inner, unseen, oracle)


def has_both_classes(member: Member, training_set: TrainingSet, n_rows: int) -> bool:
    """Whether every fold of a member has rows of both targets to train on.

    Parameters
    ----------
    member
        Whose folds.
    training_set
        What it trains on.
    n_rows
        Of all rows.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> member = Member(rows, rows[:0], [(rows[:2], rows[2:]), (rows[2:], rows[:2])])
    >>> mixed, parted = np.array([True, False, True, False]), np.array([True, True, False, False])
    >>> has_both_classes(member, TrainingSet(rows, mixed, np.ones(4)), 4)
    True
    >>> has_both_classes(member, TrainingSet(rows, parted, np.ones(4)), 4)
    False
    """
    targets = [_part(training_set, training, n_rows)[1] for training, _ in member.folds]
    return all(target.any() and not target.all() for target in targets)


def mean_known(values: Floats) -> Floats:
    """Mean of each column (members, n) over what is not NaN, (n,); NaN where all are.

    Examples
    --------
    >>> mean_known(np.array([[1.0, np.nan, np.nan], [3.0, 4.0, np.nan]])).tolist()
    [2.0, 4.0, nan]
    """
    known = np.isfinite(values)
    count = known.sum(0)
    total = np.where(known, values, 0.0).sum(0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _part(training_set: TrainingSet, fold: Index, n: int) -> TrainingSet:
    inside = np.zeros(n, dtype=np.bool_)
    inside[fold] = True
    keep = inside[training_set.rows]
    rows, target, weight = training_set
    return TrainingSet(rows[keep], target[keep], weight[keep])


def _fit_and_score(
    learner: Any,
    start: Any,
    X: Any,
    target: Mask,
    weight: Floats,
    asked: Sequence[Any],
    seed: int,
) -> tuple[Any, list[Floats]]:
    fitted = fit_learner(learner, X, target, weight, np.random.RandomState(seed), start)
    return fitted, [scores(fitted, X) if _num_samples(X) else np.zeros(0) for X in asked]
