import math

import numpy as np
import pytest
import torch

from robustpu.risks import (
    SURROGATES,
    nnpu,
    nnpu_grad,
    sigmoid,
    upu,
    weighted_bce,
    weighted_bce_grad,
    weighted_mean,
)
from robustpu.scenario import population_prior

PLAIN = {
    "logistic": lambda margin: np.log1p(np.exp(-margin)),
    "sigmoid": lambda margin: 1 / (1 + np.exp(margin)),
}
every_surrogate = pytest.mark.parametrize("surrogate", SURROGATES)

MASK = np.array([True, False, True, False, False, True, False])
LOGIT = np.array([0.4, -1.3, 2.1, 0.7, -0.2, -0.9, 1.6])
WEIGHT = np.array([1.0, 0.5, 2.0, 0.0, 1.5, 0.25, 3.0])
# Positives far above, unlabelled rows far below: the estimated risk of the negatives is below 0.
OVERFIT = np.array([2.4, -2.3, 3.1, -3.7, -2.2, 1.9, -2.6])
PRIOR = 0.6


def tensor(values):
    return torch.tensor(np.asarray(values))


# The formulas, row by row.


def plain_mean(values, weights):
    total = sum(weights)
    return sum(w * v for w, v in zip(weights, values, strict=True)) / total if total else 0.0


def plain_parts(logit, mask, weight, surrogate):
    """E_P[l(g)], E_P[l(-g)] and E_U[l(-g)]."""
    loss = PLAIN[surrogate]
    p, u = np.flatnonzero(mask), np.flatnonzero(~mask)
    return (
        plain_mean([loss(logit[i]) for i in p], weight[p]),
        plain_mean([loss(-logit[i]) for i in p], weight[p]),
        plain_mean([loss(-logit[i]) for i in u], weight[u]),
    )


def plain_negative(logit, mask, weight, prior, surrogate):
    _, positive_as_negative, unlabeled_as_negative = plain_parts(logit, mask, weight, surrogate)
    return unlabeled_as_negative - prior * positive_as_negative


def plain_upu(logit, mask, weight, prior, surrogate):
    positive = plain_parts(logit, mask, weight, surrogate)[0]
    return prior * positive + plain_negative(logit, mask, weight, prior, surrogate)


def plain_bce(logit, mask, weight):
    total = 0.0
    for z, is_positive, w in zip(logit, mask, weight, strict=True):
        q = 1 / (1 + math.exp(-z))
        total -= w * math.log(q if is_positive else 1 - q)
    return total / len(logit)


def slope_of(function, at, step=1e-5):
    """Central differences of a plain function of the logits."""
    answer = np.zeros_like(at)
    for i in range(len(at)):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        answer[i] = (function(up) - function(down)) / (2 * step)
    return answer


def torch_grad(function, at):
    logit = tensor(at).requires_grad_()
    (grad,) = torch.autograd.grad(function(logit).sum(), logit)
    return grad.numpy()


def assert_near(actual, expected):
    """Central differences at 1e-5 are good to about 1e-10."""
    np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)


def nnpu_on(logit, surrogate, weight=WEIGHT, **numbers):
    return nnpu(logit, tensor(MASK), tensor(weight), PRIOR, PRIOR, SURROGATES[surrogate], **numbers)


# Surrogates and means.


def test_every_surrogate_has_a_plain_formula():
    assert SURROGATES.keys() == PLAIN.keys()


@every_surrogate
def test_surrogates_equal_their_formulas(surrogate):
    margin = np.linspace(-20, 20, 41)
    actual = SURROGATES[surrogate](tensor(margin)).numpy()
    np.testing.assert_allclose(actual, PLAIN[surrogate](margin), rtol=1e-10)


@every_surrogate
def test_surrogates_stay_finite_at_extreme_margins(surrogate):
    margin = torch.tensor([-1e4, 1e4], requires_grad=True)
    loss = SURROGATES[surrogate](margin)
    assert loss.tolist() == [1e4 if surrogate == "logistic" else 1.0, 0.0]
    (grad,) = torch.autograd.grad(loss.sum(), margin)
    assert grad.isfinite().all()


def test_weights_of_a_mean_equal_repetition():
    value, times = tensor([0.3, -2.0, 5.0, 1.0]), torch.tensor([2, 0, 1, 3])
    repeated = value.repeat_interleave(times)
    torch.testing.assert_close(weighted_mean(value, times.double()), repeated.mean())


# Weighted cross-entropy.


def test_weighted_bce_equals_its_formula():
    risk = weighted_bce(tensor(LOGIT), tensor(MASK), tensor(WEIGHT))
    assert risk.item() == pytest.approx(plain_bce(LOGIT, MASK, WEIGHT), rel=1e-12)
    assert_near(
        torch_grad(lambda z: weighted_bce(z, tensor(MASK), tensor(WEIGHT)), LOGIT),
        slope_of(lambda z: plain_bce(z, MASK, WEIGHT), LOGIT),
    )


def test_weighted_bce_is_not_divided_by_the_sum_of_the_weights():
    full = weighted_bce(tensor(LOGIT), tensor(MASK), tensor(WEIGHT))
    half = weighted_bce(tensor(LOGIT), tensor(MASK), tensor(WEIGHT) / 2)
    torch.testing.assert_close(half, full / 2)


# uPU and nnPU.


@every_surrogate
@pytest.mark.parametrize("logit", [LOGIT, OVERFIT], ids=["plain", "overfit"])
def test_upu_equals_its_formula(surrogate, logit):
    def risk(z):
        return upu(z, tensor(MASK), tensor(WEIGHT), PRIOR, PRIOR, SURROGATES[surrogate])

    def plain(z):
        return plain_upu(z, MASK, WEIGHT, PRIOR, surrogate)

    assert risk(tensor(logit)).item() == pytest.approx(plain(logit), rel=1e-12)
    assert_near(torch_grad(risk, logit), slope_of(plain, logit))


@every_surrogate
def test_nnpu_descends_on_the_whole_risk_while_that_of_the_negatives_is_not_below_zero(surrogate):
    assert plain_negative(LOGIT, MASK, WEIGHT, PRIOR, surrogate) > 0

    def plain(z):
        return plain_upu(z, MASK, WEIGHT, PRIOR, surrogate)

    assert nnpu_on(tensor(LOGIT), surrogate).item() == pytest.approx(plain(LOGIT), rel=1e-12)
    assert_near(
        torch_grad(lambda z: nnpu_on(z, surrogate, gamma=0.3), LOGIT), slope_of(plain, LOGIT)
    )


@every_surrogate
@pytest.mark.parametrize("gamma", [1.0, 0.3])
def test_nnpu_ascends_on_the_risk_of_the_negatives_when_it_is_below_zero(surrogate, gamma):
    assert plain_negative(OVERFIT, MASK, WEIGHT, PRIOR, surrogate) < 0

    def plain(z):
        return -gamma * plain_negative(z, MASK, WEIGHT, PRIOR, surrogate)

    risk = nnpu_on(tensor(OVERFIT), surrogate, gamma=gamma)
    assert risk.item() == pytest.approx(plain(OVERFIT), rel=1e-12)
    grad = torch_grad(lambda z: nnpu_on(z, surrogate, gamma=gamma), OVERFIT)
    assert_near(grad, slope_of(plain, OVERFIT))

    # A step against this grad raises the logits of the unlabelled rows and so their loss as
    # negatives, and lowers those of the positives. (A row of weight 0 takes no part.)
    counts = WEIGHT > 0
    assert (grad[~MASK & counts] < 0).all()
    assert (grad[MASK] > 0).all()


@every_surrogate
def test_the_positive_term_has_no_part_in_the_ascent(surrogate):
    def positive(z):
        return PRIOR * plain_parts(z, MASK, WEIGHT, surrogate)[0]

    def clamped(z):
        return positive(z) + max(0, plain_negative(z, MASK, WEIGHT, PRIOR, surrogate))

    grad = torch_grad(lambda z: nnpu_on(z, surrogate), OVERFIT)
    whole = torch_grad(
        lambda z: upu(z, tensor(MASK), tensor(WEIGHT), PRIOR, PRIOR, SURROGATES[surrogate]), OVERFIT
    )
    assert_near(grad, slope_of(positive, OVERFIT) - whole)
    # A clamp would push the positives up and leave the unlabelled rows where they are.
    clamp = slope_of(clamped, OVERFIT)
    assert (clamp[MASK] < 0).all()
    assert (clamp[~MASK] == 0).all()
    assert np.sign(grad[MASK]).tolist() == [1, 1, 1]


@every_surrogate
def test_beta_is_how_far_below_zero_is_tolerated(surrogate):
    negative = plain_negative(OVERFIT, MASK, WEIGHT, PRIOR, surrogate)
    tolerant = nnpu_on(tensor(OVERFIT), surrogate, beta=-negative + 1e-9)
    assert tolerant.item() == pytest.approx(plain_upu(OVERFIT, MASK, WEIGHT, PRIOR, surrogate))
    strict = nnpu_on(tensor(OVERFIT), surrogate, beta=-negative - 1e-9)
    assert strict.item() == pytest.approx(-negative)


def test_at_exactly_minus_beta_nnpu_descends():
    # One positive and one unlabelled row at the same logit: r = (1 - prior) l(-g), and at prior
    # 0.5 both parts are 0.25, exactly.
    logit, mask, ones = torch.zeros(2), torch.tensor([True, False]), torch.ones(2)
    risk = nnpu(logit, mask, ones, 0.5, 0.5, sigmoid, beta=-0.25)
    assert risk.item() == 0.5


@every_surrogate
@pytest.mark.parametrize("risk", [upu, nnpu])
@pytest.mark.parametrize("logit", [LOGIT, OVERFIT], ids=["plain", "overfit"])
def test_weights_equal_repetition(risk, logit, surrogate):
    times = torch.tensor([2, 1, 0, 3, 1, 1, 2])
    arguments = PRIOR, 0.7, SURROGATES[surrogate]
    weighted = risk(tensor(logit), tensor(MASK), times.double(), *arguments)
    z, mask = (tensor(values).repeat_interleave(times) for values in (logit, MASK))
    repeated = risk(z, mask, torch.ones(len(z), dtype=torch.float64), *arguments)
    torch.testing.assert_close(weighted, repeated)


@every_surrogate
@pytest.mark.parametrize("risk", [upu, nnpu])
@pytest.mark.parametrize("positive", [True, False])
def test_a_batch_of_one_kind_has_the_terms_of_that_kind_alone(risk, positive, surrogate):
    mask = np.full(len(LOGIT), positive)

    def of(z):
        return risk(z, tensor(mask), tensor(WEIGHT), PRIOR, PRIOR, SURROGATES[surrogate])

    loss = PLAIN[surrogate]
    as_positive, as_negative = (np.average(loss(s * LOGIT), weights=WEIGHT) for s in (1, -1))
    if not positive:
        expected = as_negative
    elif risk is upu:
        expected = PRIOR * as_positive - PRIOR * as_negative
    else:
        # Without unlabelled rows, r is below zero.
        expected = PRIOR * as_negative
    assert of(tensor(LOGIT)).item() == pytest.approx(expected, rel=1e-12)
    assert np.isfinite(torch_grad(of, LOGIT)).all()


@every_surrogate
@pytest.mark.parametrize("risk", [upu, nnpu])
def test_a_batch_without_any_weight_is_zero_and_has_a_finite_grad(risk, surrogate):
    def of(z):
        zeros = torch.zeros(len(LOGIT), dtype=torch.float64)
        return risk(z, tensor(MASK), zeros, PRIOR, PRIOR, SURROGATES[surrogate])

    assert of(tensor(LOGIT)).item() == 0
    assert (torch_grad(of, LOGIT) == 0).all()


# Members.


@every_surrogate
@pytest.mark.parametrize("risk", [upu, nnpu])
def test_members_are_worked_out_each_by_itself(risk, surrogate):
    # The same logits at other priors, labels and weights; nnPU takes both branches.
    logit = tensor([LOGIT, OVERFIT, OVERFIT, -OVERFIT])
    mask = tensor([MASK, MASK, ~MASK, MASK])
    weight = tensor([WEIGHT, WEIGHT + 1, WEIGHT, WEIGHT[::-1]])
    prior, population = tensor([0.2, 0.6, 0.5, 0.9]), tensor([0.2, 0.7, 0.6, 0.9])
    numbers = {}
    if risk is nnpu:
        numbers = {"beta": tensor([0.0, 0.0, 0.1, 0.3]), "gamma": tensor([1.0, 0.5, 1.0, 0.1])}
    stacked = risk(logit, mask, weight, prior, population, SURROGATES[surrogate], **numbers)
    assert stacked.shape == (4,)
    for i in range(4):
        constants = {name: value[i] for name, value in numbers.items()}
        alone = risk(
            logit[i],
            mask[i],
            weight[i],
            prior[i],
            population[i],
            SURROGATES[surrogate],
            **constants,
        )
        torch.testing.assert_close(stacked[i], alone)


def test_members_of_cross_entropy_are_worked_out_each_by_itself():
    logit, mask, weight = (tensor([a, a[::-1].copy()]) for a in (LOGIT, MASK, WEIGHT))
    mask[1] = ~mask[1]
    stacked = weighted_bce(logit, mask, weight)
    alone = [weighted_bce(*rows) for rows in zip(logit, mask, weight, strict=True)]
    torch.testing.assert_close(stacked, torch.stack(alone))


# Scenarios.


def one_sample_terms(logit, surrogate, prior):
    """The one-sample risk of card 15: its positive term, and the rest.

    R = pi / n_P sum_P [l(g) + (c - 1) l(-g)] + (1 - c pi) / n_U sum_U l(-g), c = n_P / (pi n), with
    pi the share of positives in the population, here counted from the sample itself.
    """
    loss, n_positive, n_unlabeled = PLAIN[surrogate], MASK.sum(), (~MASK).sum()
    pi = (n_positive + prior * n_unlabeled) / (n_positive + n_unlabeled)
    c = n_positive / (pi * (n_positive + n_unlabeled))
    positive = pi / n_positive * loss(logit[MASK]).sum()
    rest = pi / n_positive * ((c - 1) * loss(-logit[MASK])).sum()
    rest += (1 - c * pi) / n_unlabeled * loss(-logit[~MASK]).sum()
    return positive, rest


@every_surrogate
@pytest.mark.parametrize("prior", [0.2, 0.5])
@pytest.mark.parametrize("logit", [LOGIT, OVERFIT], ids=["plain", "overfit"])
def test_single_set_risks_are_those_of_one_sample(surrogate, prior, logit):
    positive, rest = one_sample_terms(logit, surrogate, prior)
    population = population_prior(prior, int(MASK.sum()), int((~MASK).sum()), "single-set")
    arguments = (
        tensor(logit),
        tensor(MASK),
        torch.ones(len(logit), dtype=torch.float64),
        prior,
        population,
        SURROGATES[surrogate],
    )
    assert upu(*arguments).item() == pytest.approx(positive + rest, rel=1e-12)
    expected = positive + rest if rest >= 0 else -rest
    assert nnpu(*arguments).item() == pytest.approx(expected, rel=1e-12)


@every_surrogate
def test_the_single_set_risk_is_the_pooled_one(surrogate):
    # The other form of card 15: pi E_P[l(g) - l(-g)] + mean over P and U of l(-g).
    loss, prior = PLAIN[surrogate], 0.2
    pi = population_prior(prior, int(MASK.sum()), int((~MASK).sum()), "single-set")
    expected = pi * (loss(LOGIT) - loss(-LOGIT))[MASK].mean() + loss(-LOGIT).mean()
    ones = torch.ones(len(LOGIT), dtype=torch.float64)
    actual = upu(tensor(LOGIT), tensor(MASK), ones, prior, pi, SURROGATES[surrogate])
    assert actual.item() == pytest.approx(expected, rel=1e-12)


class TestSlopes:
    """What is written by hand is what autograd finds."""

    @staticmethod
    def batch(members=6, rows=9):
        generator = torch.Generator().manual_seed(0)
        logit = 3 * torch.randn(members, rows, generator=generator, dtype=torch.float64)
        mask = torch.rand(members, rows, generator=generator) < 0.4
        # A member without positives, one without unlabelled rows, one with weights of zero.
        mask[0], mask[1] = False, True
        weight = torch.rand(members, rows, generator=generator, dtype=torch.float64)
        weight[2, mask[2]] = 0
        return logit.requires_grad_(), mask, weight

    def test_weighted_cross_entropy(self):
        logit, mask, weight = self.batch()
        (expected,) = torch.autograd.grad(weighted_bce(logit, mask, weight).sum(), logit)
        actual = weighted_bce_grad(logit.detach(), mask, weight)
        torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize("surrogate", SURROGATES.values(), ids=SURROGATES)
    @pytest.mark.parametrize("seed", range(5))
    def test_nnpu_and_upu(self, surrogate, seed):
        logit, mask, weight = self.batch()
        random = torch.Generator().manual_seed(seed)
        prior, population, beta, gamma = torch.rand(4, 6, generator=random, dtype=torch.float64)
        given = (mask, weight, prior, population, surrogate)
        for beta_ in (beta / 10, 0.0, math.inf):
            risk = nnpu(logit, *given, beta_, gamma)
            (expected,) = torch.autograd.grad(risk.sum(), logit)
            actual = nnpu_grad(logit.detach(), *given, beta_, gamma)
            torch.testing.assert_close(actual, expected, rtol=1e-9, atol=1e-12)
        (unbiased,) = torch.autograd.grad(upu(logit, *given).sum(), logit)
        torch.testing.assert_close(actual, unbiased, rtol=1e-9, atol=1e-12)

    def test_both_branches_of_nnpu_were_taken(self):
        logit, mask, weight = self.batch()
        half = torch.full((6,), 0.5, dtype=torch.float64)
        both = nnpu(logit, mask, weight, half, half) == upu(logit, mask, weight, half, half)
        assert 0 < both.sum() < 6
