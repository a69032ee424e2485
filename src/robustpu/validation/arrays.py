"""Readers of stored arrays, and of sizes that several values agree in.

A letter in a shape stands for a length: the first array sets it, all others have to agree.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.validation.schema import Place, Reader, number, span

# No count of rows, columns or members comes near it.
LARGEST_SIZE = 1 << 40
# Probabilities may leave [0, 1] by rounding.
ROUNDING = 1e-9

Shape = tuple[str | int | None, ...]


def array(
    kinds: str,
    shape: Shape,
    least: float = -math.inf,
    most: float = math.inf,
    *,
    finite: bool = True,
    slack: float = 0.0,
) -> Reader:
    """Read an array.

    Parameters
    ----------
    kinds
        Letters of numpy: "f" for floats, "iu" for whole numbers, "b" for booleans.
    shape
        Lengths, letters that stand for a length, and None for any length.
    least, most
        Bounds of the elements.
    finite
        Whether NaN is refused; infinite numbers are subject to the bounds either way.
    slack
        By how much rounding may exceed the bounds.

    Examples
    --------
    >>> array("f", ("n",))(np.array([0.2, np.nan]), Place("score"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: score holds NaN.
    """

    def check(value: Any, place: Place) -> NDArray[Any]:
        if not isinstance(value, np.ndarray):
            place.expect("an array", value)
        if value.dtype.kind not in kinds:
            place.refuse(f"is an array of type {value.dtype}")
        check_shape(value.shape, shape, place)
        if value.dtype.kind == "b" or not value.size:
            return value
        if finite and value.dtype.kind == "f" and not np.isfinite(value).all():
            place.refuse(f"holds {'NaN' if np.isnan(value).any() else 'infinite numbers'}")
        known = value[~np.isnan(value)] if value.dtype.kind == "f" else value
        if len(known) and not (known.min() >= least - slack and known.max() <= most + slack):
            place.refuse(f"holds numbers that are not{span(least, most)}")
        return value

    return check


def probabilities(shape: Shape, *, finite: bool = True) -> Reader:
    """Read an array of probabilities.

    Examples
    --------
    >>> probabilities(("n",))(np.array([0.2, 1.5]), Place("score"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: score holds numbers that are not from 0 to 1.
    """
    return array("f", shape, 0, 1, finite=finite, slack=ROUNDING)


def size(letter: str) -> Reader:
    """Read a count of at least one, which sets the length that a letter stands for.

    Examples
    --------
    >>> place = Place("n_features_in_")
    >>> size("d")(3, place), place.sizes
    (3, {'d': 3})
    """
    whole = number(1, LARGEST_SIZE, whole=True)

    def check(value: Any, place: Place) -> int:
        found: int = whole(value, place)
        check_shape((found,), (letter,), place)
        return found

    return check


def check_shape(found: tuple[int, ...], wanted: Shape, place: Place) -> None:
    """Compare shapes; a letter that is new takes its length from here."""
    if len(found) != len(wanted):
        place.refuse(f"has the shape {found}, expected {len(wanted)} axes")
    for length, want in zip(found, wanted, strict=True):
        if want is None:
            continue
        expected = want if isinstance(want, int) else place.sizes.setdefault(want, int(length))
        if length != expected:
            reason = f"where {want} is {expected}" if isinstance(want, str) else f"not {wanted}"
            place.refuse(f"has the shape {found}, {reason}")
