"""Networks of a fleet: inputs to logits, and gradients of risks.

All members share one template module. Their trained parameters lie in one tensor ``flat`` of
shape (members, parameters), so that the optimiser is a handful of operations whatever the number
of layers; everything else a module carries (batch-norm statistics, frozen weights) lies in
``buffers``, name -> (members, ...).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from robustpu.modules import ONE_AT_A_TIME

LogitGrad = Callable[[Tensor], Tensor]


@dataclass
class State:
    """Parameters (members, parameters) and buffers, name -> (members, ...), of a fleet."""

    flat: Tensor
    buffers: dict[str, Tensor]

    def select(self, index: Tensor) -> "State":
        """Copy the members at these places."""
        return State(self.flat[index], {name: value[index] for name, value in self.buffers.items()})

    def copy(self) -> "State":
        """Copy all members."""
        return State(
            self.flat.clone(), {name: value.clone() for name, value in self.buffers.items()}
        )

    def part(self, part: slice) -> "State":
        """View some neighbours; what is written to them is written here."""
        return State(self.flat[part], {name: value[part] for name, value in self.buffers.items()})

    def put(self, index: Tensor, other: "State") -> None:
        """Write ``other`` over the members at these places."""
        self.flat[index] = other.flat
        for name, value in other.buffers.items():
            self.buffers[name][index] = value

    def to(self, device: torch.device, dtype: torch.dtype | None = None) -> "State":
        """Move, and change the precision; integer buffers keep their type."""
        return State(
            self.flat.to(device, dtype),
            {
                name: value.to(device, dtype if value.is_floating_point() else None)
                for name, value in self.buffers.items()
            },
        )

    @classmethod
    def join(cls, states: Sequence["State"]) -> "State":
        """Put members of several states together."""
        return cls(
            torch.cat([state.flat for state in states]),
            {
                name: torch.cat([state.buffers[name] for state in states])
                for name in states[0].buffers
            },
        )


class Blend(NamedTuple):
    """Mix the first half of the rows with the second after ``relus`` ReLUs, (members, rows / 2)."""

    share: Tensor
    relus: int


class Network(ABC):
    """A template module, and the way to run many copies of it.

    ``score_dtype`` is the precision to predict with. A module of the user's may insist on the one
    that it was built with. ``is_stacked`` tells whether all members are computed at once.
    ``can_be_recorded`` is False if a step cannot be recorded as a CUDA graph. ``relus`` is the
    number of ReLUs in a chain of layers after which rows can be mixed, 0 if it is no chain.
    """

    score_dtype = torch.float32
    is_stacked = True
    can_be_recorded = True

    def __init__(self, template: nn.Module):
        self.template = template
        self._trained = [
            (name, self._stored(value).shape)
            for name, value in template.named_parameters()
            if value.requires_grad
        ]
        self._aliases = _aliases(template)
        self.relus = len(_relus(template))
        self._is_in_place = any(getattr(part, "inplace", False) for part in template.modules())
        if not self._trained:
            raise ValueError("module has no trainable parameters; nothing can be learnt.")

    def _stored(self, parameter: Tensor) -> Tensor:
        """Return a parameter of a module in the form in which the fleet keeps it."""
        return parameter

    def _loaded(self, stored: Tensor) -> Tensor:
        """Return a parameter as the fleet keeps it in the form in which a module has it."""
        return stored

    def write(self, state: State, member: int) -> nn.Module:
        """One member as a module, the inverse of ``read``."""
        module = deepcopy(self.template)
        views = self.views(state.flat).items()
        tensors = {name: self._loaded(view[member]) for name, view in views}
        tensors |= {name: value[member] for name, value in state.buffers.items()}
        # Not strict: a parameter that several layers share has one name here, and several there.
        module.load_state_dict(tensors, strict=False)
        return module

    def read(self, modules: Sequence[nn.Module]) -> State:
        """Stack the parameters and buffers of modules built like the template."""
        flat, buffers = [], []
        for module in modules:
            parameters = dict(module.named_parameters())
            trained = [self._stored(parameters.pop(name)) for name, _ in self._trained]
            flat.append(torch.cat([value.detach().reshape(-1) for value in trained]))
            buffers.append({**parameters, **dict(module.named_buffers())})
        return State(
            torch.stack(flat),
            {name: torch.stack([named[name].detach() for named in buffers]) for name in buffers[0]},
        )

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """Name -> (members, *shape), sharing memory with ``flat``."""
        answer, start = {}, 0
        for name, shape in self._trained:
            stop = start + shape.numel()
            answer[name] = flat[:, start:stop].view(len(flat), *shape)
            start = stop
        return answer

    def release(self, state: State) -> tuple["Network", State]:
        """Return what a fitted model keeps: nothing that training held on to, nor the device."""
        self.template.to("cpu")
        return self, state.to(torch.device("cpu"))

    def _kept(self, x: Tensor) -> Tensor:
        """Rows that the first layer may change; those of the user it must not."""
        return x.clone() if self._is_in_place else x

    @abstractmethod
    def logits(self, state: State, x: Tensor) -> Tensor:
        """Logits (members, rows) of inputs (members, rows, ...), in evaluation mode."""

    def hidden(self, state: State, x: Tensor) -> Tensor:
        """What the last linear layer gets, (members, rows, units), in evaluation mode."""
        last = [layer for layer in self.template.modules() if isinstance(layer, nn.Linear)]
        if not last:
            raise ValueError("module has no linear layer; its hidden representation is unknown.")
        seen: list[Tensor] = []
        hook = last[-1].register_forward_pre_hook(lambda layer, inputs: seen.append(inputs[0]))
        try:
            for member in range(len(x)):
                views = self.views(state.flat).items()
                tensors = {name: self._loaded(view[member]) for name, view in views}
                tensors |= {name: value[member] for name, value in state.buffers.items()}
                tensors |= {alias: tensors[name] for alias, name in self._aliases.items()}
                with ONE_AT_A_TIME:
                    self.template.eval()
                    functional_call(
                        self.template, tensors, (self._kept(x[member]),), tie_weights=False
                    )
        finally:
            hook.remove()
        return torch.stack(seen).flatten(2)

    @abstractmethod
    def gradient(
        self,
        state: State,
        x: Tensor,
        grad: LogitGrad,
        out: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None = None,
    ) -> None:
        """Write d risk / d flat into ``out``; the network is in training mode.

        ``grad`` maps logits (members, rows) to d risk / d logit. ``generators`` are the members'
        own sources of randomness, for modules with dropout. With ``blend``, rows of ``x`` are mixed
        inside, and there are half as many logits.
        """


class _Cut(NamedTuple):
    """A flat tensor, and the weight and the bias of each layer in it."""

    flat: Tensor | None
    layers: list[tuple[Tensor, Tensor]]


class LinearStack(Network):
    """Linear layers and ReLUs, run as batched matrix products with a gradient written by hand.

    Quicker than autograd, most of all for one member. Predictions are in double precision, so that
    an answer does not depend on the rows it comes with.
    """

    score_dtype = torch.float64

    def __init__(self, template: nn.Sequential):
        super().__init__(template)
        self._layers = [
            name for name, layer in template.named_children() if isinstance(layer, nn.Linear)
        ]
        # The views of the two tensors that a training step uses, cut once and not every step.
        self._weights = self._grads = _Cut(None, [])

    def release(self, state: State) -> tuple[Network, State]:
        self._weights = self._grads = _Cut(None, [])
        return super().release(state)

    def _stored(self, parameter: Tensor) -> Tensor:
        # Weights as (inputs, outputs): quicker to multiply by than torch's (outputs, inputs).
        return parameter.t() if parameter.ndim == 2 else parameter

    def _loaded(self, stored: Tensor) -> Tensor:
        return self._stored(stored)

    def _cut(self, flat: Tensor) -> "_Cut":
        """Weight (members, inputs, outputs) and bias (members, outputs) of each layer."""
        views = self.views(flat)
        return _Cut(flat, [(views[f"{n}.weight"], views[f"{n}.bias"]) for n in self._layers])

    def _forward(
        self, layers: list[tuple[Tensor, Tensor]], x: Tensor, blend: Blend | None = None
    ) -> tuple[list[Tensor], Tensor]:
        """Return what each layer puts out, from the inputs on, before anything is mixed.

        The last one is the output (members, rows, 1). And return what was mixed.
        """
        activity, mixed = [x.flatten(2)], x
        for depth, (weight, bias) in enumerate(layers, start=1):
            inputs = activity[-1]
            if blend is not None and blend.relus == depth - 1:
                first, partner = inputs.chunk(2, dim=1)
                inputs = mixed = torch.lerp(partner, first, blend.share.unsqueeze(-1))
            z = torch.baddbmm(bias.unsqueeze(1), inputs, weight)
            activity.append(z if depth == len(layers) else z.relu_())
        return activity, mixed

    def logits(self, state: State, x: Tensor) -> Tensor:
        return self._forward(self._cut(state.flat).layers, x)[0][-1].squeeze(-1)

    def hidden(self, state: State, x: Tensor) -> Tensor:
        return self._forward(self._cut(state.flat).layers, x)[0][-2]

    def gradient(
        self,
        state: State,
        x: Tensor,
        grad: LogitGrad,
        out: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None = None,
    ) -> None:
        if self._weights.flat is not state.flat:
            self._weights = self._cut(state.flat)
        if self._grads.flat is not out:
            self._grads = self._cut(out)
        (*inputs, output), mixed = self._forward(self._weights.layers, x, blend)
        back = grad(output.squeeze(-1)).unsqueeze(-1)
        for depth in reversed(range(len(inputs))):
            is_mixed = blend is not None and blend.relus == depth
            weight_grad, bias_grad = self._grads.layers[depth]
            seen = mixed if is_mixed else inputs[depth]
            torch.bmm(seen.transpose(1, 2), back, out=weight_grad)
            torch.sum(back, 1, out=bias_grad)
            if depth:
                back = torch.bmm(back, self._weights.layers[depth][0].transpose(1, 2))
                if blend is not None and is_mixed:
                    share = blend.share.unsqueeze(-1)
                    back = torch.cat([share * back, (1 - share) * back], dim=1)
                back = torch.ops.aten.threshold_backward(back, inputs[depth], 0)


class _Autograd(Network):
    """Networks that torch differentiates."""

    def _call(self, tensors: dict[str, Tensor], x: Tensor, blend: Blend | None = None) -> Tensor:
        """Run the template with one member's parameters, buffers and share, (rows,)."""
        tensors = tensors | {alias: tensors[name] for alias, name in self._aliases.items()}
        rows = len(x) if blend is None else len(x) // 2
        with self._blending(blend):
            # torch's tying gives a layer that is registered twice the wrong weights.
            answer = functional_call(self.template, tensors, (self._kept(x),), tie_weights=False)
            return as_logit(answer, rows)

    @contextmanager
    def _blending(self, blend: Blend | None) -> Iterator[None]:
        if blend is None:
            yield
            return
        share = blend.share

        def mix(layer: nn.Module, inputs: object, output: Tensor) -> Tensor:
            first, partner = output.chunk(2)
            # Under autocast a layer answers in bfloat16, and lerp wants one type throughout.
            weight = share.view(-1, *[1] * (first.ndim - 1)).to(first.dtype)
            return torch.lerp(partner, first, weight)

        hook = _relus(self.template)[blend.relus - 1].register_forward_hook(mix)
        try:
            yield
        finally:
            hook.remove()

    @abstractmethod
    def _train_logits(
        self,
        views: dict[str, Tensor],
        buffers: dict[str, Tensor],
        x: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None,
    ) -> Tensor:
        """Logits (members, rows) in training mode."""

    def gradient(
        self,
        state: State,
        x: Tensor,
        grad: LogitGrad,
        out: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None = None,
    ) -> None:
        leaves = {
            name: view.detach().requires_grad_() for name, view in self.views(state.flat).items()
        }
        with torch.enable_grad(), ONE_AT_A_TIME:
            self.template.train()
            logit = self._train_logits(leaves, state.buffers, x, generators, blend)
        found = torch.autograd.grad(
            logit,
            list(leaves.values()),
            grad_outputs=grad(logit.detach()),
            allow_unused=True,
            materialize_grads=True,
        )
        for slot, gradient in zip(self.views(out).values(), found, strict=True):
            slot.copy_(gradient)


class VmapStack(_Autograd):
    """Any module without state of its own, run for all members at once by ``torch.vmap``."""

    def logits(self, state: State, x: Tensor) -> Tensor:
        with ONE_AT_A_TIME:
            self.template.eval()
            return self._run(self.views(state.flat), state.buffers, x, None)

    def _train_logits(
        self,
        views: dict[str, Tensor],
        buffers: dict[str, Tensor],
        x: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None,
    ) -> Tensor:
        return self._run(views, buffers, x, blend)

    def _run(
        self,
        views: dict[str, Tensor],
        buffers: dict[str, Tensor],
        x: Tensor,
        blend: Blend | None,
    ) -> Tensor:
        tensors = {**views, **buffers}
        answer: Tensor
        if blend is None:
            answer = torch.vmap(self._call)(tensors, x)
        else:
            relus = blend.relus
            answer = torch.vmap(
                lambda tensors, x, share: self._call(tensors, x, Blend(share, relus)),
            )(tensors, x, blend.share)
        return answer


class SerialStack(_Autograd):
    """Any module at all, one member after the other: convolutions, batch norm, dropout.

    Convolutions on a GPU train in bfloat16, channels last, with parameters and optimiser in single
    precision; evaluation is in single precision.

    Parameters
    ----------
    template
        The module.
    draws
        Whether it draws random numbers in training, as dropout does.
    half
        Whether to train in bfloat16.
    """

    is_stacked = False

    def __init__(self, template: nn.Module, draws: bool = True, half: bool = False):
        super().__init__(template)
        self.can_be_recorded = not draws
        self._draws = draws
        self._half = half

    def logits(self, state: State, x: Tensor) -> Tensor:
        with ONE_AT_A_TIME:
            return self._logits(state, x)

    def _logits(self, state: State, x: Tensor) -> Tensor:
        self.template.eval()
        views, answer = self.views(state.flat), []
        for member, member_x in enumerate(x):
            tensors = {name: self._loaded(view[member]) for name, view in views.items()}
            tensors |= {name: value[member] for name, value in state.buffers.items()}
            answer.append(self._call(tensors, member_x))
        return torch.stack(answer)

    def _train_logits(
        self,
        views: dict[str, Tensor],
        buffers: dict[str, Tensor],
        x: Tensor,
        generators: Sequence[torch.Generator],
        blend: Blend | None,
    ) -> Tensor:
        # unbind, because the gradient of views[member] would be a whole stack of zeros; squeeze,
        # because that of a single member is then not even copied.
        parameters = {
            name: view.unbind() if len(view) > 1 else (view.squeeze(0),)
            for name, view in views.items()
        }
        answer = []
        for member, generator in enumerate(generators):
            tensors = {name: parts[member] for name, parts in parameters.items()}
            # Indexing makes views, so batch norm updates the statistics of the fleet.
            tensors |= {name: value[member] for name, value in buffers.items()}
            with self._randomness(generator, x.device):
                own_blend = blend and Blend(blend.share[member], blend.relus)
                answer.append(self._train_call(tensors, x[member], own_blend))
        return torch.stack(answer)

    def _train_call(self, tensors: dict[str, Tensor], x: Tensor, blend: Blend | None) -> Tensor:
        if not self._half:
            return self._call(tensors, x, blend)
        if x.ndim == 4:
            x = x.to(memory_format=torch.channels_last)
        with torch.autocast(x.device.type, torch.bfloat16):
            return self._call(tensors, x, blend).float()

    @contextmanager
    def _randomness(self, generator: torch.Generator, device: torch.device) -> Iterator[None]:
        """Seed what dropout draws from by the member's own generator."""
        if not self._draws:
            yield
            return
        devices = [device] if device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            seed = int(torch.randint(1 << 62, (), generator=generator))
            torch.default_generator.manual_seed(seed)
            for device in devices:
                with torch.cuda.device(device):
                    torch.cuda.manual_seed(seed)
            yield


def _aliases(template: nn.Module) -> dict[str, str]:
    """Other name -> name, of parameters and buffers that several layers share."""
    first: dict[int, str] = {}
    answer = {}
    for prefix, layer in template.named_modules():
        for name, value in [
            *layer.named_parameters(prefix, recurse=False),
            *layer.named_buffers(prefix, recurse=False),
        ]:
            if first.setdefault(id(value), name) != name:
                answer[name] = first[id(value)]
    return answer


def as_logit(output: Tensor, rows: int) -> Tensor:
    """Return what a module answers for these rows, (rows,), or complain of its shape."""
    if output.shape not in ((rows,), (rows, 1)):
        raise ValueError(
            f"module must answer one logit a row, a tensor of shape ({rows},) or ({rows}, 1) "
            f"for {rows} rows; it answered {tuple(output.shape)}."
        )
    return output.reshape(rows)


def chain_of(module: nn.Module, name: str = "") -> list[tuple[str, nn.Module]]:
    """Names and layers of a module that is a chain, chains within it included; else itself."""
    if not isinstance(module, nn.Sequential) or type(module).forward is not nn.Sequential.forward:
        return [(name, module)]
    dot = name and f"{name}."
    # Not named_children: that leaves out a layer that comes again.
    parts = [chain_of(layer, f"{dot}{key}") for key, layer in module._modules.items()]
    return [layer for part in parts for layer in part]


def has_hooks(module: nn.Module) -> bool:
    """Whether something of the user's runs with a layer, which a gradient by hand would miss."""
    before, after = module._forward_pre_hooks, module._forward_hooks
    return any((before, after, module._backward_pre_hooks, module._backward_hooks))


def _relus(template: nn.Module) -> list[nn.Module]:
    """The ReLUs of a chain of layers, each used once; none if the module is no chain."""
    layers = [layer for _, layer in chain_of(template)]
    return [layer for layer in layers if type(layer) is nn.ReLU and layers.count(layer) == 1]
