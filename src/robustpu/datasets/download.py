"""Bring a file from the net, going on where an earlier try stopped."""

import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Final, TypeAlias
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from robustpu import __version__
from robustpu.datasets.integrity import is_official
from robustpu.datasets.sources import Download, File

# (name of the file, bytes that are here, bytes in all)
Report: TypeAlias = Callable[[str, int, int], None]

CHUNK: Final = 1 << 18
TIMEOUT: Final = 30.0
# So many tries in a row may bring nothing new; the pause between two doubles, in seconds.
TRIES: Final = 3
PAUSE: Final = 0.5


class DownloadError(OSError):
    """No address gave the file."""


class _BrokenError(Exception):
    """The line or the server failed: to try again may help."""


class _RefusedError(Exception):
    """This address does not give the file: another one may."""


def download(offer: Download, part: Path, report: Report) -> None:
    """Bring `offer.whole` from the first address that gives it, and check it.

    Parameters
    ----------
    offer
        What to bring.
    part
        Where to put it. What an earlier try has left there is not brought again, and what a try
        that fails has brought is left there for the next.
    report
        Told how far it is.

    Raises
    ------
    DownloadError
        No address gave the file.
    """
    troubles = []
    for url in offer.urls:
        try:
            _from_address(url, offer.whole, part, report)
        except _RefusedError as trouble:
            troubles.append(f"{url}: {trouble}")
        else:
            return
    kept = "; what came is kept: run the same again to go on" if _length(part) else ""
    raise DownloadError(f"{offer.whole.path} did not come; {'; '.join(troubles)}{kept}")


def _from_address(url: str, file: File, part: Path, report: Report) -> None:
    furthest = _length(part)
    inherited = furthest > 0
    idle = 0
    while True:
        try:
            _transfer(url, file, part, report)
        except _BrokenError as trouble:
            idle = 0 if _length(part) > furthest else idle + 1
            furthest = max(furthest, _length(part))
            if idle == TRIES:
                raise _RefusedError(str(trouble)) from trouble
            time.sleep(PAUSE * 2**idle)
            continue
        if is_official(part, file):
            return
        part.unlink()
        if not inherited:
            raise _RefusedError("what came has another checksum than the official file")
        # The fault may be in what an earlier try had left: once more, from the beginning.
        inherited = False


def _transfer(url: str, file: File, part: Path, report: Report) -> None:
    """Bring what is missing of a file, in one request."""
    start = _length(part)
    if start == file.size:
        return
    with _open(url, part, start) as response:
        if response.status != 206:
            start = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            raise _RefusedError("the server sends another part of the file than was asked for")
        length = response.headers.get("Content-Length")
        if length is not None and start + int(length) != file.size:
            raise _RefusedError(f"it has {start + int(length):,} bytes there, not {file.size:,}")
        with part.open("ab" if start else "wb") as stream:
            while start < file.size and (chunk := _receive(response)):
                start += stream.write(chunk[: file.size - start])
                report(file.path, start, file.size)
    if start < file.size:
        raise _BrokenError(f"the line broke after {start:,} of {file.size:,} bytes")


def _open(url: str, part: Path, start: int) -> HTTPResponse:
    headers = {"User-Agent": f"robustpu/{__version__}"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        response: HTTPResponse = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError as error:
        error.close()
        answer = f"the server answers {error.code} {error.reason}"
        if error.code == 416:
            # There is no such rest of the file: what is here is not its beginning.
            part.unlink(missing_ok=True)
        if error.code in (408, 416, 429) or error.code >= 500:
            raise _BrokenError(answer) from error
        raise _RefusedError(answer) from error
    except (OSError, HTTPException, ValueError) as error:
        # A proxy's address may be nonsense, which is a ValueError.
        raise _BrokenError(str(getattr(error, "reason", error))) from error
    return response


def _receive(response: HTTPResponse) -> bytes:
    try:
        return response.read1(CHUNK)
    except (OSError, HTTPException) as error:
        raise _BrokenError(f"the line broke: {error}") from error


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
