"""Random numbers of one generator on one device, in the shapes that batches of tables need."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


class Draws:
    """Draws from one seeded generator.

    Parameters
    ----------
    seed
        Seed of the generator.
    device
        Where numbers are drawn. CPU and GPU give different numbers for one seed.
    """

    def __init__(self, seed: int, device: torch.device | str) -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device)
        self.generator.manual_seed(seed)

    def uniform(self, *shape: int) -> Tensor:
        """Uniform in [0, 1)."""
        return torch.rand(*shape, device=self.device, generator=self.generator)

    def normal(self, *shape: int) -> Tensor:
        """Standard normal."""
        return torch.randn(*shape, device=self.device, generator=self.generator)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Integers from ``low`` to ``high - 1``."""
        return torch.randint(low, high, shape, device=self.device, generator=self.generator)

    def log_uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """Uniform on the log scale."""
        return torch.exp(math.log(low) + math.log(high / low) * self.uniform(*shape))

    def chance(self, probability: float, *shape: int) -> Tensor:
        """Booleans that are true with the given probability."""
        return self.uniform(*shape) < probability

    def gumbel(self, *shape: int) -> Tensor:
        """Gumbel noise: the largest of scores + noise is a draw from their softmax."""
        return -torch.log(-torch.log(self.uniform(*shape).clamp(1e-9, 1 - 1e-7)))

    def sometimes(self, probability: float, draw: Callable[..., Tensor], *shape: int) -> Tensor:
        """``draw(*shape)`` with the given probability an entry, else 0."""
        return torch.where(self.chance(probability, *shape), draw(*shape), 0.0)


def standardize(x: Tensor, dim: int = 1) -> Tensor:
    """Zero mean and unit variance over ``dim``."""
    return (x - x.mean(dim, keepdim=True)) / (x.std(dim, keepdim=True) + 1e-6)


def ranks(x: Tensor, descending: bool = False) -> Tensor:
    """Rank of each entry along the last axis, from 0."""
    return x.argsort(-1, descending=descending).argsort(-1)


def choose(probabilities: tuple[float, ...], u: Tensor) -> Tensor:
    """Uniform numbers -> indices drawn with the given probabilities."""
    edges = torch.tensor(probabilities, device=u.device).cumsum(0)[:-1]
    return torch.searchsorted(edges, u.contiguous(), right=True)
