"""The risk that most training minimises, and its slope."""

from torch import Tensor

from robustpu.fleet.lane import Batch
from robustpu.risks import weighted_bce, weighted_bce_slope


def cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch, unlabelled rows as negatives."""
    return weighted_bce(logit, batch.is_positive, batch.weight)


def cross_entropy_slope(logit: Tensor, batch: Batch) -> Tensor:
    """Derivative of ``cross_entropy`` by the logits."""
    return weighted_bce_slope(logit, batch.is_positive, batch.weight)
