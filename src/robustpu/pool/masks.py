"""Small trees scored without branches: splits rule out leaves, and the first one left counts."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Leaves of a tree at most: one bit each.
LEAVES = 8
# Rows that are scored at a time, or trees times rows of fewer.
AT_ONCE = 1 << 13
# The first leaf, from the left, that is not ruled out, (256,).
FIRST = np.array([(~ruled_out & -~ruled_out).bit_length() - 1 for ruled_out in range(1 << LEAVES)])


class LeafMasks(NamedTuple):
    """Splits and leaves of T trees of at most eight leaves.

    Rows above the ``threshold`` of a split, (T, 7), in its ``feature``, (T, 7), are in none of the
    leaves whose bits are in ``ruled_out``, (T, 7): those below its left child. ``value``, (T, 256),
    is that of the first leaf that is left.

    QuickScorer (Lucchese et al., 2015). A branch that depends on data takes longer than all splits
    of such a tree do for many rows at a time.
    """

    feature: NDArray[np.intp]
    threshold: NDArray[np.float32]
    ruled_out: NDArray[np.uint8]
    value: Floats

    @classmethod
    def of(
        cls,
        start: Sequence[int],
        feature: Sequence[int],
        threshold: Sequence[float],
        left: Sequence[int],
        right: Sequence[int],
        value: Sequence[float],
    ) -> Self:
        """Make them of the arrays of :class:`robustpu.pool.trees.Trees`, as lists.

        Examples
        --------
        >>> tree = [0, 3], [1, -1, -1], [0.5, 0, 0], [1, -1, -1], [2, -1, -1], [0, 7.0, 9.0]
        >>> LeafMasks.of(*tree).total(np.array([[0, 0.5], [0, 0.6]], dtype=np.float32))
        array([7., 9.])
        """
        shape = len(start) - 1, LEAVES - 1
        # A split that rules out nothing is none.
        found = cls(
            np.zeros(shape, np.intp),
            np.zeros(shape, np.float32),
            np.zeros(shape, np.uint8),
            np.zeros((shape[0], 1 << LEAVES)),
        )
        for tree, root in enumerate(start[:-1]):
            leaves: list[float] = []
            splits = [
                (feature[node], _below(threshold[node]), mask)
                for node, mask in _walk(root, root, left, right, value, leaves)
            ]
            for place, split in enumerate(splits):
                (
                    found.feature[tree, place],
                    found.threshold[tree, place],
                    found.ruled_out[tree, place],
                ) = split
            found.value[tree] = np.take(leaves, np.minimum(FIRST, len(leaves) - 1))
        return found

    def total(self, X: NDArray[np.float32]) -> Floats:
        """Sum of the values of the leaves that each row comes to, (n,).

        Parameters
        ----------
        X
            Finite rows, (n, d).
        """
        total = np.zeros(len(X))
        together = max(1, AT_ONCE // max(1, len(X)))
        for start in range(0, len(X), AT_ONCE):
            columns = np.ascontiguousarray(X[start : start + AT_ONCE].T)
            part = total[start : start + AT_ONCE]
            for tree in range(0, len(self.feature), together):
                trees = slice(tree, tree + together)
                # (trees, splits, rows)
                is_right = columns[self.feature[trees]] > self.threshold[trees, :, None]
                bits = is_right.view(np.uint8) * self.ruled_out[trees, :, None]
                for values, leaf in zip(
                    self.value[trees], np.bitwise_or.reduce(bits, axis=1), strict=True
                ):
                    part += values.take(leaf)
        return total


def _walk(
    node: int,
    root: int,
    left: Sequence[int],
    right: Sequence[int],
    value: Sequence[float],
    leaves: list[float],
) -> Iterator[tuple[int, int]]:
    """Splits, each with the bits of the leaves below its left child; adds leaves from the left."""
    if left[node] < 0:
        leaves.append(value[node])
        return
    before = len(leaves)
    yield from _walk(root + left[node], root, left, right, value, leaves)
    yield node, (1 << len(leaves)) - (1 << before)
    yield from _walk(root + right[node], root, left, right, value, leaves)


def _below(threshold: float) -> np.float32:
    """The largest number of single precision up to this: no number is between them."""
    with np.errstate(over="ignore"):
        rounded = np.float32(threshold)
    return rounded if float(rounded) <= threshold else np.nextafter(rounded, np.float32(-np.inf))
