"""The inputs of a fleet's rows: a tensor on the device, or mapped files.

A mapped pool holds no rows. It reads them on demand, each distinct row once and in ascending order,
and reads the next batch while the current one is trained on.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustpu.modules.rows import Scale, ask_for, blocks, inputs_of

Numbers = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of an array, all or some by number, and what makes inputs of them."""

    array: NDArray[Any]
    scale: Scale | None = None
    rows: Numbers | None = None
    is_mirrored: bool = False

    def __len__(self) -> int:
        return len(self.array if self.rows is None else self.rows)

    def read(self, index: Numbers, out: NDArray[Any]) -> None:
        """Write inputs of rows, in ascending order, into ``out``."""
        index = index if self.rows is None else self.rows[index]
        for block in blocks(out):
            x = inputs_of(_taken(self.array, index[block]), self.scale, out.dtype)
            out[block] = x[..., ::-1] if self.is_mirrored else x


class Mapped:
    """Inputs (rows, ...) that are made of mapped or other arrays on demand.

    It has the part of the interface of a tensor that a fleet uses; ``pool[index]`` is a tensor.

    Parameters
    ----------
    parts
        Arrays, one after the other.
    dtype, device
        Of the inputs.

    Examples
    --------
    >>> pool = Mapped([Part(np.arange(8).reshape(4, 2))], torch.float32, torch.device("cpu"))
    >>> pool.shape, pool[torch.tensor([3, 0])].tolist()
    (torch.Size([4, 2]), [[6.0, 7.0], [0.0, 1.0]])
    """

    def __init__(self, parts: Sequence[Part], dtype: torch.dtype, device: torch.device):
        self.parts, self.dtype, self.device = list(parts), dtype, device
        self._starts = np.cumsum([0, *map(len, parts)])
        self.shape = torch.Size([int(self._starts[-1]), *parts[0].array.shape[1:]])
        self.ndim = len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: slice | Tensor) -> Tensor:
        if isinstance(index, slice):
            return self._read(np.arange(*index.indices(len(self)))).to(self.device)
        x, place = (tensor.to(self.device) for tensor in self.gather(index))
        return x[place]

    def new_empty(self, *size: Any, dtype: torch.dtype | None = None) -> Tensor:
        """An empty tensor of the same type on the device."""
        return torch.empty(*size, dtype=dtype or self.dtype, device=self.device)

    def to(self, device: torch.device) -> "Mapped":
        """The same inputs on another device."""
        other = copy(self)
        other.device = device
        return other

    def take(self, rows: Numbers) -> "Mapped":
        """A pool of some rows, in ascending order; nothing is read."""
        place = np.searchsorted(rows, self._starts)
        parts = [
            replace(part, rows=chosen if part.rows is None else part.rows[chosen])
            for part, start, (first, last) in zip(
                self.parts, self._starts, pairwise(place), strict=False
            )
            if len(chosen := rows[first:last] - start)
        ]
        return Mapped(parts, self.dtype, self.device)

    def gather(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs of the distinct rows, and the place of each row among them; both on the host."""
        rows, place = np.unique(index.cpu().numpy(), return_inverse=True)
        return self._read(rows), torch.from_numpy(place.reshape(index.shape))

    def _read(self, rows: Numbers) -> Tensor:
        if len(rows) and not 0 <= rows[0] <= rows[-1] < len(self):
            raise IndexError(
                f"rows {rows[0]} to {rows[-1]} are out of range: the pool has {len(self)} rows."
            )
        shape = len(rows), *self.shape[1:]
        # From pinned memory a GPU copies by itself.
        x = torch.empty(shape, dtype=self.dtype, pin_memory=self.device.type == "cuda")
        place = np.searchsorted(rows, self._starts)
        ends = zip(self.parts, self._starts, pairwise(place), strict=False)
        for part, start, (first, last) in ends:
            part.read(rows[first:last] - start, x.numpy()[first:last])
        return x


Pool: TypeAlias = Tensor | Mapped


def joined(pools: Sequence[Pool]) -> Pool:
    """Concatenate pools.

    Parameters
    ----------
    pools
        With rows of one shape, on one device.

    Examples
    --------
    >>> mapped = Mapped([Part(np.zeros((4, 2)))], torch.float32, torch.device("cpu"))
    >>> len(joined([mapped, torch.zeros(3, 2)]))
    7
    """
    held = [pool for pool in pools if isinstance(pool, Tensor)]
    if len(pools) == 1 or len(held) == len(pools):
        return pools[0] if len(pools) == 1 else torch.cat(held)
    parts: list[Part] = []
    for pool in pools:
        parts += [Part(pool.cpu().numpy())] if isinstance(pool, Tensor) else pool.parts
    return Mapped(parts, pools[0].dtype, pools[0].device)


def mirrored(pool: Pool) -> Pool:
    """Append the mirror images of all rows.

    Examples
    --------
    >>> mirrored(torch.tensor([[1.0, 2.0]])).tolist()
    [[1.0, 2.0], [2.0, 1.0]]
    """
    if isinstance(pool, Tensor):
        return torch.cat([pool, pool.flip(-1)])
    images = [replace(part, is_mirrored=not part.is_mirrored) for part in pool.parts]
    return Mapped([*pool.parts, *images], pool.dtype, pool.device)


def ahead(pool: Mapped, wanted: Iterable[Tensor]) -> Iterator[tuple[Tensor, Tensor]]:
    """Inputs of the distinct rows of each index, and the place of each row, on the device.

    Parameters
    ----------
    pool
        Read by a thread, one index ahead.
    wanted
        Row numbers, of any shape.

    Examples
    --------
    >>> pool = Mapped([Part(np.arange(4)[:, None])], torch.float32, torch.device("cpu"))
    >>> for x, place in ahead(pool, [torch.tensor([2, 0, 2])]):
    ...     x[place][:, 0].tolist()
    [2.0, 0.0, 2.0]
    """
    with ThreadPoolExecutor(1) as reader:
        before: Future[tuple[Tensor, Tensor]] | None = None
        for index in wanted:
            now = reader.submit(pool.gather, index)
            if before is not None:
                yield _moved(before.result(), pool.device)
            before = now
        if before is not None:
            yield _moved(before.result(), pool.device)


def slices(pool: Pool, wide: int) -> Iterator[Tensor]:
    """All inputs, ``wide`` rows at a time.

    Examples
    --------
    >>> [len(x) for x in slices(torch.zeros(5, 2), 2)]
    [2, 2, 1]
    """
    if isinstance(pool, Tensor):
        yield from torch.split(pool, wide)
        return
    rows = torch.arange(len(pool))
    for x, _ in ahead(pool, torch.split(rows, wide)):
        yield x


def inputs(pool: Pool, indices: Sequence[Tensor]) -> Iterator[Tensor]:
    """Inputs (*index.shape, ...) of the rows of each index.

    Examples
    --------
    >>> pool = torch.tensor([[1.0], [2.0]])
    >>> [x.tolist() for x in inputs(pool, [torch.tensor([[1, 0]])])]
    [[[[2.0], [1.0]]]]
    """
    if isinstance(pool, Tensor):
        sources: Iterable[tuple[Tensor, Tensor]] = ((pool, index) for index in indices)
    else:
        sources = ahead(pool, indices)
    for x, place in sources:
        flat = torch.index_select(x, 0, place.reshape(-1))
        yield flat.view(*place.shape, *x.shape[1:])


def _moved(pair: tuple[Tensor, Tensor], device: torch.device) -> tuple[Tensor, Tensor]:
    x, place = pair
    return x.to(device, non_blocking=True), place.to(device)


def _taken(array: NDArray[Any], rows: Numbers) -> NDArray[Any]:
    """Rows by number, in ascending order; neighbours are not copied."""
    if not len(rows) or rows[-1] - rows[0] + 1 == len(rows):
        return array[rows[0] : rows[-1] + 1] if len(rows) else array[:0]
    ask_for(array, rows)
    # Quicker than by an index, but copies the whole array if it is of another form.
    flags = array.flags
    if flags.c_contiguous and flags.aligned and array.dtype.isnative:
        return array.take(rows, axis=0)
    return array[rows]
