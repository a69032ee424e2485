"""Ridge discriminants of a context: the scores that plain learners give a row, a network input.

    w = (S + penalty I)^-1 (mean of P - mean of U)

S is the covariance of all context rows, of the columns or of two Laplacian kernels at landmarks. A
context row is scored as if it had been left out, but for the means. The last score is the sum of
the smoothed log-lifts of a row's cells: naive Bayes. Shapes: ``B`` tables, ``M`` rows, ``n`` of the
context, ``C`` columns, ``m`` landmarks, ``S`` scores.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

# Rows that the kernels compare with, at most.
N_LANDMARKS = 256
# Widths of the kernels, in mean distances; penalties of each kernel, and of the columns.
WIDTHS = (2.0, 0.5)
KERNEL_PENALTIES = (0.1, 0.01, 0.002)
COLUMN_PENALTIES = (1.0, 0.03)
N_ROW_SCORES = len(WIDTHS) * len(KERNEL_PENALTIES) + len(COLUMN_PENALTIES) + 1
# Distance of two different values of a column without order, and what a missing number adds.
DIFFERENT, MISSING_DISTANCE = 1.2, 0.4
# What codes of categories are multiplied by: a power of two, so that equal ones stay equal.
APART = 2.0**20
# Standardised scores end here.
FAR = 6.0
# Added to the diagonal of a kernel.
JITTER = 1e-3
# Places of a cell's inputs; see ``encoding``.
Z, RANK, MISSING, CATEGORY, WIDE_LIFT = 0, 1, 2, 3, 7


@dataclass(frozen=True)
class Points:
    """Rows as points with city-block distances.

    Parameters
    ----------
    place
        ``(B, M, C)``; different values without order are far apart.
    missing
        ``(B, M, C)``: 1 where a number is missing.
    farthest
        ``(B, C)``: largest distance in a column.
    """

    place: Tensor
    missing: Tensor
    farthest: Tensor

    def take(self, rows: Tensor) -> "Points":
        """Return the rows with these numbers ``(B, m)``."""
        index = rows[..., None].expand(-1, -1, self.place.shape[2])
        return Points(self.place.gather(1, index), self.missing.gather(1, index), self.farthest)


@dataclass(frozen=True)
class LinearScorer:
    """``((x - center) @ weights - mean) / scale``, for features ``(B, M, F)``.

    Parameters
    ----------
    center
        ``(B, 1, F)``.
    weights
        ``(B, F, S)``.
    mean, scale
        Of the scores of the context's unlabelled rows, ``(B, 1, S)``.
    """

    center: Tensor
    weights: Tensor
    mean: Tensor
    scale: Tensor

    def score(self, features: Tensor) -> Tensor:
        """Features ``(B, M, F)`` -> scores ``(B, M, S)``."""
        return limit(((features - self.center) @ self.weights - self.mean) / self.scale)


@dataclass(frozen=True)
class Discriminants:
    """Fitted discriminants of a context; ``score`` gives new rows their scores.

    Parameters
    ----------
    landmarks
        ``m`` context rows as points.
    width
        Mean distance of the context to the landmarks, ``(B, 1, 1)``.
    columns, kernels
        Scorers of the columns, and of each kernel.
    lift_mean, lift_scale
        Mean and scale of the sum of lifts, ``(B, 1, 1)``.
    """

    landmarks: Points
    width: Tensor
    columns: LinearScorer
    kernels: tuple[LinearScorer, ...]
    lift_mean: Tensor
    lift_scale: Tensor

    @torch.no_grad()
    def score(self, cells: Tensor) -> Tensor:
        """Encoded new rows ``(B, M, C, 8)`` -> their scores ``(B, M, N_ROW_SCORES)``."""
        exact = precise(cells)
        distance = distances(points(exact), self.landmarks)
        found = [self.columns.score(column_features(exact))]
        for factor, scorer in zip(WIDTHS, self.kernels, strict=True):
            found.append(scorer.score(torch.exp(-distance / (factor * self.width))))
        found.append(limit((lift_sum(exact) - self.lift_mean) / self.lift_scale))
        return torch.cat(found, 2).to(cells.dtype)


@torch.no_grad()
def fit_discriminants(
    cells: Tensor, is_positive: Tensor, landmarks: Tensor
) -> tuple[Discriminants, Tensor]:
    """Fit to a context; its rows are scored as if each had been left out.

    Everything is computed in double precision: penalties are small.

    Parameters
    ----------
    cells
        Encoded context ``(B, n, C, 8)``.
    is_positive
        Labelled rows ``(B, n)``.
    landmarks
        Numbers of context rows ``(B, m)``.

    Returns
    -------
    The fitted discriminants, and scores of the context ``(B, n, N_ROW_SCORES)``.

    Examples
    --------
    >>> from robustpu.pretrained.encoding import encode, fit_columns
    >>> rows = torch.linspace(-1, 1, 40).reshape(1, 40, 1)
    >>> labeled = torch.arange(40)[None] >= 30
    >>> stats = fit_columns(rows, labeled, torch.zeros(1, 1, dtype=torch.bool))
    >>> cells = encode(rows, stats, labeled)
    >>> _, scores = fit_discriminants(cells, labeled, torch.arange(40)[None])
    >>> bool((scores[0, 30:].mean(0) > scores[0, :30].mean(0)).all())
    True
    """
    exact = precise(cells)
    context = points(exact)
    chosen = context.take(landmarks)
    distance, between = distances(context, chosen), distances(chosen, chosen)
    width = distance.mean((1, 2), keepdim=True) + 1e-6
    columns, scores = fit_linear(column_features(exact), is_positive, COLUMN_PENALTIES)
    kernels, found = [], [scores]
    jitter = JITTER * torch.eye(between.shape[1], dtype=exact.dtype, device=exact.device)
    for factor in WIDTHS:
        root, _ = torch.linalg.cholesky_ex(torch.exp(-between / (factor * width)) + jitter)
        # Whitened, so that the penalty is that of the kernel.
        kernel = torch.exp(-distance / (factor * width))
        white = torch.linalg.solve_triangular(root, kernel.mT, upper=False).mT
        scorer, scores = fit_linear(white, is_positive, KERNEL_PENALTIES)
        weights = torch.linalg.solve_triangular(root.mT, scorer.weights, upper=True)
        center = kernel.mean(1, keepdim=True)
        kernels.append(LinearScorer(center, weights, scorer.mean, scorer.scale))
        found.append(scores)
    lifts = lift_sum(exact)
    mean, scale = center_and_scale(lifts, is_positive)
    found.append(limit((lifts - mean) / scale))
    fitted = Discriminants(chosen, width, columns, tuple(kernels), mean, scale)
    return fitted, torch.cat(found, 2).to(cells.dtype)


def fit_linear(
    features: Tensor, is_positive: Tensor, penalties: tuple[float, ...]
) -> tuple[LinearScorer, Tensor]:
    """Left out, a row has the score ``(fitted - leverage * target) / (1 - leverage)``.

    Features ``(B, n, F)`` -> scorer, and scores of left-out rows ``(B, n, S)``, one a penalty. The
    means of features and target stay those of all rows.
    """
    n = features.shape[1]
    center = features.mean(1, keepdim=True)
    centered = features - center
    target = is_positive.to(features.dtype)[..., None]
    target = target - target.mean(1, keepdim=True)
    covariance = centered.mT @ centered / n
    with_target = centered.mT @ target / n
    eye = torch.eye(features.shape[2], dtype=features.dtype, device=features.device)
    weights, left_out = [], []
    for penalty in penalties:
        factor, _ = torch.linalg.cholesky_ex(covariance + penalty * eye)
        weight = torch.cholesky_solve(with_target, factor)
        # How much a row's label counts in its own score.
        spread = torch.linalg.solve_triangular(factor, centered.mT, upper=False)
        leverage = spread.square().sum(1)[..., None] / n
        fitted = centered @ weight
        left_out.append((fitted - leverage * target) / (1 - leverage).clamp(min=0.05))
        weights.append(weight)
    scores = torch.cat(left_out, 2)
    mean, scale = center_and_scale(scores, is_positive)
    scorer = LinearScorer(center, torch.cat(weights, 2), mean, scale)
    return scorer, limit((scores - mean) / scale)


def points(cells: Tensor) -> Points:
    """Encoded cells ``(B, M, C, 8)`` -> rows as points."""
    is_category = cells[:, :1, :, CATEGORY] > 0
    missing = cells[..., MISSING]
    # Codes of categories are equal or far apart, and a missing one is a code of its own; numbers
    # lie between their z-score and their rank.
    code = torch.where(missing > 0, APART * APART, APART * cells[..., Z])
    place = torch.where(is_category, code, (cells[..., Z] + cells[..., RANK]) / 2)
    farthest = torch.where(is_category[:, 0], DIFFERENT, torch.inf)
    return Points(place, missing * ~is_category, farthest)


def distances(rows: Points, landmarks: Points) -> Tensor:
    """City-block distances over the number of columns, ``(B, M, m)``."""
    is_seen, is_seen_there = 1 - rows.missing, 1 - landmarks.missing
    one_missing = rows.missing @ is_seen_there.mT + is_seen @ landmarks.missing.mT
    total = MISSING_DISTANCE * one_missing
    for column in range(rows.place.shape[2]):
        gap = rows.place[:, :, column, None] - landmarks.place[:, None, :, column]
        total += gap.abs_().minimum(rows.farthest[:, column, None, None])
    return total / rows.place.shape[2]


def column_features(cells: Tensor) -> Tensor:
    """Z-scores and ranks of numbers ``(B, M, 2 C)``; 0 for categories."""
    is_number = (cells[:, :1, :, CATEGORY] == 0).to(cells.dtype)
    return torch.cat([cells[..., Z] * is_number, cells[..., RANK] * is_number], 2)


def lift_sum(cells: Tensor) -> Tensor:
    """Sum of the smoothed log-lifts of a row, ``(B, M, 1)``."""
    return cells[..., WIDE_LIFT].sum(2, keepdim=True)


def center_and_scale(scores: Tensor, is_positive: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the unlabelled rows' scores, ``(B, 1, S)`` each."""
    weight = (~is_positive).to(scores.dtype)[..., None]
    weight = weight / weight.sum(1, keepdim=True).clamp(min=1)
    mean = (weight * scores).sum(1, keepdim=True)
    variance = (weight * (scores - mean).square()).sum(1, keepdim=True)
    return mean, variance.sqrt() + 1e-6


def limit(scores: Tensor) -> Tensor:
    """Scores at most 6 away from 0; 0 for those that are not finite."""
    return scores.nan_to_num(0.0, 0.0, 0.0).clamp(-FAR, FAR)


def precise(x: Tensor) -> Tensor:
    """Return it in double precision, where the device has that."""
    return x.float() if x.device.type == "mps" else x.double()
