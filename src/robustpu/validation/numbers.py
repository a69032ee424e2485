"""Checks of parameter values, with errors that say what was expected and what came."""

import math
from numbers import Integral, Real
from typing import Any


def check_number(
    name: str,
    value: Any,
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    below: float = math.inf,
    whole: bool = False,
    optional: bool = False,
) -> None:
    """Refuse a parameter that is not a finite number in its range.

    Parameters
    ----------
    name
        Name of the parameter, for the message.
    value
        What was given.
    least, above, most, below
        Bounds: ``value >= least``, ``value > above``, ``value <= most``, ``value < below``.
    whole
        Whether it must be a whole number.
    optional
        Whether None is allowed too.

    Examples
    --------
    >>> check_number("lr", -1.0, above=0)
    Traceback (most recent call last):
    ValueError: lr must be a number above 0; it is -1.0.
    """
    if value is None and optional:
        return
    # A bool is a number to Python, and a slip of the pen to us.
    is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if is_number and least <= value <= most and above < value < below:
        return
    bounds = [("at least", least), ("above", above), ("at most", most), ("below", below)]
    limits = " and ".join(f"{word} {bound:g}" for word, bound in bounds if math.isfinite(bound))
    wanted = f"a {'whole ' if whole else ''}number {limits}".strip()
    raise ValueError(f"{name} must be {wanted}{' or None' if optional else ''}; it is {value!r}.")
