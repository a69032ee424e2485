import pytest
import torch
from torch import nn

from robustpu.fleet import Fleet, Member, Rows
from robustpu.modules import mlp
from robustpu.risks import nnpu

N = 40


def batch_normed(shape):
    return nn.Sequential(
        nn.Linear(*shape, 6, bias=False), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1)
    )


def risk(logit, batch, beta):
    return nnpu(
        logit, batch.is_positive, batch.weight, batch.prior, batch.population_prior, beta=beta
    )


def fleet_of(module, members=3):
    pool = torch.randn(N, 5, generator=torch.Generator().manual_seed(0))
    rows = Rows(torch.arange(N), torch.arange(N) < 15, torch.ones(N))
    crew = [Member(rows, None, 0.3, 0.3, seed, group=seed) for seed in range(members)]
    return Fleet(pool, crew, module)


def start(fleet, lr, beta, own_risk=risk):
    fleet.start(own_risk, lr, [1e-3] * 3, [0, 1, 0], 16, beta=beta)


both = pytest.mark.parametrize("module", [mlp, batch_normed], ids=["stacked", "one by one"])


@both
def test_a_second_start_of_one_risk_is_as_good_as_a_fresh_one(module):
    """In place, with other numbers, and nothing left of the optimiser's first life."""

    def other_risk(logit, batch, beta):
        return risk(logit, batch, beta)

    answers = []
    for first_risk in (risk, other_risk):
        fleet = fleet_of(module)
        start(fleet, [1e-2, 1e-3, 3e-2], [0.0, 0.1, 0.0], first_risk)
        lanes = fleet._lanes
        fleet.epoch()
        start(fleet, [3e-3, 1e-2, 1e-2], [0.2, 0.0, 0.0])
        assert (fleet._lanes is lanes) == (first_risk is risk)
        fleet.epoch()
        fleet.epoch()
        answers.append(fleet.logits())
    assert torch.equal(*answers)


@both
def test_members_that_leave_take_their_numbers_along(module):
    answers = []
    for leaves in (True, False):
        fleet = fleet_of(module)
        start(fleet, [1e-2, 1e-3, 3e-2], [0.0, 0.3, 0.1])
        fleet.epoch()
        if leaves:
            fleet.keep(torch.tensor([False, True, True]))
        fleet.epoch()
        answers.append(fleet.logits()[-2:])
    torch.testing.assert_close(*answers, rtol=1e-5, atol=1e-6)


def test_members_of_a_stacked_network_share_a_lane_and_others_have_their_own():
    for module, lanes in ((mlp, 1), (batch_normed, 3)):
        fleet = fleet_of(module)
        start(fleet, [1e-2] * 3, [0.0] * 3)
        assert len(fleet._lanes) == lanes
