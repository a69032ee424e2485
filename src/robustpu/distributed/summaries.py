"""What comes to the client of scores on the workers: a histogram, a sample, the highest."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy.special import expit

from robustpu.calibration import log_odds
from robustpu.distributed.blocks import Floats, Folded, Parts, Table

# Bins of log-odds that end where ``log_odds`` does: a step is 1/58.
EDGES = np.linspace(-35.0, 35.0, 4097)


class Histogram(NamedTuple):
    """Log-odds (bins,), and how many labelled and unlabelled rows have them, (bins,) each."""

    odds: Floats
    positive: Floats
    unlabeled: Floats

    @property
    def score(self) -> Floats:
        """The probabilities of these log-odds, (bins,)."""
        probability: Floats = expit(self.odds)
        return probability


def together(combine: Callable[[list[Any]], Any], parts: Parts, width: int = 16) -> Any:
    """Combine parts on the workers, a few at a time, until one is left: a tree."""
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[at : at + width] for at in range(0, len(parts), width)]
        parts = [delayed(combine)(group) for group in groups]
    return parts[0]


def histogram(table: Table, scores: Parts) -> Histogram:
    """Count the scores of labelled and of unlabelled rows in bins of log-odds."""
    parts = [delayed(count)(*block) for block in zip(scores, table.folded, strict=True)]
    (counts,) = dask.compute(together(total, parts))
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    some = counts.any(0)
    return Histogram(middle[some], *counts[:, some].astype(float))


def count(score: Floats, folded: Folded) -> NDArray[np.int64]:
    """Rows in each bin of log-odds: labelled and unlabelled ones, (2, bins).

    Examples
    --------
    >>> mask = np.array([True, False])
    >>> count(np.array([0.6, 0.4]), Folded(mask, mask)).sum(1).tolist()
    [1, 1]
    """
    place = np.searchsorted(EDGES, log_odds(np.asarray(score, dtype=np.float64))) - 1
    bins = len(EDGES) - 1
    sides = folded.labelled, ~folded.labelled
    return np.stack([np.bincount(place[side], minlength=bins) for side in sides])


def total(parts: list[Any]) -> Any:
    """Sum of arrays of one shape."""
    return np.sum(parts, axis=0)


def sample(table: Table, scores: Parts, most: int, seed: int) -> tuple[Floats, Floats]:
    """Scores of some labelled and of some unlabelled rows, from all blocks."""
    ends = table.counts.cumsum(0) * np.minimum(1.0, most / np.maximum(table.counts.sum(0), 1))
    quota = np.diff(np.floor(ends + 1e-9).astype(int), axis=0, prepend=0)
    parts = [
        delayed(pick)(*block, some, [seed, place])
        for place, (*block, some) in enumerate(
            zip(scores, table.folded, quota.tolist(), strict=True)
        )
    ]
    (found,) = dask.compute(together(joined, parts))
    positive, unlabeled = found
    return positive, unlabeled


def pick(
    score: Floats, folded: Folded, some: Sequence[int], seed: Sequence[int]
) -> tuple[Floats, Floats]:
    """Scores of some labelled and some unlabelled rows of a block, by lot."""
    random = np.random.default_rng(seed)
    one, two = (
        random.choice(score[side], number, replace=False)
        for side, number in zip((folded.labelled, ~folded.labelled), some, strict=True)
    )
    return one, two


def joined(parts: list[Any]) -> tuple[Any, ...]:
    """Tuples of arrays, joined array by array."""
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))


def top(table: Table, scores: Parts, k: int) -> tuple[NDArray[np.intp], Floats]:
    """Row numbers and scores of the k unlabelled rows that have the highest."""
    starts = np.concatenate([[0], table.counts.sum(1).cumsum()])
    parts = [
        delayed(top_of)(*block, start, k)
        for *block, start in zip(scores, table.folded, starts[:-1].tolist(), strict=True)
    ]
    ((rows, score),) = dask.compute(together(lambda found: _highest_of(found, k), parts))
    return rows, score


def top_of(score: Floats, folded: Folded, start: int, k: int) -> tuple[NDArray[np.intp], Floats]:
    """Row numbers and scores of the k unlabelled rows of a block that have the highest."""
    rows = np.flatnonzero(~folded.labelled)
    return highest(rows + start, score[rows], k)


def _highest_of(parts: list[Any], k: int) -> tuple[NDArray[np.intp], Floats]:
    rows, score = joined(parts)
    return highest(rows, score, k)


def highest(rows: NDArray[np.intp], score: Floats, k: int) -> tuple[NDArray[np.intp], Floats]:
    """The k highest scores and whose they are; of equals the first.

    Examples
    --------
    >>> highest(np.array([7, 8, 9]), np.array([0.1, 0.9, 0.9]), 2)[0].tolist()
    [8, 9]
    """
    order = np.lexsort((rows, -score))[:k]
    return rows[order], score[order]
