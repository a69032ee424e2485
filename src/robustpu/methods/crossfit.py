"""Fits of one learner on many parts of the rows, and its scores of the rows it has not seen."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples

from robustpu.wrapper import Floats, Mask, fit_learner, rows_of, scores

Rows: TypeAlias = NDArray[np.intp]


class Member(NamedTuple):
    """Rows to learn from, all others, and the former in folds (training, other), by number."""

    kept: Rows
    held_out: Rows
    folds: list[tuple[Rows, Rows]]


class Lesson(NamedTuple):
    """Rows by number; their targets; weights, or None if all are alike."""

    rows: Rows
    target: Mask
    weight: Floats | None


class Turn(NamedTuple):
    """Learners, one a member and fold, and scores (members, rows), NaN where there are none.

    ``own`` are scores of rows that the member learns from, by its learner that has not seen them;
    ``unseen`` of those that it holds out, and ``oracle`` of the rows of an eval_set, by the mean of
    its learners.
    """

    learners: list[Any]
    own: Floats
    unseen: Floats
    oracle: Floats

    def pooled(self) -> Floats:
        """Score of each row by who knows least of it: those that hold it out, if any do, (n,)."""
        unseen = mean_known(self.unseen)
        return np.where(np.isnan(unseen), mean_known(self.own), unseen)


def deal(
    is_positive: Mask,
    has_weight: Mask,
    n_members: int,
    share: float,
    n_folds: int,
    random: np.random.RandomState,
) -> list[Member]:
    """Deal out P and U evenly: each member holds out a share, and learns from the rest in folds.

    Members hold out different rows until all rows were held out once, then they start anew. Rows
    without weight are not dealt out, and nobody learns from them.

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
    >>> one, two = deal(mask, np.ones(30, dtype=bool), 2, 0.2, 3, np.random.RandomState(0))
    >>> len(one.kept), len(one.held_out), len(np.intersect1d(one.held_out, two.held_out))
    (24, 6, 0)
    """
    dealt, others = np.flatnonzero(has_weight), np.flatnonzero(~has_weight)
    n_positive = int(is_positive[dealt].sum())
    counts = n_positive, len(dealt) - n_positive
    if min(counts) < 2:
        raise ValueError(
            "at least 2 labelled positives and 2 unlabelled rows are needed to score rows out of "
            f"fold; there are {counts[0]} and {counts[1]}. Rows of weight 0 do not count."
        )
    # Of two rows none can be spared.
    parts = 0 if share == 0 or min(counts) < 3 else min(max(2, round(1 / share)), *counts)
    members: list[Member] = []
    while len(members) < n_members:
        outer = [(dealt, dealt[:0])]
        if parts:
            outer = _split(dealt, is_positive[dealt], parts, random)
        for kept, held_out in outer[: n_members - len(members)]:
            own = is_positive[kept]
            fewest = min(n_folds, int(own.sum()), int((~own).sum()))
            folds = _split(kept, own, fewest, random)
            members.append(Member(kept, np.concatenate([held_out, others]), folds))
    return members


def _split(
    rows: Rows, is_positive: Mask, count: int, random: np.random.RandomState
) -> list[tuple[Rows, Rows]]:
    splitter = StratifiedKFold(count, shuffle=True, random_state=random)
    return [(rows[a], rows[b]) for a, b in splitter.split(rows, is_positive)]


def take_turn(
    learner: Any,
    X: Any,
    members: Sequence[Member],
    lessons: Sequence[Lesson],
    random: np.random.RandomState,
    *,
    last: Turn | None = None,
    X_true: Any = None,
    n_jobs: int | None = None,
) -> Turn:
    """Fit the learner once a member and fold, and score the rows that it has not seen.

    Parameters
    ----------
    learner
        A classifier; it stays as it is.
    X
        Rows.
    members
        As dealt.
    lessons
        What each member has to learn; a fold learns the part of it that is of its own rows.
    random
        Gives each learner its seed.
    last
        The turn before, from whose coefficients linear learners go on if they have
        ``warm_start=True``.
    X_true
        Rows of an eval_set, or None.
    n_jobs
        Threads.
    """
    places = [
        (m, training, other) for m, own in enumerate(members) for training, other in own.folds
    ]
    seeds = random.randint(np.iinfo(np.int32).max, size=len(places))
    starts = [None] * len(places) if last is None else last.learners

    def tasks() -> Iterator[Any]:
        for place, (m, training, other) in enumerate(places):
            rows, target, weight = _part(lessons[m], training, _num_samples(X))
            asked = [rows_of(X, other), rows_of(X, members[m].held_out)]
            asked += [] if X_true is None else [X_true]
            given = rows_of(X, rows), target, weight
            yield delayed(_fit_and_score)(learner, starts[place], *given, asked, seeds[place])

    done = Parallel(n_jobs, prefer="threads")(tasks())
    own, unseen = np.full((2, len(members), _num_samples(X)), np.nan)
    oracle = np.zeros((len(members), 0 if X_true is None else _num_samples(X_true)))
    for m, member in enumerate(members):
        unseen[m, member.held_out] = 0
    for (m, _, other), (_, answers) in zip(places, done, strict=True):
        share = 1 / len(members[m].folds)
        own[m, other] = answers[0]
        unseen[m, members[m].held_out] += share * answers[1]
        if X_true is not None:
            oracle[m] += share * answers[2]
    return Turn([fitted for fitted, _ in done], own, unseen, oracle)


def is_teachable(member: Member, lesson: Lesson, n_rows: int) -> bool:
    """Whether every fold of a member has rows of both targets to learn from.

    Parameters
    ----------
    member
        Whose folds.
    lesson
        What it learns.
    n_rows
        Of all rows.

    Examples
    --------
    >>> rows = np.arange(4)
    >>> member = Member(rows, rows[:0], [(rows[:2], rows[2:]), (rows[2:], rows[:2])])
    >>> is_teachable(member, Lesson(rows, np.array([True, False, True, False]), None), 4)
    True
    >>> is_teachable(member, Lesson(rows, np.array([True, True, False, False]), None), 4)
    False
    """
    targets = [_part(lesson, training, n_rows)[1] for training, _ in member.folds]
    return all(own.any() and not own.all() for own in targets)


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


def _part(lesson: Lesson, rows: Rows, n: int) -> Lesson:
    inside = np.zeros(n, dtype=np.bool_)
    inside[rows] = True
    keep = inside[lesson.rows]
    weight = None if lesson.weight is None else lesson.weight[keep]
    return Lesson(lesson.rows[keep], lesson.target[keep], weight)


def _fit_and_score(
    learner: Any,
    start: Any,
    X: Any,
    target: Mask,
    weight: Floats | None,
    asked: Sequence[Any],
    seed: int,
) -> tuple[Any, list[Floats]]:
    fitted = fit_learner(learner, X, target, weight, np.random.RandomState(seed), start)
    return fitted, [scores(fitted, own) if _num_samples(own) else np.zeros(0) for own in asked]
