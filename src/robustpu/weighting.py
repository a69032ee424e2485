"""Weighting: the weight of a row from its hardness d and the threshold λ.

A weighting function takes the hardness, at least 0 and of any shape, (M, n) for M stacked models,
and the threshold, above 0 unless said otherwise, a number or a tensor that broadcasts, (M, 1) for
one value a model. It returns v in [0, 1], in the broadcast shape and the hardness's dtype.
Each is the minimiser over v in [0, 1] of v · d + R(v; λ) for some self-paced regulariser R, so
the weight falls with the hardness. It grows with the threshold, except for ``l1l2`` and, near
λ = 1, ``logarithmic``. Weights are constants in the loss: take
the hardness without its gradient.
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from robustpu.validation.names import pick

WeightingFunction = Callable[[Tensor, Tensor | float], Tensor]


def welsch(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = exp(-d / λ²), the weight of Robust-PU.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.welsch(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.3679, 0.0183])
    """
    threshold = _checked(hardness, threshold)
    return torch.exp(-hardness / threshold / threshold)  # λ² itself could underflow


def hard(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = 1 if d < λ, else 0.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.hard(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1., 1., 0.])
    """
    threshold = _checked(hardness, threshold)
    return (hardness < threshold).to(hardness.dtype)


def linear(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = max(0, 1 - d / λ).

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.linear(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.5000, 0.0000])
    """
    threshold = _checked(hardness, threshold)
    return (1 - hardness / threshold).clamp(min=0)


def logarithmic(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = log(d + 1 - λ) / log(1 - λ) if d < λ, else 0.

    The weight grows with λ at every d only up to λ = 1 - 1/e ≈ 0.63. Beyond, it falls again where
    d is small: with x = 1 - λ, its derivative by λ has the sign of (d + x) log(d + x) - x log x.

    Parameters
    ----------
    hardness
        At least 0; any shape, ``(M, n)`` for M stacked models.
    threshold
        In (0, 1); a number or broadcastable, ``(M, 1)`` for one value a model.

    Returns
    -------
    weight
        In [0, 1], in the broadcast shape.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.logarithmic(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.4150, 0.0000])
    """
    threshold = _checked(
        hardness,
        threshold,
        is_inside=lambda value: (value > 0) & (value < 1),
        interval="(0, 1) for logarithmic",
        advice="pace it with lambda0 and beta both below 1, such as lambda0=0.1, beta=0.6",
    )
    # log(d + z) = log z + log(1 + d/z) is exact at d = 0; d ≥ λ falls below 0.
    share = torch.log1p(hardness / (1 - threshold)) / torch.log1p(-threshold)
    return (1 + share).clamp(min=0)


def mixture2(hardness: Tensor, threshold: Tensor | float, *, gamma: float = 1.0) -> Tensor:
    """v = γ · (1/√d - 1/λ), cut to [0, 1].

    The weight is 1 up to d = (λγ / (λ + γ))² and 0 from d = λ² on.

    Parameters
    ----------
    hardness
        At least 0; any shape, ``(M, n)`` for M stacked models.
    threshold
        In (0, inf); a number or broadcastable, ``(M, 1)`` for one value a model.
    gamma
        In (0, inf): the larger, the closer to a hard cut at λ².

    Returns
    -------
    weight
        In [0, 1], in the broadcast shape.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.mixture2(torch.tensor([0.0, 0.16, 1.0]), 0.5)
    tensor([1.0000, 0.5000, 0.0000])
    """
    if not 0 < gamma < math.inf:
        raise ValueError(f"mixture2 needs gamma in (0, inf), got {gamma:g}: 1.0 is usual.")
    threshold = _checked(hardness, threshold)
    # At d = 0 the root is infinite and the cut makes it 1.
    return (gamma * (torch.rsqrt(hardness) - 1 / threshold)).clamp(min=0, max=1)


def logistic(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = (1 + exp(-λ)) / (1 + exp(d - λ)).

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.logistic(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.9032, 0.6065])
    """
    threshold = _checked(hardness, threshold)
    # The same fraction as 1 - (1 - exp(-d)) / (1 + exp(λ - d)): exact at d = 0, no overflow.
    return 1 + torch.expm1(-hardness) * torch.sigmoid(hardness - threshold)


def polynomial(hardness: Tensor, threshold: Tensor | float, *, t: float = 3.0) -> Tensor:
    """v = max(0, 1 - d / λ)^(1 / (t - 1)), linear at t = 2.

    Parameters
    ----------
    hardness
        At least 0; any shape, ``(M, n)`` for M stacked models.
    threshold
        In (0, inf); a number or broadcastable, ``(M, 1)`` for one value a model.
    t
        In (1, inf): the degree of the regulariser; the larger, the closer to a hard cut at λ.

    Returns
    -------
    weight
        In [0, 1], in the broadcast shape.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.polynomial(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.7071, 0.0000])
    """
    if not 1 < t < math.inf:
        raise ValueError(f"polynomial needs t in (1, inf), got {t:g}: 2 is linear, 3 is usual.")
    return linear(hardness, threshold) ** (1 / (t - 1))


def cauchy(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = 1 / (1 + d / λ²).

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.cauchy(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 0.5000, 0.2000])
    """
    threshold = _checked(hardness, threshold)
    return 1 / (1 + hardness / threshold / threshold)


def huber(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = min(1, λ / √d).

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.huber(torch.tensor([0.0, 0.25, 1.0]), 0.5)
    tensor([1.0000, 1.0000, 0.5000])
    """
    threshold = _checked(hardness, threshold)
    return (threshold / torch.sqrt(hardness)).clamp(max=1)


def l1l2(hardness: Tensor, threshold: Tensor | float) -> Tensor:
    """v = 1 / √(λ + d), which falls as λ grows.

    The weight at d = 0 is 1/√λ, not 1. Later rounds need the smaller threshold.

    Parameters
    ----------
    hardness
        At least 0; any shape, ``(M, n)`` for M stacked models.
    threshold
        In [1, inf); a number or broadcastable, ``(M, 1)`` for one value a model.

    Returns
    -------
    weight
        In (0, 1], in the broadcast shape.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.l1l2(torch.tensor([0.0, 3.0, 8.0]), 1.0)
    tensor([1.0000, 0.5000, 0.3333])
    """
    threshold = _checked(
        hardness,
        threshold,
        is_inside=lambda value: (value >= 1) & (value < math.inf),
        interval="[1, inf) for l1l2",
        advice="pace it downwards to 1 or more, such as lambda0=10.0, beta=1.0",
    )
    return 1 / torch.sqrt(threshold + hardness)


WEIGHTING: dict[str, WeightingFunction] = {
    "welsch": welsch,
    "hard": hard,
    "linear": linear,
    "logarithmic": logarithmic,
    "mixture2": mixture2,
    "logistic": logistic,
    "polynomial": polynomial,
    "cauchy": cauchy,
    "huber": huber,
    "l1l2": l1l2,
}


def resolve(weighting: str | WeightingFunction) -> WeightingFunction:
    """Return the weighting function of that name; a function is returned as it is.

    Parameters
    ----------
    weighting
        A key of ``WEIGHTING``, or a function ``(hardness, threshold) -> weight``.

    Returns
    -------
    function
        Called with two positional arguments.

    Examples
    --------
    >>> import torch
    >>> from robustpu import weighting
    >>> weighting.resolve("linear")(torch.tensor(0.25), 0.5).item()
    0.5
    """
    return pick("weighting", weighting, WEIGHTING)


def _is_positive(value: Tensor) -> Tensor:
    return (value > 0) & (value < math.inf)


def _checked(
    hardness: Tensor,
    threshold: Tensor | float,
    *,
    is_inside: Callable[[Tensor], Tensor] = _is_positive,
    interval: str = "(0, inf)",
    advice: str = "pace it with lambda0 and beta above 0",
) -> Tensor:
    """Return the threshold as a tensor like ``hardness``; refuse what lies outside the domain."""
    if (hardness < 0).any():
        raise ValueError(
            f"hardness must be at least 0, got {hardness.min().item():g}: "
            "shift it, or use a hardness function that is bounded below by 0."
        )
    value = torch.as_tensor(threshold, dtype=hardness.dtype, device=hardness.device)
    outside = ~is_inside(value)
    if outside.any():
        raise ValueError(
            f"threshold must lie in {interval}, got {value[outside][0].item():g}: {advice}."
        )
    return value
