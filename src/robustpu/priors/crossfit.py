"""Out-of-fold scores: how much a row looks like a labelled one, by networks that never saw it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from robustpu.fleet import Fleet, Member, Rows, cross_entropy, cross_entropy_slope
from robustpu.modules import ModuleFactory
from robustpu.naming import identity

Scores = NDArray[np.float64]

FOLDS = 5
# Folds are dealt out so many times, and the scores averaged.
REPEATS = 3
EPOCHS = 20
BATCH_SIZE = 64
LR = 1e-3
WEIGHT_DECAY = 1e-2


@dataclass(frozen=True)
class Sample:
    """Positives and unlabelled rows whose prior is wanted, and how it is to be estimated."""

    x: Tensor
    is_positive: NDArray[np.bool_]
    module: str | ModuleFactory
    seed: int
    method: Any = "auto"


def out_of_fold(samples: Sequence[Sample]) -> list[Scores]:
    """Score every row, the scorers of all samples and folds trained together.

    A network learns to tell positives from unlabelled rows on all folds but one, and scores that
    one, so that every row is used and none is scored by a network that has seen it. Three times,
    with other folds; the mean score is less a matter of luck.

    Parameters
    ----------
    samples
        Inputs (rows, ...), the mask of labelled positives, the network and a seed, of each.

    Returns
    -------
    scores
        Logits of each sample, (rows,): of being labelled, if both kinds of rows weighed the same.

    Raises
    ------
    ValueError
        There are fewer than 2 positives or 2 unlabelled rows.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, sample in enumerate(samples):
        n_positive = int(sample.is_positive.sum())
        n_unlabeled = len(sample.is_positive) - n_positive
        if min(n_positive, n_unlabeled) < 2:
            raise ValueError(
                f"to estimate the prior takes at least 2 labelled positives and 2 unlabelled rows; "
                f"there are {n_positive} and {n_unlabeled}. Give prior= a number: "
                "the share of positives that you expect among the unlabelled rows."
            )
        groups.setdefault(
            (identity(_scorer(sample)), tuple(sample.x.shape), n_positive, sample.x.device), []
        ).append(place)
    scores: dict[int, Scores] = {}
    for places in groups.values():
        scores |= zip(places, _alike([samples[place] for place in places]), strict=True)
    return [scores[place] for place in range(len(samples))]


def _alike(samples: Sequence[Sample]) -> Scores:
    """The same for samples of one size, whose folds can share a fleet."""
    first = samples[0]
    rows = len(first.is_positive)
    members: list[Member] = []
    scored: list[tuple[int, NDArray[np.intp]]] = []
    for (place, sample), repeat in product(enumerate(samples), range(REPEATS)):
        fold = _folds(sample, repeat)
        # Members of a fleet train on equally many rows; the largest fold sets the number.
        size = int(rows - np.bincount(fold).max())
        for held_out in range(fold.max() + 1):
            # Positives first, so that a row too many is an unlabelled one.
            order = np.argsort(~sample.is_positive, kind="stable")
            training = order[fold[order] != held_out][:size]
            is_positive = torch.from_numpy(sample.is_positive[training])
            # Positives and unlabelled rows weigh the same, so that few positives are not lost.
            share = is_positive.double().mean()
            weight = torch.where(is_positive, 0.5 / share, 0.5 / (1 - share))
            own = Rows(torch.from_numpy(training + place * rows), is_positive, weight)
            members.append(
                Member(own, None, 0.5, 0.5, sample.seed + held_out + FOLDS * repeat, group=place)
            )
            scored.append((place, np.flatnonzero(fold == held_out)))
    pool = first.x if len(samples) == 1 else torch.cat([sample.x for sample in samples])
    fleet = Fleet(pool, members, _scorer(first))
    each = len(members)
    rates = [LR] * each, [WEIGHT_DECAY] * each, [0] * each
    fleet.start(cross_entropy, *rates, BATCH_SIZE, slope=cross_entropy_slope)
    for _ in range(EPOCHS):
        fleet.epoch()
    # Folds may differ by a row: pad with row 0, and leave the padding out again.
    wide = max(len(held) for _, held in scored)
    index = np.zeros((each, wide), dtype=np.int64)
    for member, (place, held) in enumerate(scored):
        index[member, : len(held)] = held + place * rows
    logit = fleet.logits(torch.from_numpy(index).to(pool.device)).double().cpu().numpy()
    score = np.zeros((len(samples), rows))
    for member, (place, held) in enumerate(scored):
        score[place, held] += logit[member, : len(held)] / REPEATS
    return score


def _scorer(sample: Sample) -> str | ModuleFactory:
    # Epochs and rate are right for the MLP; a linear model, say, would need many more steps.
    return "mlp" if sample.x.ndim == 2 else sample.module


def _folds(sample: Sample, repeat: int) -> NDArray[np.int64]:
    """Fold of each row, positives and unlabelled rows dealt out evenly."""
    rng = np.random.default_rng([sample.seed, repeat])
    fold = np.empty(len(sample.is_positive), dtype=np.int64)
    parts = (np.flatnonzero(sample.is_positive), np.flatnonzero(~sample.is_positive))
    count = min(FOLDS, *map(len, parts))
    for part in parts:
        fold[rng.permutation(part)] = np.arange(len(part)) % count
    return fold
