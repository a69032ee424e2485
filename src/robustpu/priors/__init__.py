"""Class priors: the share of positives among the unlabelled rows, estimated."""

from robustpu.cautious import by_weight
from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import Sample, out_of_fold
from robustpu.priors.estimates import (
    PRIORS,
    check,
    estimate,
    from_scores,
    from_weighted,
    inside,
    is_joint,
    needs_estimation,
)
from robustpu.priors.joint import JOINT, least_positive

__all__ = [
    "JOINT",
    "PRIORS",
    "Sample",
    "best_bin",
    "by_weight",
    "check",
    "estimate",
    "from_scores",
    "from_weighted",
    "inside",
    "is_joint",
    "needs_estimation",
    "least_positive",
    "out_of_fold",
]
