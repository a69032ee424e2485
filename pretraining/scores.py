"""Scores whose upper part is the positive class: seven families."""

import math

import torch
from random_draws import Draws, choose, ranks, standardize
from torch import Tensor

N_TREES, TREE_DEPTH, N_WAVES = 24, 6, 64


def score_rows(
    draws: Draws,
    columns: Tensor,
    appearance: Tensor,
    nodes: Tensor,
    exists: Tensor,
    cluster_sign: Tensor,
    has_clusters: Tensor,
) -> Tensor:
    """Scores ``(B, M)``, standardised: clusters, a node, trees, waves, linear, radial, additive.

    Half of the tables score the columns before their appearance changed, half after. A fifth is
    folded, so that the positive class lies in several intervals of the score.
    """
    b, m, c = columns.shape
    x = torch.where(
        draws.chance(0.5, b, 1, 1), standardize(appearance).clamp(-5, 5), columns.clamp(-6, 6)
    )
    n_relevant = draws.log_uniform(1, max(c, 2), b, 1).ceil()
    is_relevant = ranks(draws.uniform(b, c)) < n_relevant
    weights = draws.normal(b, c) * is_relevant
    linear = torch.bmm(x, weights[..., None])[..., 0]
    bent = torch.tanh(draws.log_uniform(0.5, 3, b, 1, c) * x + draws.normal(b, 1, c))
    additive = torch.bmm(bent, weights[..., None])[..., 0]
    center = 0.8 * draws.normal(b, 1, c) * draws.chance(0.5, b, 1, 1)
    stretch = torch.exp(0.3 * draws.normal(b, 1, c)) * is_relevant[:, None]
    radial = ((x - center).square() * stretch).sum(-1).sqrt()
    candidates = (
        score_node(draws, nodes, exists),
        score_trees(draws, x, is_relevant),
        score_waves(draws, x, is_relevant, n_relevant),
        linear,
        additive,
        radial,
    )
    kind = choose((0.22, 0.28, 0.15, 0.12, 0.11, 0.12), draws.uniform(b, 1))
    score = candidates[0]
    for index, candidate in enumerate(candidates[1:], start=1):
        score = torch.where(kind == index, candidate, score)
    score = standardize(score)
    phase = ranks(score) / m * (1 + 0.5 * draws.integers(0, 3, b, 1)) + draws.uniform(b, 1)
    score = torch.where(draws.chance(0.2, b, 1), 1.4 * torch.cos(2 * math.pi * phase), score)
    score = score * torch.where(draws.chance(0.5, b, 1), -1.0, 1.0)
    return torch.where(has_clusters & draws.chance(0.6, b, 1), cluster_sign, score)


def score_node(draws: Draws, nodes: Tensor, exists: Tensor) -> Tensor:
    """One node, rather a late one; it may or may not be among the columns."""
    b, m, k = nodes.shape
    layer = torch.arange(5, device=nodes.device).repeat_interleave(k // 5)
    priority = 0.8 * layer + draws.gumbel(b, k) + torch.where(exists, 0.0, -1e6)
    return nodes.gather(2, priority.argmax(1)[:, None, None].expand(-1, m, 1))[..., 0]


def score_waves(draws: Draws, x: Tensor, is_relevant: Tensor, n_relevant: Tensor) -> Tensor:
    """A draw of a Gaussian process, by random Fourier features."""
    b, _, c = x.shape
    scale = draws.log_uniform(0.25, 2, b, 1, 1) / n_relevant[..., None].sqrt() * 1.4
    frequencies = draws.normal(b, c, N_WAVES) * is_relevant[..., None] * scale
    waves = torch.cos(torch.bmm(x, frequencies) + 2 * math.pi * draws.uniform(b, 1, N_WAVES))
    return torch.bmm(waves, draws.normal(b, N_WAVES, 1))[..., 0]


def score_trees(draws: Draws, x: Tensor, is_relevant: Tensor) -> Tensor:
    """A sum of 1 to 24 random trees of depth 1 to 6, cut at values of the data."""
    b, m, c = x.shape
    depth = draws.integers(1, TREE_DEPTH + 1, b, 1, 1)
    n_used = draws.log_uniform(1, N_TREES, b, 1, 1).ceil()
    leaf = torch.zeros(b, m, N_TREES, dtype=torch.long, device=x.device)
    chance = is_relevant.float() + 1e-9
    for level in range(TREE_DEPTH):
        n_splits = N_TREES * 2**level
        column = torch.multinomial(chance, n_splits, replacement=True, generator=draws.generator)
        row = draws.integers(0, m, b, n_splits)
        cut = x.reshape(b, m * c).gather(1, row * c + column)
        split = (leaf + torch.arange(N_TREES, device=x.device) * 2**level).reshape(b, -1)
        value = x.gather(2, column.gather(1, split).view(b, m, N_TREES))
        goes_right = (value > cut.gather(1, split).view(b, m, N_TREES)) & (level < depth)
        leaf = leaf * 2 + goes_right
    values = draws.normal(b, N_TREES * 2**TREE_DEPTH)
    index = (leaf + torch.arange(N_TREES, device=x.device) * 2**TREE_DEPTH).reshape(b, -1)
    is_used = torch.arange(N_TREES, device=x.device) < n_used
    return (values.gather(1, index).view(b, m, N_TREES) * is_used).sum(-1)
