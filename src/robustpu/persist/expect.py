"""What a stored attribute must be: a function (value, sizes) -> what is wrong with it, or None.

``sizes`` holds the numbers that attributes have to agree in: a letter in a shape stands for the
number that it meets first, and for that one from then on.
"""

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np

Sizes: TypeAlias = dict[str, int]
Expect: TypeAlias = Callable[[Any, Sizes], str | None]

# Probabilities may leave [0, 1] by rounding.
ROUNDING = 1e-9
# No count of rows, columns or members comes near it.
MOST = 1 << 40


def number(
    least: float = -math.inf, most: float = math.inf, *, whole: bool = False, finite: bool = True
) -> Expect:
    """Expect a number within bounds.

    Examples
    --------
    >>> number(0, 1)(0.5, {}), number(0, 1)(2.0, {})
    (None, 'it is 2.0, not a number from 0 to 1')
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
        if is_number and least <= value <= most and math.isfinite(value):
            return None
        if is_number and not finite and not math.isfinite(value):
            return None
        return f"it is {_short(value)}, not a{' whole' if whole else ''} number{_span(least, most)}"

    return check


def size(letter: str) -> Expect:
    """Expect a number of things, at least one, which other attributes agree with.

    Examples
    --------
    >>> sizes = {}
    >>> size("d")(3, sizes), sizes
    (None, {'d': 3})
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        return number(1, MOST, whole=True)(value, sizes) or _fit((value,), (letter,), sizes)

    return check


def array(
    kinds: str,
    shape: tuple[str | int, ...],
    least: float = -math.inf,
    most: float = math.inf,
    *,
    finite: bool = True,
    slack: float = 0.0,
) -> Expect:
    """Expect an array whose dtype is of these kinds, of this shape, within bounds.

    Parameters
    ----------
    kinds
        Letters of numpy: "f" for floats, "iu" for whole numbers, "b" for booleans.
    shape
        Numbers, and letters that stand for a number.
    least, most
        Bounds of the elements.
    finite
        Whether NaN is refused; infinite numbers are subject to the bounds either way.
    slack
        By which bounds may be passed.

    Examples
    --------
    >>> array("f", ("n",), 0, 1)(np.array([0.2, np.nan]), {"n": 2})
    'it holds NaN'
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray):
            return f"it is {_short(value)}, not an array"
        if value.dtype.kind not in kinds:
            return f"its type is {value.dtype}"
        wrong = _fit(value.shape, shape, sizes)
        if wrong or value.dtype.kind == "b" or not value.size:
            return wrong
        if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            return "it holds NaN" if np.isnan(value).any() else "it holds infinite numbers"
        known = value[~np.isnan(value)] if value.dtype.kind == "f" else value
        if len(known) and not (known.min() >= least - slack and known.max() <= most + slack):
            return f"it holds numbers that are not{_span(least, most)}"
        return None

    return check


def share(shape: tuple[str | int, ...], *, finite: bool = True) -> Expect:
    """Expect probabilities.

    Examples
    --------
    >>> share(("n",))(np.array([0.2, 1.5]), {})
    'it holds numbers that are not from 0 to 1'
    """
    return array("f", shape, 0, 1, finite=finite, slack=ROUNDING)


def one_of(*choices: str) -> Expect:
    """Expect one of some words.

    Examples
    --------
    >>> one_of("pu", "none")("pu", {})
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        known = isinstance(value, str) and value in choices
        return None if known else f"it is {_short(value)}, not one of {', '.join(choices)}"

    return check


def labels(value: Any, sizes: Sizes) -> str | None:
    """Expect two different labels in ascending order: numbers, booleans or texts.

    Examples
    --------
    >>> labels(np.array([1, 1]), {})
    'its two labels are not in ascending order'
    """
    if not isinstance(value, np.ndarray) or value.shape != (2,):
        return "it is not an array of two labels"
    if value.dtype.kind not in "biufUO":
        return f"its type is {value.dtype}"
    try:
        return None if value[0] < value[1] else "its two labels are not in ascending order"
    except TypeError:
        return "its two labels cannot be compared"


def names(letter: str) -> Expect:
    """Expect a text for each column.

    Examples
    --------
    >>> names("d")(np.array(["age"], dtype=object), {"d": 1})
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray) or value.dtype != object:
            return "it is not an array of names"
        if not all(isinstance(name, str) for name in value.ravel()):
            return "it holds other things than names"
        return _fit(value.shape, (letter,), sizes)

    return check


def records(value: Any, sizes: Sizes) -> str | None:
    """Expect a list of dictionaries from words to numbers, which may be infinite or NaN.

    Examples
    --------
    >>> records([{"round": 1, "score": 0.5}], {})
    """
    if not isinstance(value, list):
        return "it is not a list"
    for entry in value:
        if not isinstance(entry, dict):
            return "an entry is not a dictionary"
        for key, own in entry.items():
            wrong = number(finite=False)(own, sizes)
            if not isinstance(key, str) or wrong:
                return f"{_short(key)}: {wrong or 'the key is not a text'}"
    return None


def row_shape(value: Any, sizes: Sizes) -> str | None:
    """Expect the shape of a row; its first number is that of the columns, d.

    Examples
    --------
    >>> row_shape((3, 32, 32), {"d": 1})
    'its shape is (3, 32, 32), and other attributes have d = 1'
    """
    if not isinstance(value, tuple) or not 1 <= len(value) <= 8:
        return "it is not the shape of a row"
    wrong = [wrong for own in value if (wrong := number(1, MOST, whole=True)(own, sizes))]
    if wrong:
        return wrong[0]
    return _fit(value, ("d", *value[1:]), sizes)


def places(letter: str, among: str) -> Expect:
    """Expect different places, in ascending order, among so many.

    Examples
    --------
    >>> places("m", "all")(np.array([0, 2]), {"all": 2})
    'it holds numbers that are not from 0 to 1'
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        wrong = array("iu", (letter,), 0, sizes[among] - 1)(value, sizes)
        if wrong:
            return wrong
        if not len(value) or (np.diff(value) <= 0).any():
            return "its places are not different ones in ascending order"
        return None

    return check


def pair(first: Expect, second: Expect) -> Expect:
    """Expect a tuple of two, or None.

    Examples
    --------
    >>> pair(number(), number())((1, 2), {})
    """

    def check(value: Any, sizes: Sizes) -> str | None:
        if value is None:
            return None
        if not isinstance(value, tuple) or len(value) != 2:
            return "it is not a pair"
        return first(value[0], sizes) or second(value[1], sizes)

    return check


def _fit(found: tuple[int, ...], wanted: tuple[Any, ...], sizes: Sizes) -> str | None:
    """Compare shapes; a letter that was not met yet takes its number from here."""
    if len(found) != len(wanted):
        return f"its shape is {found}, not of {len(wanted)} axes"
    for own, want in zip(found, wanted, strict=True):
        expected = want if isinstance(want, int) else sizes.setdefault(want, int(own))
        if own != expected:
            told = f"and other attributes have {want} = {expected}"
            return f"its shape is {found}, {told if isinstance(want, str) else f'not {wanted}'}"
    return None


def _span(least: float, most: float) -> str:
    if math.isfinite(least) and math.isfinite(most):
        return f" from {least:.6g} to {most:.6g}"
    if math.isfinite(least):
        return f" of at least {least:.6g}"
    return f" of at most {most:.6g}" if math.isfinite(most) else ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
