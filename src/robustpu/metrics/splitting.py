"""Folds for positive and unlabelled rows: every fold has both."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_consistent_length, column_or_1d

from robustpu import labels
from robustpu.validation.numbers import check_number

Mask: TypeAlias = NDArray[np.bool_]
Rows: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class PUKFold:
    """k folds with the shares of labelled and unlabelled rows kept, and groups if there are any.

    Usable as ``cv=`` in scikit-learn, with ``groups=`` there.

    Parameters
    ----------
    n_splits
        Number of folds, at least 2.
    shuffle
        Whether to shuffle the rows first.
    random_state
        Seed of the shuffle.
    neg_label
        The label of known negatives, whose share is kept as well; None if there are none.

    Examples
    --------
    >>> y = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    >>> [int(y[test].sum()) for _, test in PUKFold(2).split(y, y)]
    [2, 2]
    """

    n_splits: int = 5
    shuffle: bool = True
    random_state: int | np.random.RandomState | None = None
    neg_label: labels.Label | None = None

    def split(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Row numbers of training and test, fold by fold.

        Parameters
        ----------
        X
            The rows; only their number matters.
        y
            Two labels, labelled positive and unlabelled, and perhaps ``neg_label``.
        groups
            Group of each row: rows of one group are never in two folds. The shares are then kept
            as well as the groups allow.
        """
        check_number("n_splits", self.n_splits, least=2, whole=True)
        is_positive, is_negative = labels.strata(y, self.neg_label)
        check_consistent_length(X, is_positive)
        seed = self.random_state if self.shuffle else None
        if groups is None:
            _refuse_few(is_positive[~is_negative], self.n_splits)
            folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=seed)
        else:
            check_consistent_length(groups, is_positive)
            of_others = column_or_1d(groups)[~is_negative]
            _refuse_few_groups(is_positive[~is_negative], of_others, self.n_splits)
            folds = StratifiedGroupKFold(self.n_splits, shuffle=self.shuffle, random_state=seed)
        # Of few negatives no share can be kept.
        few = is_negative.sum() < self.n_splits
        strata = is_positive if few else is_positive + 2 * is_negative
        parts = list(folds.split(strata, strata, groups))
        _refuse_one_kind(
            is_positive,
            [test[~is_negative[test]] for _, test in parts],
            "The groups cannot be split better: give fewer splits, or smaller groups.",
        )
        yield from parts

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of folds."""
        return self.n_splits


@dataclass(frozen=True)
class PUTimeSplit:
    """n_splits + 1 blocks of time, each with P and U; each is tested by training on all before.

    The blocks are cut so that each has the same sum of its shares of all labelled and of all
    unlabelled rows. Shares within a block cannot be kept: time decides them.

    Parameters
    ----------
    n_splits
        Number of tests, at least 1; the first block is for training only.
    neg_label
        The label of known negatives, which go with their time; None if there are none.

    Examples
    --------
    >>> y = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0])
    >>> [(train.tolist(), test.tolist()) for train, test in PUTimeSplit(2).split(y, y)]
    [([0, 1, 2], [3, 4, 5]), ([0, 1, 2, 3, 4, 5], [6, 7, 8])]
    """

    n_splits: int = 5
    neg_label: labels.Label | None = None

    def split(
        self, X: Any, y: ArrayLike, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Row numbers of training and test, test by test, each in the order of time.

        Parameters
        ----------
        X
            The rows; only their number matters.
        y
            Two labels, labelled positive and unlabelled, and perhaps ``neg_label``.
        groups
            Time of each row, in any unit that can be sorted: rows of one time stay together. By
            default the rows are in the order of time.
        """
        check_number("n_splits", self.n_splits, least=1, whole=True)
        is_positive, is_negative = labels.strata(y, self.neg_label)
        check_consistent_length(X, is_positive)
        _refuse_few(is_positive[~is_negative], self.n_splits + 1)
        time = np.arange(len(is_positive)) if groups is None else column_or_1d(groups)
        check_consistent_length(time, is_positive)
        block = _blocks(is_positive, is_negative, time, self.n_splits + 1)
        order = np.argsort(time, kind="stable")
        parts = [order[block[order] == place] for place in range(self.n_splits + 1)]
        _refuse_one_kind(
            is_positive,
            [part[~is_negative[part]] for part in parts],
            "Labelled and unlabelled rows come from different times: give fewer splits.",
        )
        for place in range(1, self.n_splits + 1):
            yield np.concatenate(parts[:place]), parts[place]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of tests."""
        return self.n_splits


def _blocks(is_positive: Mask, is_negative: Mask, time: NDArray[Any], number: int) -> Rows:
    """The block of each row, 0 to number - 1, in the order of time."""
    _, moment = np.unique(time, return_inverse=True)
    is_other = ~is_positive & ~is_negative
    share = is_positive / is_positive.sum() / 2 + is_other / is_other.sum() / 2
    mass = np.bincount(moment, share)
    # A moment belongs where the middle of its mass lies.
    middle = np.cumsum(mass) - mass / 2
    place = np.minimum((middle * number).astype(np.intp), number - 1)
    blocks: Rows = place[moment]
    return blocks


def _refuse_few(is_positive: Mask, folds: int) -> None:
    fewest = min(int(is_positive.sum()), int((~is_positive).sum()))
    if fewest < folds:
        raise ValueError(
            f"each of {folds} folds needs a labelled and an unlabelled row, but one label of y has "
            f"only {fewest} rows. Give fewer splits, or label more rows."
        )


def _refuse_few_groups(is_positive: Mask, groups: NDArray[Any], folds: int) -> None:
    fewest = min(len(np.unique(groups[mask])) for mask in (is_positive, ~is_positive))
    if fewest < folds:
        raise ValueError(
            f"each of {folds} folds needs a labelled and an unlabelled row, but the rows of one "
            f"label of y are in only {fewest} groups. Give fewer splits, or smaller groups."
        )


def _refuse_one_kind(is_positive: Mask, parts: list[Rows], advice: str) -> None:
    for place, part in enumerate(parts):
        labeled = int(is_positive[part].sum())
        if labeled in (0, len(part)):
            raise ValueError(
                f"each fold needs a labelled and an unlabelled row, but fold {place} has {labeled} "
                f"and {len(part) - labeled} of the two labels of y. {advice}"
            )
