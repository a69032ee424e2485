"""Out-of-fold scores of labelled against unlabelled rows, by networks and forests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier

from robustpu.fleet import Fleet, Member, Pool, Risk, Rows, cross_entropy, cross_entropy_grad
from robustpu.fleet.pool import joined
from robustpu.modules import ModuleFactory
from robustpu.modules.rows import some_of_each
from robustpu.validation.names import identity

Progress = Callable[[int, int], None]
Scores = NDArray[np.float64]

FOLDS = 5
# Times that rows are split into folds; the scores are averaged.
REPEATS = 3
EPOCHS = 20
# With more rows there are fewer epochs, and as many steps: more would not change the estimate.
MANY, FEWEST = 20_000, 3
BATCH_SIZE = 64
LR = 1e-3
WEIGHT_DECAY = 1e-2
TREES, LEAF = 50, 5
# Training rows of each label at most, and columns beyond which there are no forests, to save time.
MOST, WIDE = 3_000, 256
# Shares are clipped to this distance from 0 and 1.
EDGE = 1e-3


@dataclass(frozen=True)
class Sample:
    """Positives and unlabelled rows, and how to estimate their prior.

    With sample weights, and outcomes of checks, if there are any; (n,).
    """

    x: Pool
    is_positive: NDArray[np.bool_]
    module: str | ModuleFactory
    seed: int
    method: Any = "auto"
    weight: Scores | None = None
    outcome: Scores | None = None


def folds_of(sample: Sample, repeat: int) -> NDArray[np.int64]:
    """Fold of each row, (rows,), stratified by the label.

    Parameters
    ----------
    sample
        The labels and a seed.
    repeat
        Number of the split.
    """
    rng = np.random.default_rng([sample.seed, repeat])
    number = np.empty(len(sample.is_positive), dtype=np.int64)
    parts = (np.flatnonzero(sample.is_positive), np.flatnonzero(~sample.is_positive))
    count = min(FOLDS, *map(len, parts))
    for part in parts:
        number[rng.permutation(part)] = np.arange(len(part)) % count
    return number


def out_of_fold(samples: Sequence[Sample], progress: Progress | None = None) -> list[Scores]:
    """Score every row, the networks of all samples and folds trained together.

    A network is trained to tell positives from unlabelled rows on all folds but one, and scores
    that one. This is done with three splits into folds, and the scores are averaged. Forests do the
    same for tables of up to 256 columns, and contribute half of the score.

    Parameters
    ----------
    samples
        Inputs (rows, ...), the mask of labelled positives, the network and a seed, of each.
    progress
        Called as ``progress(done, total)`` after each epoch, and each split of the forests.

    Returns
    -------
    scores
        Logits of each sample, (rows,): of being labelled, where both kinds of rows have equal
        total weight.

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
        group = [samples[place] for place in places]
        scores |= zip(places, _alike(group, epochs, tick), strict=True)
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
    """Scores of samples of one size, whose folds share a fleet."""
    folded = fold(samples)
    folded.fleet.on_epoch = tick
    begin(folded.fleet, cross_entropy, cross_entropy_grad)
    for _ in range(epochs):
        folded.fleet.epoch()
    return folded.scores()


@dataclass(frozen=True)
class Folded:
    """Networks that are trained on all folds but one, and the rows of that one."""

    fleet: Fleet
    held_out: list[tuple[int, NDArray[np.intp]]]
    shape: tuple[int, int]

    def scores(self) -> Scores:
        """Out-of-fold logits of all rows, (samples, rows)."""
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
    """The networks of samples of one size, one for each fold of each repeat.

    Parameters
    ----------
    samples
        As of ``out_of_fold``.
    repeats
        Number of splits into folds.
    prior
        For risks that depend on it.
    """
    first = samples[0]
    rows = len(first.is_positive)
    members: list[Member] = []
    held_out: list[tuple[int, NDArray[np.intp]]] = []
    for (place, sample), repeat in product(enumerate(samples), range(repeats)):
        number = folds_of(sample, repeat)
        # Members of a fleet have the same number of training rows; the largest fold sets it.
        size = int(rows - np.bincount(number).max())
        for excluded in range(number.max() + 1):
            # Positives first, so that a row too many is an unlabelled one.
            order = np.argsort(~sample.is_positive, kind="stable")
            training = order[number[order] != excluded][:size]
            is_positive = torch.from_numpy(sample.is_positive[training])
            # Equal total weight of positives and unlabelled rows, however few positives there are.
            share = is_positive.double().mean()
            weight = torch.where(is_positive, 0.5 / share, 0.5 / (1 - share))
            seen = Rows(torch.from_numpy(training + place * rows), is_positive, weight)
            seed = sample.seed + excluded + FOLDS * repeat
            members.append(Member(seen, None, prior, prior, seed, group=place))
            held_out.append((place, np.flatnonzero(number == excluded)))
    pool = joined([sample.x for sample in samples])
    return Folded(Fleet(pool, members, _scorer(first)), held_out, (len(samples), rows))


def begin(fleet: Fleet, risk: Risk, grad: Risk) -> None:
    """Start to minimise a risk with the learning rate of all scorers."""
    each = len(fleet.alive)
    rates = [LR] * each, [WEIGHT_DECAY] * each, [0] * each
    fleet.start(risk, *rates, BATCH_SIZE, grad=grad)


def _scorer(sample: Sample) -> str | ModuleFactory:
    # Epochs and rate are right for the MLP; a linear model, say, would need many more steps.
    return "mlp" if sample.x.ndim == 2 else sample.module


def has_trees(sample: Sample) -> bool:
    """Whether forests score its rows: only tables that are not very wide.

    Parameters
    ----------
    sample
        The rows.
    """
    return sample.x.ndim == 2 and sample.x.shape[1] <= WIDE


def with_trees(sample: Sample, networks: Scores, tick: Callable[[], object] = bool) -> Scores:
    """Mean of the scores of networks and of forests, scaled to equal deviation.

    Parameters
    ----------
    sample
        Rows, and which are labelled.
    networks
        Log-odds of being labelled, (rows,), which are returned if there are no forests.
    tick
        Called after each split of the forests.

    Examples
    --------
    >>> import torch
    >>> x, is_positive = torch.arange(60.0)[:, None], np.arange(60) < 20
    >>> found = with_trees(Sample(x, is_positive, "mlp", seed=0), np.zeros(60))
    >>> bool(found[is_positive].mean() > found[~is_positive].mean())
    True
    """
    if not has_trees(sample):
        return networks
    trees = by_trees(sample, tick)
    wide = networks.std(), trees.std()
    # Scores that are all the same add nothing.
    scale = wide[0] / wide[1] if min(wide) > 0 else 1.0
    return (networks + scale * trees) / 2


def by_trees(sample: Sample, tick: Callable[[], object] = bool) -> Scores:
    """Log-odds of being labelled, by forests out of fold.

    Equal rows are in one fold: a forest would recognise copies of its training rows.

    Parameters
    ----------
    sample
        Rows of a table, and which are labelled.
    tick
        As above.
    """
    table, is_positive = sample.x[:].cpu().numpy(), sample.is_positive
    _, first, copy_of = np.unique(table, axis=0, return_index=True, return_inverse=True)
    share = np.zeros(len(table))
    for repeat in range(REPEATS):
        number = folds_of(sample, repeat)[first][copy_of.ravel()]
        for fold in np.unique(number):
            training, other = np.flatnonzero(number != fold), number == fold
            seed = sample.seed + repeat
            if is_positive[training].all() or not is_positive[training].any():
                # All rows of one label are copies, or nearly so.
                share[other] += 0.5 / REPEATS
                continue
            seen = training[some_of_each(is_positive[training], (MOST, MOST), seed)]
            forest = RandomForestClassifier(
                TREES, min_samples_leaf=LEAF, class_weight="balanced", random_state=seed
            )
            forest.fit(table[seen], is_positive[seen])
            share[other] += forest.predict_proba(table[other])[:, 1] / REPEATS
        tick()
    odds: Scores = logit(np.clip(share, EDGE, 1 - EDGE))
    return odds
