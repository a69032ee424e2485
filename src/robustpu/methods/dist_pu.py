"""Dist-PU: the mean of the answers should be the share of positives (Zhao et al., 2022)."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Batch, Best, Course, Fleet, Partners
from robustpu.methods.minimize import early_stopping, start
from robustpu.methods.mixup import anyone, shares
from robustpu.risks import entropy, soft_bce, weighted_mean
from robustpu.validation.parameters import number, param, parameters

# Beyond this an answer is as good as certain, and its entropy has no grad.
MOST = 10.0


@parameters
class DistPUClassifier(NeuralPUClassifier):
    """|E_P[f] - 1| + |E_U[f] - prior| / (2 prior) + entropy of U, then with mixup.

    f is the probability of a positive. Batches should be large: a mean over few rows is noise.
    Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    epochs, lr, weight_decay
        Of the first stage, without mixup.
    mix_epochs, mix_lr
        Of the second stage, which goes on from the best epoch of the first.
    entropy_weight
        Weight of the entropy of unlabelled rows in the first stage.
    mix_entropy_weight
        What this weight grows to in the second stage, from 0 along a cosine.
    mixture_entropy_weight, mixture_weight
        Weights of the entropy, and of the cross-entropy with the mixed earlier answers, of
        mixtures.
    alpha
        Shares in a mixture are drawn from Beta(alpha, alpha).

    Examples
    --------
    >>> from robustpu import DistPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = DistPUClassifier(prior=0.3, epochs=20, mix_epochs=20, random_state=0)
    >>> model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.8
    True
    """

    batch_size: int = param(256, number(least=1, whole=True), fleet=True)
    weight_decay: float = param(5e-3, number(least=0))
    mix_epochs: int = param(60, number(least=1, whole=True), fleet=True)
    mix_lr: float = param(1e-3, number(above=0))
    entropy_weight: float = param(2e-3, number(least=0))
    mix_entropy_weight: float = param(4e-3, number(least=0))
    mixture_entropy_weight: float = param(0.04, number(least=0))
    mixture_weight: float = param(5.0, number(least=0))
    alpha: float = param(6.0, number(above=0))
    epochs: int = param(60, number(least=1, whole=True), fleet=True)

    @property
    def planned_epochs(self) -> int:
        return self.epochs + self.mix_epochs

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        def each(name: str) -> list[float]:
            return [getattr(member, name) for member in settings]

        first = settings[0]
        course = Course(Best(fleet))
        start(fleet, settings, warm_up, entropy_weight=each("entropy_weight"))
        for _ in early_stopping(fleet, settings, course, range(1, first.epochs + 1)):
            fleet.epoch()

        course.best.restore()
        # What the second stage starts from is as old as its start: patience begins anew.
        earlier = course.best.iteration.clone()
        course.best.iteration.fill_(first.epochs)
        numbers = {
            name: each(name)
            for name in ("mix_entropy_weight", "mixture_entropy_weight", "mixture_weight")
        }
        fleet.start(
            with_mixtures,
            each("mix_lr"),
            each("weight_decay"),
            each("warmup_epochs"),
            first.batch_size,
            None,
            None,
            **numbers,
        )
        for epoch in early_stopping(
            fleet, settings, course, range(first.epochs + 1, first.epochs + first.mix_epochs + 1)
        ):
            columns, partners = mixtures(fleet, each("alpha"))
            done = (epoch - first.epochs - 1) / first.mix_epochs
            columns["growth"] = torch.full_like(columns["target"], growth(done))
            fleet.epoch(columns=columns, partners=partners)
        best_epoch = course.best.iteration
        course.best.iteration = torch.where(best_epoch > first.epochs, best_epoch, earlier)
        course.best.restore()
        return course


def mixtures(fleet: Fleet, alpha: list[float]) -> tuple[dict[str, Tensor], Partners]:
    """Draw a partner for each row, and mix the present answers; those of positives are 1."""
    training = fleet.training
    answer = torch.sigmoid(fleet.logits())
    answer = torch.where(training.is_positive, 1.0, answer)
    place, share = anyone(fleet), shares(fleet, alpha)
    target = torch.lerp(answer.gather(1, place), answer, share)
    return {"target": target}, Partners(training.index.gather(1, place), share)


def growth(done: float) -> float:
    """1 - cos(done pi / 2): from 0 to 1, slowly at first.

    Examples
    --------
    >>> round(growth(0.5), 4)
    0.2929
    """
    return 1 - math.cos(done * math.pi / 2)


def label_distribution(logit: Tensor, batch: Batch) -> Tensor:
    """|E_P[f] - 1| + |E_U[f] - prior| / (2 prior), (members,), if case-control.

    The risk of the population, pi (1 - E_P[f]) + (1 - pi) E_N[f], is (pi + s prior) (1 - E_P[f])
    + s (E_U[f] - prior), with s = (1 - pi) / (1 - prior); here it is divided by its first factor.
    """
    answer = torch.sigmoid(logit)
    on_positive = torch.where(batch.is_positive, batch.weight, 0.0)
    on_unlabeled = batch.weight - on_positive
    # A batch may lack one of the two.
    of_positive = (weighted_mean(answer, on_positive) - 1).abs() * (on_positive.sum(-1) > 0)
    of_unlabeled = (weighted_mean(answer, on_unlabeled) - batch.prior).abs()
    scale = (1 - batch.population_prior) / (1 - batch.prior)
    factor = scale / (batch.population_prior + scale * batch.prior)
    return of_positive + factor * of_unlabeled * (on_unlabeled.sum(-1) > 0)


def _unlabeled_entropy(logit: Tensor, batch: Batch) -> Tensor:
    on_unlabeled = torch.where(batch.is_positive, 0.0, batch.weight)
    return weighted_mean(entropy(logit), on_unlabeled)


def warm_up(logit: Tensor, batch: Batch, entropy_weight: Tensor) -> Tensor:
    """Risk of the first stage, (members,)."""
    return label_distribution(logit, batch) + entropy_weight * _unlabeled_entropy(logit, batch)


def with_mixtures(
    logit: Tensor,
    batch: Batch,
    mix_entropy_weight: Tensor,
    mixture_entropy_weight: Tensor,
    mixture_weight: Tensor,
) -> Tensor:
    """Risk of the second stage, (members,): logits of rows, then of mixtures, (members, 2 rows)."""
    clean, mixed = logit.clamp(-MOST, MOST).chunk(2, dim=1)
    weight = mix_entropy_weight * batch.columns["growth"][:, 0]
    return (
        label_distribution(clean, batch)
        + weight * _unlabeled_entropy(clean, batch)
        + mixture_entropy_weight * weighted_mean(entropy(mixed), batch.weight)
        + mixture_weight * soft_bce(mixed, batch.columns["target"], batch.weight)
    )
