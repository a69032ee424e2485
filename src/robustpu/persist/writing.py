"""Writing a model folder: all of it, or nothing.

The files go to a folder next to the target, which replaces it when all of them are on disk. A
killed process leaves that folder behind; the next one that saves there removes it, as it is no
longer locked.
"""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from robustpu.files.drafts import clean, naming, reserved
from robustpu.files.swap import swapped
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.reading import EARLIER, SUMS, opened, read_sums

SAVING: Final = "saving"


def write_folder(target: Path, files: Mapping[str, bytes], overwrite: bool) -> None:
    """Write files to a folder that is there at once, or not at all.

    Parameters
    ----------
    target
        The folder. Folders above it are made where they are missing.
    files
        Name -> content.
    overwrite
        Whether to replace a model that is there.

    Raises
    ------
    FileExistsError
        There is something, and it is not to be replaced, or not a model.
    """
    target = target.absolute()
    check_target(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    clean(target, SAVING, is_folder=True)
    with naming(target), reserved(target, SAVING, is_folder=True) as folder:
        for name, content in files.items():
            _write(folder / name, content)
        _sync(folder)
        check_target(target, overwrite)
        _put(folder, target, overwrite)
        _sync(target.parent)
    clean(target, EARLIER, is_folder=True)


def check_target(target: Path, overwrite: bool) -> None:
    """Refuse to write where something is that must stay."""
    if target.is_symlink():
        raise FileExistsError(f"{target} is a link: give the folder that it leads to.")
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not target.is_dir():
        raise FileExistsError(f"{target} is a file, and a model is a folder: give another path.")
    if not overwrite:
        raise FileExistsError(
            f"{target} is there already: give another path, or overwrite=True to replace it."
        )
    # Never a folder of something else, nor what someone laid beside a model.
    try:
        with opened(target) as folder:
            listed, there = {SUMS, *read_sums(folder)}, folder.names()
    except ModelFolderError as error:
        raise FileExistsError(
            f"{target} is not a model, and is left as it is: {error} Give another path."
        ) from None
    if there - listed:
        name = sorted(there - listed)[0]
        raise FileExistsError(
            f"{target} holds {name!r}, which is not part of a model, and is left as it is. Move "
            "it elsewhere, or give another path."
        )


def _put(folder: Path, target: Path, overwrite: bool) -> None:
    """Let the folder take the place of the target, in one step if the system can do that."""
    if not overwrite or not target.exists():
        try:
            folder.rename(target)
        except OSError:
            # Somebody was quicker.
            check_target(target, overwrite)
            raise
        return
    if swapped(folder, target):
        return
    aside = folder.with_name(f"{folder.name.removesuffix(SAVING)}{EARLIER}")
    try:
        target.rename(aside)
        folder.rename(target)
    except BaseException:
        if aside.exists() and not target.exists():
            aside.rename(target)
        raise


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    """Have the names in a folder on disk; Windows has no way to ask for it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems cannot, and need not.
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)
