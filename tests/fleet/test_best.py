import pytest
import torch
from torch import nn

from robustpu.fleet import Best, Course, Fleet, Member, Rows


def normed(shape):
    return nn.Sequential(nn.Linear(1, 2), nn.BatchNorm1d(2), nn.Linear(2, 1))


def fleet_of(*groups, module="linear"):
    index = torch.arange(4)
    rows = Rows(index, index == 0, torch.ones(4, dtype=torch.float64))
    members = [Member(rows, None, 0.5, 0.5, seed, group) for seed, group in enumerate(groups)]
    return Fleet(torch.ones(4, 1), members, module)


def be(fleet, value):
    """Give every member that still trains a state that can be told from all others."""
    fleet.state.flat.fill_(value)


def offer(fleet, best, iteration, *scores):
    be(fleet, iteration)
    best.offer(torch.tensor(scores), iteration)


def remembered(best):
    """The iteration that each member's remembered state is from."""
    assert (best.state.flat == best.state.flat[:, :1]).all()
    return best.state.flat[:, 0].tolist()


def test_each_member_of_its_own_group_has_its_own_best():
    fleet = fleet_of(0, 1, 2)
    best = Best(fleet)
    offer(fleet, best, 1, 0.5, 0.9, -3.0)
    offer(fleet, best, 2, 0.7, 0.8, -2.0)
    offer(fleet, best, 3, 0.6, 0.7, -1.0)
    assert remembered(best) == best.iteration.tolist() == [2, 1, 3]
    torch.testing.assert_close(best.score, torch.tensor([0.7, 0.9, -1.0]))
    assert best.waited(4).tolist() == [2, 3, 1]


def test_the_earlier_wins_a_tie():
    fleet = fleet_of(0, 0)
    best = Best(fleet)
    offer(fleet, best, 1, 0.25, 0.75)
    offer(fleet, best, 2, 0.75, 0.25)
    offer(fleet, best, 3, 0.5, 0.5)
    assert remembered(best) == best.iteration.tolist() == [1, 1]
    assert best.score.tolist() == [0.25, 0.75]


def test_a_group_is_evaluated_by_its_mean_and_keeps_its_own_scores():
    fleet = fleet_of(4, 2, 4, 2)
    best = Best(fleet)
    offer(fleet, best, 1, 0.75, 0.5, 0.25, 0.5)
    # The first falls, its group rises; the second rises, its group falls.
    offer(fleet, best, 2, 0.5, 0.75, 1.0, 0.0)
    assert remembered(best) == best.iteration.tolist() == [2, 1, 2, 1]
    assert best.score.tolist() == [0.5, 0.5, 1.0, 0.5]


def test_a_later_score_is_measured_against_the_mean_and_not_the_own_score():
    fleet = fleet_of(0, 0)
    best = Best(fleet)
    offer(fleet, best, 1, 1.0, 0.0)
    offer(fleet, best, 2, 0.75, 0.5)
    offer(fleet, best, 3, 0.5, 0.6)
    assert remembered(best) == [2, 2]


def test_without_scores_the_latest_is_best():
    fleet = fleet_of(0, 0)
    best = Best(fleet)
    for iteration in (1, 2, 3):
        be(fleet, iteration)
        best.offer(None, iteration)
    assert remembered(best) == best.iteration.tolist() == [3, 3]
    assert best.waited(3).tolist() == [0, 0]


@pytest.mark.parametrize("scored", [True, False])
def test_members_that_left_are_remembered_as_they_were(scored):
    fleet = fleet_of(0, 1, 2)
    best = Best(fleet)
    be(fleet, 1)
    best.offer(torch.tensor([0.1, 0.2, 0.3]) if scored else None, 1)
    fleet.keep(torch.tensor([True, False, True]))
    be(fleet, 2)
    best.offer(torch.tensor([0.0, 0.4]) if scored else None, 2)
    assert remembered(best) == ([1, 1, 2] if scored else [2, 1, 2])
    assert best.waited(2).tolist() == ([1, 0] if scored else [0, 0])
    if scored:
        torch.testing.assert_close(best.score, torch.tensor([0.1, 0.2, 0.4]))


def test_what_is_remembered_does_not_move_with_the_fleet():
    fleet = fleet_of(0, 1)
    best = Best(fleet)
    offer(fleet, best, 1, 0.5, 0.5)
    be(fleet, 9)
    assert remembered(best) == [1, 1]


def test_before_any_offer_the_start_is_remembered():
    fleet = fleet_of(0)
    be(fleet, 5)
    best = Best(fleet)
    be(fleet, 6)
    assert remembered(best) == [5]
    assert best.iteration.tolist() == [0]


def test_restore_brings_all_back_in_their_best_states():
    fleet = fleet_of(0, 1, 2)
    best = Best(fleet)
    offer(fleet, best, 1, 0.5, 0.5, 0.5)
    fleet.keep(torch.tensor([False, True, True]))
    offer(fleet, best, 2, 0.6, 0.4)
    fleet.keep(torch.tensor([False, False]))
    best.restore()
    assert fleet.alive.tolist() == [0, 1, 2]
    assert fleet.state.flat[:, 0].tolist() == [1, 2, 1]


def test_batch_norm_statistics_belong_to_the_state():
    fleet = fleet_of(0, 1, module=normed)
    best = Best(fleet)
    mean = fleet.state.buffers["1.running_mean"]
    for iteration, scores in enumerate(([0.5, 0.5], [0.4, 0.6]), start=1):
        mean.fill_(iteration)
        offer(fleet, best, iteration, *scores)
    assert best.state.buffers["1.running_mean"].tolist() == [[1, 1], [2, 2]]


def test_the_course_tells_each_member_its_own_history():
    course = Course(Best(fleet_of(0, 1, 2)))
    course.record(torch.tensor([0, 1, 2]), iteration=torch.tensor([1, 1, 1]), score=None)
    course.record(
        torch.tensor([0, 2]), iteration=torch.tensor([2, 2]), score=torch.tensor([0.5, 0.25])
    )
    course.record(torch.tensor([2]), iteration=torch.tensor([3]), score=torch.tensor([0.125]))
    assert course.histories()[0] == [{"iteration": 1}, {"iteration": 2, "score": 0.5}]
    assert course.histories()[1] == [{"iteration": 1}]
    assert course.histories()[2] == [
        {"iteration": 1},
        {"iteration": 2, "score": 0.25},
        {"iteration": 3, "score": 0.125},
    ]


def test_the_course_tells_what_was_recorded_last():
    course = Course(Best(fleet_of(0, 1, 2)))
    course.record(torch.tensor([0, 1, 2]), score=torch.tensor([0.5, 0.25, 0.75]))
    course.record(torch.tensor([0, 2]), score=torch.tensor([0.125, 0.25]))
    alive, score = course.last("score")
    assert (alive.tolist(), score.tolist()) == ([0, 2], [0.125, 0.25])


def test_the_course_stacks_what_was_noted_of_the_rows():
    course = Course(Best(fleet_of(0, 1)))
    first, second = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([[5.0, 6.0]])
    course.record_rows(torch.tensor([0, 1]), weight=first)
    course.record_rows(torch.tensor([1]), weight=second)
    assert course.rows()[0]["weight"].tolist() == [[1, 2]]
    assert course.rows()[1]["weight"].tolist() == [[3, 4], [5, 6]]
    assert Course(Best(fleet_of(0))).rows() == [{}]
