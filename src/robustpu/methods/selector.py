"""A policy that visits rows one by one, and takes some of them; for all members at once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from robustpu.fleet import Fleet
from robustpu.risks import weighted_mean

HIDDEN = (64, 32)
# The mean of what was taken so far is updated after this many rows.
STRIDE = 64
# Added to the seeds, so that the initial weights are not those of the classifier.
SALT = 2_000_003


@dataclass(frozen=True)
class Rows:
    """What the policy sees.

    Hidden units (members, rows, units), their mean over the labelled positives
    (members, 1, units), and how much each row counts, 0 if it is not visited, (members, rows).
    """

    hidden: Tensor
    positive_mean: Tensor
    weight: Tensor


@dataclass(frozen=True)
class Visit:
    """One pass over the rows.

    Their order (members, rows), those that are not visited last; the mean of what was chosen
    before each of them (members, rows, units); and who was chosen (members, rows).
    """

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
        generators = [torch.Generator().manual_seed(seed + SALT) for seed in fleet.seeds.tolist()]
        self._alive = fleet.alive
        self._layers = []
        for inputs, outputs in pairwise(widths):
            scale = 1 / math.sqrt(inputs)
            weight = torch.stack(
                [
                    torch.randn(inputs, outputs, generator=generator) * scale
                    for generator in generators
                ]
            ).to(fleet.pool.device, fleet.pool.dtype)
            bias = torch.zeros(len(generators), 1, outputs).to(weight)
            self._layers.append((weight.requires_grad_(), bias.requires_grad_()))
        self._parameters = [value for layer in self._layers for value in layer]
        # Steps of a rate of 1, which are then shortened to the rate of each member.
        self._optimizer = torch.optim.Adam(self._parameters, lr=1.0)
        self._lr = fleet.per_member(lr)[:, None, None]

    def rows(self, fleet: Fleet) -> Rows:
        """Look at the rows as the classifiers of a fleet see them now; unlabelled ones count."""
        self._alive = fleet.alive
        hidden, training = fleet.hidden(), fleet.training
        # On one scale, whatever the classifier makes of them.
        size = weighted_mean(hidden.square().mean(2), training.weight).sqrt()
        hidden = hidden / size.clamp(min=1e-6)[:, None, None]
        on_positive = torch.where(training.is_positive, training.weight, 0.0)
        return Rows(hidden, _mean(hidden, on_positive), training.weight - on_positive)

    def logits(self, rows: Rows, mean_chosen: Tensor, hidden: Tensor) -> Tensor:
        """Log-odds of choosing rows in their states, (members, rows)."""
        x = torch.cat([hidden, mean_chosen, rows.positive_mean.expand_as(hidden)], dim=2)
        for depth, (weight, bias) in enumerate(self._layers, start=1):
            x = torch.baddbmm(bias[self._alive], x, weight[self._alive])
            x = x if depth == len(self._layers) else x.relu()
        return x.squeeze(2)

    @torch.no_grad()
    def visit(self, rows: Rows, order: Tensor, chance: Tensor) -> Visit:
        """Pass over the rows that count in a random order, and choose each with its probability.

        Parameters
        ----------
        rows
            What is seen.
        order, chance
            Uniform numbers, (members, rows): by the first rows are sorted; a row whose second one
            is below its probability is chosen.
        """
        counts = rows.weight > 0
        order = torch.where(counts, order, 2.0).argsort(dim=1, stable=True)
        mean = _mean(rows.hidden, rows.weight)
        total, mass = torch.zeros_like(mean), torch.zeros_like(mean[..., :1])
        is_chosen = torch.zeros_like(counts)
        means = torch.empty_like(rows.hidden)
        for place in torch.split(order, STRIDE, dim=1):
            hidden = rows.hidden.gather(1, _wide(place, rows.hidden))
            # Of all rows, until one is chosen.
            mean = torch.where(mass > 0, total / torch.where(mass > 0, mass, 1.0), mean)
            now = mean.expand_as(hidden)
            probability = torch.sigmoid(self.logits(rows, now, hidden))
            chosen = (chance.gather(1, place) < probability) & counts.gather(1, place)
            is_chosen.scatter_(1, place, chosen)
            means.scatter_(1, _wide(place, means), now)
            taken = (rows.weight.gather(1, place) * chosen)[..., None]
            total = total + (hidden * taken).sum(1, keepdim=True)
            mass = mass + taken.sum(1, keepdim=True)
        return Visit(order, means, is_chosen)

    def learn(self, rows: Rows, visit: Visit, value: Tensor, final: Tensor) -> None:
        """Ascend once on E[(standardised value + final) log p(choice)] over the rows that count.

        Parameters
        ----------
        rows, visit
            What was seen and done.
        value
            Return of each choice, (members, rows).
        final
            Reward of the whole visit, (members,). It is added after the mean of the values was
            taken away, which would take it away too.
        """
        value = value - weighted_mean(value, rows.weight)[:, None]
        spread = weighted_mean(value.square(), rows.weight).sqrt()
        advantage = value / spread.clamp(min=1e-6)[:, None] + final[:, None]
        with torch.enable_grad():
            logit = self.logits(rows, visit.mean_chosen, rows.hidden)
            loss = functional.softplus(torch.where(visit.is_chosen, -logit, logit))
            torch.autograd.backward(weighted_mean(advantage * loss, rows.weight).sum())
        before = [value.detach().clone() for value in self._parameters]
        self._optimizer.step()
        self._optimizer.zero_grad()
        with torch.no_grad():
            for old, new in zip(before, self._parameters, strict=True):
                new.copy_(torch.lerp(old, new, self._lr))


def returns(logit: Tensor, rows: Rows, visit: Visit, discount: Tensor) -> Tensor:
    """sum over later rows of discount^k r, r = clip((1 - 2 a) logit, -1, 1), (members, rows).

    Parameters
    ----------
    logit
        Of the classifier; choosing (a = 1) a row that it finds negative is rewarded.
    rows, visit
        Who counts, the order, and the choices.
    discount
        (members,).

    Examples
    --------
    >>> rows = Rows(torch.empty(0), torch.empty(0), torch.ones(1, 2))
    >>> visit = Visit(torch.tensor([[1, 0]]), torch.empty(0), torch.tensor([[True, False]]))
    >>> returns(torch.tensor([[-0.5, 9.0]]), rows, visit, torch.tensor([0.5])).tolist()
    [[0.5, 1.25]]
    """
    reward = torch.where(visit.is_chosen, -logit, logit).clamp(-1, 1)
    reward = torch.where(rows.weight > 0, reward, 0.0)
    value, factor, reach = reward.gather(1, visit.order), discount[:, None], 1
    # Sums over 1, 2, 4, ... rows: each from two of the sums before.
    while reach < value.shape[1]:
        later = functional.pad(value[:, reach:], (0, reach))
        value, factor, reach = value + factor * later, factor.square(), 2 * reach
    return torch.zeros_like(value).scatter_(1, visit.order, value)


def chosen_share(rows: Rows, visit: Visit) -> Tensor:
    """Share of the rows that count that was chosen, (members,).

    Examples
    --------
    >>> rows = Rows(torch.empty(0), torch.empty(0), torch.tensor([[0.0, 1.0, 1.0]]))
    >>> visit = Visit(torch.empty(0), torch.empty(0), torch.tensor([[False, False, True]]))
    >>> chosen_share(rows, visit).item()
    0.5
    """
    return weighted_mean(visit.is_chosen.to(rows.weight.dtype), rows.weight)


def _mean(hidden: Tensor, weight: Tensor) -> Tensor:
    """Weighted mean over the rows, (members, 1, units)."""
    return weighted_mean(hidden.transpose(1, 2), weight[:, None]).unsqueeze(1)


def _wide(place: Tensor, like: Tensor) -> Tensor:
    return place[..., None].expand(*place.shape, like.shape[2])
