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
# Rows of each label that importance is measured on.
SAMPLE: Final = 1_000
# Rows that others are compared with, and what may be scored in all before there are fewer.
BACKGROUND: Final = 30
LEAST_BACKGROUND: Final = 5
BUDGET: Final = 300_000
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
    dealt out anew among them, three times.

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
    rows = np.concatenate([_draw(np.flatnonzero(y == label), SAMPLE, random) for label in (1, 0)])
    sample = X[rows]
    before = odds(score(sample))
    found = []
    places = features_of(sources)
    for done, (column, features) in enumerate(places.items()):
        progress("importance", done, len(places))
        changes = []
        for _ in range(REPEATS):
            moved = sample.copy()
            order = random.permutation(len(sample))
            moved[:, features] = sample[np.ix_(order, features)]
            changes.append(float(np.abs(odds(score(moved)) - before).mean()))
        found.append(Importance(column, float(np.mean(changes)), float(np.std(changes))))
    progress("importance", len(places), len(places))
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
        Rows to compare with, (b, d); of many rows and columns, fewer of them are used.
    sources
        The column that each feature comes from.
    progress
        Told of each row.

    Returns
    -------
    columns
        Their names.
    effects
        Shape (k, columns).

    Examples
    --------
    >>> rows, background = np.array([[0.9, 0.3]]), np.array([[0.5, 0.1], [0.5, 0.8]])
    >>> columns, effects = drivers(lambda own: own[:, 0], rows, background, ["a", "b"])
    >>> columns, effects.round(3).tolist()
    (['a', 'b'], [[2.197, 0.0]])
    """
    places = features_of(sources)
    columns, (k, d) = list(places), rows.shape
    share = BUDGET // max(1, k * len(columns))
    background = background[: max(LEAST_BACKGROUND, share)]
    b = len(background)
    effects = np.empty((k, len(columns)))
    before = odds(score(rows))
    size = max(1, CHUNK // max(1, b * len(columns) * d))
    for start in range(0, k, size):
        progress("drivers", start, k)
        own = rows[start : start + size]
        # (rows, columns, background, features)
        moved = np.broadcast_to(own[:, None, None], (len(own), len(columns), b, d)).copy()
        for place, features in enumerate(places.values()):
            moved[:, place, :, features] = background[:, features].T[:, None, :]
        after = odds(score(moved.reshape(-1, d))).reshape(len(own), len(columns), b)
        effects[start : start + size] = before[start : start + size, None] - after.mean(2)
    progress("drivers", k, k)
    return columns, effects


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
