"""From the score of a pool to probabilities: a logistic link that knows the prior."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, log_expit

from robustpu.calibration import among_unlabeled, matching_shift
from robustpu.modules.rows import some_of_each
from robustpu.training.data import Floats, Mask, kept_masses

# Logarithms of the least and the largest slope of a standardised score.
SLOPES = (-3.0, 3.5)
# Labelled and unlabelled rows that decide on the slope, at most.
MOST = (5_000, 20_000)


def fit_link(
    score: Floats,
    is_positive: Mask,
    weight: Floats,
    prior: float,
    population: float,
    scenario: str,
    outcome: Floats | None = None,
) -> Floats:
    """Slope a and shift b of p(x) = sigmoid(a score + b), (2,), by the likelihood of the labels.

    For each a, b is such that p has the right mean: the prior on the unlabelled rows, or that of
    the population on all rows of single-set data. Under SCAR a row of single-set data is labelled
    with probability c p(x), c = P(labelled | positive); in case-control data the odds of being
    labelled are n_P / n_U p(x) / prior. So the slope is found without a negative.

    Parameters
    ----------
    score
        Out-of-fold scores of mean 0 and deviation 1, (n,).
    is_positive, weight
        Whether each row is labelled, and its sample weight, (n,).
    prior, population
        Share of positives among the unlabelled rows, and in the population.
    scenario
        ``"case-control"`` or ``"single-set"``.
    outcome
        Of unlabelled rows that were checked: 1 positive, 0 negative; NaN of others, (n,). Their
        likelihood counts as well.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.arange(3000) < 1500
    >>> score = rng.normal(size=3000) + 2 * truth
    >>> a, b = fit_link(score, np.arange(3000) < 1000, np.ones(3000), 0.25, 0.25, "case-control")
    >>> round(a), round(float(expit(a * score + b)[1000:].mean()), 3)
    (2, 0.25)
    """
    rows = some_of_each(is_positive, MOST, seed=0)
    part = score[rows], is_positive[rows], kept_masses(weight, is_positive, rows)

    seen = np.zeros(0, np.intp) if outcome is None else np.flatnonzero(np.isfinite(outcome))
    of_seen = outcome is not None and outcome[seen] == 1

    def loss(log_slope: float) -> float:
        slope = float(np.exp(log_slope))
        shift = _shift(slope, *part, prior, population, scenario)
        # Checked rows were unlabelled ones.
        odds = among_unlabeled(slope * score[seen] + shift, prior, population)
        of_checked = weight[seen] @ log_expit(np.where(of_seen, odds, -odds))
        return _loss(slope, shift, *part, prior, population, scenario) - float(of_checked)

    slope = float(np.exp(minimize_scalar(loss, bounds=SLOPES, method="bounded").x))
    shift = _shift(slope, score, is_positive, weight, prior, population, scenario)
    return np.array([slope, shift])


def _shift(
    slope: float,
    score: Floats,
    is_positive: Mask,
    weight: Floats,
    prior: float,
    population: float,
    scenario: str,
) -> float:
    if scenario == "single-set":
        return matching_shift(slope * score, population, weight)
    return matching_shift(slope * score[~is_positive], prior, weight[~is_positive])


def _loss(
    slope: float,
    shift: float,
    score: Floats,
    is_positive: Mask,
    weight: Floats,
    prior: float,
    population: float,
    scenario: str,
) -> float:
    """Negative log-likelihood of which rows are labelled."""
    log_p = log_expit(slope * score + shift)
    positive, unlabeled = weight[is_positive].sum(), weight[~is_positive].sum()
    if scenario == "single-set":
        log_chance = np.log(positive / ((positive + unlabeled) * population)) + log_p
        log_chance = np.minimum(log_chance, -1e-12)
        log_other = np.log(-np.expm1(log_chance))
    else:
        log_odds = np.log(positive / unlabeled / prior) + log_p
        log_chance, log_other = log_expit(log_odds), log_expit(-log_odds)
    return -float(weight @ np.where(is_positive, log_chance, log_other))


def linked(score: Floats, link: Floats) -> Floats:
    """sigmoid(a score + b), (n,), with the slope and the shift of :func:`fit_link`."""
    probability: Floats = expit(link[0] * score + link[1])
    return probability
