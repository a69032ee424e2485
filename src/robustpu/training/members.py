"""The members of an estimator: their seeds, the rows that each holds out, what training left."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustpu.fleet import Member, Network, Pool, Rows, State
from robustpu.training.data import Mask, TrainingData


class Plan(NamedTuple):
    """One entry a network in ``seeds`` and ``folds``; ``split`` shuffles rows into folds."""

    seeds: list[int]
    folds: list[int]
    split: int


@dataclass
class Inputs:
    """Rows as the networks take them; ``exact`` in the precision of predictions, once known."""

    x: Pool
    x_eval: Pool | None = None
    exact: Pool | None = None


@dataclass
class Trained:
    """What training left of one member; ``iteration`` is the epoch or round that was selected.

    ``held_out`` are the rows of the data that it did not train on.
    """

    network: Network
    state: State
    score: float | None
    iteration: int
    history: list[dict[str, float]]
    rows: dict[str, Tensor]
    held_out: NDArray[np.int64]

    def is_finite(self) -> bool:
        """Whether training did not diverge."""
        return self.score != -math.inf and bool(self.state.flat.isfinite().all())


def plan_of(seeds: Sequence[int], split: int | None, first_fold: int) -> Plan:
    """Let each network hold out the fold after that of the one before.

    Examples
    --------
    >>> plan_of([7, 8, 9], None, 3)
    Plan(seeds=[7, 8, 9], folds=[3, 4, 5], split=7)
    """
    split = split if split is not None else (seeds[0] if seeds else 0)
    return Plan(list(seeds), [first_fold + place for place in range(len(seeds))], split)


def first_folds(committees: int, members: int, fraction: float) -> list[int]:
    """Where the folds of each of several estimators begin: where the one before ended.

    So few members, too, leave out all rows between them, and none more often than need be.

    Examples
    --------
    >>> first_folds(4, 12, 0.1), first_folds(4, 40, 0.1)
    ([0, 3, 6, 9], [0, 0, 0, 0])
    """
    folds = round(1 / fraction) if fraction else 1
    return [place * math.ceil(members / committees) % folds for place in range(committees)]


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


def held_out_rows(is_positive: Mask, fraction: float, split: int, fold: int) -> NDArray[np.intp]:
    """Rows of one fold of a shuffle of the rows, P and U apart, in order.

    The members of an estimator hold out different folds, as in a cross-validation, so that
    together they are evaluated on all rows.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    fraction
        Share of the rows in a fold.
    split
        Seed of the shuffle.
    fold
        Number of the fold; they begin anew after the last.

    Examples
    --------
    >>> mask = np.array([True, True, False, False, False, False])
    >>> [len(held_out_rows(mask, 0.5, split=0, fold=fold)) for fold in (0, 1)]
    [3, 3]
    """
    random = np.random.default_rng(split)
    sides = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    sizes = held_out_sizes(len(sides[0]), len(is_positive), fraction)
    chosen = [
        np.take(random.permutation(side), np.arange(fold * size, (fold + 1) * size), mode="wrap")
        for side, size in zip(sides, sizes, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def member_of(problem: Any, place: int, group: int, start: int, start_eval: int) -> Member:
    """Make a member of a fleet, with the rows that it trains on and those that it is scored on.

    Parameters
    ----------
    problem
        Whose member it is, a :class:`robustpu.training.fit.Problem`.
    place
        Which of its members.
    group
        Members of one group choose their epoch together, by their mean score.
    start, start_eval
        Where its rows and those of its ``eval_set`` begin in the pool of the fleet.
    """
    data, plan, estimator = problem.data, problem.plan, problem.estimator

    def rows(index: NDArray[np.intp]) -> Rows:
        is_positive, weight = data.is_positive[index], data.weight[index]
        return Rows(*map(torch.from_numpy, (index + start, is_positive, weight)))

    held_out, chosen = None, np.zeros(0, dtype=np.intp)
    if data.truth is not None:
        index = torch.arange(len(data.truth)) + start_eval
        weight = torch.ones(len(data.truth), dtype=torch.float64)
        held_out = Rows(index, torch.from_numpy(data.truth), weight)
    else:
        fraction = estimator.validation_fraction
        chosen = held_out_rows(data.is_positive, fraction, plan.split, plan.folds[place])
        held_out = rows(chosen) if len(chosen) else None
    training = rows(np.setdiff1d(np.arange(len(data)), chosen))
    prior, population = estimator.prior_, estimator.share_to_minimize()
    if not 0 < np.float32(prior) < 1 or not 0 < np.float32(population) < 1:
        raise ValueError(
            f"the prior is {prior!r}, which single precision, in which networks are trained, "
            "cannot tell from 0 or 1. Give one that is further from them."
        )
    # Equal origins and settings make equal networks. The whole group counts, since it shares in
    # the choice of the epoch.
    origin = (
        id(data.is_positive),
        plan.split,
        plan.folds[place],
        estimator.validation_fraction,
        prior,
        population,
        plan.seeds[place],
        tuple(plan.seeds),
    )
    return Member(training, held_out, prior, population, plan.seeds[place], group, origin)


def rows_held_out(data: TrainingData, held_out: Rows | None, start: int) -> NDArray[np.int64]:
    """Numbers of the rows of the data that a member does not train on."""
    if held_out is None or data.truth is not None:
        return np.zeros(0, dtype=np.int64)
    return held_out.index.numpy() - start
