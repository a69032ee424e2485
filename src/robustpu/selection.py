"""Selection: logits of held-out rows -> the score of each member, the larger the better.

The PU-only criteria see held-out labelled positives and held-out unlabelled rows, and no negative.
The oracle sees true labels, and is kept apart by name. Shapes: logits, masks and weights
(..., rows), priors (...); answers (...).
"""

import torch
from torch import Tensor

from robustpu.risks import weighted_mean


def positive_rates(logit: Tensor, is_positive: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Share of the labelled positives, and of the unlabelled rows, with logit >= 0.

    Examples
    --------
    >>> mask = torch.tensor([True, True, False, False])
    >>> recall, rate = positive_rates(torch.tensor([1.0, -1.0, -1.0, -1.0]), mask, torch.ones(4))
    >>> recall.item(), rate.item()
    (0.5, 0.0)
    """
    answer = (logit >= 0).to(weight.dtype)
    on_positive = torch.where(is_positive, weight, 0.0)
    return weighted_mean(answer, on_positive), weighted_mean(answer, weight - on_positive)


def proxy_accuracy(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor,
    population_prior: Tensor,
) -> Tensor:
    """1 + 2 prior recall - prior - rate, in case-control data: the accuracy, without negatives.

    ``recall`` is the share of the held-out positives that are answered positive, ``rate`` the
    same of the unlabelled rows. In general: population_prior recall + (1 - population_prior)
    specificity, with specificity = 1 - (rate - prior recall) / (1 - prior). Unbiased if labelled
    positives are a fair sample of all positives; it may leave [0, 1] in small samples.

    Examples
    --------
    >>> logit = torch.tensor([3.0, 1.0, -1.0, 2.0, -1.0, -2.0, -3.0])
    >>> mask = torch.tensor([True, True, True, False, False, False, False])
    >>> prior = torch.tensor(0.25)
    >>> round(proxy_accuracy(logit, mask, torch.ones(7), prior, prior).item(), 4)
    0.8333
    """
    recall, rate = positive_rates(logit, is_positive, weight)
    specificity = 1 - (rate - prior * recall) / (1 - prior)
    return population_prior * recall + (1 - population_prior) * specificity


def oracle_accuracy(
    logit: Tensor,
    is_positive: Tensor,
    weight: Tensor,
    prior: Tensor,
    population_prior: Tensor,
) -> Tensor:
    """Share of rows whose answer is their true label: ``is_positive`` is the truth here.

    Examples
    --------
    >>> truth = torch.tensor([True, False, False])
    >>> logit, half = torch.tensor([1.0, 1.0, -1.0]), torch.tensor(0.5)
    >>> round(oracle_accuracy(logit, truth, torch.ones(3), half, half).item(), 4)
    0.6667
    """
    return weighted_mean(((logit >= 0) == is_positive).to(weight.dtype), weight)
