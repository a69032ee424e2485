"""Which way to run copies of a module is the fastest that is right."""

import warnings
from copy import deepcopy

import torch
from torch import Tensor, nn

from robustpu.fleet.convolutions import ConvStack, is_chain_of_convolutions
from robustpu.fleet.devices import IN_COMPANY
from robustpu.fleet.network import LinearStack, Network, SerialStack, VmapStack, has_hooks
from robustpu.modules import ONE_AT_A_TIME

# Which kinds of networks were seen to make the host wait.
WAITS: dict[tuple[object, ...], bool] = {}


def network_for(template: nn.Module, example: Tensor) -> Network:
    """Choose the fastest way to run copies of this module.

    Parameters
    ----------
    template
        A module as the factory built it.
    example
        A few input rows (rows, ...), to try the module on.
    """
    if _is_linear_chain(template):
        assert isinstance(template, nn.Sequential)
        return LinearStack(template)
    stateful = any(True for _ in template.buffers())
    convolves = any(isinstance(part, nn.modules.conv._ConvNd) for part in template.modules())
    if not stateful and not convolves:
        network = VmapStack(template)
        try:
            _try_out(network, example)
        except torch.cuda.OutOfMemoryError:
            raise
        except (RuntimeError, UserWarning):
            # Random or data-dependent modules cannot be vmapped; others are slow, and warn.
            pass
        else:
            return network
    on_gpu = example.device.type == "cuda"
    half = convolves and on_gpu and torch.cuda.is_bf16_supported()
    # In a chain as well: torch says best which layers do not fit each other.
    draws = _draws(template, example)
    if is_chain_of_convolutions(template):
        serial: SerialStack = ConvStack(template, half)
    else:
        serial = SerialStack(template, draws, half)
    if on_gpu and serial.can_be_recorded:
        serial.can_be_recorded = not _waits(serial, example)
    return serial


def _try_out(network: Network, example: Tensor) -> None:
    """Run two members once, in training and in evaluation."""
    state = network.read([network.template] * 2)
    x, generator = torch.stack([example, example]), torch.Generator()
    # Filters of warnings are those of all threads.
    with ONE_AT_A_TIME, warnings.catch_warnings(), torch.no_grad():
        warnings.filterwarnings("error", "There is a performance drop")
        network.gradient(state, x, torch.ones_like, torch.empty_like(state.flat), [generator] * 2)
        network.logits(state, x)


def _waits(network: Network, example: Tensor) -> bool:
    """Whether a step makes the host wait for the GPU, by ``.item()`` say.

    Where several threads train, this cannot be tried, for it holds for all of them: then the answer
    is the one found before, and if there is none, that it may.
    """
    kind = type(network.template), repr(network.template), example.shape[1:]
    if not IN_COMPANY.get():
        WAITS[kind] = _is_seen_to_wait(network, example)
    return WAITS.get(kind, True)


def _is_seen_to_wait(network: Network, example: Tensor) -> bool:
    mode = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Synchronization debug mode")
        torch.cuda.set_sync_debug_mode("error")
        try:
            _try_out(network, example)
        except torch.cuda.OutOfMemoryError:
            raise
        except RuntimeError:
            return True
        finally:
            torch.cuda.set_sync_debug_mode(mode)
    return False


def _is_linear_chain(module: nn.Module) -> bool:
    """Whether this is [Flatten,] Linear, (ReLU, Linear)*, with biases, all of it trained."""
    if type(module) is not nn.Sequential:
        return False
    layers = list(module)
    if layers and isinstance(layers[0], nn.Flatten):
        layers = layers[1:]
    linears, relus = layers[::2], layers[1::2]
    return (
        len(layers) % 2 == 1
        and all(type(layer) is nn.Linear and layer.bias is not None for layer in linears)
        and all(type(layer) is nn.ReLU for layer in relus)
        and not any(map(has_hooks, module.modules()))
        # Each with a weight and a bias of its own, neither shared nor computed from others.
        and all({"weight", "bias"} == dict(layer.named_parameters()).keys() for layer in linears)
        and len(list(module.parameters())) == 2 * len(linears)
        and bool(linears[-1].out_features == 1)
        and all(value.requires_grad for value in module.parameters())
    )


def _draws(template: nn.Module, example: Tensor) -> bool:
    """Whether a module draws random numbers in training."""
    devices = [example.device] if example.device.type == "cuda" else []

    def states() -> list[Tensor]:
        return [torch.get_rng_state(), *(torch.cuda.get_rng_state(device) for device in devices)]

    with ONE_AT_A_TIME, torch.random.fork_rng(devices=devices), torch.no_grad():
        before = states()
        # Copies: batch norm would take the example into its statistics, and a first layer that
        # works in place would change it.
        deepcopy(template).train()(example.clone())
        return not all(map(torch.equal, before, states()))
