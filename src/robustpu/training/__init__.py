"""The one way to fit, and many networks trained together: problems -> members -> fleets."""

from robustpu.training.data import Scores, TrainingData
from robustpu.training.fit import Job, Problem, Progress, fit_together

__all__ = ["Job", "Problem", "Progress", "Scores", "TrainingData", "fit_together"]
