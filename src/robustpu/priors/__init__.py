"""Class priors: the share of positives among the unlabelled rows, estimated."""

from robustpu.priors.best_bin import Sample, best_bin, estimate

__all__ = ["Sample", "best_bin", "estimate"]
