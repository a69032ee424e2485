"""LBE: classes and the chance of a label, both learnt (Gong et al., 2021)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import (
    Best,
    Course,
    Fleet,
    cross_entropy,
    cross_entropy_grad,
    soft_cross_entropy,
    soft_cross_entropy_grad,
)
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import early_stopping, start
from robustpu.modules import MODULES, ModuleFactory
from robustpu.risks import weighted_mean
from robustpu.validation.parameters import number, param, parameters, strategy


@parameters
class LBEClassifier(NeuralPUClassifier):
    """P(labelled | x) = h(x) eta(x), fitted by expectation and maximisation.

    h(x) is the probability of a positive, eta(x) the probability that a positive is labelled: it
    may depend on the row, so labels need not be selected completely at random. Only the product is
    determined by the data; what tells them apart is that both are simple, where they start, and
    the prior, which the mean of h over the unlabelled rows is held to. Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    warm_epochs
        First h learns labelled against unlabelled rows, for this many epochs.
    rounds, epochs
        Then ``rounds`` rounds, each with ``epochs`` epochs of h and of eta.
    label_module, label_lr, label_decay
        Network of eta, which starts at a half everywhere, its learning rate and its weight decay.
        The less it decays, the more of what tells rows apart eta may explain in place of h.

    Examples
    --------
    >>> from robustpu import LBEClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = LBEClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    epochs: int = param(5, number(least=1, whole=True), fleet=True)
    rounds: int = param(20, number(least=1, whole=True), fleet=True)
    warm_epochs: int = param(10, number(least=0, whole=True), fleet=True)
    weight_decay: float = param(1e-3, number(least=0))
    label_module: str | ModuleFactory = param("linear", strategy(MODULES), fleet=True)
    label_lr: float = param(1e-3, number(above=0))
    label_decay: float = param(0.3, number(least=0))

    @property
    def planned_epochs(self) -> int:
        return self.warm_epochs + self.rounds * self.epochs

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        labels = fleet.twin(first.label_module)
        begin_at_half(labels)
        course = Course(Best(fleet))
        training = fleet.training
        excess = sample_excess(
            training.is_positive, training.weight, fleet.prior, fleet.population_prior
        )
        start(fleet, settings, cross_entropy, cross_entropy_grad)
        # Labelled and unlabelled rows weigh the same, or hidden positives would look negative.
        weight = balanced(training.weight, training.is_positive, torch.full_like(fleet.prior, 0.5))
        for _ in range(first.warm_epochs):
            fleet.epoch(weight)
        for _ in early_stopping(fleet, settings, course, range(1, first.rounds + 1)):
            labels.keep(torch.isin(labels.alive, fleet.alive))
            training, shift = fleet.training, excess[fleet.alive]
            # Expectation: how likely each row is positive, given whether it is labelled.
            at_hand = fleet.logits() - shift[:, None]
            positive = expected(at_hand, labels.logits(), training.is_positive)
            positive = anchored(positive, training.is_positive, training.weight, fleet.prior)
            # Maximisation: classes for all rows, labels for positives.
            weight, target = for_population(positive, shift)
            start(fleet, settings, soft_cross_entropy, soft_cross_entropy_grad)
            labels.start(
                cross_entropy,
                [member.label_lr for member in settings],
                [member.label_decay for member in settings],
                [0.0 for _ in settings],
                first.batch_size,
                cross_entropy_grad,
            )
            for _ in range(first.epochs):
                fleet.epoch(training.weight * weight, {"target": target})
                labels.epoch(training.weight * positive)
        course.best.restore()
        return course


def begin_at_half(labels: Fleet) -> None:
    """Let eta be a half everywhere: the last linear layer is zero, those before it may learn."""
    template = labels.network.template
    last = [name for name, layer in template.named_modules() if isinstance(layer, nn.Linear)][-1:]
    for name, value in labels.network.views(labels.state.flat).items():
        if name.rpartition(".")[0] in last:
            value.zero_()


def sample_excess(
    is_positive: Tensor, weight: Tensor, prior: Tensor, population_prior: Tensor
) -> Tensor:
    """Log-odds of a positive in the population less those among the rows at hand, (members,).

    0 in the single-set scenario, where the rows at hand are a sample of the population.

    Parameters
    ----------
    is_positive, weight
        Who is labelled, and how much each row counts, (members, rows).
    prior, population_prior
        (members,).

    Examples
    --------
    >>> labelled, prior = torch.tensor([[True, True, False, False]]), torch.tensor([0.5])
    >>> excess = sample_excess(labelled, torch.ones(1, 4), prior, prior)
    >>> round(excess.exp().item(), 4)  # 1 : 1 in the population, 3 : 1 among the rows at hand
    0.3333
    """
    labelled = weighted_mean(is_positive.to(weight.dtype), weight)
    at_hand = labelled + (1 - labelled) * prior
    return torch.logit(population_prior) - torch.logit(at_hand)


def expected(logit: Tensor, label_logit: Tensor, is_positive: Tensor) -> Tensor:
    """h (1 - eta) / (1 - h eta) of unlabelled rows, 1 of labelled ones, (members, rows).

    Parameters
    ----------
    logit, label_logit
        Of h and of eta, (members, rows).
    is_positive
        Who is labelled.

    Examples
    --------
    >>> half = torch.zeros(1, 2)
    >>> found = expected(half, half, torch.tensor([[True, False]]))
    >>> [round(value, 4) for value in found[0].tolist()]
    [1.0, 0.3333]
    """
    positive, labelled = torch.sigmoid(logit), torch.sigmoid(label_logit)
    hidden = positive * (1 - labelled) / (1 - positive * labelled).clamp(min=1e-6)
    return torch.where(is_positive, 1.0, hidden)


def anchored(positive: Tensor, is_positive: Tensor, weight: Tensor, prior: Tensor) -> Tensor:
    """Shift the log-odds of unlabelled rows so that their mean probability is the prior.

    Without it, round after round, rows that look a little negative become more so, until h is the
    probability of a label and eta is 1: that explains the data as well.

    Parameters
    ----------
    positive
        Probabilities, (members, rows).
    is_positive
        Who is labelled; these stay as they are.
    weight
        How much each row counts in the mean.
    prior
        (members,).

    Examples
    --------
    >>> labelled = torch.tensor([[True, False, False]])
    >>> positive, prior = torch.tensor([[1.0, 0.1, 0.3]]), torch.tensor([0.5])
    >>> answer = anchored(positive, labelled, torch.ones(1, 3), prior)
    >>> round(answer[0, 1:].mean().item(), 3)
    0.5
    """
    odds = torch.logit(positive, eps=1e-6)
    on_unlabeled = torch.where(is_positive, 0.0, weight)
    low, high = torch.full_like(prior, -30.0), torch.full_like(prior, 30.0)
    for _ in range(30):
        middle = (low + high) / 2
        is_above = weighted_mean(torch.sigmoid(odds + middle[:, None]), on_unlabeled) > prior
        low, high = torch.where(is_above, low, middle), torch.where(is_above, middle, high)
    return torch.where(is_positive, positive, torch.sigmoid(odds + low[:, None]))


def for_population(positive: Tensor, excess: Tensor) -> tuple[Tensor, Tensor]:
    """Weights and targets that make up for the excess of positives, (members, rows) each.

    Parameters
    ----------
    positive
        Probabilities among the rows at hand.
    excess
        Log-odds to add, (members,).

    Examples
    --------
    >>> weight, target = for_population(torch.tensor([[0.5]]), torch.tensor([0.0]))
    >>> weight.item(), target.item()
    (1.0, 0.5)
    """
    counted = positive * excess.exp()[:, None]
    weight = counted + 1 - positive
    return weight, counted / weight.clamp(min=1e-30)
