"""The one way to fit, and many networks trained together: problems -> members -> fleets.

Names are imported when they are first used: the command line shows progress without PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustpu.training.data import Scores as Scores
    from robustpu.training.data import TrainingData as TrainingData
    from robustpu.training.fit import Job as Job
    from robustpu.training.fit import Problem as Problem
    from robustpu.training.fit import Progress as Progress
    from robustpu.training.fit import fit_together as fit_together

_HOME = {
    "Job": "fit",
    "Problem": "fit",
    "Progress": "fit",
    "Scores": "data",
    "TrainingData": "data",
    "fit_together": "fit",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu.training' has no attribute {name!r}")
    return getattr(import_module(f"robustpu.training.{_HOME[name]}"), name)
