"""Stored values, taken out of a dictionary only if they are what they must be."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.errors import TableError

Check: TypeAlias = Callable[[Any], bool]
MOST_VALUES = 1_000_000
MOST_LETTERS = 10_000


class Fields:
    """The fields of a stored object, each of which is to be taken once.

    Parameters
    ----------
    values
        The object.
    where
        What it is, for messages.

    Examples
    --------
    >>> fields = Fields({"fill": 2.5}, "number")
    >>> fields.number("fill"), fields.done()
    (2.5, None)
    """

    def __init__(self, values: Any, where: str) -> None:
        self._where = where
        if not isinstance(values, Mapping):
            self.refuse(f"it is a {type(values).__name__}, not a dictionary")
        self._left = dict(values)

    def refuse(self, reason: str) -> NoReturn:
        """Raise the error of a stored value that is not sound."""
        raise TableError(f"the stored vectorizer is not sound: {self._where}: {reason}.")

    def take(self, name: str, what: str, is_sound: Check) -> Any:
        """A value that a check accepts.

        Parameters
        ----------
        name
            Of the field.
        what
            What the check demands, in words.
        is_sound
            The check.
        """
        if name not in self._left:
            self.refuse(f"{name!r} is missing")
        value = self._left.pop(name)
        if not is_sound(value):
            self.refuse(f"{name!r} is not {what}")
        return value

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def number(self, name: str) -> float:
        """A finite number."""
        return float(self.take(name, "a finite number", _is_number))

    def whole(self, name: str, least: int, most: int = 1 << 62) -> int:
        """A whole number within bounds."""
        value: int = self.take(
            name,
            f"a whole number of at least {least}",
            lambda own: type(own) is int and least <= own <= most,
        )
        return value

    def wholes(self, name: str, least: int, most: int) -> tuple[int, ...]:
        """A list of whole numbers within bounds."""

        def is_sound(own: Any) -> bool:
            return (
                isinstance(own, list | tuple)
                and len(own) <= MOST_VALUES
                and all(type(value) is int and least <= value <= most for value in own)
            )

        return tuple(self.take(name, f"a list of whole numbers of at least {least}", is_sound))

    def flag(self, name: str) -> bool:
        """A boolean."""
        return bool(self.take(name, "true or false", lambda own: isinstance(own, bool)))

    def text(self, name: str) -> str:
        """A text."""
        value: str = self.take(name, "a text", _is_text)
        return value

    def one_of(self, name: str, known: tuple[str, ...]) -> Any:
        """One of a few words."""
        return self.take(
            name, f"one of {', '.join(known)}", lambda own: isinstance(own, str) and own in known
        )

    def texts(self, name: str, *, unique: bool = False) -> tuple[str, ...]:
        """A list of texts."""

        def is_sound(own: Any) -> bool:
            return (
                isinstance(own, list | tuple)
                and len(own) <= MOST_VALUES
                and all(map(_is_text, own))
                and (not unique or len(set(own)) == len(own))
            )

        return tuple(self.take(name, f"a list of {'different ' * unique}texts", is_sound))

    def array(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """A finite array of a type and shape, None for any length."""

        def is_sound(own: Any) -> bool:
            return (
                isinstance(own, np.ndarray)
                and own.dtype == dtype
                and own.ndim == len(shape)
                and all(want in (None, have) for want, have in zip(shape, own.shape, strict=True))
                and bool(np.isfinite(own).all())
            )

        value: NDArray[Any] = self.take(
            name, f"a finite array of {np.dtype(dtype)} {shape}", is_sound
        )
        return value

    def done(self) -> None:
        """Refuse what was not taken."""
        if self._left:
            self.refuse(f"{sorted(map(str, self._left))[0]!r} is not known")


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MOST_LETTERS
