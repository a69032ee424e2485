"""Dates that mean that there is none: 9999-12-31 for a contract without an end."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

# How often such a date must come: a share of the dates, and a number of them.
SHARE: Final = 0.01
LEAST: Final = 20
# How far it must be from the middle half of the other dates, in widths of that half and in days.
WIDTHS: Final = 10.0
DAYS: Final = 3652.5
# Those that programs put where there is no date must only be off; days of 1970.
KNOWN: Final = tuple(
    int(np.datetime64(day, "D").astype(np.int64))
    for day in ("1900-01-01", "1899-12-30", "1899-12-31", "1970-01-01")
)
YEARS: Final = (1, 9999)
WIDTHS_KNOWN: Final = 2.0
DAY: Final = 86_400_000_000


def find_nones(dates: NDArray[np.datetime64]) -> tuple[int, ...]:
    """Dates that come often and lie far off all others, in microseconds since 1970.

    Parameters
    ----------
    dates
        NaT where missing, shape (n,).

    Examples
    --------
    >>> days = np.arange("2022-01-01", "2022-03-01", dtype="datetime64[D]")
    >>> dates = np.append(days, [np.datetime64("2099-12-31")] * 25).astype("datetime64[us]")
    >>> [str(np.datetime64(date, "us"))[:10] for date in find_nones(dates)]
    ['2099-12-31']
    """
    present = dates[~np.isnat(dates)].astype("datetime64[us]").astype(np.int64)
    values, counts = np.unique(present, return_counts=True)
    is_often = (counts >= LEAST) & (counts >= SHARE * len(present))
    if not is_often.any() or len(values) < 2:
        return ()
    is_known = is_often & _are_known(values)
    found: list[int] = []
    # Others are compared with the dates that are not placeholders.
    for place in [*np.flatnonzero(is_known), *np.flatnonzero(is_often & ~is_known)]:
        is_other = ~is_known & ~np.isin(values, found)
        is_other[place] = False
        if is_other.any() and _is_far(values, counts, is_other, place, bool(is_known[place])):
            found.append(int(values[place]))
    return tuple(sorted(found))


def without(dates: NDArray[np.datetime64], nones: Sequence[int]) -> NDArray[np.datetime64]:
    """Dates, NaT for those that mean none, shape (n,).

    Parameters
    ----------
    dates
        In microseconds, shape (n,).
    nones
        What `find_nones` found.

    Examples
    --------
    >>> dates = np.array(["1970-01-01", "2024-01-01"], "datetime64[us]")
    >>> np.isnat(without(dates, [0])).tolist()
    [True, False]
    """
    if not nones:
        return dates
    is_none = np.isin(dates.astype(np.int64), np.array(nones, np.int64))
    return np.where(is_none, np.datetime64("NaT", "us"), dates)


def _are_known(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    stamps = values.astype("datetime64[us]")
    years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    return np.isin(values // DAY, KNOWN) | np.isin(years, YEARS)


def _is_far(
    values: NDArray[np.int64],
    counts: NDArray[np.int64],
    is_other: NDArray[np.bool_],
    place: int,
    is_known: bool,
) -> bool:
    rows = np.cumsum(counts[is_other])
    others = values[is_other]
    low, high = (
        int(others[np.searchsorted(rows, share * rows[-1], side="left")]) for share in (0.25, 0.75)
    )
    far = max(low - int(values[place]), int(values[place]) - high)
    widths = WIDTHS_KNOWN if is_known else WIDTHS
    return far > widths * (high - low) and far > DAYS * DAY
