"""GenPU: both classes are generated, and told apart (Hou, Chaib-draa, Li, Zhao, 2018)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Best, Course, Fleet, Member, Rows, cross_entropy, cross_entropy_grad
from robustpu.methods.adversaries import Adversaries
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import early_stopping, start
from robustpu.modules import ModuleFactory
from robustpu.validation.parameters import number, param, parameters

# Without it nine of ten negatives that G_n makes on MNIST are ones, the simplest digit.
PENALTY_OF_PICTURES = 3.0


@parameters
class GenPUClassifier(NeuralPUClassifier):
    """A classifier of generated rows: G_p makes positives, and prior G_p + (1 - prior) G_n makes U.

    Three discriminators score what two generators make: G_p must pass for labelled positives; G_p
    and G_n, mixed by the prior, for unlabelled rows; and G_n is pushed away from labelled
    positives. After each epoch of this game the classifier trains for one epoch on fresh rows.
    Labels must be selected completely at random. Such games are **unstable**, most of all with
    other numbers than the defaults. ``n_members`` averages several; ``spread_positive`` and
    ``spread_negative`` in ``history_`` fall towards 0 when a generator collapses. Parameters as in
    :class:`robustpu.RobustPUClassifier`, sample weights being chances to be drawn, and

    Parameters
    ----------
    lambda_positive
        How much it counts for G_p to pass for labelled positives; to pass for unlabelled rows
        counts 1.
    lambda_negative
        How much it counts for G_n not to pass for labelled positives. If large, negatives that
        look like positives are never made.
    noise, hidden
        Inputs of the generators, and hidden units of generators and discriminators.
    generator_lr, discriminator_lr
        Their learning rates.
    penalty
        How much it counts for discriminators to be flat at real rows. On pictures it keeps G_n
        from making little but the simplest negatives. None: 3 for pictures, 0 for tables.
    real_share
        Share of labelled rows among the positives that the classifier sees; all others are made.

    Examples
    --------
    >>> from robustpu import GenPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = GenPUClassifier(prior=0.3, epochs=40, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    lambda_positive: float = param(1.0, number(least=0))
    lambda_negative: float = param(0.1, number(least=0))
    noise: int = param(32, number(least=1, whole=True), fleet=True)
    hidden: int = param(128, number(least=1, whole=True), fleet=True)
    generator_lr: float = param(1e-3, number(above=0))
    discriminator_lr: float = param(1e-3, number(above=0))
    penalty: float | None = param(None, number(least=0, optional=True))
    real_share: float = param(0.5, number(least=0, most=1))

    epoch_cost = 12

    _causes = (
        "Common causes are a wrong prior, too few epochs, or generators that have collapsed "
        "(spread_positive or spread_negative in history_ is near 0): try another random_state, "
        "more n_members, or lower learning rates of the generators and discriminators."
    )

    def check_combination(self) -> None:
        super().check_combination()
        if self.mirror:
            raise ValueError(
                "mirror=True flips the rows that a network trains on; GenPU generates rows, and "
                "learns from the given ones what to generate: leave it out, or add flipped rows "
                "to X."
            )

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        adversaries = Adversaries(
            fleet,
            first.noise,
            first.hidden,
            first.batch_size,
            [member.generator_lr for member in settings],
            [member.discriminator_lr for member in settings],
        )
        usual = PENALTY_OF_PICTURES if len(fleet.pool.shape) > 2 else 0.0
        penalties = [usual if member.penalty is None else member.penalty for member in settings]
        learner = learner_of(fleet, first.module)
        start(learner, settings, cross_entropy, cross_entropy_grad)
        course = Course(Best(fleet))
        for _ in early_stopping(fleet, settings, course, range(1, first.epochs + 1)):
            stay = torch.isin(learner.alive, fleet.alive)
            adversaries.keep(stay)
            learner.keep(stay)
            adversaries.epoch(
                fleet.prior,
                fleet.per_member([member.lambda_positive for member in settings]),
                fleet.per_member([member.lambda_negative for member in settings]),
                fleet.per_member(penalties),
            )
            is_positive = learner.training.is_positive
            real = fleet.per_member([member.real_share for member in settings]) * is_positive.sum(1)
            is_real = is_positive.cumsum(1) <= real.round()[:, None]
            rows, spread = adversaries.rows(is_positive, is_positive & is_real)
            assert isinstance(learner.pool, Tensor)
            learner.pool[learner.training.index] = rows
            course.note(spread_positive=spread[:, 0], spread_negative=spread[:, 1])
            learner.epoch()
            fleet.state = learner.state
        course.best.restore()
        return course


def learner_of(fleet: Fleet, module: str | ModuleFactory) -> Fleet:
    """Make a fleet of the same networks, with a pool of its own to be filled with generated rows.

    There are as many rows as the members train on. The first ones are positive, as many as the
    population prior tells; weights make up for the rounding.
    """
    training, prior = fleet.training, fleet.population_prior
    members, n = training.index.shape
    place = torch.arange(members * n, device=fleet.pool.device).view(members, n)
    is_positive = place % n < (prior * n).round().clamp(1, n - 1)[:, None]
    weight = balanced(torch.ones_like(training.weight), is_positive, prior)
    crew = [
        Member(Rows(*rows), None, prior, prior, seed, 0)
        for *rows, prior, seed in zip(
            place, is_positive, weight, prior.tolist(), fleet.seeds.tolist(), strict=True
        )
    ]
    learner = Fleet(fleet.pool[training.index.reshape(-1)], crew, module)
    learner.state, learner.on_epoch = fleet.state.copy(), fleet.on_epoch
    return learner
