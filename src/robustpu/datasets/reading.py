"""Read an official file whole, or say which one is missing or damaged and what to do."""

import gzip
import shlex
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robustpu.datasets.folder import VARIABLE, data_folder
from robustpu.datasets.sources import File, Source


def holds(source: Source, folder: Path) -> bool:
    """Whether there is something in the place of every file of a set that has files.

    Parameters
    ----------
    source
        The set.
    folder
        The folder of the set.
    """
    try:
        return bool(source.files) and all((folder / file.path).exists() for file in source.files)
    except PermissionError:
        # A cache of another user's must not stand in the way of a bundled set.
        return False


def read(source: Source, folder: Path, file: File) -> bytes:
    """The bytes of a file that must have its official size.

    Parameters
    ----------
    source
        The set.
    folder
        The folder of the set.
    file
        One of its files.

    Raises
    ------
    OSError
        The file is missing, cannot be read, or has another size.
    """
    path = folder / file.path
    with explained(source, folder, path):
        check_size(path, file)
        return path.read_bytes()


def check_size(path: Path, file: File) -> None:
    """Refuse what is not a file of the official size.

    Parameters
    ----------
    path
        Where the file is.
    file
        What it should be.

    Raises
    ------
    ValueError
        It is a folder, or has another size.
    OSError
        It is missing or cannot be looked at.
    """
    size = path.stat().st_size
    if path.is_dir():
        raise ValueError("it is a folder, not a file")
    if size != file.size:
        raise ValueError(f"it has {size:,} bytes, not {file.size:,}")


@contextmanager
def explained(source: Source, folder: Path, path: Path) -> Iterator[None]:
    """Turn what goes wrong while a file is read into an error that names it and says what to do.

    Parameters
    ----------
    source
        The set.
    folder
        The folder of the set.
    path
        The file. Its reader raises ValueError where the content is wrong.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{source.name} is not complete in {folder.parent}: {path} is missing; "
            f"{_remedy(source, folder)}, or give the folder that holds {source.folder!r} as "
            f"data_dir or in {VARIABLE}"
        ) from error
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(f"{path} is damaged: {error}; {_remedy(source, folder)}") from error


def _remedy(source: Source, folder: Path) -> str:
    if source.bundled:
        return "delete it to read the bundled copy"
    root = folder.parent
    where = "" if root == data_folder() else f" --data-dir {shlex.quote(str(root))}"
    return f"run `robustpu datasets fetch {source.name}{where}`"
