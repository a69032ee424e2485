"""Findings -> one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any, Final, NamedTuple

from robustpu.page.axes import figure
from robustpu.page.colours import variables
from robustpu.page.columns import importance, notes
from robustpu.page.correction import correction
from robustpu.page.headline import alarms, headline, total
from robustpu.page.hits import curve, hits, table
from robustpu.page.numbers import numbers
from robustpu.page.reading import Part, number, part, text
from robustpu.page.settings import settings
from robustpu.page.share import prior, scores
from robustpu.page.suppositions import suppositions
from robustpu.page.suspects import LENGTHS, explained, suspects

SCHEMA: Final = 1
SCHEMES: Final = ("auto", "light", "dark")


class Section(NamedTuple):
    """A section: its anchor, its name among the contents, its title, and what is in it."""

    key: str
    short: str
    title: str
    inside: str


def render(findings: dict[str, Any]) -> str:
    """Draw what was found in a table as one page that can be read, sorted, filtered and printed.

    What is missing in the findings is left out. Nothing is loaded, and nothing that comes from the
    data is taken for markup.

    Parameters
    ----------
    findings
        What a fit found, as ``robustpu.study`` makes it and the model folder keeps it.

    Returns
    -------
    html
        A whole document, a pure function of the findings.

    Raises
    ------
    ValueError
        If the findings are of another schema.

    Examples
    --------
    >>> findings = {"schema": 1, "data": {"n_unlabeled": 1000}, "prior": {"value": 0.02}}
    >>> "About 20 of the 1,000 unlabelled rows are positive" in render(findings)
    True
    """
    if not isinstance(findings, dict) or findings.get("schema") != SCHEMA:
        came = findings.get("schema") if isinstance(findings, dict) else type(findings).__name__
        raise ValueError(
            f"The findings must be of schema {SCHEMA}, got {came!r}: they were written by another "
            "version of robustpu. Use that version, or fit the model again."
        )
    sections = [section for section in _sections(findings) if section.inside]
    style, script = _style(), _file("page.js")
    name = text(part(findings, "data"), "name")
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{escape(f'{name}: ' if name else '')}likely positives</title>\n",
            f"<style>{style}</style>\n</head>\n<body>\n<header>\n{_switch()}{headline(findings)}",
            f"{_contents(sections)}</header>\n<main>\n{alarms(findings)}",
            *map(_section, sections),
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _sections(findings: Part) -> list[Section]:
    found, expected = hits(findings), total(findings)
    used = number(part(findings, "prior"), "value")
    picture = figure(
        "Expected positives among the first rows",
        curve(found, expected, used),
        "With the interval as a band. Steep is good; where it flattens, looking further pays less.",
    )
    rows = figure(
        "How far down is it worth looking?",
        table(found),
        "If you look at the first rows of the list, so many of them should be right.",
    )
    listed = suspects(findings)
    if listed:
        listed = f'<p class="how">{escape(explained(findings))}</p>\n{listed}'
    share, others = prior(findings), suppositions(findings)
    # A share that may be anything below the estimate promises nothing; what others mean does.
    if others and number(part(findings, "prior"), "low") == 0:
        rows = others
    else:
        share += others
    spread = _panels(scores(findings) + (f'<div class="stack">\n{share}</div>\n' if share else ""))
    return [
        Section("quality", "Quality", "How good is it?", numbers(findings)),
        Section("yield", "Yield", "What the list will bring", _panels(picture + rows)),
        Section("scores", "Scores", "Scores, and the share of positives", spread),
        Section("rounds", "Self-correction", "How the self-correction went", correction(findings)),
        Section("suspects", "Suspects", "The suspects", listed),
        Section("important", "Columns", "Which columns count", importance(findings)),
        Section("data", "Data", "What was read", notes(findings)),
        Section("settings", "Settings", "To make it again", settings(findings)),
    ]


def _panels(cards: str) -> str:
    return f'<div class="panels pair">\n{cards}</div>\n' if cards else ""


def _section(section: Section) -> str:
    key, _, title, inside = section
    return f'<section id="{key}">\n<h2>{title}</h2>\n{inside}</section>\n'


def _contents(sections: Sequence[Section]) -> str:
    links = "".join(f'<li><a href="#{each.key}">{each.short}</a></li>' for each in sections)
    return f'<nav aria-label="Contents"><ul>{links}</ul></nav>\n'


def _switch() -> str:
    radios = "".join(
        f'<label><input type="radio" name="scheme" id="{scheme}"'
        f"{' checked' if scheme == 'auto' else ''}><span>{scheme}</span></label>"
        for scheme in SCHEMES
    )
    return f'<fieldset class="scheme"><legend class="aside">Colours</legend>{radios}</fieldset>\n'


def _style() -> str:
    # Lengths of bars are classes, because the policy forbids styles of single elements.
    lengths = "".join(f".n{i} {{ --n: {i / LENGTHS:g}; }}\n" for i in range(LENGTHS + 1))
    return f"{variables()}{lengths}{_file('page.css')}"


def _file(name: str) -> str:
    return files("robustpu.page").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this style and this script, known by their digests; nothing from anywhere."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
