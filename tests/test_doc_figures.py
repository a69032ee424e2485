"""Figures of the docs are those of the stored results; `python -m tools.figures --write`."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))
# The tables of real_data.py are read with pandas.
pytest.importorskip("pandas")

from tools.figures.__main__ import marked  # noqa: E402
from tools.figures.catalogue import FIGURES  # noqa: E402
from tools.figures.pages import calls, compare, unmarked  # noqa: E402

NAMES = (
    "checked_rows",
    "clean_tables",
    "methods",
    "pretrained",
    "priors",
    "real_tables",
    "robust_pu_meta",
    "scale",
    "special_tables",
)
RESULT_PAGES = ["README.md", "docs/default.md", "docs/evaluation.md", "docs/reproduction.md"]
RESULT_PAGES += [f"docs/results/{name}.md" for name in NAMES]
MADE = {
    "count": lambda of="10": f"2 of {of}",
    "table": lambda: [["", "a"], ["b", "1.5"], ["", ".2"]],
}
PAGE = """\
Lowest in **2 of
10**<!-- =count --> cells.

  <!-- figures: table -->
  | | a |
  |---|---|
  | b | 1.5 |
  | | .2 |

More.
"""


@pytest.mark.parametrize("page", marked(), ids=lambda page: page.stem)
def test_figures_are_those_of_the_stored_results(page):
    _, differences = compare(page.read_text(), FIGURES)
    assert not differences, "\n".join(map(str, differences))


@pytest.mark.parametrize("name", RESULT_PAGES)
def test_every_table_of_results_is_marked(name):
    assert not unmarked((ROOT / name).read_text())


def test_right_figures_do_not_differ():
    assert compare(PAGE, MADE) == (PAGE, [])
    assert calls(PAGE) == ["count", "table"]


@pytest.mark.parametrize(
    ("right", "wrong", "line"),
    [
        ("2 of\n10", "3 of\n10", 2),
        ("2 of\n10", "2 of\n9", 2),
        ("1.5", "1.4", 7),
        (".2 |", ".2 | 3 |", 8),
    ],
)
def test_a_wrong_figure_is_found_and_corrected_in_its_place(right, wrong, line):
    corrected, (difference,) = compare(PAGE.replace(right, wrong), MADE)
    assert difference.line == line
    assert corrected == PAGE


def test_rows_that_lack_or_are_too_many_are_found():
    shorter = PAGE.replace("  | | .2 |\n", "")
    longer = PAGE.replace("  | | .2 |\n", "  | | .2 |\n  | c | 1 |\n")
    for page in (shorter, longer):
        corrected, differences = compare(page, MADE)
        assert len(differences) == 1
        assert corrected == PAGE


def test_several_figures_in_a_line():
    text = "In 2 of 10<!-- =count -->, 2 of 5<!-- =count 5 -->,\n2 of 1,200<!-- =count 1,200 -->."
    assert compare(text, MADE) == (text, [])
    corrected, differences = compare(text.replace("2 of 5", "7 of 50"), MADE)
    assert (corrected, len(differences)) == (text, 1)


def test_a_comment_needs_a_figure_like_its_own_and_a_known_name():
    with pytest.raises(ValueError, match="no figure like '2 of 10'"):
        compare("never<!-- =count -->", MADE)
    with pytest.raises(ValueError, match="no figure 'sum'; there are count, table"):
        compare("3<!-- =sum -->", MADE)


def test_a_table_of_figures_without_a_mark_is_found():
    rows = "| a | 1.5 | 2.5 |\n| b | .25 | 1.75 |\n| c | 3.5 | 4.25 |\n"
    assert unmarked(f"Text\n\n{rows}") == ["| a | 1.5 | 2.5 |"]
    assert not unmarked(f"<!-- typed: settings -->\n{rows}")
    assert not unmarked("| a | 0.2 | 0.4 |\n")
