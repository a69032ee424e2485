"""The fleet on a GPU against a plain torch loop on the same GPU, in one run.

    python benchmarks/gpu.py                         # about five minutes on an H200
    python benchmarks/gpu.py --only steps --write    # stores it in benchmarks/gpu.json

The plain loop is what most code does: a DataLoader, an eager module, ``torch.optim.Adam`` and the
loss read back at every step. Inputs are random numbers of the shape of the data sets, because the
time does not depend on them. A whole run is 100 epochs of pre-training and 12 rounds of 20 epochs.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from measured import store
from robustpu import CollapseWarning, RobustPUClassifier, fit_together
from robustpu.fleet import Fleet, Member, Rows, cross_entropy, cross_entropy_grad
from robustpu.modules import build

BATCH, PRETRAIN, ROUNDS, EPOCHS = 64, 100, 12, 20
Entry: TypeAlias = dict[str, Any]

# Network, shape of a row, rows, and members of the fleets.
STEPS = (
    ("mlp", (112,), 6000, (1, 10, 100, 300)),
    ("mlp", (784,), 6000, (1, 10, 100, 300)),
    ("all_conv", (3, 32, 32), 3000, (1, 8)),
)
# Settings, trials, network, shape of a row, training and validation rows.
RUNS = (
    (60, 10, "mlp", (112,), (1200, 100)),
    (40, 10, "mlp", (784,), (6000, 500)),
    (1, 1, "all_conv", (3, 32, 32), (6000, 500)),
    (1, 8, "all_conv", (3, 32, 32), (6000, 500)),
)


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


def steps() -> Iterator[Entry]:
    """Microseconds of a step and network: plain, and in fleets."""
    for module, shape, rows, sizes in STEPS:
        entry: Entry = {"module": module, "shape": shape, "plain": plain_step(module, shape, rows)}
        for members in sizes:
            entry[str(members)] = fleet_step(module, shape, rows, members)
        yield entry


def whole_runs(
    settings: int,
    trials: int,
    shape: tuple[int, ...],
    sizes: tuple[int, int],
    module: str,
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
            curriculum__max_rounds=ROUNDS,
            patience=None,
            pretrain__epochs=PRETRAIN,
            random_state=trial,
        )
        jobs.append((model, *data[trial]))
    return seconds(lambda: fit_together(jobs))


def runs() -> Iterator[Entry]:
    """Seconds of whole runs of Robust-PU, all at once."""
    for settings, trials, module, shape, sizes in RUNS:
        took = whole_runs(settings, trials, shape, sizes, module)
        yield {"module": module, "shape": shape, "runs": settings * trials, "seconds": took}


WORKS = {"steps": steps, "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(WORKS), choices=list(WORKS))
    parser.add_argument("--write", action="store_true", help="store it, for the README")
    options = parser.parse_args()
    warnings.simplefilter("ignore", CollapseWarning)
    path = Path(__file__).with_suffix(".json")
    before = json.loads(path.read_text()) if path.exists() else []
    found = [entry for entry in before if entry["what"] not in options.only]
    for what in options.only:
        for entry in WORKS[what]():
            print(what, entry, flush=True)
            found.append({"what": what, **entry})
    if options.write:
        store(__file__, found, "cuda", torch=torch.__version__)


if __name__ == "__main__":
    main()
