"""JSON lines, one object a line, or a JSON list of objects; batch by batch."""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from robustpu.tables.errors import TableError, shown
from robustpu.tables.objects import column_of
from robustpu.tables.plain import DEPTH
from robustpu.tables.records import LONGEST
from robustpu.tables.regroup import ROWS, rows_of
from robustpu.tables.streams import Stream

BETWEEN: Final = re.compile(r"[\s,]*")


def json_batches(stream: Stream, rows: int | None = None) -> Iterator[dict[str, Any]]:
    """Columns by name, ``rows`` rows at a time; a key that a row lacks is missing there.

    Parameters
    ----------
    stream
        UTF-8 text.
    rows
        Rows of a batch; by the columns of the first rows, if None.

    Examples
    --------
    >>> import io
    >>> stream = Stream(io.BytesIO(b'{"a": 1}\\n{"b": "x"}\\n').read, "a.jsonl")
    >>> [{name: column.to_pylist() for name, column in part.items()}
    ...  for part in json_batches(stream, 10)]
    [{'a': [1, None], 'b': [None, 'x']}]
    """
    is_list = stream.peek(1 << 10).lstrip().startswith(b"[")
    found: list[dict[str, Any]] = []
    for place, value in _of_list(stream) if is_list else _of_lines(stream):
        if not isinstance(value, dict):
            raise TableError(
                f"{stream.name}, {place}: expected a JSON object such as "
                f'{{"amount": 5, "label": 1}}, came {shown(value)}.'
            )
        found.append(value)
        if rows is None and len(found) == ROWS[0]:
            rows = rows_of(len({path for row in found for path in _paths(row)}))
        if len(found) == rows:
            yield _columns(found)
            found = []
    if found:
        yield _columns(found)


def _of_lines(stream: Stream) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(_lines(stream), 1):
        if len(line) > LONGEST:
            raise _too_long(f"{stream.name}, line {number:,}")
        if not line or line.isspace():
            continue
        try:
            yield f"line {number:,}", json.loads(line)
        except (ValueError, RecursionError) as error:
            raise TableError(
                f"{stream.name}, line {number:,}: expected one JSON object, came "
                f"{shown(line.decode('utf-8', 'replace').strip())}. Write one object a line, or a "
                "list of objects."
            ) from error


def _too_long(where: str) -> TableError:
    return TableError(
        f"{where}: a row is longer than {LONGEST >> 20} MB. Write one object a line, or a list of "
        "objects."
    )


def _lines(stream: Stream) -> Iterator[bytes]:
    rest: list[bytes] = []
    while more := stream.read(1 << 20):
        *lines, tail = more.split(b"\n")
        if lines:
            yield b"".join([*rest, lines[0]])
            yield from lines[1:]
            rest = []
        rest.append(tail)
        if sum(map(len, rest)) > LONGEST:
            # No more is unpacked: its caller refuses it.
            break
    yield b"".join(rest)


def _of_list(stream: Stream) -> Iterator[tuple[str, Any]]:
    """The objects of a list, which is never in memory as a whole."""
    decoder = json.JSONDecoder()
    text, at, count = _letters(stream).decode("utf-8", "replace").lstrip(), 1, 0
    while True:
        at = BETWEEN.match(text, at).end()  # type: ignore[union-attr]
        if text[at : at + 1] == "]":
            return
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            if len(text) - at > LONGEST:
                raise _too_long(f"{stream.name}, object {count + 1:,}") from error
            more = _letters(stream)
            if not more:
                raise TableError(
                    f"{stream.name}: object {count + 1:,} of the list is not complete: "
                    f"{shown(text[at:].strip())}. Expected a list of objects, or one object a line."
                ) from error
            text, at = text[at:] + more.decode("utf-8", "replace"), 0
            continue
        count += 1
        yield f"object {count:,}", value


def _letters(stream: Stream) -> bytes:
    """More text, which does not end within a letter."""
    more = stream.read(1 << 20)
    while more and more[-1] >= 0x80 and (byte := stream.read(1)):
        more += byte
    return more


def _paths(value: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where the cells of a row are, those of objects in it too."""
    for name, item in value.items():
        if isinstance(item, dict) and len(above) < DEPTH:
            yield from _paths(item, (*above, name))
        else:
            yield (*above, name)


def _columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {name: column_of([row.get(name) for row in rows]) for name in names}
