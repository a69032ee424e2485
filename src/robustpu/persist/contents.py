"""The contents of a model folder, checked and parsed."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from numpy.typing import NDArray

from robustpu.persist import arrays
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.reading import (
    MODEL,
    Folder,
    check_names,
    check_sizes,
    check_sum,
    opened,
    read_checked,
    read_sums,
)
from robustpu.persist.values import Json
from robustpu.validation.schema import SchemaError, parse_json

Answer = TypeVar("Answer")

FORMAT: Final = "robustpu model"
# To be raised whenever older versions of the library could not read what newer ones write.
SCHEMA: Final = 3
ENTRIES: Final = frozenset({"format", "schema", "written_by", "files", "model", "extra"})
# A folder may be replaced while it is read; then it is read again.
TRIES: Final = 5


@dataclass(frozen=True)
class Contents:
    """The entries of model.json, the arrays by their paths, and the checksums of the files."""

    entries: dict[str, Json]
    arrays: dict[str, NDArray[Any]]
    sums: dict[str, str]


def reading(path: str | os.PathLike[str], work: Callable[[Folder], Answer]) -> Answer:
    """Let a function read a folder; its errors get the name of the folder.

    Parameters
    ----------
    path
        The folder.
    work
        Called with the open folder, once more if another one took its place meanwhile.
    """
    path = Path(path)
    for _ in range(TRIES):
        before = _identity(path)
        try:
            with opened(path) as folder:
                return work(folder)
        except ModelFolderError as error:
            reason = str(error)
        except (MemoryError, RecursionError):
            reason = "it takes more memory than there is."
        if _identity(path) == before:
            break
    raise ModelFolderError(f"{path}: {reason}")


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def read_contents(folder: Folder) -> Contents:
    """Read all of a folder, and refuse it if a file is not as it was written."""
    sums = read_sums(folder)
    for name in (MODEL, arrays.FILE):
        if name not in sums:
            raise ModelFolderError(f"{name}: no checksum is listed for it.")
    # Before anything else, so that what a newer version wrote is called newer and not damaged.
    entries = parse(read_checked(folder, MODEL, sums))
    check_names(folder, sums)
    sizes: dict[str, int] = entries["files"]
    if sizes.keys() != sums.keys() - {MODEL}:
        name = sorted(sizes.keys() ^ (sums.keys() - {MODEL}))[0]
        raise ModelFolderError(f"{MODEL}: files: {name[:99]!r} is missing, or not listed.")
    # Before anything is read: the checksum of something enormous takes hours.
    check_sizes(folder, sizes)
    head = folder.head(arrays.FILE, 8 + arrays.LONGEST_HEADER)
    arrays.read_header(head, sizes[arrays.FILE])
    for name in attached(entries):
        check_sum(name, folder.digest(name), sums)
    return Contents(entries, arrays.from_bytes(read_checked(folder, arrays.FILE, sums)), sums)


def attached(entries: dict[str, Json]) -> tuple[str, ...]:
    """Names of the attachments."""
    return tuple(sorted(entries["files"].keys() - {arrays.FILE}))


def parse(content: bytes) -> dict[str, Json]:
    """Read model.json, as strictly as can be.

    Examples
    --------
    >>> parse(b'{"format": "robustpu model", "schema": 999}')
    Traceback (most recent call last):
    robustpu.persist.errors.ModelFolderError: model.json: it has the schema 999, and this version...
    """
    try:
        entries = parse_json(content, MODEL)
    except SchemaError as error:
        raise ModelFolderError(str(error)) from None
    if not isinstance(entries, dict) or entries.get("format") != FORMAT:
        raise ModelFolderError(f"{MODEL}: it does not say that it is a {FORMAT}.")
    schema = entries.get("schema")
    if type(schema) is not int or schema < 1:
        raise ModelFolderError(f"{MODEL}: its schema is not a number.")
    if schema < SCHEMA:
        raise ModelFolderError(
            f"{MODEL}: it has the schema {schema}, of an early version of robustpu, and this one "
            f"reads schema {SCHEMA}: fit the model again."
        )
    if schema > SCHEMA:
        raise ModelFolderError(
            f"{MODEL}: it has the schema {schema}, and this version of robustpu reads schemas up "
            f"to {SCHEMA}: install a newer version."
        )
    if entries.keys() != ENTRIES:
        told = ", ".join(sorted(name[:60] for name in entries.keys() ^ ENTRIES))
        raise ModelFolderError(f"{MODEL}: entries are missing or not known: {told}.")
    _check_header(entries)
    return entries


def _check_header(entries: dict[str, Json]) -> None:
    written, sizes = entries["written_by"], entries["files"]
    if not isinstance(written, dict) or not all(isinstance(name, str) for name in written.values()):
        raise ModelFolderError(f"{MODEL}: written_by: it is not a list of versions.")
    if not isinstance(sizes, dict) or not all(
        type(size) is int and size >= 0 for size in sizes.values()
    ):
        raise ModelFolderError(f"{MODEL}: files: it does not give the bytes of each file.")
