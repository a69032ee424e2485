"""Dist-PU: means of answers that agree with the shares of labels, then mixtures."""

import math

import numpy as np
import pytest
import torch
from gaussians import problem
from torch import nn

from robustpu import DistPUClassifier
from robustpu.fleet import Batch, Fleet, Member, Rows
from robustpu.methods.dist_pu import growth, label_distribution, mixtures, warm_up, with_mixtures

MASK = np.array([True, False, True, False, False, True, False])
LOGIT = np.array([0.4, -1.3, 2.1, 0.7, -0.2, -0.9, 1.6])
MIXED = np.array([0.1, 0.9, -0.6, 1.7, -0.1, 0.3, 2.2])
WEIGHT = np.array([1.0, 0.5, 2.0, 0.0, 1.5, 0.25, 3.0])
TARGET = np.array([1.0, 0.2, 0.9, 0.5, 0.1, 0.7, 0.4])


def dist_pu(**changes):
    given = {"prior": 0.5, "epochs": 20, "mix_epochs": 10, "lr": 3e-3, "random_state": 0}
    return DistPUClassifier(**{**given, "batch_size": 128, **changes})


# The risks.


def plain_entropy(logit):
    f = 1 / (1 + np.exp(-logit))
    return -f * np.log(f) - (1 - f) * np.log(1 - f)


def plain_label_distribution(logit, mask, weight, prior, population_prior):
    """The paper's 2 pi |E_P[f] - 1| + |E_U[f] - pi|, derived for a population with a prior."""
    f = 1 / (1 + np.exp(-logit))
    scale = (1 - population_prior) / (1 - prior)
    first, risk = population_prior + scale * prior, 0.0
    if weight[mask].sum() > 0:
        risk += first * abs(np.average(f[mask], weights=weight[mask]) - 1)
    if weight[~mask].sum() > 0:
        risk += scale * abs(np.average(f[~mask], weights=weight[~mask]) - prior)
    return risk / first


def plain_warm_up(logit, mask, weight, prior, population_prior, entropy_weight):
    risk = plain_label_distribution(logit, mask, weight, prior, population_prior)
    return risk + entropy_weight * np.average(plain_entropy(logit[~mask]), weights=weight[~mask])


def plain_with_mixtures(logit, mask, weight, prior, population_prior, weights, target):
    of_entropy, of_mixed_entropy, of_mixture = weights
    clean, mixed = np.clip(logit[:7], -10, 10), np.clip(logit[7:], -10, 10)
    f = 1 / (1 + np.exp(-mixed))
    cross_entropy = -target * np.log(f) - (1 - target) * np.log(1 - f)
    return (
        plain_warm_up(clean, mask, weight, prior, population_prior, of_entropy)
        + of_mixed_entropy * np.average(plain_entropy(mixed), weights=weight)
        + of_mixture * np.mean(weight * cross_entropy)
    )


def tensor(values):
    return torch.tensor(np.asarray(values, dtype=np.float64))


def batch_of(masks, weights, priors, population_priors, **columns):
    return Batch(
        torch.tensor(np.stack(masks)),
        tensor(np.stack(weights)),
        tensor(priors),
        tensor(population_priors),
        {name: tensor(value) for name, value in columns.items()},
    )


def check_grad(grad, plain, logit):
    for i in range(len(logit)):
        step = np.eye(len(logit))[i] * 1e-5
        expected = (plain(logit + step) - plain(logit - step)) / 2e-5
        assert grad[i].item() == pytest.approx(expected, abs=1e-8)


TWO = [MASK, np.roll(MASK, 1)], [WEIGHT, np.ones(7)], [0.4, 0.7], [0.4, 0.8]


def test_the_risk_of_the_first_stage_and_its_grad():
    leaf = tensor([LOGIT, MIXED]).requires_grad_()
    risk = warm_up(leaf, batch_of(*TWO), tensor([0.1, 0.3]))
    (grad,) = torch.autograd.grad(risk.sum(), leaf)
    for member, logit in enumerate((LOGIT, MIXED)):
        known = [values[member] for values in TWO]

        def plain(logit, known=known, share=(0.1, 0.3)[member]):
            return plain_warm_up(logit, *known, share)

        assert risk[member].item() == pytest.approx(plain(logit))
        check_grad(grad[member], plain, logit)


def test_the_risk_of_the_second_stage_and_its_grad():
    # One logit is beyond 10, where nothing pulls any more.
    logits = np.stack([np.r_[LOGIT, MIXED], np.r_[MIXED, LOGIT]])
    logits[0, 0], logits[1, 9] = 12.0, -11.0
    columns = {"target": [TARGET, TARGET[::-1]], "growth": np.full((2, 7), 0.25)}
    numbers = tensor([0.4, 0.8]), tensor([0.04, 0.1]), tensor([5.0, 2.0])
    leaf = tensor(logits).requires_grad_()
    risk = with_mixtures(leaf, batch_of(*TWO, **columns), *numbers)
    (grad,) = torch.autograd.grad(risk.sum(), leaf)
    for member in range(2):
        known = [values[member] for values in TWO]
        weights = [values[member].item() for values in numbers]
        weights[0] *= 0.25

        def plain(logit, known=known, weights=weights, target=columns["target"][member]):
            return plain_with_mixtures(logit, *known, weights, target)

        assert risk[member].item() == pytest.approx(plain(logits[member]))
        check_grad(grad[member], plain, logits[member])
    assert grad[0, 0] == grad[1, 9] == 0


def test_case_control_is_the_paper():
    f = 1 / (1 + np.exp(-LOGIT))
    expected = abs(f[MASK].mean() - 1) + abs(f[~MASK].mean() - 0.3) / 0.6
    batch = batch_of([MASK], [np.ones(7)], [0.3], [0.3])
    assert label_distribution(tensor([LOGIT]), batch).item() == pytest.approx(expected)


@pytest.mark.parametrize("mask", [np.zeros(7, dtype=bool), np.ones(7, dtype=bool)])
def test_a_batch_without_positives_or_without_unlabelled_rows(mask):
    leaf = tensor([LOGIT]).requires_grad_()
    risk = label_distribution(leaf, batch_of([mask], [WEIGHT], [0.4], [0.6]))
    expected = plain_label_distribution(LOGIT, mask, WEIGHT, 0.4, 0.6)
    assert risk.item() == pytest.approx(expected)
    assert torch.autograd.grad(risk.sum(), leaf)[0].isfinite().all()


def test_mixing_targets_is_mixing_losses():
    """share BCE(q_i) + (1 - share) BCE(q_j), as in the paper, is BCE of the mixed target."""
    f, share, other = 1 / (1 + np.exp(-MIXED)), 0.3, TARGET[::-1]
    of = [-q * np.log(f) - (1 - q) * np.log(1 - f) for q in (TARGET, other)]
    expected = np.mean(share * of[0] + (1 - share) * of[1])
    columns = {"target": [share * TARGET + (1 - share) * other], "growth": np.zeros((1, 7))}
    batch = batch_of([MASK], [np.ones(7)], [0.4], [0.4], **columns)
    logit, zero, one = tensor([np.r_[LOGIT, MIXED]]), tensor([0.0]), tensor([1.0])
    found = with_mixtures(logit, batch, zero, zero, one) - label_distribution(logit[:, :7], batch)
    assert found.item() == pytest.approx(expected)


# Mixtures.


def echo(shape):
    """A network whose logit is the row's one number."""
    network = nn.Sequential(nn.Linear(1, 1))
    nn.init.ones_(network[0].weight)
    nn.init.zeros_(network[0].bias)
    return network


def test_targets_are_mixed_answers_and_those_of_positives_are_1():
    pool = torch.linspace(-2, 2, 12)[:, None]
    parts = torch.arange(8), torch.arange(3, 11)
    members = [
        Member(Rows(rows, rows % 3 == 0, torch.ones(8)), None, 0.4, 0.4, seed, seed)
        for seed, rows in enumerate(parts)
    ]
    fleet = Fleet(pool, members, echo)
    fleet.keep(torch.tensor([False, True]))
    columns, partners = mixtures(fleet, [1.0, 6.0])
    answer = torch.where(torch.arange(12) % 3 == 0, 1.0, torch.sigmoid(pool[:, 0]))
    rows, other, share = parts[1], partners.index[0], partners.share[0]
    assert set(other.tolist()) <= set(parts[1].tolist())
    assert len(set(other.tolist())) > 2
    expected = share * answer[rows] + (1 - share) * answer[other]
    torch.testing.assert_close(columns["target"][0], expected)


def test_the_schedule_of_the_second_stage(monkeypatch):
    pu, seen = problem(), []
    plain = Fleet.epoch

    def spy(fleet, weight=None, columns=None, partners=None):
        seen.append(None if columns is None else columns["growth"].unique().item())
        plain(fleet, weight, columns, partners)

    monkeypatch.setattr(Fleet, "epoch", spy)
    model = dist_pu(epochs=3, mix_epochs=4, threshold="prior").fit(pu.X, pu.y)
    expected = [1 - math.cos(step / 4 * math.pi / 2) for step in range(4)]
    assert seen[:3] == [None] * 3
    assert seen[3:] == pytest.approx(expected, abs=1e-6)
    assert [entry["epoch"] for entry in model.history_] == list(range(1, 8))
    assert [growth(0), growth(1)] == pytest.approx([0, 1])


def test_the_second_stage_goes_on_from_the_best_epoch_of_the_first():
    pu = problem()
    given = {"epochs": 8, "threshold": "prior"}
    still = dist_pu(mix_epochs=1, mix_lr=1e-12, **given).fit(pu.X, pu.y)
    scores = [entry["score"] for entry in still.history_]
    assert scores[8] == pytest.approx(max(scores[:8]), abs=1e-5)
    assert max(scores[:8]) > scores[0] + 1e-4


def test_patience_begins_anew_in_the_second_stage():
    pu = problem()
    given = {"lr": 1e-12, "mix_lr": 1e-12, "patience": 2, "threshold": "prior"}
    model = dist_pu(**given).fit(pu.X, pu.y)
    assert [entry["epoch"] for entry in model.history_] == [1, 2, 3, 21, 22]
    # The clock of patience is not the epoch that was kept.
    assert model.best_epoch_.tolist() == [1]


@pytest.mark.parametrize("mix_lr", [1e-12, 1.0])
def test_the_epoch_that_is_kept_is_the_best_of_the_history(mix_lr):
    pu = problem()
    given = {"epochs": 12, "mix_epochs": 4, "n_members": 3, "lr": 0.1, "threshold": "prior"}
    model = dist_pu(mix_lr=mix_lr, **given).fit(pu.X, pu.y)
    for place, member in enumerate(model.kept_):
        entries = [entry for entry in model.history_ if entry["member"] == member]
        kept = entries[model.best_epoch_[place] - 1]
        assert kept["epoch"] == model.best_epoch_[place]
        assert kept["score"] == pytest.approx(model.member_scores_[member])


# The whole.


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
def test_learns(prior):
    pu = problem(prior)
    model = dist_pu(prior=prior, n_members=3).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9


def test_single_set():
    pu = problem(0.3, scenario="single-set")
    model = dist_pu(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    assert model.population_prior_ == pytest.approx(pu.population_prior)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    other = dist_pu(prior=pu.prior).fit(pu.X, pu.y)
    assert not np.allclose(model.probability_, other.probability_, atol=1e-2)


@pytest.mark.parametrize(
    "change",
    [
        {"entropy_weight": 0.1},
        {"mix_entropy_weight": 0.5},
        {"mixture_entropy_weight": 0.5},
        {"mixture_weight": 1.0},
        {"alpha": 0.1},
        {"mix_lr": 1e-2},
        {"mix_epochs": 2},
    ],
)
def test_every_parameter_counts(change):
    pu = problem()
    given = {"epochs": 4, "mix_epochs": 3, "validation_fraction": 0, "threshold": "prior"}
    plain, other = (dist_pu(**{**given, **extra}).fit(pu.X, pu.y) for extra in ({}, change))
    assert not np.allclose(plain.probability_, other.probability_, atol=1e-4)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"mix_epochs": 0}, "mix_epochs must be a whole number at least 1"),
        ({"mix_epochs": 1.5}, "mix_epochs must be a whole number"),
        ({"mix_lr": 0}, "mix_lr must be a number above 0"),
        ({"entropy_weight": -1}, "entropy_weight must be a number at least 0"),
        ({"mix_entropy_weight": -1}, "mix_entropy_weight must be a number at least 0"),
        ({"mixture_entropy_weight": -1}, "mixture_entropy_weight must be a number at least 0"),
        ({"mixture_weight": None}, "mixture_weight must be a number at least 0"),
        ({"alpha": 0}, "alpha must be a number above 0"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        dist_pu(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
