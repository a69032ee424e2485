import math
import re

import pytest
from made import record, table3, temperature, trials

from robustpu.bench.report.curves import curves
from robustpu.bench.report.dotplot import dotplot, key
from robustpu.bench.report.panels import axis, panels, scale_words
from robustpu.bench.report.sweeps import sweep
from robustpu.bench.report.tables import tables
from robustpu.charts.svg import text_width


def test_dots_are_where_the_figures_are():
    (table,) = tables(trials([7.0, 7.2]))
    picture = dotplot(table, "mnist")
    ours, paper = (
        float(re.search(rf'circle class="{kind}" cx="([\d.]+)"', picture).group(1))
        for kind in ("ours", "paper")
    )
    assert ours < paper  # 7.10 against 7.38
    low, high, _, logarithmic = axis(table.cells.values())
    assert logarithmic
    share = math.log(7.1 / low) / math.log(high / low)
    left = 14 + text_width("nnPU")
    assert ours == pytest.approx(left + share * (340 - 12 - left), abs=0.06)


@pytest.mark.parametrize("label", ["PN", "Robust-PU, 5 best", "W" * 60])
def test_the_margin_follows_the_longest_name(label):
    (table,) = tables(trials([7.0, 7.2]) + trials([8.0, 8.2], method="pn", label=label))
    picture = dotplot(table, "mnist")
    names = re.findall(r'class="name" x="([\d.]+)"[^>]*>([^<]+)<', picture)
    assert len(names) == 2
    for right, name in names:
        assert text_width(name) <= float(right) < 340 / 2
    assert (label in dict(map(reversed, names))) == (len(label) < 60)


def test_a_bar_that_leaves_the_axis_has_an_arrow():
    wide, narrow = trials([0.1, 6.9]), trials([7.0, 7.2])
    (cut,), (whole,) = tables(wide), tables(narrow)
    assert dotplot(cut, "mnist").count('class="ours beyond"') == 1
    assert "beyond" not in dotplot(whole, "mnist")
    assert "extends beyond the axis" in key(cut)
    assert "extends" not in key(whole)


def test_methods_without_a_cell_on_a_data_set_have_no_row_there():
    (table,) = tables(trials([7.0]) + trials([7.0], dataset="cifar10", method="pn", label="PN"))
    assert re.findall(r'class="name"[^>]*>([^<]+)', dotplot(table, "mnist")) == ["nnPU"]
    assert re.findall(r'class="name"[^>]*>([^<]+)', dotplot(table, "cifar10")) == ["PN"]


def test_a_data_set_that_the_paper_does_not_have_is_drawn_with_ours_alone():
    (table,) = tables(trials([7.0, 7.2]) + trials([7.0, 7.2], dataset="digits"))
    assert [panel.alone for panel in panels(table).values()] == [False, True]
    assert 'class="paper"' in dotplot(table, "mnist")
    assert 'class="paper"' not in dotplot(table, "digits")
    assert 'circle class="ours"' in dotplot(table, "digits")


def test_the_scale_is_named():
    (table,) = tables(trials([7.0]))
    assert "logarithmic scale" in key(table)
    (table,) = tables(trials([7.0]) + trials([0.0], dataset="shuttle"))
    assert scale_words(panels(table)) == "logarithmic scale (linear for shuttle)"
    assert scale_words(panels(tables(trials([0.0]))[0])) == ""


def test_a_mean_of_zero_has_a_linear_axis():
    (table,) = tables(trials([0.0, 0.0]))
    low, _, _, logarithmic = axis(table.cells.values())
    assert (low, logarithmic) == (0.0, False)
    assert "nan" not in dotplot(table, "mnist")


def test_incomplete_cells_are_not_drawn():
    (table,) = tables([*trials([3.0] * 3), record(trial=3, failure="no")])
    assert dotplot(table, "mnist") == ""


def test_one_trial_has_no_bar():
    (table,) = tables(trials([3.0]))
    assert "nan" not in dotplot(table, "mnist")


def test_a_sweep_is_read_from_the_records():
    found = sweep(tables(temperature())[0])
    assert (found.axis, found.symbol) == ("temperature", "τ")
    assert (found.label, found.name) == ("τ", "temperature τ")
    assert not found.logarithmic
    assert [point.x for point in found.panels["mnist"][0.2]] == [0.5, 1.0, 2.0]
    assert found.panels["mnist"][0.4][1].error.mean == pytest.approx(3.5)
    assert found.panels["mnist"][0.4][1].error.sd == pytest.approx(0.1)


def test_an_axis_without_a_setting_is_x():
    records = [{**r, "settings": {"lr": 0.1}} for r in temperature()]
    assert sweep(tables(records)[0]).axis == "x"
    assert sweep(tables(records)[0]).name == "τ"


def test_labels_that_differ_before_the_sign_have_no_symbol():
    records = temperature()
    records[0]["label"] = "cold"
    assert sweep(tables(records)[0]).label == "temperature"


def test_a_wide_sweep_is_logarithmic():
    records = [{**r, "x": 10 ** r["x"]} for r in temperature()]
    assert sweep(tables(records)[0]).logarithmic


def test_what_is_no_sweep():
    assert sweep(tables(table3())[0]) is None
    same = [{**r, "x": 1.0} for r in temperature()]
    assert sweep(tables(same)[0]) is None


def test_a_failed_point_is_left_out():
    records = temperature()
    records[0] = record(**{**records[0], "failure": "no"})
    found = sweep(tables(records)[0])
    assert [point.x for point in found.panels["mnist"][0.2]] == [1.0, 2.0]
    assert [point.x for point in found.panels["mnist"][0.4]] == [0.5, 1.0, 2.0]


def test_curves_are_named_at_their_ends_and_names_do_not_touch():
    picture = curves(sweep(tables(temperature())[0]), "mnist")
    assert re.findall(r"π = [\d.]+", picture) == ["π = 0.2", "π = 0.4"]
    assert re.search(r'class="axis"[^>]*>([^<]+)', picture).group(1) == "τ"
    close = [{**r, "scores": {"error": 3 + r["prior"] / 1e4}} for r in temperature()]
    picture = curves(sweep(tables(close)[0]), "mnist")
    heights = [float(y) for y in re.findall(r'class="end" x="[\d.]+" y="([\d.]+)"', picture)]
    assert abs(heights[0] - heights[1]) >= 12
