"""Self-PU: nnPU with self-paced pseudo-labels, a peer and teachers (Chen et al., 2020)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base import parameters
from robustpu.checks import check_number
from robustpu.fleet import Batch, Best, Course, Fleet
from robustpu.methods.minimize import start
from robustpu.methods.teacher import Teacher
from robustpu.neural import NeuralPUClassifier
from robustpu.risks import logistic, nnpu, sigmoid, weighted_mean


@parameters
class SelfPUClassifier(NeuralPUClassifier):
    """nnPU on the doubtful rows, cross-entropy on those that the network is sure of.

    Two students learn side by side. Now and then each takes the unlabelled rows of the lowest and
    of the highest scores for negatives and positives, more of them each time, and the two take
    different shares. Later each has a teacher, a running mean of its own weights, and learns from
    it and from the other student. The answer is that of the student that is judged better, or of
    its teacher once there is one. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    start_epoch, stop_epoch, every
        Rows are chosen from ``start_epoch`` on, anew every so many epochs; at ``stop_epoch`` they
        are chosen for the last time, and the teachers begin.
    most, most_other
        Share of the unlabelled rows that the two students have chosen in the end.
    sure_weight
        Weight of the cross-entropy of chosen rows.
    teacher_weight, peer_weight
        Weights of the squared distance to the probabilities of the teacher, and of the other
        student; the latter counts only for rows where it is below ``nearness``.
    nearness
        See there.
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

    weight_decay: float | None = 5e-3
    start_epoch: int = 10
    stop_epoch: int = 50
    every: int = 10
    most: float = 0.4
    most_other: float = 0.6
    sure_weight: float = 0.2
    teacher_weight: float = 0.3
    peer_weight: float = 0.3
    nearness: float = 0.1
    decay: float = 0.9

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("start_epoch", self.start_epoch, least=1, whole=True)
        check_number("stop_epoch", self.stop_epoch, least=self.start_epoch, whole=True)
        check_number("every", self.every, least=1, whole=True)
        for name in ("most", "most_other"):
            check_number(name, getattr(self, name), above=0, below=1)
        for name in ("sure_weight", "teacher_weight", "peer_weight", "nearness"):
            check_number(name, getattr(self, name), least=0)
        check_number("decay", self.decay, least=0, below=1)

    def _fleet_key(self) -> tuple[Any, ...]:
        return (*super()._fleet_key(), self.start_epoch, self.stop_epoch, self.every)

    def _planned_epochs(self) -> int:
        return 2 * self.epochs

    @classmethod
    def _train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first, size = settings[0], fleet.size
        # Two students a member, from different initial weights, on the same batches.
        students = fleet.some([*range(size), *range(size)])
        second = torch.arange(size, 2 * size, device=fleet.pool.device)
        students.state.put(second, fleet.beside(first.module, salt=PEER).state)
        twice = [*settings, *settings]
        most = [own.most for own in settings] + [own.most_other for own in settings]
        course, teacher = Course(Best(students)), Teacher(students)
        training = students.training
        sure = answer = torch.zeros_like(training.weight)
        names = ("sure_weight", "teacher_weight", "peer_weight", "nearness")
        numbers = {name: [getattr(own, name) for own in twice] for name in names}
        start(students, twice, self_paced, None, None, **numbers)
        # All go on to the end: patience would part the two.
        for epoch in range(1, first.epochs + 1):
            logit = students.logits()
            if epoch in range(first.start_epoch, first.stop_epoch + 1, first.every):
                share = students.per_member(most) * min(epoch / first.stop_epoch, 1) / 2
                sure, answer = confident(logit, training.is_positive, share, students.prior)
            is_taught = epoch > first.stop_epoch
            by_teacher = teacher.logits() if is_taught else logit
            columns = {
                "sure": sure,
                "answer": answer,
                "teacher": torch.sigmoid(by_teacher),
                "peer": torch.sigmoid(logit).roll(size, dims=0),
                "is_taught": torch.full_like(sure, float(is_taught)),
            }
            students.epoch(columns=columns)
            # Until it teaches, a teacher is a copy of its student.
            teacher.learn(first.decay if is_taught else 0.0)
            with teacher.in_charge():
                score = students.score()
                course.best.offer(score, epoch)
            now = torch.full_like(students.alive, epoch)
            course.record(students.alive, epoch=now, score=score)
        score = course.best.score.view(2, size)
        better = torch.arange(size, device=second.device) + size * (score[1] > score[0])
        answer_course = course.of(fleet, better)
        answer_course.best.restore()
        return answer_course


# Added to the seed of the second student's initial weights.
PEER = 1_000_003


def confident(
    logit: Tensor, is_positive: Tensor, share: Tensor, prior: Tensor
) -> tuple[Tensor, Tensor]:
    """Choose unlabelled rows to be sure of: the lowest as negatives, the highest as positives.

    As many of each as their classes have shares, so that the prior of the rest stays as it is.

    Parameters
    ----------
    logit
        (members, rows).
    is_positive
        Who is labelled.
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
    >>> sure, answer = confident(logit, labelled, torch.tensor([0.6]), torch.tensor([0.4]))
    >>> sure.tolist(), answer.tolist()
    ([[0.0, 1.0, 0.0, 0.0, 0.0, 1.0]], [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    """
    rows = (~is_positive).sum(1)
    descending = torch.where(is_positive, -torch.inf, logit)
    rank = descending.argsort(dim=1, descending=True).argsort(dim=1)
    highest = (share * prior * rows).long()[:, None]
    lowest = (share * (1 - prior) * rows).long()[:, None]
    is_high = ~is_positive & (rank < highest)
    is_low = ~is_positive & (rank >= rows[:, None] - lowest)
    return (is_high | is_low).to(logit.dtype), is_high.to(logit.dtype)


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
    risk = risk + sure_weight * weighted_mean(loss, batch.weight * sure)
    own, is_taught = torch.sigmoid(logit), batch.columns["is_taught"]
    to_teacher = (own - batch.columns["teacher"]).square()
    to_peer = (own - batch.columns["peer"]).square()
    is_near = (to_peer.detach() < nearness[:, None]).to(own.dtype)
    return (
        risk
        + teacher_weight * weighted_mean(to_teacher * is_taught, batch.weight)
        + peer_weight * weighted_mean(to_peer * is_taught * is_near, batch.weight)
    )
