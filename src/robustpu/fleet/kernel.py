"""The update of Adam as one GPU kernel, where torch can compile one; a third of the memory traffic.

torch compiles it by NVRTC, which comes with torch; neither a compiler nor a toolkit is needed.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

# The moments' decays are part of the text: torch would pass them as doubles.
SOURCE = """
extern "C" __global__ void adam_step(
    float* flat, const float* gradient, float* mean, float* square, const float* rate,
    const float* decay, const float* epsilon, int parameters)
{
    const float beta1 = %rf, beta2 = %rf;
    int place = blockIdx.x * blockDim.x + threadIdx.x;
    int member = blockIdx.y;
    if (place >= parameters) return;
    long long i = (long long)member * parameters + place;
    float grad = gradient[i] + decay[member] * flat[i];
    float m = mean[i] + (1 - beta1) * (grad - mean[i]);
    float s = beta2 * square[i] + (1 - beta2) * grad * grad;
    mean[i] = m;
    square[i] = s;
    flat[i] -= rate[member] * m / (sqrtf(s) + *epsilon);
}
"""
BLOCK = 256
# The largest grid of a GPU in its second dimension.
MOST_MEMBERS = 65535


@cache
def compiled(source: str, name: str, device: torch.device) -> Callable[..., Any] | None:
    """Compile one kernel of a text for a device; None if this version of torch cannot."""
    # Not in every torch that we support.
    compile_kernel = getattr(torch.cuda, "_compile_kernel", None)
    if compile_kernel is None:
        return None
    try:
        with torch.cuda.device(device):
            return compile_kernel(source, name)  # type: ignore[no-any-return]
    except (RuntimeError, OSError):
        return None


def adam_kernel(device: torch.device, beta1: float, beta2: float) -> Callable[..., Any] | None:
    """Compile the kernel for a device; None if this version of torch cannot."""
    return compiled(SOURCE % (beta1, beta2), "adam_step", device)


def step(
    kernel: Callable[..., Any],
    stacked: tuple[Tensor, Tensor, Tensor, Tensor],
    rate: Tensor,
    decay: Tensor,
    epsilon: Tensor,
) -> None:
    """Update parameters and moments in place.

    Parameters
    ----------
    kernel
        As ``adam_kernel`` returns it.
    stacked
        Parameters, gradient, and first and second moment, (members, parameters) each.
    rate, decay
        One number a member, (members,).
    epsilon
        One number, ().
    """
    members, parameters = stacked[0].shape
    grid = (-(-parameters // BLOCK), members, 1)
    arguments = [*stacked, rate, decay, epsilon, parameters]
    with torch.cuda.device(rate.device):
        kernel(grid=grid, block=(BLOCK, 1, 1), args=arguments)
