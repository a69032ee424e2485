"""Extra-trees of the positive-unlabelled risk: many grown at once, level by level, as flat arrays.

A node S has the masses W_P, of its positives, and W, of all its rows in the population; how weights
of rows become masses is said by `Masses`. What is left to a node's negatives is
W_N = max(0, W - W_P).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.pool.trees import Trees

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Numbers in one temporary array.
BLOCK = 1 << 20
# Of W: what is left to negatives by rounding alone.
NOTHING = 1e-12


@dataclass(frozen=True)
class Masses:
    """W_P = positive s_P and W = labelled s_P + unlabeled s_U, s the sums of weights in a node."""

    positive: float
    labelled: float
    unlabeled: float

    def of(self, weight_positive: Floats, weight_unlabeled: Floats) -> tuple[Floats, Floats]:
        """Masses W_P and W of nodes with these sums of weights, of any one shape.

        Parameters
        ----------
        weight_positive, weight_unlabeled
            Sums of the weights of the labelled and of the unlabelled rows.

        Examples
        --------
        >>> w_positive, w = Masses(0.004, 0.0, 0.01).of(np.array([50.0]), np.array([40.0]))
        >>> w_positive.item(), w.item()
        (0.2, 0.4)
        """
        total = self.labelled * weight_positive + self.unlabeled * weight_unlabeled
        return self.positive * weight_positive, total

    def shown(self, share_positive: float, share_unlabeled: float) -> "Masses":
        """Masses of rows that are such shares of all labelled and of all unlabelled ones.

        Parameters
        ----------
        share_positive, share_unlabeled
            Above 0, at most 1.

        Examples
        --------
        >>> Masses(0.004, 0.002, 0.002).shown(1.0, 0.5)
        Masses(positive=0.004, labelled=0.002, unlabeled=0.004)
        """
        return Masses(
            self.positive / share_positive,
            self.labelled / share_positive,
            self.unlabeled / share_unlabeled,
        )


def node_risk(positive: Floats, total: Floats) -> Floats:
    """4 W_P W_N / (W_P + W_N), W_N = max(0, W - W_P): the least quadratic risk of one answer.

    Parameters
    ----------
    positive, total
        W_P and W of the nodes, of any one shape.

    Examples
    --------
    >>> node_risk(np.array([0.1, 0.0, 0.3]), np.array([0.4, 0.4, 0.2])).round(6).tolist()
    [0.3, 0.0, 0.0]
    """
    negative = total - positive
    negative = np.where(negative > NOTHING * total, negative, 0.0)
    both = positive + negative
    return 4 * positive * negative / np.where(both > 0, both, 1.0)


def share_positive(positive: Floats, total: Floats) -> Floats:
    """W_P / W, at most 1: the share of positives in a node.

    Parameters
    ----------
    positive, total
        W_P and W of the nodes, of any one shape.

    Examples
    --------
    >>> share_positive(np.array([0.1, 0.3, 0.3]), np.array([0.4, 0.2, 0.0])).tolist()
    [0.25, 1.0, 1.0]
    """
    return np.where(positive < total, positive / np.where(total > 0, total, 1.0), 1.0)


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as flat arrays over the nodes of all trees, one tree after the other.

    ``start`` (trees,) is the root of each. A node has a ``feature``, -1 in a leaf, and a
    ``threshold``: rows with at most that go on to the node ``left`` (a leaf's is itself), others to
    ``left + 1``; the ``value`` is its share of positives, and the ``risk`` its risk.
    """

    start: Whole
    feature: Whole
    threshold: Floats
    left: Whole
    value: Floats
    risk: Floats

    @classmethod
    def join(cls, forests: Sequence["Forest"]) -> "Forest":
        """Put the trees of several forests into one."""
        offset = np.cumsum([0, *(len(forest.feature) for forest in forests)])
        moved = {
            name: [getattr(forest, name) + by for forest, by in zip(forests, offset, strict=False)]
            for name in ("start", "left")
        }
        return cls(
            **{
                field.name: np.concatenate(
                    moved.get(field.name, [getattr(forest, field.name) for forest in forests])
                )
                for field in fields(cls)
            }
        )

    def answer(self, X: Floats) -> Floats:
        """Mean over the trees of the value of the leaf that a row falls into, (n,).

        Parameters
        ----------
        X
            Rows (n, d).
        """
        wide = max(1, BLOCK // len(self.start))
        parts = [self._sum(X[first : first + wide]) for first in range(0, len(X), wide)]
        return np.concatenate(parts) / len(self.start)

    def _sum(self, X: Floats) -> Floats:
        flat, (n, d) = np.ascontiguousarray(X).ravel(), X.shape
        node, row = np.repeat(self.start, n), np.tile(np.arange(n), len(self.start))
        total = np.zeros(n)
        while len(node):
            feature = self.feature.take(node)
            inside = feature >= 0
            # Added level by level: the order, and the rounding, is the same among any other rows.
            ends = ~inside
            total += _totals(row[ends], self.value.take(node[ends]), n)
            node, row, feature = node[inside], row[inside], feature[inside]
            right = flat.take(row * d + feature) > self.threshold.take(node)
            node = self.left.take(node) + right
        return total

    def compiled(self, centre: Floats, scale: Floats) -> Trees:
        """The trees in the form that scikit-learn's compiled code scores, in single precision.

        Parameters
        ----------
        centre, scale
            Rows have to come as (x - centre) / scale, of which single precision has enough digits,
            (d,).
        """
        sizes = np.diff(np.append(self.start, len(self.feature)))
        # Children are counted from the root of their tree.
        inside, offset = self.feature >= 0, np.repeat(self.start, sizes)
        left = np.where(inside, self.left - offset, -1)
        feature = np.maximum(self.feature, 0)
        threshold = np.where(inside, (self.threshold - centre[feature]) / scale[feature], 0.0)
        return Trees(
            n_features=len(centre),
            start=np.append(self.start, len(self.feature)),
            feature=self.feature,
            threshold=threshold,
            left=left,
            right=np.where(inside, left + 1, -1),
            value=self.value,
        )

    def spread(self, n_features: int) -> tuple[Floats, Floats]:
        """Mean and deviation of the thresholds of each feature, (d,); 0 and 1 if there are none.

        Parameters
        ----------
        n_features
            d, the number of features.
        """
        inside = self.feature >= 0
        feature, threshold = self.feature[inside], self.threshold[inside]
        count = np.maximum(np.bincount(feature, minlength=n_features), 1)
        centre = _totals(feature, threshold, n_features) / count
        squares = _totals(feature, (threshold - centre[feature]) ** 2, n_features)
        scale = np.sqrt(squares / count)
        return centre, np.where(scale > 0, scale, 1.0)

    def importances(self, n_features: int) -> Floats:
        """Decrease of the risk by the splits on each feature, of the roots' risk, (d,).

        Parameters
        ----------
        n_features
            d, the number of features.
        """
        node = np.flatnonzero(self.feature >= 0)
        left = self.left[node]
        decrease = self.risk[node] - self.risk[left] - self.risk[left + 1]
        total = _totals(self.feature[node], decrease, n_features)
        return total / float(self.risk[self.start].sum())


def _totals(place: Whole, number: NDArray[Any], size: int) -> Floats:
    """Sums of numbers by place, (size,)."""
    return np.bincount(place, number, minlength=size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Limits:
    """When nodes are no longer split, and what a split and a tree may choose from.

    A tree sees ``max_samples`` of the labelled and as many of the unlabelled rows at most.
    """

    max_features: int
    max_depth: int | None = None
    min_samples_leaf: int = 1
    max_samples: int | None = None


def grow(
    X: Floats,
    is_positive: Mask,
    weight: Floats,
    masses: Masses,
    generators: Sequence[np.random.Generator],
    limits: Limits,
) -> Forest:
    """Grow one tree a generator; each is what it would be alone.

    A node is split by the best of ``max_features`` random features that vary in it, each with one
    threshold, uniform between its least and its largest value there. Nodes of risk 0 are leaves.
    A row counts for those that a tree does not see.

    Parameters
    ----------
    X
        Rows (n, d), finite.
    is_positive
        Which carry a label, (n,).
    weight
        Of each row, (n,), above 0.
    masses
        What weights of rows are in the population.
    generators
        Of random numbers.
    limits
        Of splits.
    """
    # Labelled rows first: nodes keep the order, and so each is two runs of rows.
    order = np.argsort(~is_positive, kind="stable")
    kinds = int(is_positive.sum()), int((~is_positive).sum())
    most = limits.max_samples or len(X)
    seen = min(kinds[0], most), min(kinds[1], most)
    shown = masses.shown(seen[0] / kinds[0], seen[1] / kinds[1])
    data = _Data(np.ascontiguousarray(X[order].T), weight[order], kinds, seen, shown)
    together = max(1, BLOCK // (sum(seen) * limits.max_features))
    forests = []
    for first in range(0, len(generators), together):
        some = generators[first : first + together]
        forests.append(_grow(data, some, limits))
    return Forest.join(forests)


@dataclass(frozen=True)
class _Data:
    columns: Floats  # (d, n)
    weight: Floats  # (n,)
    kinds: tuple[int, int]  # numbers of labelled and of unlabelled rows
    seen: tuple[int, int]  # how many of them a tree sees
    masses: Masses


@dataclass(frozen=True)
class _Level:
    """Nodes of one depth; ``rows`` goes node by node, and labelled ones come first in each."""

    node: Whole  # (m,)
    tree: Whole  # (m,)
    sizes: Whole  # (m, 2), numbers of labelled and of unlabelled rows
    rows: Whole  # (r,)
    constant: Mask  # (m, d), features that are known not to vary

    def keep(self, these: Mask) -> "_Level":
        """Only some of the nodes, and their rows."""
        if these.all():
            return self
        rows = self.rows[np.repeat(these, self.sizes.sum(1))]
        nodes = (self.node[these], self.tree[these], self.sizes[these])
        return _Level(*nodes, rows, self.constant[these])

    def sums(self, number: NDArray[Any]) -> Floats:
        """Sums of numbers of rows (r,) over the labelled and the unlabelled ones, (m, 2)."""
        run = np.repeat(np.arange(self.sizes.size), self.sizes.ravel())
        return _totals(run, number, self.sizes.size).reshape(-1, 2)


def _grow(data: _Data, generators: Sequence[np.random.Generator], limits: Limits) -> Forest:
    """Grow trees together."""
    level, depth, count = _roots(data, generators), 0, len(generators)
    noted = []
    while len(level.node):
        notes = _notes(data, level)
        noted.append(notes)
        parents = level.keep(_may_split(level, notes["risk"], depth, limits))
        if not len(parents.node):
            break
        draws = _draw(generators, parents)
        feature, threshold = _best_splits(data, parents, limits, *draws)
        split = feature >= 0
        parents, feature, threshold = parents.keep(split), feature[split], threshold[split]
        place = np.flatnonzero(np.isin(level.node, parents.node, assume_unique=True))
        left = count + 2 * np.arange(len(place))
        notes["feature"][place], notes["threshold"][place] = feature, threshold
        notes["left"][place] = left
        level = _children(data, parents, feature, threshold, left)
        count, depth = count + 2 * len(left), depth + 1
    return _by_tree(noted)


def _roots(data: _Data, generators: Sequence[np.random.Generator]) -> _Level:
    trees = len(generators)
    return _Level(
        node=np.arange(trees),
        tree=np.arange(trees),
        sizes=np.tile(data.seen, (trees, 1)),
        rows=np.concatenate([_rows(data, generator) for generator in generators]),
        constant=np.zeros((trees, len(data.columns)), dtype=np.bool_),
    )


def _rows(data: _Data, generator: np.random.Generator) -> Whole:
    """Rows that a tree sees, in ascending order, so that labelled ones come first."""
    drawn = [
        np.arange(size) if seen == size else np.sort(generator.choice(size, seen, replace=False))
        for size, seen in zip(data.kinds, data.seen, strict=True)
    ]
    return np.concatenate([drawn[0], data.kinds[0] + drawn[1]])


def _notes(data: _Data, level: _Level) -> dict[str, NDArray[Any]]:
    """What the forest keeps of each node, all leaves at first."""
    masses = data.masses.of(*level.sums(data.weight.take(level.rows)).T)
    return {
        "node": level.node,
        "tree": level.tree,
        "feature": np.full(len(level.node), -1),
        "threshold": np.zeros(len(level.node)),
        "left": level.node.copy(),
        "value": share_positive(*masses),
        "risk": node_risk(*masses),
    }


def _may_split(level: _Level, risk: Floats, depth: int, limits: Limits) -> Mask:
    if limits.max_depth is not None and depth >= limits.max_depth:
        return np.zeros(len(risk), dtype=np.bool_)
    enough: Mask = (risk > 0) & (level.sizes.sum(1) >= 2 * limits.min_samples_leaf)
    return enough


def _draw(generators: Sequence[np.random.Generator], level: _Level) -> tuple[Floats, Floats]:
    """Two numbers in [0, 1) a node and feature, (m, d) each, by the generator of its tree."""
    order = np.argsort(level.tree, kind="stable")
    count = np.bincount(level.tree, minlength=len(generators))
    d = level.constant.shape[1]
    drawn = [
        generator.random((size, 2, d))
        for generator, size in zip(generators, count, strict=True)
        if size
    ]
    draws = np.empty((len(order), 2, d))
    draws[order] = np.concatenate(drawn)
    return draws[:, 0], draws[:, 1]


def _best_splits(
    data: _Data, level: _Level, limits: Limits, rank: Floats, cut: Floats
) -> tuple[Whole, Floats]:
    """Feature, -1 if there is none, and threshold of the best split of each node, (m,) each.

    Features are tried in the order of ``rank`` until enough were found that vary: a few at first,
    then twice as many, of the nodes that still want some.
    """
    m, d = rank.shape
    least, feature, threshold = np.full(m, np.inf), np.full(m, -1), np.zeros(m)
    constant, rank = level.constant, np.where(level.constant, np.inf, rank)
    width = min(limits.max_features, d)
    node, wanted = np.arange(m), np.full(m, width)
    while len(node):
        tried = _first(rank, min(d, max(1, min(width, BLOCK // len(level.rows)))))
        known = np.isinf(np.take_along_axis(rank, tried, 1))
        np.put_along_axis(rank, tried, np.inf, 1)
        runs = _Runs(data, level, tried)
        varies = runs.low < runs.high
        constant[node[:, None], tried] |= ~varies
        varies &= ~known
        varies &= np.cumsum(varies, axis=1) <= wanted[:, None]
        at = _between(runs.low, runs.high, np.take_along_axis(cut, tried, 1))
        risk = np.where(varies, runs.risk(at, limits.min_samples_leaf), np.inf)
        best = np.arange(len(node)), np.argmin(risk, axis=1)
        better = risk[best] < least[node]
        here = node[better]
        for noted, new in ((least, risk), (feature, tried), (threshold, at)):
            noted[here] = new[best][better]
        wanted -= varies.sum(1)
        go_on = (wanted > 0) & np.isfinite(rank.min(1))
        node, rank, cut, wanted = node[go_on], rank[go_on], cut[go_on], wanted[go_on]
        level, width = level.keep(go_on), 2 * width
    return feature, threshold


def _first(rank: Floats, wide: int) -> Whole:
    """Places of the least numbers of each row, in ascending order, (m, wide)."""
    if wide < rank.shape[1]:
        some = np.argpartition(rank, wide - 1, axis=1)[:, :wide]
    else:
        some = np.broadcast_to(np.arange(wide), rank.shape)
    order = np.argsort(np.take_along_axis(rank, some, 1), axis=1)
    return np.take_along_axis(some, order, 1)


def _between(low: Floats, high: Floats, share: Floats) -> Floats:
    """Thresholds that leave rows on either side, whatever the rounding."""
    at = low * (1 - share) + high * share
    return np.where((low <= at) & (at < high), at, low)


class _Runs:
    """Values of features (m, f) at the rows of each node."""

    def __init__(self, data: _Data, level: _Level, features: Whole) -> None:
        self.data, self.level = data, level
        n = data.columns.shape[1]
        size = level.sizes.sum(1)
        self.node = np.repeat(np.arange(len(size)), size)
        start = np.cumsum(size) - size
        column = np.ascontiguousarray(features.T) * n
        # (f, r)
        self.values = data.columns.ravel().take(column.take(self.node, axis=1) + level.rows)
        self.low = np.minimum.reduceat(self.values, start, axis=1).T
        self.high = np.maximum.reduceat(self.values, start, axis=1).T

    def risk(self, at: Floats, min_samples_leaf: int) -> Floats:
        """Risk of both children of each node, (m, f), infinite where one has too few rows."""
        left = self.values <= np.ascontiguousarray(at.T).take(self.node, axis=1)
        # Both kinds of rows are in any node that may be split: no run is empty.
        start = np.cumsum(self.level.sizes) - self.level.sizes.ravel()
        weight = self.data.weight.take(self.level.rows)
        inside = np.add.reduceat(left * weight, start, axis=1)
        whole = np.add.reduceat(weight, start)
        risk = np.zeros((len(left), len(self.level.sizes)))
        for side in (inside, np.maximum(whole - inside, 0)):
            risk += node_risk(*self.data.masses.of(side[:, ::2], side[:, 1::2]))
        if min_samples_leaf > 1:
            rows = np.add.reduceat(left, start[::2], axis=1, dtype=np.intp)
            fewer = np.minimum(rows, self.level.sizes.sum(1) - rows)
            risk[fewer < min_samples_leaf] = np.inf
        return risk.T


def _children(data: _Data, level: _Level, feature: Whole, threshold: Floats, left: Whole) -> _Level:
    """All left children, then all right ones."""
    node = np.repeat(np.arange(len(left)), level.sizes.sum(1))
    values = data.columns[feature.take(node), level.rows]
    goes_left = values <= threshold.take(node)
    sizes = level.sums(goes_left).astype(np.intp)
    return _Level(
        node=np.concatenate([left, left + 1]),
        tree=np.tile(level.tree, 2),
        sizes=np.concatenate([sizes, level.sizes - sizes]),
        rows=np.concatenate([level.rows[goes_left], level.rows[~goes_left]]),
        constant=np.tile(level.constant, (2, 1)),
    )


def _by_tree(levels: Sequence[dict[str, NDArray[Any]]]) -> Forest:
    """From level by level to tree by tree; a left child stays before its right one."""
    whole = {name: np.concatenate([level[name] for level in levels]) for name in levels[0]}
    order = np.lexsort((whole["node"], whole["tree"]))
    place = np.empty(len(order), dtype=np.intp)
    place[whole.pop("node")[order]] = np.arange(len(order))
    tree = whole.pop("tree")[order]
    whole["left"] = place[whole["left"]]
    start = np.searchsorted(tree, np.arange(tree[-1] + 1))
    return Forest(start=start, **{name: values[order] for name, values in whole.items()})
