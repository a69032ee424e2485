"""PULNS: a policy learns which unlabelled rows to take as negatives (Luo et al., 2021)."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robustpu.base.neural import NeuralPUClassifier
from robustpu.fleet import Best, Course, Fleet, cross_entropy, cross_entropy_grad
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import early_stopping, start
from robustpu.methods.selector import Selector, chosen_share, returns
from robustpu.validation.parameters import number, param, parameters


@parameters
class PULNSClassifier(NeuralPUClassifier):
    """P against the unlabelled rows that a selector picks; the selector is rewarded by the score.

    In each episode the selector visits the unlabelled rows one after the other, and takes some as
    negatives. A probe, a copy of the classifier, trains on these for a moment; how much it gains on
    the held-out rows, and whether the classifier agrees on each row, is the reward of a policy
    gradient. Then the classifier itself trains on what the selector picks. No prior enters, but for
    PU-only scores. The paper rewards by clean validation rows (``eval_set``); without them the
    reward is PU-only. Parameters as in :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    warm_epochs
        First the classifier learns labelled against unlabelled rows, for this many epochs.
    episodes, epochs
        Then ``episodes`` episodes, with ``epochs`` epochs of the classifier each.
    probe_epochs
        Epochs of the probe.
    selector_steps, selector_lr
        Steps of the policy gradient in each episode, each on a visit of its own; the first alone
        has a probe. And its learning rate.
    discount
        Of rewards of rows that come later.
    final_weight
        Weight of what the probe gains; if nothing is held out, there is none.

    Examples
    --------
    >>> from robustpu import PULNSClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PULNSClassifier(prior=0.3, episodes=10, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.8
    True
    """

    epochs: int = param(5, number(least=1, whole=True), fleet=True)
    episodes: int = param(30, number(least=1, whole=True), fleet=True)
    warm_epochs: int = param(5, number(least=1, whole=True), fleet=True)
    probe_epochs: int = param(1, number(least=1, whole=True), fleet=True)
    selector_steps: int = param(10, number(least=1, whole=True), fleet=True)
    selector_lr: float = param(1e-3, number(above=0))
    discount: float = param(0.8, number(least=0, most=1))
    final_weight: float = param(1.0, number(least=0))
    patience: int | None = param(10, number(least=1, whole=True, optional=True))

    @property
    def planned_epochs(self) -> int:
        return self.warm_epochs + self.episodes * (self.epochs + self.probe_epochs)

    @classmethod
    def train(cls, fleet: Fleet, settings: Sequence[Any]) -> Course:
        first = settings[0]
        course = Course(Best(fleet))
        start(fleet, settings, cross_entropy, cross_entropy_grad)
        for _ in range(first.warm_epochs):
            fleet.epoch(chosen_weight(fleet, ~fleet.training.is_positive))
        selector = Selector(fleet, [member.selector_lr for member in settings])
        # Turn 0 is the classifier of the warm start; episodes count from 1.
        score = fleet.score()
        course.best.offer(score, 0)
        course.record(fleet.alive, epoch=torch.zeros_like(fleet.alive), score=score)
        # Of probes and classifiers, for all members.
        highest = None if score is None else torch.full_like(score, -torch.inf)
        for _ in early_stopping(fleet, settings, course, range(1, first.episodes + 1)):
            if highest is not None:
                raise_to(highest, *course.last("score"))
            rows, logit = selector.rows(fleet), fleet.logits()
            discount = fleet.per_member([member.discount for member in settings])
            final_weight = fleet.per_member([member.final_weight for member in settings])
            for step in range(first.selector_steps):
                # (a) The selector visits the unlabelled rows, and (b) a probe learns from its
                # choice.
                visit = selector.visit(rows, fleet.draw(2 * step + 3), fleet.draw(2 * step + 4))
                gain = torch.zeros_like(fleet.prior)
                if step == 0 and highest is not None:
                    gain = probe_gain(fleet, settings, visit.is_chosen, highest)
                # (c) The policy gradient.
                value = returns(logit, rows, visit, discount)
                selector.learn(rows, visit, value, final_weight * gain)
            # (d) The selector chooses again, and (e) the classifier learns from its choice.
            visit = selector.visit(rows, fleet.draw(1), fleet.draw(2))
            course.note(chosen=chosen_share(rows, visit))
            start(fleet, settings, cross_entropy, cross_entropy_grad)
            for _ in range(first.epochs):
                fleet.epoch(chosen_weight(fleet, visit.is_chosen))
        course.best.restore()
        return course


def probe_gain(fleet: Fleet, settings: Sequence[Any], is_chosen: Tensor, highest: Tensor) -> Tensor:
    """Score of a probe less the highest so far, (alive,), at most 1 either way.

    The probe is the classifier after some epochs on the chosen rows; then it is put back.

    Parameters
    ----------
    fleet, settings
        The classifiers, and the parameters of each.
    is_chosen
        (alive, rows).
    highest
        Of all members; brought up to date.
    """
    alive, before = fleet.alive, fleet.state.copy()
    start(fleet, settings, cross_entropy, cross_entropy_grad)
    weight = chosen_weight(fleet, is_chosen)
    for _ in range(settings[0].probe_epochs):
        fleet.epoch(weight)
    score = fleet.score()
    assert score is not None
    fleet.state.put(torch.arange(len(alive), device=alive.device), before)
    # Networks that have diverged score minus infinity.
    gain = (score - highest[alive]).nan_to_num(0.0).clamp(-1, 1)
    raise_to(highest, alive, score)
    return gain


def raise_to(highest: Tensor, alive: Tensor, score: Tensor) -> None:
    """Bring the highest scores of all members up to date, in place, by scores (alive,).

    Examples
    --------
    >>> highest = torch.tensor([7.0, 1.0, 2.0])
    >>> raise_to(highest, torch.tensor([1, 2]), torch.tensor([3.0, 1.5]))
    >>> highest.tolist()
    [7.0, 3.0, 2.0]
    """
    highest[alive] = torch.maximum(highest[alive], score)


def chosen_weight(fleet: Fleet, is_chosen: Tensor) -> Tensor:
    """Weights (alive, rows) of labelled rows and of chosen ones, the same in sum.

    If none is chosen, all are.
    """
    is_positive, weight = fleet.training.is_positive, fleet.training.weight
    some = (is_chosen & ~is_positive).any(1, keepdim=True)
    weight = torch.where(is_positive | is_chosen | ~some, weight, 0.0)
    return balanced(weight, is_positive, torch.full_like(fleet.prior, 0.5))
