"""Plain values <-> JSON: numbers, texts, lists, tuples, dictionaries, arrays.

JSON has no word for some of them. These are objects with a tag, ``{"$": "tuple", ...}``. Arrays
of numbers are kept apart, under the path at which they stand: ``model/fitted/probability_``.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.persist.errors import ModelFolderError

Json: TypeAlias = Any
TAG: Final = "$"
# Values in values; nothing that is fitted here comes near it.
DEEPEST: Final = 50
# Whole numbers that numpy can hold.
LARGEST: Final = 1 << 64
# Characters of the longest text in an array of texts, and of all together.
LONGEST: Final = 10_000
MOST_TEXT: Final = 1 << 26
WIDTH: Final = re.compile("U[0-9]{1,5}")

SCALARS: Final = {
    np.dtype(kind).name: np.dtype(kind).type
    for kind in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
SPECIAL: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def refuse(path: str, reason: str) -> NoReturn:
    """Raise the error of something wrong at a place of model.json."""
    raise ModelFolderError(f"model.json: {path}: {reason}")


@dataclass
class Encoder:
    """Makes JSON of values, and collects arrays by their paths.

    ``others`` takes what is no plain value. ``given`` collects what cannot be stored and has to be
    given again: name -> function.
    """

    others: Callable[["Encoder", Any, str], Json]
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    given: dict[str, Any] = field(default_factory=dict)

    def encode(self, value: Any, path: str) -> Json:
        """Make JSON of a value that stands at a path."""
        if path.count("/") > DEEPEST:
            refuse(path, f"values are nested more than {DEEPEST} deep; this cannot be stored.")
        if isinstance(value, np.generic) and not isinstance(value, str | bytes):
            return _scalar(value, path)
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            if abs(value) >= LARGEST:
                refuse(path, "a whole number is too large to be stored.")
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {TAG: "float", "value": str(value)}
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{path}/{place}") for place, item in enumerate(value)]
            return items if isinstance(value, list) else {TAG: "tuple", "items": items}
        if isinstance(value, Mapping) and type(value).__module__ in ("builtins", "collections"):
            return self._mapping(value, path)
        if isinstance(value, np.ndarray):
            return self._array(value, path)
        return self.others(self, value, path)

    def _mapping(self, value: Mapping[Any, Any], path: str) -> Json:
        if all(type(key) is str and key != TAG for key in value):
            return {key: self.encode(item, f"{path}/{escaped(key)}") for key, item in value.items()}
        pairs = [
            [self.encode(item, f"{path}/{place}/{side}") for side, item in enumerate(pair)]
            for place, pair in enumerate(value.items())
        ]
        return {TAG: "pairs", "items": pairs}

    def _array(self, value: NDArray[Any], path: str) -> Json:
        if value.dtype.kind == "U" or (
            value.dtype.kind == "O" and all(isinstance(item, str) for item in value.ravel())
        ):
            dtype = "object" if value.dtype.kind == "O" else f"U{value.dtype.itemsize // 4}"
            items = [str(item) for item in value.ravel().tolist()]
            return {TAG: "texts", "dtype": dtype, "shape": list(value.shape), "items": items}
        if value.dtype.name not in SCALARS:
            refuse(path, f"arrays of type {value.dtype} cannot be stored.")
        # The byte order of the machine, rows one after the other.
        self.arrays[path] = np.array(value, dtype=value.dtype.newbyteorder("="), order="C")
        return {TAG: "array"}


def _scalar(value: np.generic, path: str) -> Json:
    if value.dtype.name not in SCALARS:
        refuse(path, f"numbers of type {value.dtype} cannot be stored.")
    plain = value.item()
    if isinstance(plain, float) and not math.isfinite(plain):
        plain = str(plain)
    return {TAG: "scalar", "dtype": value.dtype.name, "value": plain}


def escaped(key: str) -> str:
    """Write a key so that no path can be read in two ways.

    Examples
    --------
    >>> escaped("a/b")
    'a~1b'
    """
    return key.replace("~", "~0").replace("/", "~1")


@dataclass
class Decoder:
    """Makes values of JSON. Arrays are taken out of ``arrays`` as they are met.

    ``others`` knows more tags: tag -> function (decoder, node, path) -> value.
    """

    arrays: dict[str, NDArray[Any]]
    given: Mapping[str, Any]
    others: Mapping[str, Callable[["Decoder", dict[str, Json], str], Any]]
    used: set[str] = field(default_factory=set)

    def decode(self, node: Json, path: str) -> Any:
        """Make the value that stands at a path."""
        if path.count("/") > DEEPEST:
            refuse(path, f"values are nested more than {DEEPEST} deep.")
        if node is None or isinstance(node, bool | str):
            return node
        if isinstance(node, int):
            return node if abs(node) < LARGEST else refuse(path, "a whole number is too large.")
        if isinstance(node, float):
            return node if math.isfinite(node) else refuse(path, "a number is infinite.")
        if isinstance(node, list):
            return [self.decode(item, f"{path}/{place}") for place, item in enumerate(node)]
        if TAG not in node:
            return {key: self.decode(item, f"{path}/{escaped(key)}") for key, item in node.items()}
        tag = node[TAG]
        read = None
        if isinstance(tag, str):
            read = PLAIN.get(tag) or self.others.get(tag)
        if read is None:
            refuse(path, f"{str(tag)[:60]!r} is no kind of value that is known here.")
        return read(self, node, path)

    def take(self, path: str) -> NDArray[Any]:
        """Take the array of a path; it is there once."""
        if path not in self.arrays:
            refuse(path, "its array is missing in arrays.safetensors.")
        return self.arrays.pop(path)


def fields(node: dict[str, Json], path: str, *wanted: str) -> list[Json]:
    """Give the entries of a tagged node, and refuse others.

    Examples
    --------
    >>> fields({"$": "float", "value": "nan"}, "a", "value")
    ['nan']
    """
    if node.keys() != {TAG, *wanted}:
        told = ", ".join(sorted(str(key)[:60] for key in node.keys() ^ {TAG, *wanted}))
        refuse(path, f"entries are missing or not known: {told}.")
    return [node[name] for name in wanted]


def _float(decoder: Decoder, node: dict[str, Json], path: str) -> float:
    (text,) = fields(node, path, "value")
    if not isinstance(text, str) or text not in SPECIAL:
        refuse(path, "it is not nan, inf or -inf.")
    return SPECIAL[text]


def _scalar_back(decoder: Decoder, node: dict[str, Json], path: str) -> Any:
    name, value = fields(node, path, "dtype", "value")
    if not isinstance(name, str) or name not in SCALARS:
        refuse(path, "its type is not one of numpy's numbers.")
    kind = SCALARS[name]
    if np.dtype(kind).kind == "f" and isinstance(value, str):
        value = SPECIAL.get(value)
    wanted = {"b": bool, "i": int, "u": int, "f": float}[np.dtype(kind).kind]
    if type(value) is not wanted:
        refuse(path, f"it is not a number of type {name}.")
    if (
        isinstance(value, int)
        and wanted is int
        and not np.iinfo(name).min <= value <= np.iinfo(name).max
    ):
        refuse(path, f"it is not within the range of {name}.")
    with np.errstate(over="ignore"):
        return kind(value)


def _tuple(decoder: Decoder, node: dict[str, Json], path: str) -> tuple[Any, ...]:
    (items,) = fields(node, path, "items")
    if not isinstance(items, list):
        refuse(path, "its items are not a list.")
    return tuple(decoder.decode(items, path))


def _pairs(decoder: Decoder, node: dict[str, Json], path: str) -> dict[Any, Any]:
    (items,) = fields(node, path, "items")
    if not isinstance(items, list) or not all(
        isinstance(item, list) and len(item) == 2 for item in items
    ):
        refuse(path, "its items are not pairs.")
    pairs = decoder.decode(items, path)
    try:
        answer = dict(pairs)
    except TypeError:
        refuse(path, "a key is a list or a dictionary.")
    if len(answer) < len(pairs):
        refuse(path, "a key is there twice.")
    return answer


def _array_back(decoder: Decoder, node: dict[str, Json], path: str) -> NDArray[Any]:
    fields(node, path)
    return decoder.take(path)


def _texts(decoder: Decoder, node: dict[str, Json], path: str) -> NDArray[Any]:
    dtype, shape, items = fields(node, path, "dtype", "shape", "items")
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        refuse(path, "its items are not texts.")
    whole = isinstance(shape, list) and all(type(length) is int and length >= 0 for length in shape)
    if not whole or len(shape) > 8 or math.prod(shape) != len(items):
        refuse(path, f"{len(items)} texts do not have the shape {str(shape)[:60]}.")
    if dtype == "object":
        answer = np.empty(len(items), dtype=object)
        answer[:] = items
        return answer.reshape(shape)
    width = int(dtype[1:]) if isinstance(dtype, str) and WIDTH.fullmatch(dtype) else 0
    if not max(1, *map(len, items)) <= width <= LONGEST or width * len(items) > MOST_TEXT:
        refuse(path, f"its {len(items)} texts cannot be of the type {str(dtype)[:60]!r}.")
    return np.array(items, dtype=dtype).reshape(shape)


PLAIN: Final[Mapping[str, Callable[[Decoder, dict[str, Json], str], Any]]] = {
    "array": _array_back,
    "float": _float,
    "pairs": _pairs,
    "scalar": _scalar_back,
    "texts": _texts,
    "tuple": _tuple,
}
