"""A policy that visits rows one by one, and takes some of them; for all members at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from robustpu.fleet import Fleet

HIDDEN = (64, 32)
# The mean of what was taken so far is brought up to date after so many rows.
STRIDE = 64


@dataclass(frozen=True)
class Rows:
    """What the policy sees: hidden units (members, rows, units), and those of positives."""

    hidden: Tensor
    positive_mean: Tensor
    is_positive: Tensor


@dataclass(frozen=True)
class Visit:
    """One pass over the rows, (members, rows) each: their order, the states, who was chosen."""

    order: Tensor
    mean_chosen: Tensor
    is_chosen: Tensor


class Selector:
    """Networks 64-32-1, one a member: [row, mean of the chosen ones, mean of the positives] -> p.

    Parameters
    ----------
    fleet
        Whose hidden representation they see, and whose seeds they have.
    lr
        Learning rate of each.
    """

    def __init__(self, fleet: Fleet, lr: Sequence[float]):
        units = fleet.hidden().shape[2]
        widths = (3 * units, *HIDDEN, 1)
        generators = [torch.Generator().manual_seed(seed) for seed in fleet.seeds.tolist()]
        self._alive = fleet.alive
        self._layers = []
        for inputs, outputs in pairwise(widths):
            scale = 1 / math.sqrt(inputs)
            weight = torch.stack(
                [torch.randn(inputs, outputs, generator=own) * scale for own in generators]
            ).to(fleet.pool)
            bias = torch.zeros(len(generators), 1, outputs).to(fleet.pool)
            self._layers.append((weight.requires_grad_(), bias.requires_grad_()))
        parameters = [value for layer in self._layers for value in layer]
        # The rate of each member multiplies the gradient-free step, so it is applied by hand.
        self._optimizer = torch.optim.Adam(parameters, lr=1.0)
        self._lr = fleet.per_member(lr)[:, None, None]

    def rows(self, fleet: Fleet) -> Rows:
        """Look at the rows as the classifiers of a fleet see them now."""
        self._alive = fleet.alive
        hidden, is_positive = fleet.hidden(), fleet.training.is_positive
        # On one scale, whatever the classifier makes of them.
        hidden = hidden / hidden.flatten(1).std(1).clamp(min=1e-6)[:, None, None]
        count = is_positive.sum(1)[:, None, None]
        mean = (hidden * is_positive[..., None]).sum(1, keepdim=True) / count
        return Rows(hidden, mean, is_positive)

    def _logits(self, rows: Rows, mean_chosen: Tensor, hidden: Tensor) -> Tensor:
        x = torch.cat([hidden, mean_chosen, rows.positive_mean.expand_as(hidden)], dim=2)
        for depth, (weight, bias) in enumerate(self._layers, start=1):
            x = torch.baddbmm(bias[self._alive], x, weight[self._alive])
            x = x if depth == len(self._layers) else x.relu()
        return x.squeeze(2)

    @torch.no_grad()
    def visit(self, rows: Rows, draw: Tensor) -> Visit:
        """Pass over the unlabelled rows in a random order, and choose each with its probability.

        Parameters
        ----------
        rows
            What is seen.
        draw
            Uniform numbers, (members, rows).
        """
        unlabeled = ~rows.is_positive
        # Order and choice from one draw: its leading digits order, the others choose.
        order = draw.argsort(dim=1)
        chance = (draw * 4096) % 1
        taken = unlabeled[..., None].to(draw.dtype)
        everyone = (rows.hidden * taken).sum(1, keepdim=True) / taken.sum(1, keepdim=True)
        total, count = torch.zeros_like(everyone), torch.zeros_like(everyone[..., :1])
        is_chosen = torch.zeros_like(rows.is_positive)
        means = torch.empty_like(rows.hidden)
        for place in torch.split(order, STRIDE, dim=1):
            hidden = rows.hidden.gather(1, _wide(place, rows.hidden))
            mean = torch.where(count > 0, total / count.clamp(min=1), everyone)
            mean = mean.expand_as(hidden)
            probability = torch.sigmoid(self._logits(rows, mean, hidden))
            chosen = (chance.gather(1, place) < probability) & unlabeled.gather(1, place)
            is_chosen.scatter_(1, place, chosen)
            means.scatter_(1, _wide(place, means), mean)
            total = total + (hidden * chosen[..., None]).sum(1, keepdim=True)
            count = count + chosen.sum(1)[:, None, None]
        return Visit(order, means, is_chosen)

    def learn(self, rows: Rows, visit: Visit, value: Tensor) -> None:
        """Ascend on sum(value log p(choice)) over the unlabelled rows, values standardised.

        Parameters
        ----------
        rows, visit
            What was seen and done.
        value
            Return of each choice, (members, rows).
        """
        counts = (~rows.is_positive).to(value.dtype)
        mean = (value * counts).sum(1, keepdim=True) / counts.sum(1, keepdim=True)
        spread = ((value - mean).square() * counts).sum(1, keepdim=True) / counts.sum(
            1, keepdim=True
        )
        advantage = (value - mean) / spread.sqrt().clamp(min=1e-6)
        with torch.enable_grad():
            logit = self._logits(rows, visit.mean_chosen, rows.hidden)
            loss = torch.nn.functional.softplus(torch.where(visit.is_chosen, -logit, logit))
            risk = (advantage * loss * counts).sum(1) / counts.sum(1)
            torch.autograd.backward(risk.sum())
        before = [value.detach().clone() for layer in self._layers for value in layer]
        self._optimizer.step()
        self._optimizer.zero_grad()
        with torch.no_grad():
            parameters = [value for layer in self._layers for value in layer]
            for old, new in zip(before, parameters, strict=True):
                new.copy_(torch.lerp(old, new, self._lr))


def returns(logit: Tensor, visit: Visit, discount: Tensor) -> Tensor:
    """sum over later rows of discount^k r, r = clip((1 - 2 a) logit, -1, 1), (members, rows).

    Parameters
    ----------
    logit
        Of the classifier; choosing (a = 1) a row that it finds negative is rewarded.
    visit
        Order and choices.
    discount
        (members,).

    Examples
    --------
    >>> order = torch.tensor([[1, 0]])
    >>> visit = Visit(order, torch.empty(0), torch.tensor([[True, False]]))
    >>> returns(torch.tensor([[-0.5, 9.0]]), visit, torch.tensor([0.5])).tolist()
    [[0.5, 1.25]]
    """
    reward = torch.where(visit.is_chosen, -logit, logit).clamp(-1, 1)
    in_order = reward.gather(1, visit.order)
    value, factor = in_order.clone(), discount[:, None].clone()
    # Until nothing is left of a reward.
    for step in range(1, in_order.shape[1]):
        if float(factor.max()) < 1e-4:
            break
        value[:, :-step] += factor * in_order[:, step:]
        factor = factor * discount[:, None]
    return torch.zeros_like(value).scatter_(1, visit.order, value)


def choose(is_chosen: Tensor, is_positive: Tensor) -> Tensor:
    """Share of the unlabelled rows that was chosen, (members,).

    Examples
    --------
    >>> choose(torch.tensor([[True, False, True]]), torch.tensor([[True, False, False]])).item()
    0.5
    """
    unlabeled = ~is_positive
    return (is_chosen & unlabeled).sum(1) / unlabeled.sum(1)


def _wide(place: Tensor, like: Tensor) -> Tensor:
    return place[..., None].expand(*place.shape, like.shape[2])
