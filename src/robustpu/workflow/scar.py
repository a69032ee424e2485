"""Whether held-out scores allow the share of positives, and labels completely at random."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu.metrics import largest_prior
from robustpu.priors.scar import ScarCheck
from robustpu.propensity import check, inverse_weight
from robustpu.results import Prior, Scar

SCAR: Final = "completely at random"


def check_labels(
    y: NDArray[np.int64],
    score: NDArray[np.float64],
    prior: Prior,
    scenario: str,
    propensity: NDArray[np.float64] | None = None,
) -> ScarCheck:
    """Check the share that the user gave; an estimate from the same rows can refute nothing.

    Parameters
    ----------
    y, score
        Labels before any row was checked, and held-out scores, NaN where there is none; (n,).
    prior, scenario
        As given or estimated, and of the model.
    propensity
        Of labelled rows, (n,), or None: labels are then checked with their weights.

    Examples
    --------
    >>> y, score = np.repeat([1, 0, 0], [50, 50, 900]), np.repeat([0.9, 0.9, 0.1], [50, 50, 900])
    >>> check_labels(y, score, Prior("given", 0.2), "case-control").is_refuted
    True
    """
    known, weight = np.isfinite(score), np.ones(len(y))
    if propensity is not None:
        clipped = check(propensity, y == 1)
        weight = inverse_weight(weight, clipped, y == 1)
        if scenario == "single-set":
            weight = np.where(y == 1, weight * (1 - clipped), weight)
    sides = known & (y == 1) & (weight > 0), known & (y == 0)
    most = largest_prior(score[sides[0]], score[sides[1]], weight_positive=weight[sides[0]])
    said = None
    if prior.source != "estimated":
        # A range that begins at 0 cannot be refuted.
        said = (prior.value if prior.low is None else prior.low) or None
    return ScarCheck(most, prior=said)


def describe_scar(checked: ScarCheck) -> Scar:
    """Keep what was found for the results."""
    return Scar(checked.largest_prior, checked.level, checked.is_refuted, str(checked))
