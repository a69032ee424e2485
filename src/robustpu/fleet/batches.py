"""The rows of an epoch: shuffled, cut into batches, and their inputs prefetched."""

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from robustpu.fleet.pool import Mapped, Pool, ahead
from robustpu.risks import soft_bce, soft_bce_grad, weighted_bce, weighted_bce_grad

# Bytes of inputs that are read at once, and of the index of a row, which counts as well. Two such
# pieces are in memory: the current one and the next.
PIECE = 1 << 26
PLACE = 64


@dataclass(frozen=True)
class Batch:
    """The rows of one step: (members, rows), and the priors (members,).

    ``columns`` holds further values of a method, name -> (members, rows).
    """

    is_positive: Tensor
    weight: Tensor
    prior: Tensor
    population_prior: Tensor
    columns: Mapping[str, Tensor]


@dataclass(frozen=True)
class Partners:
    """A partner for each row to be mixed with: share * row + (1 - share) * partner.

    Both are (members, rows); ``index`` counts rows of the pool.
    """

    index: Tensor
    share: Tensor


@dataclass(frozen=True)
class EpochBatches:
    """The rows of an epoch in order, (members, rows) each."""

    index: Tensor
    is_positive: Tensor
    weight: Tensor
    columns: Mapping[str, Tensor]
    partners: Partners | None

    def part(self, members: slice, rows: slice) -> "EpochBatches":
        """Some members and rows."""
        partners = self.partners and Partners(
            self.partners.index[members, rows], self.partners.share[members, rows]
        )
        return EpochBatches(
            self.index[members, rows],
            self.is_positive[members, rows],
            self.weight[members, rows],
            {name: value[members, rows] for name, value in self.columns.items()},
            partners,
        )


def cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch, unlabelled rows as negatives."""
    return weighted_bce(logit, batch.is_positive, batch.weight)


def cross_entropy_grad(logit: Tensor, batch: Batch) -> Tensor:
    """Derivative of ``cross_entropy`` by the logits."""
    return weighted_bce_grad(logit, batch.is_positive, batch.weight)


def soft_cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch with the column ``target``, probabilities."""
    return soft_bce(logit, batch.columns["target"], batch.weight)


def soft_cross_entropy_grad(logit: Tensor, batch: Batch) -> Tensor:
    """Derivative of ``soft_cross_entropy`` by the logits."""
    return soft_bce_grad(logit, batch.columns["target"], batch.weight)


def prefetched(
    pool: Pool, batches: EpochBatches, steps: Sequence[slice]
) -> Generator[tuple[Tensor, EpochBatches, Sequence[slice]]]:
    """Inputs, the batches that index rows of these inputs, and the steps that they are for.

    Parameters
    ----------
    pool
        A tensor serves all steps. A mapped pool is read in pieces of steps with 64 MB of inputs.
    batches
        Rows of the whole epoch.
    steps
        Those of each step.

    Examples
    --------
    >>> index = torch.tensor([[2, 0, 1]])
    >>> batches = EpochBatches(index, index == 0, torch.ones(1, 3), {}, None)
    >>> pool = torch.tensor([[7.0], [8.0], [9.0]])
    >>> for x, part, (first, last) in prefetched(pool, batches, [slice(0, 2), slice(2, 3)]):
    ...     x[part.index[:, first]].flatten().tolist()
    [9.0, 7.0]
    """
    if isinstance(pool, Tensor):
        yield pool, batches, steps
        return
    pieces = _pieces(pool, batches, steps)
    spans = [slice(piece[0].start, piece[-1].stop) for piece in pieces]
    # On the host at once: a reader that asked the GPU would wait for all steps before.
    index = _wanted(batches).cpu()
    read = ahead(pool, (index[..., span] for span in spans))
    for (x, place), span, piece in zip(read, spans, pieces, strict=True):
        part = batches.part(slice(None), span)
        part = replace(part, index=place[0])
        if part.partners is not None:
            part = replace(part, partners=Partners(place[1], part.partners.share))
        yield x, part, [slice(step.start - span.start, step.stop - span.start) for step in piece]


def _wanted(batches: EpochBatches) -> Tensor:
    """Row numbers of an epoch, (1, members, rows), or (2, ...) with partners."""
    if batches.partners is None:
        return batches.index[None]
    return torch.stack([batches.index, batches.partners.index])


def _pieces(pool: Mapped, batches: EpochBatches, steps: Sequence[slice]) -> list[Sequence[slice]]:
    """Runs of steps whose inputs are within bounds, or that are one step."""
    kinds = 1 if batches.partners is None else 2
    size = math.prod(pool.shape[1:]) * pool.dtype.itemsize + PLACE
    size *= len(batches.index) * kinds
    widest = max(step.stop - step.start for step in steps)
    together = max(1, PIECE // (size * widest))
    return [steps[first : first + together] for first in range(0, len(steps), together)]


def shuffle(seed: Tensor, epoch: Tensor, rows: int) -> Tensor:
    """Permutations of ``range(rows)``, one a member, (members, rows).

    Each row gets a hash of (seed, epoch, row), and rows are sorted by it. Integer arithmetic is the
    same everywhere, so a seed gives the same batches on a CPU and on a GPU, without any generator
    whose state the host would have to keep.

    Parameters
    ----------
    seed, epoch
        One integer a member, (members,).
    rows
        Length of a permutation.

    Examples
    --------
    >>> order = shuffle(torch.tensor([7, 7]), torch.tensor([0, 1]), 5)
    >>> order.sort().values.tolist()
    [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]
    """
    return _hash(seed, epoch, rows).argsort(dim=1)


def uniform(seed: Tensor, epoch: Tensor, rows: int, stream: int) -> Tensor:
    """Uniform numbers in [0, 1), (members, rows), the same everywhere like ``shuffle``.

    Parameters
    ----------
    seed, epoch
        One integer a member, (members,).
    rows
        How many.
    stream
        Which of several independent draws; 1 or more.

    Examples
    --------
    >>> draw = uniform(torch.tensor([7]), torch.tensor([0]), 1000, stream=1)
    >>> round(draw.mean().item(), 1)
    0.5
    """
    # 24 bits: what single precision holds.
    bits = _shift(_hash(_mix(seed + stream), epoch, rows), 40)
    return bits.to(torch.float32) / (1 << 24)


def _hash(seed: Tensor, epoch: Tensor, rows: int) -> Tensor:
    stream = _mix(_mix(seed) + epoch)
    return _mix(stream[:, None] + torch.arange(rows, device=seed.device))


def _mix(key: Tensor) -> Tensor:
    """SplitMix64 (Steele, Lea, Flood, 2014) of each number; int64 wraps around as it must."""
    # In place: there are rows times members keys.
    key = (key * -0x61C8864680B583EB).add_(1)
    key.bitwise_xor_(_shift(key, 30)).mul_(-0x40A7B892E31B1A47)
    key.bitwise_xor_(_shift(key, 27)).mul_(-0x6B2FB644ECCEEE15)
    return key.bitwise_xor_(_shift(key, 31))


def _shift(key: Tensor, bits: int) -> Tensor:
    """Shift right, zeros coming in: torch's own shift keeps the sign."""
    return (key >> bits).bitwise_and_((1 << (64 - bits)) - 1)
