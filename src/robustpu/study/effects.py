"""What columns do to the answers: for all rows, and for one row. Of any method.

Columns of the table are moved, not single features: a category is all of its features at once.
Answers are compared as log-odds, of probabilities cut to [0.001, 0.999]: what is nearer to 0 or 1
than that makes no difference to anybody.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.study.stages import Tell, silent
from robustpu.thresholds import log_odds

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.float32]
Scorer: TypeAlias = Callable[[Rows], Floats]

CUT: Final = 1e-3
REPEATS: Final = 3
# Rows of each label that importance is measured on, and both labels together at least.
SAMPLE: Final = 1_000
LEAST_SAMPLE: Final = 50
# Rows that others are compared with.
BACKGROUND: Final = 30
LEAST_BACKGROUND: Final = 5
# Rows and numbers that may be scored for importance, and again for the drivers of so many rows.
EXPLAINED: Final = 500
BUDGET: Final = 300_000
NUMBERS: Final = 50_000_000
# Columns whose effect on single rows is measured at least, if there are many.
LEAST_COLUMNS: Final = 20
# Features that are scored at a time, about 64 MB of them.
CHUNK: Final = 1 << 24


class Importance(NamedTuple):
    """Mean change of the log-odds by a column, and its deviation over the repeats."""

    column: str
    value: float
    deviation: float


def importance(
    score: Scorer,
    X: Rows,
    y: NDArray[np.int64],
    sources: Sequence[str],
    seed: int = 0,
    progress: Tell = silent,
) -> list[Importance]:
    """Mean |log-odds(row) - log-odds(row with the column of another row)|, largest first.

    Rows are drawn, up to 1,000 labelled and 1,000 unlabelled ones, and the column's values are
    dealt out anew among them, three times. Of many columns it is fewer rows, and then once.

    Parameters
    ----------
    score
        Rows -> probabilities of being positive.
    X, y
        Rows and labels.
    sources
        The column that each feature comes from.
    seed
        Of the rows and of the dealing.
    progress
        Told of each column.

    Examples
    --------
    >>> X = np.arange(20, dtype=np.float32).reshape(10, 2) / 20
    >>> found = importance(lambda own: own[:, 1], X, np.arange(10) % 2, ["a", "b"])
    >>> [own.column for own in found], found[1].value
    (['b', 'a'], 0.0)
    """
    random = np.random.default_rng(seed)
    places = features_of(sources)
    size, repeats = _dealings(len(places), X.shape[1])
    rows = np.concatenate([_draw(np.flatnonzero(y == label), size, random) for label in (1, 0)])
    sample = X[rows]
    before = odds(score(sample))
    found: list[Importance] = []
    columns, features = list(places), list(places.values())
    # Small samples of several columns are scored at once: a call costs too.
    step = max(1, CHUNK // max(1, repeats * sample.size))
    for start in range(0, len(columns), step):
        progress("importance", start, len(columns))
        own = features[start : start + step]
        # (columns, repeats, rows, features)
        moved = np.broadcast_to(sample, (len(own), repeats, *sample.shape)).copy()
        for place, taken in enumerate(own):
            for repeat in range(repeats):
                order = random.permutation(len(sample))
                moved[place, repeat][:, taken] = sample[np.ix_(order, taken)]
        after = odds(score(moved.reshape(-1, X.shape[1]))).reshape(len(own), repeats, -1)
        changes = np.abs(after - before).mean(2)
        found += [
            Importance(column, float(mean), float(deviation))
            for column, mean, deviation in zip(
                columns[start : start + step], changes.mean(1), changes.std(1), strict=True
            )
        ]
    progress("importance", len(columns), len(columns))
    return sorted(found, key=lambda own: -own.value)


def drivers(
    score: Scorer,
    rows: Rows,
    background: Rows,
    sources: Sequence[str],
    progress: Tell = silent,
) -> tuple[list[str], Floats]:
    """Log-odds(row) - mean of log-odds(row with the column of a background row), of each column.

    How much more suspect a row is than it would be if this column alone were like that of any
    unlabelled row.

    Parameters
    ----------
    score
        Rows -> probabilities of being positive.
    rows
        Rows to be explained, (k, d).
    background
        Rows to compare with, (b, d); of many columns, fewer of them are used, and if that is not
        enough, only the columns with the largest effects on some of the rows.
    sources
        The column that each feature comes from.
    progress
        Told of each row.

    Returns
    -------
    columns
        Their names.
    effects
        Shape (k, columns); 0 of columns that were left out.

    Examples
    --------
    >>> rows, background = np.array([[0.9, 0.3]]), np.array([[0.5, 0.1], [0.5, 0.8]])
    >>> columns, effects = drivers(lambda own: own[:, 0], rows, background, ["a", "b"])
    >>> columns, effects.round(3).tolist()
    (['a', 'b'], [[2.197, 0.0]])
    """
    places = features_of(sources)
    columns, (k, d) = list(places), rows.shape
    # A row has the same drivers in any list, so what it may cost does not depend on the others.
    budget = _budget(d) // EXPLAINED
    kept = np.arange(len(columns))
    most = max(LEAST_COLUMNS, budget // LEAST_BACKGROUND)
    if most < len(columns):
        few = max(1, _budget(d) // 4 // (LEAST_BACKGROUND * len(columns)))
        some = rows[np.linspace(0, k - 1, min(few, k)).astype(int)]
        tried = _effects(score, some, background[:LEAST_BACKGROUND], list(places.values()))
        kept = np.sort(np.argsort(-np.maximum(tried, 0).mean(0), kind="stable")[:most])
    background = background[: max(LEAST_BACKGROUND, budget // max(1, len(kept)))]
    effects = np.zeros((k, len(columns)))
    moved = [places[columns[place]] for place in kept]
    effects[:, kept] = _effects(score, rows, background, moved, progress)
    return columns, effects


def _effects(
    score: Scorer,
    rows: Rows,
    background: Rows,
    places: Sequence[NDArray[np.intp]],
    progress: Tell = silent,
) -> Floats:
    """Of each column, given by the places of its features, (k, columns); see :func:`drivers`."""
    (k, d), b = rows.shape, len(background)
    effects = np.empty((k, len(places)))
    before = odds(score(rows))
    size = max(1, CHUNK // max(1, b * len(places) * d))
    for start in range(0, k, size):
        progress("drivers", start, k)
        own = rows[start : start + size]
        # (rows, columns, background, features)
        moved = np.broadcast_to(own[:, None, None], (len(own), len(places), b, d)).copy()
        for place, features in enumerate(places):
            moved[:, place, :, features] = background[:, features].T[:, None, :]
        after = odds(score(moved.reshape(-1, d))).reshape(len(own), len(places), b)
        effects[start : start + size] = before[start : start + size, None] - after.mean(2)
    progress("drivers", k, k)
    return effects


def _budget(d: int) -> int:
    """Rows of d numbers that may be scored."""
    return min(BUDGET, NUMBERS // max(1, d))


def _dealings(columns: int, d: int) -> tuple[int, int]:
    """Rows of each label that importance is measured on, and how often.

    Examples
    --------
    >>> _dealings(30, 40), _dealings(100, 120), _dealings(1000, 1000), _dealings(10**5, 10**5)
    ((1000, 3), (500, 3), (25, 1), (25, 1))
    """
    share = _budget(d) // max(1, columns)
    repeats = REPEATS if share >= REPEATS * LEAST_SAMPLE * 2 else 1
    return min(SAMPLE, max(LEAST_SAMPLE, share // repeats) // 2), repeats


def features_of(sources: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Places of the features of each column.

    Examples
    --------
    >>> {name: own.tolist() for name, own in features_of(["a", "b", "b"]).items()}
    {'a': [0], 'b': [1, 2]}
    """
    names = np.array(sources, dtype=object)
    return {name: np.flatnonzero(names == name) for name in dict.fromkeys(sources)}


def draw_background(
    X: Rows, y: NDArray[np.int64], seed: int = 0, size: int = BACKGROUND
) -> NDArray[np.float32]:
    """Some of the unlabelled rows, to compare others with."""
    unlabeled = np.flatnonzero(y == 0)
    drawn: NDArray[np.float32] = X[_draw(unlabeled, size, np.random.default_rng(seed))]
    return drawn


def odds(probability: Floats) -> Floats:
    """Log-odds of probabilities, cut where nobody could tell the difference."""
    return log_odds(np.clip(probability, CUT, 1 - CUT))


def _draw(rows: NDArray[np.intp], size: int, random: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= size else np.sort(random.choice(rows, size, replace=False))
