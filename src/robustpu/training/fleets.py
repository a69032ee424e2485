"""Networks that can share a fleet, of one estimator or of several: split over devices, trained.

What training asks of an estimator is little, and public: parameters declared with ``fleet=True``
have to be equal in a fleet, ``planned_epochs`` is for progress, ``decision`` turns logits into
predictions when epochs are compared, and ``train(fleet, settings)`` trains the members, where
``settings[i]`` is the estimator that member i belongs to.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor

from robustpu.fleet import Criterion, Fleet, Pool, Rows, network_for
from robustpu.fleet.devices import Tick, gpus, on, side_by_side
from robustpu.fleet.pool import joined
from robustpu.modules import build
from robustpu.selection import of_logits, oracle_accuracy, proxy_accuracy
from robustpu.training.members import Trained, held_out_sizes, member_of, rows_held_out
from robustpu.validation.names import identity
from robustpu.validation.parameters import fleet_parameters


class Seat(NamedTuple):
    """One network of a problem; networks of one ``group`` choose their epoch together."""

    problem: Any
    place: int
    group: int

    @property
    def settings(self) -> Any:
        return self.problem.estimator


# A device, with a number where it is named more than once.
Place: TypeAlias = tuple[torch.device, int]


def train_networks(problems: Sequence[Any], tick: Tick) -> None:
    """Train the networks of all problems, and leave each in ``problem.trained``.

    Parameters
    ----------
    problems
        See :class:`robustpu.training.fit.Problem`.
    tick
        Called with the number of networks that have finished an epoch.
    """
    fleets: dict[Any, list[Seat]] = {}
    for group, problem in enumerate(problems):
        problem.trained = [None] * len(problem.plan.seeds)
        seats = [Seat(problem, place, group) for place in range(len(problem.plan.seeds))]
        fleets.setdefault(_key(problem), []).extend(seats)
    for seats in fleets.values():
        # Neighbours with equal rates share a step of the optimiser.
        seats.sort(key=lambda seat: rates(seat.settings))
    shares = _shares(list(fleets.values()))
    if len(shares) <= 1:
        for place, parts in shares.items():
            for part in parts:
                _train_or_split(part, place[0], tick)
        return
    for seats in fleets.values():
        _try_network(seats[0])

    def work(place: Place) -> Callable[[Tick], None]:
        def train(tick: Tick) -> None:
            with on(place[0]):
                for part in shares[place]:
                    _train_or_split(part, place[0], tick)

        return train

    side_by_side([work(place) for place in shares], tick)


def _key(problem: Any) -> Any:
    """What networks of one fleet have in common."""
    estimator, data, inputs = problem.estimator, problem.data, problem.inputs
    n_positive = int(data.is_positive.sum())
    return (
        shared_settings(estimator),
        tuple(inputs.x.shape),
        tuple(_devices(problem)),
        held_out_sizes(n_positive, len(data), estimator.validation_fraction),
        None if data.truth is None else len(data.truth),
        estimator.decision(),
    )


def shared_settings(estimator: Any) -> Any:
    """Class and parameters in which networks of one fleet agree, those of a pre-training included.

    Examples
    --------
    >>> from robustpu import NNPUClassifier
    >>> shared_settings(NNPUClassifier(lr=0.1)) == shared_settings(NNPUClassifier(lr=0.2))
    True
    """
    kind: Any = type(estimator)
    values = [getattr(estimator, name) for name in fleet_parameters(kind)]
    return (kind, *(_comparable(value) for value in values))


def _comparable(value: Any) -> Any:
    return shared_settings(value) if hasattr(value, "get_params") else identity(value)


def rates(estimator: Any) -> tuple[float, ...]:
    """Give the numbers of the optimiser, those of a pre-training included."""
    first = getattr(estimator, "pretraining", None)
    numbers = (estimator.lr, estimator.weight_decay, estimator.warmup_epochs)
    return numbers if first is None else (*numbers, *rates(first))


def _devices(problem: Any) -> list[torch.device]:
    return gpus(problem.estimator.device) or [problem.inputs.x.device]


def _shares(fleets: Sequence[list[Seat]]) -> dict[Place, list[list[Seat]]]:
    """Split the networks over devices, those of one group on the same."""
    shares: dict[Place, list[list[Seat]]] = {}
    load: Counter[Place] = Counter()
    for seats in fleets:
        devices = _devices(seats[0].problem)
        places = [(device, devices[:k].count(device)) for k, device in enumerate(devices)]
        costs: Counter[int] = Counter()
        for seat in seats:
            costs[seat.group] += seat.settings.planned_epochs * len(seat.problem.data)
        home: dict[int, Place] = {}
        for group, cost in costs.items():
            home[group] = min(places, key=lambda place: load[place])
            load[home[group]] += cost
        for place in dict.fromkeys(home.values()):
            part = [seat for seat in seats if home[seat.group] == place]
            shares.setdefault(place, []).append(part)
    return shares


def _try_network(seat: Seat) -> None:
    """Make a network once before there are threads, so that what it can do is known to all."""
    x = seat.problem.inputs.x
    seed = seat.problem.plan.seeds[seat.place]
    module = build(seat.settings.module, tuple(x.shape[1:]), seed)
    network_for(module.to(x.device, x.dtype), x[:2])


def _train_or_split(seats: list[Seat], device: torch.device, tick: Tick) -> None:
    """Train networks that can share a fleet, in two fleets if one is too large for the GPU."""
    done = 0

    def counted(members: int) -> None:
        nonlocal done
        done += members
        tick(members)

    try:
        _train_fleet(seats, device, counted)
        # Networks that have stopped early have done what was planned for them.
        planned = sum(seat.settings.planned_epochs for seat in seats)
        if planned > done:
            tick(planned - done)
        return
    except torch.cuda.OutOfMemoryError:
        if len(seats) == 1:
            raise
    # Out here the exception, and with it the fleet, is gone.
    if torch.cuda.is_available():
        torch.cuda.synchronize(device if device.type == "cuda" else None)
        torch.cuda.empty_cache()
    tick(-done)
    for half in _halves(seats):
        _train_or_split(half, device, tick)


def _halves(seats: list[Seat]) -> list[list[Seat]]:
    """Cut in two, inside a group only if there is no other way."""
    groups = list(dict.fromkeys(seat.group for seat in seats))
    if len(groups) == 1:
        return [seats[: len(seats) // 2], seats[len(seats) // 2 :]]
    first = set(groups[: len(groups) // 2])
    inside = [seat for seat in seats if seat.group in first]
    return [inside, [seat for seat in seats if seat.group not in first]]


def _train_fleet(seats: list[Seat], device: torch.device, tick: Tick) -> None:
    """Train networks in one fleet, and leave the results with their problems."""
    pool, start = _pool([seat.problem for seat in seats], device)

    def start_of(rows: Pool | None) -> int:
        return start.get(id(rows), 0)

    members = [
        member_of(
            seat.problem,
            seat.place,
            seat.group,
            start_of(seat.problem.inputs.x),
            start_of(seat.problem.inputs.x_eval),
        )
        for seat in seats
    ]
    held_out = [member.held_out for member in members]
    settings = [seat.settings for seat in seats]
    criterion = _criterion(seats[0].problem, held_out[0])
    is_oracle = seats[0].problem.data.truth is not None
    fleet = Fleet(pool, members, settings[0].module, criterion, is_oracle, settings[0].mirror)
    # The fleet has a copy of all that belongs to the rows.
    del members
    fleet.on_epoch = tick
    course = settings[0].train(fleet, settings)
    network, states = fleet.network.release(fleet.state)
    outcomes = zip(seats, held_out, course.histories(), course.rows(), strict=True)
    for place, (seat, unseen, history, rows) in enumerate(outcomes):
        x = seat.problem.inputs.x
        state = states.select(torch.tensor([place]))
        index = fleet.training.index[place].cpu() - start_of(x)
        seat.problem.trained[seat.place] = Trained(
            network,
            state,
            None if unseen is None else float(course.best.score[place]),
            int(course.best.iteration[place]),
            history,
            {name: _spread(value, index, len(x)) for name, value in rows.items()},
            rows_held_out(seat.problem.data, unseen, start_of(x)),
        )


def _pool(problems: Sequence[Any], device: torch.device) -> tuple[Pool, dict[int, int]]:
    """Each distinct X once, then evaluation rows; and where each begins, by its id."""
    blocks: list[Pool] = []
    start: dict[int, int] = {}
    height = 0
    distinct = list({id(problem): problem.inputs for problem in problems}.values())
    for x in [inputs.x for inputs in distinct] + [inputs.x_eval for inputs in distinct]:
        if x is not None and id(x) not in start:
            start[id(x)] = height
            blocks.append(x.to(device))
            height += len(x)
    return joined(blocks), start


def _spread(values: Tensor, index: Tensor, n_rows: int) -> Tensor:
    """Spread values (..., training rows) over all rows, NaN where held out."""
    spread = torch.full((*values.shape[:-1], n_rows), torch.nan)
    spread[..., index] = values
    return spread


def _criterion(problem: Any, held_out: Rows | None) -> Criterion | None:
    if held_out is None:
        return None
    criterion = proxy_accuracy if problem.data.truth is None else oracle_accuracy
    return of_logits(criterion, problem.estimator.decision())
