"""Class priors: the share of positives among the unlabelled rows, estimated."""

from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import Sample, out_of_fold
from robustpu.priors.estimates import PRIORS, check, estimate, from_scores, is_open

__all__ = [
    "PRIORS",
    "Sample",
    "best_bin",
    "check",
    "estimate",
    "from_scores",
    "is_open",
    "out_of_fold",
]
