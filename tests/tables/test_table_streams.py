"""Files packed in any way, and files that are not there or not whole."""

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from robustpu.tables import TableError, iter_table, read_table

CSV = b"amount,label\n1.5,1\n2.5,\n"


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def arrow_packed(data: bytes, codec: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as out:
        out.write(data)
    return sink.getvalue().to_pybytes()


PACKED = {
    "plain": CSV,
    "gzip": gzip.compress(CSV),
    "bzip2": bz2.compress(CSV),
    "xz": lzma.compress(CSV),
    "zstd": arrow_packed(CSV, "zstd"),
    "lz4": arrow_packed(CSV, "lz4"),
    "zip": zipped(a=CSV),
    "zip of gzip": zipped(a=gzip.compress(CSV)),
    "zip of a Macintosh": zipped(**{"a": CSV, "__MACOSX/a": b"junk"}),
}


@pytest.mark.parametrize("packing", PACKED)
def test_same_table_however_packed(packing: str, tmp_path: Path) -> None:
    path = tmp_path / "table.bin"  # the name says nothing
    path.write_bytes(PACKED[packing])
    expected = {"amount": ["1.5", "2.5"], "label": ["1", ""]}
    assert read_table(path).data.to_pydict() == expected
    assert read_table(str(path)).data.to_pydict() == expected
    with path.open("rb") as file:
        assert read_table(file).data.to_pydict() == expected


@pytest.mark.parametrize("packing", PACKED)
def test_standard_input(packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.RawIOBase):
        """Gives few bytes at a time, and cannot go back."""

        def __init__(self, data: bytes) -> None:
            self._data = io.BytesIO(data)

        def read(self, size: int = -1) -> bytes:
            return self._data.read(min(size, 3) if size > 0 else size)

    monkeypatch.setattr(sys, "stdin", type("In", (), {"buffer": Pipe(PACKED[packing])}))
    table = read_table("-")
    assert table.source == "standard input"
    assert table.data.to_pydict() == {"amount": ["1.5", "2.5"], "label": ["1", ""]}


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstd", "zip"])
def test_truncated(packing: str, tmp_path: Path) -> None:
    path = tmp_path / "cut.csv"
    path.write_bytes(PACKED[packing][: len(PACKED[packing]) * 2 // 3])
    with pytest.raises(TableError, match=r"cut\.csv is damaged"):
        read_table(path)


def test_zip_of_two_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "two.zip"
    path.write_bytes(zipped(a=CSV, b=CSV))
    with pytest.raises(TableError, match=r"two\.zip is a zip archive of 2 files, expected one"):
        read_table(path)


def test_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    path.write_bytes(zipped(**{"[Content_Types].xml": b"", "b": b""}))
    with pytest.raises(TableError, match="a workbook that is not of Excel"):
        read_table(path)


def test_what_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"absent\.csv does not exist"):
        read_table(tmp_path / "absent.csv")
    with pytest.raises(TableError, match="is a folder"):
        read_table(tmp_path)
    with pytest.raises(TableError, match="is an address"):
        read_table("https://example.org/a.csv")
    with pytest.raises(TableError, match="cannot be opened"):
        read_table("a\0b")
    with pytest.raises(TableError, match="of type int, expected the path"):
        read_table(5)
    with pytest.raises(TableError, match="open it as bytes"):
        read_table(io.StringIO("a,b\n1,2\n"))


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"", "is empty"),
        (b"  \n \n", "is empty"),
        (b"\xd0\xcf\x11\xe0rest", "old or encrypted Excel workbook"),
        (b"%PDF-1.4 x", "a PDF document"),
        (b"\x80\x04\x95pickle", "could run code"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), "no text"),
        (b"PAR1 and no more", "is damaged"),
        (b"ARROW1 and no more", "is damaged"),
    ],
)
def test_what_is_not_a_table(head: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(head)
    with pytest.raises(TableError, match=message) as caught:
        read_table(path)
    assert "odd.csv" in str(caught.value)


def test_out_of_memory() -> None:
    class Huge(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise MemoryError

    with pytest.raises(TableError, match="does not fit into the memory"):
        read_table(Huge())


def test_parts_left_early_close_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 1000)
    parts = iter_table(path, rows=10)
    assert next(parts).n_rows == 10
    parts.close()  # an open file would be a ResourceWarning, and so an error


class Broken(io.RawIOBase):
    """A file that cannot be read any further."""

    name = "broken.csv"

    def __init__(self, number: int) -> None:
        self.number = number

    def read(self, size: int = -1) -> bytes:
        raise OSError(self.number, os.strerror(self.number))


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_what_is_wrong_with_the_machine_is_said_of_it(number: int) -> None:
    with pytest.raises(OSError, match=re.escape(os.strerror(number))) as caught:
        read_table(Broken(number))
    assert caught.value.errno == number


def test_other_errors_of_the_system_are_of_the_file() -> None:
    with pytest.raises(TableError, match=r"broken\.csv is damaged"):
        read_table(Broken(errno.ESPIPE))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is always full")
def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(Path("/dev/full").open, "w+b"))
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": range(10_000)}), sink)
    with pytest.raises(OSError, match="No space left") as caught:
        read_table(io.BytesIO(sink.getvalue()))
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == tempfile.gettempdir()
