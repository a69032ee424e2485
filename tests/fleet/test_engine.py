import gc
import weakref
from copy import deepcopy
from functools import partial

import pytest
import torch
from torch import nn

from robustpu.fleet import Fleet, Member, Partners, Rows, engine
from robustpu.fleet.batches import shuffle, uniform
from robustpu.modules import build, mlp
from robustpu.risks import nnpu, weighted_bce
from robustpu.selection import proxy_accuracy

N = 11


def echo(shape):
    """A network whose logit is the row's one number."""
    network = nn.Sequential(nn.Linear(1, 1))
    nn.init.ones_(network[0].weight)
    nn.init.zeros_(network[0].bias)
    return network


def normed(shape):
    return nn.Sequential(nn.Linear(*shape, 8), nn.LayerNorm(8), nn.Tanh(), nn.Linear(8, 1))


def random_and_stateful(shape):
    # No bias before the batch norm: its gradient would be rounding, which Adam takes for a grad.
    return nn.Sequential(
        nn.Linear(*shape, 8, bias=False),
        nn.BatchNorm1d(8),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(8, 1),
    )


def member(seed, index=None, held_out=None, prior=0.3, group=0):
    index = torch.arange(N) if index is None else index
    return Member(rows(index), held_out, prior, prior + 0.1, seed, group)


def rows(index):
    """Rows whose label and weight can be told from their number."""
    return Rows(index, index % 3 == 0, index.double() + 100)


def echo_fleet(*members, lr=0.0, batch_size=4, **options):
    """A fleet on rows 0, 1, 2, ... that does not learn, so that a logit is the row's number."""
    pool = torch.arange(2 * N, dtype=torch.float32)[:, None]
    fleet = Fleet(pool, members, echo, **options)
    start(fleet, batch_size, lr)
    return fleet


SEEN = []


def spy(logit, batch):
    # Copies: a step works in the same memory each time.
    SEEN.append((logit.detach().clone(), deepcopy(batch)))
    return logit.sum(1)


def start(fleet, batch_size, lr=0.0, risk=spy):
    each = fleet.size
    fleet.start(risk, [lr] * each, [0] * each, [0] * each, batch_size)


def watch(fleet, **options):
    """What the risk sees in one epoch: logits and batches, step by step."""
    SEEN.clear()
    fleet.epoch(**options)
    return list(SEEN)


def visited(fleet):
    """Rows in the order of one epoch, (alive, rows)."""
    return torch.cat([logit for logit, _ in watch(fleet)], dim=1).long()


def expected_order(seeds, epoch=0):
    return shuffle(torch.tensor(seeds), torch.full((len(seeds),), epoch), N)


@pytest.mark.parametrize(("batch_size", "sizes"), [(4, [4, 4, 3]), (1, [1] * N), (50, [N])])
def test_an_epoch_visits_each_training_row_once(batch_size, sizes):
    members = member(1), member(2, torch.arange(N) * 2)
    fleet = echo_fleet(*members, batch_size=batch_size)
    for _ in range(2):
        seen = watch(fleet)
        assert [logit.shape for logit, _ in seen] == [(2, size) for size in sizes]
        order = torch.cat([logit for logit, _ in seen], dim=1).long()
        for row_order, source in zip(order, members, strict=True):
            assert row_order.sort().values.tolist() == source.training.index.tolist()


def test_label_and_weight_stay_with_their_row():
    fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
    for logit, batch in watch(fleet):
        row = logit.long()
        assert torch.equal(batch.is_positive, row % 3 == 0)
        assert torch.equal(batch.weight, row.float() + 100)


def test_other_weights_go_to_the_training_rows_in_their_order():
    fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
    other = fleet.training.index * 2.0 - 7
    for logit, batch in watch(fleet, weight=other):
        assert torch.equal(batch.weight, logit * 2 - 7)


def test_priors_reach_the_risk():
    fleet = echo_fleet(member(1, prior=0.2), member(2, prior=0.6))
    for _, batch in watch(fleet):
        torch.testing.assert_close(batch.prior, torch.tensor([0.2, 0.6]))
        torch.testing.assert_close(batch.population_prior, torch.tensor([0.3, 0.7]))


def test_order_is_drawn_from_the_seed_of_the_member():
    fleet = echo_fleet(member(1), member(2), member(1))
    orders = [visited(fleet) for _ in range(3)]
    for epoch, order in enumerate(orders):
        assert torch.equal(order, expected_order([1, 2, 1], epoch))
        assert not torch.equal(order[0], order[1])
    assert not torch.equal(orders[0], orders[1])


def test_order_needs_and_leaves_no_global_random_state():
    orders = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.random.get_rng_state()
        orders.append(visited(echo_fleet(member(1))))
        assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(*orders)


@pytest.mark.parametrize("module", [partial(mlp, hidden=(6,)), normed])
@pytest.mark.parametrize("warmup_epochs", [0, 2])
def test_training_is_that_of_a_plain_loop(module, warmup_epochs):
    generator = torch.Generator().manual_seed(0)
    pool = torch.randn(30, 3, generator=generator, dtype=torch.float64)
    index = torch.randperm(30, generator=generator)[:N]
    settings = [(1, 1e-2, 0.0), (2, 1e-1, 1e-2)]
    fleet = Fleet(pool, [member(seed, index) for seed, _, _ in settings], module)
    _, lr, decay = zip(*settings, strict=True)
    fleet.start(
        lambda z, batch: weighted_bce(z, batch.is_positive, batch.weight),
        lr,
        decay,
        [warmup_epochs] * 2,
        batch_size=4,
    )
    for _ in range(3):
        fleet.epoch()

    for place, (seed, rate, weight_decay) in enumerate(settings):
        network = build(module, (3,), seed).double()
        optimiser = torch.optim.Adam(network.parameters(), lr=rate, weight_decay=weight_decay)
        steps = 0
        for epoch in range(3):
            for part in index[expected_order([seed], epoch)[0]].split(4):
                steps += 1
                # Three steps an epoch.
                ramp = min(1, steps / (3 * warmup_epochs)) if warmup_epochs else 1
                optimiser.param_groups[0]["lr"] = rate * ramp
                optimiser.zero_grad()
                target = (part % 3 == 0).double()
                loss = nn.functional.binary_cross_entropy_with_logits(
                    network(pool[part])[:, 0], target, part.double() + 100
                )
                loss.backward()
                optimiser.step()
        with torch.no_grad():
            expected = network(pool[index])[:, 0]
        torch.testing.assert_close(fleet.logits()[place], expected, rtol=1e-9, atol=1e-9)


def test_a_batch_without_positives_or_unlabelled_rows_is_fine():
    pool = torch.randn(N, 3, generator=torch.Generator().manual_seed(0))
    fleet = Fleet(pool, [member(1)], "mlp")
    start(
        fleet,
        batch_size=1,
        lr=1e-2,
        risk=lambda z, batch: nnpu(z, batch.is_positive, batch.weight, batch.prior, batch.prior),
    )
    before = fleet.logits()
    fleet.epoch()
    assert fleet.logits().isfinite().all()
    assert (fleet.logits() - before).abs().max() > 1e-3


@pytest.fixture(params=[1, 30, 1 << 20], ids="score {}".format)
def score(request, monkeypatch):
    """Rows are scored one by one, a few or all at a time."""
    for kind in engine.SCORE:
        monkeypatch.setitem(engine.SCORE, kind, request.param)


@pytest.mark.usefixtures("score")
def test_logits_are_those_of_training_rows_or_of_rows_asked_for():
    fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
    assert torch.equal(fleet.logits(), fleet.training.index.float())
    asked = torch.tensor([[3, 0, 21], [1, 1, 4]])
    assert torch.equal(fleet.logits(asked), asked.float())


def test_a_fleet_that_is_let_go_of_is_gone():
    """At once, without the garbage collector: its memory may be needed for another."""
    gc.disable()
    try:
        fleet = echo_fleet(member(1), member(2), lr=1e-2)
        visited(fleet)
        traces = [
            weakref.ref(thing) for thing in (fleet, fleet._lanes[0], fleet._lanes[0].work.adam)
        ]
        del fleet
        assert [trace() for trace in traces] == [None] * 3
    finally:
        gc.enable()


def test_score_evaluates_the_held_out_rows():
    held_out = [torch.tensor([3, 1, 2]), torch.tensor([6, 9, 4])]
    members = [member(seed, held_out=rows(index)) for seed, index in enumerate(held_out)]
    seen = []

    def criterion(*arguments):
        seen.extend(arguments)
        return arguments[0].sum(1)

    fleet = echo_fleet(*members, criterion=criterion)
    assert fleet.score().tolist() == [6, 19]
    logit, is_positive, weight, prior, population_prior = seen
    assert logit.long().tolist() == [[3, 1, 2], [6, 9, 4]]
    assert is_positive.tolist() == [[True, False, False], [True, True, False]]
    assert torch.equal(weight, logit + 100)
    torch.testing.assert_close(prior, torch.tensor([0.3, 0.3]))
    torch.testing.assert_close(population_prior, torch.tensor([0.4, 0.4]))
    fleet.keep(torch.tensor([False, True]))
    assert fleet.score().tolist() == [19]


def test_a_member_with_infinite_answers_scores_minus_infinity_and_its_group_goes_on():
    held_out = rows(torch.tensor([3, 1]))
    members = [member(seed, held_out=held_out, group=0) for seed in range(2)]
    fleet = echo_fleet(*members, criterion=lambda logit, *_: logit.sum(1))
    fleet.state.flat[0] = torch.nan
    score = fleet.score()
    assert score.tolist() == [-torch.inf, 4]
    assert fleet.pooled(score).tolist() == [4, 4]


def test_without_held_out_rows_there_is_no_score():
    assert echo_fleet(member(1), criterion=proxy_accuracy).score() is None
    assert echo_fleet(member(1)).score() is None


def test_an_epoch_needs_a_start():
    fleet = Fleet(torch.zeros(N, 1), [member(1)], echo)
    with pytest.raises(RuntimeError, match="call start"):
        visited(fleet)


def test_a_member_that_leaves_takes_all_that_is_its_own_along():
    fleet = echo_fleet(
        *(member(seed, torch.arange(N) + seed, prior=seed / 10) for seed in (1, 2, 3))
    )
    fleet.keep(torch.tensor([True, False, True]))
    assert fleet.alive.tolist() == [0, 2]
    assert fleet.training.index[:, 0].tolist() == [1, 3]
    assert torch.equal(fleet.training.is_positive, fleet.training.index % 3 == 0)
    torch.testing.assert_close(fleet.population_prior, torch.tensor([0.2, 0.4]))
    assert fleet.per_member([7, 8, 9]).tolist() == [7, 9]
    assert torch.equal(visited(fleet), expected_order([1, 3]) + torch.tensor([[1], [3]]))
    # Counted from those that are left, not from all.
    fleet.keep(torch.tensor([False, True]))
    assert fleet.alive.tolist() == [2]
    assert visited(fleet).sort().values.tolist() == [list(range(3, 3 + N))]
    fleet.keep(torch.tensor([False]))
    assert len(fleet.alive) == len(fleet.state.flat) == 0


def test_keeping_all_changes_nothing():
    fleet = echo_fleet(member(1), member(2), lr=1e-2)
    state = fleet.state
    fleet.keep(torch.tensor([True, True]))
    assert fleet.state is state
    assert fleet.alive.tolist() == [0, 1]


def test_reunited_members_have_their_rows_back_and_need_a_new_optimiser():
    fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
    everyone = fleet.state.select(torch.tensor([0, 1]))
    everyone.flat.mul_(2)
    fleet.keep(torch.tensor([False, True]))
    fleet.reunite(everyone)
    assert fleet.alive.tolist() == [0, 1]
    assert fleet.training.index[:, 0].tolist() == [0, 5]
    assert torch.equal(fleet.logits(), 2.0 * fleet.training.index)
    with pytest.raises(RuntimeError, match="call start"):
        visited(fleet)
    start(fleet, batch_size=4)
    assert visited(fleet).shape == (2, N)


def test_pooled_is_the_mean_of_the_group():
    fleet = echo_fleet(*(member(seed, group=group) for seed, group in enumerate([7, 3, 7, 3, 5])))
    score = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0])
    assert fleet.pooled(score).tolist() == [2.5, 5, 2.5, 5, 16]
    fleet.keep(torch.tensor([False, True, True, True, False]))
    assert fleet.pooled(score[1:4]).tolist() == [5, 4, 5]


def test_progress_is_told_of_each_epoch_and_those_who_took_part():
    fleet = echo_fleet(member(1), member(2))
    told = []
    fleet.on_epoch = told.append
    visited(fleet)
    fleet.keep(torch.tensor([False, True]))
    visited(fleet)
    assert told == [2, 1]


# Independence.

SETTINGS = [
    # seed, learning rate, weight decay, warm-up, beta, prior
    (11, 1e-2, 0.0, 0, 0.0, 0.3),
    (12, 3e-2, 0.0, 0, 0.0, 0.3),
    (13, 1e-2, 1e-2, 1, 0.1, 0.5),
    (14, 1e-3, 1e-2, 0, 0.0, 0.7),
    (15, 1e-2, 0.0, 2, 0.0, 0.3),
    (16, 1e-2, 0.0, 0, 0.2, 0.2),
    (17, 3e-2, 1e-3, 0, 0.0, 0.6),
    (18, 1e-2, 0.0, 0, 0.0, 0.9),
]
# How many epochs each member takes part in.
LEAVES = [4, 1, 4, 2, 3, 4, 1, 2]
KINDS = [mlp, normed, random_and_stateful]


def beta_nnpu(logit, batch, beta):
    return nnpu(
        logit, batch.is_positive, batch.weight, batch.prior, batch.population_prior, beta=beta
    )


def trained(places, module, epochs):
    """Logits on the whole pool of the members at these places, trained for so many epochs each."""
    generator = torch.Generator().manual_seed(0)
    pool = torch.randn(200, 5, generator=generator)
    pool[:60] += 1
    members = []
    for seed, *_, prior in (SETTINGS[place] for place in places):
        index = torch.randperm(200, generator=torch.Generator().manual_seed(seed))[:90]
        training = Rows(index, index < 60, index.double() / 100)
        members.append(Member(training, None, prior, prior, seed, group=0))
    fleet = Fleet(pool, members, module)
    _, lr, decay, warmup, beta, _ = zip(*(SETTINGS[p] for p in places), strict=True)
    fleet.start(beta_nnpu, lr, decay, warmup, batch_size=16, beta=beta)
    everything = torch.arange(200).expand(len(places), -1)
    answer = torch.empty(len(places), 200)
    for epoch in range(1, max(epochs) + 1):
        fleet.epoch()
        answer[fleet.alive] = fleet.logits(everything[: len(fleet.alive)])
        fleet.keep(fleet.per_member(epochs) > epoch)
    return answer


@pytest.mark.parametrize("module", KINDS, ids=lambda module: module.__name__)
def test_a_member_does_not_depend_on_the_others(module):
    together = trained(range(8), module, [3] * 8)
    for place in range(8):
        alone = trained([place], module, [3])
        torch.testing.assert_close(together[[place]], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("module", KINDS, ids=lambda module: module.__name__)
def test_nor_on_when_they_leave(module):
    together = trained(range(8), module, LEAVES)
    for place in range(8):
        alone = trained([place], module, [LEAVES[place]])
        torch.testing.assert_close(together[[place]], alone, rtol=1e-5, atol=1e-5)


class TestColumns:
    def test_stay_with_their_row(self):
        fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
        tripled = fleet.training.index * 3.0
        for logit, batch in watch(fleet, columns={"tripled": tripled}):
            assert torch.equal(batch.columns["tripled"], logit * 3)

    def test_there_are_none_unless_given(self):
        assert not watch(echo_fleet(member(1)))[0][1].columns


class TestDraws:
    def test_depend_on_seed_epoch_and_stream_alone(self):
        fleet, other = echo_fleet(member(1), member(2)), echo_fleet(member(2))
        first = fleet.draw(1)
        assert torch.equal(first, fleet.draw(1))
        assert torch.equal(first[1:], other.draw(1))
        assert not torch.equal(first, fleet.draw(2))
        fleet.epoch()
        assert not torch.equal(first, fleet.draw(1))

    def test_are_uniform(self):
        draw = uniform(torch.arange(20), torch.zeros(20, dtype=torch.long), 1000, 1).flatten()
        assert draw.min() >= 0
        assert draw.max() < 1
        share = torch.histc(draw, 10, 0, 1) / len(draw)
        torch.testing.assert_close(share, torch.full((10,), 0.1), atol=0.01, rtol=0)


class TestPartners:
    def partners(self, fleet):
        index = fleet.training.index
        return Partners(index.flip(1), torch.linspace(0, 1, N).expand(len(index), N))

    def test_mixtures_stand_beside_their_rows(self):
        fleet = echo_fleet(member(1), member(2, torch.arange(N) + 5))
        share = torch.linspace(0, 1, N).expand(2, N)
        partner = fleet.training.index.flip(1).float()
        columns = {"share": share, "partner": partner}
        for logit, batch in watch(fleet, columns=columns, partners=self.partners(fleet)):
            first, mixed = logit.chunk(2, dim=1)
            share, partner = batch.columns["share"], batch.columns["partner"]
            torch.testing.assert_close(mixed, share * first + (1 - share) * partner)

    @pytest.mark.parametrize(
        "module",
        [
            partial(mlp, hidden=(6, 5)),
            lambda shape: nn.Sequential(
                nn.Linear(*shape, 6),
                nn.ReLU(),
                nn.LayerNorm(6),
                nn.Linear(6, 5),
                nn.ReLU(),
                nn.Linear(5, 1),
            ),
            lambda shape: nn.Sequential(
                nn.Linear(*shape, 6),
                nn.ReLU(),
                nn.BatchNorm1d(6),
                nn.Linear(6, 5),
                nn.ReLU(),
                nn.Linear(5, 1),
            ),
        ],
        ids=["linear stack", "vmap", "serial"],
    )
    @pytest.mark.parametrize("relus", [0, 1, 2])
    def test_gradient_of_a_mixture_inside(self, module, relus):
        rows, share = torch.randn(8, 3, generator=torch.Generator().manual_seed(0)), 0.3
        members = [
            Member(Rows(torch.arange(4), torch.ones(4) > 0, torch.ones(4)), None, 0.5, 0.5, s, s)
            for s in (1, 2)
        ]
        fleet = Fleet(rows, members, module)
        modules = [fleet.network.write(fleet.state, place).train() for place in (0, 1)]
        fleet.start(
            lambda logit, batch: (logit * batch.columns["by"]).sum(1),
            [1e-3] * 2,
            [0] * 2,
            [0] * 2,
            4,
            blend=relus,
        )
        by = torch.tensor([1.0, -2.0, 3.0, 0.5])
        fleet.epoch(
            columns={"by": by.expand(2, 4)},
            partners=Partners(torch.arange(4, 8).expand(2, 4), torch.full((2, 4), share)),
        )
        for place, module in enumerate(modules):
            layers = [layer for layer in module if not isinstance(layer, nn.Flatten)]
            x, seen = rows, 0
            if relus == 0:
                x = share * x[:4] + (1 - share) * x[4:]
            for layer in layers:
                x = layer(x)
                if isinstance(layer, nn.ReLU):
                    seen += 1
                    if seen == relus:
                        x = share * x[:4] + (1 - share) * x[4:]
            (x.squeeze(-1) * by).sum().backward()
            lane = fleet._lanes[0 if fleet.network.is_stacked else place]
            found = lane.work.adam.gradient[place if fleet.network.is_stacked else 0]
            named = fleet.network.views(found[None])
            for name, parameter in module.named_parameters():
                expected = fleet.network._stored(parameter.grad)
                torch.testing.assert_close(named[name][0], expected, msg=name)


class TestMirror:
    def pictures(self, n=40):
        """Pictures of one row of two pixels: 0 and the number of the picture."""
        pool = torch.zeros(n, 1, 1, 2)
        pool[:, 0, 0, 1] = torch.arange(1, n + 1)
        return pool

    def seen(self, epochs, **options):
        """What the right pixel of each picture was in each epoch, by the number of the picture."""
        n, found = 40, []

        def right(shape):
            network = nn.Sequential(nn.Flatten(), nn.Linear(2, 1, bias=False))
            network[1].weight = nn.Parameter(torch.tensor([[-1.0, 1.0]]))
            return network

        def note(logit, batch):
            found.append(logit.detach().clone())
            return 0 * logit.sum(-1)

        fleet = Fleet(self.pictures(n), [member(3, torch.arange(n))], right, **options)
        fleet.start(note, [0.0], [0.0], [0], 8)
        for _ in range(epochs):
            fleet.epoch()
        return torch.cat(found, dim=1).view(epochs, n), fleet

    def test_half_of_the_pictures_are_mirrored_others_in_each_epoch(self):
        logit, fleet = self.seen(6, mirror=True)
        # Each picture once an epoch, mirrored or not: its logit is its number, or minus that.
        assert (logit.abs().sort().values == torch.arange(1.0, 41)).all()
        shares = (logit < 0).double().mean(1)
        assert 0.3 < shares.mean() < 0.7
        mirrored = [set(row[row < 0].neg().tolist()) for row in logit]
        assert len(set(map(frozenset, mirrored))) == 6
        # Scores are of the pictures as they are.
        assert fleet.logits().tolist() == [list(range(1, 41))]

    def test_nothing_is_mirrored_unasked(self):
        logit, _ = self.seen(2)
        assert (logit > 0).all()
