"""Mixup: which partners rows are mixed with, and by how much."""

from functools import lru_cache

import numpy as np
import torch
from scipy.special import betaincinv
from torch import Tensor

from robustpu.fleet import Fleet

# Streams of chance, so that several draws of one epoch are independent.
SHARE, SIDE, PARTNER = 1, 2, 3
STEPS = 1 << 13


def shares(fleet: Fleet, alpha: list[float]) -> Tensor:
    """Shares of the rows in their mixtures, Beta(alpha, alpha), one a training row, (alive, rows).

    Drawn for each row, where the papers draw once a mini-batch: the same distribution, with less
    noise in a step.

    Parameters
    ----------
    fleet
        Whose rows, epoch and seeds.
    alpha
        One number a member.
    """
    quantiles = torch.stack([_quantiles(alpha[place]) for place in fleet.alive.tolist()])
    place = fleet.draw(SHARE) * STEPS
    low = place.long()
    table = quantiles.to(place)
    return torch.lerp(table.gather(1, low), table.gather(1, low + 1), place - low)


@lru_cache
def _quantiles(alpha: float) -> Tensor:
    return torch.from_numpy(betaincinv(alpha, alpha, np.linspace(0, 1, STEPS + 1)))


def anyone(fleet: Fleet) -> Tensor:
    """Draw a partner for each training row from all of them, as places (alive, rows)."""
    return someone(fleet, torch.ones_like(fleet.training.is_positive))


def someone(fleet: Fleet, mask: Tensor, stream: int = PARTNER) -> Tensor:
    """Draw a partner for each training row from those of a mask (alive, rows), as places.

    In proportion to the sample weights: a row that counts for nothing is nobody's partner. A
    member whose mask has no weight draws from all its rows.

    Parameters
    ----------
    fleet
        Whose rows, epoch and seeds.
    mask
        Who may be a partner.
    stream
        Of chance.
    """
    weight = torch.where(mask, fleet.training.weight, 0.0).double()
    weight = torch.where(weight.sum(1, keepdim=True) > 0, weight, 1.0)
    reached = weight.cumsum(1)
    # Draws are below 1, and have 24 bits: in double precision they stay below the sum.
    return torch.searchsorted(reached, fleet.draw(stream) * reached[:, -1:], right=True)
