"""Tables of the UCI repository of which the package has a copy (CC BY 4.0)."""

import hashlib
import io
import lzma
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from robustpu.datasets import reading
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.sources import Source

FOLDER: Traversable = resources.files(__package__) / "bundled"

SHA256: Final = {
    "spambase.csv.xz": "d68771ec536c3730ecbb94721b778ebe36293b749be1df4b665c453108cdc246",
    "shuttle.csv.xz": "38690254d714acee4e031939b602e23220e7af2917973a393afa6df476e4f09e",
}

SPAMBASE: Final = """\
Spambase: 4,601 e-mails, 57 features, 1,813 positive (spam), 2,788 negative.

48 features are the share, in per cent, of the e-mail's words that are a given word, 6 the share of
its characters that are a given character, 3 the average, longest and total length of runs of
capital letters. Shares are at most 100 and lengths reach 15,841, so scale before you train a
network. 391 rows repeat an earlier row.

Creators: Mark Hopkins, Erik Reeber, George Forman, Jaap Suermondt.
Source: UCI Machine Learning Repository, https://doi.org/10.24432/C53G6X, licence CC BY 4.0.
"""

SHUTTLE: Final = """\
Statlog (Shuttle): 58,000 rows, 9 integer features, {which}

The first 43,500 rows are UCI's training part, the other 14,500 its test part. `label` is the class:
1 Rad Flow, 2 Fpv Close, 3 Fpv Open, 4 High, 5 Bypass, 6 Bpv Close, 7 Bpv Open.

The paper of Robust-PU names class 1 as the positive one, which is the larger ("shuttle"), but its
table of data sets prints the counts the other way round, as 12,414 positive and 45,586 negative
("shuttle-minority").

Provided by Jason Catlett, University of Sydney, with thanks to NASA.
Source: UCI Machine Learning Repository, https://doi.org/10.24432/C5WS31, licence CC BY 4.0.
"""
MAJORITY: Final = "45,586 positive (class 1), 12,414 negative."
MINORITY: Final = "12,414 positive (classes 2 to 7), 45,586 negative."


def spambase(folder: Path | None = None) -> Bunch:
    """Spam against other e-mail, 4,601 rows of 57 features.

    Parameters
    ----------
    folder
        A folder that may hold UCI's spambase.data. Without it, the bundled copy is read.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.

    Examples
    --------
    >>> from robustpu.datasets.uci import spambase
    >>> int(spambase().target.sum())
    1813
    """
    source = SOURCES["spambase"]
    names, table = _table(source, folder, delimiter=",")
    return _bunch(source, names, table, (1,), SPAMBASE)


def shuttle(folder: Path | None = None) -> Bunch:
    """Class 1 (Rad Flow) against the six others, 58,000 rows of 9 features.

    Parameters
    ----------
    folder
        A folder that may hold UCI's shuttle.trn and shuttle.tst. Without them, the bundled copy is
        read.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.

    Examples
    --------
    >>> from robustpu.datasets.uci import shuttle
    >>> int(shuttle().target.sum())
    45586
    """
    return _shuttle(SOURCES["shuttle"], folder, (1,), MAJORITY)


def shuttle_minority(folder: Path | None = None) -> Bunch:
    """Classes 2 to 7 against class 1 (Rad Flow): `shuttle` the other way round.

    Parameters
    ----------
    folder
        As of `shuttle`.

    Returns
    -------
    bunch
        As of `robustpu.datasets.load`.

    Examples
    --------
    >>> from robustpu.datasets.uci import shuttle_minority
    >>> int(shuttle_minority().target.sum())
    12414
    """
    return _shuttle(SOURCES["shuttle-minority"], folder, (2, 3, 4, 5, 6, 7), MINORITY)


def read(file: str) -> tuple[list[str], NDArray[np.float64]]:
    """Check and read a bundled table.

    Parameters
    ----------
    file
        A key of `SHA256`.

    Returns
    -------
    names
        The columns' names; the last is the class.
    table
        Shape (rows, columns).

    Raises
    ------
    OSError
        The file is not the one that was bundled.

    Examples
    --------
    >>> from robustpu.datasets.uci import read
    >>> names, table = read("spambase.csv.xz")
    >>> len(names)
    58
    """
    names, body = _unpack(file)
    return names, np.loadtxt(io.StringIO(body), delimiter=",")


def _unpack(file: str) -> tuple[list[str], str]:
    packed = (FOLDER / file).read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != SHA256[file]:
        raise OSError(
            f"the bundled data file {file} is damaged: expected SHA-256 {SHA256[file]}, "
            f"got {found}; reinstall robustpu"
        )
    header, _, body = lzma.decompress(packed).decode("ascii").partition("\n")
    return header.split(","), body


def _shuttle(source: Source, folder: Path | None, positive: tuple[int, ...], text: str) -> Bunch:
    names, table = _table(source, folder, delimiter=None)
    bunch = _bunch(source, names, table, positive, SHUTTLE.format(which=text))
    bunch.label = table[:, -1].astype(np.int64)
    bunch.is_test = np.arange(len(table)) >= 43_500
    return bunch


def _table(
    source: Source, folder: Path | None, delimiter: str | None
) -> tuple[list[str], NDArray[np.float64]]:
    """The columns' names and the rows: UCI's own files where they all are, else the bundled one."""
    bundled = f"{source.folder}.csv.xz"
    if folder is None or not reading.holds(source, folder):
        return read(bundled)
    names, _ = _unpack(bundled)
    parts = []
    for file in source.files:
        content = reading.read(source, folder, file)
        with reading.explained(source, folder, folder / file.path):
            part = np.loadtxt(io.BytesIO(content), delimiter=delimiter, ndmin=2)
            if part.shape[1] != len(names):
                raise ValueError(f"it has {part.shape[1]} columns, not {len(names)}")
            parts.append(part)
    return names, np.concatenate(parts)


def _bunch(
    source: Source,
    names: list[str],
    table: NDArray[np.float64],
    positive: tuple[int, ...],
    description: str,
) -> Bunch:
    return Bunch(
        data=np.ascontiguousarray(table[:, :-1]),
        target=np.isin(table[:, -1], positive).astype(np.int64),
        feature_names=names[:-1],
        target_names=np.array(source.classes),
        DESCR=description,
        frame=None,
    )
