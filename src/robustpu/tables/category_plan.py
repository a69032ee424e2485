"""A category: one column a value, one for the rare ones, one for missing, and how common it is."""

from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.plan import count_missing, count_unread
from robustpu.tables.tally import Tally
from robustpu.tables.texts import Coded
from robustpu.validation.arrays import array

# Values whose frequency is kept.
MOST: Final = 10_000


@dataclass(frozen=True)
class CategoryPlan:
    """1 in the column of the value; the rare and the unknown share one.

    What scikit-learn's OneHotEncoder does with ``handle_unknown="infrequent_if_exist"``: without
    rare values in training, an unknown one has 0 everywhere.

    Attributes
    ----------
    values
        Values that have a column of their own.
    has_other, has_missing
        Whether there is a column for rare values, and for missing ones.
    has_frequency
        Whether the logarithm of the value's count is a feature too.
    common
        The most frequent values of training, if not every one has a column.
    counts
        Rows of training that have them, shape (number of common,).

    Examples
    --------
    >>> plan = learn_category(Coded(np.array([0, 0, 1, -1]), pa.array(["a", "b"])), 30, 2)
    >>> plan.endings()
    [' = a', ' = (other)', ' = (missing)']
    """

    values: tuple[str, ...]
    has_other: bool
    has_missing: bool
    has_frequency: bool
    common: tuple[str, ...]
    counts: Annotated[NDArray[np.int64], array("i", (None,), 1)]
    kind: Literal["category"] = "category"

    def __post_init__(self) -> None:
        if len(set(self.values)) < len(self.values) or len(set(self.common)) < len(self.common):
            raise ValueError("has a value twice")
        if self.common and self.common[: len(self.values)] != self.values:
            raise ValueError("has common values that do not start with its values")
        if self.has_frequency and not self.common:
            raise ValueError("has no common values to count")
        if len(self.counts) != len(self.common):
            raise ValueError(f"has {len(self.common)} common values and {len(self.counts)} counts")

    def endings(self) -> list[str]:
        """See `Plan`."""
        special = [" = (other)"] * self.has_other + [" = (missing)"] * self.has_missing
        special += [": frequency"] * self.has_frequency
        return [f" = {value}" for value in self.values] + special

    def encode(self, name: str, cells: Cells, tally: Tally) -> NDArray[np.float32]:
        """See `Plan`."""
        text = cells.text
        if cells.family == "other":
            count_unread(name, self.kind, cells, tally)
        elif len(text.values):
            tally.read(name)
        known = pa.array([*self.values, *self.common[len(self.values) :]], text.values.type)
        places = _places(text.values, known)
        slots, n_slots = self._slots(places)
        out = np.zeros((len(text.codes), len(self.endings())), np.float32)
        slot = np.append(slots, n_slots - 1 if self.has_missing else -1)[text.codes]
        rows = np.flatnonzero(slot >= 0)
        out[rows, slot[rows]] = 1
        if self.has_frequency:
            logs = np.log(np.append(self.counts, [1, 1])).astype(np.float32)
            # The last two: for values that are not known, and for missing ones.
            out[:, -1] = logs[np.append(np.where(places < 0, -2, places), -1)[text.codes]]
        self._count(name, text, places, tally)
        return out

    def _slots(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """(column of each value, number of columns but for the frequency); -1 for none."""
        n = len(self.values)
        other = n if self.has_other else -1
        is_own = (places >= 0) & (places < n)
        return np.where(is_own, places, other), n + self.has_other + self.has_missing

    def _count(self, name: str, text: Coded, places: NDArray[np.int64], tally: Tally) -> None:
        if not self.has_missing:
            count_missing(name, text.codes < 0, "no value", tally)
        # Without the frequencies it is not known which rare values there were.
        is_new = places < 0
        if is_new.any() and (not self.has_other or (self.common and len(self.common) < MOST)):
            rows = int(text.counts()[is_new].sum())
            examples = text.values.filter(pa.array(is_new)).slice(0, 3).to_pylist()
            tally.add(name, "rows have values that were not in training", rows, examples)


def learn_category(text: Coded, max_categories: int, min_count: int) -> CategoryPlan | None:
    """The plan of a column, or None if there is nothing to tell its rows apart by.

    Parameters
    ----------
    text
        Its values.
    max_categories
        Most values with a column of their own, the rare ones counted as one.
    min_count
        Rows that a value needs for a column of its own.
    """
    counts = text.counts()
    names: list[str] = text.values.to_pylist()
    # By count, then by name: the order of the rows must not matter.
    order = sorted(range(len(names)), key=lambda place: (-int(counts[place]), names[place]))
    frequent = [place for place in order if counts[place] >= min_count]
    if len(frequent) > max_categories or len(frequent) < len(order):
        frequent = frequent[: max_categories - 1]
    has_other = len(frequent) < len(order)
    common = order[:MOST] if has_other else []
    has_missing = bool((text.codes < 0).any())
    if len(frequent) + has_other + has_missing < 2:
        return None
    return CategoryPlan(
        values=tuple(names[place] for place in frequent),
        has_other=has_other,
        has_missing=has_missing,
        has_frequency=len(order) > max_categories,
        common=tuple(names[place] for place in common),
        counts=counts[common].astype(np.int64),
    )


def _places(values: Any, known: Any) -> NDArray[np.int64]:
    found = pc.index_in(values, value_set=known).fill_null(-1)
    return np.asarray(found).astype(np.int64)
