"""Scales and weights that were tried for the pool, from out-of-fold scores of P against U.

A scale takes scores of the training rows (out of fold) and of the test rows, shapes (n, K) and
(m, K), and returns both on a scale that members share. A rule takes the scaled scores, the labels
and a generator, and returns weights with sum 1, shape (K,).
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, ndtri
from sklearn.metrics import average_precision_score

Generator = np.random.Generator


def standardized(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, deviation = train.mean(axis=0), train.std(axis=0) + 1e-9
    return (train - mean) / deviation, (test - mean) / deviation


def robust(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By median and distance of the quantiles .1 and .9."""
    low, middle, high = np.quantile(train, (0.1, 0.5, 0.9), axis=0)
    return (train - middle) / (high - low + 1e-9), (test - middle) / (high - low + 1e-9)


def normal(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles of the normal distribution at the ranks among the training rows."""
    both = []
    for part in (train, test):
        ranks = np.column_stack(
            [
                (np.searchsorted(each, column) + np.searchsorted(each, column, "right")) / 2
                for each, column in zip(np.sort(train, axis=0).T, part.T, strict=True)
            ]
        )
        both.append(ndtri((ranks + 0.5) / (len(train) + 1)))
    return both[0], both[1]


def ranks(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.special import ndtr

    return tuple(ndtr(part) for part in normal(train, test))  # type: ignore[return-value]


SCALES = {"standardized": standardized, "robust": robust, "normal": normal, "ranks": ranks}


def auc(positive: np.ndarray, unlabeled: np.ndarray) -> float:
    """Share of pairs that are in the right order, ties counted half."""
    ordered = np.sort(unlabeled)
    below = np.searchsorted(ordered, positive) + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / (2 * len(ordered)))


def precision(positive: np.ndarray, unlabeled: np.ndarray) -> float:
    """Average precision of P against U."""
    y = np.concatenate([np.ones(len(positive)), np.zeros(len(unlabeled))])
    return float(average_precision_score(y, np.concatenate([positive, unlabeled])))


def average(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    return np.full(Z.shape[1], 1 / Z.shape[1])


def best(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    found = [auc(column[y == 1], column[y == 0]) for column in Z.T]
    return np.eye(Z.shape[1])[int(np.argmax(found))]


def greedy(
    Z: np.ndarray,
    y: np.ndarray,
    rng: Generator,
    *,
    steps: int = 15,
    samples: int = 10,
    most: int = 4000,
    prior_count: float = 0,
    score: Callable[[np.ndarray, np.ndarray], float] = auc,
    start: int = 0,
) -> np.ndarray:
    """Greedy selection with replacement, over bootstrap samples.

    ``most`` unlabelled rows are drawn at most. The result is shrunk towards the plain average, as
    if it had been seen on prior_count labels. ``start`` best members are in from the beginning.
    """
    positive, unlabeled = Z[y == 1], Z[y == 0]
    counts = np.zeros(Z.shape[1])
    for _ in range(samples):
        P = positive[rng.integers(len(positive), size=len(positive))]
        U = unlabeled[rng.integers(len(unlabeled), size=min(most, len(unlabeled)))]
        sum_P, sum_U, total = np.zeros(len(P)), np.zeros(len(U)), 0
        if start:
            single = [score(P[:, k], U[:, k]) for k in range(Z.shape[1])]
            for k in np.argsort(single)[-start:]:
                counts[k] += 1
                sum_P, sum_U, total = sum_P + P[:, k], sum_U + U[:, k], total + 1
        while total < steps:
            found = [score(sum_P + P[:, k], sum_U + U[:, k]) for k in range(Z.shape[1])]
            k = int(np.argmax(found))
            counts[k] += 1
            sum_P, sum_U, total = sum_P + P[:, k], sum_U + U[:, k], total + 1
    share = len(positive) / (len(positive) + prior_count)
    return share * counts / counts.sum() + (1 - share) / Z.shape[1]


def soft(Z: np.ndarray, y: np.ndarray, rng: Generator, *, width: float = 1.0) -> np.ndarray:
    """exp(AUC / standard error), the standard error that of the best member."""
    found = np.array([auc(column[y == 1], column[y == 0]) for column in Z.T])
    n, top = (y == 1).sum(), found.max()
    error = np.sqrt(max(top * (1 - top), 1e-4) / n) * width
    weight = np.exp((found - top) / error)
    return weight / weight.sum()


def better_half(Z: np.ndarray, y: np.ndarray, rng: Generator) -> np.ndarray:
    """Plain average of the better half of the members."""
    found = np.array([auc(column[y == 1], column[y == 0]) for column in Z.T])
    weight = (found >= np.median(found)).astype(float)
    return weight / weight.sum()


def stacked(Z: np.ndarray, y: np.ndarray, rng: Generator, *, decay: float = 1.0) -> np.ndarray:
    """Logistic regression of P against U, both with the same weight, coefficients of at least 0.

    decay pulls the coefficients towards their mean.
    """
    sign = np.where(y == 1, 1.0, -1.0)
    weight = np.where(y == 1, 0.5 / (y == 1).sum(), 0.5 / (y == 0).sum())
    strength = decay / (y == 1).sum()

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (Z @ w[:-1] + w[-1])
        slope = -weight * sign * expit(-margin)
        away = w[:-1] - w[:-1].mean()
        grad = np.append(Z.T @ slope + strength * away, slope.sum())
        return float(-weight @ log_expit(margin) + strength / 2 * away @ away), grad

    K = Z.shape[1]
    bounds = [(0, None)] * K + [(None, None)]
    found = minimize(loss, np.append(np.full(K, 1 / K), 0), jac=True, bounds=bounds).x[:-1]
    return found / found.sum() if found.sum() > 0 else average(Z, y, rng)


RULES: dict[str, Callable[[np.ndarray, np.ndarray, Generator], np.ndarray]] = {
    "average": average,
    "best": best,
    "better half": better_half,
    "soft": soft,
    "soft, half width": partial(soft, width=0.5),
    "greedy": greedy,
    "greedy, shrunk 20": partial(greedy, prior_count=20),
    "greedy, shrunk 50": partial(greedy, prior_count=50),
    "greedy, shrunk 100": partial(greedy, prior_count=100),
    "greedy, 20 samples of 8 steps": partial(greedy, samples=20, steps=8),
    "greedy from 3": partial(greedy, start=3),
    "greedy, average precision": partial(greedy, score=precision, most=2000),
    "stacked": stacked,
    "stacked, decay 10": partial(stacked, decay=10.0),
    "stacked, decay 100": partial(stacked, decay=100.0),
}
