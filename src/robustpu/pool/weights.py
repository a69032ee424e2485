"""Weights of the members of a pool, from out-of-fold scores of P against U."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

STEPS, SAMPLES = 15, 10
# Labelled, and unlabelled, rows in a sample at most.
MOST = 4_000
# The plain average counts as much as this many labels.
SHRINKAGE = 20


def auc(
    positive: Floats,
    unlabeled: Floats,
    weight_positive: Floats | None = None,
    weight_unlabeled: Floats | None = None,
) -> float:
    """Share of the pairs that are in the right order, ties counted half.

    Parameters
    ----------
    positive, unlabeled
        Scores.
    weight_positive, weight_unlabeled
        Sample weights; equal by default.

    Examples
    --------
    >>> auc(np.array([2.0, 1.0]), np.array([0.0, 1.0]))
    0.875
    """
    order = np.argsort(unlabeled, kind="stable")
    mass = np.ones(len(unlabeled)) if weight_unlabeled is None else weight_unlabeled[order]
    cumulated = np.concatenate([[0.0], np.cumsum(mass)])
    ordered = unlabeled[order]
    below = cumulated[np.searchsorted(ordered, positive)]
    below = below + cumulated[np.searchsorted(ordered, positive, side="right")]
    return float(np.average(below, weights=weight_positive) / (2 * cumulated[-1]))


def greedy(Z: Floats, is_positive: Mask, weight: Floats, random: np.random.RandomState) -> Floats:
    """Weights of sum 1, (K,): members that raise the AUC of the sum are added one by one.

    With replacement, on bootstrap samples of the rows (Caruana et al., 2004). Under SCAR the AUC of
    P against U rises with that of positives against negatives, so no prior is needed. The counts
    are shrunk towards the plain average, as if that had been seen on 20 labels.

    Parameters
    ----------
    Z
        Out-of-fold scores of the members on one scale, (n, K).
    is_positive, weight
        Whether each row is labelled, and its sample weight, (n,).
    random
        Draws the bootstrap samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) < 1000
    >>> Z = np.column_stack([y + rng.normal(size=2000), rng.normal(size=2000)])
    >>> greedy(Z, y, np.ones(2000), np.random.RandomState(0)).round(1).tolist()
    [1.0, 0.0]
    """
    varies = np.ptp(Z, axis=0) > 0
    if Z.shape[1] == 1 or not varies.any():
        return np.full(Z.shape[1], 1 / Z.shape[1])
    if not varies.all():
        # A member that ranks nothing would cost nothing, and be chosen for it.
        weights = np.zeros(Z.shape[1])
        weights[varies] = greedy(Z[:, varies], is_positive, weight, random)
        return weights
    count = Z.shape[1]
    sides = [(Z[side], weight[side] / weight[side].sum()) for side in (is_positive, ~is_positive)]
    n_positive = int((weight[is_positive] > 0).sum())
    votes = np.zeros(count)
    for _ in range(SAMPLES):
        P, U = (
            part[random.choice(len(part), min(MOST, len(part)), p=chance)] for part, chance in sides
        )
        sum_P, sum_U = np.zeros(len(P)), np.zeros(len(U))
        for _ in range(STEPS):
            found = [auc(sum_P + P[:, k], sum_U + U[:, k]) for k in range(count)]
            best = int(np.argmax(found))
            votes[best] += 1
            sum_P, sum_U = sum_P + P[:, best], sum_U + U[:, best]
    share = n_positive / (n_positive + SHRINKAGE)
    shrunk: Floats = share * votes / votes.sum() + (1 - share) / count
    return shrunk
