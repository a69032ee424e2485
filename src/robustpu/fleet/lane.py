"""Steps of training: members that step together, and how a step is run again and again.

A stacked network has one lane, with all members. A network whose members take turns has a lane for
each of them, and on a GPU the lanes run side by side. On a GPU a step is recorded once as a CUDA
graph and then replayed, so that the host issues one call for it instead of a hundred; everything
that a step reads or writes therefore stays where it is in memory.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from robustpu.fleet.adam import Adam
from robustpu.fleet.network import Network, State

Risk: TypeAlias = Callable[..., Tensor]


@dataclass(frozen=True)
class Batch:
    """The rows of one step: (members, rows), and the priors (members,)."""

    is_positive: Tensor
    weight: Tensor
    prior: Tensor
    population_prior: Tensor


@dataclass
class Lane:
    """Members that step together, with an optimiser of their own.

    Parameters
    ----------
    network, state, adam
        What computes, what is trained (a view into the state of the fleet), and what updates it.
    pool
        Inputs of all rows, (rows, ...).
    prior, population_prior
        One number a member, (members,).
    generators
        The members' own sources of randomness.
    risk, numbers
        ``risk(logit, batch, **numbers) -> (members,)``, and what else it depends on, (members,)
        each.
    """

    network: Network
    state: State
    adam: Adam
    pool: Tensor
    prior: Tensor
    population_prior: Tensor
    generators: Sequence[torch.Generator]
    risk: Risk
    numbers: dict[str, Tensor]

    def __post_init__(self) -> None:
        self._steps: dict[int, _Step] = {}
        on_gpu = self.pool.device.type == "cuda"
        self._records = on_gpu and self.network.can_be_recorded
        alone = on_gpu and not self.network.is_stacked
        self._stream = _stream(self.pool.device) if alone else None

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.state.flat)

    def restart(self, rates: Tensor, numbers: dict[str, Tensor]) -> None:
        """Begin anew with other rates and numbers, in the same memory."""
        self.adam.restart(rates)
        for name, values in numbers.items():
            self.numbers[name].copy_(values)

    def begin(self) -> None:
        """Wait for what was computed before this epoch."""
        if self._stream is not None:
            self._stream.wait_stream(torch.cuda.current_stream(self.pool.device))

    def end(self) -> None:
        """Let what comes after this epoch wait for it."""
        if self._stream is not None:
            torch.cuda.current_stream(self.pool.device).wait_stream(self._stream)

    def step(self, index: Tensor, is_positive: Tensor, weight: Tensor) -> None:
        """Train on rows of the pool, (members, rows) each."""
        rows = index.shape[1]
        if rows not in self._steps:
            self._steps[rows] = _Step(self, rows)
        with torch.cuda.stream(self._stream) if self._stream is not None else nullcontext():
            self._steps[rows].run(index, is_positive, weight, self._records)


class _Step:
    """One step with a fixed number of rows, and the memory that it works in."""

    def __init__(self, lane: Lane, rows: int):
        pool = lane.pool
        self._lane = lane
        self._x = pool.new_empty(lane.size, rows, *pool.shape[1:])
        self._batch = Batch(
            pool.new_empty(lane.size, rows, dtype=torch.bool),
            pool.new_empty(lane.size, rows),
            lane.prior,
            lane.population_prior,
        )
        self._is_warm = False
        self._graph: torch.cuda.CUDAGraph | None = None

    def run(self, index: Tensor, is_positive: Tensor, weight: Tensor, record: bool) -> None:
        torch.index_select(
            self._lane.pool, 0, index.reshape(-1), out=self._x.view(-1, *self._x.shape[2:])
        )
        self._batch.is_positive.copy_(is_positive)
        self._batch.weight.copy_(weight)
        if record and self._is_warm and self._graph is None:
            self._record()
        if self._graph is not None:
            self._graph.replay()
        else:
            self._compute()
            self._is_warm = True

    def _compute(self) -> None:
        lane = self._lane
        lane.network.gradient(
            lane.state,
            self._x,
            lambda logit: lane.risk(logit, self._batch, **lane.numbers),
            lane.adam.gradient,
            lane.generators,
        )
        lane.adam.step()

    def _record(self) -> None:
        """Record the step as a graph. It is not carried out by that."""
        device = self._lane.pool.device
        graph, stream = torch.cuda.CUDAGraph(), _stream(device)
        stream.wait_stream(torch.cuda.current_stream(device))
        # Not torch.cuda.graph: that empties the memory cache each time, which costs more than the
        # recording.
        with torch.cuda.stream(stream):
            graph.capture_begin(capture_error_mode="thread_local")
            try:
                self._compute()
            finally:
                graph.capture_end()
        torch.cuda.current_stream(device).wait_stream(stream)
        self._graph = graph


def _stream(device: torch.device) -> torch.cuda.Stream:
    stream: torch.cuda.Stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    return stream
