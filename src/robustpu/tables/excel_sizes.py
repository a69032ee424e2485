"""Limits of workbooks, checked before openpyxl reads them.

It keeps an object for each tag outside of rows and for each row, all tags of the row that it is at,
and some parts as a whole. So these are bounded: by the sizes that the archive gives, and then by
going through the bytes once.
"""

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Final

import numpy as np

from robustpu.tables.errors import TableError, shown

SHEETS: Final = "xl/worksheets/"
TEXTS: Final = "xl/sharedStrings.xml"
MEDIA: Final = "xl/media/"
PICTURES: Final = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"BM",
    b"\x01\x00\x00\x00",
    b"\xd7\xcd\xc6\x9a",
)
CHUNK: Final = 1 << 20
# Bytes without a tag: a cell of Excel has 32,767 characters at most.
LONGEST: Final = 1 << 18
# Rows of a sheet, as in Excel.
MOST_ROWS: Final = 1 << 20
# What would hide where a row ends, or grow without end as entities do; Excel writes none of it.
HIDING: Final = re.compile(rb"<!|<\?(?!xml )")


@dataclass(frozen=True)
class Limits:
    """Of the parts of one kind: bytes of all, and of one item; number of items; bytes elsewhere."""

    size: int
    item: bytes = b""
    longest: int = 0
    most: int = 0
    elsewhere: int = 0


OF_SHEETS: Final = Limits(1 << 30, b"row", 1 << 23, MOST_ROWS, 1 << 24)
OF_TEXTS: Final = Limits(1 << 26, b"si", 1 << 20, 1 << 22, 1 << 20)
OF_OTHERS: Final = Limits(1 << 24)


def check_sizes(file: IO[bytes], name: str) -> None:
    """Refuse a workbook that openpyxl could not hold in memory.

    Parameters
    ----------
    file
        The workbook. No more of a part is unpacked than the size that the archive gives.
    name
        For messages.
    """
    with zipfile.ZipFile(file) as archive:
        parts = [part for part in archive.infolist() if not _is_picture(archive, part)]
        for limits in (OF_SHEETS, OF_TEXTS, OF_OTHERS):
            size = sum(part.file_size for part in parts if _limits_of(part.filename) is limits)
            if size > limits.size:
                raise TableError(
                    f"{name} is too large for a workbook: {size >> 20:,} MB, unpacked, where "
                    f"{limits.size >> 20:,} are read. Save the sheet as CSV and give that."
                )
        for part in parts:
            if part.filename.endswith((".xml", ".rels")):
                with archive.open(part) as stream:
                    reason = _wrong(stream.read, _limits_of(part.filename))
                if reason:
                    raise TableError(
                        f"{name}: its part {shown(part.filename)} {reason}. Open it in Excel and "
                        "save it again, or save the sheet as CSV."
                    )


def _is_picture(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether a part can be nothing but a picture, which is not read."""
    if not part.filename.startswith(MEDIA):
        return False
    with archive.open(part) as stream:
        return stream.read(4).startswith(PICTURES)


def _limits_of(part: str) -> Limits:
    if part.startswith(SHEETS) and part.endswith(".xml"):
        return OF_SHEETS
    return OF_TEXTS if part == TEXTS else OF_OTHERS


def _wrong(read: Callable[[int], bytes], limits: Limits) -> str:
    """What is wrong with a part, if anything is."""
    items = _Items(limits) if limits.item else None
    rest = b""
    while data := read(CHUNK):
        data = rest + data
        if HIDING.search(data):
            return "has declarations or comments, which Excel never writes"
        tags = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("<"))
        if np.diff(tags, prepend=0, append=len(data)).max() > LONGEST:
            return f"has {LONGEST >> 10} KB without a tag"
        # The last tag may not be complete.
        cut = int(tags[-1])
        if items is not None and (reason := items.wrong(data[:cut])):
            return reason
        rest = data[cut:]
    return "" if items is None else items.wrong(rest)


class _Items:
    """Rows of a sheet, or texts, that pass by.

    Parameters
    ----------
    limits
        Of their number, their length, and of what is not in them.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.tag = re.compile(rb"<(/?)(?:[\w.-]+:)?" + limits.item + rb"(?=[\s/>])[^>]*?(/?)>")
        self.count = self.length = self.elsewhere = 0
        self.is_inside = False

    def wrong(self, data: bytes) -> str:
        """What is wrong with more bytes, of whole tags, if anything is."""
        at = 0
        for found in self.tag.finditer(data):
            self._pass(found.start() - at)
            at = found.start()
            is_end, is_empty = bool(found[1]), bool(found[2])
            if is_end != self.is_inside:
                return "has a row in a row, or one that ends twice"
            self.count += not is_end
            if self._is_too_much():
                break
            if is_end or not is_empty:
                self.is_inside, self.length = not is_end, 0
        self._pass(len(data) - at)
        if self._is_too_much():
            return "has too many rows, too long a row, or too much that is in no row"
        return ""

    def _pass(self, size: int) -> None:
        if self.is_inside:
            self.length += size
        else:
            self.elsewhere += size

    def _is_too_much(self) -> bool:
        limits = self.limits
        return (
            self.count > limits.most
            or self.length > limits.longest
            or self.elsewhere > limits.elsewhere
        )
