"""PULNS: episodes of a selector, a probe and a classifier."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from gaussians import table

from robustpu import PULNSClassifier
from robustpu.fleet import Fleet, Member, Rows
from robustpu.methods import pulns as pulns_module
from robustpu.methods.pulns import chosen_weight, probe_gain
from robustpu.methods.selector import Selector


def pulns(**changes):
    given = {"prior": 0.5, "epochs": 2, "episodes": 4, "warm_epochs": 2, "lr": 1e-2}
    given |= {"batch_size": 64, "threshold": "prior", "selector_lr": 1e-2, "random_state": 0}
    given |= {"selector_steps": 2}
    return PULNSClassifier(**{**given, **changes})


def fleet_of(weight, is_positive, members=2, criterion=None):
    n = len(weight)
    generator = torch.Generator().manual_seed(0)
    pool = torch.randn(n, 2, generator=generator)
    rows = Rows(torch.arange(n), torch.tensor(is_positive), torch.tensor(weight))
    held_out = rows if criterion else None
    crew = [Member(rows, held_out, 0.5, 0.5, seed, seed) for seed in range(members)]
    return Fleet(pool, crew, "mlp", criterion)


class TestWeights:
    fleet = fleet_of([1.0, 2.0, 1.0, 0.5, 3.0], [True, True, False, False, False])

    def test_chosen_rows_weigh_as_much_as_positives(self):
        chosen = torch.tensor([[False, False, True, True, False], [False] * 4 + [True]])
        found = chosen_weight(self.fleet, chosen)
        # The sum of what counts stays: 3 + 1.5, and 3 + 3.
        assert found[0].tolist() == pytest.approx([0.75, 1.5, 1.5, 0.75, 0])
        assert found[1].tolist() == pytest.approx([1, 2, 0, 0, 3])

    def test_if_none_is_chosen_all_are(self):
        none = torch.zeros(2, 5) > 0
        everyone = chosen_weight(self.fleet, ~self.fleet.training.is_positive)
        assert torch.equal(chosen_weight(self.fleet, none), everyone)
        assert (everyone > 0).all()


class TestProbe:
    def setup_method(self):
        def first_weight(logit, *_):
            """A score that tells how far training has gone."""
            return logit[:, 0]

        self.fleet = fleet_of([1.0] * 6, [True, False] * 3, criterion=first_weight)
        self.settings = [pulns(probe_epochs=2, lr=3e-3)] * 2
        self.chosen = ~self.fleet.training.is_positive

    def test_is_a_copy(self):
        before, start = self.fleet.state.copy(), self.fleet.score()
        highest = start.clone()
        gain = probe_gain(self.fleet, self.settings, self.chosen, highest)
        assert torch.equal(self.fleet.state.flat, before.flat)
        assert torch.equal(self.fleet.score(), start)
        # The first row is a positive: its logit has risen.
        assert (gain > 0.01).all()
        torch.testing.assert_close(highest, start + gain)

    def test_gains_over_the_best_so_far(self):
        highest = self.fleet.score() + 0.5
        kept = highest.clone()
        gain = probe_gain(self.fleet, self.settings, self.chosen, highest)
        assert ((gain > -0.5) & (gain < 0)).all()
        assert torch.equal(highest, kept)

    def test_those_that_left_keep_their_highest_score(self):
        highest = torch.tensor([7.0, -1.0])
        self.fleet.keep(torch.tensor([False, True]))
        gain = probe_gain(self.fleet, self.settings, self.chosen[1:], highest)
        assert gain.shape == (1,)
        assert highest[0] == 7
        assert highest[1] > -1

    @pytest.mark.parametrize(("highest", "expected"), [(-np.inf, 1.0), (50.0, -1.0)])
    def test_is_at_most_one(self, highest, expected):
        given = torch.full((2,), highest)
        assert (probe_gain(self.fleet, self.settings, self.chosen, given) == expected).all()

    def test_a_probe_that_diverges(self):
        wild = [pulns(probe_epochs=2, lr=1e30)] * 2
        for start in (0.0, -np.inf):
            highest = torch.full((2,), start)
            gain = probe_gain(self.fleet, wild, self.chosen, highest)
            assert (gain == (-1.0 if start == 0 else 0.0)).all()
            assert (highest == start).all()
        assert self.fleet.state.flat.isfinite().all()


class TestEpisodes:
    def test_in_the_right_order(self, monkeypatch):
        seen, epoch = [], Fleet.epoch

        def watched(fleet, weight=None, columns=None, partners=None):
            seen.append((fleet.state.flat.clone(), weight.clone(), fleet.training.is_positive))
            epoch(fleet, weight, columns, partners)

        monkeypatch.setattr(Fleet, "epoch", watched)
        X, y = table()
        model = pulns(episodes=3, probe_epochs=1, n_members=2).fit(X, y)
        # Two epochs to warm up, and in each episode one of the probe and two of the classifier.
        assert len(seen) == 2 + 3 * (1 + 2)
        for place, (_, weight, is_positive) in enumerate(seen):
            half = (weight * is_positive).sum(1) / weight.sum(1)
            assert half.tolist() == pytest.approx([0.5, 0.5])
            chosen = ((weight > 0) & ~is_positive).sum(1) / (~is_positive).sum(1)
            if place < 2:
                assert (chosen == 1).all()
            elif (place - 2) % 3 == 2:
                # The classifier has one choice for an episode, and the history notes its share.
                assert torch.equal(weight, seen[place - 1][1])
                episode = (place - 2) // 3 + 1
                noted = [e["chosen"] for e in model.history_ if e["epoch"] == episode]
                assert noted == pytest.approx(chosen.tolist())
        for episode in range(3):
            probe, first = seen[2 + 3 * episode], seen[3 + 3 * episode]
            assert torch.equal(probe[0], first[0])
            # The second choice is another one.
            assert not torch.equal(probe[1], first[1])

    def test_without_held_out_rows_there_is_no_probe(self, monkeypatch):
        count, epoch = [], Fleet.epoch

        def watched(fleet, *given):
            count.append(1)
            epoch(fleet, *given)

        orders, visit = [], Selector.visit

        def visited(selector, *given):
            answer = visit(selector, *given)
            orders.append(answer.order)
            return answer

        monkeypatch.setattr(Fleet, "epoch", watched)
        monkeypatch.setattr(Selector, "visit", visited)
        X, y = table()
        model = pulns(episodes=3, validation_fraction=0, patience=1).fit(X, y)
        # No epoch lies between the two visits of an episode, but they differ.
        assert not any(torch.equal(one, other) for one, other in pairwise(orders))
        assert len(count) == 2 + 3 * 2
        assert model.selection_ == "none"
        assert len(model.history_) == 4

    def test_the_warm_start_is_a_candidate(self):
        X, y = table()
        # A rate at which the classifier only gets worse.
        model = pulns(lr=1e-12, patience=2, episodes=9).fit(X, y)
        assert [entry["epoch"] for entry in model.history_] == [0, 1, 2]
        assert "chosen" not in model.history_[0]

    def test_the_score_of_the_warm_start_is_recorded_as_it_was(self, monkeypatch):
        seen, score = [], Fleet.score

        def watched(fleet):
            seen.append(score(fleet))
            return None if seen[-1] is None else seen[-1].clone()

        monkeypatch.setattr(Fleet, "score", watched)
        X, y = table()
        model = pulns(warm_epochs=1, lr=1e-3, episodes=3, n_members=3).fit(X, y)
        noted = [entry["score"] for entry in model.history_ if entry["epoch"] == 0]
        assert noted == seen[0].tolist()
        # Then one of the probe and one of the classifier in each episode.
        assert len(seen) == 1 + 3 * 2
        # A probe beats it, or the test could not fail.
        assert (seen[1] > seen[0]).any()

    def test_the_highest_score_is_that_of_probes_and_classifiers(self, monkeypatch):
        calls, gain = [], pulns_module.probe_gain

        def watched(fleet, settings, is_chosen, highest):
            before, score = highest.clone(), fleet.score()
            answer = gain(fleet, settings, is_chosen, highest)
            calls.append((score, before, highest.clone()))
            return answer

        monkeypatch.setattr(pulns_module, "probe_gain", watched)
        X, y = table()
        # The probe hardly learns and the classifier does, so the best are the classifier's.
        given = {"warm_epochs": 1, "lr": 3e-3, "epochs": 6, "episodes": 5, "patience": None}
        model = pulns(n_members=2, **given).fit(X, y)
        scores = np.array([entry["score"] for entry in model.history_]).reshape(2, 6)
        for episode, (score, before, after) in enumerate(calls):
            np.testing.assert_allclose(score, scores[:, episode], rtol=1e-6)
            earlier = [after for _, _, after in calls[:episode]]
            expected = np.max([*scores[:, : episode + 1].T, *earlier], axis=0)
            np.testing.assert_allclose(before, expected, rtol=1e-6)
            assert (after >= before).all()
        probes = np.array([after for _, _, after in calls])
        assert (scores[:, 1:-1] > probes[:-1].T).any()


class TestFit:
    def test_learns(self):
        X, y = table()
        model = pulns(episodes=15, threshold=0.5).fit(X, y)
        assert model.predict(np.array([[1.2] * 3, [-1.2] * 3])).tolist() == [1, 0]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("epochs", 3),
            ("episodes", 1),
            ("warm_epochs", 1),
            ("probe_epochs", 3),
            ("selector_lr", 0.1),
            ("discount", 0.0),
            ("final_weight", 20.0),
            ("weight_decay", 0.3),
        ],
    )
    def test_every_parameter_does_something(self, name, value):
        X, y = table()
        truth = (X.sum(1) > 0).astype(int)
        one, other = (
            pulns(threshold=0.5, n_members=4, **extra).fit(X, y, eval_set=(X, truth))
            for extra in ({}, {name: value})
        )
        shares = [[e.get("chosen") for e in model.history_] for model in (one, other)]
        assert shares[0] != shares[1]

    def test_no_prior_enters_the_training(self):
        X, y = table()
        given = {"validation_fraction": 0, "threshold": 0.5}
        one = pulns(**given).fit(X, y)
        other = pulns(prior=0.4, scenario="single-set", **given).fit(X, y)
        np.testing.assert_array_equal(one.probability_, other.probability_)

    def test_every_step_is_on_a_visit_of_its_own_and_the_first_has_a_probe(self, monkeypatch):
        seen = []
        learn = Selector.learn

        def note(self, rows, visit, value, final):
            seen.append((visit.is_chosen.clone(), final.item()))
            learn(self, rows, visit, value, final)

        monkeypatch.setattr(Selector, "learn", note)
        pulns(selector_steps=3, episodes=2, patience=None).fit(*table())
        choices, final = zip(*seen, strict=True)
        assert len(seen) == 6
        assert [bool(done) for done in final] == [True, False, False] * 2
        assert all((one != other).any() for one, other in pairwise(choices))

    def test_images_by_a_network_without_hidden_layers(self):
        X = np.random.default_rng(0).normal(size=(12, 3, 8, 8)).astype(np.float32)
        given = {"module": "linear", "epochs": 1, "episodes": 2, "warm_epochs": 1, "lr": 1e-3}
        model = pulns(**given).fit(X, np.arange(12) % 2)
        assert np.isfinite(model.predict_proba(X)).all()

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"episodes": 0}, "episodes must be a whole number at least 1"),
            ({"warm_epochs": 0}, "warm_epochs must be a whole number at least 1"),
            ({"probe_epochs": 0}, "probe_epochs must be a whole number at least 1"),
            ({"selector_lr": 0}, "selector_lr must be a number above 0"),
            ({"selector_steps": 0}, "selector_steps must be a whole number at least 1"),
            ({"discount": -0.1}, "discount must be a number at least 0 and at most 1"),
            ({"discount": 1.1}, "discount must be"),
            ({"final_weight": -1}, "final_weight must be a number at least 0"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            pulns(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
