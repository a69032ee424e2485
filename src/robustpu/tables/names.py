"""Names of columns: unique texts, and the sign that a header is missing."""

import re
from collections.abc import Sequence
from typing import Any, Final

from robustpu.tables.errors import TableError, listed

NUMBER: Final = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*%?")
# A name is for reading.
LONGEST: Final = 500
ADVICE: Final = (
    "Add a line with column names at the top, or say header=False (--no-header) to have the "
    "columns called 'column 1', 'column 2', ..."
)


def tidied(names: Sequence[Any]) -> tuple[list[str], list[str]]:
    """(names, notes): every column with a name of its own.

    Parameters
    ----------
    names
        As they came.

    Examples
    --------
    >>> tidied(["a", "a", " b", ""])[0]
    ['a', 'a (2)', 'b', 'column 4']
    """
    plain = [_text(name).strip() for name in names]
    filled = [name or f"column {place}" for place, name in enumerate(plain, 1)]
    out: list[str] = []
    seen = set(filled)
    used: set[str] = set()
    for name in filled:
        new, count = name, 1
        while new in used or (new != name and new in seen):
            count += 1
            new = f"{name} ({count})"
        used.add(new)
        out.append(new)
    notes = []
    nameless = plain.count("")
    if nameless:
        notes.append(f"{nameless:,} columns without a name were called by their place")
    renamed = [new for new, name in zip(out, filled, strict=True) if new != name]
    if renamed:
        notes.append(f"column names that came again were numbered: {listed(renamed)}")
    return out, notes


def refuse_data(names: Sequence[str], source: str) -> None:
    """Raise TableError if a header looks like a row of data.

    Examples
    --------
    >>> refuse_data(["5.1", "3.5", "setosa"], "iris.csv")
    Traceback (most recent call last):
    robustpu.tables.errors.TableError: iris.csv seems to have no header: its first row has the ...
    """
    plain = [name.strip() for name in names]
    numbers = [name for name in plain if NUMBER.fullmatch(name)]
    fractions = [name for name in numbers if not name.isdigit()]
    # Years and other whole numbers name columns of some tables, fractions do not.
    all_numbers = bool(numbers) and len(numbers) == sum(name != "" for name in plain)
    if all_numbers or fractions:
        raise TableError(
            f"{source} seems to have no header: its first row has the values "
            f"{listed(fractions or numbers, 3)}, which are no column names. {ADVICE}"
        )
    if len(plain) >= 4 and len(set(plain)) <= 0.75 * len(plain) and any(plain):
        raise TableError(
            f"{source} seems to have no header: its first row holds {len(plain)} cells but only "
            f"{len(set(plain))} different ones: {listed(plain)}. {ADVICE}"
        )


def _text(name: Any) -> str:
    if isinstance(name, tuple):
        return " ".join(_text(part) for part in name)
    try:
        return str(name).encode("utf-8", "replace").decode()[:LONGEST]
    except Exception as error:
        raise TableError(
            f"a column name of type {type(name).__name__} is no text. Rename the column."
        ) from error
