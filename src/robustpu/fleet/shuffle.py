"""Chance in an epoch: a function of the member's seed and the epoch alone."""

import torch
from torch import Tensor


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
    # In place: keys are as many as rows times members.
    key = (key * -0x61C8864680B583EB).add_(1)
    key.bitwise_xor_(_shift(key, 30)).mul_(-0x40A7B892E31B1A47)
    key.bitwise_xor_(_shift(key, 27)).mul_(-0x6B2FB644ECCEEE15)
    return key.bitwise_xor_(_shift(key, 31))


def _shift(key: Tensor, bits: int) -> Tensor:
    """Shift right, zeros coming in: torch's own shift keeps the sign."""
    return (key >> bits).bitwise_and_((1 << (64 - bits)) - 1)
