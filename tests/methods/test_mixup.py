"""Partners and shares of mixtures."""

import pytest
import torch
from scipy import stats
from torch import nn

from robustpu.fleet import Fleet, Member, Rows
from robustpu.methods.mixup import PARTNER, SHARE, anyone, shares, someone

N = 4000


def line(shape):
    return nn.Sequential(nn.Linear(1, 1))


def fleet_of(*seeds, rows=N, weight=None):
    index = torch.arange(rows)
    weight = torch.ones(rows) if weight is None else weight
    training = Rows(index, index % 4 == 0, weight)
    members = [Member(training, None, 0.4, 0.4, seed, seed) for seed in seeds]
    fleet = Fleet(torch.zeros(rows, 1), members, line)
    each = len(seeds)
    fleet.start(lambda logit, batch: logit.sum(1), [0.0] * each, [0.0] * each, [0] * each, rows)
    return fleet


def counts(place, rows=N):
    return torch.bincount(place, minlength=rows)


class TestShares:
    @pytest.mark.parametrize("alpha", [0.3, 1.0, 6.0])
    def test_are_drawn_from_a_beta_distribution(self, alpha):
        share = shares(fleet_of(0), [alpha])[0]
        assert share.shape == (N,)
        assert 0 <= share.min() <= share.max() <= 1
        assert stats.kstest(share.numpy(), stats.beta(alpha, alpha).cdf).pvalue > 1e-3

    def test_each_member_has_its_own_alpha_and_keeps_it_when_others_leave(self):
        fleet = fleet_of(0, 1, 2)
        alpha = [0.3, 1.0, 50.0]
        deviation = shares(fleet, alpha).std(1)
        expected = [stats.beta(value, value).std() for value in alpha]
        assert deviation.tolist() == pytest.approx(expected, rel=0.05)
        whole = shares(fleet, alpha)
        fleet.keep(torch.tensor([False, True, True]))
        torch.testing.assert_close(shares(fleet, alpha), whole[1:])

    def test_are_fresh_in_each_epoch_and_no_companion_of_partners(self):
        fleet = fleet_of(0)
        first, again = shares(fleet, [1.0]), shares(fleet, [1.0])
        assert torch.equal(first, again)
        fleet.epoch()
        assert not torch.equal(shares(fleet, [1.0]), first)
        both = torch.stack([fleet.draw(SHARE)[0], fleet.draw(PARTNER)[0]])
        assert abs(torch.corrcoef(both)[0, 1].item()) < 0.06


class TestPartners:
    def test_anyone_is_as_likely_as_anyone_else(self):
        place = anyone(fleet_of(0))[0]
        assert place.dtype == torch.int64
        # Chosen once on average; a Poisson law of the number of times.
        found = torch.bincount(counts(place), minlength=3)[:3] / N
        assert found.tolist() == pytest.approx(stats.poisson(1).pmf([0, 1, 2]), abs=0.03)

    def test_someone_is_of_the_mask_and_all_of_it_are_drawn_alike(self):
        fleet = fleet_of(0, rows=1000)
        mask = torch.zeros(1, 1000, dtype=torch.bool)
        mask[0, [3, 500, 999]] = True
        found = counts(someone(fleet, mask)[0], 1000)
        assert found.nonzero()[:, 0].tolist() == [3, 500, 999]
        assert found[mask[0]].tolist() == pytest.approx([333] * 3, abs=60)

    def test_a_mask_of_one(self):
        fleet = fleet_of(0, 1)
        mask = torch.zeros(2, N, dtype=torch.bool)
        mask[0, 7] = mask[1, N - 1] = True
        assert someone(fleet, mask).unique(dim=1).tolist() == [[7], [N - 1]]

    def test_an_empty_mask_means_everyone(self):
        fleet = fleet_of(0, 1)
        mask = torch.zeros(2, N, dtype=torch.bool)
        mask[1, 5] = True
        place = someone(fleet, mask)
        assert torch.equal(place[0], anyone(fleet)[0])
        assert place[1].unique().tolist() == [5]

    def test_in_proportion_to_the_sample_weights(self):
        weight = torch.ones(N)
        weight[:10] = 0.0
        weight[10] = N / 2
        found = counts(anyone(fleet_of(0, weight=weight))[0])
        assert found[:10].sum() == 0
        assert found[10].item() / N == pytest.approx(1 / 3, abs=0.03)

    def test_a_mask_without_weight_means_everyone(self):
        weight = torch.ones(N)
        weight[:10] = 0.0
        mask = (torch.arange(N) < 10)[None]
        place = someone(fleet_of(0, weight=weight), mask)[0]
        assert counts(place)[:10].sum() < 40
        assert len(place.unique()) > N / 2

    def test_streams_are_independent(self):
        fleet = fleet_of(0)
        mask = fleet.training.is_positive
        first, second = someone(fleet, mask), someone(fleet, mask, PARTNER + 1)
        assert torch.equal(first, someone(fleet, mask, PARTNER))
        assert (first == second).double().mean() < 0.01

    def test_members_that_are_left_draw_as_before(self):
        fleet = fleet_of(0, 1)
        whole = anyone(fleet)
        assert not torch.equal(whole[0], whole[1])
        fleet.keep(torch.tensor([False, True]))
        assert torch.equal(anyone(fleet), whole[1:])
