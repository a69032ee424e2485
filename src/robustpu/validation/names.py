"""A strategy is given by its name or as a function."""

from collections.abc import Callable, Iterable, Mapping
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
    hint = suggest(value, table).removesuffix(".")
    raise ValueError(f"unknown {kind} {value!r}{hint}, or a function of the same signature.")


def suggest(name: Any, known: Iterable[str]) -> str:
    """Say what could have been meant by a name that is not known, and what is.

    Parameters
    ----------
    name
        What was given.
    known
        What could have been.

    Examples
    --------
    >>> suggest("trails", ["trials", "seed"])
    ": did you mean 'trials'? Give one of seed, trials."
    """
    known = list(known)
    close = get_close_matches(name.lower(), known, n=1) if isinstance(name, str) else []
    return (f": did you mean {close[0]!r}?" if close else ".") + (
        f" Give one of {', '.join(sorted(known))}."
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
