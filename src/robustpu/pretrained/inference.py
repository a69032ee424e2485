"""Use of the network on numpy arrays: contexts, members, wide tables, chunks of queries."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from robustpu.pretrained.discriminants import (
    N_LANDMARKS,
    Discriminants,
    fit_discriminants,
)
from robustpu.pretrained.encoding import ColumnStatistics, encode, fit_columns, table_inputs
from robustpu.pretrained.network import Cache, PUNetwork
from robustpu.pretrained.recoding import find_recoding

Floats = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")

# What the network saw in training: rows, positives, columns, and cells of one context.
MAX_CONTEXT, MAX_POSITIVE, MAX_COLUMNS, MAX_CELLS = 2048, 500, 200, 75_000
CHUNK_CELLS = {"cpu": 8_000, "cuda": 2_000_000}
CHUNK_ROWS = 60_000
LARGEST = 1e30
# So few queries are scored in double precision: their scores then do not depend on which rows come
# together, as those of large batches do in the seventh digit.
EXACT_ROWS = 64


@dataclass(frozen=True)
class Member:
    """One context, encoded: which rows and columns it has, and what queries attend to."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    levels: list[tuple[int, Floats, Floats]]
    statistics: ColumnStatistics
    discriminants: Discriminants
    table: Tensor
    identities: Tensor
    cache: Cache
    logits: Floats


@dataclass(frozen=True)
class TrainingScores:
    """Probabilities of the training rows, (n,); NaN where no member counts.

    Parameters
    ----------
    probability
        By all members, an unlabelled row inside of its contexts. For labelled rows, whose label
        is in the context, by the members without the row.
    held_out
        By the members without the row.
    """

    probability: Floats
    held_out: Floats


class EncodedTable:
    """A positive-unlabelled table, encoded once; new rows are scored against it.

    Parameters
    ----------
    network
        The pretrained network.
    X
        Training rows ``(n, C)``; finite or NaN, which is missing; categories are codes. One-hot
        columns that stand together become codes here, and filled gaps NaN (``recoding``).
    is_positive
        Which rows are labelled positive.
    is_category
        Columns whose values have no order; none by default.
    prior
        Share of positives among unlabelled rows, if known.
    n_members
        Members whose answers are averaged. They differ in the order of columns, in
        the codes of categories, and, where the table is longer or wider than the network was
        trained on, in their rows and columns.
    seed
        Seed of these draws.
    max_context
        Rows of a member's context at most.
    """

    def __init__(
        self,
        network: PUNetwork,
        X: ArrayLike,
        is_positive: ArrayLike,
        is_category: ArrayLike | None = None,
        prior: float | None = None,
        n_members: int = 2,
        seed: int = 0,
        max_context: int = MAX_CONTEXT,
    ) -> None:
        self.network = network
        self.device = next(network.parameters()).device
        self.X = np.asarray(X, dtype=np.float64)
        self.is_positive = np.asarray(is_positive, dtype=bool)
        none = np.zeros(self.X.shape[1])
        given = np.asarray(none if is_category is None else is_category, dtype=bool)
        self._recoding = find_recoding(self.X, given)
        self._recoded = self._recoding.apply(self.X)
        self.is_category = self._recoding.apply_mask(given)
        if not self.is_positive.any() or self.is_positive.all():
            raise ValueError("expected positive and unlabelled rows; all rows are of one kind")
        self.given_prior = prior
        self.centers, self.scales = _center_and_scale(self._recoded, self.is_category)
        rng = np.random.default_rng(seed)
        plan = self._plan(rng, n_members, max_context)
        # Drawn in order, before threads begin.
        draws = [
            (rows, columns, *self._draw_member(len(rows), columns, rng)) for rows, columns in plan
        ]
        self.members = on_threads(lambda draw: self._encode_member(*draw), draws, self.device)

    def _plan(
        self, rng: np.random.Generator, n_members: int, max_context: int
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows and columns of each member; every column is seen by one member at least."""
        n_columns = self._recoded.shape[1]
        width = min(n_columns, MAX_COLUMNS)
        n_members = max(n_members, -(-n_columns // width))
        longest = min(max_context, max(512, MAX_CELLS // (self.network.n_tokens(width) + 1)))
        positive, unlabeled = np.flatnonzero(self.is_positive), np.flatnonzero(~self.is_positive)
        n_positive, n_unlabeled = len(positive), len(unlabeled)
        if n_positive + n_unlabeled > longest:
            n_positive = min(n_positive, max(longest // 4, longest - n_unlabeled), MAX_POSITIVE)
            n_unlabeled = min(n_unlabeled, longest - n_positive)
        pick_positive = _cycle(rng, positive, n_positive, n_members)
        pick_unlabeled = _cycle(rng, unlabeled, n_unlabeled, n_members)
        pick_columns = _cycle(rng, np.arange(n_columns), width, n_members)
        return [
            (np.concatenate(rows), rng.permutation(columns))
            for *rows, columns in zip(pick_positive, pick_unlabeled, pick_columns, strict=True)
        ]

    def _values(
        self, X: Floats, columns: NDArray[np.intp], levels: list[tuple[int, Floats, Floats]]
    ) -> Tensor:
        """Rows -> ``(1, M, C)``, categories under a member's codes."""
        values = X[:, columns]
        for place, known, codes in levels:
            column = values[:, place]
            index = np.searchsorted(known, column).clip(max=len(known) - 1)
            coded = np.where(known[index] == column, codes[index], codes[-1])
            values[:, place] = np.where(np.isnan(column), np.nan, coded)
        # In double precision, so that far and huge columns keep their differences.
        with np.errstate(over="ignore"):
            values = (values - self.centers[columns]) / self.scales[columns]
        # Far values stay finite in single precision: infinity stands for missing ones.
        values = values.clip(-LARGEST, LARGEST)
        return torch.from_numpy(values.astype(np.float32))[None].to(self.device)

    def _draw_member(
        self, n_rows: int, columns: NDArray[np.intp], rng: np.random.Generator
    ) -> tuple[list[tuple[int, Floats, Floats]], Floats, NDArray[np.intp]]:
        """Codes of categories, the vectors that tell tokens apart, and landmarks."""
        levels = []
        for place, column in enumerate(columns):
            if self.is_category[column]:
                known = np.unique(self._recoded[:, column])
                known = known[~np.isnan(known)]
                if len(known):
                    # The last code is for levels that are not known.
                    codes = rng.permutation(len(known) + 1) / (len(known) + 1)
                    levels.append((place, known, codes))
        width = self.network.config.identity_width
        vectors = rng.standard_normal((1, self.network.n_tokens(len(columns)), width))
        return levels, vectors, rng.permutation(n_rows)[:N_LANDMARKS]

    def _encode_member(
        self,
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        levels: list[tuple[int, Floats, Floats]],
        vectors: Floats,
        landmarks: NDArray[np.intp],
    ) -> Member:
        """Encode one context."""
        values = self._values(self._recoded[rows], columns, levels)
        positive = torch.from_numpy(self.is_positive[rows])[None].to(self.device)
        category = torch.from_numpy(self.is_category[columns])[None].to(self.device)
        statistics = fit_columns(values, positive, category)
        n_positive = positive.sum(1).float()
        prior = torch.full_like(n_positive, 0.5 if self.given_prior is None else self.given_prior)
        is_known = torch.full_like(n_positive, self.given_prior is not None)
        table = table_inputs(prior, is_known, n_positive, len(rows) - n_positive)
        identities = torch.from_numpy(vectors.astype(np.float32)).to(self.device)
        cells = encode(values, statistics, positive)
        marks = torch.from_numpy(landmarks)[None].to(self.device)
        discriminants, scores = fit_discriminants(cells, positive, marks)
        logits, cache = self.network.encode_context(
            cells, scores, positive.long(), table, identities
        )
        return Member(
            rows,
            columns,
            levels,
            statistics,
            discriminants,
            table,
            identities,
            cache,
            logits[0].double().cpu().numpy(),
        )

    def _query_logits(self, member: Member, X: Floats) -> Floats:
        """Logits of query rows under one member, in chunks."""
        cells = CHUNK_CELLS["cuda" if self.device.type == "cuda" else "cpu"]
        step = max(1, min(CHUNK_ROWS, cells // (self.network.n_tokens(len(member.columns)) + 1)))
        network, cache = self.network, member.cache
        if len(X) <= EXACT_ROWS and self.device.type in CHUNK_CELLS:
            network, cache = network.in_double(), cache.in_double()
        parts = []
        for start in range(0, len(X), step):
            values = self._values(X[start : start + step], member.columns, member.levels)
            encoded = encode(values, member.statistics)
            scores = member.discriminants.score(encoded)
            logits = network.encode_queries(encoded, scores, member.table, member.identities, cache)
            parts.append(logits[0].double().cpu().numpy())
        return np.concatenate(parts) if parts else np.zeros(0)

    def score(self, X: ArrayLike) -> Floats:
        """Probability that a row drawn like the unlabelled ones is positive."""
        rows = self._recoding.apply(np.asarray(X, dtype=np.float64))
        members = on_threads(
            lambda member: _sigmoid(self._query_logits(member, rows)), self.members, self.device
        )
        mean: Floats = np.mean(members, axis=0)
        return mean

    @cached_property
    def training(self) -> TrainingScores:
        """The same for the training rows."""

        def score(member: Member) -> tuple[Floats, NDArray[np.bool_]]:
            outside = np.ones(len(self.X), bool)
            outside[member.rows] = False
            scores = np.empty(len(self.X))
            scores[member.rows] = _sigmoid(member.logits)
            scores[outside] = _sigmoid(self._query_logits(member, self._recoded[outside]))
            return scores, outside

        found = on_threads(score, self.members, self.device)
        scores, outside = (np.stack(part) for part in zip(*found, strict=True))
        return TrainingScores(
            _mean_where(scores, outside | ~self.is_positive), _mean_where(scores, outside)
        )

    def estimate_prior(self) -> float:
        """Mean probability of the unlabelled rows of all contexts: their share of positives."""
        shares = [
            _sigmoid(member.logits[~self.is_positive[member.rows]]).mean()
            for member in self.members
        ]
        return float(np.mean(shares))


def on_threads(
    function: Callable[[Item], Result], items: Iterable[Item], device: torch.device
) -> list[Result]:
    """Apply a function to each item; on a processor several at once, the cores divided among them.

    Cores that share one small product wait for each other more than they compute.

    Examples
    --------
    >>> on_threads(lambda x: x + 1, [1, 2, 3], torch.device("cpu"))
    [2, 3, 4]
    """
    items, cores = list(items), torch.get_num_threads()
    workers = min(len(items), cores)
    if device.type != "cpu" or workers < 2:
        return [function(item) for item in items]
    try:
        with ThreadPoolExecutor(
            workers, "member", torch.set_num_threads, (cores // workers,)
        ) as pool:
            return list(pool.map(function, items))
    finally:
        # The number is kept a thread, but threads that begin later take the last one set.
        torch.set_num_threads(cores)


def _mean_where(scores: Floats, counts: NDArray[np.bool_]) -> Floats:
    """Mean over the members that count, ``(members, n) -> (n,)``; NaN where none does."""
    n = counts.sum(0)
    mean: Floats = np.where(n > 0, (scores * counts).sum(0) / np.maximum(n, 1), np.nan)
    return mean


def _center_and_scale(X: Floats, is_category: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Median and mean absolute deviation of numeric columns; 0 and 1 for the others."""
    centers, scales = np.zeros(X.shape[1]), np.ones(X.shape[1])
    for index in np.flatnonzero(~is_category):
        column = X[:, index]
        column = column[np.isfinite(column)]
        if len(column):
            centers[index] = np.median(column)
            scales[index] = np.abs(column - centers[index]).mean() or 1.0
    return centers, scales


def _cycle(
    rng: np.random.Generator, items: NDArray[np.intp], size: int, times: int
) -> list[NDArray[np.intp]]:
    """Draw ``times`` subsets that go round a random order, so that all items are used evenly."""
    if size == len(items):
        return [items] * times
    order = rng.permutation(items)
    return [np.take(order, np.arange(i * size, (i + 1) * size), mode="wrap") for i in range(times)]


def _sigmoid(logits: Floats) -> Floats:
    out: Floats = 1 / (1 + np.exp(-logits))
    return out
