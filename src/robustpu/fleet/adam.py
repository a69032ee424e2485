"""Adam with a learning rate and a weight decay for each member."""

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
    rates
        Learning rate, weight decay, and steps over which the rate rises linearly (0 for none), of
        each member, (members, 3).
    fused
        Whether to use torch's fused kernel, once for each run of neighbours with equal rates;
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
        rates: Tensor,
        fused: bool | None = None,
    ):
        self.gradient = torch.zeros_like(flat)
        self._mean = torch.zeros_like(flat)
        self._square = torch.zeros_like(flat)
        self._scratch = torch.zeros_like(flat)
        self._rates = rates
        # A tensor, so that a recorded step counts on.
        self._steps = torch.zeros((), dtype=torch.float64, device=flat.device)
        self._fused = fused
        self._attach(flat)

    def restart(self, rates: Tensor) -> None:
        """Forget all steps, and go on with these rates, in the same memory."""
        for moments in (self._mean, self._square, self._steps):
            moments.zero_()
        self._rates.copy_(rates)
        self._attach(self._flat)

    def select(self, index: Tensor, flat: Tensor) -> None:
        """Go on with the members at these places, whose parameters are now ``flat``."""
        for name in ("gradient", "_mean", "_square", "_scratch", "_rates"):
            setattr(self, name, getattr(self, name)[index])
        self._attach(flat)

    def step(self) -> None:
        """Update ``flat`` by what lies in ``gradient``."""
        self._steps += 1
        self._step()

    def _attach(self, flat: Tensor) -> None:
        """Take hold of the parameters, and choose how to step."""
        self._flat = flat
        fused = flat.device.type == "cpu" if self._fused is None else self._fused
        self._runs = self._find_runs() if fused else []
        if self._fused is None:
            fused = 0 < len(self._runs) <= max(1, len(flat) // 4)
        self._step = self._step_fused if fused else self._step_stacked

    def _find_runs(self) -> list[tuple[tuple[float, float, float], list[Tensor]]]:
        """Rates, and parts of what is stacked, of neighbours with equal rates."""
        runs = []
        start = 0
        stacked = (self._flat, self.gradient, self._mean, self._square)
        for rates, run in groupby(map(tuple, self._rates.tolist())):
            part = slice(start, start := start + len(list(run)))
            runs.append((rates, [whole[part] for whole in stacked]))
        return runs

    def _step_fused(self) -> None:
        step = float(self._steps)
        for (lr, decay, warmup), (flat, gradient, mean, square) in self._runs:
            adam(
                [flat],
                [gradient],
                [mean],
                [square],
                [],
                [torch.tensor(step - 1)],  # The kernel counts this step itself.
                fused=True,
                amsgrad=False,
                beta1=self.beta1,
                beta2=self.beta2,
                lr=lr * min(1.0, step / max(1.0, warmup)),
                weight_decay=decay,
                eps=self.epsilon,
                maximize=False,
            )

    def _step_stacked(self) -> None:
        lr, decay, warmup = self._rates.unsqueeze(-1).unbind(1)
        # Both bias corrections folded into one rate and one epsilon.
        correction = (1 - self.beta2**self._steps).sqrt()
        rate = lr * (self._steps / warmup.clamp(min=1)).clamp(max=1)
        rate *= correction / (1 - self.beta1**self._steps)
        self.gradient.addcmul_(self._flat, decay)
        self._mean.lerp_(self.gradient, 1 - self.beta1)
        self._square.mul_(self.beta2).addcmul_(self.gradient, self.gradient, value=1 - self.beta2)
        torch.sqrt(self._square, out=self._scratch).add_(self.epsilon * correction)
        torch.div(self._mean, self._scratch, out=self._scratch)
        self._flat.addcmul_(self._scratch, rate, value=-1)
