import re
import shutil
import subprocess

import pytest
from made import record, table3, temperature, trials

from robustpu.report.latex import escape, latex
from robustpu.report.tables import tables

NASTY = '50 % & $x$ #1 _a_ {b} \\def ~^ <c> | "d" τ ± ≤ – é'


def test_a_float_a_table_with_all_columns():
    text = latex(tables(table3()))
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 2
    assert r"\begin{tabular}{lrr}" in text
    body = re.search(r"\\toprule(.*?)\\bottomrule", text, flags=re.DOTALL).group(1)
    rows = [line for line in body.splitlines() if "&" in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert r"\label{tab:table3-oracle}" in text
    assert r"\label{tab:table3-pu}" in text


def test_the_caption_says_selection_trials_and_units():
    caption = re.search(r"\\caption\{(.*)\}", latex(tables(table3()))).group(1)
    assert "selected by labelled validation (oracle)" in caption
    assert r"in percent, mean $\pm$ deviation over 10 trials, both in points" in caption


def test_ours_and_the_papers():
    records = trials([3.0, 3.2] * 5, method="robust-pu", label="Robust-PU")
    records += trials([9.0, 9.5] * 5)
    text = latex(tables(records))
    assert r"Robust-PU & \textbf{3.10 $\pm$ 0.11}\marked{} \\" in text
    assert r"paper & \scriptsize $\le$ 3.28 $\pm$ 0.3\marked{} \\" in text
    assert r"\textgreater{} 7.38 $\pm$ 0.9" in text


def test_incomplete_cells_are_marked_and_named():
    records = trials([3.0] * 10) + trials([1.0] * 9, method="pn", label="PN")
    records += [record(method="pn", label="PN", trial=9, failure="ValueError: 100% lost")]
    text = latex(tables(records))
    assert r"PN & 1.00 $\pm$ 0.00\marked{$^\dagger$}" in text
    assert r"9 of 10 trials; 1 failed (ValueError: 100\% lost)" in text


def test_no_paper_no_second_rows():
    text = latex(tables(temperature()))
    assert "paper" not in text
    assert r"$\tau$ = 0.5 & 3.80" in text


def test_special_characters_are_escaped():
    assert escape(r"a_b & 5% {x} \y #1 $") == (r"a\_b \& 5\% \{x\} \textbackslash{}y \#1 \$")
    assert escape("α≈β†") == r"$\alpha$$\approx$$\beta$$^\dagger$"
    assert escape("two\nlines") == "two lines"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
def test_it_compiles(tmp_path):
    nasty = trials([1.0], experiment="n", title=NASTY, label=NASTY, dataset=NASTY, device=NASTY)
    (tmp_path / "tables.tex").write_text(latex(tables(table3() + temperature() + nasty)))
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


def test_letters_that_latex_lacks_do_not_stop_it():
    assert escape("λ ο Σ 漢 \x1b é") == r"$\lambda$ ? $\Sigma$ ? ? é"


def test_a_label_is_not_read_as_an_option_of_the_line_before():
    (table,) = tables(trials([1.0] * 3, label="[x]"))
    assert "{}[x] & " in latex([table])
