"""Robust-PU on Dask: rows stay on the workers, numbers and histograms come to the client."""

from robustpu.distributed.classifier import DaskRobustPUMetaClassifier

__all__ = ["DaskRobustPUMetaClassifier"]
