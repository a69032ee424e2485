"""A delimited text cut into blocks that end where a record ends.

Arrow has a reader of its own for parts of a file. But it reads ahead in another thread, and when a
row was wrong that thread can wait for itself, and the program never ends. So blocks are cut here
and read one by one.
"""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.errors import TableError, shown
from robustpu.tables.streams import Stream

BLOCK: Final = 1 << 20
# A record that is longer has no end.
LONGEST: Final = 32 << 20
QUOTE: Final = ord('"')


def blocks(stream: Stream, delimiter: str, newline: bytes, size: int = BLOCK) -> Iterator[bytes]:
    """Blocks of about ``size`` bytes, each of whole records.

    Parameters
    ----------
    stream
        UTF-8 text.
    delimiter
        One ASCII character.
    newline
        The last byte of a line end.
    size
        Bytes to read at a time.

    Examples
    --------
    >>> import io
    >>> stream = Stream(io.BytesIO(b'a,"b\\nc"\\nd,e\\n').read, "a.csv")
    >>> [len(block) for block in blocks(stream, ",", b"\\n", size=5)]
    [8, 4]
    """
    rest = b""
    while True:
        data = stream.read(size)
        whole = rest + data
        opens, closes = quoted(whole, delimiter)
        is_open = len(opens) > len(closes)
        if len(data) < size and not is_open:
            if whole:
                yield whole
            return
        cut = _last_end(whole, newline, opens, closes)
        if is_open and (len(data) < size or (not cut and len(whole) > LONGEST)):
            cell = whole[int(opens[-1]) : int(opens[-1]) + 100].decode("utf-8", "replace")
            raise TableError(
                f"{stream.name}: a double quote is opened and never closed: {shown(cell)}. Close "
                "it, or double it where it is part of the text."
            )
        if not cut and len(whole) > LONGEST:
            raise TableError(
                f"{stream.name}: a row is longer than {LONGEST >> 20} MB. Expected lines of text."
            )
        if cut:
            yield whole[:cut]
        rest = whole[cut:]


def quoted(data: bytes, delimiter: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """(places where quotes are opened, places where they are closed) in whole records.

    A quote opens a cell only at its very start; elsewhere it is a letter, as in 5" disk.

    Examples
    --------
    >>> [cells.tolist() for cells in quoted(b'1,"a, b",5" disk', ",")]
    [[2], [7]]
    """
    letters = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(letters == QUOTE)
    starts = np.array([ord(delimiter), 10, 13], np.uint8)
    opens, closes = places[0::2], places[1::2]
    before = letters[np.maximum(opens - 1, 0)]
    is_start = (opens == 0) | np.isin(before, starts)
    # Two quotes in a row are one that does not close: it closes and opens again at once.
    is_double = np.zeros(len(opens), bool)
    is_double[1:] = opens[1:] == closes[: len(opens) - 1] + 1
    if (is_start | is_double).all():
        return opens, closes
    return _one_by_one(letters, places, starts)


def _one_by_one(
    letters: NDArray[np.uint8], places: NDArray[Any], starts: NDArray[np.uint8]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """What `quoted` gives, where some quotes are letters."""
    opens: list[int] = []
    closes: list[int] = []
    can_open = np.isin(letters[np.maximum(places - 1, 0)], starts) | (places == 0)
    known = list(zip(places.tolist(), can_open.tolist(), strict=True))
    at = 0
    while at < len(known):
        place, is_start = known[at]
        at += 1
        if len(opens) == len(closes):
            opens += [place] * is_start
        elif at < len(known) and known[at][0] == place + 1:
            at += 1
        else:
            closes.append(place)
    return np.array(opens, int), np.array(closes, int)


def _last_end(data: bytes, newline: bytes, opens: NDArray[Any], closes: NDArray[Any]) -> int:
    """Where the last whole record ends, 0 if there is none."""
    end = len(data)
    while True:
        place = data.rfind(newline, 0, end)
        if place < 0:
            return 0
        span = int(np.searchsorted(opens, place)) - 1
        if span < 0 or (span < len(closes) and closes[span] < place):
            return place + 1
        end = int(opens[span])
