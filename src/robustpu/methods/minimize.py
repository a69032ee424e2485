"""Epochs of one risk, the best epoch kept: what PN, uPU and nnPU have in common."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.fleet import Batch, Best, Course, Fleet, Risk
from robustpu.risks import Surrogate
from robustpu.validation.names import identity


def start(
    fleet: Fleet,
    settings: Sequence[Any],
    risk: Risk,
    grad: Risk | None = None,
    blend: int | None = None,
    **numbers: Sequence[float],
) -> None:
    """Begin to minimise a risk, each member with the rates of its own settings."""
    fleet.start(
        risk,
        [member.lr for member in settings],
        [member.weight_decay for member in settings],
        [member.warmup_epochs for member in settings],
        settings[0].batch_size,
        grad,
        blend,
        **numbers,
    )


def of_batch(function: Risk, surrogate: Surrogate) -> Risk:
    """Make a function of rows, priors and surrogate one of a batch.

    Parameters
    ----------
    function
        Such as ``robustpu.risks.nnpu``; further numbers are passed on to it by name.
    surrogate
        Loss of a margin.
    """

    def risk(logit: Tensor, batch: Batch, **numbers: Tensor) -> Tensor:
        rows = logit, batch.is_positive, batch.weight
        return function(*rows, batch.prior, batch.population_prior, surrogate, **numbers)

    return risk


def minimize(
    fleet: Fleet,
    settings: Sequence[Any],
    risk: Risk,
    grad: Risk | None = None,
    **numbers: Sequence[float],
) -> Course:
    """Minimise a risk for ``epochs`` epochs, and restore each member's best epoch.

    Parameters
    ----------
    fleet, settings
        The networks, and the parameters of each.
    risk
        ``(logit, batch, **numbers) -> (alive,)``.
    grad
        Its derivative by the logits, (alive, rows), if it is known.
    numbers
        What else the risk depends on, one number a member each.
    """
    course = Course(Best(fleet))
    start(fleet, settings, risk, grad, None, **numbers)
    for _ in early_stopping(fleet, settings, course, range(1, settings[0].epochs + 1)):
        fleet.epoch()
    course.best.restore()
    return course


def early_stopping(
    fleet: Fleet, settings: Sequence[Any], course: Course, epochs: Iterable[int]
) -> Iterator[int]:
    """Yield the number of each epoch, and score the networks on held-out rows after it.

    The best state of each member is kept. Members whose patience is at an end leave; the epochs end
    when none is left.

    Parameters
    ----------
    fleet, settings
        The networks, and the parameters of each.
    course
        Records the scores, and keeps the best states.
    epochs
        Their numbers.
    """
    patience = [member.patience or math.inf for member in settings]
    for epoch in epochs:
        yield epoch
        score = fleet.score()
        course.best.offer(score, epoch)
        course.record(fleet.alive, epoch=torch.full_like(fleet.alive, epoch), score=score)
        fleet.keep(course.best.waited(epoch) < fleet.per_member(patience))
        if not len(fleet.alive):
            return


def train_once(fleet: Fleet, settings: Sequence[Any]) -> None:
    """Train all members by another method, those that would come out alike only once.

    Parameters
    ----------
    fleet
        The networks.
    settings
        An estimator of that method for each.
    """
    first: dict[Any, int] = {}
    places = [
        first.setdefault((member if origin is None else origin, _settings(estimator)), len(first))
        for member, (origin, estimator) in enumerate(zip(fleet.origins, settings, strict=True))
    ]
    kind = type(settings[0])
    if len(first) == fleet.size:
        kind.train(fleet, settings)
        return
    distinct = [places.index(place) for place in range(len(first))]
    some = fleet.some(distinct)
    kind.train(some, [settings[member] for member in distinct])
    fleet.become(some, places)


def _settings(estimator: Any) -> tuple[Any, ...]:
    return tuple((name, identity(value)) for name, value in sorted(estimator.get_params().items()))
