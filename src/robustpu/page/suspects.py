"""The ranked suspects, with what drove each of them; a script sorts and filters the table."""

import re
from collections.abc import Mapping, Sequence, Set
from html import escape
from typing import Final

from robustpu.page.reading import Part, number, pairs, part, parts, text
from robustpu.page.wording import SPACE, counted, signed

# Bars have one of so many lengths, each a class: the page forbids styles of single elements.
LENGTHS: Final = 20
CELL, NAME, MOST = 60, 32, 1000
# A longer text would make a column of its own too narrow or too tall: it is read below the drivers.
LONG, TEXTS = 40, 2
# A longer id may be broken anywhere, a shorter one nowhere.
BROKEN: Final = 24
NUMERIC: Final = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?")


def suspects(findings: Part) -> str:
    """Write the table of suspects.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A toolbar, which the script shows, and the table; empty if there are no suspects.
    """
    found = parts(findings, "suspects")[:MOST]
    if not found:
        return ""
    data = part(findings, "data")
    named = any(text(each, "id") for each in found)
    effects = _effects(found)
    strongest = _usual(effects)
    cells = [pairs(each, "shown") for each in found]
    names = list(dict.fromkeys(name for own in cells for name in own))[:8]
    long = {name for name in names if any(len(own.get(name, "")) > LONG for own in cells)}
    long = long if strongest else set()
    shown = [name for name in names if name not in long]
    kind = "" if min(effects, default=0) < 0 else " one-sided"
    kind += " named" if named else ""
    heads = [_head("#", "number", "ascending")]
    heads += [_head(text(data, "id") or "id", "text")] if named else []
    heads += [_head(f"row, from{SPACE}1", "number"), _head("score", "number")]
    heads += [_head("what drove it", "number")] if strongest else []
    columns = [[own.get(name, "") for own in cells] for name in shown]
    heads += [
        _head(name, "number" if _numeric(column) else "text")
        for name, column in zip(shown, columns, strict=True)
    ]
    texts = [{name: own[name] for name in names if name in long and own.get(name)} for own in cells]
    body = "".join(
        _row(each, named, [column[i] for column in columns], strongest, texts[i])
        for i, each in enumerate(found)
    )
    return (
        f"{_toolbar(found)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Suspects">'
        f'<table class="list{kind}" id="list">\n'
        "<caption>The unlabelled rows that are most likely positive</caption>\n"
        f"<thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>\n{body}</tbody></table></div>\n"
        '<p class="more" hidden><button type="button" id="more"></button></p>\n'
    )


def explained(findings: Part) -> str:
    """Say what is listed, and what the bars of the drivers mean.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Examples
    --------
    >>> explained({"suspects": [{}, {}]}).partition(".")[0]
    'The 2 unlabelled rows most likely to be positive'
    """
    found = parts(findings, "suspects")[:MOST]
    words = (
        f"The {counted(len(found), 'unlabelled row')} most likely to be positive. Rows are counted "
        "from 1, the header not counted."
    )
    effects = _effects(found)
    if not any(effects):
        return words
    words += (
        " Bars show what drove a row: how far the value of that column moves the log-odds, "
        "against other unlabelled rows."
    )
    if min(effects) < 0:
        words += " Warm bars to the right raise the suspicion, cool ones to the left lower it."
    return words


def _effects(found: Sequence[Part]) -> list[float]:
    drivers = (driver for each in found for driver in parts(each, "drivers"))
    return [number(driver, "effect") or 0.0 for driver in drivers]


def _toolbar(found: Sequence[Part]) -> str:
    names = sorted({text(driver, "column") for each in found for driver in parts(each, "drivers")})
    options = "".join(f"<option>{escape(_cut(name, NAME))}</option>" for name in names if name)
    driver = (
        '<label>driven by <select id="driver"><option value="">any column</option>'
        f"{options}</select></label>"
        if options
        else ""
    )
    return (
        '<div class="tools" role="search" hidden><label>filter <input type="search" id="filter" '
        'autocomplete="off" spellcheck="false" placeholder="an id, a column, a value"></label>'
        f'{driver}<output id="shown" aria-live="polite">{counted(len(found), "row")}</output>'
        "</div>\n"
    )


def _head(name: str, kind: str, sort: str = "none") -> str:
    # A long name may be broken where its words end.
    words = escape(_cut(name, NAME)).replace("_", "_<wbr>")
    return f'<th scope="col" data-kind="{kind}" aria-sort="{sort}">{words}</th>'


def _row(
    each: Part, named: bool, shown: Sequence[str], strongest: float, texts: Mapping[str, str]
) -> str:
    rank, row, score = (number(each, key) for key in ("rank", "row", "score"))
    cells = [f"<td>{'' if rank is None else counted(rank)}</td>"]
    own_id = _cut(text(each, "id"), 2 * CELL)
    kind = ' class="broken"' if len(own_id) > BROKEN else ""
    name = f'<th scope="row"{kind}>{escape(own_id)}</th>'
    where = "" if row is None else counted(row)
    place = f'<td class="number">{where}</td>' if named else f'<th scope="row">{where}</th>'
    cells += [name, place] if named else [place]
    cells.append(
        "<td></td>" if score is None else f'<td data-v="{score:.6g}">{_decimal(score)}</td>'
    )
    if strongest:
        own = parts(each, "drivers")[:3]
        effects = [number(driver, "effect") or 0 for driver in own]
        inside = "".join(_driver(driver, strongest, texts) for driver in own)
        inside += _rest(texts, {text(driver, "column") for driver in own})
        cells.append(f'<td class="drivers" data-v="{sum(effects):.3g}">{inside}</td>')
    cells += [f"<td>{escape(_cut(value, CELL))}</td>" for value in shown]
    return f"<tr>{''.join(cells)}</tr>\n"


def _decimal(score: float) -> str:
    """Three decimals; never 1.000 for what is not certain."""
    return ">0.999" if 0.9995 <= score < 1 else f"{score:.3f}"


def _driver(driver: Part, strongest: float, texts: Mapping[str, str]) -> str:
    effect = number(driver, "effect") or 0
    length = max(1, round(LENGTHS * min(abs(effect) / strongest, 1)))
    side = "down" if effect < 0 else "up"
    column = text(driver, "column")
    value = _cut(text(driver, "value"), 2 * CELL if column in texts else NAME)
    kind = ' class="long"' if column in texts else ""
    return (
        f'<p><i class="{side} n{length}"></i><b>{signed(effect)}</b> '
        f"<bdi>{escape(_cut(column, NAME))}</bdi> <bdi{kind}>{escape(value)}</bdi></p>"
    )


def _rest(texts: Mapping[str, str], driving: Set[str]) -> str:
    """Long texts of the row that no driver shows."""
    rest = [(name, value) for name, value in texts.items() if name not in driving]
    return "".join(
        f'<p class="rest"><bdi>{escape(_cut(name, NAME))}</bdi> '
        f'<bdi class="long">{escape(_cut(value, 2 * CELL))}</bdi></p>'
        for name, value in rest[:TEXTS]
    )


def _usual(effects: Sequence[float]) -> float:
    """The effect that gets a full bar: a few are far larger, and would make all others small."""
    sizes = sorted(map(abs, effects))
    return sizes[int(0.95 * (len(sizes) - 1))] or sizes[-1] if sizes else 0.0


def _numeric(column: Sequence[str]) -> bool:
    return all(NUMERIC.fullmatch(value) for value in column if value) and any(column)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
