"""A date: how long before the latest one, and its month, day, weekday and hour."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import FIRST, LAST, Cells
from robustpu.tables.dates import FORMATS, parse_dates
from robustpu.tables.no_dates import without
from robustpu.tables.plan import count_missing, count_read, count_unread
from robustpu.tables.tally import Tally
from robustpu.validation.schema import number, one_of

DAY: Final = np.timedelta64(86_400_000_000, "us")
Part: TypeAlias = Literal["days", "month", "day", "weekday", "hour"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
MICROSECONDS: Final = number(FIRST, LAST, whole=True)


@dataclass(frozen=True)
class DatePlan:
    """Days since the reference, month 1 to 12, day 1 to 31, weekday 0 (Monday) to 6, hour.

    Attributes
    ----------
    form
        How dates are written in text.
    reference
        The latest date of training, in microseconds since 1970, where ``days`` is 0.
    fill
        Taken where the date is missing: the median.
    parts
        Which features there are: those that vary in training.
    has_missing
        Whether there is one for missing dates.
    nones
        Dates that mean that there is none, in microseconds since 1970.

    Examples
    --------
    >>> dates = np.array(["2024-01-31", "2024-02-01"], "datetime64[us]")
    >>> plan = learn_date(dates, "year-month-day")
    >>> plan.endings()
    [': days', ': month', ': day', ': weekday']
    """

    form: Annotated[str, one_of(*FORMATS)]
    reference: Annotated[int, MICROSECONDS]
    fill: Annotated[int, MICROSECONDS]
    parts: tuple[Part, ...]
    has_missing: bool
    nones: tuple[Annotated[int, MICROSECONDS], ...] = ()
    kind: Literal["date"] = "date"

    def __post_init__(self) -> None:
        if len(set(self.parts)) < len(self.parts):
            raise ValueError("has a part twice")

    def endings(self) -> list[str]:
        """See `Plan`."""
        return [f": {part}" for part in self.parts] + [" is missing"] * self.has_missing

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """See `Plan`."""
        dates = self._dates(name, cells, tally)
        is_missing = np.isnat(dates)
        fill = np.datetime64(self.fill, "us")
        if not self.has_missing:
            count_missing(name, is_missing, f"the median {fill.astype('datetime64[D]')}", tally)
        values = date_parts(np.where(is_missing, fill, dates), np.datetime64(self.reference, "us"))
        columns = [values[part] for part in self.parts] + [is_missing] * self.has_missing
        return np.column_stack(columns).astype(np.float32)

    def decode(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The dates that features were made of, in days since 1970, NaN where missing, shape (n,).

        Parameters
        ----------
        features
            As :meth:`encode` returns them.

        Examples
        --------
        >>> dates = np.array(["1970-01-02", "1970-02-01"], "datetime64[us]")
        >>> learn_date(dates, "year-month-day").decode(np.array([[-30.0, 1, 2, 4]])).tolist()
        [1.0]
        """
        if "days" not in self.parts:
            return np.full(len(features), np.nan)
        latest = np.timedelta64(self.reference, "us") / DAY
        days = latest + features[:, self.parts.index("days")].astype(np.float64)
        return np.where(features[:, -1] > 0, np.nan, days) if self.has_missing else days

    def _dates(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.datetime64]:
        nothing = np.full(cells.n_rows, np.datetime64("NaT"), "datetime64[us]")
        if cells.family == "empty":
            return nothing
        is_day = self.form == "yearmonthday" and cells.family == "number"
        if cells.family not in ("text", "date") and not is_day:
            count_unread(name, self.kind, cells, tally)
            return nothing
        if cells.dates is not None:
            dates, is_present = cells.dates, ~np.isnat(cells.dates)
        else:
            text = cells.text
            dates, is_present = text.spread(parse_dates(text.values, self.form)), text.codes >= 0
        is_read = ~np.isnat(dates)
        count_read(name, self.kind, cells, is_read, is_present & ~is_read, tally)
        return without(dates, self.nones)


def learn_date(
    dates: NDArray[np.datetime64], form: str, nones: tuple[int, ...] = ()
) -> DatePlan | None:
    """The plan of a column, or None if it has one date only.

    Parameters
    ----------
    dates
        NaT where missing, shape (n,).
    form
        How they are written in text.
    nones
        Dates that mean that there is none, which are NaT already.
    """
    is_missing = np.isnat(dates)
    present = np.sort(dates[~is_missing]).astype("datetime64[us]")
    values = date_parts(present, present[-1])
    parts = [part for part in PARTS if values[part].min() < values[part].max()]
    if "day" not in parts and "weekday" in parts:
        # Months or years, written as their first day.
        parts.remove("weekday")
    plan = DatePlan(
        form=form,
        reference=int(present[-1].astype(np.int64)),
        fill=int(present[len(present) // 2].astype(np.int64)),
        parts=tuple(parts),
        has_missing=bool(is_missing.any()),
        nones=nones,
    )
    return plan if plan.endings() else None


def date_parts(
    dates: NDArray[np.datetime64], reference: np.datetime64
) -> dict[str, NDArray[np.float64]]:
    """The parts of dates by their names.

    Parameters
    ----------
    dates
        None missing, shape (n,).
    reference
        Where ``days`` is 0.

    Examples
    --------
    >>> dates = np.array(["2024-02-29T13:00"], "datetime64[us]")
    >>> parts = date_parts(dates, np.datetime64("2024-03-01"))
    >>> {name: float(value[0]) for name, value in parts.items()}
    {'days': -0.4583..., 'month': 2.0, 'day': 29.0, 'weekday': 3.0, 'hour': 13.0}
    """
    days = dates.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    return {
        "days": (dates - reference) / DAY,
        "month": months.astype(np.int64) % 12 + 1.0,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1.0,
        # The first day of 1970 was a Thursday.
        "weekday": (days.astype(np.int64) + 3.0) % 7,
        "hour": (dates - days).astype(np.int64) // 3_600_000_000 * 1.0,
    }
