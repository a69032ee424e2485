"""Selection: predictions for held-out rows -> the score of each member, larger is better.

The PU-only criteria use held-out labelled positives and unlabelled rows, and no negatives. The
oracle uses true labels. A prediction is 1 for positive and 0 for negative, or a probability.
Shapes: predictions, masks and weights (..., rows), priors (...); scores (...).
"""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from robustpu.risks import weighted_mean

Criterion: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]

Settle: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]

# Share of the score that depends on probabilities rather than predictions.
TIE_BREAK = 1e-3


def positive_rates(predicted: Tensor, is_positive: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Share of the labelled positives, and of the unlabelled rows, that are predicted positive.

    Examples
    --------
    >>> mask = torch.tensor([True, True, False, False])
    >>> recall, rate = positive_rates(torch.tensor([1.0, 0.0, 0.0, 0.0]), mask, torch.ones(4))
    >>> recall.item(), rate.item()
    (0.5, 0.0)
    """
    on_positive = torch.where(is_positive, weight, 0.0)
    return weighted_mean(predicted, on_positive), weighted_mean(predicted, weight - on_positive)


def proxy_accuracy(
    predicted: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor,
    population_prior: Tensor,
) -> Tensor:
    """1 + 2 prior recall - prior - rate, in case-control data: the accuracy, without negatives.

    ``recall`` is the share of the held-out positives that are predicted positive, ``rate`` the
    same of the unlabelled rows. In general: population_prior recall + (1 - population_prior)
    specificity, with specificity = 1 - (rate - prior recall) / (1 - prior). Unbiased if labels are
    selected completely at random (SCAR); it may leave [0, 1] in small samples.

    Examples
    --------
    >>> predicted = torch.tensor([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    >>> mask = torch.tensor([True, True, True, False, False, False, False])
    >>> prior = torch.tensor(0.25)
    >>> round(proxy_accuracy(predicted, mask, torch.ones(7), prior, prior).item(), 4)
    0.8333
    """
    recall, rate = positive_rates(predicted, is_positive, weight)
    specificity = 1 - (rate - prior * recall) / (1 - prior)
    return population_prior * recall + (1 - population_prior) * specificity


def oracle_accuracy(
    predicted: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor,
    population_prior: Tensor,
) -> Tensor:
    """Share of rows that are predicted correctly: ``is_positive`` is the truth here.

    Examples
    --------
    >>> truth = torch.tensor([True, False, False])
    >>> predicted, half = torch.tensor([1.0, 1.0, 0.0]), torch.tensor(0.5)
    >>> round(oracle_accuracy(predicted, truth, torch.ones(3), half, half).item(), 4)
    0.6667
    """
    return weighted_mean(torch.where(is_positive, predicted, 1 - predicted), weight)


def above_prior(logit: Tensor, population: Tensor, weight: Tensor, prior: Tensor) -> Tensor:
    """Shift logits so that a share ``prior`` of the rows of the population is above zero.

    Of rows with equal logits all or none are above: whatever is nearer to the share.

    Parameters
    ----------
    logit
        (members, rows).
    population
        Mask of the rows that ``prior`` is about, (members, rows).
    weight
        Not used: the share is one of rows.
    prior
        Share of positives, (members,).

    Examples
    --------
    >>> logit, prior = torch.tensor([[1.0, 2.0, 3.0, 9.0]]), torch.tensor([0.25])
    >>> above_prior(logit, torch.ones(1, 4, dtype=torch.bool), torch.ones(1, 4), prior).tolist()
    [[-5.0, -4.0, -3.0, 3.0]]
    """
    descending = torch.where(population, logit, -torch.inf).sort(dim=1, descending=True).values
    rows = population.sum(1)
    count = (prior * rows).round().long().clamp(min=1).minimum((rows - 1).clamp(min=1))
    last = descending.gather(1, count[:, None] - 1)
    following = descending.gather(1, count[:, None].clamp(max=logit.shape[1] - 1))
    # A population of one row has no next one.
    level = torch.where(following.isfinite(), (last + following) / 2, last)
    wanted = (prior * rows)[:, None]
    with_equals = (population & (logit >= last)).sum(1, keepdim=True)
    without = (population & (logit > last)).sum(1, keepdim=True)
    is_nearer = (wanted - without).abs() < (with_equals - wanted).abs()
    beyond = torch.nextafter(last, torch.full_like(last, torch.inf))
    return logit - torch.where((with_equals > count[:, None]) & is_nearer, beyond, level)


def of_logits(criterion: Criterion, settle: Settle | None = None) -> Criterion:
    """A criterion of logits: by their signs, and by their probabilities in case of a tie.

    Few rows are held out, so several rounds may predict all of them correctly. The one with the
    most confident correct probabilities then wins.

    Parameters
    ----------
    criterion
        A criterion of predictions.
    settle
        ``(logit, population, weight, prior) -> logit``, shifts the logits of methods that do not
        predict by the sign. The population is the unlabelled rows, or all rows of the oracle.

    Examples
    --------
    >>> truth, half = torch.tensor([True, False]), torch.tensor(0.5)
    >>> logit = torch.tensor([[1.0, -1.0], [3.0, -3.0]])
    >>> of_logits(oracle_accuracy)(logit, truth, torch.ones(2), half, half)
    tensor([0.9997, 1.0000])
    """

    def score(
        logit: Tensor, is_positive: Tensor, weight: Tensor, prior: Tensor, population_prior: Tensor
    ) -> Tensor:
        rest = (is_positive, weight, prior, population_prior)
        if settle is not None:
            sees_all = criterion is oracle_accuracy
            population = torch.ones_like(is_positive) if sees_all else ~is_positive
            logit = settle(logit, population, weight, population_prior if sees_all else prior)
        sign = criterion((logit >= 0).to(weight.dtype), *rest)
        probability = criterion(torch.sigmoid(logit), *rest)
        return (1 - TIE_BREAK) * sign + TIE_BREAK * probability

    return score
