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
