"""Check that files can be written before the work is done, and write them in one step."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from robustpu.files.drafts import clean, draft_of, naming, reserved
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
    target = path.absolute()
    with _named(target):
        nearest = next(above for above in (target.parent, *target.parents) if above.exists())
        if not nearest.is_dir():
            raise NotADirectoryError(f"{nearest} is a file, and no folder: give another place.")
        _probe(nearest, target.name)


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
        target = Path(os.path.realpath(path))
        if (target.parent / SUMS).exists():
            raise FileExistsError(f"{path}: the folder holds a model, write to another one.")
        if target.is_dir():
            raise IsADirectoryError(f"{path} is a folder: give the name of a file.")
        if target.exists() and not target.is_file():
            raise FileExistsError(f"{path} is no plain file: give another name.")
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(f"{path} is read-only: give another name, or make it writable.")
        if not target.parent.exists():
            raise FileNotFoundError(f"the folder {target.parent} does not exist: make it.")
        if not target.parent.is_dir():
            raise NotADirectoryError(
                f"{target.parent} is a file, and no folder: give another place."
            )
        _probe(target.parent, target.name)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """An empty file to write to that becomes ``path`` in the end, and goes if anything goes wrong.

    A killed process leaves it behind; the next one that writes to the same place removes it, as it
    is no longer locked.

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
    ...     [file.name for file in Path(folder).iterdir()]
    ['a.csv']
    """
    target = Path(os.path.realpath(path))
    clean(target, _ending(target), is_folder=False)
    with naming(path), reserved(target, _ending(target), is_folder=False) as draft:
        yield draft
        # Else a crash of the machine may leave the name without the content.
        _sync(draft)
        draft.replace(target)


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
