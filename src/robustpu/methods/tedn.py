"""(TED)^n: prior and classifier in turns (Garg, Wu, Smola, Balakrishnan, Lipton, 2021)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Best, Course, Fleet, cross_entropy, cross_entropy_grad
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import early_stopping, start
from robustpu.priors import best_bin, least_positive
from robustpu.training import TrainingData
from robustpu.training.members import Trained
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import number, param, parameters


@parameters
class TEDnClassifier(NeuralPUClassifier):
    """P against U without its ``prior`` most positive rows, chosen anew in each epoch (CVIR).

    After a warm start, P against all of U, an epoch leaves out the share of the unlabelled rows
    that the network finds most positive, and takes the rest as negatives; both classes weigh the
    same. With ``prior="auto"`` the prior is estimated again before each epoch, by the best-bin
    estimate on held-out rows, and damped; with an ``eval_set``, or fewer than two positives held
    out, the first estimate stays. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    warm_epochs
        Of the warm start, part of ``epochs``.
    damping
        Weight of the earlier estimate of the prior in the next one.

    Attributes
    ----------
    prior_
        With ``prior="auto"`` the estimate at the selected epoch, mean of the kept members; else the
        number that was given, or what another estimator found before training: CVIR alone.

    Examples
    --------
    >>> from robustpu import TEDnClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = TEDnClassifier(prior=0.3, epochs=30, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    warm_epochs: int = param(10, number(least=0, whole=True), fleet=True)
    damping: float = param(0.9, number(least=0, below=1))
    validation_fraction: float = param(0.2, number(least=0, below=1))

    def check_combination(self) -> None:
        super().check_combination()
        check_number("warm_epochs", self.warm_epochs, least=0, below=self.epochs, whole=True)

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        course = Course(Best(fleet))
        prior = fleet.prior.clone()
        needs_estimation = torch.tensor(
            [member.prior == "auto" for member in settings], device=prior.device
        )
        damping = fleet.per_member([member.damping for member in settings])
        start(fleet, settings, cross_entropy, cross_entropy_grad)
        for epoch in early_stopping(fleet, settings, course, range(1, first.epochs + 1)):
            alive, is_positive = fleet.alive, fleet.training.is_positive
            kept = torch.ones_like(is_positive)
            if epoch > first.warm_epochs:
                if bool(needs_estimation[alive].any()):
                    found = held_out_priors(fleet)
                    damped = torch.lerp(found, prior[alive], damping[alive])
                    is_found = needs_estimation[alive] & found.isfinite()
                    prior[alive] = torch.where(is_found, damped, prior[alive])
                kept = least_positive(
                    fleet.logits(), is_positive, fleet.training.weight, prior[alive]
                )
            course.note(prior=prior[alive])
            half = torch.full_like(fleet.prior, 0.5)
            fleet.epoch(balanced(fleet.training.weight * kept, is_positive, half))
        course.best.restore()
        return course

    def describe_fit(self, logit: Tensor, data: TrainingData, kept: Sequence[Trained]) -> None:
        if self.prior == "auto":
            self.prior_ = float(np.mean([end.history[end.iteration - 1]["prior"] for end in kept]))
            self.population_prior_ = data.population_prior(self.prior_, self.scenario)


def held_out_priors(fleet: Fleet) -> Tensor:
    """Best-bin prior of each member on its held-out rows, (alive,); NaN where it has no bin.

    So it is if the truth is held out, or nothing, or fewer than two positives.
    """
    rows = fleet.held_out
    if rows is None:
        return torch.full_like(fleet.prior, torch.nan)
    logit, is_positive = fleet.logits(rows.index).cpu().numpy(), rows.is_positive.cpu().numpy()
    found = [
        best_bin(score[mask], score[~mask]) for score, mask in zip(logit, is_positive, strict=True)
    ]
    answer = torch.tensor(found, device=fleet.prior.device, dtype=fleet.prior.dtype)
    # Without a bin of two rows the answer is 0, not small but unknown.
    answer = torch.where(answer > 0, answer, torch.nan)
    edge = 1 / (1 + (~rows.is_positive).sum(1))
    return answer.clamp(edge, 1 - edge)
