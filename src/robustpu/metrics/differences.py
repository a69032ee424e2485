"""Is one ranking better than another? The same rows, and no share of positives."""

import math

from numpy.typing import ArrayLike

from robustpu.labels import Label
from robustpu.metrics.estimates import Estimate, combine
from robustpu.metrics.ranking import placements, quantile, standard_error
from robustpu.metrics.sample import sample_of


def auc_difference(
    y: ArrayLike,
    first: ArrayLike,
    second: ArrayLike,
    *,
    pos_label: Label | None = None,
    level: float = 0.9,
) -> Estimate:
    """A of the first scores minus A of the second, the chances that a P row outranks a U row.

    If labels are selected completely at random, this is 1 - prior times the difference of the
    areas under the true ROC curves: its sign needs no prior. The interval is DeLong's for two
    rankings of the same rows; that models would differ on other training rows is not in it.

    Parameters
    ----------
    y
        Two labels, labelled positive and unlabelled, as in fit; shape (n,).
    first, second
        Scores of models that were not fitted on these rows; shape (n,).
    pos_label
        The label of the labelled positives; by default the larger.
    level
        Chance with which the interval holds the truth.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> y = np.arange(1_000) < 200
    >>> good, bad = random.normal(y, 1), random.normal(0.5 * y, 1)
    >>> print(auc_difference(y, good, bad))
    0.129 [0.083, 0.174]
    """
    # Neither A depends on the prior.
    samples = [
        sample_of(y, score, prior=0.5, pos_label=pos_label, level=level)
        for score in (first, second)
    ]
    (wins, losses), (other_wins, other_losses) = map(placements, samples)
    sample = samples[0]
    value = float(sample.weight_positive @ (wins - other_wins))
    error = math.hypot(
        standard_error(wins - other_wins, sample.weight_positive),
        standard_error(losses - other_losses, sample.weight_unlabeled),
    )
    half = quantile(sample) * error
    return combine(value, [(value - half, value + half)], (-1.0, 1.0))
