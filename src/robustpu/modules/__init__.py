"""Networks: the shape of one input row -> a torch module that answers one logit a row."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from threading import RLock
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from robustpu.modules.resnet import ResNet50
from robustpu.modules.rows import Scale, column_sums, extremes
from robustpu.validation.names import pick

# One thread at a time: modules draw from one generator of the process, and a call with a member's
# parameters puts them into the shared template while it lasts.
ONE_AT_A_TIME = RLock()

# Powers of 2 whose squares, and sums of squares, are safely inside double precision.
FAR = 400

ModuleFactory: TypeAlias = Callable[[tuple[int, ...]], nn.Module]


def mlp(input_shape: tuple[int, ...], hidden: Sequence[int] = (100,)) -> nn.Module:
    """Linear - ReLU - ... - linear: the paper's classifier for tables and for MNIST.

    Weights are Xavier-normal and biases zero, as in the authors' code. Use
    ``functools.partial(mlp, hidden=(300, 300))`` as ``module=`` for another size.

    Parameters
    ----------
    input_shape
        Shape of one row; images are flattened.
    hidden
        Width of each hidden layer; ``()`` is a linear model.

    Examples
    --------
    >>> net = mlp((57,))
    >>> sum(weight.numel() for weight in net.parameters())
    5901
    """
    widths = [math.prod(input_shape), *hidden, 1]
    layers: list[nn.Module] = [nn.Flatten()]
    for width, following in pairwise(widths):
        linear = nn.Linear(width, following)
        nn.init.xavier_normal_(linear.weight)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def linear(input_shape: tuple[int, ...]) -> nn.Module:
    """Return a logistic-regression model, one weight an input.

    Examples
    --------
    >>> sum(weight.numel() for weight in linear((57,)).parameters())
    58
    """
    return mlp(input_shape, hidden=())


class AllConv(nn.Sequential):
    """Nine convolutions with batch norm, then 1000-1000-1: the paper's network for CIFAR-10.

    (3x3x96) x2 - 3x3x96 stride 2 - (3x3x192) x2 - 3x3x192 stride 2 - 3x3x192 - 1x1x192 - 1x1x10,
    each followed by batch norm and ReLU. Weights are Kaiming-normal and biases zero. Convolutions
    have no bias: the batch norm takes it out again, and adds its own.
    """

    def __init__(self, input_shape: tuple[int, ...]):
        if len(input_shape) != 3:
            raise ValueError(
                f"all_conv takes images, one row a (channels, height, width) array; a row here "
                f"has the shape {input_shape}. For tables use module='mlp'."
            )
        channels, height, width = input_shape
        # (output channels, kernel size, stride) of each convolution.
        plan = [(96, 3, 1), (96, 3, 1), (96, 3, 2), (192, 3, 1), (192, 3, 1), (192, 3, 2)]
        plan += [(192, 3, 1), (192, 1, 1), (10, 1, 1)]
        layers: list[nn.Module] = []
        for outputs, kernel, stride in plan:
            layers += [
                nn.Conv2d(channels, outputs, kernel, stride, padding=kernel // 2, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
            channels = outputs
            height, width = -(-height // stride), -(-width // stride)
        layers += [nn.Flatten(), nn.Linear(channels * height * width, 1000), nn.ReLU()]
        layers += [nn.Linear(1000, 1000), nn.ReLU(), nn.Linear(1000, 1)]
        super().__init__(*layers)
        for layer in self:
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
            if isinstance(layer, nn.Linear):
                nn.init.zeros_(layer.bias)


def all_conv(input_shape: tuple[int, ...]) -> nn.Module:
    """Return the paper's all-convolutional network for images, see :class:`AllConv`.

    Examples
    --------
    >>> sum(layer.weight.ndim == 4 for layer in all_conv((3, 32, 32)) if hasattr(layer, "weight"))
    9
    """
    return AllConv(input_shape)


def resnet50(input_shape: tuple[int, ...]) -> nn.Module:
    """Return a residual network of 50 layers for images, see :class:`resnet.ResNet50`.

    Examples
    --------
    >>> sum(weight.numel() for weight in resnet50((3, 224, 224)).parameters())
    23510081
    """
    return ResNet50(input_shape)


def halved(factory: ModuleFactory, input_shape: tuple[int, ...]) -> nn.Module:
    """Put the mean of every 2 x 2 pixels before a network for images: a quarter of the work.

    Parameters
    ----------
    factory
        Makes the network for the smaller pictures.
    input_shape
        Channels, height and width of one picture.

    Examples
    --------
    >>> halved(all_conv, (3, 96, 96))(torch.zeros(2, 3, 96, 96)).shape
    torch.Size([2, 1])
    """
    if len(input_shape) != 3:
        raise ValueError(
            f"only images can be halved, one row a (channels, height, width) array; a row here "
            f"has the shape {input_shape}. For tables use module='mlp'."
        )
    channels, height, width = input_shape
    return nn.Sequential(nn.AvgPool2d(2), factory((channels, height // 2, width // 2)))


def scale_of(X: NDArray[Any], edges: NDArray[Any] | None = None) -> Scale:
    """Mean and deviation of each column, in double precision; 1 for a constant column.

    Parameters
    ----------
    X
        Rows (n, d); read block by block.
    edges
        Least and largest value of each column, (2, d), if they are known.

    Examples
    --------
    >>> mean, scale = scale_of(np.array([[1.0, 7.0], [3.0, 7.0]]))
    >>> mean.tolist(), scale.tolist()
    ([2.0, 7.0], [1.0, 1.0])
    """
    low, high = extremes(X) if edges is None else edges
    power = np.frexp(np.maximum(high, -low.astype(np.float64)))[1]
    # Squares of numbers beyond these are infinite, or zero; a power of 2 is taken out first.
    power = np.where(np.abs(power) > FAR, power, 0)

    def near(rows: NDArray[Any]) -> NDArray[Any]:
        return np.ldexp(rows.astype(np.float64), -power) if power.any() else rows

    mean = column_sums(X, near) / len(X)
    scale = np.sqrt(column_sums(X, lambda rows: np.square(near(rows) - mean)) / len(X))
    # A column that is constant up to rounding stays constant.
    constant = scale <= 10 * np.finfo(np.float64).eps * np.abs(mean)
    return np.ldexp(mean, power), np.where(constant, 1.0, np.ldexp(scale, power))


class Standardize(nn.Module):
    """(x - mean) / scale, column by column, in single precision."""

    mean: Tensor
    scale: Tensor

    def __init__(self, mean: Tensor, scale: Tensor):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("scale", scale)

    def forward(self, x: Tensor) -> Tensor:
        return ((x - self.mean) / self.scale).float()


MODULES: dict[str, ModuleFactory] = {
    "mlp": mlp,
    "linear": linear,
    "all_conv": all_conv,
    "all_conv_half": partial(halved, all_conv),
    "resnet50": resnet50,
    "resnet50_half": partial(halved, resnet50),
}


def build(module: str | ModuleFactory, input_shape: tuple[int, ...], seed: int) -> nn.Module:
    """Build a module whose initial weights depend on the seed alone.

    The module's own random initialisation runs under a forked generator, so the process's
    random state is left as it was.

    Parameters
    ----------
    module
        A name of ``MODULES``, or a callable from the shape of a row to a module.
    input_shape
        Shape of one row.
    seed
        Seed of the initial weights.

    Examples
    --------
    >>> one, two = build("mlp", (3,), seed=7), build("mlp", (3,), seed=7)
    >>> float((one[1].weight - two[1].weight).detach().abs().max())
    0.0
    """
    if isinstance(module, nn.Module):
        raise TypeError(
            "module must be a callable from the shape of a row to a torch.nn.Module, such as its "
            "class; it is a module already, and every member needs one of its own."
        )
    factory = pick("module", module, MODULES)
    with ONE_AT_A_TIME, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        network = factory(input_shape)
    if not isinstance(network, nn.Module):
        raise TypeError(
            f"module must return a torch.nn.Module for the input shape {input_shape}; "
            f"it returned {type(network).__name__}."
        )
    return network
