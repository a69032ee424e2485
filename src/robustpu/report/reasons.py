"""Why a row is on the list: columns with their values, in words and as bars for and against."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from markupsafe import Markup

from robustpu.charts.wording import SPACE, number, percent
from robustpu.report.markup import LENGTHS, element, strip
from robustpu.results import OTHER, Driver, Profile, Spread, Suspect

NAME: Final = 32
VALUE: Final = 80
EPOCH: Final = date(1970, 1, 1)
# A number with more decimals than anybody reads.
DIGITS: Final = re.compile(r"-?\d{1,6}\.\d{7,}")


class Span(NamedTuple):
    """The largest effects against and for a row: all bars of the list are on this one scale."""

    against: float
    support: float

    @property
    def whole(self) -> float:
        """What the whole width stands for; 0 if there are no reasons."""
        return self.against + self.support

    @property
    def zero(self) -> str:
        """The class of the place where bars start."""
        return f"z{round(LENGTHS * self.against / self.whole)}" if self.whole else ""


def span_of(found: Sequence[Suspect]) -> Span:
    """The scale of the bars of a list."""
    effects = [driver.effect for suspect in found for driver in reasons(suspect)]
    return Span(-min(0.0, *effects, 0.0), max(0.0, *effects, 0.0))


def reasons(suspect: Suspect) -> tuple[Driver, ...]:
    """What speaks for a row, and what speaks against it."""
    return (*suspect.drivers[:3], *suspect.against[:2])


def reason(driver: Driver, span: Span, profiles: Mapping[str, Profile]) -> Markup:
    """A line: a bar, the column, its value, and how usual that is.

    Parameters
    ----------
    driver
        What it is about.
    span
        The scale of the bars.
    profiles
        By column.
    """
    side, sense = ("down", "against") if driver.effect < 0 else ("up", "for")
    profile = profiles.get(driver.column)
    why = "" if profile is None else unusual(driver.value, profile)
    return element(
        "p",
        strip(abs(driver.effect) / span.whole, side, f"speaks {sense} it"),
        element("bdi", cut(driver.column, NAME)),
        " ",
        element("b", element("bdi", cut(driver.value, VALUE) or "missing")),
        element("small", f" {why}") if why else None,
    )


def unusual(value: str, profile: Profile) -> str:
    """How a value compares with those of the rows that are not at the top.

    Parameters
    ----------
    value
        As it stands in the table.
    profile
        Of its column.
    """
    others = profile.others
    if profile.kind == "word":
        return ""
    if profile.kind == "value":
        return _frequency(value.strip(), profile)
    if not value:
        return _common(others.missing, others)
    place = _number(value, profile.kind)
    if place is None or not others.quantiles:
        return ""
    lowest, low, _, high, highest = others.quantiles
    words = {"date": ("early", "late")}.get(profile.kind, ("low", "high"))
    level = words[place > high] if place < low or place > high else ""
    if level and (place < lowest or place > highest):
        level = f"very {level}"
    usual = f"usual: {written(low, profile.kind)} to {written(high, profile.kind)}"
    if written(low, profile.kind) == written(high, profile.kind):
        usual = f"usual: {written(low, profile.kind)}"
    return f"{level}; {usual}" if level else usual


def _frequency(value: str, profile: Profile) -> str:
    if value in profile.values:
        return _common(profile.others.counts[profile.values.index(value)], profile.others)
    if OTHER in profile.values and value:
        return ""
    # All values are known: this one is a word for none.
    return _common(profile.others.missing, profile.others)


def _common(count: int, others: Spread) -> str:
    share = count / max(1, others.total)
    return f"as {percent(share)} of the other rows" if share else "no other row has it"


def written(value: float, kind: str) -> str:
    """A number or a date of a profile.

    Examples
    --------
    >>> written(19723.2, "date"), written(0.123456, "number")
    ('2024-01-01', '0.123')
    """
    if kind != "date":
        return number(value)
    try:
        return (EPOCH + timedelta(days=value)).isoformat()
    except OverflowError:
        return number(value)


def cut(words: str, most: int) -> str:
    """A text of limited length; of numbers six digits count.

    Examples
    --------
    >>> cut("claims", 4), cut("0.8173076923076923", 60)
    ('cla…', '0.817308')
    """
    if DIGITS.fullmatch(words):
        return f"{float(words):.6g}"
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _number(value: str, kind: str) -> float | None:
    try:
        if kind == "date":
            return float((date.fromisoformat(value[:10]) - EPOCH).days)
        return float(value.replace(",", "").replace(SPACE, ""))
    except ValueError:
        return None
