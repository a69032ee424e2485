"""Batch norm and ReLU in one, in training mode; on a GPU by kernels of this library.

torch passes over the numbers of a layer thirteen times in a step, these kernels eight times. torch
compiles them by NVRTC, as that of Adam.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from robustpu.fleet.kernel import compiled

# Gradient by the output -> gradient by the input; those by weight and bias are written.
NormBackward: TypeAlias = Callable[[Tensor], Tensor]

# Threads of a block at most, each with eight neighbouring channels: 16 bytes, read at once.
THREADS, WIDE = 512, 8
# Blocks at most; and channels at most, for the memory that a block shares.
BLOCKS, MOST_CHANNELS = 132, 4096
NAMES = ("statistics", "normalize", "backward_sums", "backward")

SOURCE = """
#define WIDE 8
#define SUMS 8192

struct Eight { float at[WIDE]; };

static __device__ Eight read(const uint4* x, long long place) {
    uint4 packed = x[place];
    unsigned word[4] = {packed.x, packed.y, packed.z, packed.w};
    Eight value;
    for (int k = 0; k < 4; k++) {
        value.at[2 * k] = __uint_as_float(word[k] << 16);
        value.at[2 * k + 1] = __uint_as_float(word[k] & 0xffff0000u);
    }
    return value;
}

static __device__ void write(uint4* y, long long place, Eight value) {
    unsigned word[4];
    for (int k = 0; k < 4; k++)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
            : "=r"(word[k]) : "f"(value.at[2 * k + 1]), "f"(value.at[2 * k]));
    y[place] = make_uint4(word[0], word[1], word[2], word[3]);
}

// Whether a ReLU returns zero; it passes NaN on, as in torch.
static __device__ bool is_zeroed(float value) { return value <= 0; }

// Adds up the sums of all threads. Of all blocks, the last to come gets true and the totals in
// ``sums``, sixteen for each eight channels; the order of addition is always the same.
static __device__ bool totals(
    Eight first, Eight second, float* sums, float* partial, int* counter, int vectors)
{
    __shared__ bool is_last;
    int vector = threadIdx.x % vectors, kinds = 2 * WIDE * vectors;
    for (int k = 0; k < WIDE; k++) {
        sums[k * blockDim.x + threadIdx.x] = first.at[k];
        sums[(WIDE + k) * blockDim.x + threadIdx.x] = second.at[k];
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kinds; i += blockDim.x) {
        float total = 0;
        // blockDim.x is a multiple of ``vectors``.
        for (int t = vector; t < blockDim.x; t += vectors)
            total += sums[i / vectors * blockDim.x + t];
        partial[blockIdx.x * kinds + i] = total;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(counter, 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last) return false;
    __threadfence();
    // Teams of threads share the blocks; each thread reads four numbers at once.
    int quads = kinds / 4, teams = max(1, (int)blockDim.x / quads);
    const float4* read_from = (const float4*)partial;
    float4* write_to = (float4*)sums;
    for (int i = threadIdx.x; i < teams * quads; i += blockDim.x) {
        float4 total = make_float4(0, 0, 0, 0);
        #pragma unroll 8
        for (int b = i / quads; b < gridDim.x; b += teams) {
            float4 value = __ldcg(read_from + b * quads + i % quads);
            total.x += value.x;
            total.y += value.y;
            total.z += value.z;
            total.w += value.w;
        }
        write_to[i] = total;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kinds; i += blockDim.x) {
        float total = sums[i];
        for (int team = 1; team < teams; team++) total += sums[team * kinds + i];
        sums[i] = total;
    }
    if (threadIdx.x == 0) *counter = 0;
    __syncthreads();
    return true;
}

// Where ``totals`` leaves the sums of a channel: the first kind, and so much further the second.
#define PLACE(c) ((c) % WIDE * vectors + (c) / WIDE)
#define SECOND (WIDE * vectors)

extern "C" __global__ void statistics(
    const uint4* x, float* partial, int* counter, float* mean, float* inverse, float* running_mean,
    float* running_var, long long* n_batches, int rows, int channels, double momentum, double eps)
{
    __shared__ __align__(16) float sums[SUMS];
    int vectors = channels / WIDE, vector = threadIdx.x % vectors, step = blockDim.x / vectors;
    // Sums of differences from the first row, so that a large mean costs no precision.
    Eight pivot = read(x, vector), first = {}, second = {};
    #pragma unroll 4
    for (int row = blockIdx.x * step + threadIdx.x / vectors; row < rows; row += gridDim.x * step) {
        Eight value = read(x, (long long)row * vectors + vector);
        for (int k = 0; k < WIDE; k++) {
            float away = value.at[k] - pivot.at[k];
            first.at[k] += away;
            second.at[k] += away * away;
        }
    }
    if (!totals(first, second, sums, partial, counter, vectors)) return;
    if (threadIdx.x == 0) *n_batches += 1;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        float away = sums[PLACE(c)] / rows, start = read(x, c / WIDE).at[c % WIDE];
        float variance = max(0.0f, sums[PLACE(c) + SECOND] / rows - away * away);
        // max drops NaN.
        if (away != away) variance = away;
        mean[c] = start + away;
        inverse[c] = rsqrtf(variance + (float)eps);
        float rate = (float)momentum;
        running_mean[c] += rate * (start + away - running_mean[c]);
        running_var[c] += rate * (variance * ((float)rows / max(1, rows - 1)) - running_var[c]);
    }
}

extern "C" __global__ void normalize(
    const uint4* x, uint4* y, const float* weight, const float* bias, const float* mean,
    const float* inverse, int rows, int channels)
{
    int vectors = channels / WIDE, vector = threadIdx.x % vectors, step = blockDim.x / vectors;
    Eight scale, shift;
    for (int k = 0; k < WIDE; k++) {
        int c = vector * WIDE + k;
        scale.at[k] = weight[c] * inverse[c];
        shift.at[k] = bias[c] - mean[c] * scale.at[k];
    }
    #pragma unroll 4
    for (int row = blockIdx.x * step + threadIdx.x / vectors; row < rows; row += gridDim.x * step) {
        Eight value = read(x, (long long)row * vectors + vector);
        for (int k = 0; k < WIDE; k++) {
            float z = value.at[k] * scale.at[k] + shift.at[k];
            value.at[k] = RELU && is_zeroed(z) ? 0.0f : z;
        }
        write(y, (long long)row * vectors + vector, value);
    }
}

extern "C" __global__ void backward_sums(
    const uint4* dy, const uint4* x, float* partial, int* counter, const float* weight,
    const float* bias, const float* mean, const float* inverse, float* weight_grad,
    float* bias_grad, int rows, int channels)
{
    __shared__ __align__(16) float sums[SUMS];
    int vectors = channels / WIDE, vector = threadIdx.x % vectors, step = blockDim.x / vectors;
    Eight scale, shift, middle, first = {}, second = {};
    for (int k = 0; k < WIDE; k++) {
        int c = vector * WIDE + k;
        middle.at[k] = mean[c];
        scale.at[k] = weight[c] * inverse[c];
        shift.at[k] = bias[c] - mean[c] * scale.at[k];
    }
    #pragma unroll 4
    for (int row = blockIdx.x * step + threadIdx.x / vectors; row < rows; row += gridDim.x * step) {
        Eight value = read(x, (long long)row * vectors + vector);
        Eight grad = read(dy, (long long)row * vectors + vector);
        for (int k = 0; k < WIDE; k++) {
            bool zeroed = RELU && is_zeroed(value.at[k] * scale.at[k] + shift.at[k]);
            float g = zeroed ? 0.0f : grad.at[k];
            first.at[k] += g;
            second.at[k] += g * (value.at[k] - middle.at[k]);
        }
    }
    if (!totals(first, second, sums, partial, counter, vectors)) return;
    for (int c = threadIdx.x; c < channels; c += blockDim.x) {
        bias_grad[c] = sums[PLACE(c)];
        weight_grad[c] = sums[PLACE(c) + SECOND] * inverse[c];
    }
}

extern "C" __global__ void backward(
    const uint4* dy, const uint4* x, uint4* dx, const float* weight, const float* bias,
    const float* mean, const float* inverse, const float* weight_grad, const float* bias_grad,
    int rows, int channels)
{
    int vectors = channels / WIDE, vector = threadIdx.x % vectors, step = blockDim.x / vectors;
    // dx = scale * g - slope * x - level
    Eight scale, shift, slope, level;
    for (int k = 0; k < WIDE; k++) {
        int c = vector * WIDE + k;
        scale.at[k] = weight[c] * inverse[c];
        shift.at[k] = bias[c] - mean[c] * scale.at[k];
        slope.at[k] = scale.at[k] * inverse[c] * weight_grad[c] / rows;
        level.at[k] = scale.at[k] * bias_grad[c] / rows - slope.at[k] * mean[c];
    }
    #pragma unroll 4
    for (int row = blockIdx.x * step + threadIdx.x / vectors; row < rows; row += gridDim.x * step) {
        long long place = (long long)row * vectors + vector;
        Eight value = read(x, place), grad = read(dy, place);
        for (int k = 0; k < WIDE; k++) {
            bool zeroed = RELU && is_zeroed(value.at[k] * scale.at[k] + shift.at[k]);
            float g = zeroed ? 0.0f : grad.at[k];
            value.at[k] = scale.at[k] * g - slope.at[k] * value.at[k] - level.at[k];
        }
        write(dx, place, value);
    }
}
"""


@dataclass(frozen=True)
class BatchNorm:
    """A layer of batch norm, followed by a ReLU or not.

    Parameters
    ----------
    weight, bias, weight_grad, bias_grad
        Parameters (channels,), and where their gradients are written.
    mean, variance, n_batches
        Running statistics, which a step moves by ``momentum``, and the number of batches so far.
    counter
        Zero, and zero again afterwards: what blocks of a kernel count themselves by.
    eps
        Added to the variance.
    relu
        Whether a ReLU follows.
    """

    weight: Tensor
    bias: Tensor
    weight_grad: Tensor
    bias_grad: Tensor
    mean: Tensor
    variance: Tensor
    n_batches: Tensor
    counter: Tensor
    momentum: float
    eps: float
    relu: bool


def batch_norm(x: Tensor, norm: BatchNorm) -> tuple[Tensor, NormBackward]:
    """Normalise images (rows, channels, height, width) by their own statistics.

    Examples
    --------
    >>> one, zero, mean = torch.ones(1), torch.zeros(1), torch.zeros(1)
    >>> grads, counters = [torch.empty(1)] * 2, [torch.zeros(1).int()] * 2
    >>> norm = BatchNorm(one, zero, *grads, mean, torch.ones(1), *counters, 0.1, 0.0, True)
    >>> y, backward = batch_norm(torch.tensor([-1.0, 3.0]).view(2, 1, 1, 1), norm)
    >>> y.flatten().tolist(), norm.mean.tolist()
    ([0.0, 1.0], [0.10000000149011612])
    """
    if x.numel() == x.shape[1]:
        raise ValueError(
            "batch norm needs more than one value per channel in training, that is larger batches "
            f"or images; it got a batch of shape {tuple(x.shape)}."
        )
    kernels = _kernels(x, norm.relu)
    return _by_torch(x, norm) if kernels is None else _by_kernels(x, norm, kernels)


def _by_torch(x: Tensor, norm: BatchNorm) -> tuple[Tensor, NormBackward]:
    norm.n_batches.add_(1)
    running = norm.mean, norm.variance
    y, mean, inverse = torch.native_batch_norm(
        x, norm.weight, norm.bias, *running, True, norm.momentum, norm.eps
    )
    if norm.relu:
        y.relu_()

    def input_grad(dy: Tensor) -> Tensor:
        if norm.relu:
            dy = torch.ops.aten.threshold_backward(dy, y, 0)
        dx, weight_grad, bias_grad = torch.ops.aten.native_batch_norm_backward(
            dy, x, norm.weight, *running, mean, inverse, True, norm.eps, [True, True, True]
        )
        norm.weight_grad.copy_(weight_grad)
        norm.bias_grad.copy_(bias_grad)
        return dx  # type: ignore[no-any-return]

    return y, input_grad


def _kernels(x: Tensor, relu: bool) -> list[Callable[..., None]] | None:
    channels = x.shape[1]
    if not x.is_cuda or x.dtype != torch.bfloat16 or channels % WIDE or channels > MOST_CHANNELS:
        return None
    source = f"#define RELU {relu:d}\n{SOURCE}"
    kernels = [compiled(source, name, x.device) for name in NAMES]
    return None if None in kernels else kernels  # type: ignore[return-value]


def _by_kernels(
    x: Tensor, norm: BatchNorm, kernels: list[Callable[..., None]]
) -> tuple[Tensor, NormBackward]:
    statistics, normalize, backward_sums, backward = kernels
    x = x.contiguous(memory_format=torch.channels_last)
    channels = x.shape[1]
    rows = x.numel() // channels
    block = THREADS // (channels // WIDE) * (channels // WIDE)
    blocks = min(BLOCKS, -(-rows * channels // (4 * WIDE * block)))
    shape = {"grid": (blocks, 1, 1), "block": (block, 1, 1)}

    def scratch() -> list[Tensor]:
        return [norm.weight.new_empty(blocks, 2, channels), norm.counter]

    mean, inverse = torch.empty_like(norm.weight), torch.empty_like(norm.weight)
    running = [norm.mean, norm.variance, norm.n_batches]
    size, rates = [rows, channels], [float(norm.momentum), float(norm.eps)]
    statistics(args=[x, *scratch(), mean, inverse, *running, *size, *rates], **shape)
    y = torch.empty_like(x)
    shift = [norm.weight, norm.bias, mean, inverse]
    normalize(args=[x, y, *shift, *size], **shape)

    def input_grad(dy: Tensor) -> Tensor:
        dy = dy.contiguous(memory_format=torch.channels_last)
        grads = [norm.weight_grad, norm.bias_grad]
        backward_sums(args=[dy, x, *scratch(), *shift, *grads, *size], **shape)
        dx = torch.empty_like(x)
        backward(args=[dy, x, dx, *shift, *grads, *size], **shape)
        return dx

    return y, input_grad
