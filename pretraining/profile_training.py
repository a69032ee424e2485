"""Time the parts of training on a GPU: pools of tables, steps, and the kernels of a step."""

import argparse
import time
from pathlib import Path

import torch
from batches import BatchConfig
from torch.profiler import ProfilerActivity, profile
from train import TrainConfig, Trainer, losses

from robustpu.pretrained.network import NetworkConfig


def main() -> None:
    """Print seconds of each part and the costliest kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=400_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--steps", type=int, default=64)
    options = parser.parse_args()
    cuda = options.device == "cuda"
    torch.set_float32_matmul_precision("high")
    torch._dynamo.config.recompile_limit = 64
    torch.backends.cuda.enable_cudnn_sdp(False)
    trainer = Trainer(
        TrainConfig(steps=100_000, small_share=0.0, easy_share=0.0),
        BatchConfig(cells=options.cells),
        NetworkConfig(),
        Path("/tmp/profile"),
        options.device,
        cuda,
        validation=(),
    )

    def wait() -> float:
        if cuda:
            torch.cuda.synchronize()
        return time.monotonic()

    def step(batch: object) -> None:
        logits, prior = trainer.network(
            batch.cells, batch.scores, batch.roles, batch.table, batch.identities, batch.n
        )
        query, unlabeled, prior_loss = losses(logits, prior, batch)
        (query + unlabeled + prior_loss).backward()
        trainer.optimizer.step(1e-4)

    start = wait()
    pool = trainer.pool(0)
    print("first pool", round(wait() - start, 2), flush=True)
    for batch in pool[: options.steps]:
        begin = wait()
        step(batch)
        took = wait() - begin
        if took > 1:
            print("compiled", tuple(batch.cells.shape), round(took, 2), flush=True)
    print("compiled all", round(wait() - start, 1), flush=True)
    for number in (1, 2, 3):
        begin = wait()
        pool = trainer.pool(number)
        host = time.monotonic() - begin
        whole = wait() - begin
        print(f"pool {number}: host {host:.3f} s, with GPU {whole:.3f} s", flush=True)
        for batch in pool[: options.steps]:
            begin = wait()
            step(batch)
            took = wait() - begin
            if number == 2 and len(pool) > 1:
                print(f"   {tuple(batch.cells.shape)} {took * 1000:.1f} ms", flush=True)
    pool = trainer.pool(4)
    begin = wait()
    for batch in pool[: options.steps]:
        step(batch)
    host = time.monotonic() - begin
    whole = wait() - begin
    print(
        f"{options.steps} steps without waiting: host {host:.2f} s, with GPU {whole:.2f} s",
        flush=True,
    )
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if cuda else [])
    pool = trainer.pool(5)
    with profile(activities=activities) as profiler:
        for batch in pool[:24]:
            step(batch)
        wait()
    order = "self_cuda_time_total" if cuda else "self_cpu_time_total"
    text = profiler.key_averages().table(sort_by=order, row_limit=32, max_name_column_width=70)
    print("\n".join(line[:72] + line[-90:] for line in text.splitlines()), flush=True)
    with profile(activities=activities) as profiler:
        trainer.pool(6)
        wait()
    text = profiler.key_averages().table(sort_by=order, row_limit=14, max_name_column_width=70)
    print("\n".join(line[:72] + line[-90:] for line in text.splitlines()), flush=True)
    if cuda:
        print("peak GB", torch.cuda.max_memory_allocated() / 1e9)


if __name__ == "__main__":
    main()
