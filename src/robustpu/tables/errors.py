"""One kind of error for all that can be wrong with a table."""

import sys
from typing import Final

# Packages between a user and a table: scikit-learn wraps methods, and calls those in pipelines.
BETWEEN: Final = frozenset({"robustpu", "sklearn", "joblib"})


class TableError(ValueError):
    """A table cannot be read or used; the message says what came, what was expected, what to do."""


class TableWarning(UserWarning):
    """A table differs from the one that was fitted, and can be used all the same."""


def depth_of_user() -> int:
    """``stacklevel`` that has a warning of the caller point at what the user wrote.

    Examples
    --------
    >>> mine = {"__name__": "mine", "depth_of_user": depth_of_user}
    >>> exec("depth = depth_of_user()", mine)
    >>> mine["depth"]
    1
    """
    frame = sys._getframe(1)
    depth = 1
    while frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN and frame.f_back:
        frame, depth = frame.f_back, depth + 1
    return depth


def shown(value: object, most: int = 40) -> str:
    """Text for a message: a value in quotes, cut where it is long.

    Examples
    --------
    >>> shown("a" * 100, most=5)
    "'aaaaa…'"
    """
    text = str(value)
    return repr(text if len(text) <= most else text[:most] + "…")


def many(count: int, noun: str) -> str:
    """Text for a message: a number of things.

    Examples
    --------
    >>> many(1, "row"), many(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {noun}{'s' * (count != 1)}"


def listed(values: list[str], most: int = 5) -> str:
    """Text for a message: some values in quotes, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    some = ", ".join(shown(value) for value in values[:most])
    return some + (f" and {len(values) - most:,} more" if len(values) > most else "")
