"""An estimate with its interval, and how intervals of parts become the interval of the whole."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

# What rounding may add to a value without its counting as out of range.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Estimate:
    """A metric's value and interval, cut to the metric's range.

    Attributes
    ----------
    value, low, high
        The estimate and the ends of its interval, all within the range.
    raw
        The value before it was cut.
    clipped
        Whether ``raw`` is out of range: few rows, a wrong prior, or labels that are not
        selected completely at random.

    Examples
    --------
    >>> print(Estimate(0.875, 0.8, 0.93, 0.875, False))
    0.875 [0.800, 0.930]
    """

    value: float
    low: float
    high: float
    raw: float
    clipped: bool

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def combine(
    raw: float, ends: Sequence[tuple[float, float]], bounds: tuple[float, float]
) -> Estimate:
    """raw - sqrt(sum of (raw - lowest end)^2), and likewise above; then cut to the range.

    A value out of range is moved to the end of the range, and its interval shrinks in proportion:
    the cut takes no doubt away.

    The variance-recovery method (Zou and Donner, 2008): a metric depends on independent parts,
    each with an interval. Move one part to the ends of its interval and keep the others: that is
    how far this part alone can lead the metric astray.

    Parameters
    ----------
    raw
        The metric's value.
    ends
        For each part, the metric at both ends of the part's interval, in any order.
    bounds
        Smallest and largest value that the metric can have.

    Examples
    --------
    >>> print(combine(0.9, [(0.87, 0.93), (0.86, 0.94)], (0, 1)))
    0.900 [0.850, 0.950]
    >>> print(combine(2.0, [(1.5, 2.5)], (0, 1)))
    1.000 [0.750, 1.000]
    """
    below = math.hypot(*(raw - min(raw, *pair) for pair in ends))
    above = math.hypot(*(max(raw, *pair) - raw for pair in ends))
    least, most = bounds
    value = min(max(raw, least), most)
    # 1 unless the value is out of range.
    shrunk = (most - least) / max(raw - least, most - raw, most - least)
    low = max(least, value - shrunk * below)
    high = min(most, value + shrunk * above)
    return Estimate(value, low, high, raw, abs(raw - value) > ROUNDING * max(1.0, abs(value)))


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """The estimate of ``factor`` times the metric.

    Examples
    --------
    >>> print(scaled(Estimate(0.5, 0.4, 0.6, 0.5, False), 10))
    5.000 [4.000, 6.000]
    """
    return Estimate(
        value=factor * estimate.value,
        low=factor * estimate.low,
        high=factor * estimate.high,
        raw=factor * estimate.raw,
        clipped=estimate.clipped,
    )


def widened(estimate: Estimate, room: tuple[float, float]) -> Estimate:
    """The estimate with an interval that holds ``room`` as well.

    Examples
    --------
    >>> print(widened(Estimate(1.0, 1.0, 1.0, 1.7, True), (0.8, 1.0)))
    1.000 [0.800, 1.000]
    """
    low, high = min(estimate.low, room[0]), max(estimate.high, room[1])
    return replace(estimate, low=low, high=high)


def wilson(share: float, rows: float, z: float) -> tuple[float, float]:
    """(p + z^2/2n -+ z sqrt(p (1-p)/n + z^2/4n^2)) / (1 + z^2/n), the interval of a share.

    It is sound for shares of 0 and 1 too, where the usual p -+ z sqrt(p (1-p)/n) has no width.

    Parameters
    ----------
    share
        The share found.
    rows
        Number of rows that it was found on.
    z
        Half the width, in standard errors.

    Examples
    --------
    >>> low, high = wilson(1.0, 20, 1.645)
    >>> round(low, 3), round(high, 3)
    (0.881, 1.0)
    """
    extra = z * z / rows
    middle = share + extra / 2
    half = math.sqrt(max(0.0, extra * share * (1 - share) + extra * extra / 4))
    return max(0.0, (middle - half) / (1 + extra)), min(1.0, (middle + half) / (1 + extra))
