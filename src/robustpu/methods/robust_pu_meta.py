"""Robust-PU around any learner: weighted refits in the place of epochs (Zhu et al., KDD 2023)."""

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils.validation import check_is_fitted

from robustpu.base.classifier import BasePUClassifier, ChanceWarning, CollapseWarning
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.calibration import among_unlabeled, log_odds, matched, posterior, prior_shift, shifted
from robustpu.curriculum import Curriculum, describe_weights
from robustpu.methods import METHODS
from robustpu.methods.bagging import mean_score
from robustpu.methods.balance import factors
from robustpu.methods.crossfit import (
    Member,
    Round,
    TrainingSet,
    fit_round,
    has_both_classes,
    mean_known,
    split_members,
)
from robustpu.methods.explain import Explanation, explanation, importances
from robustpu.pacing import Pacing
from robustpu.scenario import to_population
from robustpu.selection import above_prior, of_logits, oracle_accuracy, proxy_accuracy
from robustpu.training import Problem, Scores, TrainingData
from robustpu.training.data import Floats, Index, Mask
from robustpu.validation.names import suggest
from robustpu.validation.parameters import (
    check_parameters,
    instance_of,
    n_jobs,
    number,
    param,
    parameters,
)
from robustpu.validation.warning import warn

BOOSTING = HistGradientBoostingClassifier(
    max_iter=60,
    max_leaf_nodes=16,
    min_samples_leaf=5,
    max_features=0.3,
    max_bins=32,
    l2_regularization=1.0,
)


# The weight of an unlabelled row is the square of its probability to be negative, about; that of
# a labelled one hardly ever less than a half.
def default_curriculum() -> Curriculum:
    """Make what the rounds do by default."""
    return Curriculum(
        temperature_unlabeled=1.0,
        pacing_positive=Pacing("const", lambda0=2.0),
        pacing_unlabeled=Pacing("const", lambda0=0.7),
        balance=True,
        max_rounds=2,
    )


# The learner may be slow, and one such classifier is fitted a fold.
FEWER = {"bagging": {"n_estimators": 10}}
# Rows up to which there are as many members and folds as do good.
MANY = 10_000
# Rows of no more weight say nothing, and cost as much as others.
LEAST = 1e-3


class Scale(NamedTuple):
    """Makes probabilities of scores: a shift of log-odds, or, of P against U, Elkan-Noto's w."""

    shift: float
    label_frequency: float | None

    def __call__(self, score: Floats, prior: float, population: float) -> Floats:
        if self.label_frequency is None:
            return shifted(score, self.shift)
        return to_population(posterior(score, self.label_frequency), prior, population)


class Candidate(NamedTuple):
    """A round that may be chosen."""

    iteration: int
    score: Floats
    fits: Round
    scale: Scale


@parameters
class RobustPUMetaClassifier(WrapperPUClassifier):
    """Robust-PU around any scikit-learn classifier that takes ``sample_weight``.

    The learner tells labelled from unlabelled rows. Then, round after round, the hardness of each
    row is measured by a learner that has not seen it, turned into a weight by a threshold, and the
    learner is fitted afresh to the weighted rows. Rows reach it as they came: missing values,
    categories, DataFrames and text, if it takes them. Parameters as in
    :class:`robustpu.RobustPUClassifier`, and

    Parameters
    ----------
    estimator
        A scikit-learn classifier that takes ``sample_weight``, or a pipeline that ends in one; by
        default a small ``HistGradientBoostingClassifier``. Each round fits it afresh; a linear one
        with ``warm_start=True``, and not in a pipeline, goes on from its coefficients.
    pretrain
        What round 1 measures hardness by. ``"learner"``: the learner, of P against U, with scores
        corrected as Elkan and Noto do; no more fits than a round has. Or a name of a method of
        this library (``"elkan-noto"``, ``"bagging"``, ``"puet"``, ``"nnpu"``...), or one of its
        classifiers; one around a learner, and without one of its own, takes this one.
    curriculum
        Hardness, temperatures, weighting, pacing and the number of rounds, a
        :class:`robustpu.Curriculum`. By default temperatures of 1, thresholds of 2 for positives
        and 0.7 for unlabelled rows in all rounds, balanced weights, and two rounds.
    patience
        Rounds without a better score after which to stop; None never stops early.
    n_members
        How often to do it all, with other held-out rows and folds; answers are averaged. By
        default 10, and fewer of more than 10,000 rows.
    n_folds
        Folds of each member, of which each is scored by a learner of the others. By default 3, and
        2 of more than 10,000 rows.
    n_jobs
        Threads, by joblib, that fit and score learners. Answers do not depend on it.
    validation_fraction
        Share of the rows that a member holds out, rounded to 1/2, 1/3, 1/4...; other members hold
        out others. 0 keeps the last round.

    Attributes
    ----------
    estimators_
        The learners of the chosen round, ``n_members`` times ``n_folds``.
    shift_, label_frequency_
        What makes probabilities of their mean score: a number that is added to the log-odds; or, if
        it is not None, Elkan-Noto's c, of learners of P against U.
    hardness_, weight_
        Of each training row, by learners of the chosen round that have not seen it, unlabelled
        rows taken as negatives, (n,).
    history_
        One dictionary a member and round, with the entries of that class. Round 0 is the
        pre-trained model.
    best_round_
        The round that was chosen, the same for all members, (n_members,).
    feature_importances_
        Mean of the learners' own, scaled to the sum 1, if they have any, (d,).

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from robustpu import RobustPUMetaClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data / table.data.std(0), table.target, n_positive=80, n_unlabeled=200,
    ...              prior=0.3, n_test=100, random_state=0)
    >>> learner = LogisticRegression(max_iter=1000)
    >>> model = RobustPUMetaClassifier(learner, prior=0.3, n_members=2, random_state=0)
    >>> model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.9
    True
    """

    _default = BOOSTING

    pretrain: BasePUClassifier | str = param("learner")
    curriculum: Curriculum | None = param(
        None, instance_of(Curriculum, wanted="a robustpu.Curriculum or None", optional=True)
    )
    patience: int | None = param(1, number(least=1, whole=True, optional=True))
    n_members: int | None = param(None, number(least=1, whole=True, optional=True))
    n_folds: int | None = param(None, number(least=2, whole=True, optional=True))
    n_jobs: int | None = param(None, n_jobs)
    validation_fraction: float = param(0.2, number(least=0, below=1))

    def check_combination(self) -> None:
        super().check_combination()
        known = ["learner", *METHODS]
        if isinstance(self.pretrain, str) and self.pretrain not in known:
            raise ValueError(f"unknown pretrain {self.pretrain!r}{suggest(self.pretrain, known)}")
        if not isinstance(self.pretrain, str | BasePUClassifier):
            raise ValueError(
                "pretrain must be 'learner', a method of this library by its name, or one of its "
                f"classifiers; it is {self.pretrain!r}."
            )
        check_parameters(self.rounds)

    @property
    def rounds(self) -> Curriculum:
        """The curriculum, the default if none was given."""
        return default_curriculum() if self.curriculum is None else self.curriculum

    def hold_out(self, data: TrainingData, random: np.random.RandomState) -> TrainingData:
        # Members hold out rows in turn.
        return data

    def fit_learners(self, data: TrainingData, random: np.random.RandomState) -> None:
        raise NotImplementedError("fit_data goes through the rounds.")

    def fit_data(self, problem: Problem) -> Scores:
        data, random = problem.data, problem.random
        best = self._run_rounds(data, self._members(data, random), random)
        self.estimators_, self.member_scores_ = best.fits.learners, best.score
        self.shift_, self.label_frequency_ = best.scale
        self.kept_ = np.arange(len(best.score))
        self.best_round_ = np.full(len(best.score), best.iteration)
        score = best.fits.pooled()
        odds = self._odds(score, best.scale, data.is_positive)
        self.hardness_, self.weight_ = self.rounds.apply_to_arrays(
            odds, data.is_positive, self.rounds.threshold(max(0, best.iteration - 1))
        )
        # Rows with zero sample weight are in no fold, and the model is not evaluated on them.
        unseen = np.where(data.weight > 0, mean_known(best.fits.unseen), np.nan)
        return Scores(self._scaled(score), self._scaled(unseen))

    def _score(self, data: TrainingData, scores: Scores) -> None:
        self.selection_ = "none" if np.isnan(self.member_scores_).all() else "pu"
        if data.truth is not None:
            self.selection_ = "oracle"

    def _run_rounds(
        self, data: TrainingData, members: Sequence[Member], random: np.random.RandomState
    ) -> Candidate:
        """Go through the rounds, and return the best."""
        curriculum = self.rounds
        given = {"X_true": data.X_eval, "n_jobs": self.n_jobs}
        self.history_: list[dict[str, float]] = []

        # Line 1: initialise the model by pre-training; it is the candidate of round 0.
        first, is_ratio = self._first()
        whole = TrainingSet(np.arange(len(data)), data.is_positive, data.weight)
        with warnings.catch_warnings():
            # What is fitted to a part of the rows is not what the user gets.
            for kind in (ChanceWarning, CollapseWarning):
                warnings.simplefilter("ignore", kind)
            fits = fit_round(first, data.X, members, [whole] * len(members), random, **given)
        best = self._candidate(0, fits, data, is_ratio)
        self._record(best, [{}] * len(members))

        # Line 2: for t = 1 to T. The code counts from 0, so that the first threshold is λ0.
        for t in range(curriculum.max_rounds):
            # Lines 3-7, stages 1 and 2: the hardness of each row, out of fold, and its weight.
            pairs = [
                self._training_set(score, member.kept, data, t, is_ratio and t == 0)
                for member, score in zip(members, fits.inner, strict=True)
            ]
            training_sets, records = map(list, zip(*pairs, strict=True))
            taught = zip(members, training_sets, strict=True)
            if not all(has_both_classes(*pair, len(data)) for pair in taught):
                warn(curriculum.without_weight(t))
                break

            # Lines 8-11, stage 3: fit the learner to the weighted rows.
            fits = fit_round(
                self.learner(), data.X, members, training_sets, random, last=fits, **given
            )

            # Not in Algorithm 1 but in the paper's experiments: keep the best round, and stop when
            # no better one came for a while.
            now = self._candidate(t + 1, fits, data, is_ratio=False)
            self._record(now, records)
            # Without a score, which is NaN then, the last round is kept.
            if not now.score.mean() <= best.score.mean():
                best = now
            if t + 1 - best.iteration >= (self.patience or curriculum.max_rounds):
                break
        return best

    def _training_set(
        self, score: Floats, kept: Index, data: TrainingData, t: int, is_ratio: bool
    ) -> tuple[TrainingSet, dict[str, float]]:
        """Weight the rows that a member trains on, by their scores; and what to record of it."""
        scale = self._scale(score, kept, data, is_ratio)
        labelled = data.is_positive[kept]
        odds = self._odds(score[kept], scale, labelled)
        threshold = self.rounds.threshold(t)
        weight = self.rounds.apply_to_arrays(odds, labelled, threshold)[1]
        record = {"positive_rate": float(np.mean(odds[~labelled] >= 0))}
        record |= describe_weights(weight, labelled, threshold)
        keep = weight > LEAST
        kept, labelled = kept[keep], labelled[keep]
        weight = weight[keep] * data.weight[kept]
        mass = float(weight[labelled].sum()), float(weight[~labelled].sum())
        if self.rounds.balance and min(mass) > 0:
            weight = weight * np.where(labelled, *factors(*mass, self.population_prior_))
        return TrainingSet(kept, labelled, weight), record

    def _odds(self, score: Floats, scale: Scale, labelled: Mask) -> Floats:
        """Log-odds of being positive, of unlabelled rows as such, from scores, (n,)."""
        priors = self.prior_, self.population_prior_
        odds = log_odds(scale(score, *priors))
        return np.where(labelled, odds, among_unlabeled(odds, *priors))

    def _scale(self, score: Floats, rows: Index, data: TrainingData, is_ratio: bool) -> Scale:
        """Find what makes the mean probability of the unlabelled ones of some rows the prior."""
        unlabeled = rows[~data.is_positive[rows]]
        score, weight = score[unlabeled], data.weight[unlabeled]
        if is_ratio:
            return Scale(0.0, matched(score, weight, self.prior_, 1.0))
        given = self.prior_, self.population_prior_, weight
        return Scale(prior_shift(log_odds(score), *given), None)

    def _candidate(
        self, iteration: int, fits: Round, data: TrainingData, is_ratio: bool
    ) -> Candidate:
        """Score a round, each member on the rows that it holds out or on those of the eval_set."""
        everything = np.arange(len(data.is_positive))
        scale = self._scale(fits.pooled(), everything, data, is_ratio)
        scores, mask, weight, criterion = (
            (fits.unseen, data.is_positive, data.weight, proxy_accuracy)
            if data.truth is None
            else (fits.oracle, data.truth, np.ones(len(data.truth)), oracle_accuracy)
        )
        accuracy = of_logits(criterion, above_prior if self.threshold == "prior" else None)
        numbers = torch.tensor([[self.prior_], [self.population_prior_]], dtype=torch.float64)
        found = np.full(len(scores), np.nan)
        for m, score in enumerate(scores):
            rows = np.isfinite(score) & (weight > 0)
            if rows.any():
                odds = log_odds(scale(score[rows], self.prior_, self.population_prior_))
                given = (torch.from_numpy(part)[None] for part in (odds, mask[rows], weight[rows]))
                found[m] = float(accuracy(*given, *numbers))
        return Candidate(iteration, found, fits, scale)

    def _record(self, candidate: Candidate, records: Sequence[dict[str, float]]) -> None:
        self.history_ += [
            {"member": m, "round": candidate.iteration, **record, "score": float(score)}
            for m, (record, score) in enumerate(zip(records, candidate.score, strict=True))
        ]

    def _first(self) -> tuple[Any, bool]:
        """Return what to pre-train, and whether its scores are of P against U."""
        pretrain: Any = self.pretrain
        if isinstance(pretrain, str):
            if pretrain == "learner":
                return self.learner(), True
            method = METHODS[pretrain]
            kind = getattr(import_module(f"robustpu.methods.{method.file}"), method.kind)
            pretrain = kind(**FEWER.get(pretrain, {}))
        pretrain = clone(pretrain).set_params(
            prior=self.prior_, scenario=self.scenario, pos_label=None, threshold=0.5
        )
        if isinstance(pretrain, WrapperPUClassifier) and pretrain.estimator is None:
            pretrain.set_params(estimator=self.learner())
        return pretrain, False

    def _members(self, data: TrainingData, random: np.random.RandomState) -> list[Member]:
        has_weight = data.weight > 0
        rows = int(has_weight.sum())
        n_members = self.n_members or max(1, 10 * MANY // max(rows, MANY))
        n_folds = self.n_folds or (3 if rows <= MANY else 2)
        share = 0.0 if data.truth is not None else self.validation_fraction
        return split_members(data.is_positive, has_weight, n_members, share, n_folds, random)

    def _scaled(self, score: Floats) -> Floats:
        scale = Scale(self.shift_, self.label_frequency_)
        return scale(score, *self.score_priors())

    def score_rows(self, X: Any) -> Floats:
        return self._scaled(mean_score(self.estimators_, X, self.n_jobs))

    @property
    def feature_importances_(self) -> Floats:
        """Mean of the learners' own, scaled to the sum 1, (d,)."""
        return importances(self.estimators_, self.n_features_in_)

    def explain(self, X: ArrayLike) -> Explanation:
        """Tell what each column adds to the score of each row, if the learner can be asked.

        Linear models, trees, forests, ``HistGradientBoostingClassifier``, LightGBM and XGBoost
        can, and pipelines that end in one. Scores are those of the learners, before ``shift_``.

        Parameters
        ----------
        X
            Rows like those of fit.

        Returns
        -------
        explanation
            ``names``, ``contribution`` (n, d), ``base`` (n,) and ``unit``.

        Raises
        ------
        AttributeError
            The learner has none.
        """
        check_is_fitted(self)
        return explanation(self.estimators_, X)
