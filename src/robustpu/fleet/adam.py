"""Adam with a learning rate and a weight decay for each member."""

import math
from itertools import groupby

import torch
from torch import Tensor
from torch.optim.adam import adam


class Adam:
    """Adam (Kingma and Ba), L2 decay added to the gradient, linear warm-up of the rate.

    Parameters
    ----------
    flat
        Parameters (members, parameters), updated in place.
    lr, weight_decay
        One number a member, (members,).
    warmup_steps
        Steps over which the rate of each member rises linearly to ``lr``, (members,); 0 for none.
    fused
        Whether to use torch's fused kernel, once for each run of neighbours with equal numbers;
        otherwise a few stacked operations serve all members. By default, on a CPU, where runs are
        long.

    Attributes
    ----------
    gradient
        Written by the caller before each step, (members, parameters).
    """

    beta1, beta2, epsilon = 0.9, 0.999, 1e-8

    def __init__(
        self,
        flat: Tensor,
        lr: Tensor,
        weight_decay: Tensor,
        warmup_steps: Tensor,
        fused: bool | None = None,
    ):
        self.gradient = torch.zeros_like(flat)
        self._mean = torch.zeros_like(flat)
        self._square = torch.zeros_like(flat)
        # Columns: rate, decay, warm-up.
        self._numbers = torch.stack([lr, weight_decay, warmup_steps], dim=1)
        self._steps = 0
        self._fused = fused
        self._attach(flat)

    def select(self, index: Tensor, flat: Tensor) -> None:
        """Go on with the members at these places, whose parameters are now ``flat``."""
        for name in ("gradient", "_mean", "_square", "_numbers"):
            setattr(self, name, getattr(self, name)[index])
        self._attach(flat)

    def step(self) -> None:
        """Update ``flat`` by what lies in ``gradient``."""
        self._steps += 1
        self._step()

    def _attach(self, flat: Tensor) -> None:
        """Take hold of the parameters, and find runs of members with equal numbers."""
        self._flat = flat
        self._runs: list[tuple[tuple[float, float, float], list[Tensor]]] = []
        start = 0
        for numbers, run in groupby(map(tuple, self._numbers.tolist())):
            part = slice(start, start := start + len(list(run)))
            stacked = (flat, self.gradient, self._mean, self._square)
            self._runs.append((numbers, [whole[part] for whole in stacked]))
        few = len(self._runs) <= max(1, len(flat) // 4)
        fused = flat.device.type == "cpu" and few if self._fused is None else self._fused
        self._step = self._step_fused if fused else self._step_stacked

    def _step_fused(self) -> None:
        for (lr, decay, warmup), (flat, gradient, mean, square) in self._runs:
            adam(
                [flat],
                [gradient],
                [mean],
                [square],
                [],
                [torch.tensor(float(self._steps - 1))],  # The kernel counts this step itself.
                fused=True,
                amsgrad=False,
                beta1=self.beta1,
                beta2=self.beta2,
                lr=lr * min(1.0, self._steps / max(1.0, warmup)),
                weight_decay=decay,
                eps=self.epsilon,
                maximize=False,
            )

    def _step_stacked(self) -> None:
        lr, decay, warmup = self._numbers.unsqueeze(-1).unbind(1)
        # Both bias corrections folded into one rate and one epsilon.
        correction = math.sqrt(1 - self.beta2**self._steps)
        rate = lr * (self._steps / warmup.clamp(min=1)).clamp(max=1)
        rate *= correction / (1 - self.beta1**self._steps)
        self.gradient.addcmul_(self._flat, decay)
        self._mean.lerp_(self.gradient, 1 - self.beta1)
        self._square.mul_(self.beta2).addcmul_(self.gradient, self.gradient, value=1 - self.beta2)
        denominator = self._square.sqrt().add_(self.epsilon * correction)
        self._flat.addcmul_(self._mean.div(denominator), rate, value=-1)
