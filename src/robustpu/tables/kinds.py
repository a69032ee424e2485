"""What a column holds: numbers, booleans, categories, dates, text, an id, or nothing of use."""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.dates import find_format, parse_dates
from robustpu.tables.errors import TableError, listed
from robustpu.tables.ids import is_named_id, number_id, text_id
from robustpu.tables.numbers import Decimal, find_decimal
from robustpu.tables.texts import FALSE, TRUE, Coded
from robustpu.validation.names import suggest

Kind: TypeAlias = Literal["number", "boolean", "category", "date", "text", "drop"]
Found: TypeAlias = Kind | Literal["id", "empty", "constant", "nested"]
KINDS: Final = get_args(Kind)
# Rows that must be numbers or dates; the rest counts as missing.
MOST: Final = 0.95


@dataclass(frozen=True)
class Finding:
    """What a column holds and how it is to be read.

    Attributes
    ----------
    kind
        What it holds.
    numbers, dates
        The values of a number, boolean or date, NaN or NaT where missing, shape (n,).
    decimal, form
        How numbers and dates are written.
    has_others
        Whether some cells are neither missing nor what the kind says.
    nones
        Dates that mean that there is none, in microseconds since 1970; see `find_nones`.
    notes
        What is to be said.
    """

    kind: Found
    numbers: NDArray[np.float64] | None = None
    dates: NDArray[np.datetime64] | None = None
    decimal: Decimal = "."
    form: str = "year-month-day"
    has_others: bool = False
    nones: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


def find_kind(name: str, cells: Cells, max_categories: int) -> Finding:
    """Find out what a column holds.

    Parameters
    ----------
    name
        Of the column; "customer_id" is a hint.
    cells
        Its cells.
    max_categories
        More different texts than that may be free text.

    Examples
    --------
    >>> from robustpu.tables.cells import cells_of
    >>> find_kind("x", cells_of(pa.chunked_array([["€ 5", "€ 6"]])), 30).kind
    'number'
    """
    if cells.family == "other":
        return Finding("nested", notes=(f"its type is {cells.what}",))
    if cells.family == "boolean" and cells.numbers is not None:
        return Finding("boolean", numbers=cells.numbers)
    if cells.family == "date":
        return Finding("date", dates=cells.dates)
    if cells.family == "number" and cells.numbers is not None:
        return _of_numbers(name, cells.numbers)
    plain = cells.plain_numbers
    if plain is not None and not _are_codes(cells.column):
        return _of_numbers(name, plain)
    if not len(cells.text.values):
        return Finding("empty")
    return _of_text(name, cells.text, max_categories)


def force_kind(name: str, cells: Cells, kind: Kind) -> Finding:
    """Read a column as the user says.

    Parameters
    ----------
    name
        Of the column.
    cells
        Its cells.
    kind
        What it holds.

    Examples
    --------
    >>> from robustpu.tables.cells import cells_of
    >>> force_kind("zip", cells_of(pa.chunked_array([[8001, 8002]])), "category").kind
    'category'
    """
    notes = ("as you said",)
    if kind in ("category", "text", "drop"):
        return Finding(kind, notes=notes)
    cells_text = cells.text
    if kind == "boolean":
        numbers = cells_text.booleans()
        _refuse_none(name, kind, ~np.isnan(numbers), cells_text)
        return Finding(kind, numbers=numbers, notes=notes)
    if kind == "number":
        if cells.numbers is not None:
            return Finding(kind, numbers=cells.numbers, notes=notes)
        decimal, found = find_decimal(cells_text.values, cells_text.counts())
        _refuse_none(name, kind, ~np.isnan(found), cells_text)
        return Finding(kind, numbers=cells_text.spread(found), decimal=decimal, notes=notes)
    if cells.dates is not None:
        return Finding(kind, dates=cells.dates, notes=notes)
    form, dates, _ = find_format(cells_text.values, cells_text.counts())
    _refuse_none(name, kind, ~np.isnat(dates), cells_text)
    return Finding(kind, dates=cells_text.spread(dates), form=form, notes=notes)


def check_kind(name: str, kind: str) -> None:
    """Refuse a kind that is not known.

    Parameters
    ----------
    name
        Of the column.
    kind
        What the user says that it holds.
    """
    if kind not in KINDS:
        raise TableError(f"unknown kind {kind!r} of column {name!r}{suggest(kind, KINDS)}")


def _of_numbers(name: str, numbers: NDArray[np.float64]) -> Finding:
    present = numbers[~np.isnan(numbers)]
    if not len(present):
        return Finding("empty")
    if (present != np.trunc(present)).any():
        return Finding("number", numbers=numbers)
    different = np.unique(present)
    dates = _days(numbers, different)
    if dates is not None:
        note = "whole numbers such as 20240131 were read as dates"
        return Finding("date", dates=dates, form="yearmonthday", notes=(note,))
    reason = number_id(name, present, different)
    if reason is not None:
        return Finding("id", numbers=numbers, notes=(reason,))
    if is_named_id(name) and 2 < len(different) <= 0.5 * len(present):
        return Finding("category", notes=("whole numbers under the name of an id",))
    return Finding("number", numbers=numbers)


def _days(
    numbers: NDArray[np.float64], different: NDArray[np.float64]
) -> NDArray[np.datetime64] | None:
    """Numbers such as 20240131 as dates, if all of them are."""
    if len(different) <= 2 or different[0] < 19000101 or different[-1] > 21001231:
        return None
    days = parse_dates(pa.array(different.astype(np.int64)).cast(pa.string()), "yearmonthday")
    if np.isnat(days).any():
        return None
    is_missing = np.isnan(numbers)
    found = days[np.searchsorted(different, np.where(is_missing, different[0], numbers))]
    found[is_missing] = np.datetime64("NaT")
    return found


def _of_text(name: str, cells: Coded, max_categories: int) -> Finding:
    counts = cells.counts()
    for attempt in (_as_boolean, _as_number, _as_date):
        finding = attempt(name, cells, counts)
        if finding is not None:
            return finding
    reason = text_id(name, cells)
    if reason is not None:
        return Finding("id", notes=(reason,))
    return Finding("text" if _is_prose(cells, max_categories) else "category")


def _as_boolean(name: str, cells: Coded, counts: NDArray[np.int64]) -> Finding | None:
    words = set(pc.utf8_lower(cells.values.slice(0, 5)).to_pylist())
    pairs = [{yes, no} for yes, no in zip(TRUE[:-1], FALSE[:-1], strict=True)]
    if len(cells.values) > 4 or not any(words <= pair for pair in pairs):
        return None
    return Finding("boolean", numbers=cells.booleans())


def _as_number(name: str, cells: Coded, counts: NDArray[np.int64]) -> Finding | None:
    values = cells.values
    if len(values) > 1000 and np.isnan(find_decimal(values.slice(0, 100), counts[:100])[1]).all():
        return None
    decimal, numbers = find_decimal(values, counts)
    is_number = ~np.isnan(numbers)
    if counts[is_number].sum() < MOST * counts.sum() or _are_codes(values, counts):
        return None
    finding = _of_numbers(name, cells.spread(numbers))
    notes = list(finding.notes)
    if decimal == ",":
        notes.append("decimal comma")
    others = values.filter(pa.array(~is_number))
    if len(others):
        rows = int(counts[~is_number].sum())
        notes.append(
            f"{rows:,} cells that are no numbers count as missing: {listed(_some(others))}"
        )
    if finding.kind == "date":
        return Finding("date", dates=finding.dates, form=finding.form, notes=tuple(notes))
    return replace(finding, decimal=decimal, has_others=bool(len(others)), notes=tuple(notes))


def _as_date(name: str, cells: Coded, counts: NDArray[np.int64]) -> Finding | None:
    form, dates, is_ambiguous = find_format(cells.values, counts)
    is_date = ~np.isnat(dates)
    if not is_date.any() or counts[is_date].sum() < MOST * counts.sum():
        return None
    notes = [f"written as {form}"] if form != "year-month-day" else []
    if is_ambiguous:
        notes.append("day and month could also be the other way round")
    others = cells.values.filter(pa.array(~is_date))
    if len(others):
        rows = int(counts[~is_date].sum())
        notes.append(f"{rows:,} cells that are no dates count as missing: {listed(_some(others))}")
    return Finding("date", dates=cells.spread(dates), form=form, notes=tuple(notes))


def _are_codes(values: Any, counts: NDArray[np.int64] | None = None) -> bool:
    """Numbers that start with a zero are codes: 01067 is a place, not a quantity."""
    zero = np.asarray(pc.match_substring_regex(values, "^0[0-9]+$").fill_null(False))
    if not zero.any():
        return False
    lengths = set(pc.utf8_length(values).unique().to_pylist())
    rows = zero.mean() if counts is None else counts[zero].sum() / counts.sum()
    return len(lengths - {0, None}) == 1 or rows >= 0.05


def _is_prose(cells: Coded, max_categories: int) -> bool:
    n_different = len(cells.values)
    if n_different <= max_categories:
        return False
    words = float(pc.mean(pc.count_substring_regex(cells.values, r"\S+")).as_py())
    share = n_different / max(1, int((cells.codes >= 0).sum()))
    return words >= 5 or (words >= 1.5 and share > 0.3)


def _some(values: Any) -> list[str]:
    found: list[str] = values.slice(0, 6).to_pylist()
    return found


def _refuse_none(name: str, kind: str, is_read: NDArray[np.bool_], cells: Coded) -> None:
    if len(cells.values) and not is_read.any():
        raise TableError(
            f"column {name!r} cannot be read as {kind}, as kinds says: it holds "
            f"{listed(_some(cells.values))}. Give another kind: {', '.join(KINDS)}."
        )
