"""Important columns in the rows with the highest scores, and in the other unlabelled rows."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from robustpu.results import LARGEST, OTHER, Profile, Spread
from robustpu.tables.cells import cells_of
from robustpu.tables.columns import Column
from robustpu.tables.date_plan import DatePlan
from robustpu.tables.number_plan import NumberPlan, signed_exp, signed_log
from robustpu.thresholds import most_likely
from robustpu.workflow.effects import features_of
from robustpu.workflow.problem import Problem

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

# The top of the list: a tenth of the unlabelled rows, within these bounds.
PART: Final = 10
FEWEST: Final = 20
MOST: Final = 200
BINS: Final = 14
# Bins leave out this share of the rows at either end, or a few rows would squeeze all others.
BEYOND: Final = 0.005
# Most values that are counted one by one: the most frequent.
VALUES: Final = 9
QUANTILES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
LONGEST: Final = 60


def profiles(problem: Problem, score: Floats, columns: Sequence[str]) -> tuple[Profile, ...]:
    """Compare the rows at the top of the list with the other unlabelled rows, column by column.

    Parameters
    ----------
    problem
        The table.
    score
        Of its rows, (n,).
    columns
        Names of the columns; texts and columns without features are left out.
    """
    is_unlabeled = problem.y == 0
    size = min(max(FEWEST, min(MOST, problem.n_unlabeled // PART)), problem.n_unlabeled // 2)
    is_listed = np.zeros(len(score), dtype=bool)
    is_listed[most_likely(score, is_unlabeled, size)] = True
    groups = is_listed, is_unlabeled & ~is_listed
    known = {column.name: column for column in problem.vectorizer.columns_}
    places = features_of(problem.vectorizer.sources_)
    found = []
    for name in columns:
        features = problem.X[:, places[name]]
        found.append(_profile(known[name], features, problem.table.column(name), groups))
    return tuple(profile for profile in found if profile is not None)


def _profile(
    column: Column, features: NDArray[np.float32], cells: Any, groups: tuple[Mask, Mask]
) -> Profile | None:
    plan = column.plan
    if column.kind in ("category", "boolean"):
        text = cells_of(cells).text
        return _counted(column.name, text.values, text.codes, groups)
    if not isinstance(plan, NumberPlan | DatePlan):
        return None
    values = plan.decode(features)
    values[np.abs(values) > LARGEST] = np.nan
    if isinstance(plan, NumberPlan) and column.different <= 2:
        numbers, codes = np.unique(values, return_inverse=True)
        codes = np.where(np.isnan(values), -1, codes)
        words = [f"{number:.6g}" for number in numbers if not np.isnan(number)]
        return _counted(column.name, pa.array(words), codes, groups)
    return _binned(column, values, groups)


def _counted(name: str, words: Any, codes: NDArray[Any], groups: tuple[Mask, Mask]) -> Profile:
    """Counts of the words that are frequent in either group; codes are -1 where missing."""
    counts = [np.bincount(codes[rows] + 1, minlength=len(words) + 1) for rows in groups]
    shares = np.sum([count[1:] / max(1, count.sum()) for count in counts], axis=0)
    order = np.argsort(-shares, kind="stable")[:VALUES]
    rest = [int(count[1:].sum() - count[1 + order].sum()) for count in counts]
    has_rest = any(rest)
    listed, others = (
        Spread((*count[1 + order].tolist(), *([left] if has_rest else [])), int(count[0]))
        for count, left in zip(counts, rest, strict=True)
    )
    kept = [str(word)[:LONGEST] for word in words.take(pa.array(order)).to_pylist()]
    values = (*kept, *([OTHER] if has_rest else []))
    return Profile(name, "value", (), values, listed, others)


def _binned(column: Column, values: Floats, groups: tuple[Mask, Mask]) -> Profile | None:
    """Histograms on the scale that the model sees: of skewed columns it is logarithmic."""
    known = [values[rows][~np.isnan(values[rows])] for rows in groups]
    if not all(map(len, known)):
        return None
    low, high = np.quantile(np.concatenate(known), (BEYOND, 1 - BEYOND))
    if not low < high:
        return None
    edges = _edges(np.concatenate(known), float(low), float(high), column.plan)
    if not (np.diff(edges) > 0).all():
        return None
    listed, others = (
        Spread(
            tuple(np.histogram(np.clip(each, edges[0], edges[-1]), edges)[0].tolist()),
            int(rows.sum() - len(each)),
            tuple(np.quantile(each, QUANTILES).tolist()),
        )
        for each, rows in zip(known, groups, strict=True)
    )
    kind = "date" if column.kind == "date" else "number"
    return Profile(column.name, kind, tuple(edges.tolist()), (), listed, others)  # type: ignore[arg-type]


def _edges(values: Floats, low: float, high: float, plan: Any) -> Floats:
    unit = plan.unit if isinstance(plan, NumberPlan) else 0.0
    if unit:
        first, last = signed_log(np.array([low, high]), unit)
        return signed_exp(np.linspace(float(first), float(last), BINS + 1), unit)
    if (values == np.round(values)).all():
        # Bins with as many whole numbers each.
        low, high = np.floor(low), np.ceil(high)
        width = np.ceil((high - low + 1) / BINS)
        edges: Floats = np.arange(low, high + width + 1, width) - 0.5
        return edges
    return np.linspace(low, high, BINS + 1)
