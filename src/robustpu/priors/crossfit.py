"""Out-of-fold scores: how much a row looks like a labelled one, by what has never seen it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, product

import numpy as np
import torch
from numpy.typing import NDArray

from robustpu.fleet import Fleet, Member, Risk, Rows, cross_entropy, cross_entropy_slope
from robustpu.fleet.pool import joined
from robustpu.modules import ModuleFactory
from robustpu.naming import identity
from robustpu.priors.folds import FOLDS, REPEATS, Sample, Scores, folds_of
from robustpu.priors.trees import has_trees, with_trees

Progress = Callable[[int, int], None]

EPOCHS = 20
# Beyond so many rows there are fewer epochs, and as many steps: more would not change the estimate.
MANY, FEWEST = 20_000, 3
BATCH_SIZE = 64
LR = 1e-3
WEIGHT_DECAY = 1e-2


def out_of_fold(samples: Sequence[Sample], progress: Progress | None = None) -> list[Scores]:
    """Score every row, the networks of all samples and folds trained together.

    A network learns to tell positives from unlabelled rows on all folds but one, and scores that
    one, so that every row is used and none is scored by a network that has seen it. Three times,
    with other folds; the mean score is less a matter of luck. Forests do the same for tables of up
    to 256 columns, and have half of the score.

    Parameters
    ----------
    samples
        Inputs (rows, ...), the mask of labelled positives, the network and a seed, of each.
    progress
        Called as ``progress(done, total)`` after each epoch, and each turn of the forests.

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
    lengths = [epochs_for(len(samples[places[0]].is_positive)) for places in groups.values()]
    done, total = count(1), sum(lengths) + REPEATS * sum(map(has_trees, samples))

    def tick(members: int = 1) -> None:
        if progress is not None:
            progress(next(done), total)

    for places, epochs in zip(groups.values(), lengths, strict=True):
        scores |= zip(places, _alike([samples[own] for own in places], epochs, tick), strict=True)
    return [with_trees(sample, scores[place], tick) for place, sample in enumerate(samples)]


def epochs_for(n_rows: int) -> int:
    """Epochs of the scorers.

    Examples
    --------
    >>> [epochs_for(rows) for rows in (1000, 20_000, 40_000, 1_000_000)]
    [20, 20, 10, 3]
    """
    return min(EPOCHS, max(FEWEST, round(EPOCHS * MANY / n_rows)))


def _alike(samples: Sequence[Sample], epochs: int, tick: Callable[[int], None]) -> Scores:
    """The same for samples of one size, whose folds can share a fleet."""
    folded = fold(samples)
    folded.fleet.on_epoch = tick
    begin(folded.fleet, cross_entropy, cross_entropy_slope)
    for _ in range(epochs):
        folded.fleet.epoch()
    return folded.scores()


@dataclass(frozen=True)
class Folded:
    """Networks that see all folds but one each, and the rows of that one: ``(sample, rows)``."""

    fleet: Fleet
    held_out: list[tuple[int, NDArray[np.intp]]]
    shape: tuple[int, int]

    def scores(self) -> Scores:
        """Logits of all rows by the networks that have not seen them, (samples, rows)."""
        # Folds may differ by a row: pad with row 0, and leave the padding out again.
        wide = max(len(rows) for _, rows in self.held_out)
        index = np.zeros((len(self.held_out), wide), dtype=np.int64)
        for member, (place, rows) in enumerate(self.held_out):
            index[member, : len(rows)] = rows + place * self.shape[1]
        places = torch.from_numpy(index).to(self.fleet.pool.device)
        logit = self.fleet.logits(places).double().cpu().numpy()
        total, count = np.zeros(self.shape), np.zeros(self.shape)
        for member, (place, rows) in enumerate(self.held_out):
            total[place, rows] += logit[member, : len(rows)]
            count[place, rows] += 1
        return total / count


def fold(samples: Sequence[Sample], repeats: int = REPEATS, prior: float = 0.5) -> Folded:
    """Make the networks of samples of one size, five a repeat.

    Parameters
    ----------
    samples
        As of ``out_of_fold``.
    repeats
        How often the folds are dealt out.
    prior
        That risks with a prior find.
    """
    first = samples[0]
    rows = len(first.is_positive)
    members: list[Member] = []
    held_out: list[tuple[int, NDArray[np.intp]]] = []
    for (place, sample), repeat in product(enumerate(samples), range(repeats)):
        number = folds_of(sample, repeat)
        # Members of a fleet train on equally many rows; the largest fold sets the number.
        size = int(rows - np.bincount(number).max())
        for own in range(number.max() + 1):
            # Positives first, so that a row too many is an unlabelled one.
            order = np.argsort(~sample.is_positive, kind="stable")
            training = order[number[order] != own][:size]
            is_positive = torch.from_numpy(sample.is_positive[training])
            # Positives and unlabelled rows weigh the same, so that few positives are not lost.
            share = is_positive.double().mean()
            weight = torch.where(is_positive, 0.5 / share, 0.5 / (1 - share))
            seen = Rows(torch.from_numpy(training + place * rows), is_positive, weight)
            seed = sample.seed + own + FOLDS * repeat
            members.append(Member(seen, None, prior, prior, seed, group=place))
            held_out.append((place, np.flatnonzero(number == own)))
    pool = joined([sample.x for sample in samples])
    return Folded(Fleet(pool, members, _scorer(first)), held_out, (len(samples), rows))


def begin(fleet: Fleet, risk: Risk, slope: Risk) -> None:
    """Start to minimise a risk, at the rates of all scorers here."""
    each = len(fleet.alive)
    rates = [LR] * each, [WEIGHT_DECAY] * each, [0] * each
    fleet.start(risk, *rates, BATCH_SIZE, slope=slope)


def _scorer(sample: Sample) -> str | ModuleFactory:
    # Epochs and rate are right for the MLP; a linear model, say, would need many more steps.
    return "mlp" if sample.x.ndim == 2 else sample.module
