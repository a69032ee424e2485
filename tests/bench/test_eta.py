from dataclasses import replace

import pytest

from robustpu.bench.eta import Eta


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


def test_nothing_is_known_at_first(cells, clock):
    eta = Eta({cells[0]: 10.0}, now=clock)
    assert eta.seconds_left() is None
    eta.begin(cells[0])
    clock.time = 5.0
    assert eta.seconds_left() is None
    assert eta.share == 0


def test_time_is_by_work_not_by_cells(cells, clock):
    small, large = cells[:2]
    eta = Eta({small: 1.0, large: 99.0}, now=clock)
    eta.begin(small)
    clock.time = 2.0
    eta.finish(small, failed=False)
    assert eta.share == pytest.approx(0.01)
    assert eta.seconds_left() == pytest.approx(198.0)


def test_a_running_cell_counts_by_its_share(cells, clock):
    eta = Eta({cells[0]: 10.0}, now=clock)
    eta.begin(cells[0])
    clock.time = 3.0
    eta.advance(cells[0], 0.25)
    assert eta.share == pytest.approx(0.25)
    assert eta.seconds_left() == pytest.approx(9.0)


def test_each_data_set_has_a_pace_of_its_own(cells, clock):
    slow = [replace(cell, dataset="mnist") for cell in cells[:2]]
    eta = Eta({cells[0]: 1.0, cells[1]: 1.0, slow[0]: 1.0, slow[1]: 1.0}, now=clock)
    eta.begin(cells[0])
    clock.time = 1.0
    eta.finish(cells[0], failed=False)
    assert eta.seconds_left() == pytest.approx(3.0)
    eta.begin(slow[0])
    clock.time = 11.0
    eta.finish(slow[0], failed=False)
    # One more of a second, one more of ten seconds.
    assert eta.seconds_left() == pytest.approx(11.0)


def test_a_failure_tells_nothing_about_time(cells, clock):
    eta = Eta(dict.fromkeys(cells, 1.0), now=clock)
    eta.begin(cells[0])
    eta.finish(cells[0], failed=True)
    assert eta.seconds_left() is None
    assert eta.share == 0
    eta.begin(cells[1])
    clock.time = 4.0
    eta.finish(cells[1], failed=False)
    assert eta.seconds_left() == pytest.approx(8.0)
    assert eta.share == pytest.approx(1 / 3)


def test_workers_share_what_is_left_as_far_as_they_can(cells, clock):
    eta = Eta(dict.fromkeys(cells, 1.0), workers=2, now=clock)
    for cell in cells[:2]:
        eta.begin(cell)
    clock.time = 6.0
    eta.finish(cells[0], failed=False)
    eta.finish(cells[1], failed=False)
    assert eta.seconds_left() == pytest.approx(6.0)
    eta.begin(cells[2])
    clock.time = 12.0
    eta.finish(cells[2], failed=False)
    assert eta.seconds_left() == pytest.approx(6.0)


def test_all_failed_is_all_done(cells, clock):
    eta = Eta({cells[0]: 1.0}, now=clock)
    eta.begin(cells[0])
    eta.finish(cells[0], failed=True)
    assert eta.share == 1
