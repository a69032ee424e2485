import re

import pytest
from made import table3, temperature, trials

from robustpu.report.figures import draw_comparison, draw_sweep
from robustpu.report.tables import tables


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_sweep_is_drawn_the_same_each_time(tmp_path, ending):
    table = tables(temperature())[0]
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    assert draw_sweep(table, first)
    assert draw_sweep(table, second)
    assert first.stat().st_size > 10_000
    assert first.read_bytes() == second.read_bytes()


def texts(picture):
    """What is written in an SVG of matplotlib, which keeps texts as comments."""
    return re.findall(r"<!-- (.*?) -->", picture.read_text())


def test_an_axis_is_named_by_its_symbol_and_the_caption_says_what_it_is(tmp_path):
    assert draw_sweep(tables(temperature())[0], tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert "τ" in found
    assert any("against temperature τ" in text for text in found)


def test_a_comparison_has_no_empty_rows_and_names_its_scale(tmp_path):
    records = trials([0.1, 6.9]) + trials([7.0], dataset="digits", method="pn", label="PN")
    assert draw_comparison(tables(records)[0], tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert (found.count("nnPU"), found.count("PN")) == (1, 1)
    assert "digits (ours alone)" in found
    caption = " ".join(found)
    assert "logarithmic scale" in caption
    assert "◂: the bar goes on beyond the axis" in caption


def test_a_comparison_is_drawn(tmp_path):
    table = tables(table3())[0]
    assert draw_comparison(table, tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("draw", "records"),
    [(draw_sweep, table3()), (draw_comparison, temperature())],
)
def test_what_cannot_be_drawn_leaves_no_file(tmp_path, draw, records):
    assert not draw(tables(records)[0], tmp_path / "a.png")
    assert not (tmp_path / "a.png").exists()


def test_dollars_zeros_and_single_trials(tmp_path):
    table = tables(trials([0.0], title="$\\bad$", label="a$b", dataset="mnist"))[0]
    assert draw_comparison(table, tmp_path / "a.svg")


def test_many_panels_and_a_logarithmic_axis(tmp_path):
    records = [
        {**r, "dataset": f"d{i}", "x": 10 ** r["x"]} for i in range(5) for r in temperature()
    ]
    assert draw_sweep(tables(records)[0], tmp_path / "a.png")
