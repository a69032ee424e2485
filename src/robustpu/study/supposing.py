"""What the figures would be if the share of positives were another: a section of the findings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from robustpu.metrics import Evaluation
from robustpu.metrics.rates import precision, rates_of
from robustpu.metrics.sample import Sample
from robustpu.study.judging import in_lists, smoothed
from robustpu.study.prior import Prior
from robustpu.thresholds import at_share

# Shares below and above the estimate; more below, for an estimate is rather too high.
BELOW, ABOVE = 3, 1
# A share nearer to the estimate would say the same again.
NEAR: Final = 1.15
STEPS: Final = (1, 2, 3, 5)


def suppositions_section(
    found: Evaluation | None,
    prior: Prior,
    most: float,
    ks: Sequence[int],
    n_unlabeled: int,
) -> list[dict[str, Any]]:
    """Precision, positives in lists and a cut for each of some shares, given or estimated.

    Recall and the order of the rows do not depend on the share, so only what does is here.

    Parameters
    ----------
    found
        The evaluation of held-out rows, or None.
    prior
        The share that was used.
    most
        The largest share that held-out answers allow.
    ks
        Lengths of the lists.
    n_unlabeled
        Number of unlabelled rows, of which some may not have been judged.
    """
    if found is None:
        return []
    return [_supposed(found.sample, own, ks, n_unlabeled) for own in shares(prior.value, most)]


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
    below = [own for own in steps if own * NEAR <= value]
    above = [own for own in steps if value * NEAR <= own <= most]
    return [*below[-BELOW:], value, *above[:ABOVE]]


def _supposed(sample: Sample, share: float, ks: Sequence[int], n_unlabeled: int) -> dict[str, Any]:
    own = replace(sample, prior=share, priors=(share, share))
    return {
        "share": share,
        "precision": min(1.0, precision(rates_of(own))),
        "expected": smoothed(ks, [each.value for each in in_lists(own, ks, n_unlabeled)]),
        # As many judged rows reach it as there would be positives.
        "cut": at_share(sample.unlabeled, share),
    }
