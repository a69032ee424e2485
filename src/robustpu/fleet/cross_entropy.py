"""The risks that most training minimises, and their slopes."""

from torch import Tensor

from robustpu.fleet.lane import Batch
from robustpu.risks import soft_bce, soft_bce_slope, weighted_bce, weighted_bce_slope


def cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch, unlabelled rows as negatives."""
    return weighted_bce(logit, batch.is_positive, batch.weight)


def cross_entropy_slope(logit: Tensor, batch: Batch) -> Tensor:
    """Derivative of ``cross_entropy`` by the logits."""
    return weighted_bce_slope(logit, batch.is_positive, batch.weight)


def soft_cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch with the column ``target``, probabilities."""
    return soft_bce(logit, batch.columns["target"], batch.weight)


def soft_cross_entropy_slope(logit: Tensor, batch: Batch) -> Tensor:
    """Derivative of ``soft_cross_entropy`` by the logits."""
    return soft_bce_slope(logit, batch.columns["target"], batch.weight)
