"""A strategy is given by its name or as a function."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


def pick(kind: str, value: str | Function, table: Mapping[str, Function]) -> Function:
    """Return ``value`` if it is callable, else ``table[value]``.

    Parameters
    ----------
    kind
        What the strategy is, for the error message: ``"hardness"``.
    value
        A name in ``table``, or a function of the same signature as its entries.
    table
        The functions by name.

    Returns
    -------
    function
        The strategy.

    Raises
    ------
    ValueError
        If ``value`` is neither callable nor a name in ``table``.

    Examples
    --------
    >>> pick("power", "square", {"square": lambda x: x * x})(3)
    9
    """
    if callable(value):
        return value
    if isinstance(value, str) and value in table:
        return table[value]
    close = get_close_matches(value.lower(), table, n=1) if isinstance(value, str) else []
    suggestion = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(
        f"unknown {kind} {value!r}: {suggestion}Give one of {', '.join(sorted(table))}, "
        "or a function of the same signature."
    )


def identity(value: Any) -> Any:
    """Return something hashable that is equal for parameters that mean the same.

    Examples
    --------
    >>> identity(partial(int, base=2)) == identity(partial(int, base=2))
    True
    """
    if isinstance(value, partial):
        return (value.func, repr(value.args), repr(sorted(value.keywords.items())))
    return value if isinstance(value, str | int | float | None) else id(value)
