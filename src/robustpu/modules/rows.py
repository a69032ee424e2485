"""Rows of arrays that may be larger than memory: read block by block, with the same sums."""

import math
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Floats = NDArray[np.float64]
Scale: TypeAlias = tuple[Floats, Floats]

# Numbers of a block: a few megabytes in double precision.
BLOCK = 1 << 18
# Where Linux tells the limit of a control group, of version 2 and 1.
LIMITS = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"


def is_mapped(X: Any) -> bool:
    """Whether an array lies in a mapped file, row after row, so that it need not be in memory.

    An array whose rows are scattered over the file, as in Fortran order, is not: to read one row
    of it is to read nearly all.

    Examples
    --------
    >>> from tempfile import TemporaryFile
    >>> with TemporaryFile() as file:
    ...     rows = np.memmap(file, np.uint8, "w+", shape=(5, 2))
    ...     is_mapped(rows), is_mapped(rows[1:]), is_mapped(rows.T), is_mapped(rows + 1)
    (True, True, False, False)
    """
    return file_of(X) is not None and X.ndim > 0 and in_order(X)


def file_of(X: Any) -> mmap.mmap | None:
    """The mapped file that an array lies in, None if it lies in memory.

    Examples
    --------
    >>> file_of(np.zeros(3)) is None
    True
    """
    base = X
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def memory() -> int:
    """Bytes of memory that this process may have; none where the machine does not tell.

    In a container, what it is limited to, by control groups.

    Examples
    --------
    >>> memory() >= 0
    True
    """
    try:
        sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, ValueError, OSError):
        return 0
    for path in LIMITS:
        # Not there, or "max".
        with suppress(OSError, ValueError):
            sizes.append(int(Path(path).read_text()))
    return min(sizes)


def ask_for(X: NDArray[Any], rows: NDArray[np.intp]) -> None:
    """Have the system fetch scattered rows of a mapped file at once, and little else.

    Left to itself it fetches one row at a time, and 128 kB around it: good for a file that will
    stay in memory, so that of a file of less than half the memory nothing is asked.

    Parameters
    ----------
    X
        Lies in the file.
    rows
        In ascending order.

    Examples
    --------
    >>> from tempfile import TemporaryFile
    >>> with TemporaryFile() as file:
    ...     X = np.memmap(file, np.uint8, "w+", shape=(5, 2))
    ...     ask_for(X, np.array([1, 3]))
    ...     int(X[[1, 3]].sum())
    0
    """
    file = file_of(X)
    # Not on every system.
    advice = getattr(mmap, "MADV_WILLNEED", None)
    if file is None or advice is None or 2 * X.nbytes < memory():
        return
    # Where the array begins in the file, as far as that is mapped.
    begin = X.ctypes.data - np.frombuffer(file, np.uint8, 1).ctypes.data
    for start, end in runs(begin + rows * X.strides[0], X[:1].nbytes, mmap.PAGESIZE):
        file.madvise(advice, start, end - start)


def runs(starts: NDArray[np.intp], size: int, page: int) -> list[tuple[int, int]]:
    """Begin and end, in whole pages, of pieces of memory; neighbours are put together.

    Parameters
    ----------
    starts
        Where pieces begin, ascending, at least one.
    size
        Of each, in bytes.
    page
        Bytes of a page.

    Examples
    --------
    >>> runs(np.array([5, 12, 95]), 10, page=10)
    [(0, 30), (90, 110)]
    """
    first, last = starts // page, (starts + size - 1) // page
    apart = np.flatnonzero(first[1:] > last[:-1] + 1) + 1
    begins = first[np.append(0, apart)] * page
    ends = (last[np.append(apart - 1, len(starts) - 1)] + 1) * page
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def in_order(X: NDArray[Any]) -> bool:
    """Whether each row is one piece of memory, and comes after the one before.

    Examples
    --------
    >>> X = np.zeros((4, 3))
    >>> in_order(X), in_order(X[::2, 1:]), in_order(X[::-1]), in_order(X.T)
    (True, True, False, False)
    """
    first = X[:1]
    return bool(first.flags.c_contiguous) and (len(X) < 2 or X.strides[0] >= first.nbytes)


def blocks(
    X: NDArray[Any], numbers: int | None = None, *, width: int | None = None
) -> Iterator[slice]:
    """Cut the rows of an array into blocks of a limited size, at least a row each.

    Parameters
    ----------
    X
        Rows (n, ...).
    numbers
        In a block, by default 262,144.
    width
        Numbers that a row takes, by default those of X.

    Examples
    --------
    >>> [block.stop for block in blocks(np.zeros((5, 100_000)))]
    [2, 4, 5]
    """
    width = math.prod(X.shape[1:]) if width is None else width
    step = max(1, (numbers or BLOCK) // max(1, width))
    for start in range(0, len(X), step):
        yield slice(start, min(start + step, len(X)))


def extremes(X: NDArray[Any]) -> NDArray[Any]:
    """Least and largest value of each column, (2, ...); NaN where there is one.

    Examples
    --------
    >>> extremes(np.array([[1, 7], [3, 5]])).tolist()
    [[1, 5], [3, 7]]
    """
    low = high = None
    with np.errstate(invalid="ignore"):
        for block in blocks(X):
            least, largest = X[block].min(axis=0), X[block].max(axis=0)
            low = least if low is None else np.minimum(low, least)
            high = largest if high is None else np.maximum(high, largest)
    return np.stack([low, high])  # type: ignore[list-item]


def column_sums(X: NDArray[Any], of: Callable[[NDArray[Any]], NDArray[Any]]) -> Floats:
    """Sum of each column of ``of(X)`` in double precision, (d,), to the bit as numpy has it.

    Parameters
    ----------
    X
        Rows (n, d).
    of
        Rows -> numbers of the same shape, row by row.

    Examples
    --------
    >>> column_sums(np.array([[1, 7], [3, 5]]), np.square).tolist()
    [10.0, 74.0]
    """
    # numpy adds row to row where columns lie side by side, and so do blocks. It adds in pairs
    # along a column that is one piece of memory.
    if X.shape[1] < 2 or not in_order(X):
        whole: Floats = np.add.reduce(of(X), axis=0, dtype=np.float64)
        return whole
    total = np.zeros(X.shape[1])
    for place, block in enumerate(blocks(X)):
        part = of(X[block]).astype(np.float64, copy=False)
        # Not from zero: -0.0 would be lost.
        total = np.add.reduce(part if place == 0 else np.concatenate([total[None], part]), axis=0)
    return total


def inputs_of(rows: NDArray[Any], scale: Scale | None, kind: DTypeLike) -> NDArray[Any]:
    """(rows - mean) / scale in double precision, then in that of inputs; C order, and writable.

    Parameters
    ----------
    rows
        (n, ...).
    scale
        Mean and scale of each column, or None to leave rows as they are.
    kind
        Precision of inputs.

    Examples
    --------
    >>> inputs_of(np.array([[1], [3]]), (np.array([2.0]), np.array([0.5])), np.float32).tolist()
    [[-2.0], [2.0]]
    """
    with np.errstate(over="ignore"):
        if scale is not None:
            rows = rows - scale[0]
            rows /= scale[1]
        # torch takes neither foreign byte orders nor long doubles, and warns of read-only arrays.
        return np.require(rows, dtype=kind, requirements=["C", "W"])


def some_of_each(
    is_positive: NDArray[np.bool_], most: tuple[int, int], seed: int
) -> NDArray[np.intp]:
    """Draw a limited number of labelled and of unlabelled rows; in ascending order.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    most
        Of the labelled and of the unlabelled ones.
    seed
        Decides which.

    Examples
    --------
    >>> rows = some_of_each(np.arange(9) < 2, (3, 4), seed=0)
    >>> len(rows), int((rows < 2).sum())
    (6, 2)
    """
    random = np.random.default_rng(seed)
    parts = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    drawn = [
        random.choice(part, count, replace=False, shuffle=False) if count < len(part) else part
        for part, count in zip(parts, most, strict=True)
    ]
    return np.sort(np.concatenate(drawn))
