"""Numbers that were written as text: 1,234.5 or 1.234,5 or € 5 or 12 %."""

from typing import Any, Final, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Decimal: TypeAlias = Literal[".", ","]
PLAIN: Final = r"^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?$"
MONEY: Final = (
    "(?:[€$£¥₹₽₩₺₴₿\u00a2]|US\\$|(?i:EUR|USD|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK))"
)
# Sign, currency and spaces in any order before the digits, currency or per cent after them.
SHELL: Final = (
    rf"^(?P<open>\()?\s*(?P<sign>[+−-])?\s*{MONEY}?\s*(?P<again>[+−-])?\s*"
    rf"(?P<digits>[0-9.,][0-9.,  '’\x{{a0}}\x{{202f}}]*?)"
    rf"\s*{MONEY}?\s*(?P<percent>%)?\s*\)?$"
)
SPACE: Final = r"[ '’\x{a0}\x{202f}]"
GROUPED: Final = {
    ".": rf"^[0-9]{{1,3}}(?:(?:,[0-9]{{3}})+|(?:{SPACE}[0-9]{{3}})+)(?:\.[0-9]*)?$",
    ",": rf"^[0-9]{{1,3}}(?:(?:\.[0-9]{{3}})+|(?:{SPACE}[0-9]{{3}})+)(?:,[0-9]*)?$",
}
SIMPLE: Final = {".": r"^(?:[0-9]+\.?[0-9]*|\.[0-9]+)$", ",": r"^(?:[0-9]+,?[0-9]*|,[0-9]+)$"}


def parse_numbers(values: Any, decimal: Decimal = ".") -> NDArray[np.float64]:
    """Numbers of texts, NaN where a text is none.

    Parameters
    ----------
    values
        Arrow array of trimmed texts, shape (n,).
    decimal
        The decimal mark: with ",", 1.234,5 is a number and 1.234 is a thousand and more.

    Examples
    --------
    >>> parse_numbers(pa.array(["1,234.5", "€ 5", "12 %", "(3)", "x"])).tolist()
    [1234.5, 5.0, 0.12, -3.0, nan]
    >>> parse_numbers(pa.array(["1.234,5"]), decimal=",").tolist()
    [1234.5]
    """
    out = np.full(len(values), np.nan)
    is_plain = _true(pc.match_substring_regex(values, PLAIN))
    if decimal == ",":
        # 1.234 is grouped here, not a fraction.
        is_plain &= ~_true(pc.match_substring(values, "."))
    out[is_plain] = _floats(values.filter(pa.array(is_plain)))
    rest = np.flatnonzero(~is_plain)
    if len(rest):
        out[rest] = _formatted(values.take(pa.array(rest)), decimal)
    out[~np.isfinite(out)] = np.nan
    return out


def read_numbers(values: Any, decimal: Decimal) -> NDArray[np.float64]:
    """Numbers of texts; those that are none with this decimal mark are read with the other.

    So 129,0 is the same number in training and at prediction, whichever mark was more frequent.

    Parameters
    ----------
    values
        Arrow array of trimmed texts, shape (n,).
    decimal
        The mark that is tried first: 1,234 is a number with either.

    Examples
    --------
    >>> read_numbers(pa.array(["129.0", "129,0", "1,234", "x"]), ".").tolist()
    [129.0, 129.0, 1234.0, nan]
    """
    numbers = parse_numbers(values, decimal)
    rest = np.flatnonzero(np.isnan(numbers))
    if len(rest):
        numbers[rest] = parse_numbers(values.take(pa.array(rest)), "," if decimal == "." else ".")
    return numbers


def find_decimal(values: Any, counts: NDArray[np.int64]) -> tuple[Decimal, NDArray[np.float64]]:
    """(decimal mark, numbers): the mark with which more rows are numbers; the point if even.

    The numbers are those of `read_numbers`.

    Parameters
    ----------
    values
        Arrow array of different texts, shape (k,).
    counts
        Rows that have each, shape (k,).

    Examples
    --------
    >>> find_decimal(pa.array(["1,5", "2.000,25"]), np.array([1, 1]))[0]
    ','
    """
    with_point = parse_numbers(values, ".")
    if np.isfinite(with_point).all() or not _true(pc.match_substring(values, ",")).any():
        return ".", with_point
    with_comma = parse_numbers(values, ",")
    rows_point = int(counts[np.isfinite(with_point)].sum())
    rows_comma = int(counts[np.isfinite(with_comma)].sum())
    if rows_comma > rows_point:
        return ",", np.where(np.isnan(with_comma), with_point, with_comma)
    return ".", np.where(np.isnan(with_point), with_comma, with_point)


def _formatted(values: Any, decimal: Decimal) -> NDArray[np.float64]:
    parts = pc.extract_regex(values, SHELL)
    digits = pc.struct_field(parts, "digits")
    is_number = _true(
        pc.or_(
            pc.match_substring_regex(digits, GROUPED[decimal]),
            pc.match_substring_regex(digits, SIMPLE[decimal]),
        )
    )
    # "," alone is simple but no number.
    is_number &= _true(pc.match_substring_regex(digits, "[0-9]"))
    plain = pc.replace_substring_regex(digits, rf"{SPACE}|{',' if decimal == '.' else '[.]'}", "")
    plain = pc.replace_substring(plain, ",", ".")
    out = np.full(len(values), np.nan)
    out[is_number] = _floats(plain.filter(pa.array(is_number)))
    for name, factor in (("open", -1.0), ("sign", -1.0), ("again", -1.0), ("percent", 0.01)):
        mark = pc.struct_field(parts, name)
        counts = _true(pc.is_in(mark, value_set=pa.array(["(", "-", "−", "%"], mark.type)))
        out[counts] *= factor
    return out


def _floats(values: Any) -> NDArray[np.float64]:
    plain = pc.replace_substring_regex(values, r"^\+", "")
    return np.asarray(plain.cast(pa.float64()), dtype=np.float64)


def _true(mask: Any) -> NDArray[np.bool_]:
    return np.asarray(mask.fill_null(False), dtype=np.bool_)
