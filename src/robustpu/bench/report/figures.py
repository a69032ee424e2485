"""Tables -> figures: the pictures of the page as SVG files that stand alone."""

from importlib.resources import files
from typing import Final

from robustpu.bench.report.curves import curves
from robustpu.bench.report.dotplot import dotplot
from robustpu.bench.report.panels import panels, scale_words
from robustpu.bench.report.sweeps import sweep
from robustpu.bench.report.tables import Table
from robustpu.bench.report.wording import selection
from robustpu.charts.colours import DARK, LIGHT, PRINT
from robustpu.charts.sheet import sheet

# Colours of the priors, and red, green and blue of cells below and above the paper.
_LIGHT: Final = {
    "p0": "#4393c6",
    "p1": "#2f6690",
    "p2": "#173a54",
    "p3": "#8a5a9e",
    "p4": "#c8553d",
    "below": "47 102 144",
    "above": "200 85 61",
}
_DARK: Final = {
    "p0": "#3f7ea8",
    "p1": "#7db8e0",
    "p2": "#d3e9f7",
    "p3": "#c39ad3",
    "p4": "#ec8067",
    "below": "96 165 214",
    "above": "236 128 103",
}
# On a light screen, on a dark screen, on paper.
COLOURS: Final = ({**LIGHT, **_LIGHT}, {**DARK, **_DARK}, {**PRINT, **_LIGHT})


def comparison(table: Table) -> str:
    """Draw ours against the paper's: one panel per data set, one row per method.

    Parameters
    ----------
    table
        One that the paper has too.

    Returns
    -------
    svg
        A whole file; empty if no cell can be compared.
    """
    shown = panels(table)
    if not shown:
        return ""
    pictures = {
        f"{dataset} (ours alone)" if panel.alone else dataset: dotplot(table, dataset)
        for dataset, panel in shown.items()
    }
    priors = ", ".join(f"{prior:g}" for prior in table.priors)
    words = ["Test error in percent, mean and one standard deviation", scale_words(shown)]
    if any(panel.cut for panel in shown.values()):
        words.append("an arrow: the bar extends beyond the axis")
    marks = f"Filled: ours. Hollow: the paper's. Within a method from top to bottom: π = {priors}."
    return sheet(
        table.title,
        [f"{'; '.join(filter(None, words))}; {selection(table)}.", marks],
        pictures,
        stylesheet(),
    )


def sweep_curves(table: Table) -> str:
    """Draw error against the x of the methods: one panel per data set, one line per prior.

    Parameters
    ----------
    table
        One whose methods have an x.

    Returns
    -------
    svg
        A whole file; empty if the table is no sweep.
    """
    found = sweep(table)
    if found is None:
        return ""
    drawn = {dataset: curves(found, dataset) for dataset in table.datasets}
    pictures = {dataset: picture for dataset, picture in drawn.items() if picture}
    caption = (
        f"Test error in percent against {found.name}: mean, and a band of one standard deviation; "
        f"{selection(table)}."
    )
    return sheet(table.title, [caption], pictures, stylesheet()) if pictures else ""


def stylesheet() -> str:
    """Style sheet of a figure, in the colours of a light page."""
    colours = " ".join(f"--{name}: {colour};" for name, colour in COLOURS[0].items())
    rules = files("robustpu.bench.report").joinpath("figures.css").read_text(encoding="utf-8")
    return f":root {{ {colours} }}\n{rules}"
