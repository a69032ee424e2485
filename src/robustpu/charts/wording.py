"""How numbers are written, on pages and in tables."""

import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from robustpu.scenario import NO_SHARE

SPACE = "\u00a0"
# Of every estimated share, which is the largest that the data allow.
CAVEAT = (
    "more likely too high than too low: negatives that look just like positives count as positives"
)


def counted(value: float, noun: str = "") -> str:
    """A whole number, with its noun.

    Examples
    --------
    >>> counted(99688), counted(1, "row"), counted(12, "row")
    ('99,688', '1 row', '12 rows')
    """
    number = f"{round(value):,}"
    if not noun:
        return number
    return f"{number} {noun}" if round(value) == 1 else f"{number} {noun}s"


def about(value: float) -> str:
    """A number that is not known exactly: two digits that count, or whole if it is small.

    Examples
    --------
    >>> about(2093.4), about(43.4), about(128)
    ('2,100', '43', '130')
    """
    if abs(value) < 100:
        return counted(value)
    power = 10 ** (math.floor(math.log10(abs(value))) - 1)
    return counted(round(value / power) * power)


def percent(share: float, *, places: int | None = None, sign: bool = True) -> str:
    """A share in percent, with more digits near 0 and 1.

    Parameters
    ----------
    share
        From 0 to 1.
    places
        Decimals, if they are to be others.
    sign
        Whether to write the sign.

    Examples
    --------
    >>> [percent(x, sign=False) for x in (0.81, 0.0214, 0.993, 0.00213, 1)]
    ['81', '2.1', '99.3', '0.21', '100']
    """
    value = 100 * share
    if not 0 < share < 1:
        places = 0
    elif places is None:
        places = digits(share)
    return f"{value:.{places}f}" + (f"{SPACE}%" if sign else "")


def digits(share: float, low: float | None = None, high: float | None = None) -> int:
    """Decimals that a share in percent deserves: none that its interval makes meaningless.

    Parameters
    ----------
    share, low, high
        The share, and its interval or None.

    Examples
    --------
    >>> digits(0.993), digits(0.993, 0.91, 1), digits(0.021, 0.015, 0.9), digits(1, 0.75, 1)
    (1, 0, 1, 0)
    """
    if 0.0995 <= share <= 0.9:
        return 0
    places = 1 if 0.00995 <= share < 0.9995 else 2
    if low is None or high is None or share < 0.5:
        return places
    return min(places, 0 if high - low > 0.03 else 1)


def between(value: float, low: float | None, high: float | None) -> str:
    """The interval of a share in percent; empty if it is not known.

    Examples
    --------
    >>> between(0.021, 0.015, 0.03).replace(SPACE, " ")
    '1.5 to 3.0 %'
    >>> between(0.1, 1e-9, 0.3).replace(SPACE, " ")
    'up to 30 %'
    """
    if low is None or high is None:
        return ""
    if low < NO_SHARE:
        return f"up to {percent(high)}"
    places = digits(value, low, high)
    return f"{percent(low, places=places, sign=False)} to {percent(high, places=places)}"


def number(value: float) -> str:
    """A number of any size, with three digits that count.

    Examples
    --------
    >>> number(0.41234), number(12345.6), number(-3)
    ('0.412', '12,346', '-3')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def evenly(values: Sequence[float], *, is_share: bool = False) -> Callable[[float], str]:
    """How to write the numbers of one axis or column: all with as many decimals.

    Parameters
    ----------
    values
        Round numbers; they decide how many decimals are needed.
    is_share
        Whether to write them in percent.

    Examples
    --------
    >>> list(map(evenly([0, 0.25, 1]), [0, 0.25, 1]))
    ['0.00', '0.25', '1.00']
    """
    factor, sign = (100, f"{SPACE}%") if is_share else (1, "")
    texts = [f"{factor * value:.6f}".rstrip("0").partition(".")[2] for value in values]
    places = max(map(len, texts), default=0)
    return lambda value: f"{factor * value:,.{places}f}{sign}"


def signed(value: float) -> str:
    """A change, with its sign.

    Examples
    --------
    >>> signed(0.41), signed(-1.234), signed(0.001)
    ('+0.41', '−1.23', '0.00')
    """
    written = f"{abs(value):.2f}" if abs(value) < 100 else f"{abs(value):,.0f}"
    mark = "" if float(written.replace(",", "")) == 0 else "−" if value < 0 else "+"
    return mark + written


def listed(names: Sequence[str]) -> str:
    """Names one after the other.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def moment(made: str) -> str:
    """A moment for people; what is no moment is left as it is.

    Examples
    --------
    >>> moment("2026-11-16T01:02:03+00:00")
    '16 November 2026, 01:02 UTC'
    """
    try:
        when = datetime.fromisoformat(made)
        zone = " UTC" if when.tzinfo else ""
        when = when.astimezone(UTC) if when.tzinfo else when
    except (ValueError, OverflowError):
        return made
    return f"{when.day} {when:%B %Y, %H:%M}{zone}"


def took(seconds: float) -> str:
    """How long something took.

    Examples
    --------
    >>> took(0.42), took(41.2), took(130), took(7300)
    ('0.4 s', '41 s', '2 min 10 s', '2 h 1 min')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def duration(seconds: float) -> str:
    """A duration of any length, in one unit.

    Examples
    --------
    >>> [duration(seconds) for seconds in (0.4, 75, 600, 9000, 900_000)]
    ['0.4 s', '75 s', '10 min', '2.5 h', '10 days']
    """
    for unit, size, most in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < size * most:
            return f"{seconds / size:.{1 if seconds < 10 * size else 0}f} {unit}"
    return f"{seconds / 86400:,.0f} days"
