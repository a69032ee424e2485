"""What is remembered of a training: each member's best state, and its history."""

import torch
from torch import Tensor

from robustpu.fleet.engine import Fleet


class Best:
    """Remember each member's best state, by the mean score of its group; the earlier wins a tie.

    Without scores the latest state is the best one. ``score`` and ``turn`` hold, for all members,
    the own score and the turn (epoch or round) of what is remembered.
    """

    def __init__(self, fleet: Fleet):
        self._fleet = fleet
        self.state = fleet.state.select(fleet.alive)
        self.score = torch.full_like(fleet.state.flat[:, 0], -torch.inf)
        self._pooled = self.score.clone()
        self.turn = torch.zeros_like(fleet.alive)

    def offer(self, score: Tensor | None, turn: int) -> None:
        """Take the fleet's present state where the score (alive,) of its group is above the best."""
        fleet = self._fleet
        if score is None:
            better = torch.ones_like(fleet.alive, dtype=torch.bool)
        else:
            pooled = fleet.pooled(score)
            better = pooled > self._pooled[fleet.alive]
        place = fleet.alive[better]
        self.state.put(place, fleet.state.select(better.nonzero()[:, 0]))
        self.turn[place] = turn
        if score is not None:
            self.score[place] = score[better]
            self._pooled[place] = pooled[better]

    def waited(self, turn: int) -> Tensor:
        """Turns since the best state of each member that still trains, (alive,)."""
        return turn - self.turn[self._fleet.alive]

    def restore(self) -> None:
        """All members are back in the fleet, each in its best state."""
        self._fleet.reunite(self.state)


class Course:
    """How a training went: what was noted of the members, and of their training rows, turn by turn."""

    def __init__(self, best: Best):
        self.best = best
        self._notes: list[tuple[Tensor, dict[str, Tensor]]] = []
        self._rows: list[tuple[Tensor, dict[str, Tensor]]] = []

    def record(self, alive: Tensor, **values: Tensor | None) -> None:
        """Note one number for each member that still trains, (alive,); None is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        self._notes.append((alive, known))

    def record_rows(self, alive: Tensor, **values: Tensor) -> None:
        """Note one number for each training row of each member that still trains, (alive, rows)."""
        self._rows.append((alive, {name: value.float().cpu() for name, value in values.items()}))

    def history_of(self, member: int) -> list[dict[str, float]]:
        """Return what was noted of one member, oldest first."""
        return [
            {name: float(value) for name, value in turn.items()}
            for turn in _of_member(self._notes, member)
        ]

    def rows_of(self, member: int) -> dict[str, Tensor]:
        """Return what was noted of one member's training rows, name -> (turns, rows)."""
        turns = _of_member(self._rows, member)
        return {
            name: torch.stack([turn[name] for turn in turns]) for turn in turns[:1] for name in turn
        }


def _of_member(
    notes: list[tuple[Tensor, dict[str, Tensor]]], member: int
) -> list[dict[str, Tensor]]:
    answer = []
    for alive, values in notes:
        place = (alive == member).nonzero()[:, 0]
        if len(place):
            answer.append({name: value[place[0]] for name, value in values.items()})
    return answer
