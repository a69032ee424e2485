"""The ranked suspects with their drivers; a script sorts and filters the table."""

import re
from collections.abc import Mapping, Sequence, Set
from html import escape
from typing import Final

from robustpu.charts.wording import SPACE, counted, signed
from robustpu.results import Driver, Results, Suspect

# Bars have one of these lengths, each a class: the page forbids styles of single elements.
LENGTHS: Final = 20
CELL, NAME, MOST = 60, 32, 1000
# A longer text would make its column too narrow or too tall: it is shown below the drivers.
LONG, TEXTS = 40, 2
# A longer id may be broken anywhere, a shorter one nowhere.
BROKEN: Final = 24
NUMERIC: Final = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?")


def suspects(results: Results) -> str:
    """Write the table of suspects.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A toolbar, which the script shows, and the table; empty if there are no suspects.
    """
    found = results.suspects[:MOST]
    if not found:
        return ""
    has_ids = any(suspect.id for suspect in found)
    effects = _effects(found)
    strongest = _usual(effects)
    names = list(dict.fromkeys(name for suspect in found for name in suspect.shown))[:8]
    long = {name for name in names if any(len(each.shown.get(name, "")) > LONG for each in found)}
    long = long if strongest else set()
    columns = [name for name in names if name not in long]
    heads = [_head("#", "number", "ascending")]
    heads += [_head(results.data.id or "id", "text")] if has_ids else []
    heads += [_head(f"row, from{SPACE}1", "number"), _head("score", "number")]
    heads += [_head("what drove it", "number")] if strongest else []
    heads += [_head(name, "number" if _is_numeric(name, found) else "text") for name in columns]
    body = "".join(_row(each, has_ids, columns, strongest, long) for each in found)
    kind = ("" if min(effects, default=0) < 0 else " one-sided") + (" named" if has_ids else "")
    return (
        f"{_toolbar(found)}"
        '<div class="scroll" tabindex="0" role="region" aria-label="Suspects">'
        f'<table class="list{kind}" id="list">\n'
        "<caption>The unlabelled rows that are most likely positive</caption>\n"
        f"<thead><tr>{''.join(heads)}</tr></thead>\n"
        f"<tbody>\n{body}</tbody></table></div>\n"
        '<p class="more" hidden><button type="button" id="more"></button></p>\n'
    )


def explained(found: Sequence[Suspect]) -> str:
    """Say what is listed, and what the bars of the drivers mean.

    Parameters
    ----------
    found
        The suspects.

    Examples
    --------
    >>> explained([Suspect(1, 7, None, 0.9, (), {})]).partition(".")[0]
    'The 1 unlabelled row most likely to be positive'
    """
    found = found[:MOST]
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


def _effects(found: Sequence[Suspect]) -> list[float]:
    return [driver.effect for suspect in found for driver in suspect.drivers]


def _toolbar(found: Sequence[Suspect]) -> str:
    names = sorted({driver.column for suspect in found for driver in suspect.drivers})
    options = "".join(f"<option>{escape(_cut(name, NAME))}</option>" for name in names)
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
    suspect: Suspect, has_ids: bool, columns: Sequence[str], strongest: float, long: Set[str]
) -> str:
    cells = [f"<td>{counted(suspect.rank)}</td>"]
    row = counted(suspect.row)
    if has_ids:
        id = _cut(suspect.id or "", 2 * CELL)
        kind = ' class="broken"' if len(id) > BROKEN else ""
        cells += [f'<th scope="row"{kind}>{escape(id)}</th>', f'<td class="number">{row}</td>']
    else:
        cells.append(f'<th scope="row">{row}</th>')
    cells.append(f'<td data-v="{suspect.score:.6g}">{_decimal(suspect.score)}</td>')
    if strongest:
        drivers = suspect.drivers[:3]
        texts = {name: text for name, text in suspect.shown.items() if name in long and text}
        inside = "".join(_driver(driver, strongest, texts) for driver in drivers)
        inside += _rest(texts, {driver.column for driver in drivers})
        total = sum(driver.effect for driver in drivers)
        cells.append(f'<td class="drivers" data-v="{total:.3g}">{inside}</td>')
    cells += [f"<td>{escape(_cut(suspect.shown.get(name, ''), CELL))}</td>" for name in columns]
    return f"<tr>{''.join(cells)}</tr>\n"


def _decimal(score: float) -> str:
    """Three decimals; never 1.000 for what is not certain."""
    return ">0.999" if 0.9995 <= score < 1 else f"{score:.3f}"


def _driver(driver: Driver, strongest: float, texts: Mapping[str, str]) -> str:
    length = max(1, round(LENGTHS * min(abs(driver.effect) / strongest, 1)))
    side = "down" if driver.effect < 0 else "up"
    is_long = driver.column in texts
    value = _cut(driver.value, 2 * CELL if is_long else NAME)
    kind = ' class="long"' if is_long else ""
    return (
        f'<p><i class="{side} n{length}"></i><b>{signed(driver.effect)}</b> '
        f"<bdi>{escape(_cut(driver.column, NAME))}</bdi> <bdi{kind}>{escape(value)}</bdi></p>"
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
    """The effect of a full bar: a few larger ones would make all others too short."""
    sizes = sorted(map(abs, effects))
    return sizes[int(0.95 * (len(sizes) - 1))] or sizes[-1] if sizes else 0.0


def _is_numeric(name: str, found: Sequence[Suspect]) -> bool:
    values = [suspect.shown[name] for suspect in found if suspect.shown.get(name)]
    return bool(values) and all(NUMERIC.fullmatch(value) for value in values)


def _cut(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"
