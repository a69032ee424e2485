"""Microseconds per step and model: a plain torch loop against fleets, in one run on one thread.

    python benchmarks/fleet.py
    python benchmarks/fleet.py --repeats 25 --write     # stores it in benchmarks/fleet.json

The plain loop is what most code does: a DataLoader, an eager module, ``torch.optim.Adam`` and the
loss read back at every step. The fleet is the library's own engine. Both train the network d-100-1
with weighted cross-entropy on batches of 64. Processor time counts, contestants take turns, and the
best of several epochs is taken, so that a busy machine disturbs little and all alike; read the
ratios.
"""

import argparse
import resource
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from measured import store
from robustpu.fleet import Fleet, Member, Rows, cross_entropy, cross_entropy_grad
from robustpu.modules import mlp

BATCH = 64
SIZES = (1, 10, 30)
# Inputs: the ratio to the plain loop that a fleet of 1 and a fleet of 10 are to reach.
TARGETS = {57: (1.8, 8.0), 112: (1.8, 8.0), 784: (1.8, 3.5)}


def plain_epoch(inputs: int, rows: int):
    """Return a function that trains one epoch of the plain loop."""
    table = TensorDataset(
        torch.randn(rows, inputs), (torch.rand(rows) < 1 / 3).float(), torch.rand(rows)
    )
    loader = DataLoader(table, batch_size=BATCH, shuffle=True)
    network: nn.Module = mlp((inputs,))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def epoch() -> None:
        total = 0.0
        for x, y, weight in loader:
            optimizer.zero_grad()
            logit = network(x).squeeze(-1)
            loss = functional.binary_cross_entropy_with_logits(logit, y, weight)
            loss.backward()
            optimizer.step()
            total += loss.item()

    return epoch


def make_fleet(inputs: int, rows: int, members: int) -> Fleet:
    training = Rows(torch.arange(rows), torch.rand(rows) < 1 / 3, torch.rand(rows))
    crew = [Member(training, None, 0.4, 0.4, seed, group=seed) for seed in range(members)]
    fleet = Fleet(torch.randn(rows, inputs), crew, "mlp")
    rates = [1e-3] * members, [0.0] * members, [0] * members
    fleet.start(cross_entropy, *rates, BATCH, grad=cross_entropy_grad)
    return fleet


def microseconds(epoch, steps: int) -> float:
    start = time.process_time()
    epoch()
    return (time.process_time() - start) / steps * 1e6


def compare(inputs: int, rows: int, repeats: int) -> dict[str, float]:
    """Least microseconds per step and model of each contestant, measured in turn."""
    steps = -(-rows // BATCH)
    contestants = {"plain": (plain_epoch(inputs, rows), steps)}
    for members in SIZES:
        fleet = make_fleet(inputs, rows, members)
        contestants[str(members)] = (fleet.epoch, steps * members)
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for repeat in range(repeats + 1):
        for name, (epoch, count) in contestants.items():
            value = microseconds(epoch, count)
            if repeat:  # The first round warms up.
                times[name].append(value)
    return {name: min(values) for name, values in times.items()}


def peak_memory(members: int, rows: int, inputs: int) -> float:
    """GB that a process needs at its peak to train a fleet, in a process of its own."""
    code = f"import fleet; fleet.train_once({members}, {rows}, {inputs})"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=sys.path[0], capture_output=True, text=True, check=True
    )
    return float(answer.stdout)


def train_once(members: int, rows: int, inputs: int) -> None:
    torch.set_num_threads(1)
    make_fleet(inputs, rows, members).epoch()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=1200, help="training rows of each model")
    parser.add_argument("--repeats", type=int, default=15, help="timed epochs of each contestant")
    parser.add_argument("--write", action="store_true", help="store it, for the README")
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    print(f"torch {torch.__version__}, 1 thread, batch {BATCH}, {options.rows} rows, d-100-1, Adam")
    print("microseconds per step and model (times the plain loop)\n")
    print(
        f"{'inputs':>6} {'plain':>8}"
        + "".join(f"{f'fleet of {m}':>18}" for m in SIZES)
        + "   targets"
    )
    for inputs, (one, ten) in TARGETS.items():
        times = compare(inputs, options.rows, options.repeats)
        found.append({"inputs": inputs, **{name: round(us, 1) for name, us in times.items()}})
        cells = "".join(
            f"{times[str(m)]:10.0f} {times['plain'] / times[str(m)]:5.1f}x " for m in SIZES
        )
        met = times["plain"] >= one * times["1"] and times["plain"] >= ten * times["10"]
        verdict = "met" if met else "missed"
        print(f"{inputs:>6} {times['plain']:8.0f} {cells}  {one}x, {ten}x: {verdict}", flush=True)
    if options.write:
        store(__file__, found, torch=torch.__version__)
    print(
        f"\npeak memory, 30 members on 6,000 x 784: {peak_memory(30, 6000, 784):.2f} GB"
        " (target: 1.5)"
    )


if __name__ == "__main__":
    main()
