"""Ridge discriminants of a context: what plain learners say of each row, an input of the network.

    w = (S + penalty I)^-1 (mean of P - mean of U)

S is the covariance of all context rows, of the columns or of two Laplacian kernels at landmarks.
A context row is scored as if it had been left out. The last score is the sum of the smoothed
log-lifts of a row's cells: naive Bayes. Shapes: ``B`` tables, ``M`` rows, ``n`` of the context,
``C`` columns, ``m`` landmarks.
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
# Distance of two values that differ in a column without order, or of which one is missing.
DIFFERENT = 1.2
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
    """Rows as points: ``|x - y|`` is their distance in the columns.

    Parameters
    ----------
    place
        ``(B, M, C)``; values without order are far apart.
    missing
        ``(B, M, C)``: 1 where missing.
    farthest
        ``(B, C)``: distances in a column end here.
    """

    place: Tensor
    missing: Tensor
    farthest: Tensor

    def take(self, rows: Tensor) -> "Points":
        """Return the rows with these numbers ``(B, m)``."""
        index = rows[..., None].expand(-1, -1, self.place.shape[2])
        return Points(self.place.gather(1, index), self.missing.gather(1, index), self.farthest)

    def double(self) -> "Points":
        return Points(self.place.double(), self.missing.double(), self.farthest.double())


@dataclass(frozen=True)
class Linear:
    """Scores ``(x - center) @ weights``, less their mean and over their scale.

    Parameters
    ----------
    center
        ``(B, 1, F)``.
    weights
        ``(B, F, penalties)``.
    mean, scale
        Of the context's scores, ``(B, 1, penalties)``.
    """

    center: Tensor
    weights: Tensor
    mean: Tensor
    scale: Tensor

    def double(self) -> "Linear":
        parts = (self.center, self.weights, self.mean, self.scale)
        return Linear(*(part.double() for part in parts))

    def __call__(self, features: Tensor) -> Tensor:
        return limit(((features - self.center) @ self.weights - self.mean) / self.scale)


@dataclass(frozen=True)
class Discriminants:
    """All that new rows of a table need for their scores.

    Parameters
    ----------
    landmarks
        ``m`` context rows.
    width
        Mean distance of the context to the landmarks, ``(B, 1, 1)``.
    columns, kernels
        Scores by the columns, and by each kernel.
    lift
        Center and scale of the last score.
    """

    landmarks: Points
    width: Tensor
    columns: Linear
    kernels: tuple[Linear, ...]
    lift: tuple[Tensor, Tensor]

    def double(self) -> "Discriminants":
        """Return them in double precision."""
        center, scale = self.lift
        return Discriminants(
            self.landmarks.double(),
            self.width.double(),
            self.columns.double(),
            tuple(kernel.double() for kernel in self.kernels),
            (center.double(), scale.double()),
        )


def limit(scores: Tensor) -> Tensor:
    """Scores without what is not finite, at most 6 away from 0."""
    return scores.nan_to_num(0.0).clamp(-FAR, FAR)


def points(cells: Tensor) -> Points:
    """Encoded cells ``(B, M, C, 8)`` -> rows as points."""
    is_category = cells[:, :1, :, CATEGORY] > 0
    missing = cells[..., MISSING]
    # Codes of categories are equal or far apart; numbers lie between their z-score and their rank.
    place = torch.where(is_category, APART * cells[..., Z], (cells[..., Z] + cells[..., RANK]) / 2)
    farthest = torch.where(is_category[:, 0], DIFFERENT, 100.0)
    return Points(place * (1 - missing), missing, farthest)


def distances(rows: Points, landmarks: Points) -> Tensor:
    """City-block distances ``(B, M, m)``, over the number of columns."""
    # Of two values one is missing.
    one = rows.missing @ (1 - landmarks.missing).mT + (1 - rows.missing) @ landmarks.missing.mT
    total = DIFFERENT * one
    seen, seen_mark = 1 - rows.missing, 1 - landmarks.missing
    for column in range(rows.place.shape[2]):
        gap = rows.place[:, :, column, None] - landmarks.place[:, None, :, column]
        gap.abs_().clamp_(max=rows.farthest[:, column, None, None])
        gap.mul_(seen[:, :, column, None]).mul_(seen_mark[:, None, :, column])
        total += gap
    return total / rows.place.shape[2]


def column_features(cells: Tensor) -> Tensor:
    """Z-scores and ranks of numbers ``(B, M, 2 C)``; 0 for categories."""
    is_number = (cells[:, :1, :, CATEGORY] == 0).to(cells.dtype)
    return torch.cat([cells[..., Z] * is_number, cells[..., RANK] * is_number], 2)


def lift_sum(cells: Tensor) -> Tensor:
    """Sum of the smoothed log-lifts of a row, ``(B, M, 1)``."""
    return cells[..., WIDE_LIFT].sum(2, keepdim=True)


def fit_linear(
    features: Tensor, is_positive: Tensor, penalties: tuple[float, ...]
) -> tuple[Linear, Tensor]:
    """Features ``(B, n, F)`` -> scorer, and scores of left-out rows ``(B, n, penalties)``."""
    n = features.shape[1]
    center = features.mean(1, keepdim=True)
    centered = features - center
    target = is_positive.to(features.dtype)[..., None]
    target = target - target.mean(1, keepdim=True)
    covariance = centered.mT @ centered / n
    slope = centered.mT @ target / n
    eye = torch.eye(features.shape[2], dtype=features.dtype, device=features.device)
    weights, left_out = [], []
    for penalty in penalties:
        factor, _ = torch.linalg.cholesky_ex(covariance + penalty * eye)
        weight = torch.cholesky_solve(slope, factor)
        # How much a row's label counts in its own score.
        spread = torch.linalg.solve_triangular(factor, centered.mT, upper=False)
        leverage = spread.square().sum(1)[..., None] / n
        fitted = centered @ weight
        left_out.append((fitted - leverage * target) / (1 - leverage).clamp(min=0.05))
        weights.append(weight)
    scores = torch.cat(left_out, 2)
    mean, scale = center_and_scale(scores, is_positive)
    linear = Linear(center, torch.cat(weights, 2), mean, scale)
    return linear, limit((scores - mean) / scale)


def center_and_scale(scores: Tensor, is_positive: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and standard deviation of the unlabelled rows' scores, ``(B, 1, S)`` each."""
    weight = (~is_positive).to(scores.dtype)[..., None]
    weight = weight / weight.sum(1, keepdim=True).clamp(min=1)
    mean = (weight * scores).sum(1, keepdim=True)
    variance = (weight * (scores - mean).square()).sum(1, keepdim=True)
    return mean, variance.sqrt() + 1e-6


@torch.no_grad()
def fit_discriminants(
    cells: Tensor, is_positive: Tensor, landmarks: Tensor
) -> tuple[Discriminants, Tensor]:
    """Fit to a context; its rows are scored as if each had been left out.

    Parameters
    ----------
    cells
        Encoded context ``(B, n, C, 8)``, in single or double precision.
    is_positive
        Labelled rows ``(B, n)``.
    landmarks
        Numbers of context rows ``(B, m)``.

    Returns
    -------
    What new rows need, and scores of the context ``(B, n, N_ROW_SCORES)``.

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
    context = points(cells)
    marks = context.take(landmarks)
    distance, between = distances(context, marks), distances(marks, marks)
    width = distance.mean((1, 2), keepdim=True) + 1e-6
    columns, scores = fit_linear(column_features(cells), is_positive, COLUMN_PENALTIES)
    kernels, found = [], [scores]
    jitter = JITTER * torch.eye(landmarks.shape[1], dtype=cells.dtype, device=cells.device)
    for factor in WIDTHS:
        root, _ = torch.linalg.cholesky_ex(torch.exp(-between / (factor * width)) + jitter)
        # Whitened, so that the penalty is that of the kernel.
        kernel = torch.exp(-distance / (factor * width))
        white = torch.linalg.solve_triangular(root, kernel.mT, upper=False).mT
        linear, scores = fit_linear(white, is_positive, KERNEL_PENALTIES)
        weights = torch.linalg.solve_triangular(root.mT, linear.weights, upper=True)
        center = kernel.mean(1, keepdim=True)
        kernels.append(Linear(center, weights, linear.mean, linear.scale))
        found.append(scores)
    lifts = lift_sum(cells)
    center, scale = center_and_scale(lifts, is_positive)
    found.append(limit((lifts - center) / scale))
    fitted = Discriminants(marks, width, columns, tuple(kernels), (center, scale))
    return fitted, torch.cat(found, 2)


@torch.no_grad()
def score_rows(fitted: Discriminants, cells: Tensor) -> Tensor:
    """Encoded new rows ``(B, M, C, 8)`` -> their scores ``(B, M, N_ROW_SCORES)``."""
    distance = distances(points(cells), fitted.landmarks)
    found = [fitted.columns(column_features(cells))]
    for factor, linear in zip(WIDTHS, fitted.kernels, strict=True):
        found.append(linear(torch.exp(-distance / (factor * fitted.width))))
    center, scale = fitted.lift
    found.append(limit((lift_sum(cells) - center) / scale))
    return torch.cat(found, 2)
