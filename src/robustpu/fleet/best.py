"""The best state of each member, and the history of its training."""

import torch
from torch import Tensor

from robustpu.fleet.engine import Fleet


class Best:
    """The best state of each member, by the mean score of its group; the earlier wins a tie.

    Without scores the latest state is the best. ``score`` and ``iteration`` are the score and the
    epoch or round of the best state, for all members.
    """

    def __init__(self, fleet: Fleet):
        self._fleet = fleet
        self.state = fleet.state.select(fleet.alive)
        self.score = torch.full_like(fleet.state.flat[:, 0], -torch.inf)
        self._pooled = self.score.clone()
        self.iteration = torch.zeros_like(fleet.alive)

    def offer(self, score: Tensor | None, iteration: int) -> None:
        """Take the present state where the score (alive,) of a member's group is its best."""
        fleet = self._fleet
        if score is None:
            better = torch.ones_like(fleet.alive, dtype=torch.bool)
        else:
            pooled = fleet.pooled(score)
            better = score.isfinite() & (pooled > self._pooled[fleet.alive])
        place = fleet.alive[better]
        self.state.put(place, fleet.state.select(better.nonzero()[:, 0]))
        self.iteration[place] = iteration
        if score is not None:
            self.score[place] = score[better]
            self._pooled[place] = pooled[better]

    def waited(self, iteration: int) -> Tensor:
        """Iterations since the best state of each member that still trains, (alive,)."""
        return iteration - self.iteration[self._fleet.alive]

    def restore(self) -> None:
        """Bring all members back into the fleet, each in a copy of its best state."""
        self._fleet.reunite(self.state.copy())


class Course:
    """Records of members and of their training rows, by epoch or round."""

    def __init__(self, best: Best):
        self.best = best
        self._notes: list[tuple[Tensor, dict[str, Tensor]]] = []
        self._pending: dict[str, Tensor] = {}
        self._rows: list[tuple[Tensor, dict[str, Tensor]]] = []

    def note(self, **values: Tensor) -> None:
        """Add one number for each member that still trains, (alive,), to the next record."""
        self._pending |= values

    def record(self, alive: Tensor, **values: Tensor | None) -> None:
        """Record a number for each member that still trains, (alive,); None is left out."""
        known = {name: value for name, value in values.items() if value is not None}
        self._notes.append((alive, self._pending | known))
        self._pending = {}

    def last(self, name: str) -> tuple[Tensor, Tensor]:
        """Members of the last record, (alive,), and their values of a name, (alive,)."""
        alive, values = self._notes[-1]
        return alive, values[name]

    def record_rows(self, alive: Tensor, **values: Tensor) -> None:
        """Record a number for each training row of each member that still trains, (alive, rows)."""
        self._rows.append((alive, {name: value.float().cpu() for name, value in values.items()}))

    def of(self, fleet: Fleet, places: Tensor) -> "Course":
        """The course of another fleet whose members are some of these."""
        best = Best(fleet)
        best.state = self.best.state.select(places)
        best.score, best.iteration = self.best.score[places], self.best.iteration[places]
        course = Course(best)
        members = torch.arange(len(places), device=places.device)
        course._notes = [
            (members, {name: value[places] for name, value in values.items()})
            for _, values in self._notes
        ]
        return course

    def histories(self) -> list[list[dict[str, float]]]:
        """The records of each member, oldest first."""
        answer: list[list[dict[str, float]]] = [[] for _ in self.best.iteration]
        for alive, values in self._notes:
            columns = [value.tolist() for value in values.values()]
            for member, *numbers in zip(alive.tolist(), *columns, strict=True):
                answer[member].append(dict(zip(values, numbers, strict=True)))
        return answer

    def rows(self) -> list[dict[str, Tensor]]:
        """The records of the training rows of each member, name -> (iterations, rows)."""
        answer: list[dict[str, list[Tensor]]] = [{} for _ in self.best.iteration]
        for alive, values in self._rows:
            for name, value in values.items():
                for member, row_values in zip(alive.tolist(), value, strict=True):
                    answer[member].setdefault(name, []).append(row_values)
        return [
            {name: torch.stack(iterations) for name, iterations in member.items()}
            for member in answer
        ]
