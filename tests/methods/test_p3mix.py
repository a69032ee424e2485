"""P3Mix: who is mixed with whom, and what is minimised at the mixtures."""

import numpy as np
import pytest
import torch
from gaussians import table
from torch import nn

from robustpu import P3MixCClassifier, P3MixEClassifier
from robustpu.fleet import Batch, Fleet, Member, Rows
from robustpu.methods import p3mix
from robustpu.methods.p3mix import (
    at_mixtures,
    candidates,
    choose_partners,
    corrected,
    marginal,
)
from robustpu.methods.teacher import Teacher

BOTH = pytest.mark.parametrize("cls", [P3MixEClassifier, P3MixCClassifier])
NUMBERS = {
    "unlabeled_weight": torch.tensor([0.5, 2.0]).double(),
    "entropy_weight": torch.tensor([0.1, 0.3]).double(),
    "early_weight": torch.tensor([1.0, 0.7]).double(),
}


def numbers(with_teacher):
    return {name: NUMBERS[name] for name in NUMBERS if with_teacher or name != "early_weight"}


def p3mix_of(cls, **changes):
    given = {"prior": 0.5, "epochs": 4, "lr": 1e-2, "batch_size": 64, "random_state": 0}
    given |= {"threshold": "prior", "start_epoch": 1, "pool_size": 20, "gamma": 0.8}
    return cls(**{**given, **changes})


def batch(with_teacher=True):
    """Two members, seven rows, of which one has no weight; logits beside it."""
    rng = np.random.default_rng(0)
    columns = {"target": torch.from_numpy(rng.random((2, 7)))}
    if with_teacher:
        columns["teacher"] = torch.from_numpy(rng.random((2, 7)))
    is_positive = torch.from_numpy(rng.random((2, 7)) < 0.4)
    weight = torch.from_numpy(rng.random((2, 7)))
    weight[:, 3] = 0.0
    prior = torch.full((2,), 0.3).double()
    logit = torch.from_numpy(rng.normal(0, 3, (2, 7)))
    return logit, Batch(is_positive, weight, prior, prior, columns)


def by_hand(logit, data, with_teacher):
    """The card's formulas with two-column probabilities, one member after the other."""
    answer = []
    for k in range(2):
        f = np.clip(1 / (1 + np.exp(-logit[k].numpy())), 1e-4, 1 - 1e-4)
        p = np.stack([1 - f, f])
        t = data.columns["target"][k].numpy()
        cross = -(np.stack([1 - t, t]) * np.log(p)).sum(0)
        side, w = data.is_positive[k].numpy(), data.weight[k].numpy()
        number = {name: value[k].item() for name, value in NUMBERS.items()}
        risk = np.average(cross[side], weights=w[side])
        risk += number["unlabeled_weight"] * np.average(cross[~side], weights=w[~side])
        ent = -(p * np.log(p)).sum(0)
        risk += number["entropy_weight"] * np.average(ent, weights=w)
        if with_teacher:
            q = data.columns["teacher"][k].numpy()
            inner = (np.stack([1 - q, q]) * p).sum(0)
            risk += number["early_weight"] * np.average(np.log(1 - inner), weights=w)
        answer.append(risk)
    return np.array(answer)


class TestRisk:
    @pytest.mark.parametrize("with_teacher", [True, False])
    def test_value(self, with_teacher):
        logit, data = batch(with_teacher)
        found = at_mixtures(logit, data, **numbers(with_teacher)).numpy()
        np.testing.assert_allclose(found, by_hand(logit, data, with_teacher), rtol=1e-6)

    @pytest.mark.parametrize("with_teacher", [True, False])
    def test_grad(self, with_teacher):
        logit, data = batch(with_teacher)
        leaf = logit.clone().requires_grad_()
        risk = at_mixtures(leaf, data, **numbers(with_teacher))
        (grad,) = torch.autograd.grad(risk.sum(), leaf)
        for k, row in np.ndindex(2, 7):
            step = torch.zeros_like(logit)
            step[k, row] = 1e-5
            rise = by_hand(logit + step, data, with_teacher) - by_hand(
                logit - step, data, with_teacher
            )
            assert grad[k, row].item() == pytest.approx(rise[k] / 2e-5, abs=1e-7)

    def test_is_bounded_below(self):
        """A student that agrees with its teacher for sure gets log(1e-4), not minus infinity."""
        _, data = batch()
        sure = data.columns["teacher"].round()
        both = Batch(*list(vars(data).values())[:4], {"target": sure, "teacher": sure})
        risk = at_mixtures(1e3 * (2 * sure - 1), both, **NUMBERS)
        expected = NUMBERS["early_weight"] * np.log(1e-4)
        torch.testing.assert_close(risk, expected, atol=1e-2, rtol=0)

    def test_a_batch_without_positives(self):
        logit, data = batch()
        none = Batch(torch.zeros_like(data.is_positive), *list(vars(data).values())[1:])
        risk = at_mixtures(logit, none, **NUMBERS)
        everyone = Batch(~none.is_positive, *list(vars(data).values())[1:])
        # The same rows as positives weigh 1 instead of unlabeled_weight.
        rest = at_mixtures(logit, everyone, **NUMBERS)
        f = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
        target = data.columns["target"]
        cross = -(target * f.log() + (1 - target) * (1 - f).log())
        mean = (cross * data.weight).sum(1) / data.weight.sum(1)
        torch.testing.assert_close(rest - risk, (1 - NUMBERS["unlabeled_weight"]) * mean)


class TestRules:
    f = torch.tensor([[0.5, 0.19, 0.21, 0.79, 0.81, 0.5]])
    labelled = torch.tensor([[True, False, False, False, False, False]])
    gamma = torch.tensor([[0.8]])

    def test_marginal(self):
        found = marginal(torch.logit(self.f), self.labelled, self.gamma)
        assert found.tolist() == [[False, False, True, True, False, True]]

    def test_corrected(self):
        found = corrected(torch.logit(self.f), self.labelled, self.gamma)
        assert found.tolist() == [[1, 0, 0, 0, 1, 0]]

    def test_each_member_has_its_own_gamma(self):
        f = torch.tensor([[0.75], [0.75]])
        gamma, none = torch.tensor([[0.7], [0.8]]), torch.zeros(2, 1) > 0
        assert marginal(torch.logit(f), none, gamma).tolist() == [[False], [True]]
        assert corrected(torch.logit(f), none, gamma).tolist() == [[1], [0]]

    def test_candidates(self):
        f = torch.tensor([[0.9, 0.6, 0.1, 0.5, 0.3]]).expand(3, 5)
        labelled = torch.tensor([[True, True, True, False, True]]).expand(3, 5)
        found = candidates(torch.logit(f), labelled, torch.tensor([1, 2, 9]))
        # By entropy 0.6 comes first, then 0.3; 0.5 is not labelled.
        assert found[0].tolist() == [False, True, False, False, False]
        assert found[1].tolist() == [False, True, False, False, True]
        assert torch.equal(found[2], labelled[2])


def fleet_of(is_positive, weight=None, seeds=(1, 2)):
    n = len(is_positive)
    weight = torch.ones(n) if weight is None else weight
    rows = Rows(torch.arange(n), is_positive, weight)
    members = [Member(rows, None, 0.5, 0.5, seed, 0) for seed in seeds]
    return Fleet(torch.zeros(n, 1), members, "linear")


class TestPartners:
    def test_marginal_rows_get_one_of_the_pool_and_others_half_positives(self):
        n = 4000
        fleet = fleet_of(torch.arange(n) < 100)
        is_marginal = (torch.arange(n) % 4 == 0).expand(2, n)
        pool = (torch.arange(n) < 5).expand(2, n)
        place, from_pool = choose_partners(fleet, is_marginal, pool)
        assert torch.equal(from_pool, is_marginal)
        assert set(place[is_marginal].tolist()) == {0, 1, 2, 3, 4}
        for partner, others in zip(place, ~is_marginal, strict=True):
            share = (partner[others] < 100).float().mean().item()
            assert share == pytest.approx(0.5, abs=0.05)
            # All positives and most unlabelled rows are somebody's partner.
            assert len(set(partner[others][partner[others] < 100].tolist())) > 95
        assert not torch.equal(place[0], place[1])

    def test_one_positive(self):
        fleet = fleet_of(torch.arange(50) < 1)
        pool = fleet.training.is_positive
        place, _ = choose_partners(fleet, ~pool, pool)
        assert (place[:, 1:] == 0).all()


class Watch:
    """What each epoch was given, while it runs for real."""

    def __init__(self, monkeypatch):
        self.epochs, self.decays, self.logits = [], [], []
        epoch, learn, find = Fleet.epoch, Teacher.learn, Fleet.logits

        def watched(fleet, weight=None, columns=None, partners=None):
            index = fleet.training.index
            # Places of the partners among the training rows.
            place = torch.searchsorted(index, partners.index)
            self.epochs.append((fleet.training, find(fleet), columns, place, partners.share))
            epoch(fleet, weight, columns, partners)

        def learnt(teacher, decay):
            self.decays.append(decay)
            learn(teacher, decay)

        monkeypatch.setattr(Fleet, "epoch", watched)
        monkeypatch.setattr(p3mix.Teacher, "learn", learnt)


class TestEpochs:
    @BOTH
    def test_rows_and_targets_are_mixed_alike(self, cls, monkeypatch):
        watch = Watch(monkeypatch)
        X, y = table()
        p3mix_of(cls, epochs=6, start_epoch=3, pool_size=7, n_members=2).fit(X, y)
        assert len(watch.epochs) == 6
        # C has no teacher.
        assert len(watch.decays) == (6 if cls is P3MixEClassifier else 0)
        for epoch, (rows, logit, columns, place, share) in enumerate(watch.epochs, start=1):
            f, is_positive = torch.sigmoid(logit), rows.is_positive
            begun = epoch > 3
            target = is_positive.float()
            if cls is P3MixCClassifier and begun:
                target = (is_positive | (f >= 0.8)).float()
            unsure = ~is_positive & (f > 0.2) & (f < 0.8)
            partner = torch.where(unsure & begun, 1.0, target.gather(1, place))
            assert (share >= 0.5).all()
            expected = share * target + (1 - share) * partner
            torch.testing.assert_close(columns["target"], expected)
            assert ("teacher" in columns) == (cls is P3MixEClassifier)
            if begun:
                assert unsure.any()
                assert is_positive.gather(1, place)[unsure].all()
                # Of the pool: the seven positives of the largest entropy, for each member.
                entropy = -(f * f.log() + (1 - f) * (1 - f).log())
                for k in range(2):
                    known = torch.where(is_positive[k], entropy[k], -1.0)
                    pool = set(known.topk(7).indices.tolist())
                    assert set(place[k][unsure[k]].tolist()) <= pool
            else:
                assert not is_positive.gather(1, place)[unsure].all()

    def test_the_teacher_is_the_mean_of_the_students(self, monkeypatch):
        watch = Watch(monkeypatch)
        X, y = table()
        p3mix_of(P3MixEClassifier, epochs=5).fit(X, y)
        assert watch.decays == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])
        # In the first epoch the teacher is the student; then it is not.
        for epoch, (rows, logit, columns, place, share) in enumerate(watch.epochs, start=1):
            f = torch.sigmoid(logit)
            unsure = ~rows.is_positive & (f > 0.2) & (f < 0.8) & (epoch > 1)
            partner = torch.where(unsure, 1.0, f.gather(1, place))
            same = torch.allclose(columns["teacher"], share * f + (1 - share) * partner, atol=1e-5)
            assert same == (epoch <= 2)

    def test_shares_follow_alpha(self, monkeypatch):
        watch = Watch(monkeypatch)
        X, y = table()
        for alpha in (0.1, 50.0):
            p3mix_of(P3MixCClassifier, alpha=alpha, epochs=1).fit(X, y)
        extreme, even = (share for *_, share in watch.epochs)
        assert (extreme > 0.95).float().mean() > 0.6
        assert even.max() < 0.75


@BOTH
class TestFit:
    def test_learns(self, cls):
        X, y = table()
        model = p3mix_of(cls, epochs=20, threshold=0.5).fit(X, y)
        assert model.predict(np.array([[1.2] * 3, [-1.2] * 3])).tolist() == [1, 0]
        assert model.probability_[y == 0].mean() == pytest.approx(0.5, abs=0.15)

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("alpha", 4.0),
            ("mix_layer", 0),
            ("start_epoch", 3),
            ("pool_size", 1),
            ("gamma", 0.6),
            ("unlabeled_weight", 0.3),
            ("entropy_weight", 0.0),
            ("weight_decay", 0.1),
        ],
    )
    def test_every_parameter_does_something(self, cls, name, value):
        X, y = table()
        one, other = p3mix_of(cls).fit(X, y), p3mix_of(cls, **{name: value}).fit(X, y)
        assert np.abs(one.probability_ - other.probability_).max() > 1e-5

    def test_no_prior_enters_the_training(self, cls):
        X, y = table()
        given = {"validation_fraction": 0, "threshold": 0.5}
        one = p3mix_of(cls, **given).fit(X, y)
        assert one.selection_ == "none"
        other = p3mix_of(cls, prior=0.4, scenario="single-set", **given).fit(X, y)
        np.testing.assert_array_equal(one.probability_, other.probability_)

    def test_a_module_that_is_no_chain_is_mixed_at_its_inputs(self, cls):
        class Odd(nn.Module):
            def __init__(self, shape):
                super().__init__()
                self.inside = nn.Linear(*shape, 1)

            def forward(self, x):
                return self.inside(x.relu())

        X, y = table()
        inside, at_inputs = (p3mix_of(cls, module=Odd, mix_layer=k).fit(X, y) for k in (1, 0))
        np.testing.assert_array_equal(inside.probability_, at_inputs.probability_)

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"alpha": 0}, "alpha must be a number above 0"),
            ({"mix_layer": -1}, "mix_layer must be a whole number at least 0"),
            ({"mix_layer": 0.5}, "mix_layer must be a whole number"),
            ({"start_epoch": -1}, "start_epoch must be"),
            ({"pool_size": 0}, "pool_size must be a whole number at least 1"),
            ({"gamma": 0.5}, "gamma must be a number above 0.5 and below 1"),
            ({"gamma": 1.0}, "gamma must be"),
            ({"unlabeled_weight": 0}, "unlabeled_weight must be a number above 0"),
            ({"entropy_weight": -0.1}, "entropy_weight must be a number at least 0"),
            ({"lr": 0}, "lr must be"),
        ],
    )
    def test_what_is_refused(self, cls, changes, match):
        with pytest.raises(ValueError, match=match):
            p3mix_of(cls, **changes).fit(np.ones((4, 1)), [0, 0, 1, 1])


def test_the_weight_of_the_teacher():
    X, y = table()
    one, other = (p3mix_of(P3MixEClassifier, early_weight=w).fit(X, y) for w in (0.0, 1.0))
    assert np.abs(one.probability_ - other.probability_).max() > 1e-4
    with pytest.raises(ValueError, match="early_weight must be a number at least 0"):
        p3mix_of(P3MixEClassifier, early_weight=-1).fit(np.ones((4, 1)), [0, 0, 1, 1])
