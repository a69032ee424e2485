"""Scores of a table's rows by forests, out of fold: networks alone tell less."""

from collections.abc import Callable

import numpy as np
from scipy.special import logit
from sklearn.ensemble import RandomForestClassifier

from robustpu.priors.folds import REPEATS, Sample, Scores, folds_of
from robustpu.rows import some_of_each

TREES, LEAF = 50, 5
# Rows of each kind that a forest sees at most, and columns beyond which there are no forests: more
# take long.
MOST, WIDE = 3_000, 256
# Shares are kept off 0 and 1 by as much.
EDGE = 1e-3


def has_trees(sample: Sample) -> bool:
    """Whether forests score its rows: those of a table that is not very wide.

    Parameters
    ----------
    sample
        The rows.
    """
    return sample.x.ndim == 2 and sample.x.shape[1] <= WIDE


def with_trees(sample: Sample, networks: Scores, tick: Callable[[], object] = bool) -> Scores:
    """Mean of the scores of networks and of forests, of which both have the same deviation.

    Parameters
    ----------
    sample
        Rows, and which are labelled.
    networks
        Log-odds of being labelled, (rows,). The answer, if there are no forests.
    tick
        Called after each of the three turns of the forests.

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
    """Score every row by forests that have not seen it, and tell labelled from unlabelled rows.

    Equal rows are in one fold: a forest would know the copies of what it has seen.

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
                # All of a kind are copies of one row, or nearly so.
                share[other] += 0.5 / REPEATS
                continue
            seen = training[some_of_each(is_positive[training], (MOST, MOST), seed)]
            forest = RandomForestClassifier(
                TREES, min_samples_leaf=LEAF, class_weight="balanced", random_state=seed
            )
            forest.fit(table[seen], is_positive[seen])
            share[other] += forest.predict_proba(table[other])[:, 1] / REPEATS
        tick()
    answer: Scores = logit(np.clip(share, EDGE, 1 - EDGE))
    return answer
