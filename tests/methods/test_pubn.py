"""PUbN without negatives: a first network weighs the rows of a second."""

import numpy as np
import pytest
import torch
from gaussians import problem

from robustpu import PUbNClassifier
from robustpu.fleet import Batch, soft_cross_entropy, soft_cross_entropy_grad
from robustpu.methods import pubn as module
from robustpu.methods.pubn import among_unlabeled, weigh, weighted_quantile
from robustpu.modules import build

MASK = np.array([True, False, True, False, False, True, False, False])
S = np.array([0.9, 0.1, 0.3, 0.6, 0.25, 0.05, 0.95, 0.15])
LOGIT = np.array([0.4, -1.3, 2.1, 0.7, -0.2, -0.9, 1.6, -0.4])
WEIGHT = np.array([1.0, 0.5, 2.0, 0.0, 1.5, 0.25, 3.0, 1.0])


def pubn(**changes):
    given = {"prior": 0.5, "epochs": 15, "lr": 3e-3, "weight_decay": 0.0, "random_state": 0}
    return PUbNClassifier(**{**given, **changes})


def tensor(values):
    return torch.tensor(np.asarray(values, dtype=np.float64))


# The risk of the second step.


def plain_risk(logit, s, weight, eta, prior, population_prior):
    """The paper's formula, row by row; the risk of the negatives scaled to the population."""
    positive = negative = 0.0
    of_positive, of_unlabeled = weight[MASK].sum(), weight[~MASK].sum()
    for i in range(len(logit)):
        as_positive, as_negative = np.log1p(np.exp(-logit[i])), np.log1p(np.exp(logit[i]))
        if MASK[i]:
            positive += weight[i] / of_positive * as_positive
            if s[i] > eta:
                negative += prior * weight[i] / of_positive * (1 - s[i]) / s[i] * as_negative
        elif s[i] <= eta:
            negative += weight[i] / of_unlabeled * (1 - s[i]) * as_negative
    return population_prior * positive + (1 - population_prior) / (1 - prior) * negative


def weighed(weight, level, prior, population_prior):
    numbers = [tensor([value]) for value in (level, prior, population_prior)]
    rows = tensor(S)[None], torch.tensor(MASK)[None], tensor(weight)[None]
    return weigh(*rows, *numbers)


def batch_of(weight, target):
    one = tensor([0.5])
    return Batch(torch.tensor(MASK)[None], weight, one, one, {"target": target})


@pytest.mark.parametrize("weight", [np.ones(8), WEIGHT])
@pytest.mark.parametrize("population_prior", [0.4, 0.7])
# Of the five unlabelled rows in the order 0.1, 0.15, 0.25, 0.6, 0.95: two, or four, are below.
@pytest.mark.parametrize(("level", "eta"), [(0.22, 0.15), (0.44, 0.25)])
def test_the_risk_of_the_second_step(weight, population_prior, level, eta):
    weight_of_rows, target = weighed(weight, level, 0.4, population_prior)
    batch = batch_of(weight_of_rows, target)
    expected = plain_risk(LOGIT, S, weight, eta, 0.4, population_prior)
    assert soft_cross_entropy(tensor(LOGIT)[None], batch).item() == pytest.approx(expected)
    grad = soft_cross_entropy_grad(tensor(LOGIT)[None], batch)[0]
    for i in range(8):
        step = np.eye(8)[i] * 1e-5
        above, below = (
            plain_risk(LOGIT + sign * step, S, weight, eta, 0.4, population_prior)
            for sign in (1, -1)
        )
        assert grad[i].item() == pytest.approx((above - below) / 2e-5, abs=1e-8)


def test_who_counts_as_what():
    """By hand: eta is 0.25, 8 rows, 3 positives, 5 unlabelled; prior 0.4."""
    weight, target = weighed(np.ones(8), 0.6 - 1e-9, 0.4, 0.4)
    third, fifth = 8 / 3, 8 / 5
    # Positives above eta stand in for negatives there: 1 - s of s.
    assert weight[0, 0].item() == pytest.approx(third * 0.4 / 0.9)
    assert target[0, 0].item() == pytest.approx(0.9)
    assert weight[0, 2].item() == pytest.approx(third * 0.4 / 0.3)
    assert target[0, 2].item() == pytest.approx(0.3)
    # A positive below eta is just a positive.
    assert (weight[0, 5].item(), target[0, 5].item()) == (pytest.approx(third * 0.4), 1.0)
    # Unlabelled rows at or below eta are negatives as far as they are, others are nothing.
    assert weight[0, 4].item() == pytest.approx(fifth * 0.75)
    assert weight[0, [3, 6]].tolist() == [0, 0]
    assert target[0, ~MASK].tolist() == [0] * 5


def test_rows_of_no_weight_do_not_move_the_threshold():
    heavy = np.where(S == 0.6, 0.0, WEIGHT)
    assert torch.equal(
        weighed(heavy, 0.5, 0.4, 0.4)[0], weighed(WEIGHT, 0.5, 0.4, 0.4)[0] * tensor(S != 0.6)
    )


def test_a_positive_that_the_first_network_calls_negative():
    """s = 0 above a threshold of 0 would be an infinite weight."""
    s, ones = torch.tensor([[1e-9, 0.0, 1.0]]), torch.ones(1, 3)
    prior = torch.tensor([0.5])
    weight, target = weigh(s, s == 1e-9, ones, torch.tensor([0.1]), prior, prior)
    assert weight.isfinite().all()
    assert target.isfinite().all()


def test_weighted_quantile():
    value, rng = np.arange(11.0), np.random.default_rng(0)
    order, ones = rng.permutation(11), torch.ones(2, 11)
    both = torch.tensor(value[order], dtype=torch.float32).repeat(2, 1)
    assert weighted_quantile(both, ones, torch.tensor([0.5, 0.95])).tolist() == [5, 10]
    twice = torch.tensor(np.where(value[order] > 7, 8.0, 1.0), dtype=torch.float32).repeat(2, 1)
    assert weighted_quantile(both, twice, torch.tensor([0.2, 0.5])).tolist() == [6, 8]


@pytest.mark.parametrize("population_prior", [0.3, 0.6])
def test_probabilities_among_the_unlabelled_rows(population_prior):
    prior, ratio = 0.3, np.array([0.1, 1.0, 20.0])  # p(x | positive) / p(x | negative)
    odds = population_prior / (1 - population_prior) * ratio
    given = tensor([prior]), tensor([population_prior])
    expected = prior * ratio / (prior * ratio + 1 - prior)
    found = among_unlabeled(tensor(np.log(odds))[None], *given)[0]
    np.testing.assert_allclose(found, expected)


# The two steps.


def test_the_second_step_starts_from_the_first_weights_and_is_weighed_by_the_first(monkeypatch):
    pu, seen = problem(0.3, scenario="single-set"), []

    def first_step(fleet, settings, risk, grad):
        fleet.state.flat.mul_(1.5)
        seen.append(fleet.logits())

    def spy(*arguments):
        seen.append(arguments)
        return weigh(*arguments)

    monkeypatch.setattr(module, "minimize", first_step)
    monkeypatch.setattr(module, "weigh", spy)
    still = {"lr": 1e-12, "n_members": 2, "scenario": "single-set", "threshold": "prior"}
    model = pubn(prior=pu.prior, share=0.8, **still).fit(pu.X, pu.y)
    logit, (positive, is_positive, _, level, prior, population_prior) = seen
    shift = torch.logit(prior) - torch.logit(population_prior)
    torch.testing.assert_close(positive, torch.sigmoid(logit + shift[:, None]))
    assert level.tolist() == pytest.approx([0.8 * 0.7] * 2)
    assert is_positive.sum(1).tolist() == [135, 135]
    seeds = np.random.RandomState(0).randint(np.iinfo(np.int32).max, size=2).tolist()
    for member, seed in enumerate(seeds):
        expected = build("mlp", (4,), seed)
        for one, other in zip(
            model.to_torch(member)[1].parameters(), expected.parameters(), strict=True
        ):
            torch.testing.assert_close(one, other, atol=1e-6, rtol=0)


def test_the_history_is_that_of_the_second_step():
    pu = problem()
    model = pubn().fit(pu.X, pu.y)
    assert [entry["epoch"] for entry in model.history_] == list(range(16, 31))
    scores = [entry["score"] for entry in model.history_]
    assert model.member_scores_[0] == pytest.approx(max(scores))


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
def test_learns(prior):
    pu = problem(prior, seed=1)
    model = pubn(prior=prior, n_members=3).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9


def test_single_set():
    pu = problem(0.3, scenario="single-set")
    model = pubn(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    other = pubn(prior=pu.prior).fit(pu.X, pu.y)
    assert model.probability_.mean() > other.probability_.mean() + 0.02


def test_the_share_changes_who_counts():
    pu = problem()
    low, high = (pubn(share=share).fit(pu.X, pu.y) for share in (0.3, 1.0))
    assert not np.allclose(low.probability_, high.probability_, atol=1e-2)


def test_a_class_that_weighs_more_as_a_whole_does_not_count_for_more():
    pu, given = problem(), {"validation_fraction": 0, "standardize": False, "epochs": 5}
    model = pubn(**given).fit(pu.X, pu.y)
    heavy = pubn(**given).fit(pu.X, pu.y, np.where(pu.y == 1, 3.0, 1.0))
    np.testing.assert_allclose(model.state_.flat, heavy.state_.flat, atol=1e-4)


@pytest.mark.parametrize("share", [0, 1.1, None, "most", True])
def test_what_is_refused(share):
    with pytest.raises(ValueError, match="share must be a number above 0 and at most 1"):
        pubn(share=share).fit(np.ones((4, 1)), [0, 0, 1, 1])
