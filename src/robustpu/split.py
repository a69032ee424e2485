"""A table with true labels in, a positive-unlabelled problem with a sealed truth out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_consistent_length, check_random_state

from robustpu.labeling import LABELINGS as LABELINGS
from robustpu.labeling import Floats, Generator, Rows, choose, propensity
from robustpu.labels import Label, encode
from robustpu.scenario import check_prior, check_scenario, label_frequency, population_prior

Counts: TypeAlias = list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class PURows:
    """Which rows of the given X went where; no row is in two parts."""

    positive: Rows
    unlabeled: Rows
    validation: Rows
    test: Rows


@dataclass(frozen=True, eq=False)
class PUData:
    """A positive-unlabelled problem: `X` and `y` are for fit, the rest is for the examiner.

    `y` is 1 for labelled positives and 0 for unlabelled rows, in a random order. `y_true`,
    `y_validation` and `y_test` are the truth, 1 or 0. `prior` is the exact share of positives among
    the unlabelled rows. `rows.positive` and `rows.unlabeled` are in the order of `X`.
    """

    X: Any = field(repr=False)
    y: NDArray[np.int64] = field(repr=False)
    y_true: NDArray[np.int64] = field(repr=False)
    X_validation: Any = field(repr=False)
    y_validation: NDArray[np.int64] = field(repr=False)
    X_test: Any = field(repr=False)
    y_test: NDArray[np.int64] = field(repr=False)
    rows: PURows = field(repr=False)
    scenario: str
    prior: float
    population_prior: float
    label_frequency: float


def make_pu(
    X: Any,
    y: ArrayLike,
    *,
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    n_validation: int = 0,
    n_test: int = 0,
    pos_label: Label | None = None,
    scenario: str = "case-control",
    labeling: str | Callable[[Any, Floats], ArrayLike] | ArrayLike = "scar",
    random_state: int | np.random.RandomState | None = None,
) -> PUData:
    """(X, y_true) -> PUData, with disjoint parts and round(prior n_U) positives left unlabelled.

    Parameters
    ----------
    X
        Table or array, shape (n, ...).
    y
        True labels, two classes, shape (n,).
    n_positive, n_unlabeled
        Numbers of labelled and of unlabelled rows.
    prior
        Share of positives among the unlabelled rows.
    n_validation, n_test
        Numbers of rows kept with their true labels, drawn at the prior of the population.
    pos_label
        The label of the positives; by default the larger of the two.
    scenario
        "case-control": the labelled positives are drawn apart from the unlabelled rows.
        "single-set": one sample is drawn and `n_positive` of its positives get the label.
    labeling
        Which positives get the label: a key of `LABELINGS`, a function
        `(X_candidates, p(y=1|x)) -> weights`, or a weight for every row of X, shape (n,). They are
        drawn without replacement, in proportion to the weights: in single-set from the positives of
        the sample, in case-control from those that no other part took (all, if none is to spare).
    random_state
        Decides every draw.

    Notes
    -----
    With p = p(y=1|x), the weights are 1 ("scar"), p^20 ("pusb"), p^10 ("lbe-a", easy first),
    (1.5 - p)^10 ("lbe-b", near the boundary and beyond it first), the geometric mean of the
    attributes scaled to [0.2, 0.8] ("attributes"), or a sigmoid of a random linear function
    ("logistic"). p is a logistic regression on all of X and the truth: right for a simulation.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> data = make_pu(X, y, n_positive=50, n_unlabeled=200, prior=0.4, n_test=100, random_state=0)
    >>> data
    PUData(scenario='case-control', prior=0.4, population_prior=0.4, label_frequency=0.38...)
    >>> int(data.y_test.sum())
    40
    """
    X = X if hasattr(X, "shape") else np.asarray(X)
    check_consistent_length(X, y)
    is_positive = _truth(y, pos_label)
    sizes = _Sizes(n_positive, n_unlabeled, n_validation, n_test)
    counts = _feasible_counts(sizes, check_prior(prior), check_scenario(scenario), is_positive)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    hidden, spare, negative, validation, test = _draw(is_positive, counts, rng)

    # The label is given last, so that a biased choice leaves the other parts as they are.
    single_set = scenario == "single-set"
    candidates = np.concatenate([hidden, spare[:n_positive]]) if single_set else spare
    weights = propensity(labeling, X, is_positive, candidates, rng)
    labeled = candidates[choose(weights, n_positive, rng)]
    hidden = np.setdiff1d(candidates, labeled) if single_set else hidden
    training = rng.permutation(np.concatenate([labeled, hidden, negative]))

    has_label = np.isin(training, labeled)
    truth = is_positive.astype(np.int64)
    exact_prior = len(hidden) / int(n_unlabeled)
    return PUData(
        X=_safe_indexing(X, training),
        y=has_label.astype(np.int64),
        y_true=truth[training],
        X_validation=_safe_indexing(X, validation),
        y_validation=truth[validation],
        X_test=_safe_indexing(X, test),
        y_test=truth[test],
        rows=PURows(training[has_label], training[~has_label], validation, test),
        scenario=scenario,
        prior=exact_prior,
        population_prior=population_prior(exact_prior, len(labeled), int(n_unlabeled), scenario),
        label_frequency=label_frequency(exact_prior, len(labeled), int(n_unlabeled)),
    )


def _truth(y: ArrayLike, pos_label: Label | None) -> NDArray[np.bool_]:
    try:
        return encode(y, pos_label)[1]
    except ValueError as error:
        raise ValueError(
            "make_pu needs the true labels of all rows, in two classes. If several classes are to "
            f"be the positives, pass numpy.isin(y, those). y was refused: {error}"
        ) from error


class _Sizes(NamedTuple):
    n_positive: int
    n_unlabeled: int
    n_validation: int
    n_test: int


def _counts(sizes: _Sizes, prior: float, scenario: str) -> Counts:
    """(positives, negatives) of each part, in the order of _Sizes."""
    n_positive, n_unlabeled, n_validation, n_test = sizes
    hidden = round(prior * n_unlabeled)
    share = population_prior(hidden / n_unlabeled, n_positive, n_unlabeled, scenario)
    positives = (n_positive, hidden, round(share * n_validation), round(share * n_test))
    return [(count, size - count) for count, size in zip(positives, sizes, strict=True)]


def _shortages(counts: Counts, available: tuple[int, int]) -> dict[int, str]:
    """What is missing of positives (key 0) and of negatives (key 1), in words."""
    needed = [sum(column) for column in zip(*counts, strict=True)]
    return {
        k: f"{needed[k]} {('positives', 'negatives')[k]} are needed and y has {available[k]}"
        for k in (0, 1)
        if needed[k] > available[k]
    }


def _feasible_counts(
    sizes: _Sizes, prior: float, scenario: str, is_positive: NDArray[np.bool_]
) -> Counts:
    """The counts of each part, if the rows suffice; else an error that says what would."""
    for name, size, least in zip(sizes._fields, sizes, (1, 1, 0, 0), strict=True):
        if not isinstance(size, int | np.integer) or size < least:
            raise ValueError(f"{name} must be an integer of at least {least}, not {size!r}.")
    counts = _counts(sizes, prior, scenario)
    if 0 in counts[1]:
        raise ValueError(
            f"prior={prior} of n_unlabeled={sizes.n_unlabeled} rows rounds to {counts[1][0]} "
            f"positives and {counts[1][1]} negatives; both must occur. Raise n_unlabeled."
        )
    available = (int(is_positive.sum()), int((~is_positive).sum()))
    if short := _shortages(counts, available):
        asked = ", ".join(f"{name}={size}" for name, size in sizes._asdict().items())
        raise ValueError(
            f"Too few rows for {asked} at prior={prior} ({scenario}): "
            f"{'; '.join(short.values())}. {_remedy(sizes, prior, scenario, available)}"
        )
    return counts


def _largest(sizes: _Sizes, prior: float, scenario: str, available: tuple[int, int]) -> int:
    """The largest feasible n_unlabeled, the other sizes as they are; 0 if there is none."""
    # Searched, not solved: in single-set the needs do not simply rise with n_unlabeled.
    for n_unlabeled in range(sum(available), 1, -1):
        counts = _counts(sizes._replace(n_unlabeled=n_unlabeled), prior, scenario)
        if 0 not in counts[1] and not _shortages(counts, available):
            return n_unlabeled
    return 0


def _remedy(sizes: _Sizes, prior: float, scenario: str, available: tuple[int, int]) -> str:
    if largest := _largest(sizes, prior, scenario, available):
        return f"The largest feasible n_unlabeled is {largest}, all else as it is."
    if not _largest(_Sizes(1, 1, 0, 0), prior, scenario, available):
        return "No sizes are feasible at this prior: bring it nearer to the share in y."
    counts = _counts(sizes, prior, scenario)
    short = min(_shortages(counts, available))
    takes = {name: part[short] for name, part in zip(sizes._fields, counts, strict=True)}
    del takes["n_unlabeled"]
    takes["n_positive"] -= 1 - short  # One labelled positive there must be.
    most = max(takes, key=lambda name: takes[name])
    return f"No n_unlabeled is feasible, all else as it is: lower {most} first."


def _draw(is_positive: NDArray[np.bool_], counts: Counts, rng: Generator) -> tuple[Rows, ...]:
    """Rows: positives of U, positives to spare, negatives of U, validation, test."""
    _, unlabeled, validation, test = counts
    ends = np.cumsum([test, validation, unlabeled], axis=0)
    positives = np.split(rng.permutation(np.flatnonzero(is_positive)), ends[:, 0])
    negatives = np.split(rng.permutation(np.flatnonzero(~is_positive)), ends[:, 1])
    mixed = [rng.permutation(np.concatenate([positives[i], negatives[i]])) for i in (1, 0)]
    return positives[2], positives[3], negatives[2], *mixed
