"""Elements of HTML and SVG. Texts in them are escaped; only what is markup already is not."""

from collections.abc import Iterable
from typing import Final, TypeAlias

from markupsafe import Markup, escape

# A text, markup, nothing, or several of them.
Child: TypeAlias = "str | Iterable[Child] | None"
VOID: Final = frozenset({"br", "input", "meta", "wbr"})
# Strips have one of these lengths, each a class: the page forbids styles of single elements.
LENGTHS: Final = 40


def element(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element with its children.

    Parameters
    ----------
    name
        Of the element.
    children
        What is in it; all that is not :class:`markupsafe.Markup` is escaped.
    attributes
        ``class_`` is class, ``aria_label`` is aria-label. True has no value; None and False are
        left out.

    Examples
    --------
    >>> print(element("p", "a < b", element("b", "!"), class_="how"))
    <p class="how">a &lt; b<b>!</b></p>
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    start = f"<{name}{written}>"
    # Names of ours, escaped values, escaped children.
    return Markup(start if name in VOID else f"{start}{joined(*children)}</{name}>")


def joined(*children: Child) -> Markup:
    """Children after each other, escaped.

    Examples
    --------
    >>> print(joined("a", None, ["&", [Markup("<br>")]]))
    a&amp;<br>
    """
    parts: list[Markup] = []
    for child in children:
        if isinstance(child, str):
            parts.append(escape(child))
        elif child is not None:
            parts.append(joined(*child))
    return Markup("".join(parts))


def card(title: str, inside: Child, words: Child = None) -> Markup:
    """A card with a title, and a sentence that says how to read what is in it.

    Parameters
    ----------
    title, words
        The texts.
    inside
        A picture or a table; without one there is no card.
    """
    if not inside:
        return Markup("")
    how = element("p", words, class_="how") if words else None
    return element("figure", element("figcaption", title), how, inside)


def table(heads: Iterable[Child], rows: Iterable[Iterable[Child]], kind: str) -> Markup:
    """A table; the first cell of a row is its head.

    Parameters
    ----------
    heads
        Titles of the columns.
    rows
        Their cells.
    kind
        Its classes.
    """
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in rest])
        for first, *rest in rows
    ]
    titles = [element("th", head, scope="col") for head in heads]
    head = element("thead", element("tr", titles)) if titles else None
    return element("table", head, element("tbody", body), class_=kind)


def strip(share: float, kind: str = "", title: str | None = None) -> Markup:
    """A bar in a line of text, as long as its share, and never nothing.

    Examples
    --------
    >>> print(strip(0.5, "up"))
    <i class="up n20"></i>
    """
    length = max(1, round(LENGTHS * min(share, 1)))
    return element("i", class_=f"{kind} n{length}".lstrip(), title=title)


def breakable(name: str) -> Markup:
    """A name that may be broken where its words end.

    Examples
    --------
    >>> print(breakable("total_day"))
    total_<wbr>day
    """
    return Markup("_<wbr>").join(name.split("_"))


def _attribute(name: str, value: str | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    # Coordinates in hundredths.
    words = value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
    return f' {name}="{escape(words)}"'
