"""Columns that number or name the rows, and so say nothing about them."""

import re
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.tables.texts import Coded

# Fewer rows than this may differ by chance.
FEWEST: Final = 20
STRICT: Final = frozenset({"id", "ids", "uuid", "guid", "key", "pk", "identifier", "rowid", "hash"})
LOOSE: Final = STRICT | {
    "no",
    "nr",
    "num",
    "number",
    "index",
    "idx",
    "row",
    "serial",
    "ref",
    "code",
}
UUID: Final = r"^\{?[0-9a-fA-F]{8}-?(?:[0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}\}?$"
DIGITS: Final = 8
# What becomes of the index that pandas writes in front of the columns.
NAMELESS: Final = ("column 1", "Unnamed: 0", "index", "__index_level_0__")


def number_id(
    name: str, numbers: NDArray[np.float64], different: NDArray[np.float64]
) -> str | None:
    """Why a column of whole numbers is taken for an id, or None.

    Parameters
    ----------
    name
        Of the column.
    numbers
        The numbers, none missing, shape (n,).
    different
        The different ones, sorted.

    Examples
    --------
    >>> number_id("row", np.arange(100.0), np.arange(100.0))
    'row numbers'
    >>> number_id("price", np.arange(100.0) * 10, np.arange(100.0) * 10) is None
    True
    """
    if len(numbers) < FEWEST:
        return None
    if len(different) < len(numbers):
        if is_named_id(name) and len(different) > 0.5 * len(numbers):
            return "whole numbers, most of them different, under the name of an id"
        return None
    low, high = float(different[0]), float(different[-1])
    if low in (0, 1) and high - low + 1 == len(numbers):
        return "row numbers"
    if words(name) & LOOSE:
        return "whole numbers, all different, under the name of an id"
    if name in NAMELESS and bool((np.diff(numbers) > 0).all()):
        return "ascending whole numbers without a name, as of an index"
    n_digits = len(str(int(low)))
    if n_digits >= DIGITS and n_digits == len(str(int(high))):
        return f"whole numbers of {n_digits} digits, all different"
    return None


def text_id(name: str, cells: Coded) -> str | None:
    """Why a column of texts is taken for an id, or None.

    Parameters
    ----------
    name
        Of the column.
    cells
        Its texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from robustpu.tables.texts import coded
    >>> text_id("x", coded(pa.chunked_array([[f"A{place}" for place in range(50)]])))
    'single words, nearly all different'
    """
    n_present = int((cells.codes >= 0).sum())
    n_different = len(cells.values)
    if n_present < FEWEST or n_different <= 0.5 * n_present:
        return None
    if _share(cells.values, UUID) > 0.9:
        return "identifiers such as UUIDs"
    # Names and notes differ as well, but are made of words.
    is_single = _share(cells.values, r"^\S+$") > 0.95
    if is_single and is_named_id(name):
        return "most texts different, under the name of an id"
    if is_single and n_different >= 0.95 * n_present:
        return "single words, nearly all different"
    return None


def is_named_id(name: str) -> bool:
    """Whether a column calls itself an id.

    Examples
    --------
    >>> is_named_id("customerId"), is_named_id("paid")
    (True, False)
    """
    return bool(words(name) & STRICT)


def words(name: str) -> set[str]:
    """The words of a column name in small letters.

    Examples
    --------
    >>> sorted(words("customerId no"))
    ['customer', 'id', 'no']
    """
    parted = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return set(re.split(r"[^a-z0-9]+", parted.lower()))


def _share(values: Any, pattern: str) -> float:
    mean = pc.mean(pc.match_substring_regex(values, pattern)).as_py()
    return float(mean or 0.0)
