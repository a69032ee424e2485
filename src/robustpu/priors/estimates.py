"""Estimators of the class prior by name, and the one that combines them."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robustpu.cautious import by_weight, share_posterior
from robustpu.priors.alpha_max import alpha_max
from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import Sample, Scores, out_of_fold
from robustpu.priors.dedpul import dedpul
from robustpu.priors.elkan_noto import elkan_noto
from robustpu.priors.joint import JOINT
from robustpu.priors.kernel_mean import km1, km2
from robustpu.priors.pearson import pearson
from robustpu.priors.penalized_l1 import penalized_l1
from robustpu.priors.tice import tice
from robustpu.scenario import check_prior
from robustpu.validation.names import pick, suggest

Method: TypeAlias = Callable[..., float]

# More rows make the kernel method slow, and hardly better on scores.
MOST_ROWS = 400
# Checked rows refute an estimate that is outside of this interval.
SURE = 0.98


def combined(positive: ArrayLike, unlabeled: ArrayLike, outcome: ArrayLike | None = None) -> float:
    """Median of DEDPUL, best-bin and KM1 where classes are separable; else a cautious one.

    The three assume that the top of the ranking holds no negatives. Where classes overlap they are
    too high, by a factor of three on real tables, so the median of
    :func:`robustpu.cautious.share_posterior` is taken instead.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on, larger means more positive, shape (n,).
    outcome
        Of unlabelled rows that were checked: 1 positive, 0 negative; NaN of others, (n,).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> positive, negative = rng.normal(4, 1, 1300), rng.normal(0, 1, 700)
    >>> round(combined(positive[:1000], np.concatenate([positive[1000:], negative])), 1)
    0.3
    """
    posterior = share_posterior(positive, unlabeled, outcome)
    middle = posterior.quantile(0.5)
    if not posterior.is_separable:
        return middle
    vote, (low, high) = float(np.median(votes(positive, unlabeled))), posterior.interval(SURE)
    # Checked rows may show that the top of the ranking holds negatives after all.
    return vote if outcome is None or low <= vote <= high else middle


def votes(positive: ArrayLike, unlabeled: ArrayLike) -> list[float]:
    """Estimates of DEDPUL, best-bin and KM1.

    DEDPUL has the lowest error on most scores, but now and then a large one where there are few
    scores; the median then follows the others.

    Examples
    --------
    >>> [round(vote, 1) for vote in votes(np.arange(60, 100), np.arange(100))]
    [0.4, 0.4, 0.4]
    """
    return [
        dedpul(positive, unlabeled),
        best_bin(positive, unlabeled),
        km1(positive, unlabeled, max_rows=MOST_ROWS),
    ]


# "auto" has the lowest error on data sets that were not used for tuning, see docs/priors.md.
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


def needs_estimation(prior: Any) -> bool:
    """Whether a prior is to be estimated: a name or a function instead of a number.

    Examples
    --------
    >>> needs_estimation("auto"), needs_estimation(0.3)
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
    names = [*PRIORS, *JOINT]
    if isinstance(prior, str) and prior not in names:
        raise ValueError(
            f"prior must be a number between 0 and 1, or a method; it is {prior!r}"
            f"{suggest(prior, names)}"
        )
    if not needs_estimation(prior):
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
    by_scores = [sample for sample in samples if not is_joint(sample.method)]
    scores = iter(out_of_fold(by_scores))
    estimates = []
    for sample in samples:
        if is_joint(sample.method):
            found = JOINT[sample.method](sample)
            estimates.append(inside(found, int((~sample.is_positive).sum())))
        else:
            score = next(scores)
            weight = np.ones(len(score)) if sample.weight is None else sample.weight
            known = sample.is_positive, weight, sample.method, sample.outcome
            estimates.append(from_weighted(score, *known))
    return estimates


def is_joint(method: Any) -> bool:
    """Whether a method trains its own scorers, and so needs rows.

    Examples
    --------
    >>> is_joint("tedn"), is_joint("dedpul")
    (True, False)
    """
    return isinstance(method, str) and method in JOINT


def from_scores(
    positive: Scores, unlabeled: Scores, method: Any = "auto", outcome: Scores | None = None
) -> float:
    """Prior from out-of-fold scores, in the open interval: one positive and one negative at least.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the scorer was not trained on; larger means more positive.
    method
        A name of ``PRIORS``, or a function ``(positive, unlabeled) -> prior``.
    outcome
        Of unlabelled rows that were checked, for ``"auto"``: 1, 0 or NaN, (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from_scores(np.zeros(5), np.zeros(9), "dedpul")
    0.9
    """
    if method == "auto":
        found: Any = combined(positive, unlabeled, outcome)
    else:
        found = pick("prior", method, PRIORS)(positive, unlabeled)
    is_share = np.ndim(found) == 0 and isinstance(found, Real) and 0 <= float(found) <= 1
    if not is_share:
        raise ValueError(
            f"prior= is a function that returned {found!r}, expected a share from 0 to 1."
        )
    return inside(float(found), len(unlabeled))


def from_weighted(
    score: Scores,
    is_positive: NDArray[np.bool_],
    weight: Scores,
    method: Any = "auto",
    outcome: Scores | None = None,
) -> float:
    """:func:`from_scores` of rows with sample weights.

    Parameters
    ----------
    score, is_positive, weight
        Of each row, (n,).
    method
        As there.
    outcome
        Of rows that were checked: 1 positive, 0 negative; NaN of others, (n,).

    Examples
    --------
    >>> score, is_positive = np.arange(9.0), np.arange(9) > 6
    >>> from_weighted(score, is_positive, np.ones(9), lambda P, U: len(P) / len(U))
    0.2857...
    """
    sides = is_positive, ~is_positive
    positive, unlabeled = (by_weight(score[side], weight[side]) for side in sides)
    tells = None if outcome is None else by_weight(outcome[~is_positive], weight[~is_positive])
    return from_scores(positive, unlabeled, method, tells)


def inside(prior: float, n_unlabeled: int) -> float:
    """Move a prior into the open interval: one positive and one negative at least.

    Examples
    --------
    >>> inside(0.0, 9), inside(0.5, 9)
    (0.1, 0.5)
    """
    edge = 1 / (n_unlabeled + 1)
    return min(max(prior, edge), 1 - edge)
