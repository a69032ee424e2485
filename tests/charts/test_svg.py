import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustpu.charts.svg import log_ticks, scale, ticks


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
