"""Tables of the UCI repository that are bundled with the package (CC BY 4.0)."""

import hashlib
import io
import lzma
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

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
Statlog (Shuttle): 58,000 rows, 9 integer features, 45,586 positive (class 1, Rad Flow), 12,414
negative (classes 2 to 7: Fpv Close, Fpv Open, High, Bypass, Bpv Close, Bpv Open).

The first 43,500 rows are UCI's training part, the other 14,500 its test part. The positive class is
class 1, which is the larger one. The paper of Robust-PU names class 1 too, but its table of data
sets prints the counts the other way round, as 12,414 positive and 45,586 negative; for that reading
take 1 - target.

Provided by Jason Catlett, University of Sydney, with thanks to NASA.
Source: UCI Machine Learning Repository, https://doi.org/10.24432/C5WS31, licence CC BY 4.0.
"""


def spambase() -> Bunch:
    """Spam against other e-mail, 4,601 rows of 57 features.

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
    names, table = read("spambase.csv.xz")
    return _bunch(names, table, ["other", "spam"], SPAMBASE)


def shuttle() -> Bunch:
    """Class 1 (Rad Flow) against the six others, 58,000 rows of 9 features.

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
    names, table = read("shuttle.csv.xz")
    return _bunch(names, table, ["other", "Rad Flow"], SHUTTLE)


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
    packed = (FOLDER / file).read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != SHA256[file]:
        raise OSError(
            f"the bundled data file {file} is damaged: expected SHA-256 {SHA256[file]}, "
            f"got {found}; reinstall robustpu"
        )
    header, _, body = lzma.decompress(packed).decode("ascii").partition("\n")
    return header.split(","), np.loadtxt(io.StringIO(body), delimiter=",")


def _bunch(
    names: list[str],
    table: NDArray[np.float64],
    target_names: list[str],
    description: str,
) -> Bunch:
    return Bunch(
        data=np.ascontiguousarray(table[:, :-1]),
        target=(table[:, -1] == 1).astype(np.int64),
        feature_names=names[:-1],
        target_names=np.array(target_names),
        DESCR=description,
        frame=None,
    )
