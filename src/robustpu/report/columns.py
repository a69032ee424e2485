"""What the ranking rests on: how important columns differ between the top and the other rows."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import counted, number
from robustpu.report.markup import breakable, element, joined, strip
from robustpu.report.profiles import direction, draw
from robustpu.report.reasons import cut
from robustpu.results import Importance, Profile, Results

FIRST: Final = 12
NAME: Final = 34


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
    most = max(each.value for each in found) or 1
    texts = {column.name for column in results.columns if column.kind == "text"}
    cards = [
        _card(each, most, known.get(each.column), is_text=each.column in texts)
        for each in found[:FIRST]
    ]
    sizes = [profile.listed.total for profile in results.profiles[:1]]
    return joined(
        _explained(sizes), element("div", cards, class_="panels"), _further(found[FIRST:])
    )


def _explained(sizes: Sequence[int]) -> Markup:
    top = f"the {counted(sizes[0], 'row')}" if sizes else "the rows"
    key = (
        element("span", f"{top} at the top of the list", class_="key warm"),
        element("span", "all other unlabelled rows", class_="key grey"),
        element("span", "importance of the column", class_="key long"),
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
    if profile is None and is_text:
        inside.append(element("p", "Free text: its words are compared.", class_="how"))
    if profile is not None:
        inside.append(element("p", direction(profile), class_="how"))
        inside.append(draw(profile))
    return element("figure", inside, class_="column")


def _further(rest: Sequence[Importance]) -> Markup | None:
    if not rest:
        return None
    lines = [element("li", each.column, " ", element("span", number(each.value))) for each in rest]
    return element(
        "details",
        element("summary", f"{counted(len(rest), 'further column')}, less important"),
        element("ul", lines, class_="flow"),
    )
