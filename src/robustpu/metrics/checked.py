"""Precision from rows that were checked, wherever in the ranking they were picked.

The share of positives at each rank has a distribution, given the ranks of labelled rows and the
outcomes of checked ones, see :mod:`robustpu.cautious`. It gives the number of positives among any
unlabelled rows, and needs no prior.
"""

import numpy as np

from robustpu.metrics.estimates import Estimate
from robustpu.metrics.sample import Floats, Sample
from robustpu.thresholds import most_likely


def precision_above(sample: Sample) -> Estimate:
    """Share of positives among the rows of the population that reach the threshold.

    Examples
    --------
    >>> from robustpu.metrics.sample import sample_of
    >>> score = np.arange(1000) / 1000
    >>> y = (np.arange(1000) % 20 == 19).astype(int)
    >>> checked = (np.arange(1000) >= 960) & (y == 0)  # Half of them turn out positive.
    >>> y[checked] = np.where(np.arange(checked.sum()) % 2, 1, -1)
    >>> sample = sample_of(y, score, prior=0.05, prior_interval=(0.01, 0.5), threshold=0.96,
    ...                    neg_label=-1, checked=checked)
    >>> found = precision_above(sample)
    >>> 0.3 < found.low < 0.5 < found.high < 0.7
    True
    """
    assert sample.posterior is not None
    reached = sample.unlabeled >= sample.threshold
    labeled = sample.labeled * float(sample.weight_labeled @ (sample.positive >= sample.threshold))
    weight = (1 - sample.labeled) * sample.weight_unlabeled[reached]
    if not len(weight):
        return Estimate(float(labeled > 0), 0.0, 1.0, float(labeled > 0), False)
    drawn = sample.posterior.draw_shares(sample.unlabeled[reached], weight)
    found = (labeled + weight.sum() * drawn) / (labeled + weight.sum())
    return _estimate(found, sample.level)


def precision_of_list(sample: Sample) -> Estimate:
    """Share of positives among the k rows with the highest scores that are still unlabelled.

    These very rows: that they are few widens the interval.
    """
    assert sample.posterior is not None
    assert sample.outcome is not None
    rows = most_likely(sample.unlabeled, np.isnan(sample.outcome), sample.k)
    if not len(rows):
        return Estimate(0.0, 0.0, 1.0, 0.0, False)
    share = sample.posterior.draw_shares(sample.unlabeled[rows], np.ones(len(rows)))
    found = np.random.default_rng(1).binomial(len(rows), share)
    return _estimate(found / len(rows), sample.level)


def _estimate(drawn: Floats, level: float) -> Estimate:
    value = float(drawn.mean())
    low, high = (float(end) for end in np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]))
    return Estimate(value, min(low, value), max(high, value), value, False)
