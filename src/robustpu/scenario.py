"""How the rows came about: case-control or single-set, and what a prior means in each.

**Case-control** (two samples): the unlabelled rows are a sample of the population as it is, and the
labelled positives were collected apart from them, say from an archive of known cases.

**Single-set** (one sample): one sample of the population was taken, and some of its positives were
then labelled. The unlabelled rows are what was left, so they hold fewer positives than the
population does.

In both, `prior` is the share of positives *among the unlabelled rows*. Case-control makes it equal
to the share in the population; single-set does not, and the functions below convert.
"""

import math
from numbers import Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SCENARIOS = ("case-control", "single-set")
# An interval of the share of positives that begins below is told by its upper end alone.
NO_SHARE = 1e-6


def from_to(low: float, first: str, last: str) -> str:
    """The interval of a share that begins at ``low``, of its ends as they are written.

    Examples
    --------
    >>> from_to(0.1, "10 %", "30 %"), from_to(1e-9, "0 %", "30 %")
    ('10 % to 30 %', 'up to 30 %')
    """
    return f"{first} to {last}" if low >= NO_SHARE else f"up to {last}"


def check_scenario(name: str) -> str:
    """The name itself, if it is one of `SCENARIOS`.

    Examples
    --------
    >>> SCENARIOS.index(check_scenario("single-set"))
    1
    """
    if name not in SCENARIOS:
        raise ValueError(
            f"scenario must be 'case-control' or 'single-set', not {name!r}. Take 'single-set' "
            "if the labelled positives were picked out of the same sample as the unlabelled rows."
        )
    return name


def check_prior(value: object) -> float:
    """The value as a float, if it is a number in (0, 1).

    Examples
    --------
    >>> check_prior(0.4)
    0.4
    """
    number = float(value) if isinstance(value, Real) else math.nan
    if 0 < number < 1:
        return number
    hint = " Is it a percentage, or a count? Give the share." if number >= 1 else ""
    raise ValueError(
        "prior must be a number between 0 and 1, both excluded: the share of positives among the "
        f"unlabelled rows. It is {value!r}.{hint}"
    )


def population_prior(prior: float, n_positive: float, n_unlabeled: float, scenario: str) -> float:
    """prior if case-control, (n_P + prior n_U) / (n_P + n_U) if single-set.

    Parameters
    ----------
    prior
        Share of positives among the unlabelled rows.
    n_positive, n_unlabeled
        Numbers of labelled and of unlabelled rows.
    scenario
        One of `SCENARIOS`.

    Returns
    -------
    float
        Share of positives in the population.

    Examples
    --------
    >>> population_prior(0.25, 100, 400, "single-set")
    0.4
    >>> population_prior(0.25, 100, 400, "case-control")
    0.25
    """
    if check_scenario(scenario) == "case-control":
        return prior
    return (n_positive + prior * n_unlabeled) / (n_positive + n_unlabeled)


def unlabeled_prior(population_prior: float, label_frequency: float) -> float:
    """(1 - c) pi / (1 - c pi), the prior among the unlabelled rows if single-set.

    Parameters
    ----------
    population_prior
        pi, the share of positives in the population.
    label_frequency
        c, the share of the positives that carry a label.

    Returns
    -------
    float
        Share of positives among the unlabelled rows.

    Examples
    --------
    >>> unlabeled_prior(0.4, 0.5)
    0.25
    """
    unlabeled = 1 - label_frequency * population_prior
    return (1 - label_frequency) * population_prior / unlabeled


def label_frequency(prior: float, n_positive: int, n_unlabeled: int) -> float:
    """n_P / (n_P + prior n_U), the share of the positive rows that carry a label.

    Parameters
    ----------
    prior
        Share of positives among the unlabelled rows.
    n_positive, n_unlabeled
        Numbers of labelled and of unlabelled rows.

    Examples
    --------
    >>> label_frequency(0.25, 100, 400)
    0.5
    """
    return n_positive / (n_positive + prior * n_unlabeled)


def to_population(
    probability: "NDArray[np.float64]", prior: float, population: float
) -> "NDArray[np.float64]":
    """P(positive | x) in the population from that among the unlabelled rows: odds times a constant.

    In case-control data both are the same. In single-set data it makes g / c of ``posterior``.

    Parameters
    ----------
    probability
        P(positive | x, unlabelled) of each row, (n,).
    prior, population
        Share of positives among the unlabelled rows and in the population.

    Examples
    --------
    >>> import numpy as np
    >>> to_population(np.array([0.25, 0.5]), 0.25, 0.5).tolist()
    [0.5, 0.75]
    """
    positive = population / prior * probability
    return positive / (positive + (1 - population) / (1 - prior) * (1 - probability))
