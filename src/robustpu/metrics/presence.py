"""Metrics of presence-only data in ecology, as far as they need no absences.

Sightings are labelled positives, and background points are unlabelled rows.
"""

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import spearmanr

from robustpu import labels
from robustpu.metrics.sample import Floats, read_scores
from robustpu.metrics.values import Setting, balanced_accuracy
from robustpu.validation.numbers import check_number


def tss(y: ArrayLike, score: ArrayLike, **setting: Unpack[Setting]) -> float:
    """recall + specificity - 1 = (recall - rate) / (1 - prior): the true skill statistic. Unbiased.

    1 is perfect, 0 is chance. Without absences it needs ``prior``, the share of background points
    at which the species lives (Allouche et al., 2006). If background points are taken for absences
    instead, it comes out 1 - prior times as large; the threshold at which it is largest is the
    same.

    Examples
    --------
    >>> y, score = [1, 1, 0, 0, 0, 0], [0.9, 0.4, 0.8, 0.1, 0.3, 0.2]
    >>> round(tss(y, score, prior=0.25), 4)
    0.3333
    """
    return 2 * balanced_accuracy(y, score, **setting) - 1


def boyce_index(
    y: ArrayLike,
    score: ArrayLike,
    *,
    pos_label: labels.Label | None = None,
    width: float = 0.1,
    windows: int = 100,
) -> float:
    """Spearman correlation of (share of P) / (share of U) in a window with the window's score.

    The continuous Boyce index (Hirzel et al., 2006): 1 if sightings grow denser with the score,
    compared with the background, and 0 by chance. It needs neither absences nor a prior. A high one
    does not mean good discrimination: only that a higher score never means fewer sightings.

    Parameters
    ----------
    y
        Two labels (n,): sighting (by default the larger) and background.
    score
        Of rows that the model was not fitted on, (n,).
    pos_label
        The label of the sightings.
    width
        Of a window, as a share of the range of the scores.
    windows
        Their number; those without background points, and of neighbours with equal ratios all but
        one, do not count.

    Returns
    -------
    index
        From -1 to 1; 0 if all ratios are equal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> score = np.concatenate([rng.beta(4, 2, 200), rng.beta(2, 4, 1000)])
    >>> boyce_index(np.arange(1200) < 200, score) > 0.95
    True
    """
    check_number("width", width, above=0, below=1)
    check_number("windows", windows, least=2, whole=True)
    scores = read_scores(score)
    _, is_positive = labels.encode(np.asarray(y), pos_label)
    if len(scores) != len(is_positive):
        raise ValueError(f"score has {len(scores)} rows but y has {len(is_positive)}.")
    if not np.isfinite(scores).all():
        raise ValueError("score holds infinite numbers: windows are parts of the range of scores.")
    low, high = float(scores.min()), float(scores.max())
    starts = np.linspace(low, high - width * (high - low), windows)
    ends = starts + width * (high - low)
    # The last window holds the highest score.
    ends[-1] = high
    positive, background = (
        _shares(scores[side], starts, ends) for side in (is_positive, ~is_positive)
    )
    known = background > 0
    ratio = positive[known] / background[known]
    is_new = np.append(True, np.diff(ratio) != 0)
    if is_new.sum() < 2:
        return 0.0
    return float(spearmanr(starts[known][is_new], ratio[is_new]).statistic)


def _shares(score: Floats, starts: Floats, ends: Floats) -> Floats:
    """Share of the scores in each window, its ends included."""
    ordered = np.sort(score)
    after, before = (
        np.searchsorted(ordered, ends, side="right"),
        np.searchsorted(ordered, starts, side="left"),
    )
    shares: Floats = (after - before) / len(ordered)
    return shares
