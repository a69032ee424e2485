"""The averaged networks of a fitted model <-> JSON and arrays.

Every parameter is one array (networks, ...), as the fleet keeps it: weights of plain linear layers
are (networks, inputs, outputs). Which modules have them is not stored; the parameter ``module``
and the shape of a row tell.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.overrides import TorchFunctionMode

from robustpu.fleet import Network, State, network_for
from robustpu.fleet.network import LinearStack, SerialStack, VmapStack
from robustpu.modules import build
from robustpu.persist.functions import makes_modules
from robustpu.persist.values import TAG, Decoder, Encoder, Json, escaped, fields, refuse

RUN: Final[Mapping[type[Network], str]] = {
    LinearStack: "linear",
    VmapStack: "vmap",
    SerialStack: "serial",
}


def encode_networks(encoder: Encoder, network: Network, state: State, path: str) -> Json:
    """Store parameters and buffers, name -> (networks, ...)."""
    parts = {"parameters": network.views(state.flat), "buffers": state.buffers}
    for part, tensors in parts.items():
        for name, tensor in tensors.items():
            if tensor.dtype == torch.bfloat16 or tensor.is_complex():
                refuse(path, f"{name} is of type {tensor.dtype}, which cannot be stored.")
            array = np.ascontiguousarray(tensor.detach().cpu().numpy())
            encoder.arrays[f"{path}/{part}/{escaped(name)}"] = array
    return {
        TAG: "networks",
        "run": RUN[type(network)],
        "draws": getattr(network, "_draws", False),
        "half": getattr(network, "_half", False),
        **{part: list(tensors) for part, tensors in parts.items()},
    }


def decode_networks(
    decoder: Decoder,
    node: Json,
    path: str,
    module: Any,
    shape: tuple[int, ...],
    members: int,
    is_given: bool,
) -> tuple[Network, State]:
    """Build the module, and fill in what is stored.

    Parameters
    ----------
    decoder, node, path
        Where from.
    module, shape
        What makes a module, and the shape of a row.
    members
        How many networks there must be.
    is_given
        Whether the user gave the module for this call; code of the user's own is run then.
    """
    run, *flags = _entries(node, path)
    stored = {
        part: {name: decoder.take(f"{path}/{part}/{escaped(name)}") for name in node[part]}
        for part in ("parameters", "buffers")
    }
    if not is_given and not makes_modules(module):
        refuse(path, "its module is no network of this library.")
    if is_given:
        template = _build(module, shape, path)
        _compare(template, stored, members, run, path)
    else:
        # Without memory at first: the network may be of any size.
        with torch.device("meta"), _Undrawn():
            outline = _build(module, shape, path)
        _compare(outline, stored, members, run, path)
        with _Undrawn():
            template = _build(module, shape, path)
        with torch.no_grad():
            for tensor in [*template.parameters(), *template.buffers()]:
                tensor.zero_()
    network = _network(template, run, flags, shape, path)
    parts = [torch.from_numpy(stored["parameters"][name]) for name in _trained(template)]
    flat = torch.cat([part.reshape(members, -1) for part in parts], dim=1)
    if not flat.isfinite().all():
        refuse(path, "parameters of a network are not finite.")
    buffers = {name: torch.from_numpy(array) for name, array in stored["buffers"].items()}
    return network, State(flat, buffers)


def _entries(node: Json, path: str) -> tuple[str, bool, bool]:
    if not isinstance(node, dict) or node.get(TAG) != "networks":
        refuse(path, "it holds no networks.")
    run, draws, half, *names = fields(node, path, "run", "draws", "half", "parameters", "buffers")
    if run not in RUN.values() or not isinstance(draws, bool) or not isinstance(half, bool):
        refuse(path, "the way to run its networks is not known.")
    for listed in names:
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            refuse(path, "its names are not lists of texts.")
        if len(set(listed)) < len(listed):
            refuse(path, "a name is there twice.")
    return run, draws, half


class _Undrawn(TorchFunctionMode):
    """Leaves out the drawing of initial weights, for which torch would load its compiler."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if getattr(func, "__name__", "") in ("normal_", "uniform_"):
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))


def _build(module: Any, shape: tuple[int, ...], path: str) -> nn.Module:
    try:
        return build(module, shape, seed=0)
    except Exception as error:
        # Whatever a module says to a shape that it was not made for.
        refuse(path, f"no network can be built for rows of the shape {shape}: {error}")


def _trained(template: nn.Module) -> list[str]:
    return [name for name, parameter in template.named_parameters() if parameter.requires_grad]


def _compare(
    template: nn.Module,
    stored: dict[str, dict[str, NDArray[Any]]],
    members: int,
    run: str,
    path: str,
) -> None:
    """Refuse parameters and buffers that the module does not have, or of other shapes."""
    everything = {**dict(template.named_parameters()), **dict(template.named_buffers())}
    trained = _trained(template)
    wanted = {
        "parameters": {name: everything[name] for name in trained},
        "buffers": {name: tensor for name, tensor in everything.items() if name not in trained},
    }
    for part, tensors in wanted.items():
        if tensors.keys() != stored[part].keys():
            differ = ", ".join(sorted(tensors.keys() ^ stored[part].keys())[:5])
            refuse(path, f"module and folder do not have the same {part}: {differ[:300]}.")
        for name, tensor in tensors.items():
            size = tuple(tensor.shape)
            if run == "linear" and len(size) == 2:
                size = size[::-1]
            found = stored[part][name]
            if found.shape != (members, *size):
                told = f"{found.shape}, expected {(members, *size)}"
                refuse(path, f"{name} has the shape {told}.")
            if torch.from_numpy(found).dtype != tensor.dtype:
                refuse(path, f"{name} is of type {found.dtype}, expected {tensor.dtype}.")
            if found.dtype.kind == "f" and not np.isfinite(found).all():
                refuse(path, f"{name} holds numbers that are not finite.")


def _network(
    template: nn.Module, run: str, flags: list[bool], shape: tuple[int, ...], path: str
) -> Network:
    if run == "vmap":
        return VmapStack(template)
    if run == "serial":
        return SerialStack(template, *flags)
    layers = (nn.Flatten, nn.Linear, nn.ReLU)
    network: Network | None = None
    if all(type(layer) in layers for layer in template.children()):
        network = network_for(template, torch.zeros(2, *shape))
    if type(network) is not LinearStack:
        refuse(path, "its module is no chain of linear layers.")
    return network
