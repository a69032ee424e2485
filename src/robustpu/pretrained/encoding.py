"""A table of numbers, categories and missing values -> the network's inputs.

Every cell becomes eight numbers, all relative to the context rows of its column:

0. z-score, with compressed tails; 1. rank; 2. is it missing; 3. is the column categorical;
4. how many context rows share the value; 5. to 7. smoothed log-lift of positives among the rows
with the same value, and among the rows whose ranks are near (4 % and 15 % each side). A context
row is left out of its own counts. Missing values are a value of their own in 4 to 7.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

NARROW, WIDE = 0.04, 0.15


@dataclass(frozen=True)
class ColumnStatistics:
    """What the columns of a context look like; ``(B, C, ...)``.

    Parameters
    ----------
    mean, scale
        Of the observed values.
    ordered
        Values in rising order, missing ones as infinity at the end, ``(B, C, n)``.
    cumulated
        Positives among the first k of them, ``(B, C, n + 1)``.
    n_observed
        Values that are not missing.
    is_category
        Columns whose values have no order.
    rate
        Share of positives in the context, ``(B, 1, 1)``.
    """

    mean: Tensor
    scale: Tensor
    ordered: Tensor
    cumulated: Tensor
    n_observed: Tensor
    is_category: Tensor
    rate: Tensor


def fit_columns(values: Tensor, is_positive: Tensor, is_category: Tensor) -> ColumnStatistics:
    """Context rows ``(B, n, C)`` and which of them are positive ``(B, n)`` -> statistics."""
    x = values.float().transpose(1, 2).contiguous()
    observed = ~x.isnan()
    n_observed = observed.sum(-1, keepdim=True)
    filled = torch.where(observed, x, 0.0)
    mean = filled.sum(-1, keepdim=True) / n_observed.clamp(min=1)
    centered = torch.where(observed, x - mean, 0.0)
    scale = (centered.square().sum(-1, keepdim=True) / n_observed.clamp(min=1)).sqrt()
    ordered, order = torch.where(observed, x, torch.inf).sort(-1)
    positive = is_positive[:, None].expand_as(order).gather(-1, order)
    cumulated = functional.pad(positive.to(torch.int32).cumsum(-1, dtype=torch.int32), (1, 0))
    rate = is_positive.float().mean(1)[:, None, None]
    return ColumnStatistics(
        mean, scale, ordered, cumulated, n_observed, is_category[..., None], rate
    )


def encode(values: Tensor, stats: ColumnStatistics, is_positive: Tensor | None = None) -> Tensor:
    """Rows ``(B, M, C)`` -> cells ``(B, M, C, 8)``.

    Give ``is_positive`` for the context's own rows: each is left out of its own counts.
    """
    x = values.float().transpose(1, 2).contiguous()
    missing = x.isnan()
    z = (torch.where(missing, stats.mean, x) - stats.mean) / (
        stats.scale + 1e-6 * stats.mean.abs() + 1e-12
    )
    z = z.clamp(-1e4, 1e4)
    z = torch.where(z.abs() > 3, z.sign() * (3 + torch.log1p(z.abs().clamp(min=3) - 3)), z)
    z = torch.where(stats.scale > 1e-6 * stats.mean.abs() + 1e-12, z, 0.0)
    keys = torch.where(missing, torch.inf, x)
    left = torch.searchsorted(stats.ordered, keys)
    right = torch.searchsorted(stats.ordered, keys, right=True)
    observed = stats.n_observed
    rank = torch.where(missing, 0.0, ((left + right) / (2 * observed.clamp(min=1)) - 0.5) * 3.4)
    self_count = 0 if is_positive is None else 1
    self_positive = 0 if is_positive is None else is_positive[:, None].int()

    def lift(low: Tensor, high: Tensor) -> Tensor:
        found = stats.cumulated.gather(-1, high) - stats.cumulated.gather(-1, low) - self_positive
        expected = (high - low - self_count) * stats.rate
        return torch.log((found.clamp(min=0) + 1) / (expected.clamp(min=0) + 1))

    def window(share: float) -> Tensor:
        half = torch.where(stats.is_category, 0, (share * observed).ceil().long())
        low = torch.where(missing, left, (left - half).clamp(min=0))
        high = torch.where(missing, right, torch.minimum(right + half, observed))
        return lift(low, high)

    ties = torch.log1p((right - left - self_count).clamp(min=0).float()) / 3
    cells = (
        z,
        rank,
        missing.float(),
        stats.is_category.float().expand_as(z),
        ties,
        lift(left, right),
        window(NARROW),
        window(WIDE),
    )
    return torch.stack(cells, -1).transpose(1, 2)


def table_inputs(
    prior: Tensor, is_known: Tensor, n_positive: Tensor, n_unlabeled: Tensor
) -> Tensor:
    """Return inputs about tables, ``(B, 6)``: the prior, where it is known, and the counts."""
    known = is_known.float()
    prior = prior.clamp(0.001, 0.999)
    log_odds = torch.log(prior / (1 - prior))
    return torch.stack(
        (
            known,
            known * log_odds / 2,
            known * (2 * prior - 1),
            torch.log(n_positive) / 3 - 1.5,
            torch.log(n_unlabeled) / 3 - 2,
            torch.log(n_positive / n_unlabeled) / 2,
        ),
        1,
    )
