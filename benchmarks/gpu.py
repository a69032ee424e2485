"""The fleet on a GPU against a plain torch loop on the same GPU, in one run.

    python benchmarks/gpu.py                # about five minutes on an H200
    python benchmarks/gpu.py --quick        # the steps alone

The plain loop is what most code does: a DataLoader, an eager module, ``torch.optim.Adam`` and the
loss read back at every step. Inputs are random numbers of the shape of the data sets, because the
time does not depend on them. A whole run is 100 epochs of pre-training and 12 rounds of 20 epochs.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from itertools import product

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from robustpu import CollapseWarning, RobustPUClassifier, fit_together
from robustpu.fleet import Fleet, Member, Rows, cross_entropy, cross_entropy_grad
from robustpu.modules import build

BATCH, PRETRAIN, ROUNDS, EPOCHS = 64, 100, 12, 20
RUN = PRETRAIN + ROUNDS * EPOCHS


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Least time of a few calls, the GPU's work included."""
    best = float("inf")
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        best = min(best, time.perf_counter() - start)
    return best


def plain_step(module: str, shape: tuple[int, ...], rows: int) -> float:
    """Microseconds of one step of the plain loop."""
    table = TensorDataset(
        torch.randn(rows, *shape), (torch.rand(rows) < 1 / 3).float(), torch.rand(rows)
    )
    loader = DataLoader(table, batch_size=BATCH, shuffle=True)
    network: nn.Module = build(module, shape, seed=0).cuda().train()
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def epoch() -> None:
        total = 0.0
        for x, y, weight in loader:
            x, y, weight = x.cuda(), y.cuda(), weight.cuda()
            optimizer.zero_grad()
            logit = network(x).squeeze(-1)
            loss = functional.binary_cross_entropy_with_logits(logit, y, weight)
            loss.backward()
            optimizer.step()
            total += loss.item()

    epoch()
    return seconds(epoch, repeats=3) / len(loader) * 1e6


def fleet_step(module: str, shape: tuple[int, ...], rows: int, members: int) -> float:
    """Microseconds of one step of a fleet, divided by its members."""
    training = Rows(torch.arange(rows), torch.rand(rows) < 1 / 3, torch.rand(rows))
    crew = [Member(training, None, 0.4, 0.4, seed, group=seed) for seed in range(members)]
    fleet = Fleet(torch.randn(rows, *shape, device="cuda"), crew, module)
    rates = [10.0 ** -(2 + seed % 3) for seed in range(members)]
    decay, warmup = [1e-4] * members, [0] * members
    fleet.start(cross_entropy, rates, decay, warmup, BATCH, grad=cross_entropy_grad)
    fleet.epoch()
    return seconds(fleet.epoch, repeats=3) / (-(-rows // BATCH) * members) * 1e6


def steps() -> dict[str, float]:
    """Print the time of a step, and return that of the plain loop."""
    print("Microseconds per step and model (times the plain loop), batch 64\n")
    print(f"{'':24}{'plain':>8}" + "".join(f"{f'fleet of {m}':>18}" for m in (1, 10, 100, 300)))
    plain = {}
    for name, shape in {"112": (112,), "784": (784,)}.items():
        plain[name] = plain_step("mlp", shape, 6000)
        row = f"{f'mlp, {name} inputs':24}{plain[name]:8.0f}"
        for members in (1, 10, 100, 300):
            seconds = fleet_step("mlp", shape, 6000, members)
            row += f"{seconds:10.1f} {plain[name] / seconds:6.0f}x"
        print(row, flush=True)
    print(f"{'':32}" + "".join(f"{f'fleet of {m}':>18}" for m in (1, 8)))
    plain["conv"] = plain_step("all_conv", (3, 32, 32), 3000)
    row = f"{'all_conv, 3 x 32 x 32':24}{plain['conv']:8.0f}"
    for members in (1, 8):
        seconds = fleet_step("all_conv", (3, 32, 32), 3000, members)
        row += f"{seconds:10.0f} {plain['conv'] / seconds:6.1f}x"
    print(row + "\n", flush=True)
    return plain


def whole_runs(
    settings: int,
    trials: int,
    shape: tuple[int, ...],
    sizes: tuple[int, int],
    module: str = "mlp",
    pretrain: int = PRETRAIN,
    rounds: int = ROUNDS,
) -> float:
    """Seconds of whole runs of Robust-PU, each setting on each trial."""
    rng = np.random.default_rng(0)
    rows, validation = sizes
    data = [
        (
            rng.normal(size=(rows, *shape)).astype(np.float32),
            (np.arange(rows) % 3 == 0).astype(int),
            (
                rng.normal(size=(validation, *shape)).astype(np.float32),
                np.arange(validation) % 2,
            ),
        )
        for _ in range(trials)
    ]
    jobs = []
    for trial, setting in product(range(trials), range(settings)):
        model = RobustPUClassifier().spelled_out()
        model.set_params(
            prior=0.4,
            module=module,
            lr=(1e-2, 1e-3, 1e-4)[setting % 3],
            weight_decay=(0.0, 1e-4, 1e-2)[setting // 3 % 3],
            curriculum__temperature_positive=0.5 + setting / settings,
            epochs=EPOCHS,
            curriculum__max_rounds=rounds,
            patience=None,
            pretrain__epochs=pretrain,
            random_state=trial,
        )
        jobs.append((model, *data[trial]))
    return seconds(lambda: fit_together(jobs))


def report(what: str, runs: int, rows: int, took: float, plain: float, target: str) -> None:
    alone = RUN * -(-rows // BATCH) * plain / 1e6
    print(
        f"{what:42}{took:8.1f} s {took / runs:9.3f} s a run {alone * runs / took:7.0f}x the plain "
        f"loop   target: {target}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--quick", action="store_true", help="the steps alone")
    options = parser.parse_args()
    warnings.simplefilter("ignore", CollapseWarning)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}\n")
    plain = steps()
    if options.quick:
        return
    print(f"Whole runs: {PRETRAIN} epochs of pre-training, {ROUNDS} rounds of {EPOCHS}\n")
    took = whole_runs(60, 10, (112,), (1200, 100))
    report("600 UCI runs (60 settings x 10 trials)", 600, 1200, took, plain["112"], "6 s")
    took = whole_runs(40, 10, (784,), (6000, 500))
    report("400 MNIST runs (40 x 10)", 400, 6000, took, plain["784"], "90 s, 300x")
    one = whole_runs(1, 1, (3, 32, 32), (6000, 500), "all_conv")
    report("1 CIFAR-10 run", 1, 6000, one, plain["conv"], "60 s")
    # A fifth of the epochs shows the same as whole runs would.
    short = {"module": "all_conv", "pretrain": 28, "rounds": 2}
    one = whole_runs(1, 1, (3, 32, 32), (6000, 500), **short)
    eight = whole_runs(1, 8, (3, 32, 32), (6000, 500), **short)
    print(
        f"8 CIFAR-10 runs at once: {8 * one / eight:.2f} times the throughput of one (a fifth of a "
        "run)   target: 1.6"
    )


if __name__ == "__main__":
    main()
