"""Class priors: the share of positives among the unlabelled rows, estimated."""

from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import Sample
from robustpu.priors.estimates import estimate, from_scores

__all__ = ["Sample", "best_bin", "estimate", "from_scores"]
