"""Thresholds: scores of labelled and unlabelled rows -> where to predict positive."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu.validation.names import suggest
from robustpu.validation.numbers import check_number

Scores = NDArray[np.float64]

# Targets for the rows above a threshold.
TARGETS: Final = ("recall", "precision", "top")
# How rows to check are picked.
PICKS: Final = ("suspect", "informative", "random")


def parse(threshold: float | str) -> tuple[str, float]:
    """The kind of a threshold and its number: ("at", 0.5), ("recall", 0.9).

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


def at_share(unlabeled: Scores, share: float, weight: Scores | None = None) -> float:
    """The score that a share of the unlabelled rows reaches, half-way to the next one below.

    Of rows with equal scores all or none are above: whatever is nearer to the share.

    Parameters
    ----------
    unlabeled
        Scores, (n,).
    share
        Of the rows, or of their weight.
    weight
        Sample weights, (n,); equal by default.

    Examples
    --------
    >>> at_share(np.array([0.1, 0.2, 0.3, 0.9]), 0.25)
    0.6
    >>> at_share(np.array([0.1, 0.2, 0.3, 0.9]), 0.25, np.array([1.0, 1.0, 1.0, 9.0]))
    0.9...
    """
    scores = np.unique(unlabeled if weight is None else unlabeled[weight > 0])
    shares = np.append(_reached(unlabeled, scores, weight), 0.0)
    place = int(np.argmin(np.abs(shares - share)))
    if place == 0:
        return float(scores[0])
    below = scores[place - 1]
    above = scores[place] if place < len(scores) else below
    # The middle of two neighbours may be the lower one.
    return float(max((below + above) / 2, np.nextafter(below, np.inf)))


def at_recall(positive: Scores, recall: float, weight: Scores | None = None) -> float:
    """The largest score that this share of the positives reaches.

    Parameters
    ----------
    positive
        Scores of labelled positives that the model was not fitted on.
    recall
        The share.
    weight
        Their sample weights; equal by default.

    Examples
    --------
    >>> at_recall(np.array([0.2, 0.9, 0.6, 0.8]), 0.75)
    0.6
    """
    scores = np.unique(positive)
    enough = _reached(positive, scores, weight) >= recall - 1e-9
    return float(scores[enough][-1])


def at_precision(
    positive: Scores,
    unlabeled: Scores,
    prior: float,
    precision: float,
    weights: tuple[Scores, Scores] | None = None,
) -> tuple[float, float]:
    """The least score above which prior recall / rate, the precision on U, is as asked.

    Parameters
    ----------
    positive, unlabeled
        Scores of rows that the model was not fitted on.
    prior
        Share of positives among the unlabelled rows.
    precision
        Share of positives wanted among the unlabelled rows that are predicted positive.
    weights
        Sample weights of the positives and of the unlabelled rows; equal by default.

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
    scores, (of_positive, of_unlabeled) = np.unique(positive), weights or (None, None)
    recall = _reached(positive, scores, of_positive)
    rate = _reached(unlabeled, scores, of_unlabeled)
    # Zero rows count as half a row.
    found = np.minimum(prior * recall / np.maximum(rate, 0.5 / len(unlabeled)), 1.0)
    # Few rows have any precision by chance: ten positives, or a tenth of them, must be above.
    count = _reached(positive, scores, None) * len(positive)
    found = found[count >= min(10, len(positive) / 10)]
    enough = np.flatnonzero(found >= precision)
    # Of several the lowest: it predicts most positives.
    best = enough[0] if len(enough) else int(np.argmax(found))
    return float(scores[best]), float(found[best])


def precision_doubt(threshold: float | str) -> str:
    """Say that a threshold for a precision cannot be kept where the prior is not known.

    Examples
    --------
    >>> precision_doubt("precision:0.8")
    "The threshold 'precision:0.8' cannot be kept: a precision rests on that share. Give it, or..."
    """
    return (
        f"The threshold {threshold!r} cannot be kept: a precision rests on that share. Give it, or "
        "choose 'recall:0.8' or 'top:200', which need none."
    )


def tail(score: Scores, weight: Scores, at: Scores | float) -> tuple[Scores, Scores]:
    """Weight of the scores above each of ``at``, and of those at or above it.

    Examples
    --------
    >>> above, not_below = tail(np.array([1.0, 2.0, 3.0]), np.array([0.2, 0.3, 0.5]), 2.0)
    >>> round(float(above), 2), round(float(not_below), 2)
    (0.5, 0.8)
    """
    order = np.argsort(score)
    ascending = score[order]
    # Summed from the top, so that the highest row has its own weight to the last bit.
    from_top = np.concatenate([[0.0], np.cumsum(weight[order][::-1])])[::-1]
    above = from_top[np.searchsorted(ascending, at, side="right")]
    not_below = from_top[np.searchsorted(ascending, at, side="left")]
    return above, not_below


def _reached(scores: Scores, at: Scores, weight: Scores | None) -> Scores:
    """Share of the rows, or of their weight, that reaches each of some scores."""
    weights = np.ones(len(scores)) if weight is None else weight
    answer: Scores = tail(scores, weights, at)[1] / weights.sum()
    return answer


def most_likely(probability: Scores, is_candidate: NDArray[np.bool_], top: int) -> NDArray[np.intp]:
    """Indices of the most probable candidates, the highest first; ties in order.

    Parameters
    ----------
    probability, is_candidate
        Of each row, and whether it may be chosen, (n,).
    top
        How many; fewer if there are fewer.

    Examples
    --------
    >>> most_likely(np.array([0.5, 0.9, 0.7, 0.7]), np.array([True, False, True, True]), 2).tolist()
    [2, 3]
    """
    places = np.flatnonzero(is_candidate)
    chosen: NDArray[np.intp] = places[np.argsort(-probability[places], kind="stable")[:top]]
    return chosen


def priority(probability: Scores, by: str, threshold: float, random: np.random.Generator) -> Scores:
    """How much a check of each row is wanted, (n,); the largest numbers first.

    Parameters
    ----------
    probability
        Of being positive, (n,).
    by
        ``"suspect"``, ``"informative"`` or ``"random"``.
    threshold
        Probability from which rows are predicted positive.
    random
        For ``"random"``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> int(priority(np.array([0.1, 0.4, 0.9]), "informative", 0.5, rng).argmax())
    1
    """
    check_pick(by)
    if by == "random":
        return random.random(len(probability))
    if by == "suspect":
        return probability.copy()
    odds = [np.log(p / (1 - p)) for p in (np.clip(probability, 1e-15, 1 - 1e-15), threshold)]
    wanted: Scores = -np.abs(odds[0] - odds[1])
    return wanted


def check_pick(by: str) -> None:
    """Refuse what is not in ``PICKS``.

    Examples
    --------
    >>> check_pick("suspects")
    Traceback (most recent call last):
    ValueError: by is 'suspects': did you mean 'suspect'? Give one of informative, random, suspect.
    """
    if by not in PICKS:
        raise ValueError(f"by is {by!r}{suggest(by, PICKS)}")
