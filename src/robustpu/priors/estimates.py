"""From scores to a prior, by the name of a method."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from robustpu.naming import pick, suggest
from robustpu.priors.alpha_max import alpha_max
from robustpu.priors.best_bin import best_bin
from robustpu.priors.combined import combined
from robustpu.priors.crossfit import Sample, Scores, out_of_fold
from robustpu.priors.dedpul import dedpul
from robustpu.priors.elkan_noto import elkan_noto
from robustpu.priors.kernel_mean import km1, km2
from robustpu.priors.pearson import pearson
from robustpu.priors.penalized_l1 import penalized_l1
from robustpu.priors.tice import tice
from robustpu.scenario import check_prior

Method: TypeAlias = Callable[..., float]

# "auto" has the least error on data sets that nobody tuned on, see docs/priors.md.
PRIORS: Final[Mapping[str, Method]] = {
    "auto": combined,
    "best-bin": best_bin,
    "dedpul": dedpul,
    "alpha-max": alpha_max,
    "elkan-noto": elkan_noto,
    "km1": km1,
    "km2": km2,
    "pearson": pearson,
    "penalized-l1": penalized_l1,
    "tice": tice,
}


def is_open(prior: Any) -> bool:
    """Whether a prior is to be estimated: a name or a function instead of a number.

    Examples
    --------
    >>> is_open("auto"), is_open(0.3)
    (True, False)
    """
    return isinstance(prior, str) or callable(prior)


def check(prior: Any) -> None:
    """Refuse what is neither a number in (0, 1) nor a method.

    Examples
    --------
    >>> check("km3")
    Traceback (most recent call last):
    ValueError: prior must be a number between 0 and 1, or a method; it is 'km3': did you mean ...
    """
    if isinstance(prior, str) and prior not in PRIORS:
        raise ValueError(
            f"prior must be a number between 0 and 1, or a method; it is {prior!r}"
            f"{suggest(prior, PRIORS)}"
        )
    if not is_open(prior):
        check_prior(prior)


def estimate(samples: Sequence[Sample]) -> list[float]:
    """Prior of each sample, from scores of networks that are trained together.

    Parameters
    ----------
    samples
        See :func:`robustpu.priors.crossfit.out_of_fold`.

    Returns
    -------
    priors
        One number in (0, 1) a sample.
    """
    return [
        from_scores(score[sample.is_positive], score[~sample.is_positive], sample.method)
        for sample, score in zip(samples, out_of_fold(samples), strict=True)
    ]


def from_scores(positive: Scores, unlabeled: Scores, method: Any = "auto") -> float:
    """Prior from out-of-fold scores, in the open interval: one positive and one negative at least.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on; larger means more positive.
    method
        A name of ``PRIORS``, or a function ``(positive, unlabeled) -> prior``.

    Examples
    --------
    >>> import numpy as np
    >>> from_scores(np.zeros(5), np.zeros(9))
    0.9
    """
    found = float(pick("prior", method, PRIORS)(positive, unlabeled))
    edge = 1 / (len(unlabeled) + 1)
    return min(max(found, edge), 1 - edge)
