"""Adam with a learning rate and a weight decay for each member."""

from itertools import groupby
from typing import ClassVar

import torch
from torch import Tensor
from torch.optim.adam import adam

from robustpu.fleet.kernel import MOST_MEMBERS, adam_kernel, step


class Adam:
    """Adam (Kingma and Ba), L2 decay added to the gradient, linear warm-up of the rate.

    Parameters
    ----------
    flat
        Parameters (members, parameters), updated in place.
    rates
        Learning rate, weight decay, and steps over which the rate rises linearly (0 for none), of
        each member, (members, 3).
    form
        ``"fused"``: torch's fused kernel, once for each run of neighbours with equal rates.
        ``"stacked"``: a few operations that serve all members. ``"kernel"``: a CUDA kernel
        of this library. By default the fastest available.

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
        form: str | None = None,
    ):
        self.gradient = torch.zeros_like(flat)
        self._mean = torch.zeros_like(flat)
        self._square = torch.zeros_like(flat)
        self._rates = rates
        # A tensor, so that a recorded step counts too.
        self._steps = torch.zeros((), dtype=torch.float64, device=flat.device)
        self._form = form
        self._attach(flat)

    def restart(self, rates: Tensor) -> None:
        """Start again with these rates, in the same memory."""
        for moments in (self._mean, self._square, self._steps):
            moments.zero_()
        self._rates.copy_(rates)
        self._attach(self._flat)

    def select(self, index: Tensor, flat: Tensor) -> None:
        """Go on with the members at these places, whose parameters are now ``flat``."""
        for name in ("gradient", "_mean", "_square", "_rates"):
            setattr(self, name, getattr(self, name)[index])
        self._attach(flat)

    def step(self) -> None:
        """Update ``flat`` by what lies in ``gradient``."""
        self._steps += 1
        self._FORMS[self._chosen](self)

    def _attach(self, flat: Tensor) -> None:
        """Attach to the parameters, and choose how to step."""
        self._flat = flat
        on_gpu = flat.device.type == "cuda"
        fits = on_gpu and flat.dtype == torch.float32 and len(flat) <= MOST_MEMBERS
        self._kernel = adam_kernel(flat.device, self.beta1, self.beta2) if fits else None
        self._runs = [] if on_gpu else self._find_runs()
        self._chosen = self._form or self._fastest()
        self._scratch = torch.empty_like(flat if self._chosen == "stacked" else flat[:0])

    def _fastest(self) -> str:
        if self._kernel is not None:
            return "kernel"
        return "fused" if 0 < len(self._runs) <= max(1, len(self._flat) // 4) else "stacked"

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
        rate, decay, epsilon = self._now()
        self.gradient.addcmul_(self._flat, decay[:, None])
        self._mean.lerp_(self.gradient, 1 - self.beta1)
        self._square.mul_(self.beta2).addcmul_(self.gradient, self.gradient, value=1 - self.beta2)
        torch.sqrt(self._square, out=self._scratch).add_(epsilon)
        torch.div(self._mean, self._scratch, out=self._scratch)
        self._flat.addcmul_(self._scratch, rate[:, None], value=-1)

    def _step_kernel(self) -> None:
        assert self._kernel is not None
        rate, decay, epsilon = self._now()
        stacked = (self._flat, self.gradient, self._mean, self._square)
        step(self._kernel, stacked, rate, decay.contiguous(), epsilon.to(rate.dtype))

    def _now(self) -> tuple[Tensor, Tensor, Tensor]:
        """Rate and decay of each member, and epsilon, with both bias corrections folded in."""
        lr, decay, warmup = self._rates.unbind(1)
        correction = (1 - self.beta2**self._steps).sqrt()
        rate = lr * (self._steps / warmup.clamp(min=1)).clamp(max=1)
        rate *= correction / (1 - self.beta1**self._steps)
        return rate, decay, self.epsilon * correction

    # Plain functions: a bound method that an object keeps would keep the object alive.
    _FORMS: ClassVar = {"fused": _step_fused, "stacked": _step_stacked, "kernel": _step_kernel}
