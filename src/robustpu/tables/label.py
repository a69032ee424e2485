"""The label column: which rows are labelled positives, and which are known negatives."""

import re
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.tables.cells import Cells
from robustpu.tables.errors import TableError, many, shown
from robustpu.tables.texts import TRUE

POSITIVE: Final = frozenset({*TRUE, "positive", "pos", "+", "p", "labelled", "labeled"})
UNLABELLED: Final = frozenset(
    {"0", "-1", "false", "no", "n", "f", "off", "negative", "neg", "u", "unl", "unlabelled"}
    | {"unlabeled", "unknown", "other", "rest", "not labelled", "not labeled"}
)
FEW: Final = 10
# What programs write for whole numbers where some are missing.
WHOLE: Final = re.compile(r"^([+-]?[0-9]+)\.0+$")


@dataclass(frozen=True)
class Labels:
    """Which rows are labelled positives, and which are known negatives.

    Attributes
    ----------
    is_positive, is_negative
        Shape (n,).
    positive, negative
        The values that mark them; no negatives are known if the latter is None.
    notes
        What was taken for what.
    """

    is_positive: NDArray[np.bool_]
    is_negative: NDArray[np.bool_]
    positive: str
    negative: str | None
    notes: tuple[str, ...]

    @property
    def y(self) -> NDArray[np.int64]:
        """1 for labelled positives, -1 for known negatives, 0 for unlabelled rows, (n,)."""
        return self.is_positive.astype(np.int64) - self.is_negative


def find_labels(
    name: str, cells: Cells, positive: object = None, negative: object = None
) -> Labels:
    """Which rows of a label column are positives, or known negatives; others are unlabelled.

    Parameters
    ----------
    name
        Of the column.
    cells
        Its cells; missing ones are unlabelled.
    positive
        The value of positives; by default 1, true, yes and the like, or the only value there is.
    negative
        The value of known negatives; None if there are none.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from robustpu.tables.cells import cells_of
    >>> column = cells_of(pa.chunked_array([["fraud", "", "", "fraud", ""]]))
    >>> find_labels("label", column).is_positive.tolist()
    [True, False, False, True, False]
    """
    if cells.family == "other":
        raise TableError(f"the label column {name!r} is of type {cells.what}, expected two values.")
    text = cells.text
    counts = text.counts()
    spellings: list[str] = text.values.to_pylist()
    keys = [label_key(value) for value in spellings]
    rows: dict[str, int] = {}
    spelling: dict[str, str] = {}
    for key, value, count in zip(keys, spellings, counts, strict=True):
        rows[key] = rows.get(key, 0) + int(count)
        spelling.setdefault(key, value)
    n_missing = int((text.codes < 0).sum())
    told = _told({spelling[key]: count for key, count in rows.items()}, n_missing)
    rejected = None if negative is None else _negative_key(name, rows, negative, positive, told)
    others = {key: count for key, count in rows.items() if key != rejected}
    if rows and not others:
        raise TableError(
            f"the label column {name!r} has no labelled positives: {told}. Mark some rows with 1, "
            "or name another column as label (--label)."
        )
    chosen = _chosen(name, others, n_missing, positive, told)
    is_positive, is_negative = (
        np.array([key == wanted for key in keys] + [False])[text.codes]
        for wanted in (chosen, rejected)
    )
    if (is_positive | is_negative).all() and rejected is not None:
        raise TableError(
            f"the label column {name!r} leaves no row unlabelled ({told}), expected some. Add rows "
            "whose label is unknown, with an empty label."
        )
    if is_positive.all():
        raise TableError(
            f"the label column {name!r} marks every row as positive ({told}), expected unlabelled "
            "rows too. Add rows whose label is unknown, with an empty label."
        )
    notes = _notes(others, spelling, n_missing, chosen)
    found = None
    if rejected is not None:
        found = spelling[rejected]
        notes.append(f"label {shown(found)}: {many(rows[rejected], 'known negative')}")
    return Labels(is_positive, is_negative, spelling[chosen], found, tuple(notes))


def label_key(value: object) -> str:
    """A label, written in one way only; 01, 1 and 1e0 are three labels, as they are three texts.

    Parameters
    ----------
    value
        Of the table, or what the user says.

    Examples
    --------
    >>> label_key("1.0"), label_key(" Fraud"), label_key(True), label_key("01")
    ('1', 'fraud', 'true', '01')
    """
    return WHOLE.sub(r"\1", str(value).strip().casefold())


def _negative_key(
    name: str, rows: dict[str, int], negative: object, positive: object, told: str
) -> str:
    """The key of the label of known negatives."""
    key = label_key(negative)
    if positive is not None and label_key(positive) == key:
        raise TableError(
            f"{str(negative)!r} is given as the label of positives and of negatives, expected two "
            "values (--positive VALUE, --negative VALUE)."
        )
    if key not in rows:
        raise TableError(
            f"the label column {name!r} has no value {str(negative)!r}; it has {told}. Name the "
            "value of known negatives with negative=... (--negative VALUE), as one of these."
        )
    return key


def _chosen(name: str, rows: dict[str, int], n_missing: int, positive: Any, told: str) -> str:
    """The key of the positive label."""
    if not rows:
        raise TableError(
            f"the label column {name!r} has no values: there are no labelled positives. Mark some "
            "rows with 1, or name another column as label (--label)."
        )
    which = "Say which value marks the positives with positive=... (--positive VALUE)"
    if positive is not None:
        key = label_key(positive)
        same = [key] if key in rows else [value for value in rows if {value, key} <= set(TRUE)]
        if len(same) != 1:
            raise TableError(
                f"the label column {name!r} has no value {str(positive)!r}; it has {told}. {which}"
                ", as one of these."
            )
        return same[0]
    if len(rows) > 2:
        raise TableError(
            f"the label column {name!r} has {len(rows):,} different values, expected two, labelled "
            f"positive and unlabelled: {told}. {which}; all others then count as unlabelled."
        )
    yes = [key for key in rows if key in POSITIVE]
    no = [key for key in rows if key in UNLABELLED]
    if len(rows) == 1 and no:
        raise TableError(
            f"the label column {name!r} has no labelled positives: {told}. Mark some rows with 1, "
            "or name another column as label (--label)."
        )
    if len(rows) == 1:
        return next(iter(rows))
    # Of 1 and 2 either may be the positive one: files of both kinds exist.
    is_clear = len(no) == 1 or not all(_is_number(key) for key in rows)
    if len(yes) == 1 and is_clear:
        return yes[0]
    if len(no) == 1:
        return next(key for key in rows if key not in no)
    raise TableError(
        f"the label column {name!r} has two values, {told}; which one is not clear. {which}."
    )


def _notes(
    rows: dict[str, int], spelling: dict[str, str], n_missing: int, chosen: str
) -> list[str]:
    n_positive = rows[chosen]
    total = sum(rows.values()) + n_missing
    notes = [
        f"label {shown(spelling[chosen])}: {many(n_positive, 'labelled positive')}, "
        f"{many(total - n_positive, 'unlabelled row')}"
    ]
    others = {spelling[key]: count for key, count in rows.items() if key != chosen}
    is_plain = len(others) == 1 and next(key for key in rows if key != chosen) in UNLABELLED
    if others and not is_plain:
        notes.append(f"other labels count as unlabelled: {_told(others, 0)}")
    if n_missing:
        verb = "counts" if n_missing == 1 else "count"
        notes.append(f"{many(n_missing, 'row')} without a label {verb} as unlabelled")
    if n_positive < FEW:
        few = many(n_positive, "labelled positive")
        notes.append(f"only {few}: expect little, and check everything")
    return notes


def _told(rows: dict[str, int], n_missing: int) -> str:
    """Values and how often they come, the most frequent first."""
    order = sorted(rows.items(), key=lambda item: -item[1])
    words = [f"{shown(value)} ({many(count, 'row')})" for value, count in order[:8]]
    words += [many(len(order) - 8, "more value")] * (len(order) > 8)
    words += [f"no value ({many(n_missing, 'row')})"] * (n_missing > 0)
    return ", ".join(words)


def _is_number(key: str) -> bool:
    try:
        float(key)
    except ValueError:
        return False
    return True
