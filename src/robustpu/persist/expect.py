"""Readers of fitted attributes, in addition to those of :mod:`robustpu.validation`."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.validation.arrays import LARGEST_SIZE, array, check_shape
from robustpu.validation.schema import Place, Reader, list_of, mapping_of, number, text

# A list of dictionaries from names to numbers, which may be infinite or NaN.
records: Final = list_of(mapping_of(number(finite=False)))


def labels(value: Any, place: Place) -> NDArray[Any]:
    """Read two different labels in ascending order: numbers, booleans or texts.

    Examples
    --------
    >>> labels(np.array([1, 1]), Place("classes_"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: classes_ must have its labels in ascending order.
    """
    if not isinstance(value, np.ndarray) or value.shape != (2,):
        place.expect("an array of two labels", value)
    if value.dtype.kind not in "biufUO":
        place.refuse(f"is an array of type {value.dtype}")
    try:
        is_ascending = bool(value[0] < value[1])
    except TypeError:
        place.refuse("has labels that cannot be compared")
    return value if is_ascending else place.refuse("must have its labels in ascending order")


def names(letter: str) -> Reader:
    """Read an array with a text for each column.

    Examples
    --------
    >>> names("d")(np.array(["age"], dtype=object), Place("feature_names_in_")).tolist()
    ['age']
    """

    def check(value: Any, place: Place) -> NDArray[Any]:
        if not isinstance(value, np.ndarray) or value.dtype != object:
            place.expect("an array of names", value)
        if not all(isinstance(name, str) for name in value.ravel()):
            place.refuse("holds other things than names")
        check_shape(value.shape, (letter,), place)
        return value

    return check


def texts(letter: str) -> Reader:
    """Read a list of texts.

    Examples
    --------
    >>> texts("parts")(["nnpu"], Place("estimator_names_"))
    ['nnpu']
    """

    def check(value: Any, place: Place) -> list[str]:
        found: list[str] = list_of(text())(value, place)
        check_shape((len(found),), (letter,), place)
        return found

    return check


def row_shape(value: Any, place: Place) -> tuple[int, ...]:
    """Read the shape of a row; its first number is that of the columns, d.

    Examples
    --------
    >>> row_shape((3, 32, 32), Place("input_shape_", {"d": 1}))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: input_shape_ has the shape (3, 32, 32), where d is 1.
    """
    if not isinstance(value, tuple):
        place.expect("the shape of a row", value)
    found = list_of(number(1, LARGEST_SIZE, whole=True), least=1, most=8)(value, place)
    check_shape(tuple(found), ("d", *found[1:]), place)
    return value


def places(letter: str, among: str) -> Reader:
    """Read different indices in ascending order, below the length that ``among`` stands for.

    Examples
    --------
    >>> places("m", "all")(np.array([0, 2]), Place("kept_", {"all": 2}))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: kept_ holds numbers that are not from 0 to 1.
    """

    def check(value: Any, place: Place) -> NDArray[Any]:
        found: NDArray[Any] = array("iu", (letter,), 0, place.sizes[among] - 1)(value, place)
        if not len(found) or (np.diff(found) <= 0).any():
            place.refuse("must hold different indices in ascending order")
        return found

    return check


def tuple_of(*readers: Reader) -> Reader:
    """Read a tuple with a reader for each item.

    Examples
    --------
    >>> tuple_of(number(), number())((1.0, 2.0), Place("interval"))
    (1.0, 2.0)
    """

    def check(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, tuple) or len(value) != len(readers):
            place.expect(f"a tuple of {len(readers)}", value)
        return tuple(read(value[at], place.item(at)) for at, read in enumerate(readers))

    return check
