"""The class prior for people: one number, how sure it is, and what each method says."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, stdev
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from robustpu import labels, metrics, priors
from robustpu.checks import check_number
from robustpu.modules import scale_of
from robustpu.naming import pick
from robustpu.scenario import check_scenario, population_prior

Floats = NDArray[np.float64]
Parts: TypeAlias = tuple[Floats, Floats]

# Those whose answers are shown beside any other, and those that are quick enough to be repeated.
SHOWN: Final = tuple(name for name in priors.PRIORS if name != "auto")
VOTES: Final = ("dedpul", "best-bin", "km1")
REPEATED: Final = ("dedpul", "best-bin")
DISAGREE = 0.15
# Below this AUC, negatives that look like positives may be a good part of what was counted.
OVERLAP = 0.9
# Fewer labelled rows do not tell it well enough for a warning.
TELLING = 50
TINY = 1e-6
# Half a 90 % interval, in standard errors.
USUAL = 1.645


class PriorWarning(UserWarning):
    """An estimated class prior may be far from the truth."""


@dataclass(frozen=True)
class PriorEstimate:
    """A class prior with an interval.

    Parameters
    ----------
    value, low, high
        Share of positives among the unlabelled rows, and the ends of its interval.
    level
        Chance with which the interval holds the truth, if labelled positives are a fair sample.
    population
        Share of positives in the population: the same in case-control data.
    method
        What it was estimated by.
    answers
        What each method says.
    scores
        Out-of-fold scores of the rows, (n,); what they were estimated from.
    """

    value: float
    low: float
    high: float
    level: float
    population: float
    method: str
    answers: Mapping[str, float]
    scores: Floats

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        lines = [
            f"prior {self.value:.3f}, {self.level:.0%} interval {self.low:.3f} to {self.high:.3f}"
        ]
        if self.population != self.value:
            lines.append(f"in the population {self.population:.3f}")
        lines += [f"  {name:13}{answer:.3f}" for name, answer in self.answers.items()]
        return "\n".join(lines)

    __repr__ = __str__


def estimate_prior(
    X: ArrayLike,
    y: ArrayLike,
    *,
    method: str = "auto",
    scenario: str = "case-control",
    pos_label: labels.Label | None = None,
    level: float = 0.9,
    n_bootstrap: int = 100,
    random_state: int | np.random.RandomState | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> PriorEstimate:
    """Estimate the share of positives among the unlabelled rows.

    Networks, and forests of a table, learn to tell labelled from unlabelled rows, and score rows
    that they have not seen (``robustpu.priors.out_of_fold``). From these scores each method makes
    an estimate; all of them assume that labelled positives are a fair sample, and that somewhere
    positives are alone. The interval is from the spread of the answers on resampled scores, and of
    the three that vote; it begins at 0 where classes overlap so much that an estimate can only be
    too high.

    Parameters
    ----------
    X
        Rows (n, d) of numbers, or images (n, channels, height, width). Or scores (n,) that you
        have, of rows that the scorer was not trained on: log-odds of being labelled, if labelled
        and unlabelled rows weighed the same.
    y
        Two labels (n,): labelled positive (by default the larger) and unlabelled.
    method
        A name of ``robustpu.priors.PRIORS``; ``"auto"`` is the median of DEDPUL, best-bin and KM1.
        Or one of ``robustpu.priors.JOINT``, which estimate the prior and train in turns: slower,
        and the interval is that of the others.
    scenario
        ``"case-control"`` or ``"single-set"``; it decides what the share in the population is.
    pos_label
        The label of the labelled positives; by default the larger of the two.
    level
        Chance with which the interval is to hold the truth.
    n_bootstrap
        How often scores are resampled.
    random_state
        All randomness comes from it.
    progress
        Called as ``progress(done, total)`` while networks and forests train, which takes the most
        time.

    Returns
    -------
    estimate
        With ``value``, ``low`` and ``high``.

    Warns
    -----
    PriorWarning
        The three that vote differ by more than 0.15, or the AUC on the scores, by the
        lower end of the interval, is below 0.9 (told from 50 labelled rows on).

    Examples
    --------
    >>> from robustpu import datasets, estimate_prior, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=250, prior=0.3,
    ...              random_state=0)
    >>> found = estimate_prior(pu.X, pu.y, random_state=0)
    >>> abs(found.value - 0.3) < 0.05, found.low < 0.3 < found.high
    (True, True)
    """
    check_scenario(scenario)
    check_number("level", level, above=0, below=1)
    check_number("n_bootstrap", n_bootstrap, least=2, whole=True)
    chosen: Any = pick("prior", method, {**priors.PRIORS, **priors.JOINT})
    labels.refuse_missing(y)
    table = check_array(X, dtype=np.float64, allow_nd=True, ensure_2d=False)
    check_consistent_length(table, y)
    _, is_positive = labels.encode(np.asarray(y), pos_label)
    random = check_random_state(random_state)
    if table.ndim > 1:
        sample = _sample(table, is_positive, random)
        scores = priors.out_of_fold([sample], progress)[0]
    elif priors.is_joint(method):
        raise ValueError(f"method={method!r} trains scorers of its own: give rows, not scores.")
    else:
        scores = table
    parts = scores[is_positive], scores[~is_positive]
    answers = {name: float(priors.PRIORS[name](*parts)) for name in SHOWN}
    if priors.is_joint(method):
        answers[method] = float(chosen(sample))
    value = float(answers[method] if method in answers else chosen(*parts))
    value = priors.inside(value, len(parts[1]))
    votes = [answers[name] for name in VOTES]
    if max(votes) - min(votes) > DISAGREE:
        told = ", ".join(f"{name} {answers[name]:.2f}" for name in VOTES)
        warnings.warn(
            f"estimates of the prior disagree: {told}. Positives may overlap with negatives, or "
            "labels may be biased; if you know the prior roughly, give it.",
            PriorWarning,
            stacklevel=2,
        )
    found = judged(parts, value, votes, level=level, n_bootstrap=n_bootstrap, random=random)
    if found.doubt is not None:
        warnings.warn(found.doubt, PriorWarning, stacklevel=2)
    counts = int(is_positive.sum()), int((~is_positive).sum())
    return PriorEstimate(
        value=value,
        low=found.low,
        high=found.high,
        level=level,
        population=population_prior(value, *counts, scenario),
        method=method,
        answers=answers,
        scores=scores,
    )


class Judged(NamedTuple):
    """Ends of the interval of an estimated prior, and why it is probably too high, or None."""

    low: float
    high: float
    doubt: str | None


def judged(
    parts: Parts,
    value: float,
    votes: Sequence[float],
    *,
    level: float,
    n_bootstrap: int,
    random: np.random.RandomState,
) -> Judged:
    """How sure an estimated prior is, from scores of unseen rows.

    Classes overlap if the AUC is low by the lower end of a 90 % interval: by the estimate itself,
    the more it is too high, the less they would seem to.

    Parameters
    ----------
    parts
        Scores of labelled and of unlabelled rows.
    value
        The estimate.
    votes
        What the methods of ``VOTES`` say of these scores.
    level, n_bootstrap
        As in :func:`estimate_prior`.
    random
        Draws the rows.
    """
    error = math.hypot(_resampled(parts, n_bootstrap, random), stdev(votes))
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    low, high = max(0.0, value - half), min(1.0, value + half)
    area = _auc(parts, min(max(value - USUAL * error, TINY), 1 - TINY))
    if area >= OVERLAP:
        return Judged(low, high, None)
    doubt = (
        f"the prior was estimated as {value:.2g}, and positives are hard to tell from negatives "
        f"(AUC {area:.2f}): negatives that look like positives are counted too, so there may be "
        "far fewer. If you know the prior roughly, give it."
    )
    return Judged(0.0, high, doubt if len(parts[0]) >= TELLING else None)


def _auc(parts: Parts, prior: float) -> float:
    y = np.repeat([True, False], [len(own) for own in parts])
    return metrics.auc(y, np.concatenate(parts), prior=prior)


def _sample(
    table: Floats, is_positive: NDArray[np.bool_], random: np.random.RandomState
) -> priors.Sample:
    if table.ndim == 2:
        mean, scale = scale_of(table)
        table = (table - mean) / scale
    seed = random.randint(np.iinfo(np.int32).max)
    return priors.Sample(torch.tensor(table, dtype=torch.float32), is_positive, "mlp", seed)


def _resampled(parts: Parts, times: int, random: np.random.RandomState) -> float:
    """Deviation of the quick estimates, averaged, on rows drawn with replacement."""
    answers = [
        np.mean([priors.PRIORS[name](*drawn) for name in REPEATED])
        for drawn in ([random.choice(own, len(own)) for own in parts] for _ in range(times))
    ]
    return float(np.std(answers, ddof=1))
