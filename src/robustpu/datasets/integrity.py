"""Whether the files of a data set are there, whole, and the official ones."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from robustpu.datasets import uci
from robustpu.datasets.alzheimer import picture_files, read_picture
from robustpu.datasets.reading import check_size, explained, holds
from robustpu.datasets.sources import File, Source

Verdict: TypeAlias = Literal["good", "missing", "damaged", "differs"]


@dataclass(frozen=True)
class Finding:
    """What is the case with a file, or with a folder of pictures."""

    path: str
    verdict: Verdict
    why: str = ""


def inspect(source: Source, root: Path, *, checksums: bool) -> list[Finding]:
    """Look at every file of a set.

    Parameters
    ----------
    source
        The set.
    root
        The data folder.
    checksums
        Whether to read the files and compare checksums, rather than sizes alone.

    Returns
    -------
    findings
        One a file or a folder of pictures. A file of the right size with another checksum
        "differs": it is a copy that someone packed again, or bits of it are wrong.
    """
    folder = root / source.folder
    return [
        *(_look(folder, file, checksums) for file in source.files),
        *(_look_at_pictures(source, folder, name, checksums) for name in source.pictures),
    ]


def state(source: Source, root: Path) -> str:
    """Whether a set can be loaded, in a word or two; only sizes are looked at.

    Parameters
    ----------
    source
        The set.
    root
        The data folder.

    Returns
    -------
    state
        "bundled", "present", "missing" or "damaged". Where only a part is there, how many files.
    """
    if _is_bundled_read(source, root):
        return "bundled"
    findings = inspect(source, root, checksums=False)
    lacking = {finding.path for finding in findings if finding.verdict == "missing"}
    if any(finding.verdict == "damaged" for finding in findings):
        return "damaged"
    optional = {file.path for file in source.files if file.optional}
    word = "present" if lacking <= optional else "missing"
    if lacking and len(lacking) < len(findings):
        return f"{word} ({len(findings) - len(lacking)}/{len(findings)})"
    return word


def verify(source: Source, root: Path) -> list[Finding]:
    """Read every file of a set that its loader would read, and compare checksums.

    Parameters
    ----------
    source
        The set.
    root
        The data folder.

    Returns
    -------
    findings
        As of `inspect`; of a bundled set, one finding about the bundled copy if that is read.
    """
    if _is_bundled_read(source, root):
        return [_look_at_bundled(source)]
    return inspect(source, root, checksums=True)


def is_official(path: Path, file: File) -> bool:
    """Whether a file has the official size and checksum.

    Parameters
    ----------
    path
        Where it is.
    file
        What it should be.
    """
    return path.stat().st_size == file.size and digest(path, file.checksum) == file.checksum


def digest(path: Path, like: str) -> str:
    """The checksum of a file.

    Parameters
    ----------
    path
        The file.
    like
        A checksum of the same kind: "md5:..." or "sha256:...".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "empty"
    ...     path.touch()
    ...     digest(path, "md5:")
    'md5:d41d8cd98f00b204e9800998ecf8427e'
    """
    algorithm = like.partition(":")[0]
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, lambda: hashlib.new(algorithm, usedforsecurity=False))
    return f"{algorithm}:{found.hexdigest()}"


def _is_bundled_read(source: Source, root: Path) -> bool:
    return bool(source.bundled) and not holds(source, root / source.folder)


def _look(folder: Path, file: File, checksums: bool) -> Finding:
    path = folder / file.path
    try:
        check_size(path, file)
        found = digest(path, file.checksum) if checksums else file.checksum
    except (FileNotFoundError, NotADirectoryError):
        return Finding(file.path, "missing")
    except ValueError as error:
        return Finding(file.path, "damaged", str(error))
    except OSError as error:
        return Finding(file.path, "damaged", f"it cannot be read: {error.strerror}")
    if found != file.checksum:
        why = f"differs from the official file: {found}, not {file.checksum}"
        return Finding(file.path, "differs", why)
    return Finding(file.path, "good")


def _look_at_pictures(source: Source, folder: Path, name: str, decode: bool) -> Finding:
    try:
        for path in picture_files(source, folder, name):
            if decode:
                with explained(source, folder, path):
                    read_picture(path, source.shape[1:])
    except (FileNotFoundError, NotADirectoryError):
        return Finding(name, "missing")
    except OSError as error:
        return Finding(name, "damaged", str(error))
    return Finding(name, "good")


def _look_at_bundled(source: Source) -> Finding:
    file = f"{source.folder}.csv.xz"
    if file not in uci.SHA256:
        return Finding(f"part of {source.bundled}", "good")
    try:
        uci.read(file)
    except OSError as error:
        return Finding(file, "damaged", str(error))
    return Finding(f"bundled {file}", "good")
