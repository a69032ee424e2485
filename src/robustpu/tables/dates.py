"""Dates that were written as text, in one of a few formats."""

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
TIME: Final = (
    r"(?:(?:[T,]|\s)\s*(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?:[.,](?P<f>[0-9]{1,9}))?)?"
    r"\s*(?P<half>(?i:AM|PM))?\s*(?P<zone>Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})?)?$"
)
# Spelt out: Marquis 1998 is no month.
NAME: Final = (
    r"(?P<name>(?i:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sep(?:t(?:ember)?)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?))\.?"
)
# Without a day there is little else to tell a date by.
CENTURY: Final = r"(?P<y>(?:19|20)[0-9]{2})"
YEAR: Final = r"(?P<y>[0-9]{4}|[0-9]{2})"
FORMATS: Final = {
    "year-month-day": r"^(?P<y>[0-9]{4})[-/.](?P<m>[0-9]{1,2})[-/.](?P<d>[0-9]{1,2})" + TIME,
    "day.month.year": rf"^(?P<d>[0-9]{{1,2}})[-/.](?P<m>[0-9]{{1,2}})[-/.]{YEAR}" + TIME,
    "month/day/year": rf"^(?P<m>[0-9]{{1,2}})[-/.](?P<d>[0-9]{{1,2}})[-/.]{YEAR}" + TIME,
    "day month year": rf"^(?P<d>[0-9]{{1,2}})[-. ]*{NAME}[-, ]*{YEAR}" + TIME,
    "month day year": rf"^{NAME}[- ]*(?P<d>[0-9]{{1,2}})(?:st|nd|rd|th)?[-, ]+(?P<y>[0-9]{{4}})"
    + TIME,
    "month year": rf"^{NAME}[-/, ]*{CENTURY}$",
    "year-month": rf"^{CENTURY}[-/](?P<m>[0-9]{{1,2}})$",
    # Of one digit it may be a ratio, or a number of something.
    "month/year": rf"^(?P<m>0[1-9]|1[0-2])[-/]{CENTURY}$",
    "yearmonthday": r"^(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})$",
}
ISO: Final = "year-month-day"
# The data show which of the two comes first; else the usual separator decides.
AMBIGUOUS: Final = ("day.month.year", "month/day/year")
MICRO: Final = 1_000_000
# A format that none of the first values has is not tried on all of them.
FEW: Final = 1_000


def parse_dates(values: Any, form: str) -> NDArray[np.datetime64]:
    """Dates of texts in universal time, in microseconds, NaT where a text is none.

    Parameters
    ----------
    values
        Arrow array of trimmed texts, shape (n,).
    form
        A key of ``FORMATS``. Dates that start with the year are always understood.

    Examples
    --------
    >>> parse_dates(pa.array(["31.12.2023", "2024-02-30"]), "day.month.year").astype(str).tolist()
    ['2023-12-31T00:00:00.000000', 'NaT']
    """
    out = _parsed(values, form)
    if form != ISO:
        rest = np.flatnonzero(np.isnat(out))
        out[rest] = _parsed(values.take(pa.array(rest)), ISO)
    return out


def find_format(values: Any, counts: NDArray[np.int64]) -> tuple[str, NDArray[np.datetime64], bool]:
    """(format, dates, whether another one does as well) for most rows of a column.

    Parameters
    ----------
    values
        Arrow array of different texts, shape (k,).
    counts
        Rows that have each, shape (k,).

    Examples
    --------
    >>> find_format(pa.array(["1/2/2024", "13/2/2024"]), np.array([1, 1]))[0]
    'day.month.year'
    """
    first = values.slice(0, FEW)
    tried = [
        form for form in FORMATS if pc.any(pc.match_substring_regex(first, FORMATS[form])).as_py()
    ]
    found = {form: _parsed(values, form) for form in tried}
    rows = {form: int(counts[~np.isnat(dates)].sum()) for form, dates in found.items()}
    if not rows:
        return ISO, np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]"), False
    day_first, month_first = AMBIGUOUS
    is_even = 0 < rows.get(day_first, 0) == rows.get(month_first)
    has_slash = pc.any(pc.match_substring(values, "/")).as_py()
    order = [ISO, month_first, day_first] if is_even and has_slash else [ISO, *AMBIGUOUS]
    best = max([form for form in [*order, *FORMATS] if form in rows], key=lambda form: rows[form])
    return best, found[best], is_even and best in AMBIGUOUS


def _parsed(values: Any, form: str) -> NDArray[np.datetime64]:
    out = np.full(len(values), np.datetime64("NaT"), dtype="datetime64[us]")
    parts = pc.extract_regex(values, FORMATS[form])
    fits = np.flatnonzero(np.asarray(parts.is_valid()))
    if not len(fits):
        return out
    fields = {field.name: pc.struct_field(parts, field.name) for field in parts.type}
    text = {name: field.take(pa.array(fits)) for name, field in fields.items()}
    year, month = _year(text["y"]), _month(text)
    day = _whole(text["d"]) if "d" in text else np.ones(len(fits), np.int64)
    ok = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    start = ((year - 1970) * 12 + np.where(ok, month, 1) - 1).astype("datetime64[M]")
    length = ((start + 1).astype("datetime64[D]") - start.astype("datetime64[D]")).astype(int)
    ok &= day <= length
    date = start.astype("datetime64[D]") + (day - 1)
    seconds, fine = _time(text, ok) if "H" in text else (np.zeros(len(fits), np.int64), ok)
    stamp = date.astype("datetime64[us]") + seconds.astype("timedelta64[us]")
    out[fits[fine]] = stamp[fine]
    return out


def _time(text: dict[str, Any], ok: NDArray[np.bool_]) -> tuple[NDArray[np.int64], Any]:
    """(microseconds since midnight in universal time, whether they are a time)."""
    hour, minute, second = _whole(text["H"]), _whole(text["M"]), _whole(text["S"])
    half = np.asarray(pc.utf8_lower(text["half"]).fill_null("").to_numpy(zero_copy_only=False))
    is_half = (half == "am") | (half == "pm")
    ok = ok & (hour <= 23) & (minute <= 59) & (second <= 60) & (~is_half | (hour <= 12))
    hour = np.where(is_half, hour % 12 + 12 * (half == "pm"), hour)
    fraction = _whole(pc.utf8_slice_codeunits(pc.utf8_rpad(text["f"], 6, "0"), 0, 6))
    zone = pc.replace_substring(text["zone"], ":", "")
    is_shift = pc.match_substring_regex(zone, "^[+-]")
    shift = pc.if_else(is_shift, zone, pa.scalar(None, zone.type))
    minutes = _whole(pc.utf8_slice_codeunits(shift, 1, 3)) * 60
    minutes += _whole(pc.utf8_slice_codeunits(shift, 3, 5))
    sign = np.where(np.asarray(pc.starts_with(shift, "-").fill_null(False)), -1, 1)
    total = (hour * 60 + minute - sign * minutes) * 60 + second
    return (total * MICRO + fraction).astype(np.int64), ok


def _year(text: Any) -> NDArray[np.int64]:
    """Of two digits, 68 is 2068 and 69 is 1969, as everywhere."""
    year = _whole(text)
    is_short = np.asarray(pc.equal(pc.utf8_length(text), 2).fill_null(False))
    return np.where(is_short, year + np.where(year <= 68, 2000, 1900), year)


def _month(text: dict[str, Any]) -> NDArray[np.int64]:
    if "m" in text:
        return _whole(text["m"])
    names = pc.utf8_slice_codeunits(pc.utf8_lower(text["name"]), 0, 3)
    places = pc.index_in(names, value_set=pa.array(MONTHS, names.type))
    return np.asarray(places.fill_null(-1)).astype(np.int64) + 1


def _whole(text: Any) -> NDArray[np.int64]:
    """Whole numbers of digits, 0 where there are none."""
    digits = pc.if_else(pc.equal(pc.utf8_length(text), 0), pa.scalar(None, text.type), text)
    return np.asarray(digits.cast(pa.int64()).fill_null(0)).astype(np.int64)
