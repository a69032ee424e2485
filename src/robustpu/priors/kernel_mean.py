"""Kernel-mean estimates KM1 and KM2 of the class prior (Ramaswamy et al., 2016)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from robustpu.priors.inputs import check_tables, median_distance, standardised, subsample

Floats = NDArray[np.float64]

# Kernel widths tried, in units of the median distance.
WIDTHS = np.logspace(-1, 1, 5)
# lambda = 1 / (1 - prior) is searched in [1, LARGEST] to within PRECISION: priors up to 0.875.
LARGEST = 8.0
PRECISION = 0.04
# Of half the squared distance: how far from its least value the search for weights may stop.
GAP = 1e-5
STEPS = 20_000


def km1(
    positive: ArrayLike, unlabeled: ArrayLike, *, max_rows: int = 1000, random_state: int = 0
) -> float:
    """1 - 1/lambda at the kink of d(lambda): derivative 1 / sqrt(min(n_P, n_U)).

    d(lambda) is the distance, in the space of a Gaussian kernel, of the point
    lambda mean_U + (1 - lambda) mean_P from the convex hull of all rows: near 0 as long as taking
    that much of P out of U leaves a density, and growing beyond. With few rows the threshold on the
    derivative may be out of reach; then the threshold is that of `km2`.

    Parameters
    ----------
    positive, unlabeled
        Tables, shape (rows, columns), which are standardised together; or scores, shape (rows,).
    max_rows
        Rows of each that are used at most, drawn without replacement: time and memory grow with
        the square of their number.
    random_state
        Decides which rows these are.

    Returns
    -------
    float
        The prior, in [0, 0.875]: the paper searches no further. Near that it is too low.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P, N = rng.normal(2, 1, (260, 3)), rng.normal(-2, 1, (140, 3))
    >>> abs(km1(P[:200], np.concatenate([P[200:], N])) - 0.3) < 0.07
    True
    """
    problem = _problem(positive, unlabeled, max_rows, random_state)
    threshold = 1 / math.sqrt(min(problem.n_positive, problem.n_unlabeled))
    if threshold > 0.9 * problem.discrepancy:
        threshold = _relative_threshold(problem)
    return _kink(problem, threshold)


def km2(
    positive: ArrayLike, unlabeled: ArrayLike, *, max_rows: int = 1000, random_state: int = 0
) -> float:
    """1 - 1/lambda at the kink of d(lambda): derivative 0.8 s(1) + 0.2 s(infinity).

    As `km1`, the threshold between the first and the last derivative of d: s(1) is that over
    [1, 1.05], and s(infinity) is the distance of mean_P from mean_U.

    Parameters
    ----------
    positive, unlabeled
        Tables, shape (rows, columns), which are standardised together; or scores, shape (rows,).
    max_rows
        Rows of each that are used at most, drawn without replacement: time and memory grow with
        the square of their number.
    random_state
        Decides which rows these are.

    Returns
    -------
    float
        The prior, in [0, 0.875]: the paper searches no further. Near that it is too low.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P, N = rng.normal(2, 1, (260, 3)), rng.normal(-2, 1, (140, 3))
    >>> round(km2(P[:200], np.concatenate([P[200:], N])), 1)
    0.3
    """
    problem = _problem(positive, unlabeled, max_rows, random_state)
    return _kink(problem, _relative_threshold(problem))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Kernel of the unlabelled rows and then the positives, and the distance of their means."""

    kernel: Floats
    n_positive: int
    n_unlabeled: int
    discrepancy: float

    def target(self, extent: float) -> Floats:
        """lambda mean_U + (1 - lambda) mean_P, as weights of the rows."""
        unlabeled = np.full(self.n_unlabeled, extent / self.n_unlabeled)
        return np.append(unlabeled, np.full(self.n_positive, (1 - extent) / self.n_positive))


def _problem(
    positive: ArrayLike, unlabeled: ArrayLike, max_rows: int, random_state: int
) -> _Problem:
    rng = np.random.default_rng(random_state)
    tables = standardised(*check_tables(positive, unlabeled))
    positive, unlabeled = (subsample(table, max_rows, rng) for table in tables)
    rows = np.concatenate([unlabeled, positive])
    squared = cdist(rows, rows, "sqeuclidean")
    middle = median_distance(squared)
    best = None
    for width in middle * WIDTHS:
        kernel = np.exp(squared / (-2 * width**2))
        problem = _Problem(kernel, len(positive), len(unlabeled), 0.0)
        difference = problem.target(1.0) - problem.target(0.0)
        length = _length(kernel, difference)
        if best is None or length > best.discrepancy:
            best = _Problem(kernel, len(positive), len(unlabeled), length)
    assert best is not None
    return best


def _length(kernel: Floats, weight: Floats) -> float:
    return math.sqrt(max(0.0, float(weight @ kernel @ weight)))


def _relative_threshold(problem: _Problem) -> float:
    # d(1) = 0: the mean of U is in the hull.
    first = hull_distance(problem.kernel, problem.target(1.05), problem.target(1.0))[0] / 0.05
    return 0.8 * first + 0.2 * problem.discrepancy


def _kink(problem: _Problem, threshold: float) -> float:
    """Bisection for the extent lambda at which the derivative of d passes the threshold."""
    # Rows that all coincide: U without P is still P.
    if problem.discrepancy < 1e-6:
        return 1 - 1 / LARGEST
    low, high = 1.0, LARGEST
    weight = problem.target(1.0)
    while high - low > PRECISION:
        extent = (low + high) / 2
        near, weight = hull_distance(problem.kernel, problem.target(extent), weight)
        further = problem.target(extent + PRECISION / 2)
        far, _ = hull_distance(problem.kernel, further, weight)
        # Nearly: if nothing of P is in U, d is a straight line whose derivative is the threshold.
        if (far - near) / (PRECISION / 2) > 0.99 * threshold:
            high = extent
        else:
            low = extent
    extent = (low + high) / 2
    return 1 - 1 / extent


def hull_distance(kernel: Floats, target: Floats, weight: Floats) -> tuple[float, Floats]:
    """min over v >= 0, sum v = 1, of sqrt((u - v)' K (u - v)), and the v found.

    In each step mass moves from one row to another: to the row of the lowest gradient, from the row
    that gains most by it. It ends when no v can be better by more than 1e-5 in half the square, or
    after 20,000 steps.

    Parameters
    ----------
    kernel
        K, shape (n, n).
    target, weight
        u, and a v to start from; shape (n,).

    Examples
    --------
    >>> distance, _ = hull_distance(np.eye(2), np.array([1.5, -0.5]), np.array([0.5, 0.5]))
    >>> round(distance**2, 6)
    0.5
    """
    weight = weight.copy()
    grad = kernel @ (weight - target)
    diagonal = np.diagonal(kernel)
    for _ in range(STEPS):
        to = int(np.argmin(grad))
        if weight @ grad - grad[to] < GAP:
            break
        fall = np.where(weight > 0, grad - grad[to], 0.0)
        bend = np.maximum(diagonal[to] + diagonal - 2 * kernel[to], 1e-12)
        gone = int(np.argmax(fall**2 / bend))
        step = min(weight[gone], fall[gone] / bend[gone])
        weight[to] += step
        weight[gone] -= step
        grad += step * (kernel[to] - kernel[gone])
    return _length(kernel, target - weight), weight
