"""Members that can share a fleet, of one job or of several: dealt out to devices, and trained."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustpu.fleet import Criterion, Fleet, Network, Pool, Rows, State, network_for
from robustpu.fleet.devices import Tick, on, side_by_side
from robustpu.fleet.pool import joined
from robustpu.held_out import held_out_sizes, member_of, own_rows
from robustpu.modules import build
from robustpu.selection import of_logits, oracle_accuracy, proxy_accuracy

if TYPE_CHECKING:
    from robustpu.neural import NeuralPUClassifier


@dataclass
class Prepared:
    """Data that has been checked, and its inputs; ``exact`` is x as predictions need it."""

    table: NDArray[Any]
    x: Pool
    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64]
    x_eval: Pool | None
    truth: NDArray[np.bool_] | None
    exact: Pool | None = None


@dataclass
class Trained:
    """What training left of one member; ``turn`` is the epoch or round that was selected.

    ``held_out`` are the numbers of the job's own rows that it did not see.
    """

    network: Network
    state: State
    score: float | None
    turn: int
    history: list[dict[str, float]]
    rows: dict[str, Tensor]
    held_out: NDArray[np.int64]
    seed: int

    def is_sound(self) -> bool:
        """Whether training did not diverge."""
        return self.score != -math.inf and bool(self.state.flat.isfinite().all())


@dataclass
class Task:
    """A job on its way: one entry a member in each list."""

    estimator: "NeuralPUClassifier"
    data: Prepared
    split: int
    seeds: list[int]
    settings: list["NeuralPUClassifier"]
    folds: list[int]
    groups: list[int]
    devices: list[torch.device]
    prior: float = 0.0
    population_prior: float = 0.0
    trained: dict[int, Trained] = field(default_factory=dict)


# Members of one fleet; and a device, with a number where it is named more than once.
Group: TypeAlias = list[tuple[Task, int]]
Place: TypeAlias = tuple[torch.device, int]


def group_key(task: Task, settings: "NeuralPUClassifier") -> Any:
    """What members of one fleet have in common."""
    n_positive = int(task.data.is_positive.sum())
    return (
        settings._fleet_key(),
        tuple(task.data.x.shape),
        tuple(task.devices),
        held_out_sizes(n_positive, len(task.data.is_positive), settings.validation_fraction),
        None if task.data.truth is None else len(task.data.truth),
        task.estimator._settle(),
    )


def train_all(groups: Sequence[Group], tick: Tick) -> None:
    """Train groups of members that can share a fleet, on all devices that they may use."""
    shares = _shares(groups)
    if len(shares) == 1:
        for group in groups:
            _train_or_split(group, next(iter(shares))[0], tick)
        return
    for group in groups:
        _try_network(group)

    def work(place: Place) -> Callable[[Tick], None]:
        def train(count: Tick) -> None:
            with on(place[0]):
                for part in shares[place]:
                    _train_or_split(part, place[0], count)

        return train

    side_by_side([work(place) for place in shares], tick)


def _shares(groups: Sequence[Group]) -> dict[Place, list[Group]]:
    """Deal the members out to devices, those that are judged together to one."""
    shares: dict[Place, list[Group]] = {}
    load: Counter[Place] = Counter()
    for group in groups:
        devices = group[0][0].devices
        places = [(own, devices[:count].count(own)) for count, own in enumerate(devices)]
        costs: Counter[int] = Counter()
        for task, member in group:
            epochs = task.settings[member]._planned_epochs()
            costs[task.groups[member]] += epochs * len(task.data.is_positive)
        home: dict[int, Place] = {}
        for judged, cost in costs.items():
            home[judged] = min(places, key=lambda own: load[own])
            load[home[judged]] += cost
        for place in dict.fromkeys(home.values()):
            part = [pair for pair in group if home[pair[0].groups[pair[1]]] == place]
            shares.setdefault(place, []).append(part)
    return shares


def _try_network(group: Group) -> None:
    """Make a network once before there are threads, so that what it can do is known to all."""
    task, member = group[0]
    settings, x = task.settings[member], task.data.x
    module = build(settings.module, tuple(x.shape[1:]), task.seeds[member])
    network_for(module.to(x.device, x.dtype), x[:2])


def _train_or_split(group: Group, device: torch.device, tick: Tick) -> None:
    """Train members that can share a fleet, in two fleets if one is too large for the GPU."""
    done = 0

    def count(members: int) -> None:
        nonlocal done
        done += members
        tick(members)

    try:
        _train_group(group, device, count)
        # Networks that have stopped early have done what was planned for them.
        planned = sum(task.settings[place]._planned_epochs() for task, place in group)
        if planned > done:
            tick(planned - done)
        return
    except torch.cuda.OutOfMemoryError:
        if len(group) == 1:
            raise
    # Out here the exception, and with it the fleet, is gone.
    if torch.cuda.is_available():
        torch.cuda.synchronize(device if device.type == "cuda" else None)
        torch.cuda.empty_cache()
    tick(-done)
    for half in _halves(group):
        _train_or_split(half, device, tick)


def _halves(group: Group) -> list[Group]:
    """Cut in two, between members that are judged together only if there is no other way."""
    judged = list(dict.fromkeys(task.groups[member] for task, member in group))
    if len(judged) == 1:
        return [list(group[: len(group) // 2]), list(group[len(group) // 2 :])]
    first = set(judged[: len(judged) // 2])
    inside = [pair for pair in group if pair[0].groups[pair[1]] in first]
    return [inside, [pair for pair in group if pair[0].groups[pair[1]] not in first]]


def _train_group(group: Group, device: torch.device, tick: Tick) -> None:
    """Train members that can share a fleet, and leave the results with their tasks."""
    # The pool: each distinct X once, then each task's own evaluation rows.
    blocks: list[Pool] = []
    start: dict[int, int] = {}
    height = 0
    tasks = list({id(task): task for task, _ in group}.values())
    for x in [task.data.x for task in tasks] + [task.data.x_eval for task in tasks]:
        if x is not None and id(x) not in start:
            start[id(x)] = height
            blocks.append(x.to(device))
            height += len(x)
    pool = joined(blocks)
    members = [member_of(task, place, start) for task, place in group]
    held_out = [member.held_out for member in members]
    settings = [task.settings[place] for task, place in group]
    criterion = _criterion(group[0][0], held_out[0])
    oracle = group[0][0].data.truth is not None
    fleet = Fleet(pool, members, settings[0].module, criterion, oracle, settings[0].mirror)
    # The fleet has its own copy of all that belongs to the rows.
    del members
    fleet.on_epoch = tick
    course = type(settings[0])._train(fleet, settings)
    fleet.network.release()
    outcomes = zip(group, held_out, course.histories(), course.rows(), strict=True)
    for place, ((task, number), unseen, history, rows) in enumerate(outcomes):
        task.trained[number] = Trained(
            fleet.network,
            fleet.state.select(torch.tensor([place], device=pool.device)).to(task.data.x.device),
            None if unseen is None else float(course.best.score[place]),
            int(course.best.turn[place]),
            history,
            {
                name: _on_all_rows(values, fleet, place, start[id(task.data.x)], task)
                for name, values in rows.items()
            },
            own_rows(unseen, start[id(task.data.x)], task),
            task.seeds[number],
        )


def _on_all_rows(values: Tensor, fleet: Fleet, place: int, start: int, task: Task) -> Tensor:
    """Spread values (..., training rows) over all rows of the job, NaN where held out."""
    spread = torch.full((*values.shape[:-1], len(task.data.is_positive)), torch.nan)
    spread[..., fleet.training.index[place].cpu() - start] = values
    return spread


def _criterion(task: Task, held_out: Rows | None) -> Criterion | None:
    if held_out is None:
        return None
    criterion = proxy_accuracy if task.data.truth is None else oracle_accuracy
    return of_logits(criterion, task.estimator._settle())
