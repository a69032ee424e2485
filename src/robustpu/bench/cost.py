"""What a plan costs: networks, epochs and rows; and, measured on the device, seconds."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robustpu.bench.plan import Cell
from robustpu.datasets.catalogue import SOURCES
from robustpu.methods.pn import PNClassifier
from robustpu.modules import build
from robustpu.neural import NeuralPUClassifier
from robustpu.together import _settle, fit_together

# A measurement that took so many seconds is not repeated with more rows or networks.
ENOUGH = 0.3
# Steps of an epoch of a measurement, and its epochs.
STEPS, EPOCHS = 2, 4


@dataclass(frozen=True)
class Load:
    """A fleet; ``epochs`` is the sum over its networks, if nothing stops them early."""

    networks: int
    epochs: int
    rows: int
    batch_size: int
    module: str
    shape: tuple[int, ...]


def loads(cells: Iterable[Cell]) -> list[list[Load]]:
    """List the fleets of each cell.

    Parameters
    ----------
    cells
        What is to be trained.
    """
    known: dict[tuple[object, ...], list[Load]] = {}
    answers = []
    for cell in cells:
        # Cells of an experiment that differ in the prior alone cost the same.
        trials = len(cell.numbers)
        alike = (cell.experiment, cell.dataset, cell.method, cell.selection, trials)
        if alike not in known:
            known[alike] = _loads(cell)
        answers.append(known[alike])
    return answers


def work(fleets: Iterable[Load]) -> float:
    """Number of operations, roughly; for comparing cells.

    Parameters
    ----------
    fleets
        Those of a cell.
    """
    return sum(load.epochs * load.rows * _operations(load.module, load.shape) for load in fleets)


def seconds(fleets: Iterable[Load], device: str) -> float:
    """Estimate how long fleets train, from a few steps of fleets like them.

    Parameters
    ----------
    fleets
        Those of a cell.
    device
        Where, as torch names it.
    """
    return sum(
        load.epochs
        / load.networks
        * max(1, round(load.rows / load.batch_size))
        * _step(load.module, load.shape, load.batch_size, load.networks, device)
        for load in fleets
    )


def _loads(cell: Cell) -> list[Load]:
    n = cell.sizes.n_positive + cell.sizes.n_unlabeled
    fleets: dict[Any, list[Any]] = {}
    for candidate in cell.candidates:
        estimator = cell.build(candidate)
        if not isinstance(estimator, NeuralPUClassifier):
            # No networks: nothing here tells what it costs.
            continue
        recipes = estimator._recipes(n)
        for kind, recipe in enumerate(recipes):
            own = _settle(estimator, recipe, seed=0)
            held_out = own.validation_fraction if cell.selection == "pu" else 0.0
            key = (own._fleet_key(), held_out)
            members = len(cell.numbers) * len(range(kind, estimator._size(n), len(recipes)))
            fleet = fleets.setdefault(key, [0, 0, round(n * (1 - held_out)), own])
            fleet[0] += members
            fleet[1] += members * own._planned_epochs()
    shape = SOURCES[cell.dataset].shape
    return [
        Load(networks, epochs, rows, own.batch_size, own.module, shape)
        for networks, epochs, rows, own in fleets.values()
        if networks
    ]


@cache
def _operations(module: str, shape: tuple[int, ...]) -> int:
    """Products and sums of one row's forward pass, those of linear and convolutional layers."""
    network = build(module, shape, seed=0).eval()
    counts: list[int] = []

    def count(layer: Any, inputs: Any, output: Tensor) -> None:
        # Each output of a layer costs one row of its weights.
        counts.append(2 * output.numel() * layer.weight[0].numel())

    for layer in network.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            layer.register_forward_hook(count)
    with torch.no_grad():
        network(torch.zeros(1, *shape))
    return max(1, sum(counts))


@cache
def _step(
    module: str, shape: tuple[int, ...], batch_size: int, networks: int, device: str
) -> float:
    """Seconds of one step of a fleet: begun small, and extrapolated from where it takes long."""
    rows, members = min(2, batch_size), 1
    while True:
        took = _measure(module, shape, rows, members, device)
        is_whole = (rows, members) == (batch_size, networks)
        # The steps alone: what comes before them may be the start of the device.
        if is_whole or took * STEPS * EPOCHS > ENOUGH:
            return took * (batch_size / rows) * (networks / members)
        if rows < batch_size:
            rows = min(batch_size, 8 * rows)
        else:
            members = min(networks, 4 * members)


def _measure(module: str, shape: tuple[int, ...], rows: int, members: int, device: str) -> float:
    """Seconds of one step, in all epochs but the first, in which much is done once."""
    X = np.random.default_rng(0).random((STEPS * rows, *shape), dtype=np.float32)
    y = np.arange(len(X)) % 2
    model = PNClassifier(
        prior=0.5,
        module=module,
        batch_size=rows,
        epochs=EPOCHS,
        n_members=members,
        validation_fraction=0.0,
        device=device,
        random_state=0,
    )
    times: dict[int, float] = {}

    def note(done: int, total: int) -> None:
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        times.setdefault(done // members, time.perf_counter())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_together([(model, X, y)], note)
    return (times[EPOCHS] - times[1]) / (STEPS * (EPOCHS - 1))
