import re
import shutil
import subprocess

import pytest
from made import large, record, table3, temperature, trials

from robustpu.report.latex import latex
from robustpu.report.tables import tables
from robustpu.report.tex import escape

NASTY = '50 % & $x$ #1 _a_ {b} \\def ~^ <c> | "d" τ ± ≤ – é'


def test_a_float_a_table_with_all_columns():
    text = latex(tables(table3()))
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 2
    assert r"\begin{tabular}{@{}lrr@{}}" in text
    assert text.count(r"\def\marked") == 1
    body = re.search(r"\\toprule(.*?)\\bottomrule", text, flags=re.DOTALL).group(1)
    rows = [line for line in body.splitlines() if "&" in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert r"\label{tab:table3-oracle}" in text
    assert r"\label{tab:table3-pu}" in text


def test_the_caption_says_selection_trials_and_units():
    caption = re.search(r"\\caption\{(.*)\}", latex(tables(table3()))).group(1)
    assert "selected by labelled validation (oracle)" in caption
    assert r"in percent, mean $\pm$ deviation over 10 trials, both in points" in caption


def test_trials_are_said_from_the_least_to_the_most():
    text = latex(tables(trials([1.0] * 3) + trials([1.0] * 10, dataset="cifar10")))
    assert "over 3 to 10 trials" in text


def test_a_tall_table_has_a_float_a_prior_and_one_with_the_remarks():
    text = latex(tables(large(["mnist"], 11)))
    assert re.findall(r"\\label\{(.*?)\}", text) == [
        f"tab:table3-oracle:{prior}" for prior in (0.2, 0.4, 0.6)
    ]
    for prior in (0.2, 0.4, 0.6):
        assert text.count(rf"Main results, $\pi$ = {prior}, selected") == 1
        assert text.count(rf"$\pi = {prior}$") == 1
    assert text.count("Paper: Table 3") == 1
    assert text.count(r"Notes: see Table~\ref{tab:table3-oracle:0.6}.") == 2
    assert latex(tables(large(["mnist"], 5))).count(r"\begin{table*}") == 1


def test_a_wide_table_comes_in_parts_that_have_every_data_set_once():
    names = [f"d{i}" for i in range(7)]
    text = latex(tables(large(names, 2)))
    heads = re.findall(r"\nMethod & (.*) \\\\", text)
    assert [name for head in heads for name in re.findall(r"d\d", head)] == names
    assert [len(head.split("&")) for head in heads] == [4, 3]
    assert "part 2 of 2" in text


def test_ours_and_the_papers():
    records = trials([3.0, 3.2] * 5, method="robust-pu", label="Robust-PU")
    records += trials([9.0, 9.5] * 5)
    text = latex(tables(records))
    assert r"Robust-PU & \textbf{3.10$\pm$0.11}\marked{} \\" in text
    assert r"paper & \lesser $\le$3.28$\pm$0.3\marked{} \\" in text
    assert r"\textgreater{}7.38$\pm$0.9" in text


def test_incomplete_cells_are_marked_and_named():
    records = trials([3.0] * 10) + trials([1.0] * 9, method="pn", label="PN")
    records += [record(method="pn", label="PN", trial=9, failure="ValueError: 100% lost")]
    text = latex(tables(records))
    assert r"PN & 1.00$\pm$0.00\marked{$^\dagger$}" in text
    assert r"9 of 10 trials; 1 failed (ValueError: 100\% lost)" in text


def test_no_paper_no_second_rows():
    text = latex(tables(temperature()))
    assert "paper" not in text.partition(r"\begin")[2]
    assert r"$\tau$ = 0.5 & 3.80" in text


def test_special_characters_are_escaped():
    assert escape(r"a_b & 5% {x} \y #1 $") == (r"a\_b \& 5\% \{x\} \textbackslash{}y \#1 \$")
    assert escape("α≈β†") == r"$\alpha$$\approx$$\beta$$^\dagger$"
    assert escape("two\nlines") == "two lines"
    assert escape('a, "b c", ("d") “e” f\'s') == "a, ``b c'', (``d'') ``e'' f's"


def compiled(records, tmp_path):
    """What LaTeX says of the tables in a plain article."""
    (tmp_path / "tables.tex").write_text(latex(tables(records)))
    (tmp_path / "main.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}"
        "\\begin{document}\\input{tables}\\end{document}"
    )
    answer = subprocess.run(
        ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "main.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stdout[-2000:]
    return answer.stdout


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_it_compiles(tmp_path):
    nasty = trials([1.0], experiment="n", title=NASTY, label=NASTY, dataset=NASTY, device=NASTY)
    compiled(table3() + temperature() + nasty, tmp_path)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_large_tables_fit_a_page(tmp_path):
    names = ["cifar10", "stl10", "mnist", "fashion-mnist", "mushrooms", "shuttle", "spambase"]
    # In parts, of five columns, and of the tallest that is left whole.
    pages = large(names, 11)
    pages += [{**r, "experiment": "five"} for r in large(names[2:], 11)]
    pages += [{**r, "experiment": "whole"} for r in large(names[2:], 5)]
    said = compiled(pages, tmp_path)
    assert "Overfull" not in said
    assert "too large" not in said


def test_letters_that_latex_lacks_do_not_stop_it():
    assert escape("λ ο Σ 漢 \x1b é") == r"$\lambda$ ? $\Sigma$ ? ? é"


def test_a_label_is_not_read_as_an_option_of_the_line_before():
    (table,) = tables(trials([1.0] * 3, label="[x]"))
    assert "{}[x] & " in latex([table])
