"""How a delimited text is laid out: its delimiter and its column names, found in a sample."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Final

from robustpu.tables.errors import TableError, listed, shown
from robustpu.tables.names import refuse_data, tidied

COMMON: Final = (",", ";", "\t", "|")
# Found in prose as well: taken only where every row agrees.
RARE: Final = ("~", "^", ":", " ")
WORDS: Final = {"\t": "tab", " ": "space", "|": "'|'"}
ROWS: Final = 300


@dataclass(frozen=True)
class Layout:
    """What is known of a delimited text before it is read.

    Attributes
    ----------
    delimiter
        One character.
    names
        Of the columns.
    has_header
        Whether the first row has them.
    notes
        What was noticed.
    newline
        The last byte of a line end.
    """

    delimiter: str
    names: tuple[str, ...]
    has_header: bool
    notes: tuple[str, ...]
    newline: bytes = b"\n"


def find_layout(
    sample: str,
    source: str,
    *,
    is_whole: bool,
    delimiter: str | None = None,
    header: bool = True,
) -> Layout:
    """The layout of a text of which the start is given.

    Parameters
    ----------
    sample
        The start of the text.
    source
        What to call it in messages.
    is_whole
        Whether the sample is the whole text, so that its last line is complete.
    delimiter
        One character; found out by default.
    header
        Whether the first row has the names.

    Examples
    --------
    >>> layout = find_layout("a;b\\n1,5;2,5\\n", "a.csv", is_whole=True)
    >>> layout.delimiter, layout.names
    (';', ('a', 'b'))
    """
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n' or delimiter > "~"):
        raise TableError(
            f"delimiter={delimiter!r} is not one character, such as ',', ';' or '\\t' (tab)."
        )
    found = _found(sample, is_whole)
    notes = []
    if delimiter is None:
        delimiter = found or ","
        _refuse_doubled(sample, source, delimiter, is_whole)
        # A comma is what everybody expects, and a tab in a file that is called so.
        is_usual = found == "," or (found == "\t" and ".tsv" in source.lower())
        if found and not is_usual:
            notes.append(f"delimiter: {WORDS.get(found, repr(found))}")
        elif not found:
            notes.append("one column only: no delimiter was found")
    first = next((row for row in _rows(sample, delimiter, is_whole) if row), None)
    if first is None:
        raise TableError(
            f"{source}: the first row has no end; most likely a double quote is opened and never "
            "closed. Expected a line with column names."
        )
    if len(first) == 1 and found not in (None, delimiter):
        raise TableError(
            f"{source} has one column only with delimiter={delimiter!r}, {shown(first[0])}. "
            f"It seems to be delimited by {WORDS.get(found or '', repr(found))}: give that one, or "
            "none to have it found out."
        )
    if header:
        refuse_data(first, source)
        names, more = tidied(first)
        notes += more
    else:
        names = [f"column {place}" for place in range(1, len(first) + 1)]
    newline = b"\n" if "\n" in sample else b"\r"
    return Layout(delimiter, tuple(names), header, tuple(notes), newline)


def refuse_noise(sample: str, source: str) -> None:
    """Raise TableError if a text is no text, or a web page.

    Examples
    --------
    >>> refuse_noise("\\x00\\x01\\x02", "a.csv")
    Traceback (most recent call last):
    robustpu.tables.errors.TableError: a.csv is not a table: ...
    """
    odd = len(re.findall("[\x00-\x08\x0e-\x1f\x7f\ufffd]", sample))
    if "\x00" in sample or odd > 0.01 * len(sample) + 2:
        raise TableError(
            f"{source} is not a table: it holds bytes that are no text. Expected CSV, TSV, JSON "
            "lines, Parquet or Feather, packed or not. If it is text, save it as UTF-8."
        )
    if re.match(r"\s*<(!doctype|html|\?xml|head|body)", sample, re.IGNORECASE):
        raise TableError(
            f"{source} is a web page or XML, expected a table. Download the file itself."
        )


def _refuse_doubled(sample: str, source: str, delimiter: str, is_whole: bool) -> None:
    """Raise TableError if the delimiter is always written twice, as in a::b."""
    # Between common ones an empty column is more likely.
    if delimiter in COMMON:
        return
    rows = [row for row in _rows(sample, delimiter, is_whole) if row]
    if len(rows) > 1 and all(len(row) > 2 and not any(row[1::2]) for row in rows):
        raise TableError(
            f"{source} seems to be delimited by {2 * delimiter!r}, expected one character, such as "
            "',', ';' or a tab. Replace it by one."
        )


def _found(sample: str, is_whole: bool) -> str | None:
    """The delimiter that gives most rows as many cells as the first one has."""
    scores = {mark: _score(sample, mark, is_whole) for mark in COMMON}
    best = max(scores, key=lambda mark: scores[mark])
    if scores[best] > (0.0, 0):
        return best
    rare = {mark: _score(sample, mark, is_whole) for mark in RARE}
    best = max(rare, key=lambda mark: rare[mark])
    return best if rare[best][0] == 1 and len(sample.strip().splitlines()) > 2 else None


def _score(sample: str, delimiter: str, is_whole: bool) -> tuple[float, int]:
    rows = [row for row in _rows(sample, delimiter, is_whole) if row]
    if not rows or len(rows[0]) < 2:
        return 0.0, 0
    width = len(rows[0])
    return sum(len(row) == width for row in rows) / len(rows), width


def _rows(sample: str, delimiter: str, is_whole: bool) -> Sequence[list[str]]:
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)
    rows = []
    # A quote that is not closed makes a cell that is too long for it.
    with suppress(csv.Error):
        for row in islice(reader, ROWS):
            rows.append(row)
    # The last row of a part may be cut.
    return rows if is_whole or len(rows) in (1, ROWS) else rows[:-1]


def describe_ragged(
    source: str, layout: Layout, number: int, cells: int, text: str, skip: str
) -> str:
    """The message for a row that has more or fewer cells than the header.

    Examples
    --------
    >>> layout = Layout(",", ("a", "b"), True, ())
    >>> print(describe_ragged("a.csv", layout, 3, 3, "1,2,3", "bad_rows='skip'"))
    a.csv, row 3: expected 2 cells, as in the first row ('a', 'b'), came 3: '1,2,3'. Put cells that
    hold the delimiter ',' into double quotes, or leave such rows out with bad_rows='skip'.
    """
    mark = WORDS.get(layout.delimiter, repr(layout.delimiter))
    return (
        f"{source}, row {number:,}: expected {len(layout.names)} cells, as in the first row "
        f"({listed(list(layout.names), 3)}), came {cells}: {shown(text, 60)}. Put cells that hold "
        f"the delimiter {mark} into double quotes, or leave such rows out with {skip}."
    )
