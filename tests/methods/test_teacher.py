"""Teachers: running means of the parameters of students."""

import pytest
import torch
from torch import nn

from robustpu.fleet import Fleet, Member, Rows
from robustpu.methods.teacher import Teacher


def line(shape):
    return nn.Sequential(nn.Linear(1, 1))


def normed(shape):
    return nn.Sequential(nn.Linear(1, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))


def fleet_of(size, module=line):
    index = torch.arange(6)
    rows = Rows(index, index < 2, torch.ones(6))
    members = [Member(rows, None, 0.4, 0.4, seed, seed) for seed in range(size)]
    return Fleet(torch.linspace(-1, 1, 6)[:, None], members, module)


def put(fleet, *values):
    """Let all parameters of each student be one number."""
    fleet.state.flat.copy_(torch.tensor(values)[:, None].expand_as(fleet.state.flat))


def test_begins_as_a_copy():
    fleet = fleet_of(2)
    teacher = Teacher(fleet)
    before = fleet.logits()
    put(fleet, 1.0, 2.0)
    torch.testing.assert_close(teacher.logits(), before)
    assert not torch.equal(fleet.logits(), before)


def test_a_running_mean():
    fleet = fleet_of(2)
    put(fleet, 0.0, 8.0)
    teacher = Teacher(fleet)
    put(fleet, 4.0, 0.0)
    teacher.learn(0.75)
    assert teacher.flat[:, 0].tolist() == pytest.approx([1.0, 6.0])
    teacher.learn(0.0)
    assert teacher.flat[:, 0].tolist() == pytest.approx([4.0, 0.0])


def test_a_decay_of_1_minus_1_over_t_is_the_plain_mean():
    fleet = fleet_of(1)
    teacher = Teacher(fleet)
    for epoch, value in enumerate([3.0, 5.0, 10.0], start=1):
        put(fleet, value)
        teacher.learn(1 - 1 / epoch)
    assert teacher.flat[0, 0].item() == pytest.approx(6.0)


def test_members_that_left_learn_no_more():
    fleet = fleet_of(3)
    put(fleet, 1.0, 2.0, 3.0)
    teacher = Teacher(fleet)
    fleet.keep(torch.tensor([True, False, True]))
    put(fleet, 5.0, 7.0)
    teacher.learn(0.5)
    assert teacher.flat[:, 0].tolist() == pytest.approx([3.0, 2.0, 5.0])
    # The teachers of those that are left answer: weight 3, 5 and bias 3, 5.
    x = torch.linspace(-1, 1, 6)
    torch.testing.assert_close(teacher.logits(), torch.stack([3 * x + 3, 5 * x + 5]))


def test_students_are_back_in_charge_afterwards_whatever_happens():
    fleet = fleet_of(2)
    teacher = Teacher(fleet)
    put(fleet, 1.0, 2.0)
    flat = fleet.state.flat
    with teacher.in_charge():
        assert torch.equal(fleet.state.flat, teacher.flat)
    assert fleet.state.flat is flat
    with pytest.raises(RuntimeError, match="stop"), teacher.in_charge():
        raise RuntimeError("stop")
    assert fleet.state.flat is flat


def test_batch_norm_is_the_students_own():
    fleet = fleet_of(1, normed)
    teacher = Teacher(fleet)
    before = teacher.logits()
    for name, value in fleet.state.buffers.items():
        if name.endswith("running_mean"):
            value += 1
    assert not torch.allclose(teacher.logits(), before)
    torch.testing.assert_close(teacher.logits(), fleet.logits())
