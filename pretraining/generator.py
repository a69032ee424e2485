"""Synthetic positive-unlabelled tables, many of one shape at a time.

A table is made in six steps; README.md describes every family with its share.

1. Counts: positives, unlabelled rows, the prior among these.
2. Latent roots (clusters or noise) through random sparse layers: hundreds of nodes a row.
3. Columns: nodes, noise, copies, collinear mixtures, neighbours, one-hot blocks.
4. Scores of rows and a cut: the true classes, with exact counts.
5. What a user sees: skew, steps, categories, missing values.
6. Roles: labelled positives (one table in five not selected completely at random), unlabelled
   rows and queries. Queries are drawn like unlabelled rows.
"""

import math
from dataclasses import dataclass

import torch
from columns import arrange_columns, change_appearance, draw_pictures, hide_values
from random_draws import Draws, choose, ranks, standardize
from scores import score_rows
from torch import Tensor

N_NODES = 48
N_LAYERS = 4
N_CLUSTERS = 32


@dataclass(frozen=True)
class Tables:
    """``B`` tables; context rows come first, then queries.

    Parameters
    ----------
    values
        ``(B, M, C)``; NaN is missing.
    is_category
        ``(B, C)``: columns whose values have no order.
    roles
        ``(B, M)``: unlabelled 0, labelled positive 1, query 2.
    truth
        ``(B, M)``: is the row positive. A wrongly labelled row has role 1 and is not.
    prior
        ``(B,)``: share of positives among unlabelled rows.
    n_labeled
        ``(B,)``: rows with role 1.
    """

    values: Tensor
    is_category: Tensor
    roles: Tensor
    truth: Tensor
    prior: Tensor
    n_labeled: Tensor


@dataclass(frozen=True)
class Counts:
    """How many rows of each kind, ``(B,)`` each."""

    labeled: Tensor
    wrong: Tensor
    hidden: Tensor
    query: Tensor
    prior: Tensor

    @property
    def positive(self) -> Tensor:
        """All truly positive rows."""
        return self.labeled - self.wrong + self.hidden + self.query


def draw_counts(draws: Draws, is_noisy: Tensor, n: int, n_query: int) -> Counts:
    """Labels from 5 to 500, about log-uniform; priors from 0.005 to 0.92; some labels wrong.

    Positives are rare more often where classes overlap, as in the tables that users have.
    """
    b = len(is_noisy)
    most = max(6.0, min(500.0, 0.6 * n))
    labeled = (5 * (most / 5) ** draws.uniform(b).pow(0.75)).round()
    low = draws.log_uniform(0.005, 0.3, b)
    is_rare = draws.uniform(b) < torch.where(is_noisy, 0.6, 0.25)
    prior = torch.where(is_rare, low, 0.02 + 0.9 * draws.uniform(b))
    unlabeled = n - labeled
    hidden = (prior * unlabeled).round().clamp(min=1)
    prior = hidden / unlabeled
    query = (prior * n_query + draws.uniform(b)).floor()
    wrong_share = draws.sometimes(0.12, draws.uniform, b) * 0.15
    wrong = (labeled * wrong_share).floor()
    return Counts(labeled, wrong, hidden, query, prior)


def activate(x: Tensor, kind: Tensor) -> Tensor:
    """Apply one of ten functions, chosen per node."""
    out = x
    functions = (
        torch.tanh,
        torch.relu,
        lambda v: torch.sin(2 * v),
        torch.abs,
        lambda v: (v * v).clamp(max=9),
        torch.sign,
        lambda v: torch.exp(-v * v),
        torch.nn.functional.softplus,
        lambda v: torch.remainder(v, 1.0),
    )
    for index, function in enumerate(functions):
        out = torch.where(kind == index + 1, function(x), out)
    return out


def draw_roots(draws: Draws, b: int, m: int, n_positive: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Latent roots ``(B, M, N_NODES)``, the class of a row's cluster, and are there clusters.

    Clusters (60 % of tables): 2 to 32, with unequal weights, widths and class; else normal,
    uniform or heavy-tailed noise. Low-rank correlation in a part of the tables.
    """
    h, k = N_NODES, N_CLUSTERS
    wanted = ranks(draws.uniform(b, m)) < n_positive[:, None]
    n_alive = draws.log_uniform(2, k + 0.99, b, 1).floor()
    alive = torch.arange(k, device=draws.device)[None] < n_alive
    share = torch.where(draws.chance(0.4, b, 1), 0.1 + 0.8 * draws.uniform(b, 1), 0.5)
    is_positive = draws.uniform(b, k) < share
    is_positive[:, 0] = True
    is_positive[:, 1] = False
    weight = draws.normal(b, k) * 1.5 * draws.uniform(b, 1) + torch.where(alive, 0.0, -1e9)
    logits = torch.where(wanted[..., None] == is_positive[:, None], weight[:, None], -1e9)
    cluster = (logits + draws.gumbel(b, m, k)).argmax(-1)

    spread = draws.log_uniform(0.35, 6, b, 1, 1)
    used = draws.uniform(b, 1, h) < 0.1 + 0.9 * draws.uniform(b, 1, 1)
    centers = draws.normal(b, k, h) * spread * used
    widths = torch.exp(0.4 * draws.normal(b, k, 1) * draws.chance(0.5, b, 1, 1))
    widths = widths * torch.exp(0.5 * draws.normal(b, k, h) * draws.chance(0.3, b, 1, 1))
    rank = 6
    factors = torch.bmm(draws.normal(b, m, rank), draws.normal(b, rank, h)) / math.sqrt(rank)
    mixed = draws.sometimes(0.6, draws.uniform, b, 1, 1)
    noise = draws.normal(b, m, h) * (1 - mixed).sqrt() + factors * mixed.sqrt()
    index = cluster[..., None].expand(-1, -1, h)
    clustered = centers.gather(1, index) + widths.gather(1, index) * noise
    kind = draws.uniform(b, 1, 1)
    heavy = noise * torch.exp(0.7 * draws.normal(b, m, h))
    plain = torch.where(kind < 0.3, (draws.uniform(b, m, h) - 0.5) * 3.4, noise)
    plain = torch.where(kind < 0.12, heavy, plain)
    has_clusters = draws.chance(0.6, b, 1, 1)
    scale = torch.exp(0.6 * draws.normal(b, 1, h) * draws.chance(0.6, b, 1, 1))
    roots = torch.where(has_clusters, clustered, plain) * scale
    sign = is_positive.gather(1, cluster).float() * 2 - 1
    return roots, sign, has_clusters[:, :, 0]


def grow_nodes(draws: Draws, roots: Tensor) -> tuple[Tensor, Tensor]:
    """Roots -> nodes of 0 to 4 random layers ``(B, M, K)`` and which exist ``(B, K)``."""
    b, _, h = roots.shape
    n_roots = draws.log_uniform(2, h, b, 1, 1).round()
    is_root = torch.arange(h, device=draws.device)[None, None] < n_roots
    x = standardize(roots) * is_root
    nodes, exists = [x], [is_root]
    depth = choose((0.12, 0.3, 0.28, 0.18, 0.12), draws.uniform(b, 1, 1))
    same = draws.chance(0.5, b, 1, 1)
    noise = torch.where(draws.chance(0.35, b, 1, 1), 0.0, draws.log_uniform(0.02, 0.6, b, 1, 1))
    gain = draws.log_uniform(0.4, 2.4, b, 1, 1)
    for layer in range(N_LAYERS):
        density = torch.where(draws.chance(0.35, b, 1, 1), 1.0, 0.04 + 0.4 * draws.uniform(b, 1, 1))
        weights = draws.normal(b, h, h) * (draws.uniform(b, h, h) < density)
        if layer == 0:
            weights = weights * is_root.transpose(1, 2)
        kind = torch.where(same, draws.integers(0, 10, b, 1, 1), draws.integers(0, 10, b, 1, h))
        inner = standardize(torch.bmm(x, weights)) * gain + 0.7 * draws.normal(b, 1, h)
        grown = standardize(activate(inner, kind))
        grown = grown + noise * draws.normal(*x.shape) * torch.exp(0.5 * draws.normal(b, 1, h))
        is_on = layer < depth
        x = torch.where(is_on, grown, x)
        nodes.append(x)
        exists.append(is_on & (weights.abs().sum(1, keepdim=True) > 0))
    return torch.cat(nodes, 2), torch.cat([e.expand(b, 1, h) for e in exists], 2)[:, 0]


def assign_roles(
    draws: Draws, truth: Tensor, score: Tensor, column: Tensor, counts: Counts, n_query: int
) -> Tensor:
    """Roles ``(B, M)`` with exact counts: queries at random, then labels, some by a biased draw."""
    b, m = truth.shape
    among_positive = ranks(torch.where(truth, draws.uniform(b, m), 2.0))
    among_negative = ranks(torch.where(truth, 2.0, draws.uniform(b, m)))
    n_query_negative = n_query - counts.query
    is_query = torch.where(
        truth, among_positive < counts.query[:, None], among_negative < n_query_negative[:, None]
    )
    by_score = draws.sometimes(0.12, draws.normal, b, 1) * 1.5
    by_column = draws.sometimes(0.1, draws.normal, b, 1)
    priority = by_score * standardize(score) + by_column * column + draws.gumbel(b, m)
    right = ranks(torch.where(truth & ~is_query, priority, -1e9), descending=True)
    wrong = ranks(torch.where(truth | is_query, -1.0, draws.uniform(b, m)), descending=True)
    is_labeled = (right < (counts.labeled - counts.wrong)[:, None]) & truth & ~is_query
    is_labeled = is_labeled | ((wrong < counts.wrong[:, None]) & ~truth & ~is_query)
    return torch.where(is_query, 2, is_labeled.long())


@torch.no_grad()
def draw_tables(
    draws: Draws, b: int, n: int, n_query: int, n_columns: int, easy: bool = False
) -> Tables:
    """Return ``b`` tables of one shape; ``easy`` ones have little noise, for the first steps."""
    m = n + n_query
    is_noisy = draws.chance(0.6, b)
    counts = draw_counts(draws, is_noisy, n, n_query)
    roots, cluster_sign, has_clusters = draw_roots(draws, b, m, counts.positive)
    nodes, exists = grow_nodes(draws, roots)
    columns = arrange_columns(draws, nodes, exists, n_columns, easy)
    columns = draw_pictures(draws, columns, standardize(roots))
    appearance = change_appearance(draws, columns)
    score = score_rows(draws, columns, appearance.values, nodes, exists, cluster_sign, has_clusters)
    noise = torch.where(is_noisy[:, None], draws.log_uniform(0.1, 2.5, b, 1), 0.01)
    noise = noise.clamp(max=0.05) if easy else noise
    noisy = score + (noise + 1e-3) * draws.normal(b, m)
    truth = ranks(noisy, descending=True) < counts.positive[:, None]
    roles = assign_roles(draws, truth, score, columns[..., 0], counts, n_query)
    values = hide_values(draws, appearance.values, columns, score)
    # Context rows first, in random order, then queries.
    order = ((roles == 2).float() * 2 + draws.uniform(b, m)).argsort(1)
    values = values.gather(1, order[..., None].expand(-1, -1, n_columns))
    return Tables(
        values,
        appearance.is_category,
        roles.gather(1, order),
        truth.gather(1, order),
        counts.prior,
        counts.labeled,
    )
