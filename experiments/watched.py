"""What networks predict on the way: Robust-PU after each round, any method after some epochs."""

import warnings
from collections.abc import Sequence
from itertools import count

import numpy as np
import torch

from robustpu import RobustPUClassifier, fit_together
from robustpu.fleet import Best, Course, cross_entropy, cross_entropy_grad
from robustpu.methods.balance import balanced
from robustpu.methods.minimize import start, train_once


class WatchedRobustPU(RobustPUClassifier):
    """Algorithm 1 without early stopping; rows of ``eval_set`` are watched.

    The first ``scored`` of them select the epoch of pre-training, as in `RobustPUClassifier`; with
    none its last epoch counts. ``history_`` has the seed of the network, under which ``seen`` has
    its logits of the watched rows, (rounds + 1, rows) from round 0, the pre-trained network; and
    ``seen_mean`` those of a network whose weights are the mean of those after the later half of the
    epochs of each round.
    """

    scored = 0
    seen: dict[int, list] = {}  # noqa: RUF012
    seen_mean: dict[int, list] = {}  # noqa: RUF012

    @classmethod
    def train(cls, fleet, settings):
        curricula = [member.rounds for member in settings]
        watched = fleet._everyone.held_out.index
        fleet._criterion = cls.of_scored(fleet._criterion) if cls.scored else None
        train_once(fleet, [member.pretraining for member in settings])
        course = Course(Best(fleet))
        course.record(fleet.alive, seed=fleet.seeds)
        after, after_mean = [fleet.logits(watched)], [fleet.logits(watched)]
        rounds = max(curriculum.max_rounds for curriculum in curricula)
        paths = [curriculum.path(rounds) for curriculum in curricula]
        is_positive, epochs = fleet.training.is_positive, settings[0].epochs
        for t in range(rounds):
            temperature = _by_label(fleet, [curriculum.temperature for curriculum in curricula])
            hardness = curricula[0].measure(fleet.logits(), is_positive, temperature)
            weight = curricula[0].weigh(hardness, _by_label(fleet, [path[t] for path in paths]))
            weight = weight * fleet.training.weight
            if curricula[0].balance:
                weight = balanced(weight, is_positive, fleet.population_prior)
            start(fleet, settings, cross_entropy, cross_entropy_grad)
            total = torch.zeros_like(fleet.state.flat)
            for epoch in range(epochs):
                fleet.epoch(weight)
                if epoch >= epochs // 2:
                    total += fleet.state.flat
            after.append(fleet.logits(watched))
            last = fleet.state.flat.clone()
            fleet.state.flat.copy_(total / (epochs - epochs // 2))
            after_mean.append(fleet.logits(watched))
            fleet.state.flat.copy_(last)
        for place, seed in enumerate(fleet.seeds.tolist()):
            cls.seen[seed] = [logit[place] for logit in after]
            cls.seen_mean[seed] = [logit[place] for logit in after_mean]
        # Nothing is selected here: the last round is as good as any.
        course.best.offer(torch.zeros_like(fleet.state.flat[:, 0]), rounds)
        course.best.restore()
        return course

    @classmethod
    def of_scored(cls, criterion):
        """The criterion, of the first watched rows alone."""

        def score(logit, is_positive, weight, *priors):
            first = slice(None, cls.scored)
            return criterion(logit[:, first], is_positive[:, first], weight[:, first], *priors)

        return score


def _by_label(fleet, pairs):
    """(members, rows): of each pair, the first for positives, the second for unlabelled rows."""
    positive, unlabeled = (fleet.per_member(side)[:, None] for side in zip(*pairs, strict=True))
    return torch.where(fleet.training.is_positive, positive, unlabeled)


def watch(jobs: Sequence[tuple], scored: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Train Robust-PU classifiers of one network each, whose seeds all differ.

    Parameters
    ----------
    jobs
        ``(estimator, X, y, eval_set)``.
    scored
        See `WatchedRobustPU`.

    Returns
    -------
    logits
        Of each job: those after each round, and those of averaged weights, (rounds + 1, rows).
    """
    WatchedRobustPU.scored = scored
    WatchedRobustPU.seen, WatchedRobustPU.seen_mean = {}, {}
    watched = [(WatchedRobustPU(**job[0].get_params(deep=False)), *job[1:]) for job in jobs]
    with warnings.catch_warnings():
        # A collapse shows in the error.
        warnings.simplefilter("ignore")
        models = fit_together(watched)
    seeds = [int(model.history_[0]["seed"]) for model in models]
    if len(set(seeds)) < len(seeds):
        raise ValueError("two networks have one seed; give each its own random_state.")
    places = WatchedRobustPU.seen, WatchedRobustPU.seen_mean
    return [tuple(torch.stack(place[seed]) for place in places) for seed in seeds]


def watch_epochs(model, X, y, every: int) -> dict[int, np.ndarray]:
    """Train one network of any method, and look at it on the way.

    Parameters
    ----------
    model
        A classifier of one network that holds nothing out.
    every
        After how many epochs to look.

    Returns
    -------
    logits
        Epoch -> logits of the rows of ``X``, (rows,).
    """
    seen = {}

    class Watched(type(model)):
        @classmethod
        def train(cls, fleet, settings):
            report, epochs = fleet.on_epoch, count(1)

            def on_epoch(members: int) -> None:
                if (epoch := next(epochs)) % every == 0:
                    in_order = fleet.training.index[0].argsort()
                    seen[epoch] = fleet.logits()[0, in_order].cpu().numpy()
                if report is not None:
                    report(members)

            fleet.on_epoch = on_epoch
            return super().train(fleet, settings)

    Watched(**model.get_params(deep=False)).fit(X, y)
    return seen
