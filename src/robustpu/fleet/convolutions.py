"""Chains of convolutions, batch norm and linear layers, with a gradient written by hand.

On a GPU, what autograd and autocast do besides costs as much as the convolutions themselves.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from robustpu.fleet.network import Blend, LogitGrad, SerialStack, State, as_logit, chain_of
from robustpu.fleet.normalize import Norm, normalize

# The gradient by what a layer puts out -> that by what it gets.
Back: TypeAlias = Callable[[Tensor], Tensor]

# Layers without parameters, which torch differentiates.
PLAIN = (
    nn.Flatten, nn.Identity, nn.ReLU, nn.AvgPool2d, nn.MaxPool2d, nn.AdaptiveAvgPool2d
)  # fmt: skip


@dataclass(frozen=True)
class Layer:
    """A layer of the chain, and whether a ReLU follows it."""

    name: str
    module: nn.Module
    relu: bool


@dataclass(frozen=True)
class _Tensors:
    """What a step needs of one member, by the names of the module.

    ``exact`` are parameters, ``rounded`` the same in the precision of the pictures, ``grads`` where
    gradients are written.
    """

    exact: Mapping[str, Tensor]
    rounded: Mapping[str, Tensor]
    grads: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]


class ConvStack(SerialStack):
    """A chain of layers for pictures, one member after the other.

    On a GPU it trains in bfloat16, channels last; parameters, statistics of batch norm and the
    optimiser are in single precision. Evaluation is that of ``SerialStack``.
    """

    def __init__(self, template: nn.Module, half: bool = False):
        super().__init__(template, draws=False, half=half)
        self._layers = list(layers_of(template))

    def gradient(
        self,
        state: State,
        x: Tensor,
        grad: LogitGrad,
        out: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None = None,
    ) -> None:
        dtype = torch.bfloat16 if self._half else x.dtype
        stacked = self.views(state.flat), self.views(state.flat.to(dtype)), self.views(out)
        logits, tapes = [], []
        for member, rows in enumerate(x):
            named = (*stacked, state.buffers)
            tensors = _Tensors(*({name: t[member] for name, t in part.items()} for part in named))
            own_blend = blend and Blend(blend.share[member], blend.relus)
            rows = rows.to(dtype, memory_format=torch.channels_last)
            y, tape = self._forward(rows, tensors, own_blend)
            logits.append(as_logit(y, len(y)).to(x.dtype))
            tapes.append(tape)
        slopes = grad(torch.stack(logits)).to(dtype)
        for slope, tape in zip(slopes, tapes, strict=True):
            dy = slope.unsqueeze(1)
            for back in reversed(tape):
                dy = back(dy)

    def _forward(
        self, x: Tensor, tensors: _Tensors, blend: Blend | None
    ) -> tuple[Tensor, list[Back]]:
        """Return the output, and what takes gradients back, first layer first."""
        tape: list[Back] = []
        relus = 0
        for layer in self._layers:
            x, back = _step(layer, x, tensors, is_first=not tape)
            # Before the first layer with parameters there is nothing to train.
            if tape or f"{layer.name}.weight" in tensors.exact:
                tape.append(back)
            relus += layer.relu + (type(layer.module) is nn.ReLU)
            if blend is not None and relus == blend.relus:
                x, back = _mix(x, blend.share)
                tape.append(back)
                blend = None
        return x, tape


def is_chain_of_convolutions(module: nn.Module) -> bool:
    """Whether ``ConvStack`` can run it: layers it knows, each with parameters of its own."""
    layers = [layer for _, layer in chain_of(module)]
    trained = [name for name, _ in module.named_parameters(remove_duplicate=False)]
    return (
        any(type(layer) is nn.Conv2d for layer in layers)
        and all(map(_is_known, layers))
        and len({id(layer) for layer in layers}) == len(layers)
        and len(trained) == len(list(module.parameters()))
        and all(value.requires_grad for value in module.parameters())
    )


def _is_known(layer: nn.Module) -> bool:
    # Weights that a hook computes have other names.
    if not {name for name, _ in layer.named_parameters()} <= {"weight", "bias"}:
        return False
    if type(layer) is nn.Conv2d:
        return layer.padding_mode == "zeros" and not isinstance(layer.padding, str)
    if type(layer) is nn.BatchNorm2d:
        return bool(layer.affine and layer.track_running_stats and layer.momentum is not None)
    return type(layer) is nn.Linear or type(layer) in PLAIN


def layers_of(module: nn.Module) -> Iterator[Layer]:
    """Layers of a chain, each with the ReLU that follows it.

    Examples
    --------
    >>> chain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Sequential(nn.Flatten()))
    >>> [(layer.name, type(layer.module).__name__, layer.relu) for layer in layers_of(chain)]
    [('0', 'Conv2d', True), ('2.0', 'Flatten', False)]
    """
    chain = chain_of(module)
    follows = [*(type(layer) is nn.ReLU for _, layer in chain[1:]), False]
    is_taken = False
    for (name, layer), relu in zip(chain, follows, strict=True):
        if not is_taken:
            yield Layer(name, layer, relu)
        is_taken = relu and not is_taken


def _step(layer: Layer, x: Tensor, tensors: _Tensors, is_first: bool) -> tuple[Tensor, Back]:
    if isinstance(layer.module, nn.BatchNorm2d):
        return _norm(layer, layer.module, x, tensors)
    if isinstance(layer.module, nn.Conv2d):
        y, back = _convolve(layer.name, layer.module, x, tensors, is_first)
    elif isinstance(layer.module, nn.Linear):
        y, back = _multiply(layer.name, x, tensors)
    else:
        y, back = _plain(layer.module, x)
    if not layer.relu:
        return y, back
    y = y.relu()
    return y, lambda dy: back(torch.ops.aten.threshold_backward(dy, y, 0))


def _norm(
    layer: Layer, module: nn.BatchNorm2d, x: Tensor, tensors: _Tensors
) -> tuple[Tensor, Back]:
    assert module.momentum is not None
    weight, bias = f"{layer.name}.weight", f"{layer.name}.bias"
    tensors.buffers[f"{layer.name}.num_batches_tracked"].add_(1)
    return normalize(
        x,
        Norm(
            tensors.exact[weight],
            tensors.exact[bias],
            tensors.grads[weight],
            tensors.grads[bias],
            tensors.buffers[f"{layer.name}.running_mean"],
            tensors.buffers[f"{layer.name}.running_var"],
            module.momentum,
            module.eps,
            layer.relu,
        ),
    )


def _convolve(
    name: str, module: nn.Conv2d, x: Tensor, tensors: _Tensors, is_first: bool
) -> tuple[Tensor, Back]:
    weight = tensors.rounded[f"{name}.weight"].contiguous(memory_format=torch.channels_last)
    bias = tensors.rounded.get(f"{name}.bias")
    shape: tuple[Any, ...] = (module.stride, module.padding, module.dilation)
    shape += (False, (0, 0), module.groups)

    def back(dy: Tensor) -> Tensor:
        sizes = None if bias is None else [len(bias)]
        wanted = [not is_first, True, bias is not None]
        dx, weight_grad, bias_grad = torch.ops.aten.convolution_backward(
            dy, x, weight, sizes, *shape, wanted
        )
        tensors.grads[f"{name}.weight"].copy_(weight_grad)
        if bias is not None:
            tensors.grads[f"{name}.bias"].copy_(bias_grad)
        return dx  # type: ignore[no-any-return]

    return torch.convolution(x, weight, bias, *shape), back


def _multiply(name: str, x: Tensor, tensors: _Tensors) -> tuple[Tensor, Back]:
    weight, bias = tensors.rounded[f"{name}.weight"], tensors.rounded.get(f"{name}.bias")

    def back(dy: Tensor) -> Tensor:
        slopes = dy.flatten(0, -2)
        tensors.grads[f"{name}.weight"].copy_(slopes.t() @ x.flatten(0, -2))
        if bias is not None:
            tensors.grads[f"{name}.bias"].copy_(slopes.sum(0))
        return dy @ weight

    return nn.functional.linear(x, weight, bias), back


def _plain(module: nn.Module, x: Tensor) -> tuple[Tensor, Back]:
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        y = module(leaf)
    return y.detach(), lambda dy: torch.autograd.grad(y, leaf, dy)[0]


def _mix(x: Tensor, share: Tensor) -> tuple[Tensor, Back]:
    first, partner = x.chunk(2)
    share = share.view(-1, *[1] * (x.ndim - 1)).to(x.dtype)
    mixed = torch.lerp(partner, first, share)
    return mixed, lambda dy: torch.cat([share * dy, (1 - share) * dy])
