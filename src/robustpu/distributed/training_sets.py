"""What each fold trains on: its rows, their targets and weights, as Dask collections again."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from robustpu.calibration import among_unlabeled, log_odds
from robustpu.curriculum import Curriculum
from robustpu.distributed.blocks import Floats, Folded, Mask, Parts, Table
from robustpu.methods.robust_pu_meta import LEAST, Scale


class Measure(NamedTuple):
    """What makes log-odds of scores, and weights of log-odds."""

    scale: Scale
    curriculum: Curriculum
    threshold: tuple[float, float]
    prior: float
    population: float

    def odds(self, score: Floats, labelled: Any) -> Floats:
        """Log-odds of being positive, of unlabelled rows as such, (n,)."""
        odds = log_odds(self.scale(score, self.prior, self.population))
        return np.where(labelled, odds, among_unlabeled(odds, self.prior, self.population))

    def weight(self, score: Floats, folded: Folded) -> Floats:
        """Weights of the rows of a block, (n,); 0 of those that say nothing."""
        odds = self.odds(score, folded.labelled)
        weight = self.curriculum.apply_to_arrays(odds, folded.labelled, self.threshold)[1]
        return np.where(weight > LEAST, weight, 0.0)


class Weights(NamedTuple):
    """Weights of rows on the workers; rows to keep, and sums (of P, of U) each.

    ``kept`` are numbers of rows, (blocks, folds, of P and of U).
    """

    parts: Parts
    kept: NDArray[np.int64]
    mass: Floats
    squares: Floats


def weights(table: Table, scores: Parts, measure: Measure) -> Weights:
    """Weight all rows by their scores."""
    shared = delayed(measure, traverse=False)
    parts = dask.persist(
        *(
            delayed(Measure.weight)(shared, *block)
            for block in zip(scores, table.folded, strict=True)
        )
    )
    notes = dask.compute(*map(delayed(noted), parts, table.folded))
    kept, sums = np.split(np.stack(notes), 2, axis=1)
    return Weights(parts, kept.astype(np.int64), *sums.sum(0))


def noted(weight: Floats, folded: Folded) -> Floats:
    """Rows of a block with weight, a line a fold; sums of weights and of squares; P and U, (4, 2).

    Examples
    --------
    >>> mask = np.array([True, False])
    >>> noted(np.array([1.0, 0.5]), Folded(mask, mask)).tolist()
    [[0.0, 1.0], [1.0, 0.0], [1.0, 0.5], [1.0, 0.25]]
    """
    some = weight > 0
    lines = some & ~folded.fold, some & folded.fold, weight, np.square(weight)
    sides = folded.labelled, ~folded.labelled
    return np.array([[line[side].sum() for side in sides] for line in lines], dtype=np.float64)


def training_set(
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
    sizes = table.in_fold(fold) if weights is None else weights.kept[:, fold].sum(1)
    # Learners trip over blocks without rows.
    used = [place for place, size in enumerate(sizes) if size]
    given = [
        (
            table.rows[place],
            table.folded[place],
            fold,
            None if weights is None else weights.parts[place],
            factors,
        )
        for place in used
    ]
    columns: list[tuple[Callable[..., Any], Any]] = [
        (rows_of, table.like),
        (targets_of, np.zeros(0, dtype=np.int64)),
    ]
    if weights is not None:
        columns.append((weights_of, np.zeros(0)))
    # Each part bears the name of its place in the array that it will be a block of, so that no
    # task is needed to make an array of them: a task costs a worker about a millisecond.
    names = [f"{make.__name__}-{uuid4().hex}" for make, _ in columns]
    parts = [
        [
            delayed(make)(*block, dask_key_name=(name, at, *[0] * (like.ndim - 1)))
            for at, block in enumerate(given)
        ]
        for name, (make, like) in zip(names, columns, strict=True)
    ]
    # Held as long as the fit takes: a second try needs no more than what was lost.
    (held,) = dask.persist(parts)
    numbers = [int(sizes[place]) for place in used]
    return tuple(
        collected(blocks, name, numbers, like)
        for blocks, name, (_, like) in zip(held, names, columns, strict=True)
    )


def chosen(folded: Folded, fold: int, weight: Floats | None) -> Mask:
    """Rows of a block that are in a fold and have weight, (n,)."""
    mine: Mask = folded.fold == bool(fold)
    return mine if weight is None else mine & (weight > 0)


def rows_of(rows: Any, folded: Folded, fold: int, weight: Floats | None, _: Sequence[float]) -> Any:
    """Rows that a block gives to a training set."""
    if rows.shape[0] != len(folded.fold):
        raise ValueError(
            f"a partition of X has {rows.shape[0]} rows, that of y {len(folded.fold)}. Take both "
            "from one frame, or give both the same chunks."
        )
    return rows[chosen(folded, fold, weight)]


# These do not look at the rows, but are made where the rows are, since they will be needed there.
def targets_of(
    rows: Any, folded: Folded, fold: int, weight: Floats | None, _: Sequence[float]
) -> NDArray[np.int64]:
    """Their targets."""
    return folded.labelled[chosen(folded, fold, weight)].astype(np.int64)


def weights_of(
    rows: Any, folded: Folded, fold: int, weight: Floats, factors: Sequence[float]
) -> Floats:
    """Their weights, in balance."""
    balanced: Floats = weight * np.where(folded.labelled, *factors)
    return balanced[chosen(folded, fold, weight)]


def collected(parts: Parts, name: str, sizes: Sequence[int], like: Any) -> Any:
    """Make a collection like another one of blocks that are held, and named as its own would be."""
    if hasattr(like, "npartitions") and not hasattr(like, "chunks"):
        return gathered(parts, sizes, like)
    import dask.array as da
    from dask.highlevelgraph import HighLevelGraph

    graph = {key: task for part in parts for key, task in dict(part.dask).items()}
    chunks = (tuple(sizes), *((size,) for size in like.shape[1:]))
    return da.Array(HighLevelGraph.from_collections(name, graph), name, chunks, dtype=like.dtype)


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
