"""Time the parts of training on a GPU: pools of tables, steps, and the kernels of a step."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from batches import Batch, BatchConfig
from torch.profiler import ProfilerActivity, profile
from train import TrainConfig, Trainer, prepare_torch

from robustpu.pretrained.network import NetworkConfig


def now(device: str) -> float:
    """Seconds, once the GPU has done what it was given."""
    if device == "cuda":
        torch.cuda.synchronize()
    return time.monotonic()


def time_step(trainer: Trainer, batch: Batch) -> float:
    """Seconds of one step."""
    start = now(trainer.device)
    trainer.train_step(batch)
    return now(trainer.device) - start


def time_compilation(trainer: Trainer, n_steps: int) -> None:
    """Print seconds of the first pool, and of the steps that compile."""
    start = now(trainer.device)
    pool = trainer.pool(0)
    print("first pool", round(now(trainer.device) - start, 2), flush=True)
    for batch in pool[:n_steps]:
        took = time_step(trainer, batch)
        if took > 1:
            print("compiled", tuple(batch.cells.shape), round(took, 2), flush=True)
    print("compiled all", round(now(trainer.device) - start, 1), flush=True)


def time_pools(trainer: Trainer, n_steps: int) -> None:
    """Print seconds of three more pools, and milliseconds of the second one's steps."""
    for number in (1, 2, 3):
        start = now(trainer.device)
        pool = trainer.pool(number)
        host = time.monotonic() - start
        whole = now(trainer.device) - start
        print(f"pool {number}: host {host:.3f} s, with GPU {whole:.3f} s", flush=True)
        for batch in pool[:n_steps]:
            took = time_step(trainer, batch)
            if number == 2:
                print(f"   {tuple(batch.cells.shape)} {took * 1000:.1f} ms", flush=True)


def time_steps(trainer: Trainer, n_steps: int) -> None:
    """Print seconds of steps that do not wait for each other."""
    pool = trainer.pool(4)
    start = now(trainer.device)
    for batch in pool[:n_steps]:
        trainer.train_step(batch)
    host = time.monotonic() - start
    whole = now(trainer.device) - start
    print(f"{n_steps} steps without waiting: host {host:.2f} s, with GPU {whole:.2f} s", flush=True)


def print_kernels(work: Callable[[], object], device: str, n_rows: int) -> None:
    """Print the costliest kernels of some work."""
    cuda = device == "cuda"
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
    with profile(activities=activities) as profiler:
        work()
        now(device)
    order = "self_cuda_time_total" if cuda else "self_cpu_time_total"
    averages = profiler.key_averages()
    text = averages.table(sort_by=order, row_limit=n_rows, max_name_column_width=70)
    print("\n".join(line[:72] + line[-90:] for line in text.splitlines()), flush=True)


def main() -> None:
    """Print seconds of each part and the costliest kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=400_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=64)
    options = parser.parse_args()
    prepare_torch(options.device)
    cuda = options.device == "cuda"
    with TemporaryDirectory() as folder:
        trainer = Trainer(
            TrainConfig(steps=100_000, small_share=0.0, easy_share=0.0),
            BatchConfig(cells=options.cells),
            NetworkConfig(),
            Path(folder),
            options.device,
            compiled=cuda,
            validation=(),
        )
    time_compilation(trainer, options.steps)
    time_pools(trainer, options.steps)
    time_steps(trainer, options.steps)
    pool = trainer.pool(5)[: min(options.steps, 24)]
    print_kernels(lambda: [trainer.train_step(batch) for batch in pool], options.device, 32)
    print_kernels(lambda: trainer.pool(6), options.device, 14)
    if cuda:
        print("peak GB", torch.cuda.max_memory_allocated() / 1e9)


if __name__ == "__main__":
    main()
