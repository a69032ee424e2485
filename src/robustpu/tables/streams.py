"""Bytes of a path, of standard input or of an open file, decompressed."""

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final

import pyarrow as pa

from robustpu.tables.errors import TableError

PACKED: Final = {
    b"\x1f\x8b\x08": "gzip",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\x04\x22\x4d\x18": "lz4",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
    **{b"BZh%d1AY&SY" % level: "bzip2" for level in range(1, 10)},
}
UNPACK: Final[dict[str, Callable[[Any], Any]]] = {
    "gzip": lambda file: gzip.GzipFile(fileobj=file, mode="rb"),
    "bzip2": bz2.BZ2File,
    "xz": lzma.LZMAFile,
    "zstd": lambda file: pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"),
    "lz4": lambda file: pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "lz4"),
}
# What is wrong with the machine, not with the file.
OUTSIDE: Final = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EACCES)
# Parts of a workbook of Excel.
WORKBOOK: Final = frozenset({"[Content_Types].xml", "xl/workbook.xml"})
# A file in an archive in an archive is as deep as it goes.
LAYERS: Final = 3


class Stream:
    """Bytes that can be peeked at before they are read; of a workbook, ``file`` has them.

    Parameters
    ----------
    read
        n -> at most n bytes, none at the end.
    name
        For messages.
    path
        The file with these bytes, if there is one.

    Examples
    --------
    >>> stream = Stream(io.BytesIO(b"abc").read, "example")
    >>> stream.peek(2), stream.read()
    (b'ab', b'abc')
    """

    closed = False

    def __init__(
        self,
        read: Callable[[int], bytes],
        name: str,
        path: Path | None = None,
        file: IO[bytes] | None = None,
    ) -> None:
        self._read, self.name, self.path, self.file = read, name, path, file
        self._ahead = b""

    def peek(self, size: int) -> bytes:
        """The next bytes, fewer only at the end."""
        parts, length = [self._ahead], len(self._ahead)
        while length < size and (more := self._read(size - length)):
            parts.append(more)
            length += len(more)
        self._ahead = b"".join(parts)
        return self._ahead[:size]

    def read(self, size: int = -1) -> bytes:
        """The next bytes, fewer only at the end; all of them without a size."""
        if size is None or size < 0:
            parts = [self._ahead]
            self._ahead = b""
            while more := self._read(1 << 20):
                parts.append(more)
            return b"".join(parts)
        start = self.peek(size)
        self._ahead = self._ahead[size:]
        return start

    def close(self) -> None:
        """Does nothing: whoever opened the file closes it."""


@contextmanager
def opened(source: Any) -> Iterator[Stream]:
    """The unpacked bytes of a path, of standard input ("-") or of a binary file.

    Examples
    --------
    >>> with opened(io.BytesIO(gzip.compress(b"a,b"))) as stream:
    ...     stream.read()
    b'a,b'
    """
    with ExitStack() as stack:
        stream = _opened(source, stack)
        with guarded(stream.name):
            for _ in range(LAYERS):
                packing = _packing(stream.peek(16))
                if packing is None or stream.file is not None:
                    break
                stream = _unpacked(stream, packing, stack)
            yield stream


@contextmanager
def guarded(name: str) -> Iterator[None]:
    """Convert errors of reading into a TableError that names the file."""
    try:
        yield
    except TableError:
        raise
    except (pa.ArrowMemoryError, MemoryError) as error:
        raise TableError(
            f"{name} does not fit into the memory: read it in parts with iter_table, or take "
            "fewer rows."
        ) from error
    except (
        *(OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, pa.ArrowException),
        *(ValueError, OverflowError, KeyError, TypeError, NotImplementedError, RuntimeError),
    ) as error:
        if isinstance(error, OSError) and error.errno in OUTSIDE:
            raise
        raise TableError(
            f"{name} is damaged or not what it seems to be: {_first_line(error)}. "
            "Write or download it again, and check that it opens elsewhere."
        ) from error


def spooled(stream: Stream, stack: ExitStack) -> IO[bytes]:
    """The bytes as a file that can be read at any place."""
    if stream.file is not None:
        return stream.file
    if stream.path is not None:
        return stack.enter_context(stream.path.open("rb"))
    file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
    stack.callback(_close, file)
    while more := stream.read(1 << 20):
        try:
            file.write(more)
            file.flush()
        except OSError as error:
            # Name the disk that is full.
            raise type(error)(error.errno, error.strerror, tempfile.gettempdir()) from error
    file.seek(0)
    return file


def _close(file: IO[bytes]) -> None:
    """Close without a second error if the disk is full."""
    with suppress(OSError):
        file.close()


def _opened(source: Any, stack: ExitStack) -> Stream:
    if hasattr(source, "read"):
        name = str(getattr(source, "name", "an open file"))
        if isinstance(source, io.TextIOBase):
            raise TableError(f"{name} is open as text; open it as bytes, with mode 'rb'.")
        return Stream(source.read, name)
    if source == "-":
        if sys.stdin is None:
            raise TableError("standard input is closed, expected a table there. Give a file.")
        return Stream(sys.stdin.buffer.read, "standard input")
    path = Path(os.fspath(source))
    if "://" in str(source):
        raise TableError(f"{source} is an address, expected a file. Download it first.")
    try:
        if path.is_dir():
            raise IsADirectoryError
        return Stream(stack.enter_context(path.open("rb")).read, str(path), path)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist. Check the name and the folder.") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a folder, expected a file. Give one file of it.") from None
    except (OSError, ValueError) as error:
        raise TableError(f"{path} cannot be opened: {_first_line(error)}.") from error


def _packing(head: bytes) -> str | None:
    return next((name for magic, name in PACKED.items() if head.startswith(magic)), None)


def _unpacked(stream: Stream, packing: str, stack: ExitStack) -> Stream:
    plain: Any
    if packing == "zip":
        file = spooled(stream, stack)
        archive = stack.enter_context(zipfile.ZipFile(file))
        if WORKBOOK.issubset(archive.namelist()):
            file.seek(0)
            return Stream(file.read, stream.name, file=file)
        plain = _member(archive, stream.name)
    else:
        plain = UNPACK[packing](stream)
    stack.callback(plain.close)
    return Stream(plain.read, stream.name)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """The one file of a zip archive."""
    names = archive.namelist()
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise TableError(
            f"{name} is a document, or a workbook that is not of Excel. Save the table as .xlsx or "
            "CSV and give that."
        )
    # What some systems add to every archive.
    kept = [name for name in names if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if len(kept) != 1:
        raise TableError(
            f"{name} is a zip archive of {len(kept)} files, expected one. Unpack it and give the "
            "file that holds the table."
        )
    return archive.open(kept[0])


def _first_line(error: BaseException) -> str:
    words = str(error).strip() or type(error).__name__
    return words.splitlines()[0].rstrip(".")[:200]
