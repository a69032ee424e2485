"""Batch norm with its ReLU: by torch on a processor, and what the kernels of a GPU are given."""

import re

import pytest
import torch
from torch import nn

from robustpu.fleet import batch_norm

DTYPES = {
    "uint4": torch.bfloat16,
    "float": torch.float32,
    "int": torch.int32,
    "long long": torch.int64,
}


def norm_of(channels, relu):
    def draw():
        return torch.rand(channels) + 0.5

    grads = [torch.full((channels,), torch.nan) for _ in range(2)]
    counters = torch.zeros((), dtype=torch.int64), torch.zeros(1, dtype=torch.int32)
    running = torch.zeros(channels), torch.ones(channels)
    return batch_norm.BatchNorm(draw(), draw(), *grads, *running, *counters, 0.1, 1e-5, relu)


def test_a_single_value_per_channel_is_refused():
    with pytest.raises(ValueError, match=r"more than one value per channel.*\(1, 3, 1, 1\)"):
        batch_norm.batch_norm(torch.randn(1, 3, 1, 1), norm_of(3, relu=True))


@pytest.mark.parametrize("relu", [True, False])
def test_it_gives_what_torch_gives(relu):
    norm, x, dy = norm_of(3, relu), torch.randn(4, 3, 5, 2), torch.randn(4, 3, 5, 2)
    layer = nn.BatchNorm2d(3)
    with torch.no_grad():
        layer.weight.copy_(norm.weight)
        layer.bias.copy_(norm.bias)
    leaf = x.clone().requires_grad_()
    expected = layer(leaf).relu() if relu else layer(leaf)
    expected.backward(dy)
    y, backward = batch_norm.batch_norm(x, norm)
    torch.testing.assert_close(y, expected.detach())
    torch.testing.assert_close(backward(dy), leaf.grad)
    torch.testing.assert_close(norm.weight_grad, layer.weight.grad)
    torch.testing.assert_close(norm.bias_grad, layer.bias.grad)
    torch.testing.assert_close(norm.mean, layer.running_mean)
    torch.testing.assert_close(norm.variance, layer.running_var)
    assert norm.n_batches == layer.num_batches_tracked


def declared(name):
    """Types that a kernel declares: of arrays those of torch, of numbers those of Python."""
    (listed,) = re.findall(rf"__global__ void {name}\((.*?)\)", batch_norm.SOURCE, re.S)
    types = [re.sub(r"const |\w+$", "", part.strip()) for part in listed.split(",")]
    return [
        DTYPES[kind.strip("* ")] if "*" in kind else {"int": int, "double": float}[kind.strip()]
        for kind in types
    ]


@pytest.mark.parametrize("size", [(64, 96, 32, 32), (2, 8, 1, 3), (5, 4096, 2, 2)])
def test_kernels_are_given_what_they_declare(size, monkeypatch):
    given = {}

    def kernel(name):
        def launch(grid, block, args):
            given[name] = [
                arg.dtype if isinstance(arg, torch.Tensor) else type(arg) for arg in args
            ]
            channels = size[1]
            # Whole vectors of eight channels, and sums that fit into what a block shares.
            assert block[0] <= 1024
            assert block[0] % (channels // 8) == 0
            assert 16 * block[0] <= 8192
            assert grid[0] >= 1

        return launch

    kernels = [kernel(name) for name in batch_norm.NAMES]
    norm, x = norm_of(size[1], True), torch.zeros(size, dtype=torch.bfloat16)
    y, backward = batch_norm._by_kernels(x, norm, kernels)
    assert backward(y).shape == size
    assert given == {name: declared(name) for name in batch_norm.NAMES}
