"""Which rows a member trains on, and which are held out."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from robustpu.fleet import Member, Rows

if TYPE_CHECKING:
    from robustpu.neural import NeuralPUClassifier
    from robustpu.sharing import Task


def held_out_sizes(n_positive: int, n: int, fraction: float) -> tuple[int, int]:
    """Rows to hold out of the positives and of the unlabelled; none if either has just one.

    Examples
    --------
    >>> held_out_sizes(20, 120, 0.1)
    (2, 10)
    """
    n_unlabeled = n - n_positive
    if fraction == 0 or min(n_positive, n_unlabeled) < 2:
        return 0, 0
    return (
        min(max(1, int(fraction * n_positive + 1e-9)), n_positive - 1),
        min(max(1, int(fraction * n_unlabeled + 1e-9)), n_unlabeled - 1),
    )


def member_of(task: "Task", place: int, start: dict[int, int]) -> Member:
    """Make a member of a fleet, with the rows that it trains on and those that it is judged on.

    Parameters
    ----------
    task
        Whose member it is.
    place
        Which of its members.
    start
        Where rows begin in the fleet's pool, by the id of their inputs.
    """
    data = task.data
    first = start[id(data.x)]

    def rows(index: NDArray[np.intp]) -> Rows:
        return Rows(
            torch.from_numpy(index + first),
            torch.from_numpy(data.is_positive[index]),
            torch.from_numpy(data.weight[index]),
        )

    everything = np.arange(len(data.is_positive))
    if data.truth is not None and data.x_eval is not None:
        training, held_out = (
            everything,
            Rows(
                torch.arange(len(data.truth)) + start[id(data.x_eval)],
                torch.from_numpy(data.truth),
                torch.ones(len(data.truth), dtype=torch.float64),
            ),
        )
    else:
        chosen = _held_out(data.is_positive, task.split, task.folds[place], task.settings[place])
        training, held_out = np.setdiff1d(everything, chosen), None
        if len(chosen):
            held_out = rows(chosen)
    seed, priors = task.seeds[place], (task.prior, task.population_prior)
    fraction = task.settings[place].validation_fraction
    # Those that are judged together with it count, too: they share in the choice of its epoch.
    judged = tuple(
        own
        for own, group in zip(task.seeds, task.groups, strict=True)
        if group == task.groups[place]
    )
    origin = (id(data), task.split, task.folds[place], fraction, *priors, seed, judged)
    return Member(rows(training), held_out, *priors, seed, task.groups[place], origin)


def _held_out(
    is_positive: NDArray[np.bool_], seed: int, fold: int, settings: "NeuralPUClassifier"
) -> NDArray[np.intp]:
    """Rows that this member does not train on: its slice of one shuffle of the job's rows.

    The members of a job hold out different rows, as the folds of a cross-validation do, so that
    together they are judged on as many rows as there are.
    """
    random = np.random.default_rng(seed)
    parts = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    sizes = held_out_sizes(len(parts[0]), len(is_positive), settings.validation_fraction)
    chosen = [
        np.take(random.permutation(part), np.arange(fold * size, (fold + 1) * size), mode="wrap")
        for part, size in zip(parts, sizes, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def own_rows(held_out: Rows | None, start: int, task: "Task") -> NDArray[np.int64]:
    """Numbers of the job's rows that the member does not train on."""
    if held_out is None or task.data.truth is not None:
        return np.zeros(0, dtype=np.int64)
    return held_out.index.numpy() - start
