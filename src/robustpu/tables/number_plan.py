"""A number: its value or logarithm, the median where it is missing, and whether it is missing."""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.kinds import Finding
from robustpu.tables.numbers import Decimal, read_numbers
from robustpu.tables.plan import count_missing, count_read, count_unread
from robustpu.tables.tally import Tally

# Far enough below the end of single precision that sums and differences stay in it.
LARGEST: Final = 1e30
# From this skewness on, such as that of incomes, a few rows would make all others look alike.
SKEWED: Final = 3.0
# Single precision keeps seven digits; a column that varies in the last three only is shifted.
DIGITS_LOST: Final = 1e-4


@dataclass(frozen=True)
class NumberPlan:
    """value - offset, or sign(value) log(1 + |value| / unit); and 1 where the value is missing.

    Attributes
    ----------
    kind
        "number", or "boolean": 1 for true.
    decimal
        Decimal mark of numbers in text, the one that is tried first.
    fill
        Taken where the value is missing: the median.
    offset
        Taken off, where single precision would lose what varies.
    has_value, has_missing
        Which of the two features there are.
    unit
        What logarithms are taken by, of skewed columns; 0 where values are taken as they are.
    is_flag
        Whether yes and no are 1 and 0 here, as where nothing but these numbers came in training.

    Examples
    --------
    >>> plan = learn_number("number", np.array([1.0, 3.0, np.nan]))
    >>> plan.fill, plan.endings()
    (2.0, ['', ' is missing'])
    """

    kind: Literal["number", "boolean"]
    decimal: Decimal
    fill: float
    offset: float
    has_value: bool
    has_missing: bool
    is_flag: bool = False
    unit: float = 0.0

    def __post_init__(self) -> None:
        if self.unit and not 1 / LARGEST <= self.unit <= LARGEST:
            raise ValueError(f"has a unit out of range, {self.unit:g}")

    def endings(self) -> list[str]:
        """See `Plan`."""
        return [""] * self.has_value + [" is missing"] * self.has_missing

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """See `Plan`."""
        numbers = self._numbers(name, cells, tally)
        is_missing = np.isnan(numbers)
        if not self.has_missing:
            count_missing(name, is_missing, f"the median {self.fill:g}", tally)
        values = np.where(is_missing, self.fill, np.clip(numbers, -LARGEST, LARGEST)) - self.offset
        values = np.clip(values, -LARGEST, LARGEST)
        if self.unit:
            values = signed_log(values, self.unit)
        columns = [values] * self.has_value + [is_missing] * self.has_missing
        return np.column_stack(columns).astype(np.float32)

    def decode(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """The numbers that features were made of, NaN where missing, shape (n,).

        Parameters
        ----------
        features
            As :meth:`encode` returns them.

        Examples
        --------
        >>> plan = learn_number("number", np.array([1.0, 3.0, np.nan]))
        >>> plan.decode(np.array([[3.0, 0.0], [2.0, 1.0]], np.float32)).tolist()
        [3.0, nan]
        """
        values = np.full(len(features), self.fill)
        if self.has_value:
            values = features[:, 0].astype(np.float64)
            if self.unit:
                values = signed_exp(values, self.unit)
            values = values + self.offset
        return np.where(features[:, -1] > 0, np.nan, values) if self.has_missing else values

    def _numbers(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float64]:
        """NaN where missing; each cell is read by itself, whatever the others are."""
        if cells.family == "empty":
            return np.full(cells.n_rows, np.nan)
        takes_words = self.is_flag or self.kind == "boolean"
        if cells.family not in ("text", "number", "boolean" if takes_words else "number"):
            count_unread(name, self.kind, cells, tally)
            return np.full(cells.n_rows, np.nan)
        numbers, is_present = self._parsed(cells)
        if self.kind == "boolean":
            numbers = np.where((numbers == 0) | (numbers == 1), numbers, np.nan)
        is_read = ~np.isnan(numbers)
        count_read(name, self.kind, cells, is_read, is_present & ~is_read, tally)
        return numbers

    def _parsed(self, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """(numbers, whether there is a value)."""
        plain = cells.numbers
        if plain is None and self.kind == "number" and self.decimal == ".":
            plain = cells.plain_numbers
        if plain is not None:
            return plain, ~np.isnan(plain)
        text = cells.text
        if self.kind == "boolean":
            numbers = text.booleans()
        else:
            numbers = text.spread(read_numbers(text.values, self.decimal))
        if self.is_flag:
            # A flag that is written out in words now.
            numbers = np.where(np.isnan(numbers), text.booleans(), numbers)
        return numbers, text.codes >= 0


def learn_number(
    kind: Literal["number", "boolean"], numbers: NDArray[np.float64], finding: Finding | None = None
) -> NumberPlan | None:
    """The plan of a column, or None if it has one value only.

    Parameters
    ----------
    kind
        What it holds.
    numbers
        Its values, NaN where missing, shape (n,).
    finding
        How they were read.
    """
    is_missing = np.isnan(numbers)
    present = numbers[~is_missing]
    low, high, middle = present.min(), present.max(), float(np.median(present))
    is_narrow = 0 < high - low < DIGITS_LOST * max(abs(low), abs(high))
    is_flag = kind == "number" and not (finding and finding.has_others) and _are_flags(present)
    plan = NumberPlan(
        kind=kind,
        decimal=finding.decimal if finding else ".",
        fill=middle,
        offset=middle if is_narrow else 0.0,
        has_value=bool(high > low),
        has_missing=bool(is_missing.any()),
        is_flag=is_flag,
        unit=0.0 if is_narrow or is_flag or kind == "boolean" else unit_of(present),
    )
    return plan if plan.endings() else None


def unit_of(numbers: NDArray[np.float64]) -> float:
    """Median size of the numbers that are not 0, if they are skewed and logarithms less; else 0.

    Examples
    --------
    >>> unit_of(2.0 ** np.arange(30)), unit_of(np.arange(30.0))
    (24576.0, 0.0)
    """
    numbers = np.clip(numbers, -LARGEST, LARGEST)
    raw = abs(_skewness(numbers))
    if raw < SKEWED:
        return 0.0
    unit = max(float(np.median(np.abs(numbers[numbers != 0]))), 1 / LARGEST)
    return unit if abs(_skewness(signed_log(numbers, unit))) < raw / 2 else 0.0


def signed_log(numbers: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """sign(x) log(1 + |x| / unit).

    Examples
    --------
    >>> signed_log(np.array([-1.0, 0.0, 1.0]), 1.0).round(3).tolist()
    [-0.693, 0.0, 0.693]
    """
    return np.sign(numbers) * np.log1p(np.abs(numbers) / unit)


def signed_exp(logs: NDArray[np.float64], unit: float) -> NDArray[np.float64]:
    """sign(x) (exp(|x|) - 1) * unit, the inverse of :func:`signed_log`.

    Examples
    --------
    >>> signed_exp(signed_log(np.array([-1.0, 0.0, 7.0]), 2.0), 2.0).round(9).tolist()
    [-1.0, 0.0, 7.0]
    """
    return np.sign(logs) * np.expm1(np.abs(logs)) * unit


def _skewness(numbers: NDArray[np.float64]) -> float:
    """Mean of the cubed standard scores; 0 of a constant."""
    numbers = numbers / max(float(np.abs(numbers).max()), np.finfo(np.float64).tiny)
    centred = numbers - numbers.mean()
    deviation = float(np.sqrt(np.mean(centred**2)))
    return float(np.mean(centred**3)) / deviation**3 if deviation**3 > 0 else 0.0


def _are_flags(numbers: NDArray[np.float64]) -> bool:
    return bool(((numbers == 0) | (numbers == 1)).all())
