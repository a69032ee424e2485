"""PUbN without negatives: two steps of weighting (Hsieh, Niu, Sugiyama, 2019)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Best, Course, Fleet, soft_cross_entropy, soft_cross_entropy_grad
from robustpu.methods.minimize import early_stopping, minimize, of_batch, start
from robustpu.risks import logistic, nnpu, nnpu_grad
from robustpu.validation.parameters import number, param, parameters


@parameters
class PUbNClassifier(NeuralPUClassifier):
    """prior E_P[l(g) + [s > eta] (1 - s) / s l(-g)] + E_U[[s <= eta] (1 - s) l(-g)].

    s(x) is the probability of a positive by a first network, trained by nnPU with the logistic
    loss. Unlabelled rows below the threshold eta count as negatives, as far as they are; for the
    region above it labelled positives stand in. A second network, from the same initial weights,
    minimises this. The paper's method has biased negatives as well; this is its variant without,
    PUbN\\\\N. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    epochs
        Of each of the two steps.
    share
        eta is the quantile of s among the unlabelled rows at share * (1 - prior): the part of the
        negatives that is taken from the unlabelled rows.

    Examples
    --------
    >>> from robustpu import PUbNClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PUbNClassifier(prior=0.3, epochs=20, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    weight_decay: float = param(1e-4, number(least=0))
    share: float = param(0.9, number(above=0, most=1))

    @property
    def planned_epochs(self) -> int:
        return 2 * self.epochs

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        initial = fleet.state.copy()
        # Step 1: a network that tells how likely a row is positive.
        risk, grad = of_batch(nnpu, logistic), of_batch(nnpu_grad, logistic)
        minimize(fleet, settings, risk, grad)
        training = fleet.training
        prior, population_prior = fleet.prior, fleet.population_prior
        positive = among_unlabeled(fleet.logits(), prior, population_prior)
        level = fleet.per_member([member.share for member in settings]) * (1 - prior)
        priors = prior, population_prior
        weight, target = weigh(positive, training.is_positive, training.weight, level, *priors)

        # Step 2: another one, by weights that the first one gives.
        fleet.reunite(initial)
        course = Course(Best(fleet))
        start(fleet, settings, soft_cross_entropy, soft_cross_entropy_grad)
        epochs = range(settings[0].epochs + 1, 2 * settings[0].epochs + 1)
        for _ in early_stopping(fleet, settings, course, epochs):
            fleet.epoch(weight[fleet.alive], {"target": target[fleet.alive]})
        course.best.restore()
        return course


def among_unlabeled(logit: Tensor, prior: Tensor, population_prior: Tensor) -> Tensor:
    """Probability of a positive among the unlabelled rows, from logits for the population.

    Parameters
    ----------
    logit
        (members, rows).
    prior, population_prior
        (members,); equal in case-control data.

    Examples
    --------
    >>> logit, prior = torch.zeros(1, 1), torch.tensor([0.2])
    >>> round(among_unlabeled(logit, prior, torch.tensor([0.5])).item(), 4)
    0.2
    """
    shift = torch.logit(prior) - torch.logit(population_prior)
    return torch.sigmoid(logit + shift[:, None])


def weigh(
    positive: Tensor,
    is_positive: Tensor,
    sample_weight: Tensor,
    level: Tensor,
    prior: Tensor,
    population_prior: Tensor,
) -> tuple[Tensor, Tensor]:
    """Weights and targets of a cross-entropy that is the risk of the second step.

    A positive with l(g) + a l(-g) is a row of weight 1 + a with target 1 / (1 + a).

    Parameters
    ----------
    positive
        s, the probability of a positive among the unlabelled rows, (members, rows).
    is_positive
        Who is labelled, (members, rows).
    sample_weight
        (members, rows); E_P and E_U are means by these.
    level
        eta as a quantile of s among the unlabelled rows, (members,).
    prior, population_prior
        (members,).

    Examples
    --------
    >>> s = torch.tensor([[0.8, 0.1, 0.3, 0.9]])
    >>> labelled = torch.tensor([[True, False, False, False]])
    >>> ones, prior = torch.ones(1, 4), torch.tensor([0.4])
    >>> weight, target = weigh(s, labelled, ones, torch.tensor([0.5]), prior, prior)
    >>> weight, target
    (tensor([[2.0000, 1.2000, 0.9333, 0.0000]]), tensor([[0.8000, 0.0000, 0.0000, 0.0000]]))
    """
    on_positive = torch.where(is_positive, sample_weight, 0.0)
    on_unlabeled = sample_weight - on_positive
    above = positive > weighted_quantile(positive, on_unlabeled, level)[:, None]
    # E_N over the population: its share of negatives, by that of the unlabelled rows.
    scale = ((1 - population_prior) / (1 - prior))[:, None]
    odds = (1 - positive) / positive.clamp(min=1e-6)
    as_positive = population_prior[:, None]
    as_negative = scale * prior[:, None] * torch.where(above, odds, 0.0)
    left = scale * torch.where(above, 0.0, 1 - positive)
    weight = _shares(on_positive) * (as_positive + as_negative) + _shares(on_unlabeled) * left
    target = torch.where(is_positive, as_positive / (as_positive + as_negative), 0.0)
    # The cross-entropy divides by the rows again.
    return weight * positive.shape[1], target


def _shares(weight: Tensor) -> Tensor:
    total = weight.sum(1, keepdim=True)
    return weight / torch.where(total > 0, total, 1.0)


def weighted_quantile(value: Tensor, weight: Tensor, level: Tensor) -> Tensor:
    """Least value (members,) that a share ``level`` of the weight does not exceed.

    Examples
    --------
    >>> value, weight = torch.tensor([[3.0, 1.0, 2.0, 9.0]]), torch.tensor([[1.0, 1.0, 3.0, 0.0]])
    >>> weighted_quantile(value, weight, torch.tensor([0.5])).item()
    2.0
    """
    ascending, order = value.sort(dim=1)
    reached = weight.gather(1, order).double().cumsum(1)
    place = torch.searchsorted(reached, level[:, None] * reached[:, -1:])
    return ascending.gather(1, place.clamp(max=value.shape[1] - 1))[:, 0]
