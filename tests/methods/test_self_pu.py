"""Self-PU: who is chosen, what is minimised, students and their teachers."""

import numpy as np
import pytest
import torch
from gaussians import table

from robustpu import SelfPUClassifier, fit_together
from robustpu.fleet import Batch, Best, Fleet
from robustpu.methods.self_pu import confident, self_paced
from robustpu.methods.teacher import Teacher
from robustpu.split import make_pu

NUMBERS = {
    "sure_weight": torch.tensor([0.2, 1.5]).double(),
    "teacher_weight": torch.tensor([0.3, 0.8]).double(),
    "peer_weight": torch.tensor([0.3, 0.4]).double(),
    "nearness": torch.tensor([0.1, 0.05]).double(),
}


def self_pu(**changes):
    given = {"prior": 0.5, "epochs": 8, "lr": 1e-2, "batch_size": 64, "random_state": 0}
    given |= {"threshold": "prior", "start_epoch": 2, "stop_epoch": 4, "every": 2}
    return SelfPUClassifier(**{**given, **changes})


def batch(is_taught=1.0, low=False, prior=(0.3, 0.4), population_prior=(0.3, 0.5)):
    """Two members, nine rows: labelled, sure and doubtful ones; and logits for them."""
    rng = np.random.default_rng(0)
    logit = torch.from_numpy(rng.normal(0, 1.5, (2, 9)))
    is_positive = torch.tensor([[True] * 3 + [False] * 6]).expand(2, 9)
    if low:
        # The risk of the negatives is below zero if positives look positive, others negative.
        logit = torch.where(is_positive, 4.0, -4.0).double() + logit / 10
    columns = {
        "sure": torch.tensor([0.0, 0, 0, 1, 1, 1, 0, 0, 0]).expand(2, 9).double(),
        "answer": torch.tensor([0.0, 0, 0, 1, 0, 0, 0, 0, 0]).expand(2, 9).double(),
        "teacher": torch.from_numpy(rng.random((2, 9))),
        "peer": torch.from_numpy(rng.random((2, 9))),
        "is_taught": torch.full((2, 9), is_taught).double(),
    }
    weight = torch.from_numpy(rng.random((2, 9)))
    priors = torch.tensor(prior).double(), torch.tensor(population_prior).double()
    return logit, Batch(is_positive, weight, *priors, columns)


def by_hand(logit, data):
    """nnPU of the doubtful rows, and the rest, one member after the other."""
    answer = []
    for k in range(2):
        f, w = 1 / (1 + np.exp(-logit[k].numpy())), data.weight[k].numpy()
        labelled = data.is_positive[k].numpy()
        column = {name: value[k].numpy() for name, value in data.columns.items()}
        number = {name: value[k].item() for name, value in NUMBERS.items()}
        prior, population = data.prior[k].item(), data.population_prior[k].item()
        sure = column["sure"] > 0
        doubtful = ~labelled & ~sure
        # The sigmoid loss of a row as a positive is 1 - f, as a negative f.
        r = np.average(f[doubtful], weights=w[doubtful])
        r -= prior * np.average(f[labelled], weights=w[labelled])
        r *= (1 - population) / (1 - prior)
        as_positive = population * np.average(1 - f[labelled], weights=w[labelled])
        risk = as_positive + r if r >= 0 else -r
        up = column["answer"][sure] > 0
        loss = np.where(up, -np.log(f[sure]), -np.log(1 - f[sure]))
        ratio = np.where(up, population / prior, (1 - population) / (1 - prior))
        risk += number["sure_weight"] * np.average(loss, weights=w[sure] * ratio)
        if column["is_taught"][0]:
            far = (f - column["teacher"]) ** 2
            risk += number["teacher_weight"] * np.average(far, weights=w)
            apart = (f - column["peer"]) ** 2
            apart[apart >= number["nearness"]] = 0
            risk += number["peer_weight"] * np.average(apart, weights=w)
        answer.append(risk)
    return np.array(answer)


CASES = pytest.mark.parametrize("case", [{}, {"is_taught": 0.0}, {"low": True}])


class TestRisk:
    @CASES
    def test_value(self, case):
        logit, data = batch(**case)
        found = self_paced(logit, data, **NUMBERS).numpy()
        np.testing.assert_allclose(found, by_hand(logit, data), rtol=1e-6)

    @CASES
    def test_grad(self, case):
        logit, data = batch(**case)
        leaf = logit.clone().requires_grad_()
        (grad,) = torch.autograd.grad(self_paced(leaf, data, **NUMBERS).sum(), leaf)
        for k, row in np.ndindex(2, 9):
            step = torch.zeros_like(logit)
            step[k, row] = 1e-5
            rise = by_hand(logit + step, data) - by_hand(logit - step, data)
            assert grad[k, row].item() == pytest.approx(rise[k] / 2e-5, abs=1e-7)

    def test_the_cases_reach_both_branches(self):
        for low, sign in ((False, 1), (True, -1)):
            logit, data = batch(low=low, is_taught=0.0)
            weight = data.weight * (1 - data.columns["sure"])
            f = torch.sigmoid(logit) * weight
            positive, rest = data.is_positive, ~data.is_positive
            r = (f * rest).sum(1) / (weight * rest).sum(1)
            r -= data.prior * (f * positive).sum(1) / (weight * positive).sum(1)
            assert (r.sign() == sign).all()

    def test_a_batch_without_positives_or_sure_rows(self):
        logit, data = batch()
        columns = data.columns | {"sure": torch.zeros(2, 9).double()}
        nobody = torch.zeros_like(data.is_positive)
        none = Batch(nobody, data.weight, data.prior, data.population_prior, columns)
        assert self_paced(logit, none, **NUMBERS).isfinite().all()


class TestConfident:
    logit = torch.arange(12.0)[None]
    labelled = (torch.arange(12) % 6 == 5)[None]

    def chosen(self, share, prior, weight=None):
        weight = torch.ones(1, 12) if weight is None else weight
        sure, answer = confident(
            self.logit, self.labelled, weight, torch.tensor([share]), torch.tensor([prior])
        )
        return sure[0].nonzero()[:, 0].tolist(), answer[0].nonzero()[:, 0].tolist()

    def test_both_ends_in_the_proportion_of_the_classes(self):
        # Of ten unlabelled rows eight are chosen, a quarter of them as positives.
        sure, answer = self.chosen(0.8, 0.25)
        assert answer == [9, 10]
        assert sure == [0, 1, 2, 3, 4, 6, 9, 10]

    def test_rounds_down(self):
        assert self.chosen(0.39, 0.5) == ([0, 10], [10])
        assert self.chosen(0.1, 0.5) == ([], [])

    def test_rounding_costs_no_row(self):
        """Single precision has 63.999996 for 800 times 0.2 times 0.4."""
        none, prior = torch.zeros(1, 800) > 0, torch.tensor([0.6])
        rows = torch.arange(800.0)[None], none, torch.ones(1, 800)
        sure, answer = confident(*rows, torch.tensor([0.2]), prior)
        assert (answer.sum().item(), (sure - answer).sum().item()) == (96, 64)

    def test_rows_weigh(self):
        weight = torch.ones(1, 12)
        weight[0, 10], weight[0, 0] = 0.0, 3.0
        # Of a mass of 11, 2.2 come from above and 3.3 from below: row 0 weighs nearly all of it.
        sure, answer = self.chosen(0.5, 0.4, weight)
        assert answer == [8, 9, 10]
        assert sure == [0, 8, 9, 10]

    def test_each_member_for_itself(self):
        logit = torch.stack([self.logit[0], -self.logit[0]])
        share, prior = torch.tensor([0.2, 0.4]), torch.tensor([0.5, 0.5])
        both = self.labelled.expand(2, 12)
        sure, answer = confident(logit, both, torch.ones(2, 12), share, prior)
        assert sure.sum(1).tolist() == [2, 4]
        assert answer[1].nonzero()[:, 0].tolist() == [0, 1]


class Watch:
    """What each epoch was given, while it runs for real."""

    def __init__(self, monkeypatch):
        self.epochs, self.decays = [], []
        epoch, learn, find = Fleet.epoch, Teacher.learn, Fleet.logits

        def watched(fleet, weight=None, columns=None, partners=None):
            given = {name: value.clone() for name, value in columns.items()}
            self.epochs.append((fleet.training, find(fleet), given, fleet.alive))
            epoch(fleet, weight, columns, partners)

        def learnt(teacher, decay):
            self.decays.append(decay)
            learn(teacher, decay)

        monkeypatch.setattr(Fleet, "epoch", watched)
        monkeypatch.setattr(Teacher, "learn", learnt)


class TestEpochs:
    def test_in_the_right_order(self, monkeypatch):
        watch = Watch(monkeypatch)
        X, y = table()
        given = {"epochs": 10, "start_epoch": 2, "stop_epoch": 6, "every": 2, "n_members": 2}
        given |= {"most": 0.2, "most_other": 0.6, "decay": 0.7}
        self_pu(**given).fit(X, y)
        shares = []
        for epoch, (rows, logit, columns, _) in enumerate(watch.epochs, start=1):
            f = torch.sigmoid(logit)
            # Each member has a student in either half, on the same rows, from other weights.
            assert torch.equal(rows.index[:2], rows.index[2:])
            torch.testing.assert_close(columns["peer"], torch.cat([f[2:], f[:2]]))
            assert (f[:2] - f[2:]).abs().max() > 1e-3
            assert (columns["is_taught"] == float(epoch > 6)).all()
            is_copy = torch.equal(columns["teacher"], f)
            # The teacher learns for the first time at the end of epoch 7.
            assert is_copy == (epoch <= 7)
            shares.append((columns["sure"].sum(1) / (~rows.is_positive).sum(1)).tolist())
            assert (columns["sure"] * rows.is_positive == 0).all()
        assert shares[0] == [0] * 4
        for epoch, expected in ((2, 1 / 3), (4, 2 / 3), (6, 1), (10, 1)):
            wanted = [0.2 * expected] * 2 + [0.6 * expected] * 2
            assert shares[epoch - 1] == pytest.approx(wanted, abs=0.02)
        assert shares[2] == shares[1]
        assert watch.decays == [0] * 6 + [0.7] * 4

    def test_the_answer_is_that_of_the_better_one(self, monkeypatch):
        """In the teacher's weights, at the epoch of the best mean."""
        offers = []
        X, y = table()
        offer = Best.offer

        def offered(best, score, epoch):
            offers.append((score.clone(), best._fleet.state.flat.clone()))
            offer(best, score, epoch)

        monkeypatch.setattr(Best, "offer", offered)
        model = self_pu(validation_fraction=0.3).fit(X, y)
        scores = torch.stack([score for score, _ in offers])
        epoch = scores.mean(1).argmax().item()
        better = int(scores[epoch, 1] > scores[epoch, 0])
        assert model.member_scores_[0] == pytest.approx(scores[epoch, better].item())
        torch.testing.assert_close(model.state_.flat[0], offers[epoch][1][better])
        noted = [entry["score"] for entry in model.history_]
        assert noted == pytest.approx(scores[:, better].tolist())
        assert [entry["epoch"] for entry in model.history_] == list(range(1, 9))


class TestFit:
    def test_learns(self):
        X, y = table()
        model = self_pu(epochs=20, threshold=0.5).fit(X, y)
        assert model.predict(np.array([[1.2] * 3, [-1.2] * 3])).tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("start_epoch", 3),
            ("stop_epoch", 6),
            ("every", 1),
            ("most", 0.9),
            ("most_other", 0.9),
            ("sure_weight", 1.0),
            ("teacher_weight", 0.0),
            ("peer_weight", 0.0),
            ("nearness", 0.0),
            ("decay", 0.0),
            ("weight_decay", 0.0),
        ],
    )
    def test_every_parameter_does_something(self, name, value):
        X, y = table()
        # Without scores the answer is that of the first student, who has learnt from the second.
        one, other = (
            self_pu(validation_fraction=0, **extra).fit(X, y) for extra in ({}, {name: value})
        )
        assert np.abs(one.probability_ - other.probability_).max() > 1e-6

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_scenarios(self, scenario):
        rng = np.random.default_rng(0)
        truth = np.arange(3000) % 2
        X = rng.normal(np.where(truth == 1, 1.0, -1.0)[:, None], 1.0, (3000, 3))
        sizes = {"n_positive": 150, "n_unlabeled": 400, "n_test": 1000}
        pu = make_pu(X, truth, prior=0.3, scenario=scenario, random_state=0, **sizes)
        given = {"prior": pu.prior, "scenario": scenario, "threshold": 0.5, "epochs": 15}
        model = self_pu(**given).fit(pu.X, pu.y)
        assert model.population_prior_ == pytest.approx(pu.population_prior)
        assert model.score(pu.X_test, pu.y_test) > 0.92

    def test_one_that_diverges_does_not_leave_the_other_alone(self, monkeypatch):
        X, y = table()
        expected = self_pu(lr=1e-3, patience=3, validation_fraction=0).fit(X, y).probability_
        score = Fleet.score

        def scored(fleet):
            found = score(fleet)
            growing = torch.full_like(found, float(fleet._epochs[0]))
            return torch.where(torch.arange(len(found)) < len(found) // 2, growing, -torch.inf)

        monkeypatch.setattr(Fleet, "score", scored)
        model = self_pu(lr=1e-3, patience=3).fit(X, y)
        assert [entry["score"] for entry in model.history_] == list(range(1, 9))
        assert np.corrcoef(model.probability_, expected)[0, 1] > 0.9

    def test_progress_ends_where_it_should(self):
        X, y = table()
        told = []
        fit_together([(self_pu(n_members=3), X, y)], lambda done, total: told.append((done, total)))
        assert told[-2:] == [(24, 24), (24, 24)]

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"start_epoch": 0}, "start_epoch must be a whole number at least 1"),
            ({"stop_epoch": 1}, "stop_epoch must be a whole number at least 2"),
            ({"every": 0}, "every must be a whole number at least 1"),
            ({"most": 0}, "most must be a number above 0 and below 1"),
            ({"most_other": 1.0}, "most_other must be"),
            ({"sure_weight": -1}, "sure_weight must be a number at least 0"),
            ({"teacher_weight": -1}, "teacher_weight must be"),
            ({"peer_weight": None}, "peer_weight must be"),
            ({"nearness": -0.1}, "nearness must be"),
            ({"decay": 1.0}, "decay must be a number at least 0 and below 1"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            self_pu(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
