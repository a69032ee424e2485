import math

import numpy as np
import pytest

from robustpu.bench.candidates import check_space, draw

WIDE = {"low": 0.2, "high": 3.0}
LOG = {"low": 1e-4, "high": 1e-2, "log": True}


def test_no_search_is_one_candidate():
    assert draw({}, 24, seed=0) == ({},)


def test_a_small_grid_is_taken_whole_and_once():
    grid = draw({"a": [1, 2, 3], "b": [True, False]}, 6, seed=0)
    assert len(grid) == 6
    assert {(setting["a"], setting["b"]) for setting in grid} == {
        (a, b) for a in (1, 2, 3) for b in (True, False)
    }
    assert draw({"a": [1, 2, 1]}, 3, seed=0) == ({"a": 1}, {"a": 2})


def test_a_large_grid_is_sampled_without_repetition():
    settings = draw({"a": [1, 2, 3], "b": [1, 2, 3]}, 8, seed=0)
    assert 3 < len(settings) <= 8
    assert len({tuple(setting.items()) for setting in settings}) == len(settings)


def test_each_parameter_has_a_stream_of_its_own():
    alone = draw({"t": WIDE}, 5, seed=1)
    together = draw({"lr": LOG, "t": WIDE, "n": [1, 2, 3]}, 5, seed=1)
    assert [setting["t"] for setting in alone] == [setting["t"] for setting in together]
    other = draw({"u": WIDE}, 5, seed=1)
    assert [setting["t"] for setting in alone] != [setting["u"] for setting in other]
    assert draw({"t": WIDE}, 5, seed=2) != alone


def test_a_curriculum_draws_what_its_settings_drew_before_they_moved_there():
    moved = draw({"curriculum__pacing_positive__beta": WIDE, "lr": LOG}, 5, seed=1)
    before = draw({"pacing_positive__beta": WIDE, "lr": LOG}, 5, seed=1)
    assert [tuple(setting.values()) for setting in moved] == [
        tuple(setting.values()) for setting in before
    ]


def test_more_candidates_leave_the_first_as_they_were():
    assert draw({"t": WIDE, "n": [1, 2]}, 9, seed=0)[:4] == draw({"t": WIDE, "n": [1, 2]}, 4, 0)


@pytest.mark.parametrize("space", [WIDE, [1, 2, 3]])
def test_a_tied_parameter_has_the_value_of_the_other(space):
    settings = draw({"b": {"like": "a"}, "a": space, "lr": LOG}, 5, seed=1)
    assert [setting["a"] for setting in settings] == [setting["b"] for setting in settings]
    assert [list(setting) for setting in settings] == [["b", "a", "lr"]] * 5
    alone = draw({"a": space, "lr": LOG}, 5, seed=1)
    assert [{**setting, "b": setting["a"]} for setting in alone] == list(settings)


@pytest.mark.parametrize("other", ["c", "b"])
def test_what_a_parameter_is_tied_to_must_be_searched(other):
    with pytest.raises(ValueError, match=r"like of b must name another parameter"):
        draw({"a": WIDE, "b": {"like": other}}, 5, seed=1)


def test_draws_are_uniform_or_uniform_in_the_logarithm():
    wide = np.array([setting["t"] for setting in draw({"t": WIDE}, 2000, seed=0)])
    assert wide.min() >= 0.2
    assert wide.max() <= 3.0
    assert abs(np.median(wide) - 1.6) < 0.1
    log = np.array([setting["lr"] for setting in draw({"lr": LOG}, 2000, seed=0)])
    assert abs(np.median(np.log10(log)) + 3) < 0.1


def test_draws_have_no_more_digits_than_a_record():
    for setting in draw({"t": WIDE, "lr": LOG}, 50, seed=0):
        assert setting == {key: float(f"{value:.6g}") for key, value in setting.items()}


@pytest.mark.parametrize(
    "space",
    [
        [],
        1.0,
        "a",
        {},
        {"low": 1},
        {"low": 1, "high": 2, "logg": True},
        {"like": 1},
        {"like": "a", "low": 1},
        {"low": 2, "high": 1},
        {"low": 1, "high": 1},
        {"low": "1", "high": 2},
        {"low": 0.0, "high": 1, "log": True},
        {"low": 0.1, "high": 1, "log": 1},
        {"low": math.nan, "high": 1},
        {"low": 0, "high": math.inf},
        {"low": -math.inf, "high": 0},
    ],
)
def test_what_is_no_space_is_refused(space):
    with pytest.raises(ValueError, match="lr in"):
        check_space("lr in [methods.nnpu.search]", space)


@pytest.mark.parametrize(
    "space", [[1], ["a", "b"], WIDE, LOG, {"low": -1, "high": 0}, {"like": "a"}]
)
def test_spaces_are_accepted(space):
    check_space("lr", space)
