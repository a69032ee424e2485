"""Text cells: each different one once, trimmed, and with one word for what is missing."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

# Written in small letters. Infinity is as little a number to learn from as none at all.
MISSING: Final = (
    *("", "na", "n/a", "n.a.", "nan", "-nan", "nat", "null", "none", "nil", "<na>", "(null)"),
    *("?", "-", "--", ".", "#n/a", "#na", "#null!", "#value!", "#ref!", "#div/0!", "#num!"),
    *("inf", "+inf", "-inf", "infinity", "+infinity", "-infinity"),
)
# Of these, those that are words in their own right, or names, somewhere.
WORDS: Final = ("na", "n/a", "n.a.", "nan", "nat", "null", "none", "nil")
TRUE: Final = ("true", "yes", "y", "t", "on", "1")
FALSE: Final = ("false", "no", "n", "f", "off", "0")
# Longer texts are read, and compared, by their first characters.
LONGEST: Final = 8_000
LARGE: Final = 1 << 30


@dataclass(frozen=True)
class Coded:
    """A text column as places in a list of its values.

    Attributes
    ----------
    codes
        Place of each row's value, -1 where it is missing, shape (n,).
    values
        The different values: an Arrow array of text, none of them missing.
    words
        Words such as none that were taken for missing, and how many rows have each.
    """

    codes: NDArray[np.int32]
    values: Any
    words: tuple[tuple[str, int], ...] = ()

    def counts(self) -> NDArray[np.int64]:
        """Rows that have each value, shape (number of values,)."""
        present = self.codes[self.codes >= 0]
        return np.bincount(present, minlength=len(self.values)).astype(np.int64)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers or dates of the different texts -> of the rows, missing where the text is.

        Parameters
        ----------
        values
            Shape (number of values,).

        Examples
        --------
        >>> Coded(np.array([1, -1, 0]), ["a", "b"]).spread(np.array([5.0, 6.0])).tolist()
        [6.0, nan, 5.0]
        """
        missing = np.datetime64("NaT") if values.dtype.kind == "M" else np.nan
        return np.append(values, np.array([missing], values.dtype))[self.codes]

    def booleans(self) -> NDArray[np.float64]:
        """1 for true, yes and the like, 0 for false, no and the like, else NaN, shape (n,)."""
        words = pc.utf8_lower(self.values)
        truth = np.full(len(words), np.nan)
        for number, known in ((1.0, TRUE), (0.0, FALSE)):
            truth[np.asarray(pc.is_in(words, value_set=pa.array(known, words.type)))] = number
        return self.spread(truth)


def coded(column: Any) -> Coded:
    """A column of text, coded.

    Parameters
    ----------
    column
        pyarrow.ChunkedArray of text, or of a dictionary of text.

    Examples
    --------
    >>> found = coded(pa.chunked_array([["a", " a", "n/a", None, "b"]]))
    >>> found.codes.tolist(), found.values.to_pylist()
    ([0, 0, -1, -1, 1], ['a', 'b'])
    """
    if pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    else:
        # All chunks get the same dictionary.
        column = column.dictionary_encode()
    if not column.num_chunks:
        return Coded(np.empty(0, np.int32), pa.array([], pa.string()))
    raw = column.chunk(0).dictionary
    places = [_indices(chunk) for chunk in column.chunks]
    trimmed = pc.utf8_trim_whitespace(as_text(raw))
    trimmed = pc.utf8_slice_codeunits(trimmed, 0, LONGEST)
    # So are 1 and 1.0, in one file a number and in the next one a text.
    trimmed = pc.replace_substring_regex(trimmed, r"^(-?[0-9]+)\.0+$", r"\1")
    is_missing = pc.is_in(pc.utf8_lower(trimmed), value_set=pa.array(MISSING, trimmed.type))
    kept = pc.if_else(is_missing, pa.scalar(None, trimmed.type), trimmed)
    again = kept.dictionary_encode()
    # One more place, for -1.
    target = np.append(_indices(again), np.int32(-1)).astype(np.int32)
    rows = np.concatenate(places)
    return Coded(target[rows], again.dictionary, _words(trimmed, rows))


def _words(texts: Any, rows: NDArray[np.int32]) -> tuple[tuple[str, int], ...]:
    """Words among the texts that were taken for missing, and how many rows have them."""
    known = pc.is_in(pc.utf8_lower(texts), value_set=pa.array(WORDS, texts.type))
    found: dict[str, int] = {}
    for place in np.flatnonzero(np.asarray(known)):
        word = texts[int(place)].as_py()
        found[word] = found.get(word, 0) + int((rows == place).sum())
    return tuple(found.items())


def as_text(column: Any) -> Any:
    """Text of the cells, written in one way only: 1 and 1.0 are "1", True is "true".

    Examples
    --------
    >>> as_text(pa.array([1.0, 2.5])).to_pylist(), as_text(pa.array([True])).to_pylist()
    (['1', '2.5'], ['true'])
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_text(column.cast(kind.value_type))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.large_string()) if column.nbytes > LARGE else column
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number_text(column.cast(pa.float64(), safe=False))
    try:
        return column.cast(pa.string())
    except pa.ArrowException:
        words = [None if value is None else str(value) for value in column.to_pylist()]
        return pa.array(words, pa.string())


def _number_text(column: Any) -> Any:
    """Numbers as Python writes them, whole ones without a point."""
    words = [
        None if value is None else str(int(value)) if _is_whole(value) else repr(value)
        for value in column.to_pylist()
    ]
    return pa.array(words, pa.string())


def _is_whole(value: float) -> bool:
    return abs(value) < 2**53 and value == int(value)


def _indices(encoded: Any) -> NDArray[np.int32]:
    places = encoded.indices.fill_null(-1) if encoded.indices.null_count else encoded.indices
    return np.asarray(places).astype(np.int32, copy=False)
