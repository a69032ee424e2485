"""Penalised-L1 estimate of the class prior (du Plessis, Niu and Sugiyama, 2015)."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from robustpu.priors.inputs import check_tables, median_distance, standardised, subsample

Floats = NDArray[np.float64]

# Of each of P and U.
CENTRES = 100
# Kernel widths that are tried, in units of the median distance.
WIDTHS = np.array([0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5])
SHARES = np.linspace(0.0, 1.0, 201)
# Standard errors by which P must exceed U, when widths are compared.
DOUBT = 2.0


def penalized_l1(
    positive: ArrayLike, unlabeled: ArrayLike, *, max_rows: int = 2000, random_state: int = 0
) -> float:
    """argmin over a of (1/ridge) sum_k max(0, a m_P,k - m_U,k)^2 - a.

    m_P,k and m_U,k are the means over P and U of a Gaussian kernel at centre k, one of at most 100
    rows of each. Removing more of P from U than U holds is penalised; what else U holds is
    not, so an overlap of the classes does not raise the estimate as it does in `pearson`.

    Parameters
    ----------
    positive, unlabeled
        Tables, shape (rows, columns), which are standardised together; or scores, shape (rows,).
        Right for scores and tables of few columns: in many columns no one width suits.
    max_rows
        Rows of each that are used at most, drawn without replacement.
    random_state
        Decides which rows these are, and which are centres.

    Returns
    -------
    float
        The prior, in [0, 1].

    Notes
    -----
    Cross-validation of the paper's objective cannot choose the ridge, for the objective is
    proportional to its inverse. Ours is |m_P|^2 / (4 sqrt(n)), n the smaller sample: the
    estimate is then about 1 / (4 sqrt(n)) too high, apart from noise, which lowers it.
    A wide kernel sees negatives next to every positive, and errs upwards; a narrow one sees few
    rows, and errs downwards. The width is the one of the lowest estimate when a m_P,k - m_U,k is
    lowered by two standard errors: the lowest upper bound.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> P, N = rng.normal(2, 1, (520, 2)), rng.normal(-2, 1, (280, 2))
    >>> round(penalized_l1(P[:400], np.concatenate([P[400:], N])), 1)
    0.3
    """
    rng = np.random.default_rng(random_state)
    tables = standardised(*check_tables(positive, unlabeled))
    # Shuffled, so that the first rows, the centres, are any.
    rows = [rng.permutation(subsample(table, max_rows, rng)) for table in tables]
    centres = np.concatenate([table[:CENTRES] for table in rows])
    squared = [cdist(table, centres, "sqeuclidean") for table in rows]
    middle = median_distance(np.concatenate(squared))
    n = min(map(len, rows))
    # A centre must not count itself: it would find a row of its own kind wherever it is.
    for table, start in zip(squared, (0, min(CENTRES, len(rows[0]))), strict=True):
        centre = np.arange(min(CENTRES, len(table)))
        table[centre, start + centre] = np.inf
    lowest, estimate = np.inf, 1.0
    for width in middle * WIDTHS:
        (mean_positive, error_positive), (mean_unlabeled, error_unlabeled) = (
            _means(np.exp(table / (-2 * width**2)), np.isinf(table).sum(0)) for table in squared
        )
        ridge = mean_positive @ mean_positive / (4 * np.sqrt(n))
        excess = SHARES[:, None] * mean_positive - mean_unlabeled
        error = np.hypot(SHARES[:, None] * error_positive, error_unlabeled)
        bound = least_penalty(excess - DOUBT * error, ridge)
        if bound < lowest:
            lowest, estimate = bound, least_penalty(excess, ridge)
    return estimate


def least_penalty(excess: Floats, ridge: float) -> float:
    """argmin over a of sum_k max(0, excess_k(a))^2 / ridge - a.

    Parameters
    ----------
    excess
        a m_P,k - m_U,k, shape (shares, k): the values of a are those of `SHARES`.
    ridge
        The smaller, the harder the constraint that nothing is in excess.

    Examples
    --------
    >>> least_penalty(SHARES[:, None] * 2.0 - 0.8, 0.4)
    0.45
    """
    if ridge <= 0:
        return 1.0
    penalty = (np.maximum(0.0, excess) ** 2).sum(1) / ridge - SHARES
    return float(SHARES[np.argmin(penalty)])


def _means(phi: Floats, left_out: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Means over rows and their standard errors, some rows (of value 0) not counting."""
    count = np.maximum(len(phi) - left_out, 1)
    mean = phi.sum(0) / count
    variance = np.maximum((phi**2).sum(0) / count - mean**2, 0.0)
    return mean, np.sqrt(variance / count)
