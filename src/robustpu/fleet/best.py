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
        """Take the present state where the score (alive,) of a member's group is its best."""
        fleet = self._fleet
        if score is None:
            better = torch.ones_like(fleet.alive, dtype=torch.bool)
        else:
            pooled = fleet.pooled(score)
            better = score.isfinite() & (pooled > self._pooled[fleet.alive])
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
        """All members are back in the fleet, each in a copy of its best state."""
        self._fleet.reunite(self.state.copy())


class Course:
    """How a training went: what was noted of members and of their training rows, turn by turn."""

    def __init__(self, best: Best):
        self.best = best
        self._notes: list[tuple[Tensor, dict[str, Tensor]]] = []
        self._pending: dict[str, Tensor] = {}
        self._rows: list[tuple[Tensor, dict[str, Tensor]]] = []

    def note(self, **values: Tensor) -> None:
        """Add one number for each member that still trains, (alive,), to the next record."""
        self._pending |= values

    def record(self, alive: Tensor, **values: Tensor | None) -> None:
        """Note one number for each member that still trains, (alive,); None is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        self._notes.append((alive, self._pending | known))
        self._pending = {}

    def last(self, name: str) -> tuple[Tensor, Tensor]:
        """Whom the last record is of, (alive,), and their numbers of a name, (alive,)."""
        alive, values = self._notes[-1]
        return alive, values[name]

    def record_rows(self, alive: Tensor, **values: Tensor) -> None:
        """Note one number for each training row of each member that still trains, (alive, rows)."""
        self._rows.append((alive, {name: value.float().cpu() for name, value in values.items()}))

    def of(self, fleet: Fleet, places: Tensor) -> "Course":
        """Make the course of another fleet, whose members are some of these; all trained on."""
        best = Best(fleet)
        best.state = self.best.state.select(places)
        best.score, best.turn = self.best.score[places], self.best.turn[places]
        course = Course(best)
        members = torch.arange(len(places), device=places.device)
        course._notes = [
            (members, {name: value[places] for name, value in values.items()})
            for _, values in self._notes
        ]
        return course

    def histories(self) -> list[list[dict[str, float]]]:
        """Return what was noted of each member, oldest first."""
        answer: list[list[dict[str, float]]] = [[] for _ in self.best.turn]
        for alive, values in self._notes:
            columns = [value.tolist() for value in values.values()]
            for member, *numbers in zip(alive.tolist(), *columns, strict=True):
                answer[member].append(dict(zip(values, numbers, strict=True)))
        return answer

    def rows(self) -> list[dict[str, Tensor]]:
        """Return what was noted of each member's training rows, name -> (turns, rows)."""
        answer: list[dict[str, list[Tensor]]] = [{} for _ in self.best.turn]
        for alive, values in self._rows:
            for name, value in values.items():
                for member, own in zip(alive.tolist(), value, strict=True):
                    answer[member].setdefault(name, []).append(own)
        return [{name: torch.stack(turns) for name, turns in member.items()} for member in answer]
