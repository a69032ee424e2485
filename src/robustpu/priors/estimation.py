"""``estimate_prior``: the class prior with an interval, and the estimate of each method."""

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist, stdev
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length

from robustpu import labels, priors
from robustpu.cautious import share_posterior
from robustpu.modules import scale_of
from robustpu.priors.estimates import votes
from robustpu.propensity import Counted, check, count_hidden, inverse_weight
from robustpu.scenario import check_scenario, from_to, population_prior
from robustpu.sparse.projection import dense, projection_of
from robustpu.sparse.rows import as_csr, is_sparse
from robustpu.validation.frames import naming_text
from robustpu.validation.names import pick
from robustpu.validation.numbers import check_number

Floats = NDArray[np.float64]
Parts: TypeAlias = tuple[Floats, Floats]

# Methods whose estimates are always shown, and those that are fast enough for a bootstrap.
SHOWN: Final = tuple(name for name in priors.PRIORS if name != "auto")
REPEATED: Final = ("dedpul", "best-bin")
# No share is 1.
EDGE: Final = 1e-9


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
        Probability that the interval holds the truth, if labels are selected completely at random.
    population
        Share of positives in the population: the same in case-control data.
    method
        Name of the method.
    answers
        The estimate of each method.
    scores
        Out-of-fold scores of the rows, (n,), that the estimates are based on.
    is_known
        Whether the scores tell the share, up to a factor that can be acted on.
    """

    value: float
    low: float
    high: float
    level: float
    population: float
    method: str
    answers: Mapping[str, float]
    scores: Floats
    is_known: bool = True

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        ends = from_to(self.low, f"{self.low:.3f}", f"{self.high:.3f}")
        lines = [f"prior {self.value:.3f}, {self.level:.0%} interval {ends}"]
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
    neg_label: labels.Label | None = None,
    checked: ArrayLike | None = None,
    level: float = 0.9,
    n_bootstrap: int = 100,
    random_state: int | np.random.RandomState | None = None,
    progress: Callable[[int, int], None] | None = None,
    propensity: ArrayLike | None = None,
) -> PriorEstimate:
    """Estimate the share of positives among the unlabelled rows.

    Networks, and forests if X is a table, classify labelled against unlabelled rows and score the
    rows out of fold (``robustpu.priors.out_of_fold``). Each method makes an estimate from these
    scores. All of them assume that labels are selected completely at random (SCAR), and that some
    region holds positives alone. If scores tell the share, the interval combines the spread of the
    estimates on resampled scores with that of three methods. Where classes overlap they do not:
    the interval is then wide, ``"auto"`` is cautious (see :mod:`robustpu.cautious`), and
    ``is_known`` is False.

    Parameters
    ----------
    X
        Rows (n, d) of numbers, sparse or not, or images (n, channels, height, width). Or your
        scores (n,)
        of rows that the scorer was not trained on: log-odds of being labelled, where labelled and
        unlabelled rows have equal total weight.
    y
        Two labels (n,): labelled positive (by default the larger) and unlabelled.
    method
        A name of ``robustpu.priors.PRIORS``; ``"auto"`` is the median of DEDPUL, best-bin and KM1,
        or a cautious estimate where classes overlap. Or one of ``robustpu.priors.JOINT``, which
        estimate the prior and train alternately: slower, with the interval of the others.
    scenario
        ``"case-control"`` or ``"single-set"``; it decides what the share in the population is.
    pos_label
        The label of the labelled positives; by default the larger of the two.
    neg_label, checked
        The label of known negatives, and which rows owe their label to a check, as in ``fit``: the
        share is that among the rows that were unlabelled before. Other known negatives are left
        out.
    level
        Probability that the interval holds the truth.
    n_bootstrap
        Number of bootstrap samples of the scores.
    random_state
        All randomness comes from it.
    progress
        Called as ``progress(done, total)`` while networks and forests train, which takes the most
        time.
    propensity
        Of each labelled row, its probability of having been labelled, given that it is positive;
        NaN for unlabelled rows, (n,). The ``"auto"`` of single-set data is then what they count.

    Returns
    -------
    estimate
        With ``value``, ``low`` and ``high``; ``scores`` are those of the rows that are not left
        out.

    Warns
    -----
    PriorWarning
        Scores do not tell the share of positives.

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
    table, before = read_rows(X, y, pos_label, neg_label, checked)
    if propensity is not None and priors.is_joint(method):
        raise ValueError(f"method={method!r} takes no propensities: choose another, as 'auto'.")
    if propensity is not None:
        propensity = check(propensity, before.is_positive)[before.tells]
    table, is_positive = table[before.tells], before.is_positive[before.tells]
    random = check_random_state(random_state)
    if table.ndim > 1:
        sample = sample_of(table, is_positive, random)
        scores = priors.out_of_fold([sample], progress)[0]
    elif priors.is_joint(method):
        raise ValueError(f"method={method!r} trains its own scorers: give rows, not scores.")
    else:
        scores = table
    parts, counted = scores_by_propensity(scores, is_positive, propensity, scenario)
    answers = {name: float(priors.PRIORS[name](*parts)) for name in SHOWN}
    if priors.is_joint(method):
        answers[method] = float(chosen(sample))
    tells = None if before.outcome is None else before.outcome[before.tells][~is_positive]
    how: dict[str, Any] = {"level": level, "n_bootstrap": n_bootstrap, "random": random}
    value, found = _share(parts, method, answers, counted, tells, how)
    if not found.is_known:
        warnings.warn(found.doubt(value), PriorWarning, stacklevel=2)
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
        is_known=found.is_known,
    )


class PriorInterval(NamedTuple):
    """The interval of an estimated prior, its level, and whether scores tell the share."""

    low: float
    high: float
    level: float
    is_known: bool

    def doubt(self, value: float) -> str:
        """Say that the share is not known."""
        ends = from_to(self.low, f"{self.low:.1%}", f"{self.high:.1%}")
        return (
            "these rows do not tell the share of positives among the unlabelled ones: if positives "
            f"were labelled completely at random, {ends} are possible "
            f"({self.level:.0%} interval), and {value:.1%} is used. Ranking hardly depends on it. "
            "If you know the share roughly, give it as the prior."
        )


def prior_interval(
    parts: Parts,
    value: float,
    *,
    level: float,
    n_bootstrap: int,
    random: np.random.RandomState,
    outcome: Floats | None = None,
) -> PriorInterval:
    """The interval of an estimated prior, from out-of-fold scores.

    Parameters
    ----------
    parts
        Scores of labelled and of unlabelled rows.
    value
        The estimate.
    level, n_bootstrap
        As in :func:`estimate_prior`.
    random
        For the bootstrap.
    outcome
        Of unlabelled rows that were checked: 1 positive, 0 negative; NaN of others, (n,).
    """
    posterior = share_posterior(*parts, outcome)
    low, high = posterior.interval(level)
    if not posterior.is_known and outcome is None:
        # Negatives may look like positives: then no share is too small for these scores.
        low = 0.0
    # Unless checked rows refute the estimate of separable classes.
    if posterior.is_separable and (outcome is None or low <= value <= high):
        error = math.hypot(_resampled(parts, n_bootstrap, random), stdev(votes(*parts)))
        half = NormalDist().inv_cdf((1 + level) / 2) * error
        low, high = max(0.0, value - half), min(1.0, value + half)
    return PriorInterval(min(low, value), max(high, value), level, posterior.is_known)


def _share(
    parts: Parts,
    method: str,
    answers: Mapping[str, float],
    counted: Counted | None,
    outcome: Floats | None,
    how: dict[str, Any],
) -> tuple[float, PriorInterval]:
    """The estimate of a method, or what propensities count, and its interval."""
    if counted is not None and method == "auto":
        value = priors.inside(counted.check().share, len(parts[1]))
        return value, counted_interval(value, counted.error, how["level"])
    if method in answers:
        value = priors.inside(answers[method], len(parts[1]))
    else:
        value = priors.from_scores(*parts, method, outcome)
    return value, prior_interval(parts, value, outcome=outcome, **how)


def counted_interval(value: float, error: float, level: float) -> PriorInterval:
    """The interval of a share that propensities count, with its standard error.

    Examples
    --------
    >>> round(counted_interval(0.3, 0.05, 0.9).low, 3)
    0.218
    """
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    return PriorInterval(max(value - half, 0.0), min(value + half, 1 - EDGE), level, True)


def scores_by_propensity(
    scores: Floats, is_positive: NDArray[np.bool_], propensity: ArrayLike | None, scenario: str
) -> tuple[Parts, Counted | None]:
    """Scores of labelled, as often as they weigh, and of unlabelled rows; what is counted."""
    positive, unlabeled = scores[is_positive], scores[~is_positive]
    if propensity is None:
        return (positive, unlabeled), None
    weight, known = np.ones(len(scores)), check(propensity, is_positive)
    counted = count_hidden(weight, known, is_positive) if scenario == "single-set" else None
    weight = inverse_weight(weight, known, is_positive)
    return (priors.by_weight(positive, weight[is_positive]), unlabeled), counted


def read_rows(
    X: ArrayLike,
    y: ArrayLike,
    pos_label: labels.Label | None,
    neg_label: labels.Label | None = None,
    checked: ArrayLike | None = None,
) -> tuple[Floats, labels.Before]:
    """Rows (n, ...) or scores (n,) as numbers, and their labels before any row was checked."""
    labels.refuse_missing(y)
    if is_sparse(X):
        rows = check_array(as_csr(X, len(np.asarray(y))), dtype=np.float64, accept_sparse="csr")
        X = dense(rows, projection_of(rows))
    with naming_text(X):
        table = check_array(X, dtype=np.float64, allow_nd=True, ensure_2d=False)
    check_consistent_length(table, y)
    known = labels.read_known(np.asarray(y), pos_label, neg_label, checked)
    return table, known.before(labels.encode(known.y, pos_label)[1])


def sample_of(
    table: Floats, is_positive: NDArray[np.bool_], random: np.random.RandomState
) -> priors.Sample:
    """Rows as scorers take them: the columns of a table standardised."""
    if table.ndim == 2:
        mean, scale = scale_of(table)
        table = (table - mean) / scale
    seed = random.randint(np.iinfo(np.int32).max)
    return priors.Sample(torch.tensor(table, dtype=torch.float32), is_positive, "mlp", seed)


def _resampled(parts: Parts, times: int, random: np.random.RandomState) -> float:
    """Standard deviation of the mean of the fast estimates over bootstrap samples."""
    estimates = [
        np.mean([priors.PRIORS[name](*drawn) for name in REPEATED])
        for drawn in ([random.choice(part, len(part)) for part in parts] for _ in range(times))
    ]
    return float(np.std(estimates, ddof=1))
