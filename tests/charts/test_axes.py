import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustpu.charts.axes import apart, feet, label
from robustpu.charts.wording import about, between, percent


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 100), max_size=6))
def test_texts_are_moved_apart_and_stay_above_the_lowest(heights):
    moved = apart(heights, 12, 100)
    order = sorted(heights, key=lambda name: heights[name])
    spots = [moved[name] for name in order]
    assert all(lower - upper >= 12 - 1e-9 for upper, lower in pairwise(spots))
    assert not spots or spots[-1] <= 100


def test_texts_with_room_stay_where_they_are():
    assert apart({"a": 10, "b": 30}) == {"a": 10, "b": 30}


def test_numbers_below_an_axis_never_touch():
    picture = feet(range(100), lambda value: 3 * value, 0, str)
    spots = [float(x) for x in re.findall(r'x="([\d.]+)"', picture)]
    assert len(spots) > 5
    assert all(b - a >= 14 for a, b in pairwise(spots))


def test_a_label_is_escaped():
    assert "<b>" not in label("<b>", 0, 0)


@given(st.floats(0, 1))
def test_a_share_in_percent_is_near_the_share(share):
    written = float(percent(share, sign=False))
    assert written == pytest.approx(100 * share, abs=0.5 if 0.09 < share < 0.91 else 0.051)


@given(st.floats(100, 1e12))
def test_about_has_two_digits_that_count(value):
    written = float(about(value).replace(",", ""))
    assert written == pytest.approx(value, rel=0.051)
    assert len(f"{written:.0f}".rstrip("0")) <= 2


def test_an_interval_that_is_not_known_is_empty():
    assert between(0.5, None, 1) == ""
