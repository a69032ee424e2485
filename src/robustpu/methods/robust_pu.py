"""Robust-PU (Zhu, Wang, Zhao et al., KDD 2023): learn from easy, clean rows first."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.curriculum import Curriculum
from robustpu.fleet import Best, Course, Fleet, cross_entropy, cross_entropy_grad
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import start, train_once
from robustpu.methods.nnpu import NNPUClassifier
from robustpu.selection import positive_rates
from robustpu.training import TrainingData
from robustpu.training.members import Trained
from robustpu.validation.parameters import check_parameters, instance_of, number, param, parameters

# The paper publishes a grid, not the chosen settings: these are the authors' public example, moved
# to the nearest point of the grid.
NNPU = NNPUClassifier(surrogate="sigmoid", epochs=100, lr=1e-3, weight_decay=1e-4)
# Weights of all rounds are kept of networks that train on no more rows than this.
MOST_RECORDED = 40_000


@parameters
class RobustPUClassifier(NeuralPUClassifier):
    """Robust-PU: pre-train, then weight rows by how easy they are and train on, round after round.

    A network is pre-trained with nnPU. Then, in each round, the hardness of each row is measured
    (its loss, with unlabelled rows taken as negatives), turned into a weight by a threshold that
    grows from round to round, and the network is trained on the weighted rows. Easy and clean rows
    come first; positives hidden among the unlabelled rows stay down-weighted. This is Algorithm 1
    of the paper, and, as in its experiments, the best round is kept; the pre-trained network is a
    candidate too. For the classifier that we recommend see :class:`robustpu.PUClassifier`.

    Parameters not listed here are those of every network method, see
    :class:`robustpu.base.neural.NeuralPUClassifier`.

    Parameters
    ----------
    pretrain
        Method that initialises the network: ``"nnpu"``, an estimator of this library that trains
        networks, or None. Its epochs, batch size, rates and further parameters are used; network,
        prior, held-out rows and seed are those of this estimator.
    curriculum
        Hardness, temperatures, weighting, pacing and the number of rounds, a
        :class:`robustpu.Curriculum`; None is the paper's.
    epochs
        Epochs of weighted training in each round, the paper's E.
    batch_size, lr, weight_decay, warmup_epochs
        Of Adam, which starts afresh in every round.
    patience
        Rounds without a better score after which to stop; None never stops early.

    Attributes
    ----------
    hardness_, weight_
        Of each training row, by the selected networks at the threshold of their round, (n,).
    weight_path_
        Weights of each round, (rounds, n), NaN where no member trained on the row; None of more
        than 40,000 rows that a network trains on.
    history_
        One dictionary a member and round: ``threshold_positive`` and ``threshold_unlabeled``;
        ``mass_...`` and ``effective_...``, the sum and the effective number of the weights, before
        balance and sample weights; ``positive_rate``, the share of unlabelled rows predicted
        positive at its start; ``score`` at its end. Round 0 is the pre-trained network.
    best_round_
        The round that was selected, of each kept member; 0 is the pre-trained network.

    Examples
    --------
    >>> from robustpu import RobustPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = RobustPUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    pretrain: NeuralPUClassifier | str | None = param("nnpu", fleet=True)
    curriculum: Curriculum | None = param(
        None,
        instance_of(Curriculum, wanted="a robustpu.Curriculum or None", optional=True),
        fleet=True,
    )
    epochs: int = param(20, number(least=1, whole=True), fleet=True)
    lr: float = param(1e-2, number(above=0))
    patience: int | None = param(5, number(least=1, whole=True, optional=True))

    best_name = "best_round_"

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        """Algorithm 1 of the paper, for all members of the fleet."""
        curricula = [member.rounds for member in settings]
        first = curricula[0]

        # Line 1: initialise the model by pre-training.
        if settings[0].pretraining is not None:
            train_once(fleet, [member.pretraining for member in settings])
        best = Best(fleet)
        course = Course(best)
        score = fleet.score()
        best.offer(score, iteration=0)
        course.record(fleet.alive, round=torch.zeros_like(fleet.alive), score=score)

        # Line 2: for t = 1 to T. The code counts from 0, so that the first threshold is λ0.
        rounds = max(curriculum.max_rounds for curriculum in curricula)
        paths = {curriculum: curriculum.path(rounds) for curriculum in set(curricula)}
        for t in range(rounds):
            # Lines 3-4, stage 1: measure the hardness of each row, unlabelled rows as negatives.
            is_positive, logit = fleet.training.is_positive, fleet.logits()
            temperature = _by_label(fleet, [curriculum.temperature for curriculum in curricula])
            hardness = first.measure(logit, is_positive, temperature)

            # Lines 5-7, stage 2: weight each row by its hardness and the threshold of the round.
            threshold = _by_label(fleet, [paths[curriculum][t] for curriculum in curricula])
            weight = first.weigh(hardness, threshold)
            row_weight = weight * fleet.training.weight
            if first.balance:
                row_weight = balanced(row_weight, is_positive, fleet.population_prior)

            # Lines 8-11, stage 3: E epochs of weighted cross-entropy, unlabelled rows as 0.
            start(fleet, settings, cross_entropy, cross_entropy_grad)
            for _ in range(settings[0].epochs):
                fleet.epoch(row_weight)

            # Not in Algorithm 1 but in the paper's experiments: keep the best round, and stop
            # when no better one came for a while.
            score = fleet.score()
            best.offer(score, iteration=t + 1)
            if weight.shape[1] <= MOST_RECORDED:
                course.record_rows(fleet.alive, weight=weight)
            course.record(
                fleet.alive,
                **_describe(fleet, logit, threshold, weight),
                round=torch.full_like(fleet.alive, t + 1),
                score=score,
            )
            fleet.keep(_goes_on(fleet, best, t + 1, settings))
            if not len(fleet.alive):
                break
        best.restore()
        return course

    @property
    def rounds(self) -> Curriculum:
        """The curriculum, the paper's if none was given."""
        return Curriculum() if self.curriculum is None else self.curriculum

    @property
    def pretraining(self) -> NeuralPUClassifier | None:
        """The estimator that pre-trains."""
        return NNPU if isinstance(self.pretrain, str) else self.pretrain

    def spelled_out(self) -> Self:
        """Give a copy with the defaults of ``pretrain`` and ``curriculum`` as objects.

        Their parameters can then be set by name, as in ``curriculum__max_rounds``.

        Examples
        --------
        >>> model = RobustPUClassifier().spelled_out()
        >>> model.set_params(curriculum__max_rounds=3).rounds.max_rounds
        3
        """
        parts = {"pretrain": clone(self.pretraining, safe=False), "curriculum": clone(self.rounds)}
        return clone(self).set_params(**parts)  # type: ignore[no-any-return]

    def check_combination(self) -> None:
        super().check_combination()
        pretrain = self.pretrain
        is_name = isinstance(pretrain, str) and pretrain == "nnpu"
        if not (is_name or pretrain is None or isinstance(pretrain, NeuralPUClassifier)):
            raise ValueError(
                "pretrain must be 'nnpu', None, or an estimator of this library that trains a "
                f"network, such as NNPUClassifier(); it is {pretrain!r}."
            )
        if isinstance(pretrain, NeuralPUClassifier):
            check_parameters(pretrain)
        check_parameters(self.rounds)

    @property
    def planned_epochs(self) -> int:
        before = 0 if self.pretraining is None else self.pretraining.planned_epochs
        return before + self.rounds.max_rounds * self.epochs

    def describe_fit(self, logit: Tensor, data: TrainingData, kept: Sequence[Trained]) -> None:
        is_positive = torch.from_numpy(data.is_positive).to(logit.device)
        hardness, weight = torch.zeros_like(logit[0]), torch.zeros_like(logit[0])
        # Round 0, the pre-trained network, has no threshold: the first one serves.
        last = [max(0, member.iteration - 1) for member in kept]
        path = self.rounds.path(max(last) + 1)
        for t, member_logit in zip(last, logit, strict=True):
            measured = self.rounds.apply(member_logit, is_positive, path[t])
            hardness, weight = hardness + measured[0], weight + measured[1]
        self.hardness_ = (hardness / len(kept)).cpu().numpy()
        self.weight_ = (weight / len(kept)).cpu().numpy()
        self.weight_path_ = None
        if all("weight" in member.rows for member in kept):
            self.weight_path_ = _mean_path([member.rows["weight"].numpy() for member in kept])


def _by_label(fleet: Fleet, pairs: Sequence[tuple[float, float]]) -> Tensor:
    """(alive, rows): of each member's pair, the first for positives, the second for unlabelled."""
    positive, unlabeled = (fleet.per_member(side)[:, None] for side in zip(*pairs, strict=True))
    return torch.where(fleet.training.is_positive, positive, unlabeled)


def _describe(fleet: Fleet, logit: Tensor, threshold: Tensor, weight: Tensor) -> dict[str, Tensor]:
    """What the history records of a round, (alive,) each."""
    is_positive, sample_weight = fleet.training.is_positive, fleet.training.weight
    predicted = (logit >= 0).to(sample_weight.dtype)
    record = {"positive_rate": positive_rates(predicted, is_positive, sample_weight)[1]}
    for side, mask in (("positive", is_positive), ("unlabeled", ~is_positive)):
        inside = torch.where(mask, weight, 0.0)
        mass, squares = inside.sum(1), inside.square().sum(1)
        record[f"threshold_{side}"] = torch.where(mask, threshold, 0.0).amax(1)
        record[f"mass_{side}"] = mass
        record[f"effective_{side}"] = mass.square() / squares.clamp(min=1e-30)
    return record


def _goes_on(fleet: Fleet, best: Best, done: int, settings: Sequence[Any]) -> Tensor:
    """Which members have rounds and patience left, (alive,)."""
    rounds = [member.rounds.max_rounds for member in settings]
    patience = [member.patience or limit for member, limit in zip(settings, rounds, strict=True)]
    has_patience = best.waited(done) < fleet.per_member(patience)
    return has_patience & (done < fleet.per_member(rounds))


def _mean_path(paths: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Mean over the members (rounds, n) that trained on a row in a round; NaN if none did."""
    rounds, rows = max(map(len, paths)), paths[0].shape[1]
    total, count = np.zeros((rounds, rows)), np.zeros((rounds, rows))
    for path in paths:
        known = ~np.isnan(path)
        total[: len(path)] += np.where(known, path, 0.0)
        count[: len(path)] += known
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
