"""What the ranking rests on: how important columns differ between the top and the other rows."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from markupsafe import Markup

from robustpu.charts.svg import ticks
from robustpu.charts.wording import counted, evenly, number, percent
from robustpu.report.markup import Child, breakable, element, joined, strip
from robustpu.report.plot import box, plot, rule, words
from robustpu.report.reasons import cut, written
from robustpu.results import OTHER, Importance, Profile, Results, Spread

Write: TypeAlias = Callable[[float], str]

FIRST: Final = 12
HEIGHT: Final = 64
LINE: Final = 30
NAME: Final = 34
# Of a value, so that there is room for its numbers.
LABEL: Final = 18
VALUES: Final = 5
# Chance that a row of the list has the larger value, from which on it is said so.
CLEAR: Final = 0.57
# A value is typical of the list if this share of it, and so many times the share of the others...
SHARE, TIMES = 0.05, 1.3
MISSING: Final = "missing"


def columns(results: Results) -> Markup:
    """Draw the important columns; the rest is a list.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    found = results.importance
    if not found:
        return Markup("")
    known = {profile.column: profile for profile in results.profiles}
    most = max(each.value for each in found)
    texts = {column.name for column in results.columns if column.kind == "text"}
    cards = [
        _card(each, most, known.get(each.column), is_text=each.column in texts)
        for each in found[:FIRST]
    ]
    sizes = [profile.listed.total for profile in results.profiles[:1]]
    return joined(
        _explained(sizes), element("div", cards, class_="panels"), _further(found[FIRST:])
    )


def direction(profile: Profile) -> str:
    """How the rows of the list differ from the others, in a sentence.

    Parameters
    ----------
    profile
        Of a column.
    """
    if profile.kind == "value":
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
        return "No value stands out alone."
    _, name, one, other = max(gains)
    value = MISSING if name == MISSING else f"“{cut(name, NAME)}”"
    return f"More often {value} at the top: {percent(one)}, elsewhere {percent(other)}."


def _values_of(profile: Profile) -> list[tuple[str, float, float]]:
    """(value, its share at the top, its share elsewhere), missing ones last."""
    groups = profile.listed, profile.others
    counts = zip(
        (*profile.values, MISSING),
        *((*group.counts, group.missing) for group in groups),
        strict=True,
    )
    totals = [max(1, group.total) for group in groups]
    found = [(name, one / totals[0], other / totals[1]) for name, one, other in counts]
    return found if any(found[-1][1:]) else found[:-1]


def _explained(sizes: Sequence[int]) -> Markup:
    top = f"the {counted(sizes[0], 'row')}" if sizes else "the rows"
    key = (
        element("span", f"{top} at the top of the list", class_="key warm"),
        element("span", "all other unlabelled rows", class_="key grey"),
    )
    words = (
        "The columns that the ranking goes by, the most important first, and how rows at the top "
        "differ from the others. It shows what the model uses, not what causes anything; columns "
        "that tell the same share their importance."
    )
    return joined(element("p", words, class_="how"), element("p", key, class_="keys"))


def _card(each: Importance, most: float, profile: Profile | None, *, is_text: bool) -> Markup:
    part = strip(each.value / most, title="importance")
    inside = [element("figcaption", element("span", breakable(cut(each.column, NAME))), part)]
    if is_text:
        inside.append(element("p", "Free text: its words are compared.", class_="how"))
    if profile is not None:
        inside.append(element("p", direction(profile), class_="how"))
        inside.append(_values(profile) if profile.kind == "value" else _histogram(profile))
    return element("figure", inside, class_="column")


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
    wide, tall = 100 / len(shares), HEIGHT / max(map(max, shares))
    bars = []
    for place, (one, other) in enumerate(shares):
        at = place * wide
        bars.append(box(at, HEIGHT - tall * other, 0.94 * wide, tall * other, "bar grey"))
        bars.append(box(at + 0.22 * wide, HEIGHT - tall * one, 0.5 * wide, tall * one, "bar warm"))
    marks = [words(MISSING, 100, HEIGHT + 15, "end")] if any(missing) else []
    title = f"{profile.column} at the top of the list and elsewhere. {direction(profile)}"
    base = rule(0, HEIGHT, 100, HEIGHT)
    return plot(HEIGHT, title, bars, base, _feet(profile, wide * bins), marks, kind="histogram")


def _feet(profile: Profile, width: float) -> list[Markup]:
    edges = profile.edges
    marks, write = _marks(profile)
    span = [100 * place / (len(edges) - 1) for place in range(len(edges))]
    return [
        words(write(mark), _between(mark, edges, span) * width / 100, HEIGHT + 15, "middle")
        for mark in marks
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


def _between(value: float, edges: Sequence[float], span: Sequence[float]) -> float:
    for (low, high), (start, end) in zip(pairwise(edges), pairwise(span), strict=True):
        if value <= high:
            return start + (end - start) * max(0.0, value - low) / ((high - low) or 1)
    return span[-1]


def _values(profile: Profile) -> Markup:
    """The values that are frequent in either group, a pair of bars each."""
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
    title = f"{profile.column} at the top of the list and elsewhere. {direction(profile)}"
    return plot(LINE * min(VALUES, len(shares)), title, parts, kind="values")


def _further(rest: Sequence[Importance]) -> Markup | None:
    if not rest:
        return None
    lines = [element("li", each.column, " ", element("span", number(each.value))) for each in rest]
    return element(
        "details",
        element("summary", f"{counted(len(rest), 'further column')}, less important"),
        element("ul", lines, class_="flow"),
    )
