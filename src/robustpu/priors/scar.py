"""``check_scar``: are the labelled positives a fair sample of all positives?"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from robustpu import labels
from robustpu.metrics.refuting import SURE, largest_prior
from robustpu.priors.crossfit import out_of_fold
from robustpu.priors.estimation import read_rows, sample_of
from robustpu.scenario import check_prior
from robustpu.validation.numbers import check_number

Prior: TypeAlias = float | Sequence[float] | None


@dataclass(frozen=True)
class ScarCheck:
    """What rows say about labels that are selected completely at random (SCAR).

    Attributes
    ----------
    largest_prior
        The largest share of positives among the unlabelled rows that SCAR allows.
    level
        Chance with which a right share, under SCAR, is not refuted, at the least.
    prior
        The share that was given, of two ends the lower one; or None.
    scores
        Out-of-fold scores that it rests on, (n,).
    """

    largest_prior: float
    level: float = SURE
    prior: float | None = None
    scores: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def is_refuted(self) -> bool | None:
        """Whether SCAR and the prior cannot both hold; None without a prior."""
        return None if self.prior is None else self.prior > self.largest_prior

    def __str__(self) -> str:
        if self.largest_prior >= 1:
            allowed = "labels that were selected completely at random allow any share of positives"
        else:
            allowed = (
                "if positives were labelled completely at random, at most "
                f"{self.largest_prior:.1%} of the unlabelled rows are positive"
            )
        if self.prior is None:
            return (
                f"{allowed[0].upper()}{allowed[1:]} ({self.level:.0%} sure). If you know of more, "
                "the labels are biased. If not, no test can tell: give prior= from elsewhere."
            )
        if self.is_refuted:
            return (
                f"Labels at random and a share of {self.prior:.1%} cannot both hold: {allowed} "
                f"({self.level:.0%} sure). Either the share is lower, or some kinds of positives "
                "were likelier to be labelled than others."
            )
        return (
            f"Nothing speaks against labels at random with a share of {self.prior:.1%}: {allowed} "
            f"({self.level:.0%} sure). This is no proof: biased labels show only where they make "
            "labelled rows denser than that share of the unlabelled ones."
        )


def check_scar(
    X: ArrayLike,
    y: ArrayLike,
    prior: Prior = None,
    *,
    pos_label: labels.Label | None = None,
    level: float = SURE,
    random_state: int | np.random.RandomState | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> ScarCheck:
    """Look for evidence that positives are not labelled completely at random (SCAR).

    Under SCAR labelled rows are distributed as the hidden positives, so nowhere can the density of
    the labelled rows times the prior be above that of the unlabelled rows. Where it is, and chance
    is hardly the reason, prior and SCAR cannot both hold. Scores of labelled against unlabelled
    rows, out of fold, say where to look. Without a prior nothing can be tested, by this or any
    other test: a small enough prior explains all rows.

    Parameters
    ----------
    X
        Rows (n, d) of numbers, or images; or your scores (n,) of rows that the scorer was not
        trained on, such as ``out_of_fold_`` of a model.
    y
        Two labels (n,): labelled positive (by default the larger) and unlabelled.
    prior
        Share of positives among the unlabelled rows, known from elsewhere: a number, or the two
        ends between which it lies. An estimate from these rows assumes SCAR and cannot refute it.
    pos_label
        The label of the labelled positives.
    level
        Chance with which a right prior is not refuted under SCAR, at the least.
    random_state, progress
        As in :func:`robustpu.estimate_prior`.

    Returns
    -------
    check
        With ``largest_prior`` and ``is_refuted``; prints as a sentence.

    Examples
    --------
    >>> from robustpu import check_scar, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> given = {"n_positive": 60, "n_unlabeled": 300, "prior": 0.25, "random_state": 0}
    >>> pu = make_pu(table.data, table.target, **given)
    >>> found = check_scar(pu.X, pu.y, prior=pu.prior, random_state=0)
    >>> found.is_refuted, found.largest_prior < 0.5
    (False, True)
    """
    check_number("level", level, above=0, below=1)
    least = _least(prior)
    scores, (is_positive, _, _) = read_rows(X, y, pos_label)
    if scores.ndim > 1:
        sample = sample_of(scores, is_positive, check_random_state(random_state))
        scores = out_of_fold([sample], progress)[0]
    most = largest_prior(scores[is_positive], scores[~is_positive], level)
    return ScarCheck(most, level, least, scores)


def _least(prior: Prior) -> float | None:
    """The prior, or the lower of its ends."""
    if prior is None:
        return None
    if not isinstance(prior, Sequence | np.ndarray):
        return check_prior(prior)
    ends = [float(end) for end in prior] if len(prior) == 2 else [math.nan]
    if not 0 < ends[0] <= ends[-1] < 1:
        raise ValueError(
            "prior must be a number between 0 and 1, or the two ends (low, high) between which it "
            f"lies; it is {prior!r}."
        )
    return ends[0]
