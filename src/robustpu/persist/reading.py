"""Reading the files of a model folder: those that are listed, if they are unharmed."""

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from robustpu.files.drafts import drafts_of
from robustpu.persist.errors import ModelFolderError

SUMS: Final = "SHA256SUMS"
MODEL: Final = "model.json"
# How the name of a model ends that was put aside for another.
EARLIER: Final = "earlier"
ARRAYS: Final = "arrays.safetensors"
# Bytes of a file at most, checked before it is read.
LONGEST: Final = {SUMS: 1 << 16, MODEL: 1 << 26, ARRAYS: 1 << 34}
# Bytes of all other files together, the attachments.
MOST_ATTACHED: Final = 1 << 28

LINE: Final = re.compile(r"([0-9a-f]{64})  ([A-Za-z0-9][A-Za-z0-9._-]{0,99})\n")
NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
CHUNK: Final = 1 << 20


class Folder:
    """An open model folder. What is renamed or linked meanwhile does not matter: it stays open."""

    def __init__(self, path: Path, handle: int | None) -> None:
        self.path = path
        self._handle = handle

    def names(self) -> set[str]:
        """Name all that is in it."""
        if self._handle is None:
            return {file.name for file in self.path.iterdir()}
        return set(os.listdir(self._handle))  # noqa: PTH208 (of an open folder)

    def open(self, name: str) -> int:
        """Open a plain file of it, and nothing that pretends to be one."""
        flags = os.O_RDONLY
        # A link is not followed, and a pipe does not make us wait.
        for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
            flags |= getattr(os, flag, 0)
        try:
            if self._handle is None:
                if (self.path / name).is_symlink():
                    raise ModelFolderError(f"{name}: it is a link, not a file.")
                file = os.open(self.path / name, flags)
            else:
                file = os.open(name, flags, dir_fd=self._handle)
        except FileNotFoundError:
            raise ModelFolderError(f"{name}: it is missing.") from None
        except OSError as error:
            told = f"it cannot be read as a plain file: {error.strerror}."
            raise ModelFolderError(f"{name}: {told}") from None
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            raise ModelFolderError(f"{name}: it is not a plain file.")
        return file

    def read(self, name: str) -> bytes:
        """Read a whole file."""
        with self._stream(name) as (stream, size):
            try:
                return stream.read(size)
            except MemoryError:
                raise ModelFolderError(
                    f"{name}: it has {size} bytes, more than there is memory."
                ) from None

    def head(self, name: str, count: int) -> bytes:
        """Read the first bytes of a file."""
        with self._stream(name) as (stream, _):
            return stream.read(count)

    @contextmanager
    def _stream(self, name: str) -> Iterator[tuple[BinaryIO, int]]:
        """Open a file whose size is within the limits; and its size."""
        most = LONGEST.get(name, MOST_ATTACHED)
        with os.fdopen(self.open(name), "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            if size > most:
                raise ModelFolderError(f"{name}: it has {size} bytes, more than {most}.")
            yield stream, size

    def size(self, name: str) -> int:
        """Count the bytes of a file."""
        with os.fdopen(self.open(name), "rb") as stream:
            return os.fstat(stream.fileno()).st_size

    def digest(self, name: str) -> str:
        """The checksum of a file."""
        whole = hashlib.sha256()
        with self._stream(name) as (stream, size):
            # No further than its size, or a file that grows would have no end.
            for start in range(0, size, CHUNK):
                whole.update(stream.read(min(CHUNK, size - start)))
        return whole.hexdigest()


@contextmanager
def opened(path: Path) -> Iterator[Folder]:
    """Open a folder for reading."""
    handle = None
    try:
        if os.open in os.supports_dir_fd and os.listdir in os.supports_fd:
            handle = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        elif not path.is_dir():
            raise NotADirectoryError
    except FileNotFoundError:
        raise ModelFolderError(f"there is no such folder.{_earlier(path)}") from None
    except NotADirectoryError:
        raise ModelFolderError("it is a file, and a model is a folder.") from None
    except OSError as error:
        raise ModelFolderError(f"it cannot be opened: {error.strerror}.") from None
    try:
        yield Folder(path, handle)
    finally:
        if handle is not None:
            os.close(handle)


def _earlier(path: Path) -> str:
    """Tell of a model that was put aside, and whose successor never came."""
    aside = drafts_of(path, EARLIER)
    return f" An earlier model is in {aside[-1].name!r} beside it: rename it." if aside else ""


def read_sums(folder: Folder) -> dict[str, str]:
    """Read which files there must be, and their checksums, as sha256sum writes them.

    Returns
    -------
    sums
        Name -> checksum.
    """
    text = folder.read(SUMS).decode("ascii", errors="replace")
    found = [LINE.fullmatch(line) for line in text.splitlines(keepends=True)]
    sums = {match[2]: match[1] for match in found if match is not None}
    if not found or None in found or len(sums) < len(found) or SUMS in sums:
        raise ModelFolderError(f"{SUMS}: it is not a list of checksums and names of files.")
    return sums


def check_names(folder: Folder, sums: Mapping[str, str]) -> None:
    """Refuse a folder with files that are not listed, or without files that are."""
    there = folder.names()
    missing, more = sorted(sums.keys() - there), sorted(there - sums.keys() - {SUMS})
    if missing:
        raise ModelFolderError(f"{missing[0]}: it is missing.")
    if more:
        told = f"it is not part of the model, which {SUMS} lists. Move it elsewhere."
        raise ModelFolderError(f"{more[0][:100]!r}: {told}")


def check_sizes(folder: Folder, sizes: Mapping[str, int]) -> None:
    """Refuse files of another size than the model says: before anything of them is read.

    Parameters
    ----------
    folder
        Open.
    sizes
        Name -> bytes, of all files that are large or attached.
    """
    attached = sum(size for name, size in sizes.items() if name not in LONGEST)
    if attached > MOST_ATTACHED:
        raise ModelFolderError(
            f"{MODEL}: files: the attached ones have {attached} bytes, more than {MOST_ATTACHED}."
        )
    for name, size in sizes.items():
        found = folder.size(name)
        if found != size:
            raise ModelFolderError(
                f"{name}: it has {found} bytes, not {size} as {MODEL} says: it was changed or "
                "damaged. Fetch the model again, or train it again."
            )


def read_checked(folder: Folder, name: str, sums: Mapping[str, str]) -> bytes:
    """Read a file, and refuse it if its checksum is another."""
    content = folder.read(name)
    check_sum(name, hashlib.sha256(content).hexdigest(), sums)
    return content


def check_sum(name: str, found: str, sums: Mapping[str, str]) -> None:
    """Refuse a file whose checksum is not the one that is listed."""
    if found != sums[name]:
        raise ModelFolderError(
            f"{name}: its checksum is not that of {SUMS}: it was changed or damaged. Fetch the "
            "model again, or train it again."
        )


def sums_of(files: Mapping[str, bytes]) -> bytes:
    """Write checksums as sha256sum does.

    Examples
    --------
    >>> sums_of({"a.txt": b"abc"})[:16]
    b'ba7816bf8f01cfea'
    """
    lines = [
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
    ]
    return "".join(lines).encode("ascii")
