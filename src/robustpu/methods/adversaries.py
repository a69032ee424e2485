"""Two generators against three discriminators, for all members at once: the game of GenPU.

Members come first in all shapes, then the discriminators D_p, D_u, D_n or the generators G_p, G_n,
in this order.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import leaky_relu, softplus

from robustpu.fleet import Adam, Fleet

# Slope of a unit below zero, and of the gradient through a number that was cut to its range.
LEAK = 0.2
# Discriminators aim at this for real rows, not at 1: one that is sure teaches generators nothing.
SURE = 0.9
# Added to the seeds, so that weights and draws are not those of the classifier.
SALT = 3_000_017


def discriminator_risk(real: Tensor, fake: Tensor, prior: Tensor) -> Tensor:
    """Cross-entropy of real against generated rows, summed over D_p, D_u, D_n, (members,).

    D_p is shown G_p, D_n is shown G_n, and D_u the mixture prior G_p + (1 - prior) G_n. Real rows
    have the target 0.9. Optimisers do not mind the factors of the paper's value function, so they
    are left out here.

    Parameters
    ----------
    real
        Logits of the rows that each takes for real, (members, 3, rows).
    fake
        Logits of generated rows, (members, 3, 2, rows).
    prior
        (members,).

    Examples
    --------
    >>> risk = discriminator_risk(torch.zeros(1, 3, 5), torch.zeros(1, 3, 2, 5), torch.ones(1) / 2)
    >>> round(risk.item() / math.log(2), 4)
    6.0
    """
    never, always = torch.zeros_like(prior), torch.ones_like(prior)
    share = torch.stack([always, never, prior, 1 - prior, never, always], dim=1).view(-1, 3, 2)
    on_real = SURE * softplus(-real) + (1 - SURE) * softplus(real)
    on_fake = share * softplus(fake).mean(3)
    return on_real.mean(2).sum(1) + on_fake.sum((1, 2))


def generator_risk(fake: Tensor, lambda_positive: Tensor, lambda_negative: Tensor) -> Tensor:
    """-E[lambda_p log D_p(G_p) + log D_u(G_p) + log D_u(G_n) + lambda_n log(1 - D_n(G_n))].

    G_p is to pass for labelled and for unlabelled rows; G_n for unlabelled, but not for labelled
    ones. (members,).

    Parameters
    ----------
    fake
        Logits of generated rows, (members, 3, 2, rows).
    lambda_positive, lambda_negative
        (members,).

    Examples
    --------
    >>> risk = generator_risk(torch.zeros(1, 3, 2, 5), torch.tensor([2.0]), torch.tensor([0.5]))
    >>> round(risk.item() / math.log(2), 4)
    4.5
    """
    passed, caught = softplus(-fake).mean(3), softplus(fake).mean(3)
    of_positive = lambda_positive * passed[:, 0, 0] + passed[:, 1, 0]
    return of_positive + passed[:, 1, 1] + lambda_negative * caught[:, 2, 1]


def steepness(discriminators: Callable[[Tensor], Tensor], real: Tensor) -> Tensor:
    """Half the mean squared grad of the logits at real rows, summed over D_p, D_u, D_n.

    (members,). As a penalty it keeps discriminators from judging by details that no generator
    gets right: what is made easily would then pass best, and little else be made.

    Parameters
    ----------
    discriminators
        Logits (members, 3, rows, 1) of rows (members, 3, rows, columns).
    real
        What each takes for real, (members, 3, rows, columns).

    Examples
    --------
    >>> grad = torch.tensor([3.0, 4.0])
    >>> steepness(lambda x: (x * grad).sum(3, keepdim=True), torch.zeros(1, 3, 5, 2)).item()
    37.5
    """
    real = real.detach().requires_grad_()
    with torch.enable_grad():
        logit = discriminators(real)
        (grad,) = torch.autograd.grad(logit.sum(), real, create_graph=True)
        return grad.square().sum(3).mean(2).sum(1) / 2


class _Adam(Adam):
    # With 0.9 a step follows where the adversary was, and the game swings.
    beta1 = 0.5


class Chains:
    """Networks of linear layers and leaky ReLUs, ``count`` a member, with their optimiser.

    Parameters
    ----------
    widths
        Inputs, hidden units, outputs.
    count
        How many each member has.
    random
        Each member's source of initial weights.
    lr
        Learning rate of each member, (members,).
    """

    def __init__(
        self, widths: Sequence[int], count: int, random: Sequence[torch.Generator], lr: Tensor
    ):
        # The last row of each is the bias.
        self._shapes = [(count, inputs + 1, outputs) for inputs, outputs in pairwise(widths)]
        self._sizes = [math.prod(shape) for shape in self._shapes]
        scale = torch.tensor([inputs**-0.5 for inputs in widths[:-1]])
        scale = scale.repeat_interleave(torch.tensor(self._sizes))
        draws = torch.stack([torch.randn(len(scale), generator=generator) for generator in random])
        self._flat = (draws * scale).to(lr).requires_grad_()
        self._adam = _Adam(self._flat.detach(), torch.stack([lr, 0 * lr, 0 * lr], dim=1))

    def __call__(self, x: Tensor) -> Tensor:
        """Outputs (members, count, rows, outputs) of inputs (members, count, rows, inputs)."""
        layers = torch.split(self._flat, self._sizes, dim=1)
        for depth, (layer, shape) in enumerate(zip(layers, self._shapes, strict=True)):
            weight, bias = torch.split(layer.view(-1, *shape), [shape[1] - 1, 1], dim=2)
            x = (leaky_relu(x, LEAK) if depth else x) @ weight + bias
        return x

    def descend(self, risk: Tensor) -> None:
        """Step down a risk (members,)."""
        (grad,) = torch.autograd.grad(risk.sum(), self._flat)
        self._adam.gradient.copy_(grad)
        self._adam.step()

    def keep(self, index: Tensor) -> None:
        """Go on with the members at these places."""
        flat = self._flat.detach()[index]
        self._adam.select(index, flat.detach())
        self._flat = flat.requires_grad_()


class Adversaries:
    """The five networks of each member, and the rows that they are shown.

    Parameters
    ----------
    fleet
        Whose training rows they see, drawn by weight, and whose seeds they have.
    noise, hidden, batch_size
        Inputs of a generator, hidden units of all networks, and rows of a step.
    generator_lr, discriminator_lr
        Learning rates, one number a member each.
    """

    def __init__(
        self,
        fleet: Fleet,
        noise: int,
        hidden: int,
        batch_size: int,
        generator_lr: Sequence[float],
        discriminator_lr: Sequence[float],
    ):
        training = fleet.training
        self._noise, self._batch = noise, batch_size
        self._pool, self._index = fleet.pool, training.index
        self._random = [torch.Generator().manual_seed(seed + SALT) for seed in fleet.seeds.tolist()]
        self._labelled = _chance(training.weight, training.is_positive)
        self._unlabeled = _chance(training.weight, ~training.is_positive)
        counts = (self._labelled + self._unlabeled > 0).to(training.index.device)
        rows = [
            fleet.pool[index[count]].flatten(1)
            for index, count in zip(training.index, counts, strict=True)
        ]
        self._low = torch.stack([part.amin(0) for part in rows])[:, None, None]
        self._high = torch.stack([part.amax(0) for part in rows])[:, None, None]
        self._variance = torch.stack([part.var(0, correction=0).mean() for part in rows])[:, None]
        columns, lr = rows[0].shape[1], fleet.per_member(generator_lr)
        self._generators = Chains((noise, hidden, columns), 2, self._random, lr)
        lr = fleet.per_member(discriminator_lr)
        self._discriminators = Chains((columns, hidden, 1), 3, self._random, lr)

    def keep(self, mask: Tensor) -> None:
        """Go on with these of the members that still train, (members,)."""
        if bool(mask.all()):
            return
        index = mask.nonzero()[:, 0]
        for name in ("_index", "_labelled", "_unlabeled", "_low", "_high", "_variance"):
            value = getattr(self, name)
            setattr(self, name, value[index.to(value.device)])
        self._random = [self._random[place] for place in index.tolist()]
        self._generators.keep(index)
        self._discriminators.keep(index)

    @torch.enable_grad()
    def epoch(
        self, prior: Tensor, lambda_positive: Tensor, lambda_negative: Tensor, penalty: Tensor
    ) -> None:
        """Play as many steps as there are batches of training rows; numbers are (members,)."""
        # Second derivatives cost time, so there are none for nothing.
        calm = bool((penalty > 0).any())
        for _ in range(0, self._index.shape[1], self._batch):
            positive, unlabeled = (
                self._draw(chance, self._batch) for chance in (self._labelled, self._unlabeled)
            )
            real = torch.stack([positive, unlabeled, positive], dim=1)
            # Every discriminator sees what both make.
            made = self._make(self._batch).flatten(1, 2)[:, None].expand(-1, 3, -1, -1)
            shown = torch.cat([real, made.detach()], dim=2)
            logit = self._discriminators(shown).view(-1, 3, 3, self._batch)
            risk = discriminator_risk(logit[:, :, 0], logit[:, :, 1:], prior)
            if calm:
                risk = risk + penalty * steepness(self._discriminators, real)
            self._discriminators.descend(risk)
            logit = self._discriminators(made).view(-1, 3, 2, self._batch)
            risk = generator_risk(logit, lambda_positive, lambda_negative)
            self._generators.descend(risk)

    @torch.no_grad()
    def rows(self, is_positive: Tensor, is_real: Tensor) -> tuple[Tensor, Tensor]:
        """Make rows by G_p where they are to be positive, and by G_n elsewhere.

        Parameters
        ----------
        is_positive
            (members, rows).
        is_real
            Where labelled rows are drawn instead, (members, rows).

        Returns
        -------
        rows
            As those of the pool, (members, rows, ...).
        spread
            Of what G_p and G_n make: root of the mean variance of a column, as a share of that of
            the training rows, (members, 2). 0 if all are alike.
        """
        count = is_positive.shape[1]
        made = self._make(count)
        # Of constant columns alone all rows are alike.
        tiny = torch.finfo(made.dtype).tiny
        spread = (made.var(2, correction=0).mean(2) / self._variance.clamp(min=tiny)).sqrt()
        rows = torch.where(is_positive[..., None], made[:, 0], made[:, 1])
        rows = torch.where(is_real[..., None], self._draw(self._labelled, count), rows)
        return rows.view(*is_positive.shape, *self._pool.shape[1:]), spread

    def _draw(self, chance: Tensor, count: int) -> Tensor:
        """Draw real rows, (members, count, columns)."""
        place = [
            torch.multinomial(weights, count, replacement=True, generator=random)
            for weights, random in zip(chance, self._random, strict=True)
        ]
        index = self._index.gather(1, torch.stack(place).to(self._index.device))
        return self._pool[index].flatten(2)

    def _make(self, count: int) -> Tensor:
        """Make rows by G_p and by G_n, (members, 2, count, columns), in the columns' range."""
        noise = [
            torch.randn(2, count, self._noise, generator=generator) for generator in self._random
        ]
        given = torch.stack(noise).to(self._pool.device, self._pool.dtype)
        return cut(self._generators(given), self._low, self._high)


def _chance(weight: Tensor, mask: Tensor) -> Tensor:
    """Chance of each row to be drawn, (members, rows), on the host like the generators."""
    inside = torch.where(mask, weight, 0.0).double().cpu()
    # If only held-out rows count, those at hand are alike.
    return torch.where(inside.sum(1, keepdim=True) > 0, inside, mask.double().cpu())


def cut(x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Cut numbers to their range; a fifth of the gradient passes, so that they can come back.

    Examples
    --------
    >>> x = torch.tensor([0.5, 3.0], requires_grad=True)
    >>> inside = cut(x, torch.zeros(2), torch.ones(2))
    >>> inside.tolist(), torch.autograd.grad(inside.sum(), x)[0].tolist()
    ([0.5, 1.0], [1.0, 0.2...])
    """
    inside = torch.minimum(torch.maximum(x, low), high)
    path = torch.lerp(inside, x, LEAK)
    return inside.detach() + (path - path.detach())
