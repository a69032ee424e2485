"""Columns of synthetic tables: where they come from, what they look like, what is missing."""

import math
from dataclasses import dataclass

import torch
from random_draws import Draws, choose, ranks, standardize
from torch import Tensor


@dataclass(frozen=True)
class Appearance:
    """Columns as a user sees them ``(B, M, C)`` and which are categories ``(B, C)``."""

    values: Tensor
    is_category: Tensor


def arrange_columns(draws: Draws, nodes: Tensor, exists: Tensor, c: int, easy: bool) -> Tensor:
    """Nodes -> columns ``(B, M, C)``, standardised.

    Nodes of a preferred layer and neighbourhood; in a part of the tables noise, collinear
    mixtures of a few columns, smooth neighbours (as in pictures and spectra), noisy copies and
    one-hot blocks take the place of some or all of them.
    """
    b, m, k = nodes.shape
    n_layers = 5
    layer = (1.5 * draws.normal(b, n_layers, 1)).expand(-1, -1, k // n_layers).reshape(b, k)
    near = draws.normal(b, k // 8, 1).expand(-1, -1, 8).reshape(b, k)
    priority = layer + near + draws.gumbel(b, k) + torch.where(exists, 0.0, -1e6)
    order = priority.argsort(1, descending=True)
    # Where a table has fewer nodes than columns, the others are noise or repeat its nodes.
    place = torch.arange(c, device=nodes.device)[None]
    repeated = place % exists.sum(1, keepdim=True).clamp(min=1)
    order = order.gather(1, torch.where(draws.chance(0.6, b, 1), repeated, place))
    x = standardize(nodes.gather(2, order[:, None].expand(-1, m, -1)))
    is_noise = draws.uniform(b, c) < draws.sometimes(0.5, draws.uniform, b, 1) * (
        0.2 if easy else 0.7
    )
    is_noise = is_noise | ~exists.gather(1, order)
    is_noise[:, 0] = False
    x = torch.where(is_noise[:, None], draws.normal(b, m, c), x)
    x = mix_columns(draws, x)
    x = copy_columns(draws, x)
    x = one_hot_blocks(draws, x, nodes, exists)
    blur = draws.sometimes(0.4, draws.uniform, b, 1, 1) * 0.4
    return standardize(x + blur * draws.normal(b, m, c))


def mix_columns(draws: Draws, x: Tensor) -> Tensor:
    """Collinear mixtures of r columns, or smooth neighbours; wide tables more often."""
    b, m, c = x.shape
    wide = min(0.5, 0.1 + c / 200)
    latent = draws.log_uniform(2, max(2.1, min(40.0, 0.7 * c)), b, 1).ceil()
    is_source = ranks(draws.uniform(b, c)) < latent
    density = torch.where(draws.chance(0.5, b, 1, 1), 1.0, 0.1 + 0.5 * draws.uniform(b, 1, 1))
    weights = draws.normal(b, c, c) * (draws.uniform(b, c, c) < density) * is_source[..., None]
    place = torch.arange(c, device=x.device, dtype=torch.float32)
    distance = (place[:, None] - place)[None] / draws.log_uniform(0.7, 6.0, b, 1, 1)
    smooth = torch.exp(-0.5 * distance.square())
    weights = torch.where(draws.chance(0.35, b, 1, 1), smooth, weights)
    noise = draws.log_uniform(0.01, 1.0, b, 1, 1)
    mixed = standardize(torch.bmm(x, weights)) + noise * draws.normal(b, m, c)
    share = torch.where(draws.chance(0.5, b, 1), 1.0, draws.uniform(b, 1))
    is_mixed = (draws.uniform(b, c) < share) & draws.chance(wide, b, 1)
    return torch.where(is_mixed[:, None], mixed, x)


def draw_pictures(draws: Draws, x: Tensor, roots: Tensor) -> Tensor:
    """Pixels of small pictures in a third of the tables with at least 16 columns.

    Each root lights a smooth pattern on a square grid; what is dark is cut off at one level, so
    that many cells are equal. All columns together predict the class, none does alone.
    """
    b, m, c = x.shape
    if c < 16:
        return x
    side = math.ceil(math.sqrt(c))
    place = torch.arange(c, device=x.device)
    row, column = (place // side).float(), (place % side).float()
    distance = (row[:, None] - row).square() + (column[:, None] - column).square()
    width = draws.log_uniform(0.5, 2.5, b, 1, 1)
    smooth = torch.exp(-0.5 * distance[None] / width.square())
    patterns = torch.bmm(draws.normal(b, roots.shape[2], c), smooth)
    light = standardize(torch.bmm(roots, patterns))
    light = light + draws.log_uniform(0.02, 0.7, b, 1, 1) * draws.normal(b, m, c)
    edge = (light - (0.7 * draws.normal(b, 1, 1) + 0.5 * draws.normal(b, 1, c))).clamp(min=0)
    pixels = torch.where(draws.chance(0.7, b, 1, 1), edge, light)
    levels = torch.where(draws.chance(0.5, b, 1, 1), 8.0, 1e4)
    pixels = (pixels * levels).round() / levels
    return torch.where(draws.chance(1 / 3, b, 1, 1), standardize(pixels), x)


def copy_columns(draws: Draws, x: Tensor) -> Tensor:
    """Noisy copies of other columns, in a quarter of the tables."""
    b, m, c = x.shape
    is_copy = draws.uniform(b, c) < draws.sometimes(0.25, draws.uniform, b, 1) * 0.5
    source = draws.integers(0, c, b, c)[:, None].expand(-1, m, -1)
    copies = x.gather(2, source) + 0.3 * draws.normal(b, m, c) * draws.uniform(b, 1, c)
    return torch.where(is_copy[:, None], copies, x)


def one_hot_blocks(draws: Draws, x: Tensor, nodes: Tensor, exists: Tensor) -> Tensor:
    """Up to three categories of 2 to 40 levels, each spread over indicator columns."""
    b, m, c = x.shape
    blocks = 3
    priority = draws.gumbel(b, nodes.shape[2]) + torch.where(exists, 0.0, -1e6)
    base = nodes.gather(2, priority.argsort(1, descending=True)[:, None, :blocks].expand(-1, m, -1))
    levels = draws.log_uniform(2, 40.9, b, 1, blocks).floor()
    code = quantize(draws, standardize(base), levels)
    block = draws.integers(0, blocks, b, c)
    wide = min(0.4, 0.1 + c / 250)
    is_hot = (draws.uniform(b, c) < draws.uniform(b, 1)) & draws.chance(wide, b, 1)
    level = torch.arange(c, device=x.device)[None] % levels[:, 0].gather(1, block)
    hot = (code.gather(2, block[:, None].expand(-1, m, -1)) == level[:, None]).float()
    return torch.where(is_hot[:, None], hot, x)


def quantize(draws: Draws, x: Tensor, levels: Tensor) -> Tensor:
    """Standardised columns -> level numbers in order; rare levels among them."""
    share = 0.5 * (1 + torch.erf(x / math.sqrt(2)))
    power = draws.log_uniform(0.5, 3.0, x.shape[0], 1, x.shape[2])
    return (share.pow(power) * levels).floor().clamp(min=0).minimum(levels - 1)


def shuffle_levels(draws: Draws, code: Tensor) -> Tensor:
    """Level numbers -> pseudo-random numbers in [0, 1), one a level and column."""
    salt = draws.uniform(code.shape[0], 1, code.shape[2])
    wave = torch.sin(code * 12.9898 + 78.233 * salt) * 437.585453
    return wave - wave.floor()


def change_appearance(draws: Draws, x: Tensor) -> Appearance:
    """Skewed, clipped, stepped and categorical versions of the columns."""
    b, _, c = x.shape
    amount = (0.3 + 1.2 * draws.uniform(b, 1, c)) * torch.where(
        draws.chance(0.5, b, 1, c), -1.0, 1.0
    )
    one_kind = draws.chance(0.3, b, 1, 1)
    kind = torch.where(one_kind, draws.integers(0, 4, b, 1, 1), draws.integers(0, 4, b, 1, c))
    skewed = torch.exp((amount * x).clamp(-8, 8))
    skewed = torch.where(kind == 1, x * x * x, skewed)
    skewed = torch.where(kind == 2, torch.tanh(1.5 * x * amount), skewed)
    skewed = torch.where(kind == 3, torch.relu(x - amount), skewed)
    is_skewed = draws.uniform(b, c) < draws.sometimes(0.5, draws.uniform, b, 1)
    out = torch.where(is_skewed[:, None], skewed, x)

    levels = draws.log_uniform(2, 24, b, 1, c).floor()
    highest = torch.where(draws.chance(0.25, b, 1, c), 150.0, 30.0)
    many = (3 * (highest / 3) ** draws.uniform(b, 1, c)).floor()
    steps = quantize(draws, x, levels)
    categories = shuffle_levels(draws, quantize(draws, x, many))
    cut = 0.8 * draws.normal(b, 1, c)
    band = ((x - cut).abs() < 0.2 + 0.8 * draws.uniform(b, 1, c)).float()
    weights = (0.4, 0.28, 0.22, 0.1)
    kind = torch.where(
        draws.chance(0.5, b, 1, 1),
        choose(weights, draws.uniform(b, 1, 1)),
        choose(weights, draws.uniform(b, 1, c)),
    )
    stepped = torch.where(kind == 0, steps, categories)
    stepped = torch.where(kind == 2, (x > cut).float(), stepped)
    stepped = torch.where(kind == 3, band, stepped)
    is_stepped = draws.uniform(b, c) < draws.sometimes(0.5, draws.uniform, b, 1)
    out = torch.where(is_stepped[:, None], stepped, out)
    # A user may declare two-valued columns as categories, and forget to declare true ones.
    declared = draws.uniform(b, c) < torch.where(kind[:, 0] == 1, 0.85, 0.3)
    is_category = is_stepped & (kind[:, 0] > 0) & declared
    return Appearance(out, is_category)


def hide_values(draws: Draws, appearance: Tensor, x: Tensor, score: Tensor) -> Tensor:
    """Missing values in three tables of ten: at random, by the value, or by the score."""
    b, m, c = x.shape
    has_missing = draws.chance(0.3, b, 1)
    share = draws.uniform(b, c).square() * 0.8
    share = torch.where(draws.uniform(b, c) < draws.uniform(b, 1), share, 0.0) * has_missing
    cut = math.sqrt(2) * torch.erfinv((1 - 2 * share).clamp(-0.999, 0.999))
    by_value = draws.sometimes(0.3, draws.normal, b, 1, c)
    by_score = draws.sometimes(0.2, draws.normal, b, 1, c)
    priority = draws.normal(b, m, c) + by_value * x + by_score * standardize(score)[..., None]
    priority = priority / (1 + by_value.square() + by_score.square()).sqrt()
    is_missing = (priority > cut[:, None]) & (share > 0)[:, None]
    return torch.where(is_missing, torch.nan, appearance)
