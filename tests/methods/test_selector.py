"""The selector of PULNS: what it sees, whom it takes, and how it learns."""

import numpy as np
import pytest
import torch

from robustpu.fleet import Fleet, Member
from robustpu.fleet import Rows as Training
from robustpu.methods.selector import STRIDE, Rows, Selector, Visit, chosen_share, returns

N, UNITS = 150, 3


def fleet_of(seeds=(1, 2), weight=None, n=N, lr=(1e-2, 1e-3)):
    """Linear classifiers, whose hidden representation is the row itself, and their selector."""
    pool = torch.randn(n, UNITS, generator=torch.Generator().manual_seed(0)).double()
    weight = torch.ones(n) if weight is None else weight
    rows = Training(torch.arange(n), torch.arange(n) % 3 == 0, weight)
    fleet = Fleet(pool, [Member(rows, None, 0.5, 0.5, seed, 0) for seed in seeds], "linear")
    return fleet, Selector(fleet, lr[: len(seeds)])


def draws(members=2, n=N, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.rand(members, n, generator=generator).double() for _ in range(2)]


def probability(selector, k, state):
    """A forward pass of member k's network, in NumPy."""
    x = state
    for depth, (weight, bias) in enumerate(selector._layers, start=1):
        x = x @ weight[k].detach().numpy() + bias[k].detach().numpy()
        x = x if depth == 3 else np.maximum(x, 0)
    return 1 / (1 + np.exp(-x[:, 0]))


class TestRows:
    def test_what_is_seen(self):
        weight = torch.rand(N, generator=torch.Generator().manual_seed(3))
        fleet, selector = fleet_of(weight=weight)
        rows = selector.rows(fleet)
        x, w = fleet.pool.numpy(), weight.double().numpy()
        x = x / np.sqrt(np.average((x**2).mean(1), weights=w))
        positive = np.arange(N) % 3 == 0
        np.testing.assert_allclose(rows.hidden[1], x)
        mean = np.average(x[positive], axis=0, weights=w[positive])
        np.testing.assert_allclose(rows.positive_mean[1, 0], mean)
        np.testing.assert_allclose(rows.weight[0], np.where(positive, 0, w))

    def test_initial_weights_are_the_members_own(self):
        _, both = fleet_of(seeds=(1, 2))
        _, alone = fleet_of(seeds=(2,))
        for (weight, _), (single, _) in zip(both._layers, alone._layers, strict=True):
            assert torch.equal(weight[1], single[0])
            assert not torch.equal(weight[0], weight[1])


class TestVisit:
    def test_one_by_one(self):
        """The whole pass again, row by row, in NumPy."""
        weight = torch.rand(N, generator=torch.Generator().manual_seed(3)) + 0.1
        weight[1] = 0
        fleet, selector = fleet_of(weight=weight)
        rows, (order, chance) = selector.rows(fleet), draws()
        visit = selector.visit(rows, order, chance)
        for k in range(2):
            hidden, weight = rows.hidden[k].numpy(), rows.weight[k].numpy()
            counts = weight > 0
            sequence = sorted(np.flatnonzero(counts), key=lambda row: order[k, row])
            assert visit.order[k, : len(sequence)].tolist() == sequence
            everyone = np.average(hidden, axis=0, weights=weight)
            chosen = []
            for place, row in enumerate(sequence):
                if place % STRIDE == 0:
                    mean = everyone
                    if chosen:
                        mean = np.average(hidden[chosen], axis=0, weights=weight[chosen])
                np.testing.assert_allclose(visit.mean_chosen[k, row], mean, atol=1e-6)
                state = np.r_[hidden[row], mean, rows.positive_mean[k, 0]]
                takes = chance[k, row].item() < probability(selector, k, state[None])[0]
                assert visit.is_chosen[k, row].item() == takes
                if takes:
                    chosen.append(row)
            assert 10 < len(chosen) < 90
            assert not visit.is_chosen[k][~torch.from_numpy(counts)].any()
            share = weight[chosen].sum() / weight.sum()
            assert chosen_share(rows, visit)[k].item() == pytest.approx(share)

    def test_chance_has_nothing_to_do_with_the_order(self):
        fleet, selector = fleet_of(seeds=(1,), n=3000)
        for weight, _ in selector._layers:
            weight.data.zero_()
        rows = selector.rows(fleet)
        visit = selector.visit(rows, fleet.draw(1), fleet.draw(2))
        visited = visit.order[0, :2000]
        early, late = (visit.is_chosen[0][part].double().mean() for part in visited.chunk(2))
        assert early.item() == pytest.approx(0.5, abs=0.05)
        assert late.item() == pytest.approx(0.5, abs=0.05)


class TestReturns:
    def test_against_a_backward_pass(self):
        rng = np.random.default_rng(0)
        logit, discount = rng.normal(0, 2, (4, 21)), np.array([0.0, 0.4, 0.9, 1.0])
        weight = np.where(rng.random((4, 21)) < 0.3, 0.0, rng.random((4, 21)))
        rows = Rows(torch.empty(0), torch.empty(0), torch.from_numpy(weight))
        order = np.array([rng.permutation(21) for _ in range(4)])
        is_chosen = rng.random((4, 21)) < 0.5
        visit = Visit(torch.from_numpy(order), torch.empty(0), torch.from_numpy(is_chosen))
        found = returns(torch.from_numpy(logit), rows, visit, torch.from_numpy(discount))
        for k in range(4):
            value = 0.0
            for row in order[k][::-1]:
                a = int(is_chosen[k, row])
                reward = np.clip((1 - 2 * a) * logit[k, row], -1, 1) * (weight[k, row] > 0)
                value = reward + discount[k] * value
                assert found[k, row].item() == pytest.approx(value, abs=1e-9)

    def test_signs(self):
        """To take a likely negative is good, as is to leave a likely positive."""
        rows = Rows(torch.empty(0), torch.empty(0), torch.ones(1, 4))
        is_chosen = torch.tensor([[True, True, False, False]])
        visit = Visit(torch.arange(4)[None], torch.empty(0), is_chosen)
        found = returns(torch.tensor([[-3.0, 0.5, -0.5, 3.0]]), rows, visit, torch.zeros(1))
        assert found.tolist() == [[1.0, -0.5, -0.5, 1.0]]


class TestLearn:
    def visited(self, **given):
        fleet, selector = fleet_of(**given)
        rows = selector.rows(fleet)
        return selector, rows, selector.visit(rows, *draws(len(fleet.alive)))

    def objective(self, selector, k, rows, visit, value, final):
        """E[A log p(choice)] of member k, with the weights of the rows."""
        w, hidden = rows.weight[k].numpy(), rows.hidden[k].numpy()
        v = value[k].numpy()
        mean = np.average(v, weights=w)
        advantage = (v - mean) / np.sqrt(np.average((v - mean) ** 2, weights=w)) + final[k].item()
        positive = np.broadcast_to(rows.positive_mean[k].numpy(), hidden.shape)
        state = np.hstack([hidden, visit.mean_chosen[k].numpy(), positive])
        p = probability(selector, k, state)
        log_p = np.log(np.where(visit.is_chosen[k].numpy(), p, 1 - p))
        return np.average(advantage * log_p, weights=w)

    def test_policy_gradient(self, monkeypatch):
        """The gradient is that of the objective, and Adam's first step the rate times its sign."""
        weight = torch.rand(N, generator=torch.Generator().manual_seed(3))
        selector, rows, visit = self.visited(weight=weight)
        value = torch.randn(2, N, generator=torch.Generator().manual_seed(4)).double()
        final = torch.tensor([0.5, -2.0]).double()
        rng = np.random.default_rng(0)
        expected = []
        for number, parameter in enumerate(selector._parameters):
            for _ in range(4):
                place = tuple(rng.integers(size) for size in parameter.shape)
                sides = []
                for step in (1e-5, -1e-5):
                    parameter.data[place] += step
                    sides.append(self.objective(selector, place[0], rows, visit, value, final))
                    parameter.data[place] -= step
                grad = (sides[0] - sides[1]) / 2e-5
                expected.append((number, place, grad, parameter[place].item()))
        found, step = [], selector._optimizer.step

        def watched():
            found.extend(parameter.grad.clone() for parameter in selector._parameters)
            step()

        monkeypatch.setattr(selector._optimizer, "step", watched)
        selector.learn(rows, visit, value, final)
        known = 0
        for number, place, grad, before in expected:
            # What is minimised is the objective's negative.
            assert found[number][place].item() == pytest.approx(-grad, abs=1e-8)
            if abs(grad) < 1e-6:
                continue
            known += 1
            moved = selector._parameters[number][place].item() - before
            rate = (1e-2, 1e-3)[place[0]]
            assert moved == pytest.approx(rate * np.sign(grad), rel=0.02)
        assert known > 10

    @pytest.mark.parametrize("final", [1.0, -1.0])
    def test_a_final_reward_strengthens_or_weakens_all_choices(self, final):
        selector, rows, visit = self.visited()
        before = self.log_chance(selector, rows, visit)
        selector.learn(rows, visit, torch.ones(2, N).double(), torch.full((2,), final).double())
        rise = self.log_chance(selector, rows, visit) - before
        assert (rise * final > 0).all()

    def test_equal_values_teach_nothing(self):
        selector, rows, visit = self.visited()
        before = [value.detach().clone() for value in selector._parameters]
        selector.learn(rows, visit, torch.full((2, N), 3.0).double(), torch.zeros(2).double())
        for old, new in zip(before, selector._parameters, strict=True):
            torch.testing.assert_close(old, new, atol=1e-6, rtol=0)

    def log_chance(self, selector, rows, visit):
        logit = selector.logits(rows, visit.mean_chosen, rows.hidden).detach()
        log_p = torch.nn.functional.logsigmoid(torch.where(visit.is_chosen, logit, -logit))
        return (log_p * rows.weight).sum(1)

    def test_learns_to_take_what_the_classifier_finds_negative(self):
        fleet, selector = fleet_of(lr=(2e-2, 2e-2))
        rows = selector.rows(fleet)
        # Negative where the first number is; the second member's classifier says the opposite.
        logit = rows.hidden[..., 0] * torch.tensor([3.0, -3.0]).double()[:, None]
        for step in range(80):
            visit = selector.visit(rows, *draws(seed=step))
            value = returns(logit, rows, visit, torch.tensor([0.4, 0.4]).double())
            selector.learn(rows, visit, value, torch.zeros(2).double())
        unlabelled = rows.weight > 0
        for k in range(2):
            right = (visit.is_chosen == (logit < 0))[k][unlabelled[k]].double().mean()
            assert right > 0.9

    def test_goes_on_with_the_members_that_are_left(self):
        """The one that stays learns as if it had been alone."""
        fleet, both = fleet_of(seeds=(1, 2), lr=(1e-2, 1e-2))
        other, alone = fleet_of(seeds=(2,), lr=(1e-2,))
        for step in range(4):
            if step == 2:
                fleet.keep(torch.tensor([False, True]))
            for networks, selector in ((fleet, both), (other, alone)):
                members = len(networks.alive)
                order, chance = (part[-members:] for part in draws(seed=step))
                rows = selector.rows(networks)
                visit = selector.visit(rows, order, chance)
                value = returns(
                    networks.logits(), rows, visit, torch.full((members,), 0.8).double()
                )
                selector.learn(rows, visit, value, torch.full((members,), 0.1).double())
        for one, other_one in zip(both._parameters, alone._parameters, strict=True):
            torch.testing.assert_close(one[1], other_one[0])

    def test_nothing_to_visit(self):
        weight = torch.where(torch.arange(N) % 3 == 0, 1.0, 0.0)
        selector, rows, visit = self.visited(weight=weight)
        assert not visit.is_chosen.any()
        selector.learn(rows, visit, torch.zeros(2, N).double(), torch.ones(2).double())
        assert all(value.isfinite().all() for value in selector._parameters)
