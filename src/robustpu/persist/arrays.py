"""Arrays by name <-> the bytes of a safetensors file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from robustpu.persist.errors import ModelFolderError
from robustpu.persist.reading import ARRAYS
from robustpu.validation.arrays import LARGEST_SIZE
from robustpu.validation.schema import (
    Place,
    SchemaError,
    list_of,
    mapping_of,
    number,
    one_of,
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


@dataclass(frozen=True)
class Entry:
    """What the header says of an array: its type, its shape, and where its bytes begin and end."""

    dtype: Annotated[str, one_of(*DTYPES)]
    shape: Annotated[list[int], list_of(number(0, LARGEST_SIZE, whole=True), most=32)]
    data_offsets: Annotated[list[int], list_of(number(0, whole=True), least=2, most=2)]

    @property
    def size(self) -> int:
        """Bytes that an array of this type and shape has."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize


def read_header(head: bytes, size: int) -> dict[str, Entry]:
    """Read the header from the first bytes of a file, and refuse one that is not all of it.

    Parameters
    ----------
    head
        The header, and perhaps more.
    size
        Bytes of the whole file.

    Examples
    --------
    >>> read_header(bytes(100), 1 << 40)
    Traceback (most recent call last):
    robustpu.persist.errors.ModelFolderError: arrays.safetensors: its header is not valid JSON: ...
    """
    length = int.from_bytes(head[:8], "little")
    if len(head) < 8 or length > min(LONGEST_HEADER, size - 8):
        raise ModelFolderError(f"{FILE}: its header is said to have {length} bytes.")
    try:
        place = Place("its header")
        found = parse_json(head[8 : 8 + length], place.path)
        entries: dict[str, Entry] = mapping_of(record(Entry))(found, place)
    except SchemaError as error:
        raise ModelFolderError(f"{FILE}: {error}") from None
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1].data_offsets):
        if entry.data_offsets != [end, end + entry.size]:
            raise ModelFolderError(
                f"{FILE}: {name[:99]!r} is said to be at {entry.data_offsets}, expected "
                f"{[end, end + entry.size]}."
            )
        end += entry.size
    if 8 + length + end != size:
        raise ModelFolderError(f"{FILE}: it has {size} bytes, its header tells of {end} in arrays.")
    return entries


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
    start = 8 + int.from_bytes(content[:8], "little")
    entries = read_header(content, len(content))
    return {name: _array(name, entry, content, start) for name, entry in entries.items()}


def _array(name: str, entry: Entry, content: bytes, start: int) -> NDArray[Any]:
    dtype = DTYPES[entry.dtype]
    offset = start + entry.data_offsets[0]
    # NumPy refuses to read nothing from the end.
    count = math.prod(entry.shape)
    flat = np.frombuffer(content, dtype, count, offset) if count else np.empty(0, dtype)
    # A copy, also because bytes of a file may lie where no number may begin.
    array: NDArray[Any] = np.array(flat, dtype=dtype.newbyteorder("=")).reshape(entry.shape)
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ModelFolderError(f"{FILE}: {name[:99]!r} is neither true nor false somewhere.")
    return array
