"""A curriculum: the hardness and the weight of each row, round after round.

Robust-PU on networks, around any learner and on a cluster share it.
"""

from dataclasses import field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from torch import Tensor

from robustpu import hardness as hardnesses
from robustpu import weighting as weightings
from robustpu.hardness import HARDNESS, HardnessFunction
from robustpu.pacing import Pacing
from robustpu.validation.parameters import flag, number, param, parameters, strategy
from robustpu.weighting import WEIGHTING, WeightingFunction

Pair = tuple[float, float]


@parameters
class Curriculum(BaseEstimator):  # type: ignore[misc]
    """d = hardness(logit / τ), v = weighting(d, λ), where λ = pacing(t) in round t.

    τ and λ differ for labelled positives and for unlabelled rows. The defaults are in the grid of
    the Robust-PU paper.

    Parameters
    ----------
    hardness
        ``"logistic"``, ``"sigmoid"``, ``"crps"``, ``"brier"``, ``"focal"``, or a function, see
        :mod:`robustpu.hardness`.
    temperature_positive, temperature_unlabeled
        Divide the logits of labelled and of unlabelled rows before their hardness is measured.
    weighting
        ``"welsch"`` (the paper's), ``"hard"``, ``"linear"``..., or a function, see
        :mod:`robustpu.weighting`.
    pacing_positive, pacing_unlabeled
        Threshold of each round, a :class:`robustpu.Pacing`.
    balance
        Whether to scale the weights so that positives have the share ``population_prior_`` of
        their sum. The paper does not; it matters most if labelled positives are few.
    max_rounds
        Rounds at most, the paper's T.

    Examples
    --------
    >>> one = Pacing("const", lambda0=1.0)
    >>> curriculum = Curriculum(temperature_unlabeled=1.0, pacing_unlabeled=one)
    >>> odds, is_positive = np.log([0.25, 0.25]), np.array([False, False])
    >>> hardness, weight = curriculum.apply_to_arrays(odds, is_positive, curriculum.threshold(0))
    >>> weight.round(6).tolist()  # the probabilities of being negative
    [0.8, 0.8]
    """

    hardness: str | HardnessFunction = param("logistic", strategy(HARDNESS), fleet=True)
    temperature_positive: float = param(1.0, number(above=0))
    temperature_unlabeled: float = param(1.3, number(above=0))
    weighting: str | WeightingFunction = param("welsch", strategy(WEIGHTING), fleet=True)
    pacing_positive: Pacing = field(
        default_factory=lambda: Pacing("linear", lambda0=0.1, beta=1.0, t_grow=10)
    )
    pacing_unlabeled: Pacing = field(
        default_factory=lambda: Pacing("linear", lambda0=0.11, beta=1.0, t_grow=10)
    )
    balance: bool = param(False, flag, fleet=True)
    max_rounds: int = param(100, number(least=1, whole=True))

    def check_combination(self) -> None:
        """Refuse thresholds outside the domain of the weighting now, not rounds later."""
        for name in ("pacing_positive", "pacing_unlabeled"):
            pacing = getattr(self, name)
            if not isinstance(pacing, Pacing):
                raise ValueError(f"{name} must be a robustpu.Pacing; it is {pacing!r}.")
            thresholds = torch.tensor(pacing.path(self.max_rounds))
            self.weigh(torch.zeros_like(thresholds), thresholds)

    @property
    def temperature(self) -> Pair:
        """Temperatures of labelled and of unlabelled rows."""
        return self.temperature_positive, self.temperature_unlabeled

    def path(self, rounds: int) -> list[Pair]:
        """Thresholds of labelled and of unlabelled rows, round by round."""
        paths = self.pacing_positive.path(rounds), self.pacing_unlabeled.path(rounds)
        return list(zip(*paths, strict=True))

    def threshold(self, t: int) -> Pair:
        """Thresholds of labelled and of unlabelled rows in round t, counted from 0."""
        return self.path(t + 1)[-1]

    def without_weight(self, t: int) -> str:
        """Say that round t cannot be trained."""
        positive, unlabeled = self.threshold(t)
        return (
            f"round {t + 1} would leave positives or negatives without any weight, so the rounds "
            "end before it. Give pacings with higher thresholds; these are "
            f"{positive:g} and {unlabeled:g}."
        )

    def measure(self, logit: Tensor, is_positive: Tensor, temperature: Tensor) -> Tensor:
        """Hardness of each row, unlabelled rows as negatives."""
        return hardnesses.resolve(self.hardness)(logit, is_positive, temperature)

    def weigh(self, hardness: Tensor, threshold: Tensor) -> Tensor:
        """Weight of each row."""
        return weightings.resolve(self.weighting)(hardness, threshold)

    def apply(self, logit: Tensor, is_positive: Tensor, threshold: Pair) -> tuple[Tensor, Tensor]:
        """Hardness and weight of each row, (n,) each, at the thresholds of a round."""

        def by_label(pair: Pair) -> Tensor:
            positive, unlabeled = logit.new_tensor(pair)
            return torch.where(is_positive, positive, unlabeled)

        hardness = self.measure(logit, is_positive, by_label(self.temperature))
        return hardness, self.weigh(hardness, by_label(threshold))

    def apply_to_arrays(
        self, odds: NDArray[np.float64], is_positive: NDArray[np.bool_], threshold: Pair
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Hardness and weight of each row, from log-odds of being positive, (n,) each."""
        rows = torch.from_numpy(np.ascontiguousarray(odds)), torch.from_numpy(is_positive)
        hardness, weight = self.apply(*rows, threshold)
        return hardness.numpy(), weight.numpy()


def describe_weights(
    weight: NDArray[np.float64], is_positive: NDArray[np.bool_], threshold: Pair
) -> dict[str, float]:
    """What the history records of the weights of a round.

    Parameters
    ----------
    weight, is_positive
        Of each row, (n,).
    threshold
        Of labelled and of unlabelled rows.

    Examples
    --------
    >>> found = describe_weights(np.array([1.0, 0.5, 0.5]), np.array([True, False, False]), (2, 1))
    >>> found["effective_unlabeled"]
    2.0
    """
    record: dict[str, Any] = {}
    sides = ("positive", is_positive), ("unlabeled", ~is_positive)
    for (name, rows), at in zip(sides, threshold, strict=True):
        mass, squares = float(weight[rows].sum()), float(np.square(weight[rows]).sum())
        record[f"threshold_{name}"], record[f"mass_{name}"] = at, mass
        record[f"effective_{name}"] = mass**2 / max(squares, 1e-30)
    return record
