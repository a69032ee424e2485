"""Known negatives and checked rows: what training makes of them, and what evaluation does.

**Training** takes a known negative as an unlabelled row of more weight, and lowers the share of
positives accordingly. With E_U' the mean over such rows and N's share of their weight λ, the risk
of a method is (1 - λ) R_PU + λ E_N[l(-g)]: the risk of PNU learning (Sakai et al., 2017), but for
the weight of the positives. So every method that takes sample weights can learn from negatives.

**Evaluation, calibration and the share of positives** are about the rows that were unlabelled
before any was checked. A checked row is one of them, whose outcome is known; a positive that was
found by a check says nothing about how labelled positives rank. Of a negative that is known from
elsewhere it is not said why it is known: it is no sample of anything, and counts in training alone.
"""

from dataclasses import replace

import numpy as np

from robustpu.labels import Known
from robustpu.scenario import check_prior
from robustpu.training.data import TrainingData

# What a known negative weighs, where both kinds of rows have the same weight, in labelled
# positives: more lowers the AUC, see docs/checked_rows.md.
STRENGTH = 0.1


def before_checks(data: TrainingData, known: Known) -> TrainingData:
    """Give the rows as they were before any was checked, with outcomes.

    Examples
    --------
    >>> mask = np.array([True, True, False, False])
    >>> data = TrainingData(None, mask, np.ones(4))
    >>> known = Known(None, mask[::-1], np.array([False, True, True, False]))
    >>> found = before_checks(data, known)
    >>> found.is_positive.tolist(), found.outcome.tolist(), found.weight.tolist()
    ([True, False, False, False], [nan, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0])
    """
    is_positive, outcome, tells = known.before(data.is_positive)
    if outcome is None:
        return data
    weight = np.where(tells, data.weight, 0.0)
    return replace(data, is_positive=is_positive, weight=weight, outcome=outcome)


def to_train(data: TrainingData, known: Known) -> TrainingData:
    """Give known negatives their weight; it is never less than that of unlabelled rows.

    Examples
    --------
    >>> data = TrainingData(None, np.arange(41) < 1, np.ones(41))
    >>> to_train(data, Known(None, np.arange(41) > 39)).weight[-2:].tolist()
    [1.0, 4.0]
    """
    if known.is_negative is None or not known.is_negative.any():
        return data
    positive, others = data.masses()
    factor = max(1.0, STRENGTH * others / positive)
    weight = data.weight * np.where(known.is_negative, factor, 1.0)
    return replace(data, weight=weight, is_negative=known.is_negative)


def share_to_train(prior: float, before: TrainingData, training: TrainingData) -> float:
    """Share of positives among what is trained on as unlabelled, by weight.

    Parameters
    ----------
    prior
        Share among the rows that were unlabelled before any was checked.
    before, training
        The rows as they were then, and as they are trained on.

    Examples
    --------
    >>> data = TrainingData(None, np.arange(41) < 1, np.ones(41))
    >>> known = Known(None, np.arange(41) > 39, np.arange(41) > 39)
    >>> round(share_to_train(0.4, before_checks(data, known), to_train(data, known)) * 43, 9)
    16.0
    """
    if before.outcome is None:
        return prior
    found = float(before.weight[before.outcome == 1].sum())
    still = before.weight[~before.is_positive & np.isnan(before.outcome)]
    left = check_prior(prior) * before.masses()[1] - found
    unlabeled = still.sum()
    # Half a row is left at least.
    share = max(left, still.mean() / 2) / unlabeled
    is_negative = training.is_negative
    if is_negative is not None:
        others = training.weight[~training.is_positive]
        share *= 1 - training.weight[is_negative].sum() / others.sum()
    return float(min(share, 1 - 0.5 / len(still)))


def refuse_too_low(prior: float, before: TrainingData) -> None:
    """Refuse a given share of positives below what the checks alone have found."""
    if before.outcome is None:
        return
    counts = before.weight > 0
    found = int((counts & (before.outcome == 1)).sum())
    rows = int((counts & ~before.is_positive).sum())
    if found > prior * rows + 0.5:
        raise ValueError(
            f"prior={prior:g} of the {rows:,} rows that were unlabelled before the check is "
            f"{prior * rows:.1f} rows, but {found} of the checked ones alone are positive: give "
            "the share among the rows before the check, or leave prior out."
        )
