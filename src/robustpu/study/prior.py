"""The share of positives among the unlabelled rows: as the user says, or estimated."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robustpu.estimation import PriorWarning, estimate_prior
from robustpu.study.stages import Tell, silent

# An estimate may be 0 or 1, which is no prior: nothing would be left to find.
LEAST: Final = 1e-4
ALLOWED: Final = "Held-out scores allow at most {:.1%} positives among the unlabelled rows."
WANTED: Final = (
    "'auto', a share between 0 and 1 such as 0.2, the ends of one such as 0.02:0.05, or a count "
    "such as count:500"
)


@dataclass(frozen=True)
class Prior:
    """A prior and where it is from.

    Attributes
    ----------
    how
        "estimated", "given", "range" (two ends were given) or "count".
    value
        Share of positives among the unlabelled rows.
    low, high, level
        Its interval, and the chance that the truth is in it; None if it was given, and rows do not
        refute it.
    answers
        What each method of estimation says.
    doubts
        Why it may be wrong.
    """

    how: str
    value: float
    low: float | None = None
    high: float | None = None
    level: float = 0.9
    answers: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) inside (0, 1), for :func:`robustpu.metrics.evaluate`."""
        if self.low is None or self.high is None:
            return None
        return (
            min(max(self.low, LEAST / 10), self.value),
            max(min(self.high, 1 - LEAST / 10), self.value),
        )


def within(prior: Prior, most: float) -> Prior:
    """The prior, no larger than held-out answers of a model allow, whoever said it.

    Parameters
    ----------
    prior
        As it was given or estimated.
    most
        What is allowed, see :func:`robustpu.metrics.largest_prior`.

    Examples
    --------
    >>> within(Prior("estimated", 0.3, 0.1, 0.5), 0.4).interval
    (0.1, 0.4)
    >>> within(Prior("given", 0.5), 0.2).high
    0.2
    """
    most = max(most, LEAST)
    if prior.low is None or prior.high is None:
        if prior.value <= most:
            return prior
        doubt = (
            f"{ALLOWED.format(most)} You gave {prior.value:.1%}, and the model was trained with "
            f"it: that is too many, unless labelled rows are no fair sample of all positives. "
            f"Figures are by 0.0% to {most:.1%}."
        )
        return replace(prior, value=most, low=0.0, high=most, doubts=(*prior.doubts, doubt))
    if prior.value <= most:
        held = replace(prior, high=min(prior.high, max(most, prior.value)))
        if prior.how == "range" and prior.high > most:
            doubt = f"{ALLOWED.format(most)} Yours go up to {prior.high:.1%}, and were cut."
            return replace(held, doubts=(*prior.doubts, doubt))
        return held
    # An estimate that is refuted says nothing about what is right; what people know may.
    low = prior.low if prior.how == "range" and prior.low < most else 0.0
    said = "The middle of yours is" if prior.how == "range" else "The estimate was"
    doubt = (
        f"{ALLOWED.format(most)} {said} {prior.value:.1%}, and the model was trained with it: that "
        f"is too many. Figures are by {low:.1%} to {most:.1%}. If you know the share, give it with "
        "--prior."
    )
    return replace(prior, value=most, low=low, high=most, doubts=(*prior.doubts, doubt))


def parse_prior(asked: str | float) -> tuple[str, tuple[float, ...]]:
    """What was said about the prior, and its numbers: ("estimated", ()), ("given", (0.2,)).

    Examples
    --------
    >>> parse_prior("count:500"), parse_prior("0.02:0.05")
    (('count', (500.0,)), ('range', (0.02, 0.05)))
    """
    if asked == "auto":
        return "estimated", ()
    name, colon, text = str(asked).partition(":")
    try:
        if colon and name == "count" and int(text) > 0:
            return "count", (float(int(text)),)
        if colon and 0 < float(name) < float(text) < 1:
            return "range", (float(name), float(text))
        if not colon and 0 < float(name) < 1:
            return "given", (float(name),)
    except ValueError:
        pass
    raise ValueError(f"the prior must be {WANTED}; it is {asked!r}.")


def find_prior(
    X: NDArray[np.float32],
    y: NDArray[np.int64],
    asked: str | float,
    scenario: str,
    seed: int,
    progress: Tell = silent,
) -> Prior:
    """The prior as it was given, from a count, or estimated.

    Parameters
    ----------
    X, y
        Rows, and 1 for labelled positives, 0 for unlabelled rows.
    asked
        See :func:`parse_prior`. A count is that of the positives among the unlabelled rows.
    scenario
        "case-control" or "single-set".
    seed
        Of the estimate.
    progress
        Told of the estimate.

    Examples
    --------
    >>> y = np.array([1] * 10 + [0] * 40)
    >>> find_prior(np.zeros((50, 1), np.float32), y, "count:8", "case-control", 0).value
    0.2
    """
    how, numbers = parse_prior(asked)
    n_unlabeled = int((y == 0).sum())
    if how == "given":
        return Prior(how, numbers[0])
    if how == "range":
        low, high = numbers
        # Shares differ by factors.
        return Prior(how, math.sqrt(low * high), low, high)
    if how == "count":
        (number,) = numbers
        if number >= n_unlabeled:
            raise ValueError(
                f"the prior {asked!r} counts as many positives as there are unlabelled rows, "
                f"{n_unlabeled:,}, or more. Give the number that you expect among these."
            )
        return Prior(how, number / n_unlabeled)
    if y.sum() < 2:
        raise ValueError(
            "with a single labelled positive the prior cannot be estimated. Give it, such as "
            "--prior 0.05 or --prior count:20, or label more rows."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PriorWarning)
        found = estimate_prior(
            X,
            y,
            scenario=scenario,
            random_state=seed,
            progress=lambda done, total: progress("prior", done, total),
        )
    told = [str(own.message) for own in caught if issubclass(own.category, PriorWarning)]
    doubts = [own[:1].upper() + own[1:] for own in told]
    value = float(np.clip(found.value, LEAST, 1 - LEAST))
    return Prior(
        how,
        value,
        min(float(found.low), value),
        max(float(found.high), value),
        float(found.level),
        {name: float(own) for name, own in found.answers.items()},
        tuple(doubts),
    )
