"""The list: ranked rows with their reasons, to sort, to filter, to check and to take away."""

import re
from collections.abc import Sequence, Set
from typing import Final

from markupsafe import Markup

from robustpu.charts.wording import SPACE, counted
from robustpu.report.headline import START
from robustpu.report.markup import Child, breakable, element
from robustpu.report.prospects import foremost
from robustpu.report.reasons import NAME, VALUE, cut, reason, reasons, span_of
from robustpu.results import Results, Suspect

CELL: Final = 60
MOST: Final = 1000
# Columns of cells that have room.
CELLS: Final = 3
# A longer text would make its column too narrow or too tall: it is shown below the reasons.
LONG: Final = 40
TEXTS: Final = 2
# A longer id may be broken anywhere, a shorter one nowhere.
BROKEN: Final = 24
NUMERIC: Final = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?")
CHECKS: Final = ("yes", "no")
EXPLAINED: Final = (
    "Score: from 0 to 1, the higher, the more like the known positives. Reasons: bars to the right "
    "speak for a row, bars to the left against it, all on one scale. Rows are counted from 1, "
    "without the header. What you mark as checked stays in this browser; download it as a column "
    "“checked” for the next fit, which learns from it."
)


def suspects(results: Results) -> Markup:
    """Write the list.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A toolbar, which the script shows, and a table; empty if there are no suspects.
    """
    found = results.suspects[:MOST]
    if not found:
        return Markup("")
    first = foremost(results.top, results.expected)
    length = min(START if first is None else first.k, len(found))
    span = span_of(found)
    columns, long = _columns(found, bool(span.whole))
    has_ids = any(suspect.id for suspect in found)
    heads = [element("th", "positive?", scope="col"), _head("#", "number", "ascending")]
    heads += [_head(results.data.id or "id", "text")] if has_ids else []
    heads += [_head("row", "number"), _head("score", "number")]
    heads += [element("th", "reasons", scope="col", class_="reasons")] if span.whole else []
    heads += [_head(name, "number" if _is_numeric(name, found) else "text") for name in columns]
    profiles = {profile.column: profile for profile in results.profiles}

    def row(suspect: Suspect) -> Markup:
        cells = [_check(suspect), element("td", counted(suspect.rank)), *_names(suspect, has_ids)]
        cells.append(element("td", _decimal(suspect.score), data_v=f"{suspect.score:.6g}"))
        if span.whole:
            lines = [reason(driver, span, profiles) for driver in reasons(suspect)]
            cells.append(element("td", lines, _rest(suspect, long), class_="reasons"))
        cells += [element("td", cut(suspect.shown.get(name, ""), CELL)) for name in columns]
        return element("tr", cells)

    listed = element(
        "table",
        element("caption", "The unlabelled rows that are most likely positive"),
        element("thead", element("tr", heads)),
        element("tbody", map(row, found)),
        class_=f"list {'named' * has_ids} {span.zero}".strip(),
        id="list",
        data_key=f"{results.data.name} {results.made}",
    )
    return Markup("").join(
        [
            _toolbar(found, length),
            element(
                "div", listed, class_="scroll", tabindex="0", role="region", aria_label="The list"
            ),
            element("p", EXPLAINED, class_="fine"),
        ]
    )


def _columns(found: Sequence[Suspect], has_reasons: bool) -> tuple[list[str], Set[str]]:
    """Columns of cells, and those whose texts are too long for one."""
    names = list(dict.fromkeys(name for suspect in found for name in suspect.shown))
    long = {name for name in names if any(len(each.shown.get(name, "")) > LONG for each in found)}
    # Without reasons there is no other place for them.
    long = long if has_reasons else set()
    return [name for name in names if name not in long][:CELLS], long


def _toolbar(found: Sequence[Suspect], length: int) -> Markup:
    names = sorted({driver.column for suspect in found for driver in reasons(suspect)})
    lengths = sorted({each for each in (20, 50, length, 200) if each < len(found)})
    shown = [*(f"the first {each}" for each in lengths), f"all {counted(len(found))}"]
    chosen = f"the first {length}" if length < len(found) else shown[-1]
    by_reason = ("any", *(cut(name, NAME) for name in names))
    search = element(
        "input",
        type="search",
        id="filter",
        autocomplete="off",
        spellcheck="false",
        placeholder="id, column or value",
    )
    return element(
        "div",
        element("label", "search ", search),
        _select("reason", "reason", by_reason) if names else None,
        _select("checked", "checked", ("all rows", "yes", "no", "not yet")),
        _select("length", "show", shown, chosen),
        element("output", id="shown", aria_live="polite"),
        element(
            "span",
            element("button", "Copy ids", type="button", id="copy"),
            element("button", "Download list", type="button", id="download"),
            element("button", "Download checks", type="button", id="checks", hidden=True),
            class_="buttons",
        ),
        class_="tools",
        role="search",
        hidden=True,
    )


def _select(id: str, label: str, options: Sequence[str], chosen: str = "") -> Markup:
    made = [element("option", option, selected=option == chosen) for option in options]
    return element("label", f"{label} ", element("select", made, id=id))


def _head(name: str, kind: str, sort: str = "none") -> Markup:
    words = cut(name, NAME)
    whole = name if words != name else None
    shown = breakable(words)
    return element("th", shown, scope="col", data_kind=kind, aria_sort=sort, data_v=whole)


def _check(suspect: Suspect) -> Markup:
    """Whether a person found the row to be positive."""
    marks = [
        element(
            "label", element("input", type="radio", name=f"row{suspect.row}", value=answer), answer
        )
        for answer in CHECKS
    ]
    question = f"Is row {counted(suspect.row)} positive?"
    return element("td", marks, class_="check", role="radiogroup", aria_label=question)


def _names(suspect: Suspect, has_ids: bool) -> list[Child]:
    row = counted(suspect.row)
    if not has_ids:
        return [element("th", row, scope="row")]
    id = suspect.id or ""
    shown = cut(id, 2 * CELL)
    broken = "broken" if len(shown) > BROKEN else None
    whole = id if shown != id else None
    return [
        element("th", shown, scope="row", class_=broken, data_v=whole),
        element("td", row, class_="number"),
    ]


def _decimal(score: float) -> str:
    """Three decimals; never 1.000 for what is not certain."""
    return f">{SPACE}0.999" if 0.9995 <= score < 1 else f"{score:.3f}"


def _rest(suspect: Suspect, long: Set[str]) -> list[Markup]:
    """Long texts of the row that are no reason."""
    known = {driver.column for driver in reasons(suspect)}
    rest = [(name, text) for name, text in suspect.shown.items() if name in long - known and text]
    return [
        element("p", element("bdi", cut(name, NAME)), " ", element("bdi", text), class_="rest")
        for name, text in ((name, cut(text, VALUE)) for name, text in rest[:TEXTS])
    ]


def _is_numeric(name: str, found: Sequence[Suspect]) -> bool:
    values = [suspect.shown[name] for suspect in found if suspect.shown.get(name)]
    return bool(values) and all(NUMERIC.fullmatch(value) for value in values)
