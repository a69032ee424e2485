"""Alternate prior and scorer: (TED)^n (Garg et al., 2021), and a version of CAPU (Chang et al.).

Both train their own scorers, so they take rows and not scores. All estimates are made out of fold,
with five folds: no positive is lost to a validation set.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
import torch
from torch import Tensor

from robustpu.fleet import Batch, cross_entropy, cross_entropy_grad
from robustpu.priors.best_bin import best_bin
from robustpu.priors.crossfit import EPOCHS, Sample, Scores, begin, fold, out_of_fold
from robustpu.priors.kernel_mean import km2
from robustpu.priors.pretrained import pretrained
from robustpu.risks import logistic, nnpu_grad, upu

# Of (TED)^n: epochs of the warm start, and the last ones, whose estimates are averaged.
WARM, LAST = 10, 10
# Of CAPU: rounds at most, and the change of the prior that ends them.
ROUNDS, STILL = 10, 0.005


def tedn(sample: Sample) -> float:
    """Alternate the best-bin estimate with epochs on U less that share; the mean of the last.

    Parameters
    ----------
    sample
        Positives and unlabelled rows.

    Examples
    --------
    >>> abs(tedn(_gaussians(0.4)) - 0.4) < 0.1
    True
    """
    folded = fold([sample])
    fleet, found = folded.fleet, []
    begin(fleet, cross_entropy, cross_entropy_grad)
    is_positive, weight = fleet.training.is_positive, fleet.training.weight
    for epoch in range(WARM + EPOCHS):
        kept = torch.ones_like(is_positive)
        if epoch >= WARM:
            found.append(best_bin(*_parts(sample, folded.scores()[0])))
            share = torch.full_like(fleet.prior, float(np.mean(found[-LAST:])))
            kept = least_positive(fleet.logits(), is_positive, weight, share)
        fleet.epoch(_halves(weight * kept, is_positive))
    return float(np.mean(found[-LAST:]))


def capu(sample: Sample) -> float:
    """Alternate KM2 on the scores of uPU with uPU at that prior until convergence, as CAPU does.

    The update, step sizes and stopping rule of the paper are not known in detail.

    Parameters
    ----------
    sample
        Positives and unlabelled rows.

    Examples
    --------
    >>> abs(capu(_gaussians(0.4)) - 0.4) < 0.15
    True
    """
    edge = 1 / (1 + int((~sample.is_positive).sum()))
    prior = km2(*_parts(sample, out_of_fold([sample])[0]))
    for _ in range(ROUNDS):
        before = float(np.clip(prior, edge, 1 - edge))
        folded = fold([sample], repeats=1, prior=before)
        begin(folded.fleet, _upu, _upu_grad)
        for _ in range(EPOCHS):
            folded.fleet.epoch()
        prior = km2(*_parts(sample, folded.scores()[0]))
        if abs(prior - before) < STILL:
            break
    return prior


# Methods that need rows; "pretrained" trains nothing.
JOINT: Final[Mapping[str, Callable[[Sample], float]]] = {
    "tedn": tedn,
    "capu": capu,
    "pretrained": pretrained,
}


def least_positive(logit: Tensor, is_positive: Tensor, weight: Tensor, prior: Tensor) -> Tensor:
    """Mask, (members, rows), of positives and of unlabelled rows without the top share ``prior``.

    The share is one of the weight of the unlabelled rows.

    Examples
    --------
    >>> logit, labelled = torch.tensor([[9.0, 3.0, 1.0, 2.0, 0.0]]), torch.zeros(1, 5) > 0
    >>> labelled[0, 0] = True
    >>> least_positive(logit, labelled, torch.ones(1, 5), torch.tensor([0.5])).tolist()
    [[True, False, True, False, True]]
    """
    order = logit.argsort(dim=1, descending=True, stable=True)
    on_unlabeled = torch.where(is_positive, 0.0, weight)
    reached = on_unlabeled.gather(1, order).cumsum(1)
    is_dropped = reached <= (prior * on_unlabeled.sum(1))[:, None]
    return is_positive | ~is_dropped.gather(1, order.argsort(dim=1))


def _halves(weight: Tensor, is_positive: Tensor) -> Tensor:
    """Scale the weights of unlabelled rows, (members, rows), to the sum of the positives'."""
    on_positive = torch.where(is_positive, weight, 0.0)
    rest = weight - on_positive
    factor = on_positive.sum(1, keepdim=True) / rest.sum(1, keepdim=True).clamp(min=1e-30)
    return on_positive + rest * factor


def _parts(sample: Sample, score: Scores) -> tuple[Scores, Scores]:
    return score[sample.is_positive], score[~sample.is_positive]


def _upu(logit: Tensor, batch: Batch) -> Tensor:
    rows = logit, batch.is_positive, batch.weight
    return upu(*rows, batch.prior, batch.population_prior, logistic)


def _upu_grad(logit: Tensor, batch: Batch) -> Tensor:
    rows = logit, batch.is_positive, batch.weight
    return nnpu_grad(*rows, batch.prior, batch.population_prior, logistic, beta=math.inf)


def _gaussians(prior: float) -> Sample:
    """Two clouds, for the examples."""
    rng = np.random.default_rng(0)
    is_positive = np.arange(900) < 300
    is_true = is_positive | (rng.random(900) < prior)
    x = rng.normal(2.5 * is_true[:, None], 1.0, (900, 2))
    return Sample(torch.tensor(x, dtype=torch.float32), is_positive, "mlp", 0)
