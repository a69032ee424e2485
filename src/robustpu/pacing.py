"""Pacing: the threshold λ of each round, from λ₀ in round 0 to β in round T_grow and after.

A pacing function takes the round t, counted from 0, λ₀, β, T_grow and γ, numbers or tensors that
broadcast, and returns float64 in the broadcast shape. All take the same five, to be called alike;
only ``exponential`` uses γ. β may lie below λ₀: the threshold then falls. ``Pacing`` holds a shape
and its numbers.
"""

import math
from collections.abc import Callable

import torch
from sklearn.base import BaseEstimator
from torch import Tensor

from robustpu.validation.names import pick
from robustpu.validation.numbers import check_number

PacingFunction = Callable[
    [Tensor | float, Tensor | float, Tensor | float, Tensor | float, Tensor | float],
    Tensor | float,
]


def const(
    t: Tensor | float,
    lambda0: Tensor | float,
    beta: Tensor | float,
    t_grow: Tensor | float,
    gamma: Tensor | float = 0.5,
) -> Tensor:
    """F(t) = λ₀.

    Examples
    --------
    >>> from robustpu import pacing
    >>> pacing.const(5, lambda0=0.5, beta=2.0, t_grow=10).item()
    0.5
    """
    _, start, *_ = _tensors(t, lambda0, beta, t_grow, gamma)
    return start.clone()  # `start` may be a view of the caller's tensor


def linear(
    t: Tensor | float,
    lambda0: Tensor | float,
    beta: Tensor | float,
    t_grow: Tensor | float,
    gamma: Tensor | float = 0.5,
) -> Tensor:
    """F(t) = λ₀ + (β - λ₀) · t / T_grow, then β: the same step every round.

    Examples
    --------
    >>> from robustpu import pacing
    >>> pacing.linear(5, lambda0=0.5, beta=2.0, t_grow=10).item()
    1.25
    """
    now, start, end, grow, _ = _tensors(t, lambda0, beta, t_grow, gamma)
    return torch.where(now < grow, torch.lerp(start, end, now / grow), end)


def convex(
    t: Tensor | float,
    lambda0: Tensor | float,
    beta: Tensor | float,
    t_grow: Tensor | float,
    gamma: Tensor | float = 0.5,
) -> Tensor:
    """F(t) = λ₀ + (β - λ₀) · sin(π/2 · t / T_grow), then β: fast, then slow.

    The name is the paper's; the sine is concave in the mathematical sense.

    Examples
    --------
    >>> from robustpu import pacing
    >>> round(pacing.convex(5, lambda0=0.5, beta=2.0, t_grow=10).item(), 4)
    1.5607
    """
    now, start, end, grow, _ = _tensors(t, lambda0, beta, t_grow, gamma)
    share = torch.sin(math.pi / 2 * now / grow)
    return torch.where(now < grow, torch.lerp(start, end, share), end)


def concave(
    t: Tensor | float,
    lambda0: Tensor | float,
    beta: Tensor | float,
    t_grow: Tensor | float,
    gamma: Tensor | float = 0.5,
) -> Tensor:
    """F(t) = λ₀ + (β - λ₀) · (1 - cos(π/2 · t / T_grow)), then β: slow, then fast.

    The name is the paper's; the curve is convex in the mathematical sense.

    Examples
    --------
    >>> from robustpu import pacing
    >>> round(pacing.concave(5, lambda0=0.5, beta=2.0, t_grow=10).item(), 4)
    0.9393
    """
    now, start, end, grow, _ = _tensors(t, lambda0, beta, t_grow, gamma)
    share = 1 - torch.cos(math.pi / 2 * now / grow)
    return torch.where(now < grow, torch.lerp(start, end, share), end)


def exponential(
    t: Tensor | float,
    lambda0: Tensor | float,
    beta: Tensor | float,
    t_grow: Tensor | float,
    gamma: Tensor | float = 0.5,
) -> Tensor:
    """F(t) = λ₀ + (β - λ₀) · (1 - γ^t), then β: the gap to β shrinks by γ every round.

    The paper's formula alone approaches β and never reaches it, yet the paper defines T_grow as
    the round in which the threshold first reaches β. Decision: follow the formula before
    ``t_grow`` and be β from there on, a last step of (β - λ₀) · γ^T_grow above the formula.

    Examples
    --------
    >>> from robustpu import pacing
    >>> pacing.exponential(2, lambda0=0.5, beta=2.0, t_grow=10).item()
    1.625
    """
    now, start, end, grow, left = _tensors(t, lambda0, beta, t_grow, gamma)
    return torch.where(now < grow, torch.lerp(start, end, 1 - left**now), end)


PACING: dict[str, PacingFunction] = {
    "const": const,
    "linear": linear,
    "convex": convex,
    "concave": concave,
    "exponential": exponential,
}


def resolve(pacing: str | PacingFunction) -> PacingFunction:
    """Return the pacing function of that name; a function is returned as it is.

    Parameters
    ----------
    pacing
        A key of ``PACING``, or a function ``(t, lambda0, beta, t_grow, gamma) -> threshold``.

    Returns
    -------
    function
        Called with five positional arguments.

    Examples
    --------
    >>> from robustpu import pacing
    >>> float(pacing.resolve("linear")(5, 0.5, 2.0, 10, 0.5))
    1.25
    """
    return pick("pacing", pacing, PACING)


class Pacing(BaseEstimator):  # type: ignore[misc]
    """F(t), a pacing function with its numbers; the numbers are scikit-learn parameters.

    Parameters
    ----------
    shape
        A key of ``PACING``, or a function of the same signature.
    lambda0
        Threshold in round 0; positive.
    beta
        Threshold from round ``t_grow`` on; positive, above or below ``lambda0``.
    t_grow
        Round in which the threshold first is ``beta``; a whole number, at least 1.
    gamma
        Share of the gap to ``beta`` that a round of ``"exponential"`` leaves; in (0, 1).

    Examples
    --------
    >>> from robustpu.pacing import Pacing
    >>> Pacing("linear", lambda0=0.5, beta=2.0, t_grow=10)(5)
    1.25
    """

    def __init__(
        self,
        shape: str | PacingFunction = "linear",
        *,
        lambda0: float = 0.1,
        beta: float = 1.0,
        t_grow: int = 10,
        gamma: float = 0.5,
    ) -> None:
        self.shape = shape
        self.lambda0 = lambda0
        self.beta = beta
        self.t_grow = t_grow
        self.gamma = gamma

    def __call__(self, t: int) -> float:
        """Return the threshold of round ``t``, after ``check``.

        Parameters
        ----------
        t
            Round, counted from 0.

        Returns
        -------
        threshold
            One number.
        """
        self.check()
        if not t >= 0:
            raise ValueError(f"t must be at least 0, got {t}: count the rounds from 0.")
        function = resolve(self.shape)
        return float(function(t, self.lambda0, self.beta, self.t_grow, self.gamma))

    def path(self, rounds: int) -> list[float]:
        """Return the thresholds of rounds 0 to ``rounds - 1``, after ``check``.

        Parameters
        ----------
        rounds
            How many.

        Examples
        --------
        >>> from robustpu.pacing import Pacing
        >>> Pacing("linear", lambda0=1.0, beta=2.0, t_grow=2).path(4)
        [1.0, 1.5, 2.0, 2.0]
        """
        if callable(self.shape):
            return [self(t) for t in range(rounds)]
        self.check()
        numbers = (self.lambda0, self.beta, self.t_grow, self.gamma)
        return torch.as_tensor(resolve(self.shape)(torch.arange(rounds), *numbers)).tolist()

    def check(self) -> None:
        """Raise ValueError if a parameter lies outside its domain."""
        check_number("lambda0", self.lambda0, above=0)
        check_number("beta", self.beta, above=0)
        check_number("t_grow", self.t_grow, least=1, whole=True)
        check_number("gamma", self.gamma, above=0, below=1)
        resolve(self.shape)


def _tensors(*values: Tensor | float) -> tuple[Tensor, ...]:
    # Numbers go to the device of the tensors, if any.
    device = next((value.device for value in values if isinstance(value, Tensor)), None)
    tensors = [torch.as_tensor(value, dtype=torch.float64, device=device) for value in values]
    return tuple(torch.broadcast_tensors(*tensors))  # type: ignore[no-untyped-call]
