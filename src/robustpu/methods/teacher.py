"""A teacher: for each member of a fleet, a running mean of its parameters."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from robustpu.fleet import Fleet


class Teacher:
    """Mean of the states that a member went through, the recent ones first.

    Buffers, such as those of batch norm, are the student's own.

    Parameters
    ----------
    fleet
        The students; teachers begin as their copies.
    """

    def __init__(self, fleet: Fleet):
        self._fleet = fleet
        self.flat = fleet.state.flat.clone()

    def learn(self, decay: float) -> None:
        """mean <- decay mean + (1 - decay) student, of the members that still train."""
        alive = self._fleet.alive
        self.flat[alive] = torch.lerp(self._fleet.state.flat, self.flat[alive], decay)

    @contextmanager
    def in_charge(self) -> Iterator[None]:
        """Let the teachers answer for their students."""
        fleet = self._fleet
        student = fleet.state.flat
        try:
            fleet.state.flat = self.flat[fleet.alive]
            yield
        finally:
            fleet.state.flat = student

    def logits(self) -> Tensor:
        """Logits (alive, rows) of the teachers for the training rows."""
        with self.in_charge():
            return self._fleet.logits()
