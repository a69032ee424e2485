"""Python objects of any kind as a column."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa

from robustpu.tables.errors import TableError

PLAIN: Final = (str, int, float, bool, type(None))
NESTED: Final = (list, tuple, dict)
NUMBERS: Final = frozenset({int, float})
# pandas has two more words for what is missing; it is not imported for them.
NOTHING: Final = frozenset({"NoneType", "NaTType", "NAType"})


def column_of(values: Iterable[Any]) -> Any:
    """An Arrow array of the values; of several types in one column text is made.

    Examples
    --------
    >>> column_of([1, None, 2.5]).to_pylist(), column_of([1, None, "a"]).to_pylist()
    ([1.0, None, 2.5], ['1', None, 'a'])
    """
    if isinstance(values, np.ndarray) and values.dtype != object and values.ndim == 1:
        cells: Any = values
        is_known = True
    else:
        cells = list(values)
        is_known = _are_alike({type(cell) for cell in cells}, cells)
        if not is_known:
            cells = [None if _is_missing(cell) else cell for cell in cells]
            is_known = _are_alike({type(cell) for cell in cells}, cells)
    if is_known:
        try:
            return pa.array(cells, from_pandas=True)
        except Exception:
            # Whatever Arrow has against them: they are text then.
            pass
    return pa.array([_text(cell) for cell in cells], pa.large_string())


def _are_alike(types: set[type], cells: list[Any]) -> bool:
    """Whether Arrow is safe to be given the cells: some mixtures of types make it crash."""
    found = types - {type(None)}
    if found & set(NESTED):
        return all(_is_plain(cell) for cell in cells)
    return len(found) <= 1 or found <= NUMBERS


def _is_plain(value: Any, depth: int = 20) -> bool:
    """Whether a value could have come out of JSON."""
    if type(value) in PLAIN:
        return True
    if type(value) not in NESTED or not depth:
        return False
    parts = [*value, *value.values()] if isinstance(value, dict) else value
    return all(_is_plain(part, depth - 1) for part in parts)


def _is_missing(value: Any) -> bool:
    if type(value).__name__ in NOTHING:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _text(value: Any) -> str | None:
    if _is_missing(value):
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception as error:
        raise TableError(
            f"a cell holds an object of type {type(value).__name__}, which has no text. Expected "
            "numbers, texts, booleans or dates: drop the column, or convert it."
        ) from error
