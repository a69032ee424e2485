"""Bring the official files of a data set from the net."""

import errno
from pathlib import Path

from robustpu.datasets.archive import move, take_out
from robustpu.datasets.download import DownloadError, Report, download
from robustpu.datasets.integrity import inspect
from robustpu.datasets.sources import Download, File, Source
from robustpu.files.locks import locked


def fetch(source: Source, root: Path, *, report: Report, force: bool = False) -> list[str]:
    """Bring every file of a set that is missing or is not the official one.

    A file gets its name only when all of it is here and its checksum is right. What a run that
    stops has brought is kept for the next one. Of several processes, one fetches a set at a time.

    Parameters
    ----------
    source
        A set with downloads.
    root
        The data folder.
    report
        Told how far it is.
    force
        Whether to bring the files that are there again.

    Returns
    -------
    paths
        The files that came, below the folder of the set.

    Raises
    ------
    OSError
        A file did not come, or cannot be written.
    """
    if not force and not _lacking(source, root):
        return []
    folder = root / source.folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / ".lock", lambda: report("waiting for another process", 0, 1)):
            wanted = list(source.files) if force else _lacking(source, root)
            _fetch(source, wanted, folder, report)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            hint = "make room and run the same again to go on"
            raise OSError(f"no room for {folder} ({error.strerror}); {hint}") from error
        raise
    return [file.path for file in wanted]


def _lacking(source: Source, root: Path) -> list[File]:
    findings = inspect(source, root, checksums=True)
    good = {finding.path for finding in findings if finding.verdict == "good"}
    return [file for file in source.files if file.path not in good]


def _fetch(source: Source, wanted: list[File], folder: Path, report: Report) -> None:
    here: set[File] = set()
    for number, offer in enumerate(source.downloads, start=1):
        needed = [file for file in offer.gives if file in wanted and file not in here]
        if not needed:
            continue
        try:
            _bring(offer, needed, folder, report)
        except DownloadError:
            # Perhaps the same files are offered in another form.
            later = {file for other in source.downloads[number:] for file in other.gives}
            if not later.issuperset(needed):
                raise
        else:
            here.update(needed)


def _bring(offer: Download, needed: list[File], folder: Path, report: Report) -> None:
    part = folder / f"{offer.whole.path}.part"
    download(offer, part, report)
    if offer.whole in needed:
        move(part, folder / offer.whole.path)
        return
    report(f"unpacking {offer.whole.path}", 0, 1)
    try:
        take_out(part, needed, folder)
    except ValueError as error:
        part.unlink()
        raise DownloadError(f"{offer.urls[0]}: {error}") from error
    part.unlink()
