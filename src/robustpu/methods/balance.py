"""Weights of rows, scaled to the shares that the classes should have."""

import torch
from torch import Tensor


def balanced(weight: Tensor, is_positive: Tensor, prior: Tensor) -> Tensor:
    """Scale weights (..., rows) so that positives have the share ``prior`` (...) of their sum.

    Examples
    --------
    >>> weight = torch.tensor([0.5, 1.0, 1.0])
    >>> balanced(weight, torch.tensor([True, False, False]), torch.tensor(0.4))[0].item()
    1.0
    """
    on_positive = torch.where(is_positive, weight, 0.0).sum(-1)
    # Not the difference of sums: of tiny weights beside large ones it leaves nothing.
    on_unlabeled = torch.where(is_positive, 0.0, weight).sum(-1)
    total = on_positive + on_unlabeled
    tiny = torch.finfo(weight.dtype).tiny
    present = torch.where(is_positive, on_positive[..., None], on_unlabeled[..., None])
    wanted = torch.where(is_positive, (prior * total)[..., None], ((1 - prior) * total)[..., None])
    # The share first: the factor itself could be infinite.
    return weight / present.clamp(min=tiny) * wanted


def factors(positive: float, negative: float, share: float) -> tuple[float, float]:
    """Find what to multiply two masses by: the sum stays, and the first has a share of it.

    Parameters
    ----------
    positive, negative
        Sums of the weights of rows taken as positives and as negatives, both above 0.
    share
        Wanted of the first.

    Examples
    --------
    >>> factors(1.0, 3.0, 0.5)
    (2.0, 0.6666666666666666)
    """
    total = positive + negative
    return share * total / positive, (1 - share) * total / negative
