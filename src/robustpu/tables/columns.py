"""What is known of each column of the fitted table, for the report."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

import numpy as np

from robustpu.tables.category_plan import CategoryPlan, learn_category
from robustpu.tables.cells import Cells
from robustpu.tables.date_plan import DatePlan, learn_date
from robustpu.tables.errors import many, shown
from robustpu.tables.kinds import Finding, Found, Kind, find_kind, force_kind
from robustpu.tables.no_dates import find_nones, without
from robustpu.tables.number_plan import LARGEST, NumberPlan, learn_number
from robustpu.tables.plan import Plan
from robustpu.tables.text_plan import TextPlan, learn_text
from robustpu.validation.schema import Place, number, record

PLANS: Final[dict[str, Any]] = {
    "number": NumberPlan,
    "boolean": NumberPlan,
    "category": CategoryPlan,
    "date": DatePlan,
    "text": TextPlan,
}
KEEP: Final = "; give it a kind to keep it, such as kinds={{{0!r}: 'category'}} (--kind)"
ID: Final = "left out: it seems to be an id"


def read_plan(value: Any, place: Place) -> Plan | None:
    """Read the stored plan of a column; None if the column has no features."""
    if value is None:
        return None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in PLANS:
        place.refuse("has no known kind")
    plan: Plan = record(PLANS[kind])(value, place)
    return plan if plan.endings() else place.refuse("has no features")


@dataclass(frozen=True)
class Column:
    """A column of the fitted table and what was done with it.

    Attributes
    ----------
    name
        Its name.
    kind
        number, boolean, category, date, text; or, without features, id, constant, empty, nested,
        drop.
    missing
        Share of rows without a value.
    different
        Number of different values.
    done
        What becomes of it, in words.
    notes
        What was noticed.
    alarm
        Why it may give the label away; empty if it does not.
    plan
        How it becomes features; None if it does not.
    """

    name: str
    kind: Found
    missing: Annotated[float, number(0, 1)]
    different: Annotated[int, number(0, whole=True)]
    done: str
    notes: tuple[str, ...] = ()
    alarm: str = ""
    plan: Annotated[Plan | None, read_plan] = None

    def __post_init__(self) -> None:
        if self.plan is not None and self.plan.kind != self.kind:
            raise ValueError(f"is of kind {self.kind}, but its plan of kind {self.plan.kind}")


@dataclass(frozen=True)
class Settings:
    """How columns are turned into features; see `Vectorizer`."""

    max_categories: int
    min_count: int
    text_components: int
    random_state: int


def learn_column(name: str, cells: Cells, kind: Kind | None, settings: Settings) -> Column:
    """Learn what becomes of a column.

    Parameters
    ----------
    name
        Its name.
    cells
        Its cells.
    kind
        What it holds, if the user says so.
    settings
        See `Vectorizer`.
    """
    if kind is None:
        finding = find_kind(name, cells, settings.max_categories)
    else:
        finding = force_kind(name, cells, kind)
    finding = _dated(_cut(_worded(name, cells, finding)))
    missing, different = _counted(cells, finding)
    known: dict[str, Any] = {
        "name": name,
        "missing": missing,
        "different": different,
        "notes": finding.notes,
    }
    if finding.kind == "id":
        notes = tuple(f"{ID}, {reason}" for reason in finding.notes)
        return Column(**known | {"notes": notes}, kind="id", done=ID + KEEP.format(name))
    if finding.kind == "nested":
        return Column(**known, kind="nested", done="left out: lists, maps and bytes are not read")
    if finding.kind == "drop":
        return Column(**known, kind="drop", done="left out, as you said")
    if finding.kind == "empty" or missing == 1:
        return Column(**known, kind="empty", done="left out: it has no values")
    if finding.kind == "text" and different == 1:
        finding = replace(finding, kind="category")
    plan = _plan(cells, finding, settings)
    if plan is not None:
        return Column(**known, kind=finding.kind, done=_done(plan), plan=plan)
    if different == 1:
        return Column(**known, kind="constant", done="left out: it has one value only")
    done = f"left out: fewer than two of its values have {settings.min_count} rows"
    return Column(**known, kind=finding.kind, done=done)


def _plan(cells: Cells, finding: Finding, settings: Settings) -> Plan | None:
    if finding.kind in ("number", "boolean") and finding.numbers is not None:
        kind: Any = finding.kind
        return learn_number(kind, finding.numbers, finding)
    if finding.kind == "date" and finding.dates is not None:
        return learn_date(finding.dates, finding.form, finding.nones)
    text = cells.text
    if finding.kind == "text":
        return learn_text(text, settings.text_components, settings.random_state)
    return learn_category(text, settings.max_categories, settings.min_count)


def _worded(name: str, cells: Cells, finding: Finding) -> Finding:
    """Say that words such as none, which may be values, were taken for missing."""
    if finding.kind not in ("category", "text") or cells.family != "text":
        return finding
    words = ", ".join(f"{shown(word)} ({many(count, 'row')})" for word, count in cells.text.words)
    if not words:
        return finding
    note = f"taken for missing: {words}. If that is a value, write it otherwise, as 'no {name}'"
    return replace(finding, notes=(*finding.notes, note))


def _cut(finding: Finding) -> Finding:
    """Bring numbers into the range of single precision, and say so."""
    if finding.numbers is None:
        return finding
    count = int((np.abs(finding.numbers) > LARGEST).sum())
    if not count:
        return finding
    verb = "is" if count == 1 else "are"
    what = f"{many(count, 'value')} beyond {LARGEST:.2g} {verb} cut to that"
    note = f"{what}; give them in larger units"
    numbers = np.clip(finding.numbers, -LARGEST, LARGEST)
    return replace(finding, numbers=numbers, notes=(*finding.notes, note))


def _dated(finding: Finding) -> Finding:
    """Take dates that mean none for missing, and say so."""
    nones = () if finding.dates is None else find_nones(finding.dates)
    if finding.dates is None or not nones:
        return finding
    dates = without(finding.dates, nones)
    count = int((np.isnat(dates) & ~np.isnat(finding.dates)).sum())
    days = ", ".join(str(np.datetime64(date, "us").astype("datetime64[D]")) for date in nones)
    note = (
        f"{days}, far off all other dates, in {many(count, 'cell')}, seems to mean that there is "
        "none, and counts as missing"
    )
    return replace(finding, dates=dates, nones=nones, notes=(*finding.notes, note))


def _counted(cells: Cells, finding: Finding) -> tuple[float, int]:
    """(share of missing rows, number of different values)."""
    if finding.kind in ("nested", "drop", "empty"):
        return 1.0 if finding.kind == "empty" else cells.column.null_count / cells.n_rows, 0
    if finding.numbers is not None:
        is_missing = np.isnan(finding.numbers)
        values: Any = finding.numbers[~is_missing]
    elif finding.dates is not None:
        is_missing = np.isnat(finding.dates)
        values = finding.dates[~is_missing]
    else:
        text = cells.text
        return float(np.mean(text.codes < 0)), len(text.values)
    return float(np.mean(is_missing)), len(np.unique(values))


def _done(plan: Any) -> str:
    """What becomes of a column with features, in words."""
    if isinstance(plan, NumberPlan):
        words = ["1 for true, 0 for false" if plan.kind == "boolean" else "taken as it is"]
        if not plan.has_value:
            return "whether it is missing; it has one value only"
        if plan.unit:
            words = [f"its logarithm, in units of {plan.unit:g}, for it is skewed"]
        if plan.offset:
            words.append(f"less its median {plan.offset:g}, to keep its digits")
        if plan.has_missing:
            words.append(f"missing values are the median {plan.fill:g}, and marked")
        return "; ".join(words)
    if isinstance(plan, CategoryPlan):
        n = len(plan.values)
        words = [f"one column for each of {n} values" if n > 1 else f"{n} column for {n} value"]
        words += ["one for the rare ones"] * plan.has_other
        words += ["one for missing ones"] * plan.has_missing
        words += ["and how frequent the value is"] * plan.has_frequency
        return ", ".join(words)
    if isinstance(plan, DatePlan):
        words = ["days before the latest date" if part == "days" else part for part in plan.parts]
        return ", ".join(words + ["whether it is missing"] * plan.has_missing)
    numbers = many(len(plan.components), "number")
    words = [f"words and pairs of words in {numbers}", "its length"]
    return ", ".join(words + ["whether it is missing"] * plan.has_missing)
