"""LBE: expectation and maximisation of classes and labels, held to the prior."""

from functools import partial

import numpy as np
import pytest
import torch
from gaussians import table
from scipy.optimize import brentq
from scipy.special import expit
from torch import nn

from robustpu import LBEClassifier, NNPUClassifier, datasets
from robustpu.fleet import Batch, Fleet, Member, Rows
from robustpu.methods.lbe import (
    anchored,
    begin_at_half,
    expected,
    for_population,
    sample_excess,
)
from robustpu.modules import mlp
from robustpu.split import make_pu


def lbe(**changes):
    given = {"prior": 0.5, "epochs": 2, "rounds": 3, "warm_epochs": 3, "lr": 1e-2}
    given |= {"batch_size": 64, "threshold": "prior", "label_lr": 1e-2, "random_state": 0}
    return LBEClassifier(**{**given, **changes})


def log_odds(p):
    return np.log(p / (1 - p))


class TestExpectation:
    def test_by_counting(self):
        """Of 1000 rows alike, count those that are positive among those without a label."""
        h, eta = 0.7, 0.4
        hidden, negative = 1000 * h * (1 - eta), 1000 * (1 - h)
        logit, label = (torch.full((1, 2), log_odds(p)) for p in (h, eta))
        found = expected(logit, label, torch.tensor([[True, False]]))
        assert found[0].tolist() == pytest.approx([1.0, hidden / (hidden + negative)])

    def test_without_labels_nothing_is_learnt_and_with_all_of_them_nothing_is_hidden(self):
        logit, none = torch.tensor([[-1.0, 0.0, 2.0]]), torch.zeros(1, 3) > 0
        never = expected(logit, torch.full((1, 3), -30.0), none)
        torch.testing.assert_close(never, torch.sigmoid(logit))
        assert expected(logit, torch.full((1, 3), 30.0), none).abs().max() < 1e-6

    def test_stays_a_probability_at_the_extremes(self):
        both = torch.tensor([[-200.0, -200.0, 200.0, 200.0]])
        found = expected(both, both.flip(1), torch.zeros(1, 4) > 0)
        assert ((found >= 0) & (found <= 1)).all()


class TestAnchor:
    rng = np.random.default_rng(0)
    positive = torch.from_numpy(rng.random((3, 50)))
    labelled = torch.from_numpy(rng.random((3, 50)) < 0.3)
    weight = torch.from_numpy(rng.random((3, 50)))
    prior = torch.tensor([0.1, 0.5, 0.9]).double()

    def test_mean_and_order(self):
        found = anchored(self.positive, self.labelled, self.weight, self.prior)
        for k in range(3):
            hidden = ~self.labelled[k]
            mean = np.average(found[k][hidden], weights=self.weight[k][hidden])
            assert mean == pytest.approx(self.prior[k].item(), abs=1e-6)
            # One shift of all log-odds.
            shift = torch.logit(found[k][hidden]) - torch.logit(self.positive[k][hidden])
            assert shift.tolist() == pytest.approx([shift[0].item()] * len(shift), abs=1e-4)
            assert torch.equal(found[k][self.labelled[k]], self.positive[k][self.labelled[k]])

    def test_rows_of_no_weight_do_not_enter_the_mean(self):
        weight = torch.where(torch.arange(50) < 10, 0.0, self.weight)
        one = anchored(self.positive, self.labelled, weight, self.prior)
        changed = torch.where(torch.arange(50) < 10, 0.999, self.positive)
        other = anchored(changed, self.labelled, weight, self.prior)
        torch.testing.assert_close(one[:, 10:], other[:, 10:])

    def test_answers_that_are_all_alike(self):
        none, prior = torch.zeros(1, 4) > 0, torch.tensor([0.3])
        for value in (0.0, 1.0):
            found = anchored(torch.full((1, 4), value), none, torch.ones(1, 4), prior)
            torch.testing.assert_close(found, torch.full((1, 4), 0.3), atol=1e-4, rtol=0)


class TestScenario:
    def excess(self, n_positive, n_unlabeled, prior, population_prior, weight=None):
        labelled = (torch.arange(n_positive + n_unlabeled) < n_positive)[None]
        weight = torch.ones(labelled.shape) if weight is None else weight
        return sample_excess(
            labelled, weight, torch.tensor([prior]), torch.tensor([population_prior])
        ).item()

    def test_single_set_needs_no_shift(self):
        # 100 + 0.25 * 400 of 500 rows are positive.
        assert self.excess(100, 400, 0.25, 0.4) == pytest.approx(0, abs=1e-6)

    def test_case_control(self):
        # 200 of 500 rows at hand are positive, but a quarter of the population.
        assert self.excess(100, 400, 0.25, 0.25) == pytest.approx(np.log(100 / 300 / (200 / 300)))

    def test_weights_count(self):
        weight = torch.where(torch.arange(300) < 100, 4.0, 2.0)[None]
        expected = self.excess(100, 100, 0.3, 0.3)
        assert self.excess(100, 200, 0.3, 0.3, weight) == pytest.approx(expected, abs=1e-6)

    def test_weights_and_targets_make_up_for_it(self):
        """Rows of two kinds: the optimal answers are those of the population."""
        share, excess = np.array([0.8, 0.3]), np.log(0.4)
        weight, target = for_population(torch.from_numpy(share)[None], torch.tensor([excess]))
        optimum = share * np.exp(excess) / (share * np.exp(excess) + 1 - share)
        np.testing.assert_allclose(target[0], optimum)
        # Negatives keep their weight, positives are weighed by exp(excess).
        np.testing.assert_allclose((weight * (1 - target))[0], 1 - share)
        np.testing.assert_allclose((weight * target)[0], share * np.exp(excess))


class Watch:
    """What the networks of eta are to minimise, and what each of their epochs is given."""

    def __init__(self, monkeypatch):
        self.labels, self.risks, self.rounds = None, None, []
        twin, start, epoch = Fleet.twin, Fleet.start, Fleet.epoch

        def made(fleet, module):
            self.labels = twin(fleet, module)
            return self.labels

        def started(fleet, risk, *rates):
            if fleet is self.labels:
                self.risks = risk, rates[-1]
            start(fleet, risk, *rates)

        def watched(fleet, weight, columns=None):
            if fleet is self.labels:
                self.rounds.append((*self._before, weight))
            else:
                self._before = fleet.training, fleet.logits(), self.labels.logits()
            epoch(fleet, weight, columns)

        monkeypatch.setattr(Fleet, "twin", made)
        monkeypatch.setattr(Fleet, "start", started)
        monkeypatch.setattr(Fleet, "epoch", watched)


def plain_positive(logit, label_logit, labelled, weight, prior, population_prior):
    """q, row by row: the page's expectation and anchor."""
    share = weight[labelled].sum() / weight.sum()
    at_hand = share + (1 - share) * prior
    excess = log_odds(population_prior) - log_odds(at_hand)
    q = np.ones(len(logit))
    for i in np.flatnonzero(~labelled):
        h, eta = expit(logit[i] - excess), expit(label_logit[i])
        q[i] = h * (1 - eta) / (1 - h * eta)
    odds, row_weight = log_odds(q[~labelled]), weight[~labelled]
    shift = brentq(lambda b: np.average(expit(odds + b), weights=row_weight) - prior, -20, 20)
    q[~labelled] = expit(odds + shift)
    return q


def plain_risk(label_logit, labelled, weight, q):
    """Mean over the rows of w q CE(eta, labelled), row by row."""
    risk = 0.0
    for i in range(len(label_logit)):
        eta = expit(label_logit[i])
        risk -= weight[i] * q[i] * np.log(eta if labelled[i] else 1 - eta)
    return risk / len(label_logit)


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_what_eta_minimises(scenario, monkeypatch):
    """Each row counts as much as it is positive, and the grad is that of the formula."""
    watch, (X, y) = Watch(monkeypatch), table(n_positive=20, n_unlabeled=30)
    sample_weight = np.random.default_rng(0).uniform(0.2, 2, len(y))
    given = {"scenario": scenario, "epochs": 1, "n_members": 2, "validation_fraction": 0}
    model = lbe(prior=0.4, label_decay=0.0, label_lr=0.1, **given).fit(X, y, sample_weight)
    assert len(watch.rounds) == 3
    risk, grad = watch.risks
    for training, *logits, found in watch.rounds:
        for k in range(2):
            labelled, weight = training.is_positive[k].numpy(), training.weight[k].double().numpy()
            logit, label_logit = (both[k].double().numpy() for both in logits)
            q = plain_positive(logit, label_logit, labelled, weight, 0.4, model.population_prior_)
            np.testing.assert_allclose(found[k], weight * q, rtol=1e-3)
            half = torch.tensor([0.5]).double()
            rows = torch.from_numpy(labelled)[None], torch.from_numpy(weight * q)[None]
            batch, leaf = Batch(*rows, half, half, {}), torch.from_numpy(label_logit)[None]
            plain = plain_risk(label_logit, labelled, weight, q)
            assert risk(leaf, batch).item() == pytest.approx(plain)
            for i, step in enumerate(1e-5 * np.eye(len(y))):
                rise = plain_risk(label_logit + step, labelled, weight, q)
                rise -= plain_risk(label_logit - step, labelled, weight, q)
                assert grad(leaf, batch)[0, i].item() == pytest.approx(rise / 2e-5, abs=1e-8)


def fleet_of(module, d=3):
    rows = Rows(torch.arange(40), torch.arange(40) % 2 > 0, torch.ones(40))
    members = [Member(rows, None, 0.5, 0.5, seed, 0) for seed in (1, 2)]
    return Fleet(torch.randn(40, d, generator=torch.Generator().manual_seed(0)), members, module)


class TestLabels:
    @pytest.mark.parametrize("module", ["linear", "mlp", partial(mlp, hidden=(5, 4))])
    def test_begin_at_a_half(self, module):
        labels = fleet_of(module)
        assert labels.logits().abs().max() > 0.01
        begin_at_half(labels)
        assert (labels.logits() == 0).all()

    def test_a_network_with_hidden_layers_learns(self):
        """If all its weights were zero, all gradients but that of the last bias would be, too."""
        labels = fleet_of("mlp")
        begin_at_half(labels)
        labels.start(lambda logit, batch: (logit * batch.weight).mean(1), *[[1e-2] * 2] * 3, 40)
        for _ in range(2):
            labels.epoch(torch.randn(2, 40, generator=torch.Generator().manual_seed(1)))
        assert (labels.logits().std(1) > 1e-3).all()

    def test_depend_on_the_row(self):
        """Positives with a large second number are labelled more often, and h does not mind."""
        rng = np.random.default_rng(0)
        truth = np.arange(2000) % 2
        X = np.c_[rng.normal(np.where(truth == 1, 2.0, -2.0)), rng.normal(size=2000)]
        labelled = (truth == 1) & (rng.random(2000) < np.where(X[:, 1] > 0, 0.6, 0.1))
        given = {"module": "linear", "lr": 1e-2, "batch_size": 256, "random_state": 0}
        given |= {"prior": truth[~labelled].mean(), "scenario": "single-set"}
        # Held-out rows are biased, too: nothing is chosen by them.
        given |= {"validation_fraction": 0}
        fair = LBEClassifier(label_lr=1e-2, label_decay=0.03, **given)
        unfair = NNPUClassifier(epochs=50, **given)

        def bias(model):
            """How much the second number counts, compared to the first."""
            first, second = model.fit(X, labelled.astype(int)).to_torch()[1][1].weight[0].tolist()
            return abs(second / first)

        assert bias(fair) < 0.4 * bias(unfair)
        assert (fair.predict(X) == truth).mean() > (unfair.predict(X) == truth).mean() + 0.04


class TestFit:
    def test_mean_of_h_is_near_the_prior(self):
        X, y = table()
        for prior in (0.3, 0.7):
            model = lbe(prior=prior, rounds=6).fit(X, y)
            assert model.probability_[y == 0].mean() == pytest.approx(prior, abs=0.1)

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_scenarios(self, scenario):
        rng = np.random.default_rng(0)
        truth = np.arange(3000) % 2
        X = rng.normal(np.where(truth == 1, 1.0, -1.0)[:, None], 1.0, (3000, 3))
        sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
        pu = make_pu(X, truth, prior=0.3, scenario=scenario, random_state=0, **sizes)
        models = [
            lbe(prior=pu.prior, scenario=scenario, rounds=6, threshold=0.5).fit(pu.X, pu.y)
            for scenario in ("case-control", "single-set")
        ]
        right = models[scenario == "single-set"]
        assert right.score(pu.X_test, pu.y_test) > 0.92
        assert right.population_prior_ == pytest.approx(pu.population_prior)
        # Single-set data has more positives than its unlabelled rows tell.
        assert models[1].probability_.mean() > models[0].probability_.mean() + 0.02

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("epochs", 3),
            ("rounds", 1),
            ("warm_epochs", 0),
            ("label_lr", 0.1),
            ("label_decay", 0.0),
            ("label_module", "mlp"),
            ("weight_decay", 0.3),
        ],
    )
    def test_every_parameter_does_something(self, name, value):
        X, y = table()
        given = {"validation_fraction": 0}
        one, other = lbe(**given).fit(X, y), lbe(**given, **{name: value}).fit(X, y)
        assert np.abs(one.probability_ - other.probability_).max() > 1e-4

    def test_labels_by_a_module_of_the_user(self):
        def wide(shape):
            return nn.Sequential(nn.Linear(*shape, 4), nn.Tanh(), nn.Linear(4, 1))

        X, y = table()
        assert lbe(label_module=wide).fit(X, y).probability_[y == 1].mean() > 0.7

    def test_labelled_rows_may_weigh_more(self):
        """Shares of the classes come from the priors, as in all risks here."""
        X, y = table()
        one = lbe(epochs=10).fit(X, y)
        other = lbe(epochs=10).fit(X, y, np.where(y == 1, 5.0, 1.0))
        mean = one.probability_[y == 0].mean()
        assert other.probability_[y == 0].mean() == pytest.approx(mean, abs=0.05)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"rounds": 0}, "rounds must be a whole number at least 1"),
            ({"warm_epochs": -1}, "warm_epochs must be a whole number at least 0"),
            ({"label_lr": 0}, "label_lr must be a number above 0"),
            ({"label_decay": -1}, "label_decay must be a number at least 0"),
            ({"label_module": "linaer"}, "did you mean 'linear'"),
            ({"epochs": 0}, "epochs must be"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            lbe(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def test_classes_and_labels_do_not_trade_places():
    """Round by round, eta must not take over from h what tells positives from negatives."""
    spam = datasets.load("spambase")
    sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000, "random_state": 0}
    pu = make_pu(spam.data, spam.target, prior=0.4, **sizes)
    given = {"prior": 0.4, "validation_fraction": 0, "rounds": 14, "label_lr": 1e-2}
    held, loose = (
        LBEClassifier(label_decay=decay, random_state=0, **given)
        .fit(pu.X, pu.y)
        .score(pu.X_test, pu.y_test)
        for decay in (0.3, 0.0)
    )
    assert held > loose + 0.02
