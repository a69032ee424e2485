"""Text of any encoding as UTF-8, in one pass."""

import codecs
from typing import Final

from robustpu.tables.errors import TableError, shown
from robustpu.tables.streams import Stream

MARKS: Final = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark it starts with
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


class Recoded:
    """Reads the bytes of a text in any encoding as UTF-8.

    What is not valid UTF-8 and has no mark of another encoding is taken for Windows-1252, which
    is Latin-1 with letters in the place of control codes. If valid UTF-8 beyond ASCII came before,
    the odd bytes are replaced instead. ``notes`` says which.

    Examples
    --------
    >>> import io
    >>> reader = Recoded(Stream(io.BytesIO("zoë".encode("latin-1")).read, "a.csv"))
    >>> Stream(reader.read, "a.csv").read().decode(), len(reader.notes)
    ('zoë', 1)
    """

    def __init__(self, stream: Stream, encoding: str | None = None) -> None:
        self._stream = stream
        self._is_given = encoding is not None
        self.notes: list[str] = []
        head = stream.peek(4096)
        self.encoding = encoding or _marked(head) or _unmarked(head) or "utf-8"
        try:
            # Codecs such as base64 are known too, but make no text.
            "a".encode(self.encoding)
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
        except (LookupError, TypeError, ValueError):
            raise TableError(
                f"encoding={encoding!r} is not known. Give one such as 'utf-8', 'latin-1', 'cp1252'"
                " or 'utf-16'."
            ) from None
        if self.encoding not in ("utf-8", encoding):
            self.notes.append(f"read as {self.encoding}")
        self._beyond_ascii = False
        self._at_start, self._at_end = True, False

    def read(self, size: int) -> bytes:
        """About ``size`` bytes, none at the end."""
        out = b""
        while not out and not self._at_end:
            raw = self._stream.read(size)
            self._at_end = not raw
            out = self._recoded(raw)
        return out

    def _recoded(self, raw: bytes) -> bytes:
        pending = self._decoder.getstate()[0]
        if self.encoding == "utf-8" and raw and not pending and raw.isascii():
            self._at_start = False
            return raw
        try:
            text = self._decoder.decode(raw, not raw)
        except (UnicodeError, ValueError, TypeError) as error:
            whole = pending + raw
            self._fall_back(whole, getattr(error, "start", 0))
            text = self._decoder.decode(whole, not raw)
        if self._at_start and text:
            self._at_start, text = False, text.removeprefix("\ufeff")
        self._beyond_ascii = self._beyond_ascii or not text.isascii()
        # A lone surrogate can be decoded, from UTF-16 or by some codecs, but not encoded.
        return text.encode("utf-8", "replace")

    def _fall_back(self, data: bytes, start: int) -> None:
        if self._is_given or self.encoding != "utf-8":
            raise TableError(
                f"{self._stream.name} is not {shown(self.encoding)} text, as "
                f"{'encoding says' if self._is_given else 'it starts'}. Leave encoding away to "
                "have it found out, or give another one."
            ) from None
        if self._beyond_ascii or not data[:start].isascii():
            self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
            self.notes.append(
                "some bytes are not UTF-8 and were replaced by \N{REPLACEMENT CHARACTER}"
            )
        else:
            self.encoding = "cp1252"
            self._decoder = codecs.getincrementaldecoder("cp1252")("replace")
            self.notes.append(
                "not UTF-8: read as Windows-1252 (Latin-1); if letters look wrong, give encoding"
            )


def _marked(head: bytes) -> str | None:
    return next((name for mark, name in MARKS.items() if head.startswith(mark)), None)


def _unmarked(head: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Western text is zero."""
    even, odd = head[::2], head[1::2]
    if len(odd) < 2:
        return None
    if odd.count(0) > 0.4 * len(odd) and even.count(0) < 0.05 * len(even):
        return "utf-16-le"
    if even.count(0) > 0.4 * len(even) and odd.count(0) < 0.05 * len(odd):
        return "utf-16-be"
    return None
