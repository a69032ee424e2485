"""Texts of strangers, made safe to show: one line, of limited length, without hidden characters."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar

from robustpu.validation.sanitize import shown

LONGEST: Final = 400

T = TypeVar("T")


def one_line(text: str) -> str:
    """A text on one line, without characters that a file cannot hold or that hide others.

    Examples
    --------
    >>> one_line("claims\\n2024"), one_line("a" * 500)[-3:]
    ('claims 2024', 'aa…')
    """
    line = shown(" ".join(text[: 2 * LONGEST].split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def map_texts(value: T, change: Callable[[str], str]) -> T:
    """Apply a function to all texts inside of a value, keys of mappings included.

    Parameters
    ----------
    value
        A dataclass, list, tuple, mapping or scalar.
    change
        What to do with a text.

    Examples
    --------
    >>> map_texts((1, {"a": "b"}), str.upper)
    (1, {'A': 'B'})
    """
    new: Any = value
    if isinstance(value, str):
        new = change(value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        new = type(value)(**{name: map_texts(part, change) for name, part in parts.items()})
    elif isinstance(value, tuple | list):
        new = type(value)(map_texts(item, change) for item in value)
    elif isinstance(value, Mapping):
        new = {map_texts(key, change): map_texts(item, change) for key, item in value.items()}
    same: T = new
    return same
