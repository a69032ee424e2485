"""Effects of columns on the scores, over all rows and for single rows, for any method.

Whole columns of the table are permuted, not single features: a category is several features.
Scores are compared as log-odds of probabilities clipped to [0.001, 0.999]; of single
rows up to 1 - 1e-12, since rows that are nearly certain have reasons, too.

Scoring a row costs hundreds of times more with some models than with others. A costly model gets
fewer rows, by its declared ``row_cost`` and not by the clock, so the reasons are the same on every
machine.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.calibration import log_odds
from robustpu.results import Importance
from robustpu.workflow.progress import Progress, silent

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]
Scorer: TypeAlias = Callable[[Rows], Floats]

CUT: Final = 1e-3
CERTAIN: Final = 1e-12
REPEATS: Final = 3
# Rows of each label that importance is measured on, and both labels together at least.
SAMPLE: Final = 250
LEAST_SAMPLE: Final = 50
# Rows that others are compared with, and different values of a column that are taken from them.
BACKGROUND: Final = 30
VALUES: Final = 5
# Rows and numbers that may be scored for importance, and again to explain EXPLAINED rows; divided
# by the cost of a row.
EXPLAINED: Final = 500
BUDGET: Final = 120_000
NUMBERS: Final = 12_000_000
# Fewest columns whose effect on single rows is measured, if there are many.
LEAST_COLUMNS: Final = 20
# Features that are scored at a time, about 64 MB of them.
CHUNK: Final = 1 << 24


def importance(
    score: Scorer,
    X: Rows,
    y: NDArray[np.int64],
    sources: Sequence[str],
    seed: int = 0,
    progress: Progress = silent,
    cost: int = 1,
) -> list[Importance]:
    """Mean |log-odds(row) - log-odds(row with the column of another row)|, largest first.

    The values of the column are permuted three times among up to 250 labelled and 250
    unlabelled rows. With many columns, or a costly scorer, there are fewer rows, and one
    permutation; with thousands, columns that hardly go with the score are not measured and get 0.

    Parameters
    ----------
    score
        Rows -> probabilities of being positive.
    X, y
        Rows and labels.
    sources
        The column that each feature comes from.
    seed
        Of the rows and of the permutations.
    progress
        Callback for each column.
    cost
        Of scoring a row, see :meth:`robustpu.base.classifier.BasePUClassifier.row_cost`.

    Examples
    --------
    >>> X = np.arange(20, dtype=np.float32).reshape(10, 2) / 20
    >>> found = importance(lambda rows: rows[:, 1], X, np.arange(10) % 2, ["a", "b"])
    >>> [each.column for each in found], found[1].value
    (['b', 'a'], 0.0)
    """
    random = np.random.default_rng(seed)
    places = features_of(sources)
    size, repeats = _sample_size(len(places), X.shape[1], cost)
    rows = np.concatenate([_draw(np.flatnonzero(y == label), size, random) for label in (1, 0)])
    sample = X[rows]
    before = odds(score(sample))
    found: list[Importance] = []
    most = max(LEAST_COLUMNS, 2 * NUMBERS // cost // max(1, repeats * sample.size))
    columns = _most_related(sample, before, places, most)
    features = [places[column] for column in columns]
    # Small samples of several columns are scored at once: a call costs too.
    step = max(1, CHUNK // max(1, repeats * sample.size))
    for start in range(0, len(columns), step):
        progress("importance", start, len(columns))
        block = features[start : start + step]
        # (columns, repeats, rows, features)
        moved = np.broadcast_to(sample, (len(block), repeats, *sample.shape)).copy()
        for place, taken in enumerate(block):
            for repeat in range(repeats):
                order = random.permutation(len(sample))
                moved[place, repeat][:, taken] = sample[np.ix_(order, taken)]
        after = odds(score(moved.reshape(-1, X.shape[1]))).reshape(len(block), repeats, -1)
        changes = np.abs(after - before).mean(2)
        found += [
            Importance(column, float(mean), float(deviation))
            for column, mean, deviation in zip(
                columns[start : start + step], changes.mean(1), changes.std(1), strict=True
            )
        ]
    progress("importance", len(columns), len(columns))
    found += [Importance(column, 0.0, 0.0) for column in places.keys() - set(columns)]
    ranks = {column: place for place, column in enumerate(places)}
    return sorted(found, key=lambda each: (-each.value, ranks[each.column]))


def drivers(
    score: Scorer,
    rows: Rows,
    background: Rows,
    sources: Sequence[str],
    progress: Progress = silent,
    cost: int = 1,
) -> tuple[list[str], Floats]:
    """Log-odds(row) - mean of log-odds(row with the column of a background row), of each column.

    How much the value of this column raises the score, against its values in unlabelled rows: five
    of these, evenly spaced in their order, if there are more; fewer, down to the median, with a
    costly scorer.

    Parameters
    ----------
    score
        Rows -> probabilities of being positive.
    rows
        Rows to be explained, (k, d).
    background
        Rows to compare with, (b, d).
    sources
        The column that each feature comes from. Of many columns, only those with the largest
        effects on some of the rows are measured.
    progress
        Callback for each row.
    cost
        Of scoring a row, as in :func:`importance`.

    Returns
    -------
    columns
        Their names.
    effects
        Shape (k, columns); 0 for columns that were left out.

    Examples
    --------
    >>> rows, background = np.array([[0.9, 0.3]]), np.array([[0.5, 0.1], [0.5, 0.8]])
    >>> columns, effects = drivers(lambda given: given[:, 0], rows, background, ["a", "b"])
    >>> columns, effects.round(3).tolist()
    (['a', 'b'], [[2.197, 0.0]])
    """
    places = features_of(sources)
    columns, (k, d) = list(places), rows.shape
    # A row must have the same drivers in any list, so its budget does not depend on the others.
    each = max(LEAST_COLUMNS * VALUES, _budget(d) // EXPLAINED) // cost
    # All columns by their median tell more than half of them by two values.
    n_values = min(VALUES, max(1, each // min(len(columns), LEAST_COLUMNS)))
    most = max(1, each // n_values)
    kept = np.arange(len(columns))
    if most < len(columns):
        few = max(1, _budget(d) // cost // 4 // (n_values * len(columns)))
        some = rows[np.linspace(0, k - 1, min(few, k)).astype(int)]
        both = np.concatenate([some, background])
        limit = max(most, NUMBERS // cost // (n_values * d))
        related = set(_most_related(both, odds(score(both)), places, limit))
        kept = np.array([place for place, column in enumerate(columns) if column in related])
        tried = _effects(
            score, some, background, [places[columns[place]] for place in kept], n_values
        )
        kept = np.sort(kept[np.argsort(-np.maximum(tried, 0).mean(0), kind="stable")[:most]])
    effects = np.zeros((k, len(columns)))
    moved = [places[columns[place]] for place in kept]
    effects[:, kept] = _effects(score, rows, background, moved, n_values, progress)
    return columns, effects


def _effects(
    score: Scorer,
    rows: Rows,
    background: Rows,
    places: Sequence[NDArray[np.intp]],
    n_values: int,
    progress: Progress = silent,
) -> Floats:
    """Of each column, given by the places of its features, (k, columns); see :func:`drivers`."""
    k, d = rows.shape
    taken = [_values_of(background[:, features], n_values) for features in places]
    weights = np.concatenate([weight for _, weight in taken])
    starts = np.cumsum([0, *(len(weight) for _, weight in taken)])
    effects = np.empty((k, len(places)))
    before = odds(score(rows), CERTAIN)
    size = max(1, CHUNK // max(1, len(weights) * d))
    for start in range(0, k, size):
        progress("drivers", start, k)
        block = rows[start : start + size]
        # (rows, values of all columns, features)
        moved = np.repeat(block[:, None], len(weights), axis=1)
        for place, (features, (values, _)) in enumerate(zip(places, taken, strict=True)):
            moved[:, starts[place] : starts[place + 1], features] = values
        after = odds(score(moved.reshape(-1, d)), CERTAIN).reshape(len(block), -1) * weights
        effects[start : start + size] = before[start : start + size, None] - np.add.reduceat(
            after, starts[:-1], axis=1
        )
    progress("drivers", k, k)
    return effects


def _values_of(rows: Rows, n_values: int) -> tuple[Rows, Floats]:
    """Different rows, (m, f), and their shares, (m,): all, or those at even steps of their order.

    Examples
    --------
    >>> values, shares = _values_of(np.array([[0.0], [1.0], [1.0], [1.0]]), 5)
    >>> values.ravel().tolist(), shares.tolist()
    ([0.0, 1.0], [0.25, 0.75])
    >>> _values_of(np.arange(100.0)[:, None], 5)[0].ravel().tolist()
    [9.0, 29.0, 49.0, 69.0, 89.0]
    """
    values, counts = np.unique(rows, axis=0, return_counts=True)
    if len(values) > n_values:
        steps = (np.arange(n_values) + 0.5) / n_values * len(rows)
        at, counts = np.unique(np.searchsorted(np.cumsum(counts), steps), return_counts=True)
        values = values[at]
    return values, counts / counts.sum()


def _most_related(
    sample: Rows, score: Floats, places: dict[str, NDArray[np.intp]], most: int
) -> list[str]:
    """The columns with a feature that correlates most with the score, in their order.

    To permute each of d columns in rows of d numbers takes d**2; to correlate them takes d.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0, 5.0], [1.0, 1.0, 3.0], [2.0, 1.0, 4.0]], dtype=np.float32)
    >>> places = {"a": np.array([0]), "b": np.array([1]), "c": np.array([2])}
    >>> _most_related(X, np.array([0.0, 1.0, 2.0]), places, 2)
    ['a', 'c']
    """
    columns = list(places)
    if len(columns) <= most:
        return columns
    centred = sample - sample.mean(0, dtype=np.float64)
    spread = np.sqrt((centred**2).sum(0))
    related = np.abs((score - score.mean()) @ centred) / np.maximum(spread, np.finfo(float).tiny)
    of_column = np.array([related[places[column]].max() for column in columns])
    return [columns[place] for place in np.sort(np.argsort(-of_column, kind="stable")[:most])]


def _budget(d: int) -> int:
    """Rows of d numbers that may be scored."""
    return min(BUDGET, NUMBERS // max(1, d))


def _sample_size(columns: int, d: int, cost: int = 1) -> tuple[int, int]:
    """Rows of each label that importance is measured on, and the number of permutations.

    Examples
    --------
    >>> [_sample_size(columns, columns) for columns in (30, 100, 1000, 10**5)]
    [(250, 3), (200, 3), (25, 1), (25, 1)]
    >>> _sample_size(30, 30, cost=20)
    (100, 1)
    """
    share = _budget(d) // cost // max(1, columns)
    repeats = REPEATS if share >= REPEATS * LEAST_SAMPLE * 2 else 1
    return min(SAMPLE, max(LEAST_SAMPLE, share // repeats) // 2), repeats


def features_of(sources: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Places of the features of each column.

    Examples
    --------
    >>> {name: places.tolist() for name, places in features_of(["a", "b", "b"]).items()}
    {'a': [0], 'b': [1, 2]}
    """
    places: dict[str, list[int]] = {}
    for place, name in enumerate(sources):
        places.setdefault(name, []).append(place)
    return {name: np.array(found, dtype=np.intp) for name, found in places.items()}


def draw_background(
    X: Rows, y: NDArray[np.int64], seed: int = 0, size: int = BACKGROUND
) -> NDArray[np.float32]:
    """Some of the unlabelled rows, to compare others with."""
    unlabeled = np.flatnonzero(y == 0)
    drawn: NDArray[np.float32] = X[_draw(unlabeled, size, np.random.default_rng(seed))]
    return drawn


def odds(probability: Floats, nearest: float = CUT) -> Floats:
    """Log-odds of probabilities that are clipped, this near to 1."""
    return log_odds(np.clip(probability, CUT, 1 - nearest))


def _draw(rows: NDArray[np.intp], size: int, random: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= size else np.sort(random.choice(rows, size, replace=False))
