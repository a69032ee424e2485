"""GenPU: the game of the adversaries, and a classifier of what they make."""

import numpy as np
import pytest
import torch
from gaussians import table

from robustpu import CollapseWarning, GenPUClassifier
from robustpu.fleet import Fleet, Member, Rows
from robustpu.methods.adversaries import (
    Adversaries,
    Chains,
    cut,
    discriminator_risk,
    generator_risk,
    steepness,
)
from robustpu.methods.genpu import learner_of
from robustpu.split import make_pu


def genpu(**changes):
    given = {"prior": 0.5, "epochs": 6, "batch_size": 32, "lr": 1e-2, "noise": 4, "hidden": 16}
    given |= {"generator_lr": 1e-2, "discriminator_lr": 1e-2, "random_state": 0}
    return GenPUClassifier(**{**given, **changes})


def fleet_of(X, y, weight=None, prior=0.5, members=2, population_prior=None):
    weight = torch.ones(len(y)) if weight is None else torch.tensor(weight)
    rows = Rows(torch.arange(len(y)), torch.tensor(y) == 1, weight)
    share = population_prior or prior
    crew = [Member(rows, None, prior, share, seed, seed) for seed in range(members)]
    return Fleet(torch.tensor(X, dtype=torch.float32), crew, "mlp")


def adversaries_of(fleet, lr=1e-2, batch_size=32, hidden=16):
    rates = [lr] * fleet.size
    return Adversaries(fleet, 4, hidden, batch_size, rates, rates)


def play(adversaries, fleet, epochs=1, penalty=0.0):
    for _ in range(epochs):
        adversaries.epoch(fleet.prior, *(torch.full((fleet.size,), k) for k in (1.0, 0.1, penalty)))


def made_by(adversaries, fleet, count=400):
    """Rows of G_p and of G_n, (members, count, columns) each."""
    everyone = torch.ones(fleet.size, count) > 0
    return [adversaries.rows(mask, ~everyone)[0] for mask in (everyone, ~everyone)]


class TestRisks:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(2, 3, 7))
    fake = rng.normal(size=(2, 3, 2, 7))

    @staticmethod
    def d(logit):
        return 1 / (1 + np.exp(-logit))

    def of_discriminators(self, real, fake, prior):
        """One number a member, by the page's formulas."""
        real, fake, answer = self.d(real), self.d(fake), []
        for k, pi in enumerate(prior):
            value = (0.9 * np.log(real[k]) + 0.1 * np.log(1 - real[k])).mean(1).sum()
            value += np.log(1 - fake[k, 0, 0]).mean()
            value += pi * np.log(1 - fake[k, 1, 0]).mean()
            value += (1 - pi) * np.log(1 - fake[k, 1, 1]).mean()
            value += np.log(1 - fake[k, 2, 1]).mean()
            answer.append(-value)
        return np.array(answer)

    def of_generators(self, fake, positive, negative):
        fake, answer = self.d(fake), []
        for k in range(2):
            value = positive[k] * np.log(fake[k, 0, 0]) + np.log(fake[k, 1, 0])
            value += np.log(fake[k, 1, 1]) + negative[k] * np.log(1 - fake[k, 2, 1])
            answer.append(-value.mean())
        return np.array(answer)

    def check(self, risk, plain, logits, numbers):
        """Values are those of the formula, and grads by all logits its finite differences."""
        leaves = [torch.tensor(values, requires_grad=True) for values in logits]
        found = risk(*leaves, *map(torch.tensor, numbers))
        np.testing.assert_allclose(found.detach(), plain(*logits, *numbers))
        # A logit of one member is none of the other's, so both may be summed.
        grads = torch.autograd.grad(found.sum(), leaves)
        for number, grad in enumerate(grads):
            for place in np.ndindex(*grad.shape):
                sides = []
                for step in (1e-5, -1e-5):
                    moved = [values.copy() for values in logits]
                    moved[number][place] += step
                    sides.append(plain(*moved, *numbers)[place[0]])
                rise = (sides[0] - sides[1]) / 2e-5
                assert grad[place].item() == pytest.approx(rise, abs=1e-8)

    def test_of_discriminators(self):
        prior = np.array([0.3, 0.6])
        self.check(discriminator_risk, self.of_discriminators, [self.real, self.fake], [prior])

    def test_of_generators(self):
        lambdas = np.array([[0.5, 2.0], [3.0, 0.1]])
        self.check(generator_risk, self.of_generators, [self.fake], lambdas)

    def test_who_wants_what(self):
        fake = torch.zeros(1, 3, 2, 1, requires_grad=True)
        risk = generator_risk(fake, torch.ones(1), torch.ones(1))
        (grad,) = torch.autograd.grad(risk.sum(), fake)
        # D_p judges G_p, D_u judges both, and G_n sides with D_n.
        assert grad[0, ..., 0].tolist() == [[-0.5, 0], [-0.5, -0.5], [0, 0.5]]


class TestSteepness:
    def test_is_the_squared_grad(self):
        random = [torch.Generator().manual_seed(seed) for seed in (5, 6)]
        chains = Chains((4, 8, 1), 3, random, torch.tensor([1e-2, 1e-2]))
        real = torch.randn(2, 3, 7, 4, generator=random[0])
        step, expected = 1e-2, torch.zeros(2)
        for column in torch.eye(4):
            rise = chains(real + step * column) - chains(real - step * column)
            expected += (rise / (2 * step)).square().mean(2).sum((1, 2)).detach() / 2
        torch.testing.assert_close(steepness(chains, real).detach(), expected, rtol=0.05, atol=0)

    def test_is_less_where_it_counts(self):
        fleet, found = fleet_of(*table()), {}
        for penalty in (0.0, 1.0):
            adversaries = adversaries_of(fleet)
            play(adversaries, fleet, epochs=10, penalty=penalty)
            X = fleet.pool.expand(2, 3, -1, -1)
            found[penalty] = steepness(adversaries._discriminators, X)
        assert (found[1.0] < 0.5 * found[0.0]).all()


class TestCut:
    low, high = torch.tensor([-1.0, 0.0, 2.0]), torch.tensor([1.0, 0.0, 5.0])

    def test_values_are_in_the_range(self):
        x = torch.tensor([[-3.0, 0.4, 3.0], [0.5, 0.0, 9.0]])
        assert cut(x, self.low, self.high).tolist() == [[-1, 0, 3], [0.5, 0, 5]]

    def test_what_is_outside_can_come_back(self):
        x = torch.tensor([-3.0, 0.4, 3.0], requires_grad=True)
        (grad,) = torch.autograd.grad(cut(x, self.low, self.high).sum(), x)
        assert grad.tolist() == pytest.approx([0.2, 0.2, 1.0])


class TestChains:
    x = torch.randn(2, 2, 5, 3, generator=torch.Generator().manual_seed(0))

    def chains(self, lr=(1e-2, 1e-3)):
        random = [torch.Generator().manual_seed(seed) for seed in (5, 6)]
        return Chains((3, 4, 2), 2, random, torch.tensor(lr))

    def test_are_layers_with_leaky_units(self):
        chains, x = self.chains(), self.x
        found = chains(x).detach().numpy()
        for member in range(2):
            random = torch.Generator().manual_seed(5 + member)
            drawn = torch.randn(2 * (4 * 4 + 5 * 2), generator=random).numpy()
            first, second = drawn[:32].reshape(2, 4, 4) / 3**0.5, drawn[32:].reshape(2, 5, 2) / 2
            for k in range(2):
                z = x[member, k].numpy() @ first[k, :3] + first[k, 3]
                z = np.where(z > 0, z, 0.2 * z)
                expected = z @ second[k, :4] + second[k, 4]
                np.testing.assert_allclose(found[member, k], expected, atol=1e-5)

    def test_descend_by_adam_with_rates_of_their_own(self):
        chains, x = self.chains(), self.x
        rate, mean, square = np.array([[1e-2], [1e-3]]), 0.0, 0.0
        for step in range(1, 4):
            before = chains._flat.detach().numpy().copy()
            risk = chains(x).square().mean((1, 2, 3))
            (grad,) = torch.autograd.grad(risk.sum(), chains._flat, retain_graph=True)
            chains.descend(risk)
            mean = 0.5 * mean + 0.5 * grad.numpy()
            square = 0.999 * square + 0.001 * grad.numpy() ** 2
            scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
            expected = before - rate * mean / (1 - 0.5**step) / scale
            np.testing.assert_allclose(chains._flat.detach(), expected, atol=1e-5)

    def test_go_on_alone(self):
        together, alone, x = self.chains(), self.chains(), self.x
        alone.keep(torch.tensor([1]))
        for _ in range(3):
            together.descend(together(x).square().mean((1, 2, 3)))
            alone.descend(alone(x[1:]).square().mean((1, 2, 3)))
        torch.testing.assert_close(together(x)[1:], alone(x[1:]))


class TestAdversaries:
    def test_two_gaussians(self):
        """What is made lies where the classes lie, though no negative was seen."""
        rng = np.random.default_rng(0)
        n = 600
        is_labelled, prior = np.arange(n) < 200, 0.3
        above = is_labelled | (np.arange(n) < 200 + prior * 400)
        centre = np.where(above[:, None], [1.5, 0.0], [-1.0, 1.0])
        X = centre + rng.normal(scale=0.4, size=(n, 2))
        fleet = fleet_of(X, is_labelled, prior=prior)
        adversaries = adversaries_of(fleet, lr=3e-3, batch_size=64, hidden=32)
        play(adversaries, fleet, epochs=20)
        made = []
        # The game swings about the classes: what counts is the mean of many epochs.
        for _ in range(20):
            play(adversaries, fleet)
            made.append(torch.stack(made_by(adversaries, fleet)))
        rows = torch.cat(made, dim=2)
        for member in range(2):
            mean = rows[:, member].mean(1).numpy()
            np.testing.assert_allclose(mean, [[1.5, 0.0], [-1.0, 1.0]], atol=0.15)
            spread = rows[:, member].std(1)
            assert ((spread > 0.2) & (spread < 0.6)).all()

    def test_rows_are_drawn_by_weight(self):
        X, weight = np.arange(6.0)[:, None], [1.0, 3.0, 0.0, 0.0, 2.0, 2.0]
        fleet = fleet_of(X, [1, 1, 1, 0, 0, 0], weight)
        adversaries = adversaries_of(fleet)
        labelled = adversaries._draw(adversaries._labelled, 4000)
        shares = [(labelled == value).float().mean().item() for value in range(6)]
        assert shares == pytest.approx([0.25, 0.75, 0, 0, 0, 0], abs=0.02)
        unlabeled = adversaries._draw(adversaries._unlabeled, 4000)
        shares = [(unlabeled == value).float().mean().item() for value in range(6)]
        assert shares == pytest.approx([0, 0, 0, 0, 0.5, 0.5], abs=0.02)

    def test_if_only_held_out_rows_count_those_at_hand_are_alike(self):
        fleet = fleet_of(np.arange(4.0)[:, None], [1, 1, 0, 0], [0.0, 0.0, 1.0, 1.0])
        adversaries = adversaries_of(fleet)
        drawn = adversaries._draw(adversaries._labelled, 100)
        assert set(drawn.flatten().tolist()) == {0, 1}

    def test_rows_stay_in_the_range_of_the_columns_that_count(self):
        X, y = table()
        X = np.c_[X, np.full(len(X), 7.0)]
        X[0] = 99
        fleet = fleet_of(X, y, np.arange(len(X)) > 0.0)
        adversaries = adversaries_of(fleet)
        play(adversaries, fleet)
        for rows in made_by(adversaries, fleet):
            assert (rows >= torch.from_numpy(X[1:].min(0)).float()).all()
            assert (rows <= torch.from_numpy(X[1:].max(0)).float()).all()
            assert (rows[..., 3] == 7).all()

    def test_who_is_made_by_whom_and_who_is_real(self):
        X, y = table()
        fleet = fleet_of(X, y)
        adversaries = adversaries_of(fleet)
        play(adversaries, fleet, epochs=20)
        is_positive = (torch.arange(300) < 200).expand(2, 300)
        is_real = (torch.arange(300) < 100).expand(2, 300)
        rows, _ = adversaries.rows(is_positive, is_real)
        known = {tuple(row) for row in X[y == 1].astype(np.float32).tolist()}
        for made in rows:
            assert [tuple(row) in known for row in made.tolist()] == is_real[0].tolist()
            assert made[100:200].mean() > made[200:].mean() + 0.5

    def test_spread_compares_to_the_training_rows(self):
        X, y = table()
        fleet = fleet_of(5 * X, y)
        adversaries = adversaries_of(fleet)
        play(adversaries, fleet, epochs=10)
        mask = torch.ones(2, 500) > 0
        # The same draws, once to see them and once for their spread.
        states = [generator.get_state() for generator in adversaries._random]
        rows, spread = adversaries.rows(mask, ~mask)
        expected = np.sqrt(rows.numpy().var(1).mean(1) / (5 * X).var(0).mean())
        np.testing.assert_allclose(spread[:, 0], expected, rtol=1e-4)
        for generator, state in zip(adversaries._random, states, strict=True):
            generator.set_state(state)
        rows, again = adversaries.rows(~mask, ~mask)
        expected = np.sqrt(rows.numpy().var(1).mean(1) / (5 * X).var(0).mean())
        np.testing.assert_allclose(again[:, 1], expected, rtol=1e-4)

    def test_a_generator_that_makes_one_row_has_no_spread(self):
        fleet = fleet_of(*table())
        adversaries = adversaries_of(fleet)
        with torch.no_grad():
            adversaries._generators._flat[1] = 0
        spread = adversaries.rows(*[torch.ones(2, 50) > 0] * 2)[1]
        assert (spread[0] > 0.01).all()
        assert (spread[1] == 0).all()


class TestLearner:
    def test_classes_have_the_shares_of_the_population(self):
        X, y = table()
        fleet = fleet_of(X, y, prior=0.3, population_prior=0.4321)
        training = learner_of(fleet, "mlp").training
        assert training.is_positive.sum(1).tolist() == [78, 78]
        share = (training.weight * training.is_positive).sum(1) / training.weight.sum(1)
        assert share.tolist() == pytest.approx([0.4321] * 2)

    @pytest.mark.parametrize("prior", [1e-4, 1 - 1e-4])
    def test_both_classes_are_there(self, prior):
        is_positive = learner_of(fleet_of(*table(), prior=prior), "mlp").training.is_positive
        assert is_positive.any(1).all()
        assert not is_positive.all(1).any()

    def test_begins_where_the_fleet_is_with_rows_of_its_own(self):
        fleet = fleet_of(*table())
        fleet.state.flat.mul_(2)
        learner = learner_of(fleet, "mlp")
        torch.testing.assert_close(learner.logits(), fleet.logits())
        before = fleet.pool.clone()
        learner.pool[learner.training.index[0]] = 0.0
        assert torch.equal(fleet.pool, before)
        torch.testing.assert_close(learner.logits()[1], fleet.logits()[1])


class TestFit:
    def test_learns(self):
        X, y = table()
        model = genpu(epochs=30).fit(X, y)
        assert model.predict(np.array([[1.2] * 3, [-1.2] * 3])).tolist() == [1, 0]
        entry = model.history_[-1]
        assert {"member", "epoch", "score", "spread_positive", "spread_negative"} == set(entry)
        assert entry["spread_positive"] > 0.2

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_scenarios(self, scenario):
        rng = np.random.default_rng(0)
        truth = np.arange(3000) % 2
        X = rng.normal(np.where(truth == 1, 1.0, -1.0)[:, None], 1.0, (3000, 3))
        sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
        pu = make_pu(X, truth, prior=0.3, scenario=scenario, random_state=0, **sizes)
        given = {"prior": pu.prior, "epochs": 10, "n_members": 4, "validation_fraction": 0}
        given |= {"generator_lr": 3e-3, "discriminator_lr": 3e-3}
        models = [
            genpu(scenario=scenario, **given).fit(pu.X, pu.y)
            for scenario in ("case-control", "single-set")
        ]
        right = models[scenario == "single-set"]
        assert right.score(pu.X_test, pu.y_test) > 0.9
        assert right.population_prior_ == pytest.approx(pu.population_prior)
        # Single-set data has more positives than its unlabelled rows tell.
        assert models[1].probability_.mean() > models[0].probability_.mean() + 0.005

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("lambda_positive", 3.0),
            ("lambda_negative", 3.0),
            ("noise", 2),
            ("hidden", 8),
            ("generator_lr", 1e-3),
            ("discriminator_lr", 1e-3),
            ("penalty", 3.0),
            ("real_share", 1.0),
            ("prior", 0.4),
            ("batch_size", 16),
            ("lr", 1e-3),
        ],
    )
    def test_every_parameter_does_something(self, name, value):
        X, y = table()
        given = {"validation_fraction": 0, "epochs": 3}
        one, other = genpu(**given).fit(X, y), genpu(**{**given, name: value}).fit(X, y)
        assert np.abs(one.probability_ - other.probability_).max() > 1e-3

    def test_the_best_epoch_is_kept(self):
        X, y = table()
        truth = (X.sum(1) > 0).astype(int)
        model = genpu(n_members=2).fit(X, y, eval_set=(X[:40], truth[:40]))
        assert model.selection_ == "oracle"
        scores = np.array([entry["score"] for entry in model.history_]).reshape(2, 6)
        # Members are evaluated by their mean.
        best = scores.mean(0).argmax()
        assert model.member_scores_.tolist() == pytest.approx(scores[:, best].tolist())
        probability = [torch.sigmoid(model.to_torch(k)(torch.tensor(X[:40]))) for k in (0, 1)]
        for predicted, score in zip(probability, model.member_scores_, strict=True):
            right = (predicted.detach().numpy().ravel() >= 0.5) == truth[:40]
            assert right.mean() == pytest.approx(score, abs=2e-3)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_nothing_but_constant_columns(self):
        model = genpu().fit(np.ones((12, 2)), np.arange(12) % 2)
        assert np.isfinite(model.probability_).all()
        assert model.history_[-1]["spread_negative"] == 0

    def test_a_classifier_that_collapses_is_reported(self):
        _, y = table()
        # Rows that are all the same are not ranked either.
        X = np.ones((len(y), 3))
        with pytest.warns(CollapseWarning, match="spread_positive or spread_negative in history_"):
            genpu(threshold=0.999, epochs=1, lr=1e-4).fit(X, y)

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_usual_penalty(self):
        """0 for a table, 3 for pictures."""
        X, y = table()
        given = {"validation_fraction": 0, "epochs": 2, "standardize": False}
        for rows, usual in ((X, 0.0), (X.reshape(-1, 1, 1, 3), 3.0)):
            left, same, other = (
                genpu(**given, penalty=penalty).fit(rows, y).probability_
                for penalty in (None, usual, 0.5)
            )
            np.testing.assert_array_equal(left, same)
            assert np.abs(left - other).max() > 1e-4

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"lambda_positive": -1}, "lambda_positive must be a number at least 0"),
            ({"lambda_negative": -1}, "lambda_negative must be a number at least 0"),
            ({"noise": 0}, "noise must be a whole number at least 1"),
            ({"hidden": 1.5}, "hidden must be a whole number at least 1"),
            ({"generator_lr": 0}, "generator_lr must be a number above 0"),
            ({"discriminator_lr": 0}, "discriminator_lr must be a number above 0"),
            ({"penalty": -1}, "penalty must be a number at least 0"),
            ({"real_share": 1.1}, "real_share must be a number at least 0 and at most 1"),
            ({"mirror": True}, "GenPU generates rows"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            genpu(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
