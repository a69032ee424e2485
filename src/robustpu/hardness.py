"""Hardness: how badly a row fits its assumed label, positive or (if unlabelled) negative.

A hardness function takes the logit z, (n,) or (M, n) for M stacked models, the mask
``is_positive``, False for unlabelled rows, and the temperature τ > 0, a number or a tensor that
broadcasts, such as (M, 1) for one value a model. It returns d ≥ 0 in the broadcast shape. It
depends on the margin m alone: m = z/τ for a positive row and -z/τ for an unlabelled one. It falls
as the margin grows.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from robustpu.validation.names import pick

HardnessFunction = Callable[[Tensor, Tensor, Tensor | float], Tensor]


def logistic(logit: Tensor, is_positive: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """d = log(1 + exp(-m)), the default of Robust-PU; unbounded.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.logistic(torch.tensor([2.0, 2.0]), torch.tensor([True, False]))
    tensor([0.1269, 2.1269])
    """
    return -logsigmoid(_margin(logit, is_positive, temperature))


def sigmoid(logit: Tensor, is_positive: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """d = 1 / (1 + exp(m)), the probability of the other label; at most 1.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.sigmoid(torch.tensor([2.0, 2.0]), torch.tensor([True, False]))
    tensor([0.1192, 0.8808])
    """
    return torch.sigmoid(-_margin(logit, is_positive, temperature))


def crps(logit: Tensor, is_positive: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """d = 1 / (1 + exp(m))², the continuous ranked probability score of two classes; at most 1.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.crps(torch.tensor([2.0, 2.0]), torch.tensor([True, False]))
    tensor([0.0142, 0.7758])
    """
    return sigmoid(logit, is_positive, temperature).square()


def brier(logit: Tensor, is_positive: Tensor, temperature: Tensor | float = 1.0) -> Tensor:
    """d = 2 / (1 + exp(m))², the squared error summed over both classes; at most 2.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.brier(torch.tensor([2.0, 2.0]), torch.tensor([True, False]))
    tensor([0.0284, 1.5516])
    """
    return 2 * crps(logit, is_positive, temperature)


def focal(
    logit: Tensor,
    is_positive: Tensor,
    temperature: Tensor | float = 1.0,
    *,
    gamma: float = 1.0,
) -> Tensor:
    """d = (1 - p)^γ · (-log p), p = 1 / (1 + exp(-m)); unbounded, and logistic at γ = 0.

    Parameters
    ----------
    logit
        Shape ``(n,)``, or ``(M, n)`` for M stacked models.
    is_positive
        Bool, broadcastable to ``logit``; False is unlabelled.
    temperature
        Positive and finite; a number, one value a row ``(n,)`` or one a model ``(M, 1)``.
    gamma
        At least 0; the larger, the less hard the rows that fit already.

    Returns
    -------
    hardness
        At least 0, in the broadcast shape.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.focal(torch.tensor([2.0, 2.0]), torch.tensor([True, False]))
    tensor([0.0151, 1.8734])
    """
    if not gamma >= 0:
        raise ValueError(f"focal needs gamma in [0, inf), got {gamma:g}: give 0 or more.")
    margin = _margin(logit, is_positive, temperature)
    return torch.sigmoid(-margin) ** gamma * -logsigmoid(margin)


HARDNESS: dict[str, HardnessFunction] = {
    "logistic": logistic,
    "sigmoid": sigmoid,
    "crps": crps,
    "brier": brier,
    "focal": focal,
}


def resolve(hardness: str | HardnessFunction) -> HardnessFunction:
    """Return the hardness function of that name; a function is returned as it is.

    Parameters
    ----------
    hardness
        A key of ``HARDNESS``, or a function ``(logit, is_positive, temperature) -> hardness``.

    Returns
    -------
    function
        Called with three positional arguments.

    Examples
    --------
    >>> import torch
    >>> from robustpu import hardness
    >>> hardness.resolve("sigmoid")(torch.tensor(0.0), torch.tensor(True), 1.0).item()
    0.5
    """
    return pick("hardness", hardness, HARDNESS)


def _margin(logit: Tensor, is_positive: Tensor, temperature: Tensor | float) -> Tensor:
    tau = torch.as_tensor(temperature, dtype=logit.dtype, device=logit.device)
    outside = ~((tau > 0) & torch.isfinite(tau))
    if outside.any():
        raise ValueError(
            f"temperature must lie in (0, inf), got {tau[outside][0].item():g}: "
            "give 1.0 to leave the logits unscaled."
        )
    return torch.where(is_positive, logit, -logit) / tau
