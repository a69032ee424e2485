"""Self-PU: nnPU with self-paced pseudo-labels, a peer and teachers (Chen et al., 2020)."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Batch, Best, Course, Fleet
from robustpu.methods.minimize import start
from robustpu.methods.teacher import Teacher
from robustpu.risks import logistic, nnpu, sigmoid, weighted_mean
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import number, param, parameters

# Added to the seed of the second student's initial weights.
PEER = 1_000_003


@parameters
class SelfPUClassifier(NeuralPUClassifier):
    """nnPU on the doubtful rows, cross-entropy on those that the network is sure of.

    Two students learn side by side. Now and then each takes the unlabelled rows of the lowest and
    of the highest scores for negatives and positives, more of them each time, and the two take
    different shares. Later each has a teacher, a running mean of its own weights, and learns from
    it and from the other student. The two are scored together, so that the best epoch is that of
    their mean score; the answer is that of the better one, or of its teacher once there is one.
    Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    start_epoch, stop_epoch, every
        Rows are chosen from ``start_epoch`` to ``stop_epoch``, anew every few epochs; then the last
        choice stays, and the teachers begin.
    most, most_other
        Share of the unlabelled rows that the two students have chosen at ``stop_epoch``; it grows
        in proportion to the epochs.
    sure_weight
        Weight of the cross-entropy of chosen rows.
    teacher_weight, peer_weight
        Weights of the squared distance to the probabilities of the teacher, and of the other
        student.
    nearness
        A row where the squared distance to the other student is not below this has no such term.
    decay
        Of the teachers, each epoch.

    Examples
    --------
    >>> from robustpu import SelfPUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = SelfPUClassifier(prior=0.3, epochs=40, start_epoch=10, stop_epoch=20,
    ...                          random_state=0)
    >>> model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.8
    True
    """

    weight_decay: float = param(5e-3, number(least=0))
    start_epoch: int = param(10, number(least=1, whole=True), fleet=True)
    stop_epoch: int = param(50, number(least=1, whole=True), fleet=True)
    every: int = param(10, number(least=1, whole=True), fleet=True)
    most: float = param(0.2, number(above=0, below=1))
    most_other: float = param(0.3, number(above=0, below=1))
    sure_weight: float = param(0.2, number(least=0))
    teacher_weight: float = param(0.3, number(least=0))
    peer_weight: float = param(0.3, number(least=0))
    nearness: float = param(0.1, number(least=0))
    decay: float = param(0.9, number(least=0, below=1), fleet=True)

    epoch_cost = 4

    def check_combination(self) -> None:
        super().check_combination()
        check_number("stop_epoch", self.stop_epoch, least=self.start_epoch, whole=True)

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first, size = settings[0], fleet.size
        # Two students a member, from different initial weights, on the same batches: the first half
        # of a fleet and the second.
        students = fleet.some([*range(size), *range(size)])
        second = torch.arange(size, 2 * size, device=fleet.pool.device)
        students.state.put(second, fleet.twin(first.module, salt=PEER).state)
        twice = [*settings, *settings]
        most = [member.most for member in settings] + [member.most_other for member in settings]
        patience = [member.patience or math.inf for member in twice]
        best, teacher = Best(students), Teacher(students)
        scores: list[tuple[Tensor, Tensor | None]] = []
        sure = torch.zeros_like(students.training.weight)
        answer = torch.zeros_like(sure)
        names = ("sure_weight", "teacher_weight", "peer_weight", "nearness")
        numbers = {name: [getattr(member, name) for member in twice] for name in names}
        start(students, twice, self_paced, None, None, **numbers)
        for epoch in range(1, first.epochs + 1):
            alive, training, logit = students.alive, students.training, students.logits()
            if epoch in range(first.start_epoch, first.stop_epoch + 1, first.every):
                share = students.per_member(most) * (epoch / first.stop_epoch)
                rows = logit, training.is_positive, training.weight
                sure[alive], answer[alive] = confident(*rows, share, students.prior)
            is_taught = epoch > first.stop_epoch
            by_teacher = teacher.logits() if is_taught else logit
            columns = {
                "sure": sure[alive],
                "answer": answer[alive],
                "teacher": torch.sigmoid(by_teacher),
                "peer": torch.sigmoid(logit).roll(len(alive) // 2, dims=0),
                "is_taught": torch.full_like(logit, float(is_taught)),
            }
            students.epoch(columns=columns)
            # Until it teaches, a teacher is a copy of its student.
            teacher.learn(first.decay if is_taught else 0.0)
            with teacher.in_charge():
                score = students.score()
                best.offer(score, epoch)
            scores.append((alive, score))
            # The two leave together.
            waited = best.waited(epoch).view(2, -1).amin(0).repeat(2)
            students.keep(waited < students.per_member(patience))
            if not len(students.alive):
                break
        return _of_the_better(Course(best), fleet, scores)


def _of_the_better(
    course: Course, fleet: Fleet, scores: Sequence[tuple[Tensor, Tensor | None]]
) -> Course:
    """Restore the better student of each member, and note its scores, epoch by epoch."""
    score = course.best.score.view(2, fleet.size)
    is_second = (score[1] > score[0]).long()
    members = torch.arange(fleet.size, device=is_second.device)
    answer = course.of(fleet, members + fleet.size * is_second)
    for epoch, (alive, both) in enumerate(scores, start=1):
        members = alive[: len(alive) // 2]
        best = None
        if both is not None:
            best = both.view(2, -1).gather(0, is_second[members][None])[0]
        answer.record(members, epoch=torch.full_like(members, epoch), score=best)
    answer.best.restore()
    return answer


def confident(
    logit: Tensor, is_positive: Tensor, weight: Tensor, share: Tensor, prior: Tensor
) -> tuple[Tensor, Tensor]:
    """Choose unlabelled rows to be sure of: the lowest as negatives, the highest as positives.

    As many of each as their classes have shares, so that the prior of the rest stays as it is.

    Parameters
    ----------
    logit
        (members, rows).
    is_positive, weight
        Who is labelled, and how much each row counts.
    share
        Of the unlabelled rows to choose, (members,).
    prior
        (members,).

    Returns
    -------
    sure, answer
        1 for chosen rows and 0 for others; 1 for those that count as positive; (members, rows).

    Examples
    --------
    >>> logit, labelled = torch.tensor([[5.0, 4.0, 1.0, 2.0, 3.0, 0.0]]), torch.zeros(1, 6) > 0
    >>> labelled[0, 0] = True
    >>> share, prior = torch.tensor([0.6]), torch.tensor([0.4])
    >>> sure, answer = confident(logit, labelled, torch.ones(1, 6), share, prior)
    >>> sure.tolist(), answer.tolist()
    ([[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    """
    unlabeled = torch.where(is_positive, -torch.inf, logit)
    order = unlabeled.argsort(dim=1, descending=True, stable=True)
    unlabeled_weight = torch.where(is_positive, 0.0, weight).gather(1, order)
    total = unlabeled_weight.sum(1, keepdim=True)
    # What the rows down to each one weigh, from above and from below.
    above = unlabeled_weight.cumsum(1)
    below = total - above + unlabeled_weight
    # Rounding must not cost a row.
    wanted = share[:, None] * total * (1 + 1e-6)
    is_high = torch.zeros_like(is_positive).scatter(1, order, above <= wanted * prior[:, None])
    is_low = torch.zeros_like(is_positive).scatter(1, order, below <= wanted * (1 - prior[:, None]))
    sure = (is_high | is_low) & ~is_positive
    return sure.to(logit.dtype), (is_high & ~is_positive).to(logit.dtype)


def self_paced(
    logit: Tensor,
    batch: Batch,
    sure_weight: Tensor,
    teacher_weight: Tensor,
    peer_weight: Tensor,
    nearness: Tensor,
) -> Tensor:
    """nnPU of doubtful rows + w CE of sure rows + distances to teacher and peer, (members,)."""
    sure, answer = batch.columns["sure"], batch.columns["answer"]
    doubtful = batch.weight * (1 - sure)
    priors = batch.prior, batch.population_prior
    risk = nnpu(logit, batch.is_positive, doubtful, *priors, sigmoid)
    loss = answer * logistic(logit) + (1 - answer) * logistic(-logit)
    # Chosen rows have the shares of the classes among the unlabelled ones, not in the population.
    prior, population_prior = batch.prior[:, None], batch.population_prior[:, None]
    ratio = torch.where(answer > 0, population_prior / prior, (1 - population_prior) / (1 - prior))
    risk = risk + sure_weight * weighted_mean(loss, batch.weight * sure * ratio)
    probability, is_taught = torch.sigmoid(logit), batch.columns["is_taught"]
    to_teacher = (probability - batch.columns["teacher"]).square()
    to_peer = (probability - batch.columns["peer"]).square()
    is_near = (to_peer.detach() < nearness[:, None]).to(probability.dtype)
    return (
        risk
        + teacher_weight * weighted_mean(to_teacher * is_taught, batch.weight)
        + peer_weight * weighted_mean(to_peer * is_taught * is_near, batch.weight)
    )
