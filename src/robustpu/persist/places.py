"""Places to write files to: tried before the work is done, and cleaned of what was left there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from robustpu.persist.locks import clean, draft_of, reserved
from robustpu.persist.reading import SUMS

PART: Final = "part"


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made, by making something beside it.

    Parameters
    ----------
    path
        The folder to be; folders above it may be missing too.

    Raises
    ------
    OSError
        Nothing can be written there.

    Examples
    --------
    >>> check_folder(Path("/dev/null/model"))
    Traceback (most recent call last):
    NotADirectoryError: /dev/null is a file, and no folder: give another place.
    """
    own = path.absolute()
    with _named(own):
        nearest = next(above for above in (own.parent, *own.parents) if above.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(f"{nearest} is a file, and no folder: give another place.")
        _probe(nearest, own.name)


def check_file(path: Path) -> None:
    """Refuse a file that cannot be written, by writing something beside it.

    Parameters
    ----------
    path
        The file. What a link leads to is written, not the link.

    Raises
    ------
    OSError
        It is a folder, no plain file or read-only; it is in a model; its folder is not there; or
        nothing can be written there.

    Examples
    --------
    >>> check_file(Path("/dev/null"))
    Traceback (most recent call last):
    FileExistsError: /dev/null is no plain file: give another name.
    """
    with _named(path):
        own = Path(os.path.realpath(path))
        if (own.parent / SUMS).exists():
            raise FileExistsError(f"{path}: the folder holds a model, write to another one.")
        if own.is_dir():
            raise IsADirectoryError(f"{path} is a folder: give the name of a file.")
        if own.exists() and not own.is_file():
            raise FileExistsError(f"{path} is no plain file: give another name.")
        if own.exists() and not os.access(own, os.W_OK):
            raise PermissionError(f"{path} is read-only: give another name, or make it writable.")
        if not own.parent.exists():
            raise FileNotFoundError(f"the folder {own.parent} does not exist: make it.")
        if not own.parent.is_dir():
            raise NotADirectoryError(f"{own.parent} is a file, and no folder: give another place.")
        _probe(own.parent, own.name)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """An empty file to write to that becomes ``path`` in the end, and goes if anything goes wrong.

    A process that is killed on the way leaves it behind; the next one that writes to the same
    place removes it, by its lock knowing that nobody writes to it any more.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with whole(Path(folder, "a.csv")) as draft:
    ...         _ = draft.write_text("1")
    ...     [own.name for own in Path(folder).iterdir()]
    ['a.csv']
    """
    own = Path(os.path.realpath(path))
    clean(own, _ending(own), is_folder=False)
    with reserved(own, _ending(own), is_folder=False) as draft:
        yield draft
        # Else a crash of the machine may leave the name without the content.
        _sync(draft)
        draft.replace(own)


def _sync(path: Path) -> None:
    """Have a file on disk."""
    with path.open("rb+") as stream:
        os.fsync(stream.fileno())


def _ending(path: Path) -> str:
    # That of the file stays: by it others tell what to write.
    return f"{PART}{path.suffix}"


def _probe(folder: Path, name: str) -> None:
    draft = draft_of(folder / name, _ending(Path(name)))
    try:
        draft.touch(exist_ok=False)
    except OSError as error:
        _refuse(folder, error)
    draft.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Have errors of the system say what to do; ours have no number."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        _refuse(path, error)


def _refuse(place: Path, error: OSError) -> NoReturn:
    raise type(error)(
        f"nothing can be written to {place}: {error.strerror}. Give another place or name, or make "
        "it writable."
    ) from None
