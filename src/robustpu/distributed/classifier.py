"""Robust-PU around a Dask learner: any number of rows, on any number of machines."""

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from robustpu import calibration, labels, priors
from robustpu.base.classifier import CollapseWarning
from robustpu.base.learners import balanced_logits
from robustpu.calibration import matched, prior_shift
from robustpu.curriculum import Curriculum
from robustpu.distributed import blocks, learning, summaries
from robustpu.distributed.answers import Answers
from robustpu.distributed.blocks import Floats, Parts, Table
from robustpu.distributed.summaries import Histogram
from robustpu.distributed.training_sets import Measure, Weights, training_set, weights
from robustpu.methods.balance import factors
from robustpu.methods.robust_pu_meta import Scale, default_curriculum
from robustpu.metrics import collapse
from robustpu.scenario import check_prior, check_scenario, population_prior
from robustpu.selection import of_logits, proxy_accuracy
from robustpu.validation.numbers import check_number
from robustpu.validation.parameters import (
    accepted_by,
    check_parameters,
    instance_of,
    number,
    param,
    parameters,
)
from robustpu.validation.warning import warn

# Scores of each kind of rows that come to the client to estimate the prior by.
SAMPLE = 10_000
# Packages whose learners take rows in memory, unless they are of a part of it that says "dask".
LOCAL = ("sklearn", "lightgbm", "xgboost", "catboost")


class Candidate(NamedTuple):
    """A round that may be chosen: its learners, scores of rows that they have not seen, scale."""

    iteration: int
    score: float
    learners: list[Any]
    scores: Parts
    scale: Scale
    histogram: Histogram


@parameters
class DaskRobustPUMetaClassifier(Answers, BaseEstimator):  # type: ignore[misc]
    """Robust-PU around a Dask learner, on rows that no machine needs to hold all of.

    The algorithm of :class:`robustpu.RobustPUMetaClassifier` with one member and two folds, where
    the rows are: scores and weights stay on the workers, and sums and histograms come to the
    client. Needs a running cluster, see docs/dask.md.

    Parameters
    ----------
    estimator
        A classifier that fits Dask collections with ``sample_weight``, such as
        ``lightgbm.DaskLGBMClassifier`` or ``xgboost.dask.DaskXGBClassifier``. By default the
        former, with its own defaults.
    prior
        Share of positives among the unlabelled rows; or ``"auto"`` or another name of
        ``robustpu.priors.PRIORS``, or a function: estimated from out-of-fold scores of round 0, of
        at most 10,000 labelled and 10,000 unlabelled rows.
    scenario, pos_label
        As in :class:`robustpu.RobustPUClassifier`.
    curriculum, patience
        As in :class:`robustpu.RobustPUMetaClassifier`.
    threshold
        Probability from which ``predict`` answers with the positive label.
    retries
        How often a fit that lost a worker is started again.
    random_state
        All randomness comes from it.

    Attributes
    ----------
    estimators_
        The two learners of the chosen round; they score rows in memory.
    shift_, label_frequency_
        As in :class:`robustpu.RobustPUMetaClassifier`.
    prior_, population_prior_
        Share of positives among the unlabelled rows and in the population.
    history_
        One dictionary a round. Round 0 is the learner of P against U, corrected.
    best_round_, score_
        The round that was chosen, and its accuracy, estimated from out-of-fold scores.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from lightgbm import DaskLGBMClassifier
    >>> from robustpu.distributed import DaskRobustPUMetaClassifier
    >>> random = np.random.default_rng(0)
    >>> truth = random.random(4000) < 0.4
    >>> X = da.from_array(random.normal(size=(4000, 3)) + 2.0 * truth[:, None], chunks=(1000, 3))
    >>> y = da.from_array((truth & (random.random(4000) < 0.5)).astype(int), chunks=1000)
    >>> learner = DaskLGBMClassifier(n_estimators=10, verbose=-1)
    >>> model = DaskRobustPUMetaClassifier(learner, prior=0.25, scenario="single-set")
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0"):
    ...     answers = model.fit(X, y).predict(X).compute()
    Finding random open ports for workers...
    >>> float(np.mean(answers == truth)) > 0.9
    True
    """

    estimator: Any = param(None, positional=True)
    prior: float | str | Callable[..., float] = param("auto", accepted_by(priors.check))
    scenario: str = param("case-control", accepted_by(check_scenario))
    pos_label: labels.Label | None = param(None)
    curriculum: Curriculum | None = param(
        None, instance_of(Curriculum, wanted="a robustpu.Curriculum or None", optional=True)
    )
    patience: int | None = param(1, number(least=1, whole=True, optional=True))
    threshold: float = param(0.5, number(above=0, below=1))
    retries: int = param(2, number(least=0, whole=True))
    random_state: int | np.random.RandomState | None = param(None)

    def fit(self, X: Any, y: Any) -> Self:
        """Fit to positives and unlabelled rows.

        Parameters
        ----------
        X
            A Dask array (n, d) or frame; read three times a round unless you persist it.
        y
            A Dask array or series (n,) of two labels, in the same blocks.
        """
        check_parameters(self)
        learner, curriculum = self._learner(), self.rounds
        learning.client_of()
        random = check_random_state(self.random_state)
        seeds = iter(
            random.randint(np.iinfo(np.int32).max, size=4 + 2 * curriculum.max_rounds).tolist()
        )
        self.classes_, table = blocks.read(X, y, self.pos_label, next(seeds))
        if min(table.totals) < 2:
            raise ValueError(
                "at least 2 labelled positives and 2 unlabelled rows are needed to score rows out "
                f"of fold; there are {table.totals[0]} and {table.totals[1]}."
            )

        # Line 1: initialise the model by pre-training; it is the candidate of round 0.
        first = self._fit_round(learner, table, None, (1.0, 1.0), [next(seeds), next(seeds)])
        self._set_prior(table, first[1], next(seeds))
        now = best = self._candidate(0, *first, table)
        self.history_ = [{"round": 0, "score": best.score}]

        # Line 2: for t = 1 to T. The code counts from 0, so that the first threshold is λ0.
        for t in range(curriculum.max_rounds):
            # Lines 3-7, stages 1 and 2: the hardness of each row, out of fold, and its weight.
            threshold = curriculum.threshold(t)
            measure = Measure(now.scale, curriculum, threshold, self.prior_, self.population_prior_)
            weighted = weights(table, now.scores, measure)
            # Each fold needs rows of both kinds.
            if not weighted.kept.sum(0).all():
                warn(curriculum.without_weight(t))
                break

            # Lines 8-11, stage 3: fit the learner to the weighted rows.
            balance = (1.0, 1.0)
            if curriculum.balance:
                positive, negative = weighted.mass.tolist()
                balance = factors(positive, negative, self.population_prior_)
            fits = self._fit_round(learner, table, weighted, balance, [next(seeds), next(seeds)])
            now = self._candidate(t + 1, *fits, table)
            self.history_.append(_record(now, weighted, threshold))

            # As in the paper's experiments: the best round is kept.
            if now.score > best.score:
                best = now
            if t + 1 - best.iteration >= (self.patience or curriculum.max_rounds):
                break
        self._keep(best, table)
        return self

    def _fit_round(
        self,
        learner: Any,
        table: Table,
        weighted: Weights | None,
        balance: tuple[float, float],
        seeds: list[int],
    ) -> tuple[list[Any], Parts]:
        """Fit the learner to each fold, and score the other one."""
        learners = [
            learning.fit(learner, training_set(table, fold, weighted, balance), seed, self.retries)
            for fold, seed in enumerate(seeds)
        ]
        return learners, learning.unseen(table, learners)

    def _set_prior(self, table: Table, scores: Parts, seed: int) -> None:
        if priors.needs_estimation(self.prior):
            parts = summaries.sample(table, scores, SAMPLE, seed)
            share = table.totals[0] / sum(table.totals)
            positive, unlabeled = (balanced_logits(part, share) for part in parts)
            self.prior_ = priors.from_scores(positive, unlabeled, self.prior)
        else:
            self.prior_ = check_prior(self.prior)
        self.population_prior_ = population_prior(self.prior_, *table.totals, self.scenario)

    def _candidate(
        self, iteration: int, learners: list[Any], scores: Parts, table: Table
    ) -> Candidate:
        """Score a round by the scores of rows by the learner that has not seen them."""
        counts = summaries.histogram(table, scores)
        both = self.prior_, self.population_prior_
        some = counts.unlabeled > 0
        given = counts.odds[some], counts.unlabeled[some]
        if iteration == 0:
            scale = Scale(0.0, matched(counts.score[some], given[1], self.prior_, 1.0))
        else:
            scale = Scale(prior_shift(given[0], *both, given[1]), None)
        odds = calibration.log_odds(scale(counts.score, *both))
        mask = np.repeat([True, False], len(odds))
        rows = np.tile(odds, 2), mask, np.concatenate(counts[1:])
        accuracy = of_logits(proxy_accuracy)
        numbers = torch.tensor([[both[0]], [both[1]]], dtype=torch.float64)
        score = float(accuracy(*(torch.from_numpy(part)[None] for part in rows), *numbers))
        return Candidate(iteration, score, learners, scores, scale, counts)

    def _keep(self, best: Candidate, table: Table) -> None:
        """Keep the chosen round, and warn if it predicts almost only one class."""
        self.estimators_, self.best_round_, self.score_ = best.learners, best.iteration, best.score
        self.shift_, self.label_frequency_ = best.scale
        self._rows_ = table, best.scores
        predicted = self._scaled(best.histogram.score) >= self.threshold
        self.positive_rate_ = float(np.average(predicted, weights=best.histogram.unlabeled))
        side = collapse(self.positive_rate_, self.prior_)
        if side is not None:
            warn(
                f"{type(self).__name__} predicts positive on {self.positive_rate_:.1%} of the "
                f"unlabelled rows, far from the prior of {self.prior_:.1%}: it has probably "
                f"collapsed to all-{side}. The prior is probably wrong, or the learner too weak.",
                CollapseWarning,
            )

    def check_combination(self) -> None:
        check_parameters(self.rounds)
        if priors.is_joint(self.prior):
            raise ValueError(
                f"prior={self.prior!r} trains networks on rows in memory: give a number, or a name "
                f"of {', '.join(priors.PRIORS)}."
            )

    @property
    def rounds(self) -> Curriculum:
        """The curriculum, the default if none was given."""
        return default_curriculum() if self.curriculum is None else self.curriculum

    def _learner(self) -> Any:
        if self.estimator is None:
            from lightgbm import DaskLGBMClassifier

            return DaskLGBMClassifier(verbose=-1)
        home = type(self.estimator).__module__.split(".")
        if home[0] in LOCAL and "dask" not in home:
            raise ValueError(
                f"estimator must fit Dask collections; {type(self.estimator).__name__} takes rows "
                "in memory. Give lightgbm.DaskLGBMClassifier() or "
                "xgboost.dask.DaskXGBClassifier(), or take robustpu.RobustPUMetaClassifier."
            )
        return self.estimator

    def suspects(self, k: int = 20) -> tuple[NDArray[np.intp], Floats]:
        """Rows of the training table that are unlabelled and most likely positive.

        Needs the cluster of the fit: the scores are there.

        Parameters
        ----------
        k
            How many; fewer if there are fewer unlabelled rows.

        Returns
        -------
        rows
            Row numbers in the X of fit, the most suspect first, (k,).
        probability
            Their probabilities, by the learner that has not seen the row, (k,).
        """
        check_is_fitted(self)
        check_number("k", k, least=1, whole=True)
        if self._rows_ is None:
            raise ValueError(
                "suspects need the scores that the fit left on the cluster, and a copy of the "
                "model has none: ask the model that was fitted."
            )
        rows, score = summaries.top(*self._rows_, k)
        return rows, self._scaled(score)

    def __getstate__(self) -> dict[str, Any]:
        # What lies on a cluster cannot travel.
        state: dict[str, Any] = super().__getstate__()
        return state | ({"_rows_": None} if "_rows_" in state else {})


def _record(now: Candidate, weighted: Weights, threshold: tuple[float, float]) -> dict[str, float]:
    """What the history records of a round."""
    record: dict[str, float] = {"round": now.iteration}
    for side, name in enumerate(("positive", "unlabeled")):
        record[f"threshold_{name}"] = threshold[side]
        record[f"mass_{name}"] = float(weighted.mass[side])
        record[f"effective_{name}"] = float(weighted.mass[side] ** 2 / weighted.squares[side])
    return record | {"score": now.score}
