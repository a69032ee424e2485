"""The ranked suspects, with what drove each of them; a script sorts and filters the table."""

import re
from collections.abc import Sequence
from html import escape
from typing import Final

from robustpu.page.reading import Part, number, pairs, part, parts, text
from robustpu.page.wording import counted, signed

# Bars have one of so many lengths, each a class: the page forbids styles of single elements.
LENGTHS: Final = 20
CELL, NAME, MOST = 60, 32, 1000
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
    shown = list(dict.fromkeys(name for each in found for name in pairs(each, "shown")))[:8]
    effects = _effects(found)
    strongest = _usual(effects)
    kind = "" if min(effects, default=0) < 0 else " one-sided"
    kind += " named" if named else ""
    heads = [_head("#", "number", "ascending")]
    heads += [_head(text(data, "id") or "id", "text")] if named else []
    heads += [_head("row", "number"), _head("score", "number")]
    heads += [_head("what drove it", "number")] if strongest else []
    columns = [[pairs(each, "shown").get(name, "") for each in found] for name in shown]
    heads += [
        _head(name, "number" if _numeric(column) else "text")
        for name, column in zip(shown, columns, strict=True)
    ]
    body = "".join(_row(each, named, shown, columns, strongest, i) for i, each in enumerate(found))
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
    >>> explained({"suspects": [{}, {}]})
    'The 2 unlabelled rows most likely to be positive.'
    """
    found = parts(findings, "suspects")[:MOST]
    words = f"The {counted(len(found), 'unlabelled row')} most likely to be positive."
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
    each: Part,
    named: bool,
    shown: Sequence[str],
    columns: Sequence[Sequence[str]],
    strongest: float,
    i: int,
) -> str:
    rank, row, score = (number(each, key) for key in ("rank", "row", "score"))
    cells = [f"<td>{'' if rank is None else counted(rank)}</td>"]
    name = f'<th scope="row">{escape(_cut(text(each, "id"), 2 * CELL))}</th>'
    where = "" if row is None else counted(row)
    place = f'<td class="number">{where}</td>' if named else f'<th scope="row">{where}</th>'
    cells += [name, place] if named else [place]
    cells.append("<td></td>" if score is None else _score(score))
    if strongest:
        own = parts(each, "drivers")[:3]
        effects = [number(driver, "effect") or 0 for driver in own]
        inside = "".join(_driver(driver, strongest) for driver in own)
        cells.append(f'<td class="drivers" data-v="{sum(effects):.3g}">{inside}</td>')
    cells += [f"<td>{escape(_cut(column[i], CELL))}</td>" for column in columns]
    return f"<tr>{''.join(cells)}</tr>\n"


def _score(score: float) -> str:
    length = min(max(round(LENGTHS * score), 0), LENGTHS)
    return f'<td data-v="{score:.6g}"><i class="n{length}"></i>{_decimal(score)}</td>'


def _decimal(score: float) -> str:
    """Three decimals; never 1.000 for what is not certain."""
    return ">0.999" if 0.9995 <= score < 1 else f"{score:.3f}"


def _driver(driver: Part, strongest: float) -> str:
    effect = number(driver, "effect") or 0
    length = max(1, round(LENGTHS * min(abs(effect) / strongest, 1)))
    side = "down" if effect < 0 else "up"
    name, value = _cut(text(driver, "column"), NAME), _cut(text(driver, "value"), NAME)
    return (
        f'<p><i class="{side} n{length}"></i><b>{signed(effect)}</b> '
        f"<bdi>{escape(name)}</bdi> <bdi>{escape(value)}</bdi></p>"
    )


def _usual(effects: Sequence[float]) -> float:
    """The effect that gets a full bar: a few are far larger, and would make all others small."""
    sizes = sorted(map(abs, effects))
    return sizes[int(0.95 * (len(sizes) - 1))] or sizes[-1] if sizes else 0.0


def _numeric(column: Sequence[str]) -> bool:
    return all(NUMERIC.fullmatch(value) for value in column if value) and any(column)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
