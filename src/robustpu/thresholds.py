"""Where to answer positive: scores of labelled and unlabelled rows -> a threshold."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu.checks import check_number
from robustpu.naming import suggest

Scores = NDArray[np.float64]

# What is asked of the rows above a threshold.
TARGETS: Final = ("recall", "precision", "top")


def parse(threshold: float | str) -> tuple[str, float]:
    """Tell what kind of threshold it is, and its number: ("at", 0.5), ("recall", 0.9).

    Parameters
    ----------
    threshold
        A number in (0, 1); ``"prior"``; ``"recall:0.9"``, ``"precision:0.8"`` or ``"top:200"``.

    Raises
    ------
    ValueError
        It is none of these.

    Examples
    --------
    >>> parse(0.5), parse("top:200"), parse("prior")[0]
    (('at', 0.5), ('top', 200), 'prior')
    """
    if not isinstance(threshold, str):
        check_number("threshold", threshold, above=0, below=1)
        return "at", float(threshold)
    if threshold == "prior":
        return "prior", np.nan
    name, colon, text = threshold.partition(":")
    if not colon or name not in TARGETS:
        known = ["prior", *(f"{target}:" for target in TARGETS)]
        raise ValueError(
            "threshold must be a number in (0, 1), 'prior', 'recall:0.9', 'precision:0.8' or "
            f"'top:200'; it is {threshold!r}{suggest(name, known).partition(' Give')[0]}"
        )
    try:
        number = int(text) if name == "top" else float(text)
    except ValueError:
        raise ValueError(f"threshold must end in a number; it is {threshold!r}.") from None
    what = f"the number of threshold={threshold!r}"
    if name == "top":
        check_number(what, number, least=1)
    else:
        check_number(what, number, above=0, below=1)
    return name, number


def at_share(unlabeled: Scores, share: float) -> float:
    """The score that a share of the unlabelled rows reaches.

    Of rows with one score all or none are above: whatever is nearer to the share.

    Examples
    --------
    >>> at_share(np.array([0.1, 0.2, 0.3, 0.9]), 0.25)
    0.45
    """
    quantile = np.quantile(unlabeled, 1 - share)
    shares = np.mean(unlabeled >= quantile), np.mean(unlabeled > quantile)
    if abs(shares[1] - share) < abs(shares[0] - share):
        quantile = np.nextafter(quantile, 1)
    return float(quantile)


def at_recall(positive: Scores, recall: float) -> float:
    """The largest score that this share of the positives reaches.

    Parameters
    ----------
    positive
        Scores of labelled positives that the model was not fitted on.
    recall
        The share.

    Examples
    --------
    >>> at_recall(np.array([0.2, 0.9, 0.6, 0.8]), 0.75)
    0.6
    """
    count = int(np.ceil(recall * len(positive) - 1e-9))
    return float(np.sort(positive)[-count])


def at_precision(
    positive: Scores, unlabeled: Scores, prior: float, precision: float
) -> tuple[float, float]:
    """The least score above which prior recall / rate, the precision on U, is as asked.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the model was not fitted on.
    prior
        Share of positives among the unlabelled rows.
    precision
        Share of positives wanted among the unlabelled rows that are answered positive.

    Returns
    -------
    threshold
        If no score has the precision, the one with the highest.
    precision
        What it has, at most 1.

    Examples
    --------
    >>> positive = np.array([0.9, 0.8, 0.7, 0.4])
    >>> unlabeled = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2])
    >>> at_precision(positive, unlabeled, 0.5, 0.8)
    (0.7, 1.0)
    """
    scores = np.unique(positive)
    recall = 1 - np.searchsorted(np.sort(positive), scores) / len(positive)
    above = len(unlabeled) - np.searchsorted(np.sort(unlabeled), scores)
    # No row at all cannot be told from half a row.
    found = np.minimum(prior * recall * len(unlabeled) / np.maximum(above, 0.5), 1.0)
    # The very top has few rows, and any precision by chance: ten positives, or a tenth, must be
    # above.
    found = found[recall * len(positive) >= min(10, len(positive) / 10)]
    enough = np.flatnonzero(found >= precision)
    # Of equals the least: it answers most.
    best = enough[0] if len(enough) else int(np.argmax(found))
    return float(scores[best]), float(found[best])


def matching_shift(probability: Scores, prior: float) -> float:
    """The number to add to the log-odds of probabilities so that their mean is the prior.

    Parameters
    ----------
    probability
        Of being positive, of unlabelled rows.
    prior
        Share of positives among them.

    Examples
    --------
    >>> odds = np.array([0.25, 0.5, 2.0])
    >>> shift = matching_shift(odds / (1 + odds), 0.5)
    >>> round(float(np.mean(1 / (1 + np.exp(-shift) / odds))), 6)
    0.5
    """
    low, high = -50.0, 50.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shifted(probability, middle).mean() < prior else (low, middle)
    return (low + high) / 2


def shifted(probability: Scores, shift: float) -> Scores:
    """Add a number to the log-odds of probabilities.

    Examples
    --------
    >>> shifted(np.array([0.0, 0.5, 1.0]), np.log(3)).round(6).tolist()
    [0.0, 0.75, 1.0]
    """
    if shift == 0:
        return probability
    lift = np.exp(shift)
    answer: Scores = probability * lift / (1 - probability + probability * lift)
    return answer
