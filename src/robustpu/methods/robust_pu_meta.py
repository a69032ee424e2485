"""Robust-PU around any learner: weighted refits in the place of epochs (Zhu et al., KDD 2023)."""

import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    check_is_fitted,
)

from robustpu import hardness as hardnesses
from robustpu import labels
from robustpu import weighting as weightings
from robustpu.base import BasePUClassifier, CollapseWarning, parameters
from robustpu.checks import check_number
from robustpu.hardness import HardnessFunction
from robustpu.methods import METHODS
from robustpu.methods.bagging import matched, mean_score
from robustpu.methods.crossfit import (
    Lesson,
    Member,
    Rows,
    Turn,
    deal,
    is_teachable,
    mean_known,
    take_turn,
)
from robustpu.methods.elkan_noto import posterior, to_population
from robustpu.methods.explain import Explanation, explanation, importances
from robustpu.methods.reweigh import Rule, among_unlabeled, factors, prior_shift, weigh
from robustpu.naming import suggest
from robustpu.pacing import Pacing
from robustpu.selection import above_prior, of_logits, oracle_accuracy, proxy_accuracy
from robustpu.thresholds import log_odds, shifted
from robustpu.weighting import WeightingFunction
from robustpu.wrapper import Floats, Mask, WrapperPUClassifier

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
POSITIVE, UNLABELED = Pacing("const", lambda0=2.0), Pacing("const", lambda0=0.7)
# The learner may be slow, and so many such classifiers are fitted as there are folds.
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


class Problem(NamedTuple):
    """What fit was given; ``sample_weight`` is ``weight``, or None if there was none."""

    X: Any
    is_positive: Mask
    weight: Floats
    sample_weight: Floats | None
    X_true: Any
    truth: Mask | None


class Candidate(NamedTuple):
    """A round that may be chosen."""

    turn: int
    score: Floats
    fits: Turn
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
    hardness, temperature_positive, temperature_unlabeled, weighting
        As there, with all temperatures 1.
    pacing_positive, pacing_unlabeled
        Threshold of each round, a :class:`robustpu.Pacing`; None: 2 and 0.7 in all rounds.
    max_rounds, patience
        Rounds at most, and rounds without a better score after which to stop; None never stops
        early.
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
    turns_
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
    >>> model = RobustPUMetaClassifier(estimator=learner, prior=0.3, n_members=2, random_state=0)
    >>> model.fit(pu.X, pu.y).score(pu.X_test, pu.y_test) > 0.9
    True
    """

    _default = BOOSTING

    pretrain: BasePUClassifier | str = "learner"
    hardness: str | HardnessFunction = "logistic"
    temperature_positive: float = 1.0
    temperature_unlabeled: float = 1.0
    weighting: str | WeightingFunction = "welsch"
    pacing_positive: Pacing | None = None
    pacing_unlabeled: Pacing | None = None
    max_rounds: int = 2
    patience: int | None = 1
    n_members: int | None = None
    n_folds: int | None = None
    n_jobs: int | None = None
    validation_fraction: float = 0.2

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        eval_set: tuple[ArrayLike, ArrayLike] | None = None,
    ) -> Self:
        """Fit to positives and unlabelled rows.

        Parameters
        ----------
        X
            Rows (n, ...), whatever the learner takes.
        y
            Two labels (n,): labelled positive (by default the larger) and unlabelled.
        sample_weight
            Weight of each row, (n,), by which its weight of each round is multiplied. Rows of
            weight 0 are answered, but count as none.
        eval_set
            ``(X, y_true)`` with *true* labels. The round is chosen by them, and nothing is held
            out.
        """
        X, is_positive, weight, truth = self._check_data(X, y, sample_weight, eval_set)
        X_true = None if eval_set is None else eval_set[0]
        random = check_random_state(self.random_state)
        self._set_prior(X, is_positive, weight, random)
        self._learn(X, is_positive, weight, random, X_true, truth)
        return self

    def _learn(
        self,
        X: Any,
        is_positive: Mask,
        weight: Floats | None,
        random: np.random.RandomState,
        X_true: Any = None,
        truth: Mask | None = None,
    ) -> None:
        own = np.ones(len(is_positive)) if weight is None else weight
        labels.refuse_weightless(is_positive, own)
        problem = Problem(X, is_positive, own, weight, X_true, truth)
        best, rule = self._rounds(problem, self._deal(problem, random), random)
        self._keep(best, rule, problem)

    def _rounds(
        self, problem: Problem, members: Sequence[Member], random: np.random.RandomState
    ) -> tuple[Candidate, Rule]:
        """Go through the rounds; return the best, and what its rows were weighed by."""
        rules, given = self._rules(), {"X_true": problem.X_true, "n_jobs": self.n_jobs}
        self.history_: list[dict[str, float]] = []

        # Line 1: initialise the model by pre-training; it is the candidate of round 0.
        first, is_ratio = self._first()
        whole = Lesson(np.arange(len(problem.weight)), problem.is_positive, problem.sample_weight)
        with warnings.catch_warnings():
            # What is fitted to a part of the rows is not what the user gets.
            warnings.simplefilter("ignore", CollapseWarning)
            fits = take_turn(first, problem.X, members, [whole] * len(members), random, **given)
        best = self._candidate(0, fits, problem, is_ratio)
        self._note(best, [{}] * len(members))

        # Line 2: for t = 1 to T. The code counts from 0, so that the first threshold is λ0.
        for t, rule in enumerate(rules):
            # Lines 3-7, stages 1 and 2: the hardness of each row, out of fold, and its weight.
            lessons, notes = [], []
            for member, score in zip(members, fits.own, strict=True):
                scale = self._scale(score, member.kept, problem, is_ratio and t == 0)
                lesson, note = self._lesson(score, scale, member.kept, problem, rule)
                lessons.append(lesson)
                notes.append(note)
            pairs = zip(members, lessons, strict=True)
            if not all(is_teachable(*pair, len(problem.weight)) for pair in pairs):
                warnings.warn(
                    f"round {t + 1} would leave positives or negatives without any weight, so the "
                    "rounds end before it. Give pacings with higher thresholds; these are "
                    f"{rule.threshold[0]:g} and {rule.threshold[1]:g}.",
                    stacklevel=4,
                )
                break

            # Lines 8-11, stage 3: fit the learner to the weighted rows.
            fits = take_turn(
                self._learner(), problem.X, members, lessons, random, last=fits, **given
            )

            # Not in Algorithm 1 but in the paper's experiments: keep the best round, and stop when
            # no better one came for a while.
            now = self._candidate(t + 1, fits, problem, is_ratio=False)
            self._note(now, notes)
            # Without a score, which is NaN then, the last round is kept.
            if not now.score.mean() <= best.score.mean():
                best = now
            if t + 1 - best.turn >= (self.patience or self.max_rounds):
                break
        return best, rules[max(0, best.turn - 1)]

    def _lesson(
        self, score: Floats, scale: Scale, kept: Rows, problem: Problem, rule: Rule
    ) -> tuple[Lesson, dict[str, float]]:
        """Weigh the rows that a member learns from, by their scores; and what to note of it."""
        labelled = problem.is_positive[kept]
        odds = self._odds(score[kept], scale, labelled)
        weight = weigh(odds, labelled, rule)[1]
        notes = {"positive_rate": float(np.mean(odds[~labelled] >= 0))}
        sides = ("positive", labelled), ("unlabeled", ~labelled)
        for (name, side), threshold in zip(sides, rule.threshold, strict=True):
            own = weight[side]
            notes[f"threshold_{name}"], notes[f"mass_{name}"] = threshold, float(own.sum())
            squares = max(float(np.square(own).sum()), 1e-30)
            notes[f"effective_{name}"] = float(own.sum()) ** 2 / squares
        keep = weight > LEAST
        kept, labelled = kept[keep], labelled[keep]
        weight = weight[keep] * problem.weight[kept]
        mass = float(weight[labelled].sum()), float(weight[~labelled].sum())
        if min(mass) > 0:
            weight = weight * np.where(labelled, *factors(*mass, self.population_prior_))
        return Lesson(kept, labelled, weight), notes

    def _odds(self, score: Floats, scale: Scale, labelled: Mask) -> Floats:
        """Log-odds of being positive, of unlabelled rows as such, from scores, (n,)."""
        priors = self.prior_, self.population_prior_
        odds = log_odds(scale(score, *priors))
        return np.where(labelled, odds, among_unlabeled(odds, *priors))

    def _scale(self, score: Floats, rows: Rows, problem: Problem, is_ratio: bool) -> Scale:
        """Find what makes the mean probability of the unlabelled ones of some rows the prior."""
        unlabeled = rows[~problem.is_positive[rows]]
        own, weight = score[unlabeled], problem.weight[unlabeled]
        if is_ratio:
            return Scale(0.0, matched(own, weight, self.prior_, 1.0))
        given = self.prior_, self.population_prior_, weight
        return Scale(prior_shift(log_odds(own), *given), None)

    def _candidate(self, turn: int, fits: Turn, problem: Problem, is_ratio: bool) -> Candidate:
        """Judge a round, each member on the rows that it holds out or on those of the eval_set."""
        everything = np.arange(len(problem.is_positive))
        scale = self._scale(fits.pooled(), everything, problem, is_ratio)
        scores, mask, weight, criterion = (
            (fits.unseen, problem.is_positive, problem.weight, proxy_accuracy)
            if problem.truth is None
            else (fits.oracle, problem.truth, np.ones(len(problem.truth)), oracle_accuracy)
        )
        judge = of_logits(criterion, above_prior if self.threshold == "prior" else None)
        numbers = torch.tensor([[self.prior_], [self.population_prior_]], dtype=torch.float64)
        found = np.full(len(scores), np.nan)
        for m, own in enumerate(scores):
            rows = np.isfinite(own) & (weight > 0)
            if rows.any():
                odds = log_odds(scale(own[rows], self.prior_, self.population_prior_))
                given = (torch.from_numpy(part)[None] for part in (odds, mask[rows], weight[rows]))
                found[m] = float(judge(*given, *numbers))
        return Candidate(turn, found, fits, scale)

    def _note(self, candidate: Candidate, notes: Sequence[dict[str, float]]) -> None:
        self.history_ += [
            {"member": m, "round": candidate.turn, **note, "score": float(score)}
            for m, (note, score) in enumerate(zip(notes, candidate.score, strict=True))
        ]

    def _keep(self, best: Candidate, rule: Rule, problem: Problem) -> None:
        """Note the chosen round, and conclude."""
        self.estimators_, self.member_scores_ = best.fits.learners, best.score
        self.shift_, self.label_frequency_ = best.scale
        self.kept_ = np.arange(len(best.score))
        self.turns_ = np.full(len(best.score), best.turn)
        self.selection_ = "none" if np.isnan(best.score).all() else "pu"
        if problem.truth is not None:
            self.selection_ = "oracle"
        labelled, score = problem.is_positive, best.fits.pooled()
        own = weigh(self._odds(score, best.scale, labelled), labelled, rule)
        self.hardness_, self.weight_ = own
        # Rows without weight were not dealt out, and are none to judge the model by.
        unseen = np.where(problem.weight > 0, mean_known(best.fits.unseen), np.nan)
        answers = self._scaled(score), self._scaled(unseen)
        self._conclude(labelled, problem.weight, *answers, depth=3)

    def _first(self) -> tuple[Any, bool]:
        """Return what to pre-train, and whether its scores are of P against U."""
        pretrain: Any = self.pretrain
        if isinstance(pretrain, str):
            if pretrain == "learner":
                return self._learner(), True
            own = METHODS[pretrain]
            kind = getattr(import_module(f"robustpu.methods.{own.file}"), own.kind)
            pretrain = kind(**FEWER.get(pretrain, {}))
        pretrain = clone(pretrain).set_params(
            prior=self.prior_, scenario=self.scenario, pos_label=None, threshold=0.5
        )
        if isinstance(pretrain, WrapperPUClassifier) and pretrain.estimator is None:
            pretrain.set_params(estimator=self._learner())
        return pretrain, False

    def _rules(self) -> list[Rule]:
        """What weighs rows in each round."""
        measure, weighting = hardnesses.resolve(self.hardness), weightings.resolve(self.weighting)
        pacings = self.pacing_positive or POSITIVE, self.pacing_unlabeled or UNLABELED
        paths = [own.path(self.max_rounds) for own in pacings]
        temperature = self.temperature_positive, self.temperature_unlabeled
        return [Rule(measure, weighting, temperature, pair) for pair in zip(*paths, strict=True)]

    def _deal(self, problem: Problem, random: np.random.RandomState) -> list[Member]:
        has_weight = problem.weight > 0
        rows = int(has_weight.sum())
        n_members = self.n_members or max(1, 10 * MANY // max(rows, MANY))
        n_folds = self.n_folds or (3 if rows <= MANY else 2)
        share = 0.0 if problem.truth is not None else self.validation_fraction
        return deal(problem.is_positive, has_weight, n_members, share, n_folds, random)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        known = ["learner", *METHODS]
        if isinstance(self.pretrain, str) and self.pretrain not in known:
            raise ValueError(f"unknown pretrain {self.pretrain!r}{suggest(self.pretrain, known)}")
        if not isinstance(self.pretrain, str | BasePUClassifier):
            raise ValueError(
                "pretrain must be 'learner', a method of this library by its name, or one of its "
                f"classifiers; it is {self.pretrain!r}."
            )
        check_number("temperature_positive", self.temperature_positive, above=0)
        check_number("temperature_unlabeled", self.temperature_unlabeled, above=0)
        check_number("max_rounds", self.max_rounds, least=1, whole=True)
        check_number("patience", self.patience, least=1, whole=True, optional=True)
        check_number("n_members", self.n_members, least=1, whole=True, optional=True)
        check_number("n_folds", self.n_folds, least=2, whole=True, optional=True)
        check_number("n_jobs", self.n_jobs, whole=True, optional=True)
        if self.n_jobs == 0:
            raise ValueError("n_jobs must not be 0; give None or 1 for one thread, -1 for all.")
        for name in ("pacing_positive", "pacing_unlabeled"):
            pacing = getattr(self, name)
            if not (pacing is None or isinstance(pacing, Pacing)):
                raise ValueError(f"{name} must be a robustpu.Pacing or None; it is {pacing!r}.")
        # Thresholds outside the domain of the weighting are refused now, not rounds later.
        for rule in self._rules():
            rule.weighting(torch.zeros(2), torch.tensor(rule.threshold))

    def _scaled(self, score: Floats) -> Floats:
        scale = Scale(self.shift_, self.label_frequency_)
        return scale(score, self.prior_, self.population_prior_)

    def _answer(self, X: Any) -> Floats:
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
