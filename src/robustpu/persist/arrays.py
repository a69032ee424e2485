"""Arrays by name <-> the bytes of a safetensors file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors.numpy import save

from robustpu.persist.errors import ModelFolderError
from robustpu.persist.reading import ARRAYS
from robustpu.validation.schema import (
    Place,
    SchemaError,
    list_of,
    mapping_of,
    number,
    parse_json,
    record,
)

FILE: Final = ARRAYS
# Bytes of the header; that of a thousand trees has some hundred thousand.
LONGEST_HEADER: Final = 1 << 24

# As the bytes lie in the file, whatever the machine.
DTYPES: Final = {
    "BOOL": np.dtype("?"),
    "I8": np.dtype("i1"),
    "I16": np.dtype("<i2"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
    "U16": np.dtype("<u2"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
}


def to_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Write arrays as safetensors does.

    Parameters
    ----------
    arrays
        Name -> array of one of ``DTYPES``, its rows one after the other in memory.

    Examples
    --------
    >>> float(from_bytes(to_bytes({"a": np.array([1.0, 2.0])}))["a"].sum())
    3.0
    """
    content: bytes = save(dict(arrays))
    if int.from_bytes(content[:8], "little") > LONGEST_HEADER:
        raise ModelFolderError(f"{FILE}: {len(arrays)} arrays are too many to be stored.")
    return content


def check_header(head: bytes, size: int) -> None:
    """Refuse a file whose header does not describe all of it, from its first bytes.

    Parameters
    ----------
    head
        The header, and perhaps more.
    size
        Bytes of the whole file.

    Examples
    --------
    >>> check_header(bytes(100), 1 << 40)
    Traceback (most recent call last):
    robustpu.persist.errors.ModelFolderError: arrays.safetensors: its header is not valid JSON: ...
    """
    length = int.from_bytes(head[:8], "little")
    if len(head) < 8 or length > min(LONGEST_HEADER, size - 8):
        raise ModelFolderError(f"{FILE}: its header is said to have {length} bytes.")
    try:
        # The library takes the last one of two arrays with one name.
        entries = parse_json(head[8 : 8 + length], "its header")
        arrays = mapping_of(record(Entry))(
            {name: entry for name, entry in entries.items() if name != "__metadata__"},
            Place("its header"),
        )
    except (SchemaError, AttributeError) as error:
        raise ModelFolderError(f"{FILE}: {error}") from None
    end = max((entry.data_offsets[-1] for entry in arrays.values()), default=0)
    if 8 + length + end != size:
        raise ModelFolderError(f"{FILE}: it has {size} bytes, its header tells of {end} in arrays.")


@dataclass(frozen=True)
class Entry:
    """What the header says of an array."""

    dtype: str
    shape: list[Any]
    data_offsets: Annotated[list[int], list_of(number(0, whole=True), least=2, most=2)]


def from_bytes(content: bytes) -> dict[str, NDArray[Any]]:
    """Read arrays, each with memory of its own.

    Parameters
    ----------
    content
        All of the file.

    Raises
    ------
    ModelFolderError
        It is no safetensors file, or has types that no model has.
    """
    check_header(content, len(content))
    try:
        found = deserialize(content)  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError) as error:
        raise ModelFolderError(f"{FILE}: it is not a safetensors file: {error}") from None
    return {name: _array(name, entry) for name, entry in found}


def _array(name: str, entry: dict[str, Any]) -> NDArray[Any]:
    dtype = DTYPES.get(entry["dtype"])
    if dtype is None:
        raise ModelFolderError(f"{FILE}: {name[:99]!r} is of type {entry['dtype']}.")
    try:
        array = np.frombuffer(bytearray(entry["data"]), dtype=dtype).reshape(entry["shape"])
    except (ValueError, OverflowError, TypeError) as error:
        raise ModelFolderError(f"{FILE}: {name[:99]!r}: {error}") from None
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ModelFolderError(f"{FILE}: {name[:99]!r} is neither true nor false somewhere.")
    return array.astype(dtype.newbyteorder("="), copy=False)
