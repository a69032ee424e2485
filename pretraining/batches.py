"""The stream of training batches: a function of the seed and the pool's number alone.

Batches come in pools: a few shapes are drawn, several batches of each made at once (few large
kernels instead of many small ones), and all shuffled. A pool can be made again from its number,
so training resumes exactly.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from generator import draw_tables
from random_draws import Draws
from torch import Tensor

from robustpu.pretrained.discriminants import N_LANDMARKS, fit_discriminants
from robustpu.pretrained.encoding import encode, fit_columns, table_inputs
from robustpu.pretrained.network import POSITIVE, NetworkConfig

# Tables, context rows, queries and columns of a batch.
Shape = tuple[int, int, int, int]


@dataclass(frozen=True)
class BatchConfig:
    """Sizes of the stream.

    Parameters
    ----------
    cells
        Tables times rows times tokens of a batch, about.
    max_rows
        Rows of a batch at most.
    max_context, max_columns
        Longest context, widest table.
    n_shapes, per_shape
        Shapes of a pool, batches of each.
    """

    cells: int = 300_000
    max_rows: int = 60_000
    max_context: int = 2048
    max_columns: int = 200
    n_shapes: int = 8
    per_shape: int = 8


@dataclass(frozen=True)
class Batch:
    """Inputs and truth of ``B`` tables of one shape; see ``PUNetwork.forward``."""

    cells: Tensor
    scores: Tensor
    roles: Tensor
    table: Tensor
    identities: Tensor
    truth: Tensor
    prior: Tensor
    is_known: Tensor
    n: int

    def part(self, start: int, stop: int) -> "Batch":
        """Return the tables from ``start`` to ``stop``."""
        keep = slice(start, stop)
        return Batch(
            self.cells[keep],
            self.scores[keep],
            self.roles[keep],
            self.table[keep],
            self.identities[keep],
            self.truth[keep],
            self.prior[keep],
            self.is_known[keep],
            self.n,
        )


def draw_shape(
    rng: np.random.Generator, config: BatchConfig, network: NetworkConfig, small: bool
) -> Shape:
    """Return the shape of a batch that keeps to the sizes."""
    longest = min(350, config.max_context) if small else config.max_context
    n = int(math.exp(rng.uniform(math.log(64), math.log(longest + 1)))) // 16 * 16
    wide = not small and rng.uniform() < 0.35
    low, high = (
        (min(40, config.max_columns), config.max_columns)
        if wide
        else (2, min(20 if small else 64, config.max_columns))
    )
    columns = round(math.exp(rng.uniform(math.log(low), math.log(high))))
    tokens = 1 - (-columns // network.group)
    # At most a quarter of the cells goes to one table.
    n = min(n, max(64, int(config.cells / 4 / tokens) // 16 * 16))
    queries = max(16, n // 4 // 16 * 16)
    rows = n + queries
    tables = min(512, config.max_rows // rows, config.cells // (rows * tokens))
    return max(2, tables), n, queries, columns


def make_batch(draws: Draws, shape: Shape, network: NetworkConfig, easy: bool = False) -> Batch:
    """Draw tables and encode them, their columns in random order."""
    tables, n, queries, columns = shape
    drawn = draw_tables(draws, tables, n, queries, columns, easy)
    order = draws.uniform(columns).argsort()
    values = drawn.values[:, :, order]
    labeled = drawn.roles[:, :n] == POSITIVE
    stats = fit_columns(values[:, :n], labeled, drawn.is_category[:, order])
    context, rows = encode(values[:, :n], stats, labeled), encode(values[:, n:], stats)
    cells = torch.cat([context, rows], 1)
    landmarks = draws.uniform(tables, n).argsort(1)[:, :N_LANDMARKS]
    fitted, inside = fit_discriminants(context, labeled, landmarks)
    scores = torch.cat([inside, fitted.score(rows)], 1)
    is_known = draws.chance(0.5, tables)
    # A user's prior is rarely exact.
    error = 0.25 * draws.sometimes(0.3, draws.normal, tables)
    given_prior = torch.sigmoid(torch.logit(drawn.prior.clamp(0.001, 0.999)) + error)
    table = table_inputs(given_prior, is_known, drawn.n_labeled, n - drawn.n_labeled)
    identities = draws.normal(tables, -(-columns // network.group), network.identity_width)
    dtype = torch.bfloat16 if draws.device.type == "cuda" else torch.float32
    return Batch(
        cells.to(dtype),
        scores.to(dtype),
        drawn.roles,
        table,
        identities,
        drawn.truth,
        drawn.prior,
        is_known,
        n,
    )


def make_pool(
    seed: int,
    number: int,
    config: BatchConfig,
    network: NetworkConfig,
    device: str,
    small: bool = False,
    easy: bool = False,
) -> list[Batch]:
    """Return the shuffled batches of one pool."""
    rng = np.random.default_rng((seed, number))
    draws = Draws(int(rng.integers(2**62)), device)
    batches = []
    for _ in range(config.n_shapes):
        tables, *rest = draw_shape(rng, config, network, small)
        made = make_batch(draws, (tables * config.per_shape, *rest), network, easy)
        for index in range(config.per_shape):
            batches.append(made.part(index * tables, (index + 1) * tables))
    return [batches[index] for index in rng.permutation(len(batches))]


def validation_batches(
    shapes: tuple[Shape, ...], network: NetworkConfig, device: str
) -> Iterator[Batch]:
    """Yield batches that no seed of the training stream makes."""
    for index, shape in enumerate(shapes):
        yield make_batch(Draws(2**62 + index, device), shape, network)
