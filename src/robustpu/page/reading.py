"""Findings -> values of the wanted type; what is missing or of another type counts as not said.

A page is drawn from a file that may be old, damaged or made by hand: it draws what it can.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from robustpu.unseen import shown

Part: TypeAlias = Mapping[str, Any]

LONGEST: Final = 400
LARGEST: Final = 1e15


def part(of: Part, key: str) -> Part:
    """The section of that name; empty if there is none.

    Examples
    --------
    >>> len(part({"data": None}, "data"))
    0
    """
    found = of.get(key)
    return found if isinstance(found, Mapping) else {}


def parts(of: Part, key: str) -> list[Part]:
    """The sections in the list of that name.

    Examples
    --------
    >>> len(parts({"top": [{"k": 10}, None, 3]}, "top"))
    1
    """
    found = of.get(key)
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def number(of: Part, key: str) -> float | None:
    """The number of that name, if it is one that can be drawn.

    Examples
    --------
    >>> number({"k": 10}, "k"), number({"k": float("nan")}, "k"), number({"k": "10"}, "k")
    (10.0, None, None)
    """
    return _number(of.get(key))


def numbers(of: Part, key: str) -> list[float | None]:
    """The numbers in the list of that name, with gaps.

    Examples
    --------
    >>> numbers({"score": [0.5, None, 1]}, "score")
    [0.5, None, 1.0]
    """
    return _numbers(of.get(key))


def rows(of: Part, key: str) -> list[list[float]]:
    """The lists of counts in the list of that name; what is no count is a zero.

    Examples
    --------
    >>> rows({"weights": [[1, 2], None, [3, None, -1]]}, "weights")
    [[1.0, 2.0], [], [3.0, 0.0, 0.0]]
    """
    found = of.get(key)
    lists = found if isinstance(found, list) else []
    return [[max(value or 0.0, 0.0) for value in _numbers(each)] for each in lists]


def text(of: Part, key: str) -> str:
    """The text of that name, on one line; empty if there is none. Not escaped.

    Examples
    --------
    >>> text({"name": "claims\\n2024"}, "name"), text({}, "name")
    ('claims 2024', '')
    """
    return plain(of.get(key))


def texts(of: Part, key: str) -> list[str]:
    """The texts in the list of that name that are not empty.

    Examples
    --------
    >>> texts({"notes": ["a", None, ""]}, "notes")
    ['a']
    """
    found = of.get(key)
    lines = [plain(each) for each in found] if isinstance(found, list) else []
    return [line for line in lines if line]


def pairs(of: Part, key: str) -> dict[str, str]:
    """Names and texts in the section of that name.

    Examples
    --------
    >>> pairs({"versions": {"python": "3.11", "torch": None}}, "versions")
    {'python': '3.11', 'torch': ''}
    """
    return {plain(name): plain(value) for name, value in part(of, key).items()}


def plain(value: object) -> str:
    """A value as one line of text that every file can hold; None is empty.

    Examples
    --------
    >>> plain(None), plain(True), plain(0.5), plain(["a", 1]), plain("a" * 500)[-3:]
    ('', 'yes', '0.5', 'a, 1', 'aa…')
    """
    if isinstance(value, list):
        return ", ".join(map(_scalar, value[:20]))
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, str | int | float):
        return ""
    # Digits of whole numbers are limited in Python; such a number is no sensible value.
    line = "…" if isinstance(value, int) and abs(value) > LARGEST**2 else str(value)
    line = shown(" ".join(line[: 2 * LONGEST].split()))
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # Compared first: an enormous whole number is no float.
    return float(value) if abs(value) <= LARGEST and not math.isnan(value) else None


def _numbers(found: object) -> list[float | None]:
    return [_number(each) for each in found] if isinstance(found, list) else []
