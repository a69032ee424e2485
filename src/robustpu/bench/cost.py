"""Cost of a plan: networks, epochs and rows; and seconds, measured on the device."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robustpu.base.neural import NeuralPUClassifier
from robustpu.bench.plan import Cell
from robustpu.datasets.catalogue import SOURCES
from robustpu.methods.auto import PUClassifier
from robustpu.methods.pn import PNClassifier
from robustpu.methods.voting import PUVotingClassifier
from robustpu.modules import build
from robustpu.training import fit_together
from robustpu.training.fleets import shared_settings

# A measurement that takes more seconds is not repeated with more rows or networks.
ENOUGH = 0.3
# Steps per epoch of a measurement, and its epochs.
STEPS, EPOCHS = 2, 4


@dataclass(frozen=True)
class Load:
    """A fleet; ``epochs`` is the sum over its networks, without early stopping.

    ``epoch_cost`` is the time of an epoch, in epochs of a plain network.
    """

    networks: int
    epochs: int
    rows: int
    batch_size: int
    module: str
    shape: tuple[int, ...]
    epoch_cost: int = 1


def loads(cells: Iterable[Cell]) -> list[list[Load]]:
    """List the fleets of each cell.

    Parameters
    ----------
    cells
        What is to be trained.
    """
    known: dict[tuple[object, ...], list[Load]] = {}
    fleets = []
    for cell in cells:
        # Cells of an experiment that differ in the prior alone cost the same.
        trials = len(cell.numbers)
        alike = (cell.experiment, cell.dataset, cell.method, cell.selection, trials)
        if alike not in known:
            known[alike] = _loads(cell)
        fleets.append(known[alike])
    return fleets


def work(fleets: Iterable[Load]) -> float:
    """Approximate number of operations, to compare cells.

    Parameters
    ----------
    fleets
        The fleets of a cell.
    """
    return sum(
        load.epochs * load.epoch_cost * load.rows * _operations(load.module, load.shape)
        for load in fleets
    )


def seconds(fleets: Iterable[Load], device: str) -> float:
    """Estimate the training time of fleets from a few steps of similar ones.

    Parameters
    ----------
    fleets
        The fleets of a cell.
    device
        Device, as torch names it.
    """
    return sum(
        load.epochs
        * load.epoch_cost
        / load.networks
        * max(1, round(load.rows / load.batch_size))
        * _step(load.module, load.shape, load.batch_size, load.networks, device)
        for load in fleets
    )


def _loads(cell: Cell) -> list[Load]:
    n = cell.sizes.n_positive + cell.sizes.n_unlabeled
    fleets: dict[Any, list[Any]] = {}
    for candidate in cell.candidates:
        for estimator in _networks(cell, cell.build(candidate)):
            held_out = estimator.validation_fraction if cell.selection == "pu" else 0.0
            key = (shared_settings(estimator), held_out)
            members = len(cell.numbers) * estimator.n_members
            fleet = fleets.setdefault(key, [0, 0, round(n * (1 - held_out)), estimator])
            fleet[0] += members
            fleet[1] += members * estimator.planned_epochs
    shape = SOURCES[cell.dataset].shape
    return [
        Load(networks, epochs, rows, one.batch_size, one.module, shape, one.epoch_cost)
        for networks, epochs, rows, one in fleets.values()
    ]


def _networks(cell: Cell, estimator: Any) -> list[NeuralPUClassifier]:
    """Estimators that train networks: itself, or those of an ensemble. Nothing else is counted."""
    estimators = [estimator]
    if isinstance(estimator, PUClassifier):
        # Of a table it trains none.
        sizes, is_table = cell.sizes, len(SOURCES[cell.dataset].shape) == 1
        ensemble = estimator.image_ensemble(sizes.n_positive + sizes.n_unlabeled)
        estimators = [] if is_table else [entry for _, entry in ensemble.estimators or ()]
    elif isinstance(estimator, PUVotingClassifier):
        estimators = [entry for _, entry in estimator.estimators or ()]
    return [entry for entry in estimators if isinstance(entry, NeuralPUClassifier)]


@cache
def _operations(module: str, shape: tuple[int, ...]) -> int:
    """Multiplications and additions of linear and convolutional layers for one row, forward."""
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
    """Seconds of one step of a fleet, extrapolated from a smaller fleet if steps are slow."""
    rows, members = min(2, batch_size), 1
    while True:
        took = _measure(module, shape, rows, members, device)
        is_whole = (rows, members) == (batch_size, networks)
        # Only the steps count: before them the device may have to start.
        if is_whole or took * STEPS * EPOCHS > ENOUGH:
            return took * (batch_size / rows) * (networks / members)
        if rows < batch_size:
            rows = min(batch_size, 8 * rows)
        else:
            members = min(networks, 4 * members)


def _measure(module: str, shape: tuple[int, ...], rows: int, members: int, device: str) -> float:
    """Seconds of one step, without the first epoch, which includes the set-up."""
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

    def record_time(done: int, total: int) -> None:
        if device.startswith("cuda"):
            torch.cuda.synchronize(device)
        times.setdefault(done // members, time.perf_counter())

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_together([(model, X, y)], record_time)
    return (times[EPOCHS] - times[1]) / (STEPS * (EPOCHS - 1))
