import re
from pathlib import Path

import pytest
from made import table3, temperature, trials

from markup import Reader
from robustpu.bench import store
from robustpu.bench.report.figures import comparison, sweep_curves
from robustpu.bench.report.tables import tables

EXPERIMENTS = Path(__file__).parents[3] / "experiments"


def drawn(draw, records):
    return draw(tables(records)[0])


def texts(picture):
    return " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", picture))


@pytest.mark.parametrize(
    ("draw", "records"), [(sweep_curves, temperature()), (comparison, table3())]
)
def test_a_figure_is_one_file_that_needs_nothing_else(draw, records):
    picture = drawn(draw, records)
    assert picture == drawn(draw, records)
    assert picture.startswith('<svg xmlns="http://www.w3.org/2000/svg" width="')
    assert set(re.findall(r"https?://[^\"'\s<]*", picture)) == {"http://www.w3.org/2000/svg"}
    assert not set(re.findall(r"var\(--([\w-]+)\)", picture)) - set(
        re.findall(r"--([\w-]+):", picture)
    )
    Reader(picture)


def test_a_sweep_names_its_axis():
    picture = drawn(sweep_curves, temperature())
    assert ">τ</text>" in picture
    assert "against temperature τ: mean" in texts(picture)


def test_a_comparison_has_no_empty_rows_and_names_its_scale():
    records = trials([0.1, 6.9]) + trials([7.0], dataset="digits", method="pn", label="PN")
    picture = drawn(comparison, records)
    assert (picture.count(">nnPU<"), picture.count(">PN<")) == (1, 1)
    assert "digits (ours alone)" in picture
    assert "logarithmic scale" in texts(picture)
    assert "the bar extends beyond the axis" in texts(picture)


@pytest.mark.parametrize(
    ("draw", "records"), [(sweep_curves, table3()), (comparison, temperature())]
)
def test_what_cannot_be_drawn_is_empty(draw, records):
    assert drawn(draw, records) == ""


def test_panels_stand_in_rows_and_inside_the_figure():
    records = [{**row, "dataset": f"d{i}"} for i in range(6) for row in temperature()]
    picture = drawn(sweep_curves, records)
    width, height = map(float, re.search(r'width="([\d.]+)" height="([\d.]+)"', picture).groups())
    places = re.findall(r'<svg x="([\d.]+)" y="([\d.]+)" width="340" height="([\d.]+)"', picture)
    assert len(places) == 6
    assert len({y for _, y, _ in places}) == 2
    assert all(float(x) + 340 < width and float(y) + float(h) < height for x, y, h in places)


def test_what_comes_from_files_is_escaped():
    nasty = "</style><script>alert(1)</script>"
    picture = drawn(comparison, trials([1.0], title=nasty, label=nasty))
    assert "<script" not in picture


@pytest.mark.parametrize(
    ("name", "draw"),
    [("main", comparison), ("temperature", sweep_curves), ("epochs", sweep_curves)],
)
def test_the_figures_of_the_docs_are_those_of_the_committed_results(name, draw):
    kind = "comparison" if draw is comparison else "sweep"
    for table in tables(store.read(EXPERIMENTS / "results" / f"{name}.jsonl")):
        figure = EXPERIMENTS / "figures" / f"{name}-{table.selection}-{kind}.svg"
        assert figure.read_text(encoding="utf-8") == draw(table), "run `make figures`"
