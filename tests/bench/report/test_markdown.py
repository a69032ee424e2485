import re

from made import record, table3, temperature, trials

from robustpu.bench.report.markdown import markdown
from robustpu.bench.report.tables import tables


def grids(text):
    """Tables of a document, as lists of rows."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [[re.split(r"(?<!\\)\|", line)[1:-1] for line in grid.splitlines()] for grid in found]


def test_ours_and_the_papers_stand_side_by_side():
    records = trials([3.0, 3.2] * 5, method="robust-pu", label="Robust-PU")
    records += trials([9.0, 9.5] * 5)
    text = markdown(tables(records))
    assert "## Main results, selected by labelled validation (oracle)" in text
    assert "| 0.2 | Robust-PU | **3.10 ± 0.11**<br><sub>≤ 3.28 ± 0.3</sub> |" in text
    assert "| 0.2 | nnPU | 9.25 ± 0.26<br><sub>\\> 7.38 ± 0.9</sub> |" in text
    assert "| mnist | 0.2 | Robust-PU | nnPU | 6.15 (6.04 to 6.26) | 10–0 | **0.002** |" in text
    assert "Paper: Table 3 of Zhu et al." in text
    assert text.startswith("# robustpu: benchmark\n\nOur errors beside those of Zhu et al., ")


def test_tables_are_rectangular():
    for grid in grids(markdown(tables(table3() + temperature()))):
        assert len({len(row) for row in grid}) == 1
    assert len(grids(markdown(tables(table3())))) == 6


def test_marks():
    records = trials([3.0, 3.2, 3.1, 2.9, 3.0, 3.1], method="robust-pu")
    records += trials([3.1, 3.1, 3.2, 2.9, 2.9, 3.2])
    records += [*trials([1.0] * 5, method="pn"), record(method="pn", trial=5, failure="no")]
    text = markdown(tables(records))
    assert "3.07 ± 0.14 ≈<br>" in text
    assert "1.00 ± 0.00 †<br>" in text
    assert "5 of 6 trials; 1 failed (no)" in text


def test_what_comes_from_files_is_escaped():
    nasty = "a|b *c* <script> _d_ `e` [f](g) $h$ &amp;\n# i"
    text = markdown(tables([record(title=nasty, label=nasty, dataset=nasty)]))
    assert "<script>" not in text
    assert r"a\|b \*c\* &lt;script&gt; \_d\_ \`e\` \[f\](g) \$h\$ &amp;amp; \# i" in text
    for grid in grids(text):
        assert len({len(row) for row in grid}) == 1


def test_same_records_same_bytes():
    assert markdown(tables(table3())) == markdown(tables(table3()))
