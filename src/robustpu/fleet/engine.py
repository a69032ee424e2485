"""A fleet: many networks of one architecture, trained in lock-step.

Everything that is trained carries a leading member axis. Training of a member depends on its
rows, seed and settings, and not on the other members: initial weights, shuffling and dropout come
from its seed. One model is a fleet of one.
"""

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, fields, replace
from itertools import pairwise, product
from typing import Any, TypeAlias

import torch
from torch import Tensor

from robustpu.fleet.adam import Adam
from robustpu.fleet.batches import EpochBatches, Partners, prefetched, shuffle, uniform
from robustpu.fleet.choice import network_for
from robustpu.fleet.devices import WORTH, threads_for
from robustpu.fleet.lane import Lane, Risk, Work
from robustpu.fleet.network import Network, State
from robustpu.fleet.pool import Pool, inputs, mirrored
from robustpu.modules import ModuleFactory, build

# Inputs that are scored at a time: what a cache holds, what keeps a GPU busy, and what a
# convolution expands to a gigabyte.
SCORE = {"cpu": 1 << 20, "cuda": 1 << 26, "one by one": 1 << 22}


@dataclass(frozen=True)
class Rows:
    """Rows of the pool, their labels and weights; (rows,) for one member, (members, rows) for all.

    ``is_positive`` marks labelled positives in training rows and in PU-only held-out rows, and
    true positives where the held-out rows are an oracle's.
    """

    index: Tensor
    is_positive: Tensor
    weight: Tensor

    def select(self, index: Tensor) -> "Rows":
        return Rows(self.index[index], self.is_positive[index], self.weight[index])


@dataclass(frozen=True)
class Member:
    """The training rows, held-out rows and seed of one network.

    Members of one ``group`` differ by their seeds alone, and are evaluated by the mean of their
    scores. Members of one ``origin`` have all of this in
    common but the group, so that equal settings make them equal; None if there are no others.
    """

    training: Rows
    held_out: Rows | None
    prior: float
    population_prior: float
    seed: int
    group: int
    origin: Hashable = None


# The stream of draws that decides which rows are mirrored; methods use small numbers.
MIRROR = 1 << 20

Criterion: TypeAlias = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class StackedMembers:
    """Rows, priors, seeds and groups of all members, stacked."""

    training: Rows
    held_out: Rows | None
    prior: Tensor
    population_prior: Tensor
    seed: Tensor
    group: Tensor

    def select(self, index: Tensor) -> "StackedMembers":
        chosen: dict[str, Any] = {
            field.name: value.select(index) if isinstance(value, Rows) else value[index]
            for field in fields(self)
            if (value := getattr(self, field.name)) is not None
        }
        return replace(self, **chosen)


class Fleet:
    """Networks trained together.

    Parameters
    ----------
    pool
        Inputs of all rows that any member uses, (rows, ...): a tensor on the device already, or
        mapped files that are read as training goes.
    members
        One entry a network. All have the same number of training rows, and of held-out rows.
    module
        Name or factory of the network.
    criterion
        Scores logits of the held-out rows, see ``robustpu.selection``; None if nothing is held out.
    oracle
        Whether the held-out rows have true labels: methods may use the scores, not the labels.
    mirror
        Whether half of the pictures are mirrored in each epoch, drawn anew. The mirror images are
        the second half of the pool.

    Attributes
    ----------
    alive
        Places of the members that still train among all members, (alive,).
    on_epoch
        Called after each epoch with the number of members that took part, for progress.
    origins
        Those of all members.
    """

    def __init__(
        self,
        pool: Pool,
        members: Sequence[Member],
        module: str | ModuleFactory,
        criterion: Criterion | None = None,
        oracle: bool = False,
        mirror: bool = False,
    ):
        self._mirrored = len(pool) if mirror else 0
        if mirror:
            pool = mirrored(pool)
        self.pool = pool
        self._oracle = oracle
        self.size = len(members)
        self._criterion = criterion
        shape = tuple(pool.shape[1:])
        # Members of one seed start from equal weights.
        seeds = {member.seed for member in members}
        alike = {seed: build(module, shape, seed).to(pool.dtype) for seed in seeds}
        modules = [alike[member.seed] for member in members]
        template = deepcopy(modules[0]).to(pool.device)
        self.network: Network = network_for(template, pool[:2])
        self._everyone = _stack(members, pool)
        self.alive = torch.arange(self.size, device=pool.device)
        self._stacked = self._everyone
        self.state: State = self.network.read(modules).to(pool.device)
        self._epochs = torch.zeros_like(self.alive)
        self._generators = [torch.Generator().manual_seed(member.seed) for member in members]
        self.origins = [member.origin for member in members]
        self._lanes: list[Lane] = []
        self._starts: list[int] = []
        self.on_epoch: Callable[[int], None] | None = None

    @property
    def training(self) -> Rows:
        """Training rows of the members that still train, (alive, rows)."""
        return self._stacked.training

    @property
    def seeds(self) -> Tensor:
        """Seeds of the members that still train, (alive,)."""
        return self._stacked.seed

    @property
    def held_out(self) -> Rows | None:
        """Held-out positives and unlabelled rows, (alive, rows); None if the truth is held out."""
        return None if self._oracle else self._stacked.held_out

    @property
    def prior(self) -> Tensor:
        """Priors among the unlabelled rows, of the members that still train, (alive,)."""
        return self._stacked.prior

    @property
    def population_prior(self) -> Tensor:
        """Population priors of the members that still train, (alive,)."""
        return self._stacked.population_prior

    def per_member(self, values: Sequence[float]) -> Tensor:
        """Take the entries of the members that still train, (alive,), from one number a member."""
        whole = torch.tensor(values, dtype=self.pool.dtype, device=self.pool.device)
        return whole[self.alive]

    def start(
        self,
        risk: Risk,
        lr: Sequence[float],
        weight_decay: Sequence[float],
        warmup_epochs: Sequence[float],
        batch_size: int,
        grad: Risk | None = None,
        blend: int | None = None,
        **numbers: Sequence[float],
    ) -> None:
        """Prepare to minimise a risk with a fresh optimiser.

        Parameters
        ----------
        risk
            ``(logit, batch, **numbers) -> (alive,)``. It sees tensors of some or all members.
        lr, weight_decay, warmup_epochs
            Of the optimiser, one number a member each.
        batch_size
            Rows of a step; the last step of an epoch has what is left.
        grad
            ``(logit, batch, **numbers) -> (alive, rows)``, the derivative of the risk by the
            logits; by default torch finds it.
        blend
            Where ``epoch`` mixes rows with their partners. None: in addition to the rows; the risk
            gets logits of the rows, then of the mixtures, (alive, 2 rows). 0: at the inputs. 1 or
            more: after that many ReLUs, if the module is a chain of layers; else at the inputs.
        numbers
            Further arguments of the risk, one number a member each.
        """
        self._starts = _starts(self.training.index.shape[1], batch_size)
        rates = torch.stack(
            [
                self.per_member(lr),
                self.per_member(weight_decay),
                self.per_member(warmup_epochs) * len(self._starts),
            ],
            dim=1,
        )
        constants = {name: self.per_member(values) for name, values in numbers.items()}
        if self._lanes and self._lanes[0].work.risk is risk:
            # The same members with the same risk: a recorded step still holds.
            for part, lane in zip(self._parts(), self._lanes, strict=True):
                lane.restart(rates[part], _each(constants, part))
            return
        self._lanes = [
            self._lane(
                part,
                Adam(self.state.flat[part], rates[part]),
                risk,
                grad,
                blend,
                _each(constants, part),
            )
            for part in self._parts()
        ]

    def epoch(
        self,
        weight: Tensor | None = None,
        columns: Mapping[str, Tensor] | None = None,
        partners: Partners | None = None,
    ) -> None:
        """Train for one epoch, each member in an order of its own.

        Parameters
        ----------
        weight
            Weight of each training row, (alive, rows), instead of the sample weights.
        columns
            What the risk finds in ``batch.columns``, name -> (alive, rows).
        partners
            A partner for each training row to be mixed with.
        """
        if not self._lanes:
            raise RuntimeError("call start before epoch.")
        batches = self._epoch_batches(weight, columns or {}, partners)
        self._epochs[self.alive] += 1
        steps = [slice(*ends) for ends in pairwise([*self._starts, batches.index.shape[1]])]
        lanes = list(zip(self._parts(), self._lanes, strict=True))
        with (
            torch.no_grad(),
            threads_for(self._products()),
            closing(prefetched(self.pool, batches, steps)) as pieces,
        ):
            for x, piece, parts in pieces:
                with self._open_lanes():
                    for rows, (part, lane) in product(parts, lanes):
                        lane.step(x, piece.part(part, rows))
        if self.on_epoch is not None:
            self.on_epoch(len(self.alive))

    def _epoch_batches(
        self, weight: Tensor | None, columns: Mapping[str, Tensor], partners: Partners | None
    ) -> EpochBatches:
        """The training rows in the order of this epoch."""
        training = self.training
        index = training.index
        order = shuffle(self._stacked.seed, self._epochs[self.alive], index.shape[1])
        if self._mirrored:
            index = index + self._mirrored * (self.draw(MIRROR) < 0.5)
        return EpochBatches(
            index.gather(1, order),
            training.is_positive.gather(1, order),
            (training.weight if weight is None else weight).gather(1, order),
            {name: value.gather(1, order) for name, value in columns.items()},
            partners and Partners(partners.index.gather(1, order), partners.share.gather(1, order)),
        )

    @contextmanager
    def _open_lanes(self) -> Iterator[None]:
        """Let all lanes wait for what came before, and what comes after for all lanes."""
        for lane in self._lanes:
            lane.begin()
        try:
            yield
        finally:
            for lane in self._lanes:
                lane.end()

    def _products(self) -> int:
        """Multiplications in a step; many if not stacked, as weights are used more than once."""
        if not self.network.is_stacked:
            return WORTH
        rows = self._starts[1] if len(self._starts) > 1 else self.training.index.shape[1]
        return self.state.flat.numel() * rows

    def draw(self, stream: int) -> Tensor:
        """Uniform numbers, one a training row, (alive, rows), fresh in each epoch.

        Parameters
        ----------
        stream
            Which of several independent draws; 1 or more.
        """
        rows = self.training.index.shape[1]
        return uniform(self._stacked.seed, self._epochs[self.alive], rows, stream).to(
            self.pool.dtype
        )

    @torch.no_grad()
    def logits(self, index: Tensor | None = None) -> Tensor:
        """Logits (alive, rows) of rows of the pool, by default of the training rows."""
        index = self.training.index if index is None else index
        # Allocated at once: many small tensors would fragment the memory.
        logit, start = self.pool.new_empty(index.shape), 0
        for x in self._inputs(index):
            stop = start + x.shape[1]
            logit[:, start:stop] = self.network.logits(self.state, x)
            start = stop
        return logit

    @torch.no_grad()
    def hidden(self) -> Tensor:
        """Inputs of the last linear layer for the training rows, (alive, rows, units)."""
        parts = self._inputs(self.training.index)
        return torch.cat([self.network.hidden(self.state, x) for x in parts], dim=1)

    def _inputs(self, index: Tensor) -> Iterator[Tensor]:
        """Gather (members, rows, ...), some rows at a time."""
        wide = max(1, self._most_numbers() // math.prod(self.pool.shape[1:]))
        return inputs(self.pool, torch.split(index, wide, dim=1))

    def _most_numbers(self) -> int:
        """Inputs of one member to score at a time."""
        if not self.network.is_stacked:
            return SCORE["one by one"]
        kind = "cuda" if self.pool.device.type == "cuda" else "cpu"
        return SCORE[kind] // max(1, len(self.alive))

    def score(self) -> Tensor | None:
        """Criterion (alive,) on the held-out rows, or None if nothing is held out.

        A network that has diverged scores minus infinity.
        """
        held_out = self._stacked.held_out
        if held_out is None or self._criterion is None:
            return None
        logit = self.logits(held_out.index)
        score = self._criterion(
            logit,
            held_out.is_positive,
            held_out.weight,
            self._stacked.prior,
            self._stacked.population_prior,
        )
        return torch.where(logit.isfinite().all(1), score, -torch.inf)

    def pooled(self, score: Tensor) -> Tensor:
        """Mean finite score of each member's group, (alive,)."""
        _, group = torch.unique(self._stacked.group, return_inverse=True)
        finite = score.isfinite()
        known = torch.where(finite, score, 0.0)
        total = torch.zeros_like(score).index_add_(0, group, known)
        count = torch.zeros_like(score).index_add_(0, group, finite.to(score.dtype))
        mean: Tensor = total / count
        return mean[group]

    def keep(self, mask: Tensor) -> None:
        """Go on with some of the members that still train; the others leave the fleet."""
        if bool(mask.all()):
            return
        index = mask.nonzero()[:, 0]
        parts = self._parts()
        self.alive = self.alive[index]
        self._stacked = self._stacked.select(index)
        self.state = self.state.select(index)
        lanes, self._lanes = self._lanes, []
        start = 0
        for part, lane in zip(parts, lanes, strict=False):
            kept = mask[part].nonzero()[:, 0]
            if not len(kept):
                continue
            stay = slice(start, start := start + len(kept))
            work = lane.work
            work.adam.select(kept, self.state.flat[stay])
            how = work.risk, work.grad, work.blend
            self._lanes.append(self._lane(stay, work.adam, *how, _each(work.numbers, kept)))

    def reunite(self, state: State) -> None:
        """Bring all members back, with these parameters; call ``start`` before training again."""
        self.alive = torch.arange(self.size, device=self.pool.device)
        self._stacked = self._everyone
        self.state = state
        self._lanes = []

    def some(self, places: Sequence[int]) -> "Fleet":
        """A fleet of some of the members in their present state, on the same pool and network."""
        fleet = copy(self)
        index = torch.tensor(places, device=self.pool.device)
        fleet.size = len(places)
        fleet._stacked = fleet._everyone = self._everyone.select(index)
        fleet.alive = torch.arange(fleet.size, device=self.pool.device)
        fleet.state = self.state.select(index)
        fleet._epochs = self._epochs[index]
        fleet._generators = [self._generators[place] for place in places]
        fleet.origins = [self.origins[place] for place in places]
        fleet._lanes = []
        if self.on_epoch is not None:
            # Each stands for several.
            report, scale = self.on_epoch, self.size / fleet.size
            fleet.on_epoch = lambda members: report(round(members * scale))
        return fleet

    def twin(self, module: str | ModuleFactory, salt: int = 0) -> "Fleet":
        """A fleet of other networks for the same members, on the same rows.

        Parameters
        ----------
        module
            Name or factory of the networks.
        salt
            Added to the seeds of their initial weights.
        """
        fleet = copy(self)
        shape = tuple(self.pool.shape[1:])
        seeds = self._everyone.seed.tolist()
        modules = [build(module, shape, seed + salt).to(self.pool.dtype) for seed in seeds]
        fleet.network = network_for(deepcopy(modules[0]).to(self.pool.device), self.pool[:2])
        fleet._epochs = torch.zeros_like(self._epochs)
        fleet.on_epoch = None
        fleet.reunite(fleet.network.read(modules).to(self.pool.device))
        return fleet

    def become(self, fleet: "Fleet", places: Sequence[int]) -> None:
        """Copy the state of the member of ``fleet`` at its place to each member."""
        index = torch.tensor(places, device=self.pool.device)
        self.state = fleet.state.select(index)
        self._epochs = fleet._epochs[index]
        states = [generator.get_state() for generator in fleet._generators]
        for generator, place in zip(self._generators, places, strict=True):
            generator.set_state(states[place])
        self._lanes = []

    def _parts(self) -> list[slice]:
        """The members of each lane, among those that still train."""
        alive = len(self.alive)
        if self.network.is_stacked:
            return [slice(0, alive)]
        return [slice(place, place + 1) for place in range(alive)]

    def _lane(
        self,
        part: slice,
        adam: Adam,
        risk: Risk,
        grad: Risk | None,
        blend: int | None,
        numbers: dict[str, Tensor],
    ) -> Lane:
        work = Work(
            self.network,
            self.state.part(part),
            adam,
            self._stacked.prior[part],
            self._stacked.population_prior[part],
            [self._generators[place] for place in self.alive[part].tolist()],
            risk,
            grad,
            numbers,
            blend,
        )
        return Lane(work, self.pool)


def _each(numbers: dict[str, Tensor], which: slice | Tensor) -> dict[str, Tensor]:
    return {name: values[which] for name, values in numbers.items()}


def _starts(rows: int, batch_size: int) -> list[int]:
    """Where the batches of an epoch begin."""
    starts = list(range(0, rows, batch_size))
    # A row left over joins the batch before: batch norm cannot train on one row.
    if rows % batch_size == 1 and len(starts) > 1 and batch_size > 1:
        starts.pop()
    return starts


def _stack(members: Sequence[Member], pool: Pool) -> StackedMembers:
    def stack(rows: Sequence[Rows]) -> Rows:
        return Rows(
            torch.stack([member.index for member in rows]).to(pool.device),
            torch.stack([member.is_positive for member in rows]).to(pool.device),
            torch.stack([member.weight for member in rows]).to(pool.device, pool.dtype),
        )

    held_out = [member.held_out for member in members if member.held_out is not None]
    return StackedMembers(
        stack([member.training for member in members]),
        stack(held_out) if held_out else None,
        torch.tensor([m.prior for m in members], dtype=pool.dtype, device=pool.device),
        torch.tensor([m.population_prior for m in members], dtype=pool.dtype, device=pool.device),
        torch.tensor([m.seed for m in members], device=pool.device),
        torch.tensor([m.group for m in members], device=pool.device),
    )
