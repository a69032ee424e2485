"""Epochs of one risk, the best epoch kept: what PN, uPU and nnPU have in common."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.fleet import Batch, Best, Course, Fleet, Risk
from robustpu.risks import weighted_bce


def start(fleet: Fleet, settings: Sequence[Any], risk: Risk, **numbers: Sequence[float]) -> None:
    """Begin to minimise a risk, each member with the rates of its own settings."""
    fleet.start(
        risk,
        [own.lr for own in settings],
        [own.weight_decay for own in settings],
        [own.warmup_epochs for own in settings],
        settings[0].batch_size,
        **numbers,
    )


def cross_entropy(logit: Tensor, batch: Batch) -> Tensor:
    """Weighted cross-entropy of a batch, unlabelled rows as negatives."""
    return weighted_bce(logit, batch.is_positive, batch.weight)


def minimize(
    fleet: Fleet,
    settings: Sequence[Any],
    risk: Risk,
    **numbers: Sequence[float],
) -> Course:
    """Minimise a risk for ``epochs`` epochs, and restore each member's best epoch.

    Parameters
    ----------
    fleet, settings
        The networks, and the parameters of each.
    risk
        ``(logit, batch, **numbers) -> (alive,)``.
    numbers
        What else the risk depends on, one number a member each.
    """
    best = Best(fleet)
    course = Course(best)
    start(fleet, settings, risk, **numbers)
    patience = [own.patience or own.epochs for own in settings]
    for epoch in range(1, settings[0].epochs + 1):
        fleet.epoch()
        score = fleet.score()
        best.offer(score, epoch)
        course.record(fleet.alive, epoch=torch.full_like(fleet.alive, epoch), score=score)
        fleet.keep(best.waited(epoch) < fleet.per_member(patience))
        if not len(fleet.alive):
            break
    best.restore()
    return course
