"""The network: a table with positive and unlabelled rows -> one logit a row, and the prior.

Shapes: ``B`` tables, ``M`` rows, ``n`` of them context rows (positive or unlabelled), ``C``
columns, ``T`` tokens a row, ``d`` and ``D`` the widths of the two stages.

Stage 1 works on cells: three columns are one token, told apart by a random vector. A block lets
every token look over the context's rows, then every row over its tokens. Stage 2 pools the tokens
of a row into one vector and is a transformer over rows. Scores of plain learners
(``discriminants``) are added to a row's first token and to its vector. Query rows attend to context
rows only, never to each other: so the context can be encoded once, and queries in pieces of any
size.
"""

import math
from collections.abc import Callable
from copy import copy
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from robustpu.pretrained.discriminants import N_ROW_SCORES

UNLABELED, POSITIVE, QUERY = 0, 1, 2
N_CELL_INPUTS = 8
N_TABLE_INPUTS = 6
# Log-odds of the class prior, from 0.003 to 0.93, in equal steps: the classes of the prior head.
PRIOR_BINS = 32
PRIOR_LOW, PRIOR_HIGH = -5.8, 2.6
FEW_TOKENS = 24


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of the network; stored with its weights.

    Parameters
    ----------
    cell_width, cell_heads, n_cell_blocks
        Stage 1: width of a cell's token, attention heads, blocks.
    row_width, row_heads, n_row_blocks
        Stage 2: width of a row's token, attention heads, blocks.
    n_pooled
        Learned queries that pool the cells of a row.
    identity_width
        Length of the random vector that tells tokens apart.
    group
        Columns of a token.
    """

    cell_width: int = 128
    cell_heads: int = 4
    n_cell_blocks: int = 4
    row_width: int = 256
    row_heads: int = 4
    n_row_blocks: int = 8
    n_pooled: int = 5
    identity_width: int = 32
    group: int = 3


class KeysValues(NamedTuple):
    """What later rows attend to: keys and values, each ``(..., heads, length, width)``."""

    keys: Tensor
    values: Tensor


class Cache(NamedTuple):
    """Everything that query rows need of an encoded context."""

    cells: list[KeysValues]
    rows: list[KeysValues]

    def in_double(self) -> "Cache":
        """Return it in double precision."""
        cells, rows = (
            [KeysValues(kv.keys.double(), kv.values.double()) for kv in part] for part in self
        )
        return Cache(cells, rows)


class Linear(nn.Linear):
    """A linear map computed in its input's precision; weights stay in single precision."""

    __call__: Callable[..., Tensor]

    def forward(self, x: Tensor) -> Tensor:
        bias = None if self.bias is None else self.bias.to(x.dtype)
        return functional.linear(x, self.weight.to(x.dtype), bias)


def normalize(x: Tensor) -> Tensor:
    """Layer normalisation without parameters."""
    return functional.layer_norm(x, x.shape[-1:])


def zeros_linear(width: int, out: int) -> Linear:
    """Return a linear map that starts at zero, so that a residual block starts as identity."""
    linear = Linear(width, out, bias=False)
    nn.init.zeros_(linear.weight)
    return linear


def split_heads(x: Tensor, heads: int) -> Tensor:
    """``(N, L, d) -> (N, heads, L, d / heads)``."""
    n, length, width = x.shape
    return x.view(n, length, heads, width // heads).transpose(1, 2)


def join_heads(x: Tensor) -> Tensor:
    """``(N, heads, L, e) -> (N, L, heads * e)``."""
    n, heads, length, width = x.shape
    return x.transpose(1, 2).reshape(n, length, heads * width)


def attend_few(q: Tensor, k: Tensor, v: Tensor, heads: int) -> Tensor:
    """Attention over few tokens ``(N, T, d)``, by sums that a compiler fuses.

    Attention kernels work on tiles of 128 tokens, and waste nearly all of it on five.
    """
    n, t, width = q.shape
    q, k, v = (part.view(n, t, heads, width // heads) for part in (q, k, v))
    scores = (q.unsqueeze(2) * k.unsqueeze(1)).sum(-1, dtype=torch.float32)
    share = (scores / math.sqrt(width // heads)).softmax(2).to(v.dtype)
    return (share.unsqueeze(-1) * v.unsqueeze(1)).sum(2).view(n, t, width)


class LengthScale(nn.Module):
    """Sharper attention over longer contexts: ``1 + a (log n - 6)``, ``a`` learned per head."""

    __call__: Callable[..., Tensor]

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.full((heads, 1, 1), 0.1))

    def forward(self, queries: Tensor, log_length: Tensor) -> Tensor:
        return queries * (1 + self.slope * (log_length - 6)).to(queries.dtype)


class MLP(nn.Module):
    """``x -> W2 relu(W1 x)^2``."""

    __call__: Callable[..., Tensor]

    def __init__(self, width: int, factor: int) -> None:
        super().__init__()
        self.up = Linear(width, factor * width, bias=False)
        self.down = zeros_linear(factor * width, width)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.up(x)
        if torch.is_grad_enabled():
            return self.down(functional.relu(hidden).square())
        return self.down(hidden.relu_().square_())


class CellBlock(nn.Module):
    """Tokens over the context's rows, rows over their tokens, then an MLP.

    Cells are ``(B, T, M, d)``.
    """

    __call__: Callable[..., Tensor]

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width, self.heads = config.cell_width, config.cell_heads
        self.sharpen = LengthScale(self.heads)
        self.query = Linear(width, width, bias=False)
        self.context_kv = Linear(width, 2 * width, bias=False)
        self.out = zeros_linear(width, width)
        self.row_qkv = Linear(width, 3 * width, bias=False)
        self.row_out = zeros_linear(width, width)
        self.mlp = MLP(width, 2)

    def summarize(self, x: Tensor) -> KeysValues:
        """Context cells ``(B, T, n, d)`` -> keys and values ``(B T, heads, n, e)``."""
        b, t, n, width = x.shape
        kv = self.context_kv(normalize(x)).view(b * t, n, 2 * width)
        keys, values = (split_heads(part, self.heads) for part in kv.chunk(2, -1))
        return KeysValues(keys, values)

    def direct(self, x: Tensor, n: int, log_length: Tensor) -> Tensor:
        """All rows attend to the first ``n``."""
        return self(x, *self.summarize(x[:, :, :n]), log_length)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, log_length: Tensor) -> Tensor:
        """Cells ``(B, T, M, d)``, given the context's keys and values -> cells."""
        b, t, m, width = x.shape
        queries = split_heads(self.query(normalize(x)).view(b * t, m, width), self.heads)
        queries = self.sharpen(queries, log_length)
        over_rows = join_heads(functional.scaled_dot_product_attention(queries, keys, values))
        x = x + self.out(over_rows).view(b, t, m, width)
        # Two axes and no strides: a product of matrices, not one a row.
        flat = normalize(x).transpose(1, 2).reshape(b * m * t, width)
        parts = self.row_qkv(flat).view(b * m, t, 3 * width).chunk(3, -1)
        if x.is_cuda and t <= FEW_TOKENS:
            attended = attend_few(parts[0], parts[1], parts[2], self.heads)
        else:
            q, k, v = (split_heads(part, self.heads) for part in parts)
            attended = join_heads(functional.scaled_dot_product_attention(q, k, v))
        over_columns = self.row_out(attended)
        x = x + over_columns.view(b, m, t, width).transpose(1, 2)
        return x + self.mlp(normalize(x))


class RowBlock(nn.Module):
    """A transformer block over rows ``(B, M, D)``."""

    __call__: Callable[..., Tensor]

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        width, self.heads = config.row_width, config.row_heads
        self.sharpen = LengthScale(self.heads)
        self.query = Linear(width, width, bias=False)
        self.context_kv = Linear(width, 2 * width, bias=False)
        self.out = zeros_linear(width, width)
        self.mlp = MLP(width, 4)

    def summarize(self, x: Tensor) -> KeysValues:
        """Context rows ``(B, n, D)`` -> keys and values ``(B, heads, n, e)``."""
        kv = self.context_kv(normalize(x))
        keys, values = (split_heads(part, self.heads) for part in kv.chunk(2, -1))
        return KeysValues(keys, values)

    def direct(self, x: Tensor, n: int, log_length: Tensor) -> Tensor:
        """All rows attend to the first ``n``."""
        return self(x, *self.summarize(x[:, :n]), log_length)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor, log_length: Tensor) -> Tensor:
        """Rows ``(B, M, D)`` attend to the context's keys and values."""
        queries = self.sharpen(split_heads(self.query(normalize(x)), self.heads), log_length)
        attended = functional.scaled_dot_product_attention(queries, keys, values)
        x = x + self.out(join_heads(attended))
        return x + self.mlp(normalize(x))


class PUNetwork(nn.Module):
    """The pretrained network; ``encode_context`` and ``encode_queries`` split one pass in two.

    Examples
    --------
    >>> config = NetworkConfig(cell_width=8, cell_heads=2, row_width=8, row_heads=2)
    >>> network = PUNetwork(config)
    >>> cells, roles = torch.zeros(1, 5, 3, N_CELL_INPUTS), torch.tensor([[1, 1, 0, 0, 2]])
    >>> logits, prior = network(cells, torch.zeros(1, 5, N_ROW_SCORES), roles,
    ...                         torch.zeros(1, N_TABLE_INPUTS),
    ...                         torch.zeros(1, 1, config.identity_width), 4)
    >>> logits.shape, prior.shape
    (torch.Size([1, 5]), torch.Size([1, 32]))
    """

    def __init__(self, config: NetworkConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or NetworkConfig()
        d, big = config.cell_width, config.row_width
        inputs = config.group * (N_CELL_INPUTS + 1)
        self.cell = nn.Sequential(Linear(inputs, 2 * d), nn.GELU(), Linear(2 * d, d))
        self.identity = Linear(config.identity_width, d, bias=False)
        self.token_scores = zeros_linear(N_ROW_SCORES, d)
        self.cell_role = nn.Parameter(0.5 * torch.randn(3, d))
        self.token_role = nn.Parameter(torch.randn(3, d))
        self.table = nn.Sequential(Linear(N_TABLE_INPUTS, d), nn.GELU(), Linear(d, d))
        self.cell_stage = [CellBlock(config) for _ in range(config.n_cell_blocks)]
        self.cell_blocks = nn.ModuleList(self.cell_stage)
        self.pool_query = nn.Parameter(torch.randn(config.n_pooled, d))
        self.pool_key = Linear(d, d, bias=False)
        self.to_row = Linear((1 + config.n_pooled) * d, big)
        self.row_scores = zeros_linear(N_ROW_SCORES, big)
        self.row_role = nn.Parameter(torch.randn(3, big))
        self.row_table = Linear(d, big)
        self.row_stage = [RowBlock(config) for _ in range(config.n_row_blocks)]
        self.row_blocks = nn.ModuleList(self.row_stage)
        self.head = nn.Sequential(Linear(big, big), nn.GELU(), Linear(big, 1))
        self.prior_head = nn.Sequential(Linear(2 * big, d), nn.GELU(), Linear(d, PRIOR_BINS))
        self.dtype = torch.float32
        # Replaced by compiled functions while training.
        self.direct_cells: list[Callable[..., Tensor]] = [b.direct for b in self.cell_stage]
        self.direct_rows: list[Callable[..., Tensor]] = [b.direct for b in self.row_stage]

    def compile_blocks(self) -> None:
        """Compile each block for any shape; training only."""
        self.direct_cells = [torch.compile(b.direct, dynamic=True) for b in self.cell_stage]
        self.direct_rows = [torch.compile(b.direct, dynamic=True) for b in self.row_stage]

    def n_tokens(self, n_columns: int) -> int:
        """Return how many tokens hold that many columns."""
        return -(-n_columns // self.config.group)

    def n_parameters(self) -> int:
        """Return the number of weights."""
        return sum(weight.numel() for weight in self.parameters())

    def describe(self) -> dict[str, Any]:
        """Return the configuration as a plain dictionary."""
        return asdict(self.config)

    # -- inputs -------------------------------------------------------------------------------

    def _tokens(
        self, cells: Tensor, scores: Tensor, roles: Tensor, table: Tensor, identities: Tensor
    ) -> Tensor:
        """Inputs -> cells ``(B, T, M, d)``; a row's first token holds role, scores and table."""
        dtype, group = self.dtype, self.config.group
        b, m, c, _ = cells.shape
        # One more input says that a column is there; the last token may have fewer.
        cells = functional.pad(
            functional.pad(cells.to(dtype), (0, 1), value=1.0), (0, 0, 0, -c % group)
        )
        x = self.cell(cells.reshape(b, m, -(-c // group), -1)).transpose(1, 2)
        x = x + self.identity(identities.to(dtype))[:, :, None]
        # A product, since the gradient of indexing is slow with three rows.
        role = functional.one_hot(roles, 3).to(dtype)
        x = x + (role @ self.cell_role.to(dtype))[:, None]
        first = role @ self.token_role.to(dtype) + table[:, None]
        first = first + self.token_scores(scores.to(dtype))
        return torch.cat([first[:, None], x], 1)

    def _pool(self, x: Tensor, scores: Tensor, roles: Tensor, table: Tensor) -> Tensor:
        """Cells ``(B, T, M, d)`` -> rows ``(B, M, D)``."""
        b, _, m, d = x.shape
        x = normalize(x)
        match = torch.einsum("btmd,qd->bmqt", self.pool_key(x), self.pool_query.to(x.dtype))
        share = (match.float() / math.sqrt(d)).softmax(-1).to(x.dtype)
        pooled = torch.einsum("bmqt,btmd->bmqd", share, x).reshape(b, m, -1)
        rows = self.to_row(torch.cat([x[:, 0], pooled], -1))
        rows = rows + self.row_scores(scores.to(rows.dtype))
        role = functional.one_hot(roles, 3).to(x.dtype) @ self.row_role.to(x.dtype)
        return rows + role + self.row_table(table)[:, None]

    def _prior_logits(self, rows: Tensor, roles: Tensor) -> Tensor:
        """Means over unlabelled and over positive context rows -> logits of the prior's bins."""
        means = []
        for role in (UNLABELED, POSITIVE):
            weight = (roles == role).to(torch.float32)
            weight = weight / weight.sum(1, keepdim=True).clamp(min=1)
            means.append(torch.einsum("bn,bnd->bd", weight, rows.float()))
        logits: Tensor = self.prior_head(torch.cat(means, -1).to(rows.dtype))
        return logits.float()

    def in_double(self) -> "PUNetwork":
        """Return a network with the same weights that computes in double precision."""
        other = copy(self)
        other.dtype = torch.float64
        return other

    # -- passes -------------------------------------------------------------------------------

    def forward(
        self,
        cells: Tensor,
        scores: Tensor,
        roles: Tensor,
        table: Tensor,
        identities: Tensor,
        n: int,
    ) -> tuple[Tensor, Tensor]:
        """One pass over context rows (the first ``n``) and query rows.

        Parameters
        ----------
        cells
            Encoded cells ``(B, M, C, N_CELL_INPUTS)``.
        scores
            Of the rows, by plain learners, ``(B, M, N_ROW_SCORES)``.
        roles
            ``(B, M)``: unlabelled 0, positive 1, query 2.
        table
            Inputs about the table, ``(B, N_TABLE_INPUTS)``.
        identities
            Random vectors of the tokens ``(B, ceil(C / group), identity_width)``.
        n
            Number of context rows.

        Returns
        -------
        Logits ``(B, M)`` of being positive, for a row drawn like the unlabelled ones, and logits
        of the bins of the prior ``(B, PRIOR_BINS)``.
        """
        log_n = torch.full((), math.log(n), device=cells.device)
        told = self.table(table.to(self.dtype))
        x = self._tokens(cells, scores, roles, told, identities)
        for direct in self.direct_cells:
            x = direct(x, n, log_n)
        rows = self._pool(x, scores, roles, told)
        for direct in self.direct_rows:
            rows = direct(rows, n, log_n)
        rows = normalize(rows)
        return self.head(rows)[..., 0].float(), self._prior_logits(rows[:, :n], roles[:, :n])

    @torch.no_grad()
    def encode_context(
        self, cells: Tensor, scores: Tensor, roles: Tensor, table: Tensor, identities: Tensor
    ) -> tuple[Tensor, Cache]:
        """Context rows -> their logits, and what queries attend to."""
        log_n = torch.full((), math.log(cells.shape[1]), device=cells.device)
        told = self.table(table.to(self.dtype))
        x = self._tokens(cells, scores, roles, told, identities)
        cache = Cache([], [])
        for block in self.cell_stage:
            cache.cells.append(block.summarize(x))
            x = block(x, *cache.cells[-1], log_n)
        rows = self._pool(x, scores, roles, told)
        for row_block in self.row_stage:
            cache.rows.append(row_block.summarize(rows))
            rows = row_block(rows, *cache.rows[-1], log_n)
        logits: Tensor = self.head(normalize(rows))
        return logits[..., 0].float(), cache

    @torch.no_grad()
    def encode_queries(
        self, cells: Tensor, scores: Tensor, table: Tensor, identities: Tensor, cache: Cache
    ) -> Tensor:
        """Query rows, given an encoded context -> logits ``(B, M)``."""
        log_n = torch.full((), math.log(cache.rows[0].keys.shape[2]), device=cells.device)
        told = self.table(table.to(self.dtype))
        roles = torch.full(cells.shape[:2], QUERY, device=cells.device)
        x = self._tokens(cells, scores, roles, told, identities)
        for block, kv in zip(self.cell_stage, cache.cells, strict=True):
            x = block(x, *kv, log_n)
        rows = self._pool(x, scores, roles, told)
        for row_block, kv in zip(self.row_stage, cache.rows, strict=True):
            rows = row_block(rows, *kv, log_n)
        logits: Tensor = self.head(normalize(rows))
        return logits[..., 0].float()
