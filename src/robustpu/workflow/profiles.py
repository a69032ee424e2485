"""Important columns in the rows with the highest scores, and in the other unlabelled rows."""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.results import LARGEST, OTHER, Profile, Spread
from robustpu.tables.cells import cells_of
from robustpu.tables.columns import Column
from robustpu.tables.date_plan import DatePlan
from robustpu.tables.number_plan import NumberPlan, signed_exp, signed_log
from robustpu.tables.texts import Coded
from robustpu.tables.words import split_words
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
# Words of texts: most that are counted, fewest rows of the list that have one, and most of the
# other rows that are looked at.
WORDS: Final = 5
SEVERAL: Final = 3
SAMPLE: Final = 5_000


def profiles(problem: Problem, score: Floats, columns: Sequence[str]) -> tuple[Profile, ...]:
    """Compare the rows at the top of the list with the other unlabelled rows, column by column.

    Parameters
    ----------
    problem
        The table.
    score
        Of its rows, (n,).
    columns
        Names of the columns; those without features are left out.
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
    if column.kind == "text":
        return _worded(column.name, cells_of(cells).text, groups)
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


def _worded(name: str, text: Coded, groups: tuple[Mask, Mask]) -> Profile | None:
    """Rows that have a word, of the words that are more frequent at the top of the list."""
    from scipy.sparse import csr_array

    listed, others = map(np.flatnonzero, groups)
    others = others[:: 1 + len(others) // SAMPLE]
    codes = text.codes[np.concatenate([listed, others])]
    rows = np.flatnonzero(codes >= 0)
    words, places = split_words(text.values.take(pa.array(codes[rows])))
    encoded = words.dictionary_encode()
    at = rows[places], np.asarray(encoded.indices)
    shape = len(codes), len(encoded.dictionary)
    has = csr_array((np.ones(len(places), bool), at), shape=shape).tocsc()
    is_listed = np.arange(len(codes)) < len(listed)
    counts = is_listed.astype(float) @ has, (~is_listed).astype(float) @ has
    gain = counts[0] / max(1, len(listed)) - counts[1] / max(1, len(others))
    share = (counts[0] + counts[1]) / len(codes)
    # In deviations, or words as frequent as "at" would come first. Of words of one phrase, which
    # are in the same rows, the longest stands for all.
    surprise = gain / np.sqrt(np.maximum(share * (1 - share), 1 / len(codes)))
    lengths = np.asarray(pc.utf8_length(encoded.dictionary))
    order = np.lexsort((-lengths, -surprise))
    first: dict[bytes, int] = {}
    for word in order[(counts[0] >= SEVERAL)[order] & (gain > 0)[order]][: WORDS**2]:
        first.setdefault(has[:, [word]].indices.tobytes(), int(word))
    kept = list(first.values())[:WORDS]
    if not kept:
        return None
    spreads = (
        Spread(tuple(map(int, count[kept])), int((codes[group] < 0).sum()), (), int(group.sum()))
        for count, group in zip(counts, (is_listed, ~is_listed), strict=True)
    )
    named = tuple(word[:LONGEST] for word in encoded.dictionary.take(pa.array(kept)).to_pylist())
    return Profile(name, "word", (), named, *spreads)


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
