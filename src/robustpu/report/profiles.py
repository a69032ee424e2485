"""A column at the top of the list and in the other rows: a sentence, and a picture."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from markupsafe import Markup

from robustpu.charts.svg import ticks
from robustpu.charts.wording import evenly, number, percent
from robustpu.report.markup import Child
from robustpu.report.plot import box, plot, rule, words
from robustpu.report.reasons import cut, written
from robustpu.results import OTHER, Profile, Spread

Write: TypeAlias = Callable[[float], str]

HEIGHT: Final = 64
LINE: Final = 30
NAME: Final = 34
# Of a value, so that there is room for its numbers.
LABEL: Final = 18
VALUES: Final = 5
# Chance that a row of the list has the larger value, from which on it is said so.
CLEAR: Final = 0.57
# A value is typical of the list if it has this share of it, and so many times that of the others.
SHARE: Final = 0.05
TIMES: Final = 1.3
MISSING: Final = "missing"
# Percent of the width that numbers below it have, if that word stands beside them.
CLEAR_OF: Final = 72


def direction(profile: Profile) -> str:
    """How the rows of the list differ from the others, in a sentence.

    Parameters
    ----------
    profile
        Of a column.
    """
    if profile.values:
        return _typical_value(profile)
    listed, others = profile.listed, profile.others
    middle = written(listed.quantiles[2], profile.kind), written(others.quantiles[2], profile.kind)
    typical = f"typically {middle[0]}, elsewhere {middle[1]}"
    larger = above(listed, others)
    lower, higher = ("earlier", "later") if profile.kind == "date" else ("lower", "higher")
    if larger >= CLEAR:
        return f"{higher.capitalize()} at the top: {typical}."
    if larger <= 1 - CLEAR:
        return f"{lower.capitalize()} at the top: {typical}."
    return f"No clear direction alone: {typical}."


def draw(profile: Profile) -> Markup:
    """A histogram, or bars of the frequent values.

    Parameters
    ----------
    profile
        Of a column.
    """
    return _values(profile) if profile.values else _histogram(profile)


def above(listed: Spread, others: Spread) -> float:
    """Chance that a row of the list has a larger value than another row, from the bins.

    Examples
    --------
    >>> above(Spread((0, 10), 0), Spread((10, 10), 0))
    0.75
    """
    below, chance = 0.0, 0.0
    for one, other in zip(listed.counts, others.counts, strict=True):
        chance += one * (below + other / 2)
        below += other
    return chance / max(1.0, below * sum(listed.counts))


def _typical_value(profile: Profile) -> str:
    gains = [
        (one - other, name, one, other)
        for name, one, other in _values_of(profile)
        if one >= SHARE and one >= TIMES * other and name != OTHER
    ]
    if not gains:
        return f"No {profile.kind} stands out alone."
    _, name, one, other = max(gains)
    value = MISSING if name == MISSING else f"“{cut(name, NAME)}”"
    return f"More often {value} at the top: {percent(one)}, elsewhere {percent(other)}."


def _values_of(profile: Profile) -> list[tuple[str, float, float]]:
    """(value or word, its share at the top, its share elsewhere), missing ones last."""
    groups = profile.listed, profile.others
    counts = zip(
        (*profile.values, MISSING),
        *((*group.counts, group.missing) for group in groups),
        strict=True,
    )
    totals = [max(1, group.total) for group in groups]
    found = [(name, one / totals[0], other / totals[1]) for name, one, other in counts]
    return found if any(found[-1][1:]) else found[:-1]


def _shares(profile: Profile, place: int) -> tuple[float, float]:
    one, other = (
        group.counts[place] / max(1, group.total) for group in (profile.listed, profile.others)
    )
    return one, other


def _histogram(profile: Profile) -> Markup:
    """The list in front of the other rows, each as shares of its rows."""
    bins = len(profile.edges) - 1
    shares = [_shares(profile, place) for place in range(bins)]
    missing = [group.missing / max(1, group.total) for group in (profile.listed, profile.others)]
    if any(missing):
        # A gap, and a bin of its own.
        shares += [(0.0, 0.0), (missing[0], missing[1])]
    wide, tall = 100 / len(shares), HEIGHT / (max(map(max, shares)) or 1)
    bars = []
    for place, (one, other) in enumerate(shares):
        at = place * wide
        bars.append(box(at, HEIGHT - tall * other, 0.94 * wide, tall * other, "bar grey"))
        bars.append(box(at + 0.22 * wide, HEIGHT - tall * one, 0.5 * wide, tall * one, "bar warm"))
    marks = [words(MISSING, 100, HEIGHT + 15, "end")] if any(missing) else []
    base = rule(0, HEIGHT, 100, HEIGHT)
    return plot(
        HEIGHT, _title(profile), bars, base, _feet(profile, wide * bins), marks, kind="histogram"
    )


def _feet(profile: Profile, width: float) -> list[Markup]:
    marks, write = _marks(profile)
    places = np.interp(marks, profile.edges, np.linspace(0, width, len(profile.edges)))
    # There has to be room for the word at the right.
    most = 100 if width == 100 else CLEAR_OF
    return [
        words(write(mark), float(place), HEIGHT + 15, "middle")
        for mark, place in zip(marks, places, strict=True)
        if place <= most
    ]


def _marks(profile: Profile) -> tuple[Sequence[float], Write]:
    edges = profile.edges
    if profile.kind == "date":
        return edges[1:-1:6], lambda mark: written(mark, "date")
    steps = [high - low for low, high in pairwise(edges)]
    if max(steps) < 1.01 * min(steps):
        marks = [mark for mark in ticks(edges[0], edges[-1], 4) if edges[0] <= mark <= edges[-1]]
        return marks, evenly(marks)
    # Logarithmic: numbers of one digit.
    rounded = [float(f"{edge:.0e}") for edge in edges[1:-1:4]]
    return sorted({mark for mark in rounded if edges[0] <= mark <= edges[-1]}), number


def _title(profile: Profile) -> str:
    return f"{profile.column} at the top of the list and elsewhere. {direction(profile)}"


def _values(profile: Profile) -> Markup:
    """The values that are frequent in either group, or words, a pair of bars each."""
    shares = _values_of(profile)
    if len(shares) > VALUES:
        shares = sorted(shares, key=lambda each: (each[0] == OTHER, -each[1]))
    parts: list[Child] = []
    for place, (name, one, other) in enumerate(shares[:VALUES]):
        y = place * LINE
        parts.append(words(cut(name, LABEL), 0, y + 11))
        parts.append(words(f"{percent(one)}, elsewhere {percent(other)}", 100, y + 11, "end"))
        parts.append(box(0, y + 15, 100 * other, 8, "bar grey"))
        parts.append(box(0, y + 17, 100 * one, 4, "bar warm"))
    return plot(LINE * min(VALUES, len(shares)), _title(profile), parts, kind="values")
