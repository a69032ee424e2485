"""Results -> one HTML page that needs nothing else: no network, no other file."""

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Final, NamedTuple

from robustpu.charts.axes import figure
from robustpu.charts.colours import variables
from robustpu.report.columns import importance, notes
from robustpu.report.correction import correction
from robustpu.report.headline import alarms, headline
from robustpu.report.hits import curve, table
from robustpu.report.members import members
from robustpu.report.numbers import numbers
from robustpu.report.sensitivity import sensitivity
from robustpu.report.settings import settings
from robustpu.report.share import scores, share_of_positives
from robustpu.report.suspects import LENGTHS, explained, suspects
from robustpu.report.texts import map_texts, one_line
from robustpu.results import Results

SCHEMES: Final = ("auto", "light", "dark")


class Section(NamedTuple):
    """A section: its anchor, its name among the contents, its title, and what is in it."""

    key: str
    short: str
    title: str
    inside: str


def render(results: Results) -> str:
    """Draw the results of a fit as one page that can be read, sorted, filtered and printed.

    Nothing is loaded, and nothing that comes from the data is taken for markup.

    Parameters
    ----------
    results
        Of a fit, as ``robustpu.workflow`` makes them and a model folder keeps them.

    Returns
    -------
    html
        A whole document, a pure function of the results.
    """
    results = map_texts(results, one_line)
    sections = [section for section in _sections(results) if section.inside]
    style, script = _style(), _file("page.js")
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy(style, script)}">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<title>{escape(results.data.name)}: likely positives</title>\n",
            f"<style>{style}</style>\n</head>\n<body>\n<header>\n{_switch()}{headline(results)}",
            f"{_contents(sections)}</header>\n<main>\n{alarms(results)}",
            *map(_section, sections),
            f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _sections(results: Results) -> list[Section]:
    prior = results.prior
    picture = ""
    if prior.is_known:
        picture = figure(
            "Expected positives among the first rows",
            curve(results.top, results.expected, prior.value),
            "With the interval as a band. Where it flattens, looking further pays less.",
        )
    rows = figure(
        "How far down is it worth looking?",
        table(results.top),
        "How many of the first rows of the list should be right.",
    )
    listed = suspects(results)
    if listed:
        listed = f'<p class="how">{escape(explained(results.suspects))}</p>\n{listed}'
    share, others = share_of_positives(prior), sensitivity(results)
    # If the share is not known, only a table by share is true.
    if not results.is_list_known:
        rows = others
    else:
        share += others
    spread = _panels(f'{scores(results)}<div class="stack">\n{share}</div>\n')
    return [
        Section("quality", "Quality", "How good is it?", numbers(results)),
        Section("yield", "Yield", "What the list will bring", _panels(picture + rows)),
        Section("scores", "Scores", "Scores, and the share of positives", spread),
        Section("rounds", "Self-correction", "How the self-correction went", correction(results)),
        Section("suspects", "Suspects", "The suspects", listed),
        Section("important", "Columns", "Which columns matter", importance(results)),
        Section("members", "Members", "What the ranking rests on", members(results)),
        Section("data", "Data", "What was read", notes(results)),
        Section("settings", "Settings", "How to repeat this", settings(results)),
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
    return files("robustpu.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this style and this script, known by their digests; nothing from anywhere."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(content: str) -> str:
    digest = hashlib.sha256(content.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
