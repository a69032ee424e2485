"""Rows in blocks on the workers, folded into two folds."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from robustpu import labels

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
# Lazy results, one a block.
Parts: TypeAlias = Sequence[Any]

# More labels than this are not listed: y has two, or is refused.
SOME = 5


class Folded(NamedTuple):
    """Which rows of a block are labelled, and which are of fold 1, (n,) each."""

    labelled: Mask
    fold: Mask


class Table(NamedTuple):
    """X and y as blocks: ``rows`` are read anew when needed, ``folded`` is held on the workers.

    ``counts`` are the labelled and the unlabelled rows of each block, (blocks, 2).
    """

    like: Any
    rows: Parts
    folded: Parts
    counts: NDArray[np.int64]

    @property
    def totals(self) -> tuple[int, int]:
        """Numbers of labelled and of unlabelled rows."""
        n_positive, n_unlabeled = self.counts.sum(0).tolist()
        return n_positive, n_unlabeled

    def in_fold(self, fold: int) -> NDArray[np.int64]:
        """Rows of each block in a fold, (blocks,)."""
        starts = self.counts.cumsum(0) - self.counts
        # Of n rows that alternate between folds from a start on, those of fold 1 are the odd ones.
        odd = (starts + self.counts) // 2 - starts // 2
        sizes: NDArray[np.int64] = (odd if fold else self.counts - odd).sum(1)
        return sizes


def parts_of(collection: Any) -> list[Any]:
    """One lazy block of rows after the other, of a Dask array or frame."""
    if not (dask.is_dask_collection(collection) and hasattr(collection, "to_delayed")):
        raise TypeError(
            "expected a Dask array or frame; got "
            f"{type(collection).__name__}. Wrap rows in memory with dask.array.from_array, or take "
            "robustpu.RobustPUMetaClassifier."
        )
    if getattr(collection, "numblocks", (1, 1))[1:] not in ((), (1,)):
        collection = collection.rechunk({1: -1})
    return list(np.asarray(collection.to_delayed(), dtype=object).ravel())


def read(X: Any, y: Any, pos_label: Any, seed: int) -> tuple[NDArray[Any], Table]:
    """Find the labels, count them, and split the rows of each block into two folds.

    Parameters
    ----------
    X, y
        Dask collections with the same blocks.
    pos_label
        The label of the labelled positives; by default the larger of the two.
    seed
        Decides who is where.

    Returns
    -------
    classes
        The two labels, (2,).
    table
        The rows.
    """
    rows = parts_of(X)
    if hasattr(X, "chunks") and hasattr(y, "chunks") and X.chunks[0] != y.chunks[0]:
        if not np.array_equal(sum(X.chunks[0]), sum(y.chunks[0]), equal_nan=True):
            raise ValueError(f"X has {X.shape[0]} rows but y has {y.shape[0]}.")
        y = y.rechunk((X.chunks[0],))
    targets = parts_of(y)
    if len(rows) != len(targets):
        raise ValueError(
            f"X has {len(rows)} partitions but y has {len(targets)}. Take both from one frame, or "
            "give both the same chunks."
        )
    tallies: tuple[Counter[Any], ...] = dask.compute(*map(delayed(tally), targets))
    found = np.array(list(set().union(*tallies)))
    labels.refuse_missing(found)
    classes, positive = labels.encode(found, pos_label)
    wanted = found[positive].tolist()[0]
    counts = np.array([(tally[wanted], tally.total() - tally[wanted]) for tally in tallies])
    starts = counts.cumsum(0) - counts
    folded = [
        delayed(split)(target, wanted, start, [seed, place])
        for place, (target, start) in enumerate(zip(targets, starts.tolist(), strict=True))
    ]
    return classes, Table(X, rows, dask.persist(*folded), counts)


def tally(y: Any) -> "Counter[Any]":
    """Count labels; of more than two only some are told.

    Examples
    --------
    >>> tally(np.array([1, 0, 0]))[0]
    2
    """
    values = np.asarray(y).ravel()
    if values.dtype.kind not in "biuf":
        # Here, for NaN among texts would become one of them.
        labels.refuse_missing(values)
        return Counter(dict(Counter(values.tolist()).most_common(SOME)))
    found, counts = np.unique(values, return_counts=True)
    # NaN comes last, and is to be seen.
    if len(found) > SOME:
        found, counts = found[-SOME:], counts[-SOME:]
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def split(y: Any, positive: Any, starts: Sequence[int], seed: Sequence[int]) -> Folded:
    """Split the labelled and the unlabelled rows of a block into folds, alternately.

    Parameters
    ----------
    y
        Labels of the block, (n,).
    positive
        The label of the labelled positives.
    starts
        How many labelled and how many unlabelled rows the blocks before have.
    seed
        Of the order of the rows: the same each time the block is made.

    Examples
    --------
    >>> folded = split(np.array([1, 1, 0, 0, 0]), 1, (0, 1), (0, 0))
    >>> int(folded.fold[folded.labelled].sum()), int(folded.fold[~folded.labelled].sum())
    (1, 2)
    """
    labelled = np.asarray(np.asarray(y).ravel() == positive, dtype=np.bool_)
    order = np.random.default_rng(seed).permutation(len(labelled))
    fold = np.empty(len(labelled), dtype=np.bool_)
    for side, start in zip((labelled, ~labelled), starts, strict=True):
        rows = order[side[order]]
        fold[rows] = (start + np.arange(len(rows))) % 2 == 1
    return Folded(labelled, fold)
