"""Escaping by construction: all markup of the page is made by one function."""

import ast
from pathlib import Path

import pytest

import robustpu.report
from robustpu.report.markup import card, element, joined, strip, table

MODULES = sorted(Path(robustpu.report.__file__).parent.glob("*.py"))


def test_texts_are_escaped_wherever_they_stand():
    made = element("p", "<b>", ["<i>", None], title='"<s>"')
    assert made == '<p title="&#34;&lt;s&gt;&#34;">&lt;b&gt;&lt;i&gt;</p>'
    assert element("p", made).count("<p") == 2
    assert "<b>" not in card("<b>", "<b>", "<b>") + table(["<b>"], [["<b>", "<b>"]], "<b>")


def test_attributes_have_the_names_and_numbers_of_html():
    made = element("input", class_="a", aria_label="b", checked=True, hidden=False, max=2.50)
    assert made == '<input class="a" aria-label="b" checked max="2.5">'


def test_without_anything_inside_there_is_no_card():
    assert card("title", joined(), "words") == ""


@pytest.mark.parametrize(("share", "length"), [(0.0, 1), (0.5, 20), (1.0, 40), (7.0, 40)])
def test_strips_are_as_long_as_their_share(share, length):
    assert strip(share) == f'<i class="n{length}"></i>'


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_module_writes_markup_by_hand(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    trusted = {
        ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Markup"
    }
    # Names of ours with escaped values, and files of ours.
    allowed = {
        "markup.py": {
            "Markup(start if name in VOID else f'{start}{joined(*children)}</{name}>')",
            "Markup(''.join(parts))",
            "Markup('_<wbr>')",
        },
        "document.py": {"Markup(style)", "Markup(script)"},
    }
    assert trusted <= {"Markup('')"} | allowed.get(path.name, set())
