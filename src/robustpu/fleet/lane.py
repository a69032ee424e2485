"""Steps of training, for members that step together.

A stacked network has one lane, with all members. Other networks have a lane for each member, and on
a GPU the lanes run in parallel. On a GPU a step is recorded once as a CUDA graph and then replayed,
with one call instead of a hundred; so all that it reads or writes keeps its place in memory.
"""

import gc
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TypeAlias

import torch
from torch import Tensor

from robustpu.fleet.adam import Adam
from robustpu.fleet.batches import Batch, EpochBatches
from robustpu.fleet.network import Blend, Network, State
from robustpu.fleet.pool import Pool

Risk: TypeAlias = Callable[..., Tensor]

# Garbage is collected, or not, for all threads.
RECORDS = Lock()


@dataclass
class Work:
    """A step of training, without its rows.

    Parameters
    ----------
    network, state, adam
        The network, its parameters (a view into the state of the fleet), and the optimiser.
    prior, population_prior
        One number a member, (members,).
    generators
        A source of randomness a member.
    risk, grad, numbers
        ``risk(logit, batch, **numbers) -> (members,)``, its derivative (members, rows) if it is
        known, and their further arguments, (members,) each.
    blend
        Where rows are mixed with their partners: after that many ReLUs; if None, in addition to
        the rows.
    """

    network: Network
    state: State
    adam: Adam
    prior: Tensor
    population_prior: Tensor
    generators: Sequence[torch.Generator]
    risk: Risk
    grad: Risk | None
    numbers: dict[str, Tensor]
    blend: int | None = None

    def step(self, x: Tensor, batch: Batch, share: Tensor | None = None) -> None:
        """Take one step on rows (members, rows, ...), followed by their partners if mixed."""
        blend = None
        if share is not None:
            x, blend = self._mixed(x, share)
        self.network.gradient(
            self.state,
            x,
            lambda logit: self._grad(logit, batch),
            self.adam.gradient,
            self.generators,
            blend,
        )
        self.adam.step()

    def _mixed(self, x: Tensor, share: Tensor) -> tuple[Tensor, Blend | None]:
        """Mix rows and partners, or leave it to an inner layer of the network."""
        if self.blend and self.network.relus >= self.blend:
            return x, Blend(share, self.blend)
        first, partner = x.chunk(2, dim=1)
        mixed = torch.lerp(partner, first, share.view(*share.shape, *[1] * (x.ndim - 2)))
        return (mixed if self.blend is not None else torch.cat([first, mixed], dim=1)), None

    def _grad(self, logit: Tensor, batch: Batch) -> Tensor:
        if self.grad is not None:
            return self.grad(logit, batch, **self.numbers)
        leaf = logit.detach().requires_grad_()
        with torch.enable_grad():
            risk = self.risk(leaf, batch, **self.numbers)
            (answer,) = torch.autograd.grad(risk.sum(), leaf)
        return answer


class Lane:
    """Members that step together, on a stream of their own if there are several lanes.

    Parameters
    ----------
    work
        What a step does.
    pool
        Inputs of all rows, (rows, ...): what those of a step look like.
    """

    def __init__(self, work: Work, pool: Pool):
        self.work = work
        self._pool = pool
        self._steps: dict[tuple[int, bool], _Step] = {}
        self._stream = None
        self._tape = None
        if pool.device.type == "cuda":
            self._stream = None if work.network.is_stacked else _stream(pool.device)
            if work.network.can_be_recorded:
                # On the lane's own stream: what cuBLAS works in belongs to a stream, and lanes that
                # share one must not run at the same time.
                self._tape = Tape(self._stream or _stream(pool.device))

    def restart(self, rates: Tensor, numbers: dict[str, Tensor]) -> None:
        """Start again with other rates and numbers, in the same memory."""
        self.work.adam.restart(rates)
        for name, values in numbers.items():
            self.work.numbers[name].copy_(values)

    def begin(self) -> None:
        """Wait for earlier work on the device."""
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(self._pool.device))

    def end(self) -> None:
        """Make later work on the device wait for these steps."""
        if self._stream is not None:
            torch.cuda.current_stream(self._pool.device).wait_stream(self._stream)

    def step(self, x: Tensor, batches: EpochBatches) -> None:
        """Train on rows of ``x``, (rows, ...), which the indices of the batches count."""
        kind = batches.index.shape[1], batches.partners is not None
        if kind not in self._steps:
            # A step does not know its lane: in a circle of references, its graph would live on
            # until some garbage collection.
            self._steps[kind] = _Step(self.work, self._pool, batches, self._tape)
        with torch.cuda.stream(self._stream) if self._stream is not None else nullcontext():
            self._steps[kind].run(x, batches)


class _Step:
    """One step with a fixed number of rows, and the memory that it works in."""

    def __init__(self, work: Work, pool: Pool, batches: EpochBatches, tape: "Tape | None"):
        self._work, self._tape = work, tape
        members, rows = shape = batches.index.shape
        self._share = None if batches.partners is None else pool.new_empty(shape)
        wide = rows if self._share is None else 2 * rows
        self._x = pool.new_empty((members, wide, *pool.shape[1:]))
        self._batch = Batch(
            pool.new_empty(shape, dtype=torch.bool),
            pool.new_empty(shape),
            work.prior,
            work.population_prior,
            {name: torch.empty_like(value) for name, value in batches.columns.items()},
        )
        self._is_warm = False
        self._graph: torch.cuda.CUDAGraph | None = None

    def run(self, x: Tensor, batches: EpochBatches) -> None:
        index = batches.index
        if self._share is not None:
            assert batches.partners is not None
            index = torch.cat([index, batches.partners.index], dim=1)
            self._share.copy_(batches.partners.share)
        torch.index_select(x, 0, index.reshape(-1), out=self._x.view(-1, *x.shape[1:]))
        self._batch.is_positive.copy_(batches.is_positive)
        self._batch.weight.copy_(batches.weight)
        for name, value in batches.columns.items():
            self._batch.columns[name].copy_(value)
        if self._tape is not None and self._is_warm and self._graph is None:
            step = partial(self._work.step, self._x, self._batch, self._share)
            self._graph = self._tape.record(step)
        if self._graph is not None:
            self._graph.replay()
        else:
            self._work.step(self._x, self._batch, self._share)
            self._is_warm = True


class Tape:
    """Records GPU work on a stream; graphs of one tape share memory and run one after another."""

    def __init__(self, stream: torch.cuda.Stream):
        self._stream = stream
        self._pool = torch.cuda.graph_pool_handle()

    def record(self, work: Callable[[], None]) -> torch.cuda.CUDAGraph:
        """Record work as a graph, without running it."""
        with RECORDS:
            return self._record(work)

    def _record(self, work: Callable[[], None]) -> torch.cuda.CUDAGraph:
        graph, stream = torch.cuda.CUDAGraph(), self._stream
        current = torch.cuda.current_stream(stream.device)
        stream.wait_stream(current)
        # Not torch.cuda.graph: that empties the memory cache each time, which costs more than the
        # recording. But no garbage may be collected meanwhile: freeing a graph would break it.
        collects = gc.isenabled()
        gc.disable()
        try:
            with torch.cuda.stream(stream):
                graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
                try:
                    work()
                finally:
                    graph.capture_end()
        finally:
            if collects:
                gc.enable()
        current.wait_stream(stream)
        return graph


def _stream(device: torch.device) -> torch.cuda.Stream:
    stream: torch.cuda.Stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    return stream
