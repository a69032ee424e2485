"""A teacher: for each member of a fleet, a running mean of its parameters."""

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

    def logits(self, index: Tensor | None = None) -> Tensor:
        """Logits (alive, rows) of the teachers, by default of the training rows."""
        fleet = self._fleet
        student = fleet.state.flat
        try:
            fleet.state.flat = self.flat[fleet.alive]
            return fleet.logits(index)
        finally:
            fleet.state.flat = student
