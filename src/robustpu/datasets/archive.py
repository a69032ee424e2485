"""Take single files out of an archive."""

import os
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from robustpu.datasets.integrity import is_official
from robustpu.datasets.sources import File


def take_out(archive: Path, files: list[File], folder: Path) -> None:
    """Put the wanted members of a zip or tar archive in their places, each whole or not at all.

    Names in the archive are only compared, never used as paths.

    Parameters
    ----------
    archive
        The archive.
    files
        The members that are wanted, by their paths.
    folder
        The folder of the set.

    Raises
    ------
    ValueError
        The archive is damaged, or a wanted member is missing or not the official file.
    """
    wanted = {file.path: file for file in files}
    try:
        members = _zip(archive, wanted) if zipfile.is_zipfile(archive) else _tar(archive, wanted)
        for name, stream in members:
            _place(stream, wanted.pop(name), folder)
            if not wanted:
                return
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError) as error:
        raise ValueError(f"{archive.name} is damaged: {error}") from error
    raise ValueError(f"{archive.name} lacks {', '.join(wanted)}")


def move(temporary: Path, path: Path) -> None:
    """Give a file its name, once the disk has all of it.

    Parameters
    ----------
    temporary
        The file, in the same folder.
    path
        Its name.
    """
    with temporary.open("rb+") as stream:
        os.fsync(stream.fileno())
    temporary.replace(path)


def _place(stream: IO[bytes], file: File, folder: Path) -> None:
    path = folder / file.path
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    try:
        with temporary.open("wb") as out:
            shutil.copyfileobj(stream, out, 1 << 20)
        if not is_official(temporary, file):
            raise ValueError(f"{file.path} in the archive is not the official file")
        move(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _zip(archive: Path, wanted: dict[str, File]) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(archive) as bundle:
        for name in list(wanted):
            if name in bundle.namelist():
                with bundle.open(name) as stream:
                    yield name, stream


def _tar(archive: Path, wanted: dict[str, File]) -> Iterator[tuple[str, IO[bytes]]]:
    # As a stream: to go back in a packed archive would mean to unpack it twice.
    with tarfile.open(archive, "r|*") as bundle:
        for member in bundle:
            name = member.name.removeprefix("./")
            if name in wanted and member.isreg() and (stream := bundle.extractfile(member)):
                yield name, stream
