"""P3Mix: mixup whose partners are chosen, with U as noisy negatives (Li et al., 2022)."""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Batch, Best, Course, Fleet, Partners
from robustpu.methods.minimize import early_stopping, start
from robustpu.methods.mixup import PARTNER, SIDE, shares, someone
from robustpu.methods.teacher import Teacher
from robustpu.risks import entropy, logistic, weighted_mean
from robustpu.validation.parameters import number, param, parameters

# Logit of 1 - 1e-4: probabilities are kept off 0 and 1 by as much.
MOST = 9.21024
# A teacher never forgets faster than this.
DECAY = 0.997


@parameters
class _P3Mix(NeuralPUClassifier):
    """What the two variants share."""

    weight_decay: float = param(1e-6, number(least=0))
    alpha: float = param(1.0, number(above=0))
    mix_layer: int = param(1, number(least=0, whole=True), fleet=True)
    start_epoch: int = param(5, number(least=0, whole=True))
    pool_size: int = param(96, number(least=1, whole=True))
    gamma: float = param(0.85, number(above=0.5, below=1))
    unlabeled_weight: float = param(1.0, number(above=0))
    entropy_weight: float = param(0.1, number(least=0))

    epoch_cost = 3

    # Numbers of the risk.
    _numbers: ClassVar[tuple[str, ...]] = ("unlabeled_weight", "entropy_weight")

    @classmethod
    def _target(cls, logit: Tensor, is_positive: Tensor, gamma: Tensor, begun: Tensor) -> Tensor:
        """Answers that rows are to learn, before they are mixed, (alive, rows)."""
        return is_positive.to(logit.dtype)

    @classmethod
    def _teacher(cls, fleet: Fleet) -> Teacher | None:
        """Make teachers, if the variant has them."""
        return None

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        def each(name: str) -> list[float]:
            return [getattr(member, name) for member in settings]

        course = Course(Best(fleet))
        teacher = cls._teacher(fleet)
        numbers = {name: each(name) for name in cls._numbers}
        start(fleet, settings, at_mixtures, None, settings[0].mix_layer, **numbers)
        for epoch in early_stopping(fleet, settings, course, range(1, settings[0].epochs + 1)):
            is_positive = fleet.training.is_positive
            logit = fleet.logits()
            gamma = fleet.per_member(each("gamma"))[:, None]
            begun = (epoch > fleet.per_member(each("start_epoch")))[:, None]
            target = cls._target(logit, is_positive, gamma, begun)
            # Rows without weight would be partners to nobody, and take up room in the pool.
            known = is_positive & (fleet.training.weight > 0)
            place, from_pool = choose_partners(
                fleet,
                marginal(logit, is_positive, gamma) & begun,
                candidates(logit, known, fleet.per_member(each("pool_size"))),
            )
            share = shares(fleet, each("alpha"))
            share = torch.maximum(share, 1 - share)
            columns = {"target": _mixed(target, place, share, from_pool)}
            if teacher is not None:
                early = torch.sigmoid(teacher.logits())
                columns["teacher"] = _mixed(early, place, share, from_pool)
            fleet.epoch(
                columns=columns, partners=Partners(fleet.training.index.gather(1, place), share)
            )
            if teacher is not None:
                # The first epoch copies the student; then a mean over all epochs so far.
                teacher.learn(min(1 - 1 / epoch, DECAY))
        course.best.restore()
        return course


@parameters
class P3MixEClassifier(_P3Mix):
    """Cross-entropy at mixtures, U as negatives, kept near an early teacher's answers.

    Unlabelled rows near the boundary are mixed with labelled positives near it, all others with
    anyone. No prior enters. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    alpha
        Shares in a mixture are drawn from Beta(alpha, alpha); the row has the larger one.
    mix_layer
        Rows are mixed after this many ReLUs, if the module is a chain of layers; 0: at the inputs.
    start_epoch
        Until then, partners are drawn from everyone, and nothing is corrected.
    pool_size
        Number of labelled positives, those of the largest entropy, that marginal rows are mixed
        with.
    gamma
        Unlabelled rows with a probability in (1 - gamma, gamma) are marginal.
    unlabeled_weight, entropy_weight
        Weights of the unlabelled rows, and of the entropy of all answers, which is minimised.
    early_weight
        Weight of log(1 - <q, p>), q being the teacher's answer, a running mean over the epochs.

    Examples
    --------
    >>> from robustpu import P3MixEClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = P3MixEClassifier(prior=0.3, epochs=40, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    early_weight: float = param(1.0, number(least=0))
    unlabeled_weight: float = param(0.5, number(above=0))

    _numbers: ClassVar[tuple[str, ...]] = (*_P3Mix._numbers, "early_weight")

    @classmethod
    def _teacher(cls, fleet: Fleet) -> Teacher | None:
        return Teacher(fleet)


@parameters
class P3MixCClassifier(_P3Mix):
    """Cross-entropy at mixtures, U as negatives but where the network is sure of the contrary.

    As :class:`robustpu.P3MixEClassifier`, without a teacher: unlabelled rows with a probability of
    at least ``gamma`` count as positives.

    Examples
    --------
    >>> from robustpu import P3MixCClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = P3MixCClassifier(prior=0.3, epochs=40, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    gamma: float = param(0.8, number(above=0.5, below=1))

    @classmethod
    def _target(cls, logit: Tensor, is_positive: Tensor, gamma: Tensor, begun: Tensor) -> Tensor:
        target = super()._target(logit, is_positive, gamma, begun)
        return torch.where(begun, corrected(logit, is_positive, gamma), target)


def marginal(logit: Tensor, is_positive: Tensor, gamma: Tensor) -> Tensor:
    """Unlabelled rows with 1 - gamma < f < gamma, (members, rows).

    Examples
    --------
    >>> logit, labelled = torch.logit(torch.tensor([[0.5, 0.5, 0.9]])), torch.zeros(1, 3) > 0
    >>> labelled[0, 0] = True
    >>> marginal(logit, labelled, torch.tensor([[0.8]])).tolist()
    [[False, True, False]]
    """
    return ~is_positive & (logit.abs() < torch.logit(gamma))


def corrected(logit: Tensor, is_positive: Tensor, gamma: Tensor) -> Tensor:
    """1 for labelled rows and for those with f >= gamma, else 0, (members, rows).

    Examples
    --------
    >>> logit, labelled = torch.logit(torch.tensor([[0.5, 0.5, 0.9]])), torch.zeros(1, 3) > 0
    >>> labelled[0, 0] = True
    >>> corrected(logit, labelled, torch.tensor([[0.8]])).tolist()
    [[1.0, 0.0, 1.0]]
    """
    return (is_positive | (logit >= torch.logit(gamma))).to(logit.dtype)


def candidates(logit: Tensor, is_positive: Tensor, count: Tensor) -> Tensor:
    """Mark the labelled positives of the largest entropy, as many as ``count``, (members, rows).

    Examples
    --------
    >>> logit, labelled = torch.tensor([[3.0, -1.0, 0.0, 2.0]]), torch.ones(1, 4) > 0
    >>> labelled[0, 2] = False
    >>> candidates(logit, labelled, torch.tensor([2])).tolist()
    [[False, True, False, True]]
    """
    unsure = torch.where(is_positive, entropy(logit), -torch.inf)
    rank = unsure.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
    return is_positive & (rank < count[:, None])


def choose_partners(fleet: Fleet, is_marginal: Tensor, pool: Tensor) -> tuple[Tensor, Tensor]:
    """Choose a partner for each training row: its place, and whether it is from the pool.

    Marginal rows get one of the pool, all others a labelled or an unlabelled row, half of each.

    Parameters
    ----------
    fleet
        Whose rows, epoch and seeds.
    is_marginal, pool
        Who gets a partner from the pool, and who is in it, (alive, rows).
    """
    is_positive = fleet.training.is_positive
    either = torch.where(
        fleet.draw(SIDE) < 0.5,
        someone(fleet, is_positive, PARTNER),
        someone(fleet, ~is_positive, PARTNER + 1),
    )
    return torch.where(is_marginal, someone(fleet, pool, PARTNER + 2), either), is_marginal


def _mixed(target: Tensor, place: Tensor, share: Tensor, from_pool: Tensor) -> Tensor:
    """Mix answers (members, rows) as the rows are mixed; those of the pool are positive."""
    partner = torch.where(from_pool, 1.0, target.gather(1, place))
    return torch.lerp(partner, target, share)


def at_mixtures(
    logit: Tensor,
    batch: Batch,
    unlabeled_weight: Tensor,
    entropy_weight: Tensor,
    early_weight: Tensor | None = None,
) -> Tensor:
    """E_P[CE] + w_u E_U[CE] + w_ent E[entropy] + w_elr E[log(1 - <q, p>)] at mixtures, (members,).

    The last term is there if ``early_weight`` is given; q is the column ``teacher`` of the batch.
    """
    logit = logit.clamp(-MOST, MOST)
    target = batch.columns["target"]
    loss = target * logistic(logit) + (1 - target) * logistic(-logit)
    on_positive = torch.where(batch.is_positive, batch.weight, 0.0)
    risk = (
        weighted_mean(loss, on_positive)
        + unlabeled_weight * weighted_mean(loss, batch.weight - on_positive)
        + entropy_weight * weighted_mean(entropy(logit), batch.weight)
    )
    if early_weight is None:
        return risk
    answer, teacher = torch.sigmoid(logit), batch.columns["teacher"]
    agreement = teacher * answer + (1 - teacher) * (1 - answer)
    return risk + early_weight * weighted_mean(torch.log1p(-agreement), batch.weight)
