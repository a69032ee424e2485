"""What each fold has to learn: its rows, their targets and weights, as Dask collections again."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from robustpu.distributed.blocks import Dealt, Floats, Parts, Table
from robustpu.distributed.summaries import together, total
from robustpu.methods.reweigh import Rule, among_unlabeled, weigh
from robustpu.methods.robust_pu_meta import LEAST, Scale
from robustpu.thresholds import log_odds


class Measure(NamedTuple):
    """What makes log-odds of scores, and weights of log-odds."""

    scale: Scale
    rule: Rule
    prior: float
    population: float

    def odds(self, score: Floats, labelled: Any) -> Floats:
        """Log-odds of being positive, of unlabelled rows as such, (n,)."""
        odds = log_odds(self.scale(score, self.prior, self.population))
        return np.where(labelled, odds, among_unlabeled(odds, self.prior, self.population))

    def weight(self, score: Floats, dealt: Dealt) -> Floats:
        """Weights of the rows of a block, (n,); 0 of those that say nothing."""
        odds = self.odds(score, dealt.labelled)
        weight = weigh(odds, dealt.labelled, dealt.labelled, self.rule)[1]
        return np.where(weight > LEAST, weight, 0.0)


class Weights(NamedTuple):
    """Weights of rows on the workers; rows to keep (blocks, folds), and sums (of P, of U) each."""

    parts: Parts
    kept: NDArray[np.int64]
    mass: Floats
    squares: Floats


def weights(table: Table, scores: Parts, measure: Measure) -> Weights:
    """Weigh all rows by their scores."""
    shared = delayed(measure, traverse=False)
    parts = dask.persist(
        *(delayed(Measure.weight)(shared, *own) for own in zip(scores, table.dealt, strict=True))
    )
    pairs = list(zip(parts, table.dealt, strict=True))
    kept, sums = dask.compute(
        [delayed(kept_of)(*own) for own in pairs],
        together(total, [delayed(sums_of)(*own) for own in pairs]),
    )
    return Weights(parts, np.array(kept), *sums)


def kept_of(weight: Floats, dealt: Dealt) -> tuple[int, int]:
    """Rows of a block with any weight, in fold 0 and in fold 1."""
    some = weight > 0
    return int((some & ~dealt.fold).sum()), int((some & dealt.fold).sum())


def sums_of(weight: Floats, dealt: Dealt) -> Floats:
    """Sums of weights and of their squares, over labelled and over unlabelled rows, (2, 2).

    Examples
    --------
    >>> mask = np.array([True, False])
    >>> sums_of(np.array([1.0, 0.5]), Dealt(mask, mask)).tolist()
    [[1.0, 0.5], [1.0, 0.25]]
    """
    sides = [weight[dealt.labelled], weight[~dealt.labelled]]
    return np.array([[own.sum() for own in sides], [np.square(own).sum() for own in sides]])


def lesson(
    table: Table, fold: int, weights: Weights | None = None, factors: Sequence[float] = (1.0, 1.0)
) -> tuple[Any, ...]:
    """Rows of a fold and their targets as Dask collections; weights too, if there are any.

    Parameters
    ----------
    table
        All rows.
    fold
        0 or 1.
    weights
        Of all rows; without any all rows of the fold count alike.
    factors
        What weights of labelled, and of unlabelled, rows are multiplied by.
    """
    sizes = table.in_fold(fold) if weights is None else weights.kept[:, fold]
    # Learners trip over blocks without rows.
    used = [place for place, size in enumerate(sizes) if size]
    parts = [
        delayed(take, nout=3)(
            table.rows[place],
            table.dealt[place],
            fold,
            None if weights is None else weights.parts[place],
            factors,
        )
        for place in used
    ]
    numbers = [int(sizes[place]) for place in used]
    likes = [table.like, np.zeros(0, dtype=np.int64), np.zeros(0)][: 2 if weights is None else 3]
    # Held as long as the fit takes: a second try needs no more than what was lost.
    held = dask.persist([[part[column] for part in parts] for column in range(len(likes))])[0]
    return tuple(gathered(own, numbers, like) for own, like in zip(held, likes, strict=True))


def take(
    rows: Any, dealt: Dealt, fold: int, weight: Floats | None, factors: Sequence[float]
) -> tuple[Any, NDArray[np.int64], Floats | None]:
    """Rows of a block that are in a fold and have weight; their targets; their weights."""
    if rows.shape[0] != len(dealt.fold):
        raise ValueError(
            f"a partition of X has {rows.shape[0]} rows, that of y {len(dealt.fold)}. Take both "
            "from one frame, or give both the same chunks."
        )
    keep = dealt.fold == bool(fold)
    if weight is not None:
        keep &= weight > 0
        weight = (weight * np.where(dealt.labelled, *factors))[keep]
    return rows[keep], dealt.labelled[keep].astype(np.int64), weight


def gathered(parts: Parts, sizes: Sequence[float], like: Any) -> Any:
    """Make a collection like another one of blocks of rows."""
    if hasattr(like, "npartitions") and not hasattr(like, "chunks"):
        import dask.dataframe as dd

        return dd.from_delayed(list(parts), meta=like._meta, verify_meta=False)
    import dask.array as da

    blocks = [
        da.from_delayed(part, (size, *like.shape[1:]), dtype=like.dtype)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(blocks)
