"""Epochs of one risk, the best epoch kept: what PN, uPU and nnPU have in common."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.fleet import Batch, Best, Course, Fleet, Risk
from robustpu.naming import identity
from robustpu.risks import Surrogate


def start(
    fleet: Fleet,
    settings: Sequence[Any],
    risk: Risk,
    slope: Risk | None = None,
    blend: int | None = None,
    **numbers: Sequence[float],
) -> None:
    """Begin to minimise a risk, each member with the rates of its own settings."""
    fleet.start(
        risk,
        [own.lr for own in settings],
        [own.weight_decay for own in settings],
        [own.warmup_epochs for own in settings],
        settings[0].batch_size,
        slope,
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
    slope: Risk | None = None,
    **numbers: Sequence[float],
) -> Course:
    """Minimise a risk for ``epochs`` epochs, and restore each member's best epoch.

    Parameters
    ----------
    fleet, settings
        The networks, and the parameters of each.
    risk
        ``(logit, batch, **numbers) -> (alive,)``.
    slope
        Its derivative by the logits, (alive, rows), if it is known.
    numbers
        What else the risk depends on, one number a member each.
    """
    course = Course(Best(fleet))
    start(fleet, settings, risk, slope, None, **numbers)
    for _ in judged(fleet, settings, course, range(1, settings[0].epochs + 1)):
        fleet.epoch()
    course.best.restore()
    return course


def judged(
    fleet: Fleet, settings: Sequence[Any], course: Course, epochs: Iterable[int]
) -> Iterator[int]:
    """Give the number of each epoch, and judge the networks after it.

    The best state of each member is remembered, and members whose patience is at an end leave; if
    none is left, so are no epochs.

    Parameters
    ----------
    fleet, settings
        The networks, and the parameters of each.
    course
        Where to note the scores, and what remembers the best.
    epochs
        Their numbers.
    """
    patience = [own.patience or math.inf for own in settings]
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
        first.setdefault((member if origin is None else origin, _settings(own)), len(first))
        for member, (origin, own) in enumerate(zip(fleet.origins, settings, strict=True))
    ]
    kind = type(settings[0])
    if len(first) == fleet.size:
        kind._train(fleet, settings)
        return
    distinct = [places.index(place) for place in range(len(first))]
    some = fleet.some(distinct)
    kind._train(some, [settings[member] for member in distinct])
    fleet.become(some, places)


def _settings(estimator: Any) -> tuple[Any, ...]:
    return tuple((name, identity(value)) for name, value in sorted(estimator.get_params().items()))
