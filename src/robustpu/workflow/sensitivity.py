"""What the results would be with another share of positives among the unlabelled rows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from robustpu.metrics import Evaluation
from robustpu.metrics.folds import Apart
from robustpu.metrics.rates import precision, rates_of
from robustpu.metrics.sample import Sample
from robustpu.results import Prior, SharePoint
from robustpu.thresholds import at_share
from robustpu.workflow.evaluation import list_hits

# Shares below and above the estimate; more below, since an estimate is rather too high.
BELOW, ABOVE = 3, 1
# A share nearer to the estimate would add nothing.
NEAR: Final = 1.15
STEPS: Final = (1, 2, 3, 5)
POSSIBLE: Final = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7)


def prior_sensitivity(
    evaluation: Evaluation | None,
    prior: Prior,
    most: float,
    ks: Sequence[int],
    n_unlabeled: int,
    apart: Apart | None = None,
) -> tuple[SharePoint, ...]:
    """Precision, positives in lists and a cutoff for some shares around the one that was used.

    Recall and the order of the rows do not depend on the share.

    Parameters
    ----------
    evaluation
        Of the held-out rows, or None.
    prior
        The share that was used.
    most
        The largest share that held-out scores allow.
    ks
        Lengths of the lists.
    n_unlabeled
        Number of unlabelled rows, of which some may not be held out.
    apart
        How far fits differ, to widen the intervals by.
    """
    # Checked rows tell the positives of a list whatever the share is.
    if evaluation is None or evaluation.sample.posterior is not None:
        return ()
    sample = evaluation.sample
    chosen = shares(prior.value, most) if prior.is_known else possible_shares(prior, most)
    return tuple(_point(sample, share, ks, n_unlabeled, apart) for share in chosen)


def possible_shares(prior: Prior, most: float) -> list[float]:
    """Round shares from 0.5 % up to the end of the interval, if the share is not known.

    Parameters
    ----------
    prior
        With its interval.
    most
        The largest that is allowed.

    Examples
    --------
    >>> possible_shares(Prior("estimated", 0.06, 0.02, 0.2, is_known=False), 0.3)
    [0.005, 0.01, 0.02, 0.05, 0.1, 0.2]
    """
    end = min(most, prior.high if prior.high is not None else most)
    found = [share for share in POSSIBLE if share <= end * NEAR]
    return found or [min(end, POSSIBLE[0])]


def shares(value: float, most: float) -> list[float]:
    """The share that was used with round ones around it, none above what is allowed.

    Parameters
    ----------
    value
        The share that was used.
    most
        The largest that is allowed.

    Examples
    --------
    >>> shares(0.15, 0.22)
    [0.03, 0.05, 0.1, 0.15, 0.2]
    """
    steps = [round(step * 10.0**power, 9) for power in range(-6, 0) for step in STEPS]
    below = [step for step in steps if step * NEAR <= value]
    above = [step for step in steps if value * NEAR <= step <= most]
    return [*below[-BELOW:], value, *above[:ABOVE]]


def _point(
    sample: Sample, share: float, ks: Sequence[int], n_unlabeled: int, apart: Apart | None
) -> SharePoint:
    changed = replace(sample, prior=share, priors=(share, share))
    hits = list_hits(changed, ks, n_unlabeled, apart)
    expected, low, high = zip(*hits, strict=True) if hits else ((), (), ())
    return SharePoint(
        share=share,
        precision=float(min(1.0, precision(rates_of(changed)))),
        cutoff=float(at_share(sample.unlabeled, share)),
        expected=expected,
        low=low,
        high=high,
    )
