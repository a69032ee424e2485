"""Risks: logits and the mask of labelled positives -> one number a member, to be minimised.

Each function takes logits (..., rows), the mask of labelled positives and row weights of the same
shape, and returns (...): the last axis is averaged away, all others are members. Priors broadcast
against (..., ). A batch without positives, or without unlabelled rows, has a mean of zero there.

The scenario enters through two priors. ``prior`` is the share of positives among the unlabelled
rows, ``population_prior`` the share among the rows that the classifier is for. In case-control
data the two are equal, and the formulas are those of the papers.
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

Surrogate: TypeAlias = Callable[[Tensor], Tensor]


def logistic(margin: Tensor) -> Tensor:
    """log(1 + exp(-margin)).

    Examples
    --------
    >>> round(logistic(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    return functional.softplus(-margin)


def sigmoid(margin: Tensor) -> Tensor:
    """1 / (1 + exp(margin)).

    Examples
    --------
    >>> sigmoid(torch.tensor(0.0)).item()
    0.5
    """
    return torch.sigmoid(-margin)


SURROGATES: dict[str, Surrogate] = {"logistic": logistic, "sigmoid": sigmoid}

# Derivatives by the margin. Autograd could find them, at several times the cost of the risk itself.
SURROGATE_GRADS: dict[Surrogate, Surrogate] = {
    logistic: lambda margin: -torch.sigmoid(-margin),
    sigmoid: lambda margin: -torch.sigmoid(margin) * torch.sigmoid(-margin),
}


def weighted_mean(value: Tensor, weight: Tensor) -> Tensor:
    """sum(weight * value) / sum(weight) over the last axis, and 0 where no weight is.

    Examples
    --------
    >>> weighted_mean(torch.tensor([1.0, 5.0]), torch.tensor([3.0, 1.0])).item()
    2.0
    >>> weighted_mean(torch.tensor([1.0, 5.0]), torch.zeros(2)).item()
    0.0
    """
    total = weight.sum(-1)
    return (weight * value).sum(-1) / torch.where(total > 0, total, 1.0)


def weighted_bce(logit: Tensor, is_positive: Tensor, weight: Tensor) -> Tensor:
    """mean(weight * log(1 + exp(-/+ logit))): positives count as 1, unlabelled rows as 0.

    Divided by the number of rows, not by the sum of the weights: rows that the weighting mutes
    also make the step smaller, as in the paper's objective.

    Examples
    --------
    >>> risk = weighted_bce(torch.zeros(3), torch.tensor([True, False, False]), torch.ones(3))
    >>> round(risk.item(), 4)
    0.6931
    """
    return (weight * logistic(torch.where(is_positive, logit, -logit))).mean(-1)


def weighted_bce_grad(logit: Tensor, is_positive: Tensor, weight: Tensor) -> Tensor:
    """d weighted_bce / d logit, (..., rows): weight * (sigmoid(logit) - is_positive) / rows.

    Examples
    --------
    >>> weighted_bce_grad(torch.zeros(2), torch.tensor([True, False]), torch.ones(2)).tolist()
    [-0.25, 0.25]
    """
    return weight * (torch.sigmoid(logit) - is_positive.to(logit.dtype)) / logit.shape[-1]


def soft_bce(logit: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """mean(weight * (log(1 + exp(logit)) - target * logit)): targets are probabilities.

    Examples
    --------
    >>> risk = soft_bce(torch.zeros(2), torch.tensor([1.0, 0.3]), torch.ones(2))
    >>> round(risk.item(), 4)
    0.6931
    """
    return (weight * (functional.softplus(logit) - target * logit)).mean(-1)


def soft_bce_grad(logit: Tensor, target: Tensor, weight: Tensor) -> Tensor:
    """d soft_bce / d logit, (..., rows): weight * (sigmoid(logit) - target) / rows.

    Examples
    --------
    >>> soft_bce_grad(torch.zeros(2), torch.tensor([1.0, 0.0]), torch.ones(2)).tolist()
    [-0.25, 0.25]
    """
    return weight * (torch.sigmoid(logit) - target) / logit.shape[-1]


def entropy(logit: Tensor) -> Tensor:
    """-f log f - (1 - f) log(1 - f) of f = sigmoid(logit), element by element.

    Examples
    --------
    >>> round(entropy(torch.tensor(0.0)).item(), 4)
    0.6931
    """
    return functional.softplus(logit) - torch.sigmoid(logit) * logit


def _parts(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor | float,
    population_prior: Tensor | float,
    surrogate: Surrogate,
) -> tuple[Tensor, Tensor]:
    """Risk of the positives, and the estimated risk of the negatives (which may be below zero)."""
    on_positive = torch.where(is_positive, weight, 0.0)
    on_unlabeled = weight - on_positive
    as_negative = surrogate(-logit)
    positive = weighted_mean(surrogate(logit), on_positive)
    negative = weighted_mean(as_negative, on_unlabeled) - prior * weighted_mean(
        as_negative, on_positive
    )
    # (1 - population prior) E_N[l(-g)], with (1 - prior) E_N = E_U - prior E_P.
    return population_prior * positive, (1 - population_prior) / (1 - prior) * negative


def upu(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor | float,
    population_prior: Tensor | float,
    surrogate: Surrogate = logistic,
) -> Tensor:
    """prior E_P[l(g)] + E_U[l(-g)] - prior E_P[l(-g)]: unbiased, and unbounded below.

    Examples
    --------
    >>> mask = torch.tensor([True, False])
    >>> round(upu(torch.tensor([2.0, -2.0]), mask, torch.ones(2), 0.5, 0.5).item(), 4)
    -0.8731
    """
    positive, negative = _parts(logit, is_positive, weight, prior, population_prior, surrogate)
    return positive + negative


def nnpu(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor | float,
    population_prior: Tensor | float,
    surrogate: Surrogate = logistic,
    beta: Tensor | float = 0.0,
    gamma: Tensor | float = 1.0,
) -> Tensor:
    """upu while r = E_U[l(-g)] - prior E_P[l(-g)] >= -beta, else -gamma r.

    The second branch is what a step descends on, so it *ascends* on r and leaves the positives
    alone, as in Algorithm 1 of Kiryo et al.; it is not a clamp at zero.

    Examples
    --------
    >>> mask = torch.tensor([True, False])
    >>> round(nnpu(torch.tensor([2.0, -2.0]), mask, torch.ones(2), 0.5, 0.5).item(), 4)
    0.9365
    """
    positive, negative = _parts(logit, is_positive, weight, prior, population_prior, surrogate)
    return torch.where(negative >= -beta, positive + negative, -gamma * negative)


def nnpu_grad(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor,
    population_prior: Tensor,
    surrogate: Surrogate,
    beta: Tensor | float = 0.0,
    gamma: Tensor | float = 1.0,
) -> Tensor:
    """d nnpu / d logit, (..., rows); with ``beta`` infinite, d upu / d logit.

    The surrogate is one of ``SURROGATE_GRADS``.

    Examples
    --------
    >>> mask, prior = torch.tensor([True, False]), torch.tensor(0.5)
    >>> nnpu_grad(torch.zeros(2), mask, torch.ones(2), prior, prior, sigmoid).tolist()
    [-0.25, 0.25]
    """
    derivative = SURROGATE_GRADS[surrogate]
    on_positive = torch.where(is_positive, weight, 0.0)
    of_positive, of_unlabeled = (
        part / total.where(total > 0, 1.0)
        for part in (on_positive, weight - on_positive)
        for total in [part.sum(-1, keepdim=True)]
    )
    # The share of each row in r, the risk of the negatives.
    share = (of_unlabeled - prior[..., None] * of_positive) * _ratio(prior, population_prior)
    r = (share * surrogate(-logit)).sum(-1, keepdim=True)
    r_grad = -share * derivative(-logit)
    descent = population_prior[..., None] * of_positive * derivative(logit) + r_grad
    return torch.where(r >= -_column(beta), descent, -_column(gamma) * r_grad)


def _ratio(prior: Tensor, population_prior: Tensor) -> Tensor:
    return ((1 - population_prior) / (1 - prior))[..., None]


def _column(number: Tensor | float) -> Tensor | float:
    return number[..., None] if isinstance(number, Tensor) else number
