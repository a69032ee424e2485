"""Tables -> one HTML page.

Its script shows the trials of a cell; everything else works without it.
"""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from robustpu.bench.report.blocks import blocks
from robustpu.bench.report.figures import COLOURS
from robustpu.bench.report.kinds import Kind
from robustpu.bench.report.lowest import lowest
from robustpu.bench.report.summary import at_or_below, devices, trainings
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import paper, selection
from robustpu.charts.colours import variables
from robustpu.charts.document import document
from robustpu.charts.wording import duration

SUBJECT = "robust-pu"
SHORT = {"oracle": "labelled validation (oracle)", "pu": "without negatives (PU-only)"}


def page(tables: Sequence[Table]) -> str:
    """Write the page.

    Parameters
    ----------
    tables
        See `robustpu.bench.report.tables.tables`.

    Returns
    -------
    html
        A whole document, a pure function of the tables.
    """
    experiments: dict[str, list[Table]] = {}
    for table in tables:
        experiments.setdefault(table.experiment, []).append(table)
    both = any(len({table.selection for table in each}) > 1 for each in experiments.values())
    sections = [_experiment(name, each) for name, each in experiments.items()]
    inside = (
        f"{_header(experiments, tables)}{_toggle() if both else ''}"
        f"<main>\n{''.join(sections)}</main>\n"
        '<div id="card" role="tooltip" hidden></div>\n'
    )
    style = f"{variables(*COLOURS)}{_file('page.css')}{_file('figures.css')}"
    return document("robustpu: benchmark", style, inside, _file("page.js"))


def _file(name: str) -> str:
    return files("robustpu.bench.report").joinpath(name).read_text(encoding="utf-8")


def _header(experiments: dict[str, list[Table]], tables: Sequence[Table]) -> str:
    facts = [
        fact
        for table in next(iter(experiments.values()), [])
        for fact in (*_against_paper(table), *_lowest(table))
    ]
    hardware = " and ".join(dict.fromkeys(name for table in tables for name in devices(table)))
    # Experiments may share trainings, too.
    spent = {key: took for table in tables for key, took in trainings(table).items()}
    facts.append((duration(sum(spent.values())), f"of training on {hardware}"))
    facts.append((f"{len(spent):,}", "trials"))
    cards = "".join(f"<div><dt>{escape(text)}</dt><dd>{big}</dd></div>" for big, text in facts)
    links = "".join(
        f'<li><a href="#{_slug(name)}">{escape(each[0].title)}</a></li>'
        for name, each in experiments.items()
    )
    source = paper(tables)
    subtitle = f": our errors beside those of {source}" if source else ""
    return (
        f"<header>\n<h1>robustpu <span>Benchmark{escape(subtitle, quote=False)}</span></h1>\n"
        f'<dl class="facts">{cards}</dl>\n'
        "<p>Test error in percent, mean ± standard deviation over the trials; lower is better. "
        "Ours is above, the paper’s below it.</p>\n"
        f'<nav aria-label="Experiments"><ul>{links}</ul></nav>\n</header>\n'
    )


def _against_paper(table: Table) -> list[tuple[str, str]]:
    """Cells of Robust-PU at or below the paper; without Robust-PU, of all single networks."""
    networks = [method for method in table.methods if method.kind is Kind.NETWORK]
    ours = [method for method in networks if method.key == SUBJECT]
    keys = {method.key for method in ours or networks}
    cells = (cell for (_, _, method), cell in table.cells.items() if method in keys)
    below, total = at_or_below(cells)
    if not total:
        return []
    name = f"{ours[0].label}: cells" if ours else "cells of all single networks"
    how = SHORT.get(table.selection, table.selection)
    words = f"{name} of “{table.title}” at or below the paper, {how}"
    return [(f"{below}<small> of {total}</small>", words)]


def _lowest(table: Table) -> list[tuple[str, str]]:
    """Cells where Robust-PU is lowest among single networks."""
    how = SHORT.get(table.selection, table.selection)
    return [
        (
            f"{found.counts[SUBJECT]}<small> of {len(found.compared)}</small>",
            f"{table.label(SUBJECT)}: lowest error among {len(found.counts)} {found.kind}s of "
            f"“{table.title}”, {how}",
        )
        for found in lowest(table)
        if found.kind is Kind.NETWORK and SUBJECT in found.counts and found.compared
    ]


def _toggle() -> str:
    choices = (
        ("oracle", "Oracle<em> (labelled validation)</em>"),
        ("pu", "PU-only<em> (no negatives)</em>"),
        ("both", "Both"),
    )
    radios = "".join(
        f'<label><input type="radio" name="show" id="show-{key}"'
        f"{' checked' if key == 'oracle' else ''}><span>{text}</span></label>"
        for key, text in choices
    )
    return (
        '<div class="toggle" role="radiogroup" aria-labelledby="selected">'
        f'<span id="selected">Selected by</span>{radios}</div>\n'
    )


def _experiment(name: str, tables: Sequence[Table]) -> str:
    alone = len({table.selection for table in tables}) < 2
    articles = []
    for table in tables:
        # An experiment with one selection is always shown.
        hide = "" if alone else f' data-selection="{escape(table.selection)}"'
        words = selection(table)
        how = f'<p class="how">{escape(words[0].upper() + words[1:])}</p>'
        articles.append(f"<article{hide}>\n{how}\n{blocks(table)}</article>\n")
    title = f"<h2>{escape(tables[0].title)}</h2>"
    inside = "".join([title, "\n", *articles])
    return f'<section id="{_slug(name)}">\n{inside}</section>\n'


def _slug(name: str) -> str:
    # "a b" and "a-b" are two.
    return escape("experiment-" + "-".join(name.replace("-", "--").split()))
