"""VPU: variational PU learning, without a prior (Chen, Liu, Wang, Zhao, Wu, 2020)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Batch, Best, Course, Fleet, Partners
from robustpu.methods.minimize import early_stopping, start
from robustpu.methods.mixup import shares, someone
from robustpu.risks import weighted_mean
from robustpu.scenario import check_scenario
from robustpu.selection import Settle
from robustpu.training import TrainingData
from robustpu.training.data import Floats
from robustpu.training.members import Trained
from robustpu.validation.parameters import accepted_by, number, param, parameters


@parameters
class VPUClassifier(NeuralPUClassifier):
    """log E_X[Phi] - E_P[log Phi] + a consistency of mixtures; answers are Phi / max Phi.

    Phi in (0, 1) models the probability of a positive up to a factor, and X is a sample of the
    population: the unlabelled rows, or all rows in the single-set scenario. No prior enters. Needs
    a region where all rows are positive, or probabilities come out too large. Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    mix_weight
        Weight of the consistency: (log of the mixed Phi - log Phi of the mixture)^2, mixtures of a
        row of X and a labelled positive, whose Phi is 1.
    alpha
        Shares in a mixture are drawn from Beta(alpha, alpha).
    prior
        Not used in training; for ``threshold="prior"``, PU-only selection and the collapse alarm.

    Attributes
    ----------
    scale_
        max Phi over the rows of fit that have weight, of each kept member.

    Examples
    --------
    >>> from robustpu import VPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = VPUClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    scenario: str = param("case-control", accepted_by(check_scenario), fleet=True)
    batch_size: int = param(256, number(least=1, whole=True), fleet=True)
    mix_weight: float = param(0.1, number(least=0))
    alpha: float = param(0.3, number(above=0))

    def decision(self) -> Settle | None:
        return super().decision() or relative_to_most

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        course = Course(Best(fleet))
        risk = partial(variational, labelled_too=first.scenario == "single-set")
        mix_weight = [member.mix_weight for member in settings]
        start(fleet, settings, risk, mix_weight=mix_weight)
        for _ in early_stopping(fleet, settings, course, range(1, first.epochs + 1)):
            # The share is that of the row of X; its partner is a labelled positive.
            share = shares(fleet, [member.alpha for member in settings])
            place = someone(fleet, fleet.training.is_positive)
            partners = Partners(fleet.training.index.gather(1, place), share)
            fleet.epoch(columns={"share": share}, partners=partners)
        course.best.restore()
        return course

    def member_probability(self, logit: Tensor) -> Floats:
        """Phi / max Phi of each member, at most 1."""
        probability: Floats = super().member_probability(logit) / self.scale_[:, None]
        return np.minimum(probability, 1)

    def describe_fit(self, logit: Tensor, data: TrainingData, kept: Sequence[Trained]) -> None:
        weight = torch.from_numpy(data.weight).to(logit.device)
        self.scale_ = largest(torch.sigmoid(logit.double()), weight).cpu().numpy()


def variational(logit: Tensor, batch: Batch, mix_weight: Tensor, labelled_too: bool) -> Tensor:
    """Risk (members,): logits of rows, then of their mixtures with positives, (members, 2 rows)."""
    clean, mixed = logit.chunk(2, dim=1)
    log_phi, log_mixed = functional.logsigmoid(clean), functional.logsigmoid(mixed)
    on_positive = torch.where(batch.is_positive, batch.weight, 0.0)
    on_population = batch.weight if labelled_too else batch.weight - on_positive
    has_both = (on_positive.sum(-1) > 0) & (on_population.sum(-1) > 0)
    # In logarithms all through: Phi itself may be too small a number.
    counted = torch.where(has_both[:, None], on_population, 1.0)
    log_mean = torch.logsumexp(log_phi + counted.log(), -1) - counted.sum(-1).log()
    fit = log_mean - weighted_mean(log_phi, on_positive)
    share = batch.columns["share"]
    wanted = torch.logaddexp(share.log() + log_phi, torch.log1p(-share))
    consistency = weighted_mean((wanted - log_mixed).square(), on_population)
    return torch.where(has_both, fit, 0.0) + mix_weight * consistency


def largest(phi: Tensor, weight: Tensor) -> Tensor:
    """Largest Phi of the rows that have weight, (members,).

    Examples
    --------
    >>> largest(torch.tensor([[0.1, 0.2, 0.6]]), torch.tensor([1.0, 2.0, 0.0]))
    tensor([0.2000])
    """
    most = torch.where(weight > 0, phi, 0.0).amax(1)
    # Held-out rows may all be without weight.
    return most.clamp(min=torch.finfo(phi.dtype).tiny)


def relative_to_most(logit: Tensor, population: Tensor, weight: Tensor, prior: Tensor) -> Tensor:
    """logit(Phi / max Phi), (members, rows): positive where the answer is.

    Examples
    --------
    >>> phi = torch.tensor([[0.1, 0.2, 0.6]])
    >>> everyone, prior = torch.ones(1, 3, dtype=torch.bool), torch.tensor([0.5])
    >>> relative_to_most(torch.logit(phi), everyone, torch.ones(1, 3), prior).sigmoid()
    tensor([[0.1667, 0.3333, 1.0000]])
    """
    phi = torch.sigmoid(logit.double())
    ratio = phi / largest(phi, weight)[:, None]
    return torch.logit(ratio.clamp(max=1 - 1e-12)).to(logit.dtype)
