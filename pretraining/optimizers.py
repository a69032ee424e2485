"""Muon for the matrices of the blocks, AdamW for everything else, and the schedule."""

import math
from typing import Any

import torch
from torch import Tensor, nn

NEWTON_SCHULZ = (3.4445, -4.775, 2.0315)


def orthogonalize(x: Tensor, steps: int = 5) -> Tensor:
    """Batch of matrices -> nearly orthogonal ones with the same singular vectors."""
    x = x.bfloat16()
    is_tall = x.shape[1] > x.shape[2]
    x = x.transpose(1, 2) if is_tall else x
    x = x / (x.float().norm(dim=(1, 2), keepdim=True) + 1e-7).bfloat16()
    a, b, c = NEWTON_SCHULZ
    for _ in range(steps):
        gram = x @ x.transpose(1, 2)
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.transpose(1, 2) if is_tall else x).float()


class Muon:
    """Momentum, orthogonalised; matrices of one shape are stepped together.

    On a GPU a step is one CUDA graph: hundreds of small kernels would keep the host busy.

    Parameters
    ----------
    weights
        The matrices.
    decay
        Weight decay, times the rate.
    momentum
        Of the gradients; Nesterov's form.
    """

    def __init__(self, weights: list[nn.Parameter], decay: float = 0.01, momentum: float = 0.95):
        groups: dict[tuple[int, ...], list[nn.Parameter]] = {}
        for weight in weights:
            groups.setdefault(tuple(weight.shape), []).append(weight)
        self.groups = list(groups.values())
        self.buffers = [torch.zeros_like(torch.stack([w.data for w in g])) for g in self.groups]
        self.gradients = [torch.zeros_like(buffer) for buffer in self.buffers]
        self.rate = torch.zeros((), device=weights[0].device)
        self.decay, self.momentum = decay, momentum
        self.graph: torch.cuda.CUDAGraph | None = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Make one step of size ``rate``, comparable to AdamW's."""
        self.rate.fill_(rate)
        into = [part for stacked in self.gradients for part in stacked.unbind(0)]
        torch._foreach_copy_(into, [weight.grad for group in self.groups for weight in group])
        if not self.rate.is_cuda:
            self._update()
            return
        if self.graph is None:
            for gradient in self.gradients:
                orthogonalize(gradient)
            torch.cuda.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self._update()
        self.graph.replay()

    def _update(self) -> None:
        """Step from the stored gradients and rate."""
        kept = 1 - self.rate * self.decay
        for group, gradient, buffer in zip(self.groups, self.gradients, self.buffers, strict=True):
            buffer.lerp_(gradient, 1 - self.momentum)
            update = orthogonalize(gradient.lerp(buffer, self.momentum))
            update = update * (self.rate * (0.2 * math.sqrt(max(update.shape[1:]))))
            for weight, change in zip(group, update.unbind(0), strict=True):
                weight.mul_(kept).sub_(change)


class Optimizer:
    """Both optimisers behind one step.

    Parameters
    ----------
    network
        Whose weights are trained.
    """

    def __init__(self, network: nn.Module) -> None:
        named = dict(network.named_parameters())
        in_blocks = {
            name for name, weight in named.items() if weight.ndim == 2 and "_blocks." in name
        }
        self.muon = Muon([named[name] for name in sorted(in_blocks)])
        self.others = [weight for name, weight in named.items() if name not in in_blocks]
        fused = self.others[0].is_cuda
        self.adam = torch.optim.AdamW(
            self.others, lr=0.0, betas=(0.9, 0.98), weight_decay=0.0, fused=fused
        )

    def step(self, rate: float) -> None:
        """Clip, step and clear gradients."""
        torch.nn.utils.clip_grad_norm_(self.others, 1.0)
        self.adam.param_groups[0]["lr"] = rate
        self.adam.step()
        self.muon.step(rate)
        self.adam.zero_grad(set_to_none=True)
        for group in self.muon.groups:
            for weight in group:
                weight.grad = None

    def state(self) -> dict[str, Any]:
        """Return everything that resuming needs."""
        return {"adam": self.adam.state_dict(), "muon": self.muon.buffers}

    def load(self, state: dict[str, Any]) -> None:
        """Restore a state."""
        self.adam.load_state_dict(state["adam"])
        for buffer, stored in zip(self.muon.buffers, state["muon"], strict=True):
            buffer.copy_(stored)


def learning_rate(step: int, peak: float, warmup: int, steps: int, decay_steps: int) -> float:
    """Rise over ``warmup`` steps, stay, and fall once, over the last ``decay_steps``.

    Examples
    --------
    >>> [round(learning_rate(s, 1.0, 10, 100, 20), 2) for s in (0, 9, 50, 80, 90, 99)]
    [0.1, 1.0, 1.0, 1.0, 0.29, 0.03]
    """
    rise = min(1.0, (step + 1) / max(warmup, 1))
    done = max(0.0, (step - (steps - decay_steps)) / max(decay_steps, 1))
    return peak * rise * (1 - math.sqrt(min(done, 1.0)))
