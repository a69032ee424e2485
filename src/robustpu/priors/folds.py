"""What the prior is estimated from, and how its rows are dealt out to folds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.fleet import Pool
from robustpu.modules import ModuleFactory

Scores = NDArray[np.float64]

FOLDS = 5
# Folds are dealt out so many times, and the scores averaged.
REPEATS = 3


@dataclass(frozen=True)
class Sample:
    """Positives and unlabelled rows whose prior is wanted, and how it is to be estimated."""

    x: Pool
    is_positive: NDArray[np.bool_]
    module: str | ModuleFactory
    seed: int
    method: Any = "auto"


def folds_of(sample: Sample, repeat: int) -> NDArray[np.int64]:
    """Fold of each row, positives and unlabelled rows dealt out evenly, (rows,).

    Parameters
    ----------
    sample
        Which rows are labelled, and a seed.
    repeat
        Which time it is.
    """
    rng = np.random.default_rng([sample.seed, repeat])
    number = np.empty(len(sample.is_positive), dtype=np.int64)
    parts = (np.flatnonzero(sample.is_positive), np.flatnonzero(~sample.is_positive))
    count = min(FOLDS, *map(len, parts))
    for part in parts:
        number[rng.permutation(part)] = np.arange(len(part)) % count
    return number
