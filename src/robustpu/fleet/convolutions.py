"""Chains of convolutions, batch norm and linear layers, with a gradient written by hand.

On a GPU, what autograd and autocast do besides costs as much as the convolutions themselves.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from robustpu.fleet.batch_norm import BatchNorm, batch_norm
from robustpu.fleet.network import (
    Blend,
    LogitGrad,
    Network,
    SerialStack,
    State,
    as_logit,
    chain_of,
    has_hooks,
)

# Gradient by the output of a layer -> gradient by its input.
Backward: TypeAlias = Callable[[Tensor], Tensor]

# Numbers of an output's patch up to which the first layer is a matrix product.
MOST_IM2COL = 64
# Layers without parameters, which torch differentiates.
PLAIN = {
    *(nn.Flatten, nn.Identity, nn.AvgPool2d, nn.MaxPool2d, nn.AdaptiveAvgPool2d),
    *(nn.ReLU, nn.LeakyReLU, nn.ELU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid),
}


@dataclass(frozen=True)
class Layer:
    """A layer of the chain, and whether a ReLU is computed with it."""

    name: str
    module: nn.Module
    relu: bool


@dataclass(frozen=True)
class _Tensors:
    """What a step needs of one member, by the names of the module.

    ``cast`` are the parameters in the precision of the images. Gradients are put into ``found``
    and copied to ``grads`` at the end; those of batch norm are written there. ``counter`` is a
    zero for the kernels of batch norm.
    """

    parameters: Mapping[str, Tensor]
    cast: Mapping[str, Tensor]
    grads: Mapping[str, Tensor]
    buffers: Mapping[str, Tensor]
    counter: Tensor
    found: dict[str, Tensor] = field(default_factory=dict)


class ConvStack(SerialStack):
    """A chain of layers for images, one member after the other.

    On a GPU it trains in bfloat16, channels last; parameters, statistics of batch norm and the
    optimiser are in single precision. Evaluation is that of ``SerialStack``.
    """

    def __init__(self, template: nn.Module, half: bool = False):
        super().__init__(template, draws=False, half=half)
        self._layers = list(layers_of(template))
        # Matrices first, whose sizes are mostly multiples of eight: aligned, they multiply faster.
        self._trained.sort(key=lambda named: len(named[1]) == 1)

    def _stored(self, parameter: Tensor) -> Tensor:
        # Channels last, so that a step needs not turn them.
        return parameter.permute(0, 2, 3, 1) if parameter.ndim == 4 else parameter

    def _loaded(self, stored: Tensor) -> Tensor:
        return stored.permute(0, 3, 1, 2) if stored.ndim == 4 else stored

    def release(self, state: State) -> tuple[Network, State]:
        super().release(state)
        plain = SerialStack(self.template, draws=False, half=self._half)
        return plain, plain.read([self.write(state, member) for member in range(len(state.flat))])

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
        counter = torch.zeros(1, dtype=torch.int32, device=x.device)
        stacked = [self.views(flat) for flat in (state.flat, state.flat.to(dtype), out)]
        logits, tapes = [], []
        for member, rows in enumerate(x):
            parameters, cast, grads, buffers = (
                {name: value[member] for name, value in part.items()}
                for part in (*stacked, state.buffers)
            )
            tensors = _Tensors(parameters, cast, grads, buffers, counter)
            own_blend = blend and Blend(blend.share[member], blend.relus)
            rows = rows.to(dtype)
            if rows.ndim == 4:
                rows = rows.contiguous(memory_format=torch.channels_last)
            y, tape = self._forward(rows, tensors, own_blend)
            logits.append(as_logit(y, len(y)).to(x.dtype))
            tapes.append((y.shape, tape, tensors))
        logit_grad = grad(torch.stack(logits)).to(dtype)
        for dz, (shape, tape, tensors) in zip(logit_grad, tapes, strict=True):
            dy = dz.view(shape)
            for backward in reversed(tape):
                dy = backward(dy)
            slots = [tensors.grads[name] for name in tensors.found]
            torch._foreach_copy_(slots, list(tensors.found.values()))

    def _forward(
        self, x: Tensor, tensors: _Tensors, blend: Blend | None
    ) -> tuple[Tensor, list[Backward]]:
        """Return the output, and how gradients go back through each layer, first layer first."""
        tape: list[Backward] = []
        relus = 0
        for layer in self._layers:
            x, backward = _step(layer, x, tensors, is_first=not tape)
            # Before the first layer with parameters there is nothing to train.
            if tape or f"{layer.name}.weight" in tensors.parameters:
                tape.append(backward)
            relus += layer.relu + (type(layer.module) is nn.ReLU)
            if blend is not None and relus == blend.relus:
                x, backward = _mix(x, blend.share)
                tape.append(backward)
                blend = None
        return x, tape


def is_chain_of_convolutions(module: nn.Module) -> bool:
    """Whether ``ConvStack`` can run it: layers it knows, each with parameters of its own."""
    layers = [layer for _, layer in chain_of(module)]
    in_layers = [value for layer in layers for value in layer.parameters()]
    return (
        isinstance(module, nn.Sequential)
        and any(type(layer) is nn.Conv2d for layer in layers)
        and all(map(_is_known, layers))
        and not any(map(has_hooks, module.modules()))
        and len({id(layer) for layer in layers}) == len(layers)
        and len(in_layers) == len(list(module.parameters()))
        and all(value.requires_grad for value in in_layers)
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
    """Layers of a chain, each with the ReLU that follows it; ReLU after ReLU are layers.

    Examples
    --------
    >>> chain = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Sequential(nn.Flatten()))
    >>> [(layer.name, type(layer.module).__name__, layer.relu) for layer in layers_of(chain)]
    [('0', 'Conv2d', True), ('2.0', 'Flatten', False)]
    """
    chain = chain_of(module)
    is_relu = [type(layer) is nn.ReLU for _, layer in chain]
    # Not a ReLU with another: rows may be mixed between them.
    takes = [after and not relu for relu, after in zip(is_relu, [*is_relu[1:], False], strict=True)]
    for (name, layer), relu, is_taken in zip(chain, takes, [False, *takes[:-1]], strict=True):
        if not is_taken:
            yield Layer(name, layer, relu)


def _step(layer: Layer, x: Tensor, tensors: _Tensors, is_first: bool) -> tuple[Tensor, Backward]:
    if isinstance(layer.module, nn.BatchNorm2d):
        return _batch_norm(layer, layer.module, x, tensors)
    if isinstance(layer.module, nn.Conv2d):
        y, backward = _conv(layer.name, layer.module, x, tensors, is_first)
    elif isinstance(layer.module, nn.Linear):
        y, backward = _linear(layer.name, x, tensors, is_first)
    else:
        y, backward = _parameter_free(layer.module, x)
    if not layer.relu:
        return y, backward
    y = y.relu()
    return y, lambda dy: backward(torch.ops.aten.threshold_backward(dy, y, 0))


def _batch_norm(
    layer: Layer, module: nn.BatchNorm2d, x: Tensor, tensors: _Tensors
) -> tuple[Tensor, Backward]:
    assert module.momentum is not None
    weight, bias = f"{layer.name}.weight", f"{layer.name}.bias"
    norm = BatchNorm(
        tensors.parameters[weight],
        tensors.parameters[bias],
        tensors.grads[weight],
        tensors.grads[bias],
        tensors.buffers[f"{layer.name}.running_mean"],
        tensors.buffers[f"{layer.name}.running_var"],
        tensors.buffers[f"{layer.name}.num_batches_tracked"],
        tensors.counter,
        module.momentum,
        module.eps,
        layer.relu,
    )
    return batch_norm(x, norm)


def _conv(
    name: str, module: nn.Conv2d, x: Tensor, tensors: _Tensors, is_first: bool
) -> tuple[Tensor, Backward]:
    """Convolve; patches of few numbers, and single pixels, by a matrix product."""
    if is_first and _numbers(module) <= MOST_IM2COL and _is_simple(module):
        patches, size = _im2col(x, module)
        return _as_images(_linear(name, patches, tensors, is_first), len(x), size)
    if module.kernel_size == module.stride == (1, 1) and _is_simple(module):
        pixels = x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])
        return _as_images(_linear(name, pixels, tensors, is_first), len(x), x.shape[2:])
    # Channels last already.
    weight = tensors.cast[f"{name}.weight"].permute(0, 3, 1, 2)
    bias = tensors.cast.get(f"{name}.bias")
    shape: tuple[Any, ...] = (module.stride, module.padding, module.dilation)
    shape += (False, (0, 0), module.groups)
    # cuDNN's own gradient by the input is slow for some of these shapes.
    as_conv = module.stride == (1, 1) and _is_simple(module) and len(weight) == weight.shape[1]

    def backward(dy: Tensor) -> Tensor:
        sizes = None if bias is None else [len(bias)]
        wanted = [not (is_first or as_conv), True, bias is not None]
        dx, weight_grad, bias_grad = torch.ops.aten.convolution_backward(
            dy, x, weight, sizes, *shape, wanted
        )
        tensors.found[f"{name}.weight"] = weight_grad.permute(0, 2, 3, 1)
        if bias is not None:
            tensors.found[f"{name}.bias"] = bias_grad
        if as_conv and not is_first:
            flipped = weight.flip(2, 3).transpose(0, 1)
            flipped = flipped.contiguous(memory_format=torch.channels_last)
            (high, wide), (above, left) = module.kernel_size, _margins(module)
            dx = nn.functional.conv2d(dy, flipped, padding=(high - 1 - above, wide - 1 - left))
        return dx  # type: ignore[no-any-return]

    return torch.convolution(x, weight, bias, *shape), backward


def _numbers(module: nn.Conv2d) -> int:
    """Inputs of one output."""
    return module.in_channels * math.prod(module.kernel_size)


def _margins(module: nn.Conv2d) -> tuple[int, int]:
    assert not isinstance(module.padding, str)
    above, left = module.padding
    return above, left


def _is_simple(module: nn.Conv2d) -> bool:
    (high, wide), (above, left) = module.kernel_size, _margins(module)
    is_dense = module.groups == 1 and module.dilation == (1, 1)
    return is_dense and above < high and left < wide


def _im2col(x: Tensor, module: nn.Conv2d) -> tuple[Tensor, torch.Size]:
    """What each output sees, (outputs, height * width * channels), and the size of the output.

    There are zeros behind, up to a multiple of eight.
    """
    (high, wide), (down, right) = module.kernel_size, module.stride
    above, left = _margins(module)
    x = nn.functional.pad(x.permute(0, 2, 3, 1), (0, 0, left, left, above, above))
    windows = x.unfold(1, high, down).unfold(2, wide, right).permute(0, 1, 2, 4, 5, 3)
    numbers, size = _numbers(module), windows.shape[:3]
    patches = x.new_zeros(*size, numbers + _to_eight(numbers))
    patches[..., :numbers].view(windows.shape).copy_(windows)
    return patches.flatten(0, 2), size[1:]


def _to_eight(size: int) -> int:
    """What is lacking to a multiple of eight: then matrix products are faster."""
    return -size % 8


def _as_images(
    found: tuple[Tensor, Backward], rows: int, size: Sequence[int]
) -> tuple[Tensor, Backward]:
    """Make images, channels last, of one output a pixel."""
    y, backward = found

    def of_images(dy: Tensor) -> Tensor:
        dx = backward(dy.permute(0, 2, 3, 1).reshape(y.shape))
        return dx.reshape(rows, *size, -1).permute(0, 3, 1, 2)

    return y.reshape(rows, *size, -1).permute(0, 3, 1, 2), of_images


def _linear(name: str, x: Tensor, tensors: _Tensors, is_first: bool) -> tuple[Tensor, Backward]:
    """Multiply rows (..., inputs) by the weights, or by those of a convolution of one pixel."""
    weight = tensors.cast[f"{name}.weight"].flatten(1)
    bias = tensors.cast.get(f"{name}.bias")
    outputs, inputs = weight.shape
    more_outputs, more_inputs = _to_eight(outputs), _to_eight(inputs)
    if more_outputs or more_inputs:
        weight = nn.functional.pad(weight, (0, more_inputs, 0, more_outputs))
    if x.shape[-1] < weight.shape[1]:
        x = nn.functional.pad(x, (0, more_inputs))
    y = nn.functional.linear(x, weight)[..., :outputs]

    def backward(dy: Tensor) -> Tensor:
        dz = nn.functional.pad(dy, (0, more_outputs)).flatten(0, -2)
        grad = (dz.t() @ x.flatten(0, -2))[:outputs, :inputs]
        tensors.found[f"{name}.weight"] = grad.reshape(tensors.grads[f"{name}.weight"].shape)
        if bias is not None:
            tensors.found[f"{name}.bias"] = dz.sum(0)[:outputs]
        return dy if is_first else (dz @ weight)[:, :inputs].reshape(*x.shape[:-1], inputs)

    return y if bias is None else y + bias, backward


def _parameter_free(module: nn.Module, x: Tensor) -> tuple[Tensor, Backward]:
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        # The layer before may need what it put out.
        y = module(leaf.clone() if getattr(module, "inplace", False) else leaf)
    return y.detach(), lambda dy: torch.autograd.grad(y, leaf, dy)[0]


def _mix(x: Tensor, share: Tensor) -> tuple[Tensor, Backward]:
    first, partner = x.chunk(2)
    share = share.view(-1, *[1] * (x.ndim - 1)).to(x.dtype)
    mixed = torch.lerp(partner, first, share)
    return mixed, lambda dy: torch.cat([share * dy, (1 - share) * dy])
