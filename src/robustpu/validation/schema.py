"""Stored JSON -> checked values; the error names the exact path of what is wrong.

A reader is a function ``(value, place) -> value`` that refuses what it does not expect. Frozen
dataclasses are schemas: ``read(Results, parse_json(content), "results")`` makes one, and
``to_json`` writes it.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NoReturn,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from robustpu.validation.sanitize import shown

Schema = TypeVar("Schema")

# Limits, so that a small file cannot ask for much memory.
LONGEST_TEXT: Final = 100_000
LONGEST_LIST: Final = 1_000_000
MOST_VALUES: Final = 2_000_000
DEEPEST: Final = 50
# Larger whole numbers are not exact in every program that reads JSON.
LARGEST_WHOLE: Final = 2**53


class SchemaError(ValueError):
    """A stored value is not what its schema expects."""


class Place:
    """The path of a value, and what holds for all values of one document.

    Parameters
    ----------
    path
        Where the value stands: ``results.data.rows``.
    sizes
        Lengths that values agree in, by letter; see :mod:`robustpu.validation.arrays`.
    ignore_unknown
        Whether entries that a dataclass does not have are ignored, rather than refused.
    """

    __slots__ = ("ignore_unknown", "path", "sizes")

    def __init__(
        self, path: str, sizes: dict[str, int] | None = None, ignore_unknown: bool = False
    ) -> None:
        self.path = path
        self.sizes = {} if sizes is None else sizes
        self.ignore_unknown = ignore_unknown

    def entry(self, name: str) -> "Place":
        """The place of an entry of a dictionary."""
        return Place(f"{self.path}.{name}", self.sizes, self.ignore_unknown)

    def item(self, index: int) -> "Place":
        """The place of an item of a list."""
        return Place(f"{self.path}[{index}]", self.sizes, self.ignore_unknown)

    def expect(self, expected: str, value: Any) -> NoReturn:
        """Refuse a value that is something else."""
        self.refuse(f"must be {expected}; it is {short(value)}")

    def refuse(self, reason: str) -> NoReturn:
        """Refuse a value for a reason that continues its path: ``is missing``."""
        raise SchemaError(f"{shown(self.path)} {reason}.")


Reader: TypeAlias = Callable[[Any, Place], Any]


def number(
    least: float = -math.inf,
    most: float = math.inf,
    *,
    whole: bool = False,
    finite: bool = True,
    slack: float = 0.0,
) -> Reader:
    """Read a number within bounds.

    Parameters
    ----------
    least, most
        The bounds, both included.
    whole
        Whether it must be a whole number.
    finite
        Whether NaN and infinite numbers are refused.
    slack
        By how much rounding may exceed the bounds.

    Examples
    --------
    >>> number(0, 1)(0.5, Place("share"))
    0.5
    >>> number(0, 1)(True, Place("share"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: share must be a number from 0 to 1; it is True.
    """
    kind: Any = int if whole else float
    base: Any = Integral if whole else Real
    # An enormous whole number is not a float.
    limit = LARGEST_WHOLE if whole and not math.isfinite(most) else sys.float_info.max

    def check(value: Any, place: Place) -> float:
        if isinstance(value, base) and not isinstance(value, bool):
            is_finite = bool(abs(value) <= limit)
            if is_finite and least - slack <= value <= most + slack:
                checked: float = kind(value)
                return checked
            if not (finite or is_finite) and isinstance(value, float):
                return value
        return place.expect(f"a {'whole ' * whole}number{span(least, most)}", value)

    return check


def text(longest: int = LONGEST_TEXT) -> Reader:
    """Read a text of limited length."""

    def check(value: Any, place: Place) -> str:
        if type(value) is str and len(value) <= longest:
            return value
        return place.expect(f"a text of at most {longest} characters", value)

    return check


def flag(value: Any, place: Place) -> bool:
    """Read true or false."""
    return value if type(value) is bool else place.expect("true or false", value)


def one_of(*choices: Any) -> Reader:
    """Read one of some values.

    Examples
    --------
    >>> one_of("pu", "none")("pu", Place("selection"))
    'pu'
    """

    def check(value: Any, place: Place) -> Any:
        if any(type(value) is type(choice) and value == choice for choice in choices):
            return value
        return place.expect(f"one of {', '.join(map(str, choices))}", value)

    return check


def anything(value: Any, place: Place) -> Any:
    """Read any JSON value that is not nested too deeply."""
    if place.path.count(".") + place.path.count("[") > DEEPEST:
        place.refuse(f"is nested more than {DEEPEST} deep")
    if type(value) is list:
        return list_of(anything)(value, place)
    if type(value) is dict:
        return mapping_of(anything)(value, place)
    if value is None or type(value) in (bool, str):
        return value
    return number(whole=type(value) is int)(value, place)


def optional(reader: Reader) -> Reader:
    """Read None, or what another reader reads."""
    return lambda value, place: None if value is None else reader(value, place)


def either(*readers: Reader) -> Reader:
    """Read what one of several readers reads; the error is that of the first.

    Examples
    --------
    >>> either(number(), text())("a", Place("value"))
    'a'
    """

    def check(value: Any, place: Place) -> Any:
        errors = []
        for reader in readers:
            try:
                return reader(value, place)
            except SchemaError as error:
                errors.append(error)
        raise errors[0]

    return check


def list_of(
    reader: Reader, *, least: int = 0, most: int = LONGEST_LIST, unique: bool = False
) -> Reader:
    """Read a list whose items are all read by one reader.

    Parameters
    ----------
    reader
        Of the items.
    least, most
        How many items there may be.
    unique
        Whether all items must differ.

    Examples
    --------
    >>> list_of(text())(["a", 1], Place("notes"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: notes[1] must be a text of at most 100000 char...
    """

    def check(value: Any, place: Place) -> list[Any]:
        if type(value) not in (list, tuple):
            place.expect("a list", value)
        if not least <= len(value) <= most:
            place.refuse(f"must have {least} to {most} items; it has {len(value)}")
        items = [reader(item, place.item(index)) for index, item in enumerate(value)]
        if unique and len(set(items)) < len(items):
            place.refuse("holds an item twice")
        return items

    return check


def mapping_of(reader: Reader, *, most: int = LONGEST_LIST) -> Reader:
    """Read a dictionary from texts to values that are all read by one reader."""

    def check(value: Any, place: Place) -> dict[str, Any]:
        for key in _mapping(value, place):
            if type(key) is not str:
                place.refuse(f"has a key that is not a text: {short(key)}")
        if len(value) > most:
            place.refuse(f"must have at most {most} entries; it has {len(value)}")
        return {key: reader(item, place.entry(key[:60])) for key, item in value.items()}

    return check


def record(kind: type[Schema]) -> Callable[[Any, Place], Schema]:
    """Read a dictionary as a dataclass.

    Each entry is read by the type of its field: ``float``, ``int``, ``bool``, ``str``, ``Literal``,
    ``X | None``, ``list[X]``, ``tuple[X, ...]``, ``dict[str, X]``, another dataclass, or
    ``Annotated[X, reader]`` for a reader of one's own. A field with a default may be missing. What
    must hold between fields is checked in ``__post_init__``, by a ValueError. A field may have
    another name in the file: ``field(metadata={"name": "class"})``.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Interval:
    ...     low: Annotated[float, number(0, 1)]
    ...     high: float = 1.0
    >>> record(Interval)({"low": 0.2}, Place("recall"))
    Interval(low=0.2, high=1.0)
    >>> record(Interval)({"low": 2}, Place("recall"))
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: recall.low must be a number from 0 to 1; it is 2.
    """

    schema: Any = kind

    def check(value: Any, place: Place) -> Schema:
        entries = dict(_mapping(value, place))
        found = {}
        for name, key, reader, is_required in _readers(schema):
            if key in entries:
                found[name] = reader(entries.pop(key), place.entry(key))
            elif is_required:
                place.entry(key).refuse("is missing")
        if entries and not place.ignore_unknown:
            place.refuse(f"has an unknown entry {short(min(map(str, entries)))}")
        try:
            return kind(**found)
        except SchemaError:
            raise
        except ValueError as error:
            place.refuse(str(error).removesuffix("."))

    return check


@cache
def _readers(kind: Any) -> list[tuple[str, str, Reader, bool]]:
    """(name, name in the file, reader, whether it is required) of each field of a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    return [
        (
            field.name,
            field.metadata.get("name", field.name),
            reader_of(hints[field.name]),
            field.default is MISSING and field.default_factory is MISSING,
        )
        for field in fields(kind)
        if field.init
    ]


SIMPLE: Final[Mapping[Any, Reader]] = {
    float: number(),
    int: number(whole=True),
    str: text(),
    bool: flag,
    Any: anything,
}


def reader_of(hint: Any) -> Reader:
    """The reader of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        readers = [extra for extra in inner[1:] if callable(extra)]
        return readers[0] if readers else reader_of(inner[0])
    if hint in SIMPLE:
        return SIMPLE[hint]
    if is_dataclass(hint) and isinstance(hint, type):
        return record(hint)
    if origin is Literal:
        return one_of(*inner)
    if origin in (Union, UnionType) and all(get_origin(part) is Literal for part in inner):
        return one_of(*(choice for part in inner for choice in get_args(part)))
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return optional(reader_of(inner[inner[0] is NoneType]))
    if origin is tuple and inner[1:] == (...,):
        items = list_of(reader_of(inner[0]))
        return lambda value, place: tuple(items(value, place))
    if origin is list:
        return list_of(reader_of(inner[0]))
    if isinstance(origin, type) and issubclass(origin, Mapping) and inner[0] is str:
        return mapping_of(reader_of(inner[1]))
    raise TypeError(f"{hint} is not a type that can be read.")


def read(kind: type[Schema], value: Any, where: str, *, ignore_unknown: bool = False) -> Schema:
    """Read a JSON value as a type, most often a dataclass.

    Parameters
    ----------
    kind
        What to make of it.
    value
        As :func:`parse_json` gives it.
    where
        What it is, for messages.
    ignore_unknown
        Whether entries that no field has are ignored, as those of later versions.

    Raises
    ------
    SchemaError
        Something is not as expected; the message names its path.

    Examples
    --------
    >>> read(dict[str, list[int]], {"a": [1]}, "counts")
    {'a': [1]}
    """
    found: Schema = reader_of(kind)(value, Place(where, ignore_unknown=ignore_unknown))
    return found


def to_json(value: Any) -> Any:
    """Dataclasses as dictionaries and tuples as lists, all the way down.

    Examples
    --------
    >>> to_json({"a": (1, 2)})
    {'a': [1, 2]}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.metadata.get("name", field.name): to_json(getattr(value, field.name))
            for field in fields(value)
        }
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value


def parse_json(content: bytes | str, where: str, *, most_values: int = MOST_VALUES) -> Any:
    """Parse JSON strictly: no key twice, no NaN, a limited number of values.

    Parameters
    ----------
    content
        The document. Limit its size before you read it.
    where
        What it is, for messages.
    most_values
        A file of nothing but empty lists takes a hundred times its size in memory.

    Examples
    --------
    >>> parse_json('{"a": 1, "a": 2}', "model.json")
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: model.json is not valid JSON: the key 'a' is there...
    """
    place = Place(where)
    document = content.encode(errors="replace") if isinstance(content, str) else content
    count = sum(map(document.count, (b"[", b"{", b",")))
    if count > most_values:
        place.refuse(f"has {count} values or more; at most {most_values} are allowed")
    try:
        return json.loads(content, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        place.refuse(f"is not valid JSON: {error}")


def short(value: Any) -> str:
    """A value for a message: its beginning if it is a short text or number, else its type.

    Examples
    --------
    >>> short("claims"), short([1, 2])
    ("'claims'", 'of type list')
    """
    if value is None or isinstance(value, bool | float):
        return str(value)
    if isinstance(value, int):
        return str(value) if abs(value) <= LARGEST_WHOLE else "too large"
    if isinstance(value, str):
        return repr(shown(value[:60]))
    return f"of type {type(value).__name__}"


def span(least: float, most: float) -> str:
    """The bounds of a number, in words.

    Examples
    --------
    >>> span(0, 1), span(1, math.inf)
    (' from 0 to 1', ' of at least 1')
    """
    if math.isfinite(least) and math.isfinite(most):
        return f" from {least:.6g} to {most:.6g}"
    if math.isfinite(least):
        return f" of at least {least:.6g}"
    return f" of at most {most:.6g}" if math.isfinite(most) else ""


def _mapping(value: Any, place: Place) -> Mapping[Any, Any]:
    return value if isinstance(value, Mapping) else place.expect("a dictionary", value)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise ValueError(f"the key {short(key)} is there twice")
        entries[key] = value
    return entries


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")
