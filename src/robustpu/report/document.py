"""Results -> one HTML page."""

from collections.abc import Sequence
from importlib.resources import files
from typing import Final, NamedTuple

from markupsafe import Markup

from robustpu.charts.colours import variables
from robustpu.charts.document import document
from robustpu.report.columns import columns
from robustpu.report.headline import FOLDED, alarms, headline
from robustpu.report.markup import LENGTHS, element, joined
from robustpu.report.metrics import metrics
from robustpu.report.notes import notes
from robustpu.report.prospects import prospects
from robustpu.report.rounds import rounds
from robustpu.report.scores import scores
from robustpu.report.settings import members, settings
from robustpu.report.share import share
from robustpu.report.suspects import suspects
from robustpu.report.texts import map_texts, one_line
from robustpu.results import Results

SCHEMES: Final = ("auto", "light", "dark")
DEFINED: Final = (
    "A reason is a column that raises or lowers the score of its row: the difference of the "
    "log-odds of the row and the mean of its log-odds with this column’s values from other "
    "unlabelled rows. The importance of a column is the mean change of the log-odds when its "
    "values are shuffled."
)


class Section(NamedTuple):
    """A section: its anchor, its name among the contents, its title, and what is in it."""

    key: str
    short: str
    title: str
    inside: Markup


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
    inside = joined(
        element("header", _switch(), headline(results), alarms(results), _contents(sections)),
        element("main", map(_section, sections), _technical(results)),
    )
    return document(f"{results.data.name}: likely positives", _style(), inside, _file("page.js"))


def _sections(results: Results) -> list[Section]:
    return [
        Section("suspects", "The list", "The list", suspects(results)),
        Section("prospects", "What it brings", "What the list will bring", prospects(results)),
        Section("important", "Columns", "What the ranking rests on", columns(results)),
        Section("data", "Data", "The data", notes(results)),
    ]


def _technical(results: Results) -> Markup:
    """What a person needs who wants to know how it was made."""
    warned = [alarm.text for alarm in results.alarms if alarm.kind in FOLDED]
    parts = {
        "Warnings of the training": joined([element("p", text) for text in warned]),
        "Quality": metrics(results),
        "Scores, and the share of positives": element(
            "div", scores(results), share(results), class_="panels pair"
        ),
        "Self-correction": rounds(results),
        "Learners": members(results),
        "How to repeat this": settings(results),
        "Words": element("p", DEFINED, class_="how"),
    }
    inside = [[element("h3", title), part] for title, part in parts.items() if part]
    fold = element("details", element("summary", "Technical details"), inside)
    return element("section", fold, id="technical")


def _section(section: Section) -> Markup:
    return element("section", element("h2", section.title), section.inside, id=section.key)


def _contents(sections: Sequence[Section]) -> Markup:
    names = [*((each.key, each.short) for each in sections), ("technical", "Technical details")]
    links = [element("li", element("a", short, href=f"#{key}")) for key, short in names]
    return element("nav", element("ul", links), aria_label="Contents")


def _switch() -> Markup:
    radios = [
        element(
            "label",
            element("input", type="radio", name="scheme", id=scheme, checked=scheme == "auto"),
            element("span", scheme),
        )
        for scheme in SCHEMES
    ]
    return element(
        "fieldset", element("legend", "Colours", class_="aside"), radios, class_="scheme"
    )


def _style() -> str:
    # Lengths of bars are classes, because the policy forbids styles of single elements.
    lengths = "".join(
        f".n{i} {{ --n: {i / LENGTHS:g}; }} .z{i} {{ --zero: {i / LENGTHS:g}; }}\n"
        for i in range(LENGTHS + 1)
    )
    return f"{variables()}{lengths}{_file('page.css')}"


def _file(name: str) -> str:
    return files("robustpu.report").joinpath(name).read_text(encoding="utf-8")
