import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made import record, table3, temperature, trials

from robustpu.report.curves import curves
from robustpu.report.dotplot import axis, dotplot
from robustpu.report.drawing import log_ticks, scale, ticks
from robustpu.report.sweeps import sweep
from robustpu.report.tables import tables


@given(st.floats(0, 100), st.floats(0, 100))
def test_ticks_span_the_range(low, span):
    marks = ticks(low, low + span)
    assert marks[0] <= low + 1e-6
    assert marks[-1] >= low + span - 1e-6
    assert 2 <= len(marks) <= 6
    assert marks == sorted(set(marks))


@given(st.floats(0.001, 100), st.floats(1, 1000))
def test_log_ticks_span_the_range(low, factor):
    marks = log_ticks(low, low * factor)
    assert marks[0] <= low
    assert marks[-1] >= low * factor
    assert len(marks) >= 2
    assert {f"{mark:e}"[0] for mark in marks} <= {"1", "2", "5"}


def test_a_scale_keeps_what_lies_outside_at_the_edge():
    place = scale(1, 10, 0, 100, logarithmic=True)
    assert place(-3) == place(1) == 0
    assert place(10) == place(11) == 100
    assert place(math.sqrt(10)) == pytest.approx(50)


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
    assert ours == pytest.approx(78 + share * (340 - 12 - 78), abs=0.06)


def test_a_mean_of_zero_has_a_linear_axis():
    (table,) = tables(trials([0.0, 0.0]))
    low, _, _, logarithmic = axis(table.cells.values())
    assert (low, logarithmic) == (0.0, False)
    assert "nan" not in dotplot(table, "mnist")


def test_cells_that_are_not_whole_are_not_drawn():
    (table,) = tables([*trials([3.0] * 3), record(trial=3, failure="no")])
    assert dotplot(table, "mnist") == ""


def test_one_trial_has_no_bar():
    (table,) = tables(trials([3.0]))
    assert "nan" not in dotplot(table, "mnist")


def test_a_sweep_is_read_from_the_records():
    found = sweep(tables(temperature())[0])
    assert found.axis == "temperature"
    assert not found.logarithmic
    assert [point.x for point in found.panels["mnist"][0.2]] == [0.5, 1.0, 2.0]
    assert found.panels["mnist"][0.4][1].mean == pytest.approx(3.5)
    assert found.panels["mnist"][0.4][1].sd == pytest.approx(0.1)


def test_an_axis_without_a_setting_is_x():
    records = [{**r, "settings": {"lr": 0.1}} for r in temperature()]
    assert sweep(tables(records)[0]).axis == "x"


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
    close = [{**r, "scores": {"error": 3 + r["prior"] / 1e4}} for r in temperature()]
    picture = curves(sweep(tables(close)[0]), "mnist")
    heights = [float(y) for y in re.findall(r'class="end" x="[\d.]+" y="([\d.]+)"', picture)]
    assert abs(heights[0] - heights[1]) >= 12
