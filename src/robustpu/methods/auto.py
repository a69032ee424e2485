"""The classifier that we recommend: a pool of rankers for tables, networks for images."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import Bunch, Tags, check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from robustpu import labels
from robustpu.base.arrays import check_images, check_table, check_training_data, refuse_huge
from robustpu.base.classifier import BasePUClassifier
from robustpu.base.folds import FOLDS
from robustpu.methods import composition
from robustpu.methods.diagram import side_by_side
from robustpu.methods.effort import check_effort
from robustpu.methods.frames import (
    columns_of,
    fit_vectorizer,
    is_frame,
    needs_vectorizer,
    refuse_text,
)
from robustpu.methods.members import MEMBERS, members_of, named_members
from robustpu.methods.voting import Named, PUVotingClassifier
from robustpu.methods.wide import Views
from robustpu.modules import MODULES, ModuleFactory
from robustpu.modules.rows import is_mapped
from robustpu.pool.crossfit import (
    MOST,
    FittedMember,
    Split,
    cross_fit,
    fit_classifier,
    folds_of,
    score_rows,
)
from robustpu.pool.link import fit_link, linked
from robustpu.pool.weights import auc, greedy
from robustpu.priors import from_weighted, is_joint, needs_estimation
from robustpu.scenario import check_prior
from robustpu.sparse.projection import RowProjection, is_wide
from robustpu.training import Job, Problem, Scores, TrainingData
from robustpu.training.data import Floats, Mask
from robustpu.validation.parameters import flag, number, one_of, param, parameters, strategy

# Scores that vary by less do not vary.
TINY = 1e-9
# Share of a time limit that members may take; the rest is for weights, the prior and the link.
KEPT = 0.85
# Parameters of the networks of images, and of their ensemble.
SHARED = ("module", "mirror", "device", "validation_fraction")
GIVEN = ("prior", "scenario", "validation_fraction")


@parameters
class PUClassifier(BasePUClassifier):
    """z(x) = sum of w_k s_k(x), p(x) = sigmoid(a z(x) + b): a weighted pool of rankers.

    Members rank labelled above unlabelled rows: linear models, a kernel, forests and boosting on
    balanced draws, and extra-trees that know the prior. One cross-fit scores every row by members
    that were not fitted to it. These scores decide on the weights (by the AUC of labelled against
    unlabelled rows), on the prior if it is not given, on a and b, and serve ``evaluate`` and
    thresholds. Of images it is an ensemble
    of Robust-PU and P3Mix-C networks instead. What each member is worth: docs/default.md.
    Parameters not listed here are those of every classifier, see
    :class:`robustpu.base.classifier.BasePUClassifier`.

    Parameters
    ----------
    calibrate
        Probabilities of a table have the right mean in any case. ``"auto"``: those of images whose
        mean is below nine tenths of the prior are shifted to it.
    members
        Names of ``robustpu.methods.members.MEMBERS``, and pairs ``(name, classifier)`` of your own,
        any of scikit-learn's or of this library; None for those of the effort.
    effort
        ``"fast"``, ``"default"`` or ``"best"``, or seconds that a fit may take: members that would
        take longer are left out.
    n_members, module, mirror, device, validation_fraction
        Of images alone: how many Robust-PU networks, which, whether to show half of the images
        mirrored, where to train, and what to hold out; see :class:`robustpu.NNPUClassifier`.
    verbose
        1 shows a progress bar.

    Attributes
    ----------
    weights_
        Weight of each member, of sum 1, (K,).
    members_, named_members_
        The fitted learners, as a list and by name.
    member_auc_
        Of a table: AUC of labelled against unlabelled rows of each member, out of fold, (K,); NaN
        of a single row of either.
    member_out_of_fold_
        Of a table: standardised out-of-fold scores of each member, (n, K), NaN where unknown.
    link_
        Of a table: slope a and shift b.
    vectorizer_
        What made numbers of a DataFrame with text, categories, dates or gaps; else None.
    fill_
        Medians of a table without gaps, (d,), which fill those of later rows; else None.
    wide_
        What makes few columns of more than 1,000 for the members that cannot take so many, sparse
        or not, a :class:`robustpu.sparse.projection.RowProjection`; else None.
    ensemble_
        Of images: the fitted ensemble of networks; else None.

    Examples
    --------
    >>> from robustpu import PUClassifier, datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=80, n_unlabeled=200, prior=0.3,
    ...              n_test=100, random_state=0)
    >>> model = PUClassifier(prior=0.3, random_state=0).fit(pu.X, pu.y)
    >>> model.score(pu.X_test, pu.y_test) > 0.9
    True
    """

    calibrate: bool | str = param("auto", one_of(True, False, "auto"))
    members: Sequence[Any] | None = param(None, lambda name, value: _check_members(name, value))
    effort: str | float = param("default", check_effort)
    n_members: int | None = param(None, number(least=1, whole=True, optional=True))
    module: str | ModuleFactory = param("mlp", strategy(MODULES))
    mirror: bool = param(False, flag)
    device: str = param("auto")
    verbose: int = param(0)

    # The cross-fit gives the scores that the prior is estimated from.
    estimates_while_fitting = True

    def check_combination(self) -> None:
        # Unlike others it has out-of-fold scores whatever is held out.
        if is_joint(self.prior):
            raise ValueError(
                f"prior={self.prior!r} needs networks of its own: give prior= the number that "
                f"robustpu.estimate_prior(X, y, method={self.prior!r}) finds, or another method."
            )

    # The steps of a fit.

    def check_data(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None,
        eval_set: tuple[ArrayLike, ArrayLike] | None,
    ) -> TrainingData:
        self.vectorizer_ = self.wide_ = None
        if not needs_vectorizer(X):
            refuse_text(X)
            data = check_training_data(self, X, y, sample_weight, eval_set, keeps_sparse=is_wide)
            check_images(self.mirror, data.X.shape[1:])
            self.fill_ = None
            if data.X.ndim == 2 and not is_mapped(data.X):
                refuse_huge(data.X)
                self.wide_ = RowProjection().fit(data.X) if is_wide(data.X) else None
                if not issparse(data.X):
                    self.fill_ = np.median(data.X, axis=0).astype(np.float64)
            return data
        labels.refuse_missing(y)
        self.fill_ = None
        self.vectorizer_, table = fit_vectorizer(self, X)
        check_consistent_length(table, y)
        self.input_shape_ = (self.n_features_in_,)
        is_positive = self.encode_labels(column_or_1d(y, warn=True))
        weight = self.check_weight(sample_weight, is_positive)
        truth = self.check_truth(eval_set)
        rows = None if eval_set is None else self._rows(eval_set[0])
        return TrainingData(table, is_positive, weight, rows, truth)

    def n_steps(self) -> int:
        return (FOLDS + 1) * len(self.pool(prior=1.0))

    def n_seeds(self, data: TrainingData) -> int:
        return 1

    def pool(self, n_rows: int = 1, prior: float = 0.0) -> Named:
        """Make ``(name, learner)`` of each member for that many rows and prior, not fitted."""
        if self.members is not None:
            return named_members(self.members, n_rows)
        effort = self.effort if isinstance(self.effort, str) else "best"
        return named_members(members_of(effort, prior), n_rows)

    def part_jobs(self, data: TrainingData, seeds: Sequence[int]) -> list[Job]:
        """Of images, the ensemble of networks."""
        if data.X.ndim == 2:
            return []
        ensemble = self.image_ensemble(len(data)).set_params(random_state=seeds[0])
        eval_set = None if data.truth is None else (data.X_eval, data.truth)
        return [Job(ensemble, data.X, data.is_positive, eval_set, data.weight)]

    def image_ensemble(self, n_rows: int) -> PUVotingClassifier:
        """Make the ensemble of networks for that many images."""
        networks, weights = composition.for_images(
            self.n_members, n_rows, self.threshold, **{name: getattr(self, name) for name in SHARED}
        )
        given = {name: getattr(self, name) for name in GIVEN}
        return PUVotingClassifier(networks, weights=weights, **given)

    def fit_data(self, problem: Problem) -> Scores:
        if problem.parts:
            return self._take_over(problem.parts[0].estimator)
        data, before, rows = problem.data, problem.before, np.flatnonzero(problem.data.weight)
        splits = folds_of(data, rows, problem.random)
        clock = Clock(np.inf if isinstance(self.effort, str) else KEPT * float(self.effort))
        known = data.is_positive[rows], data.weight[rows]
        views = Views(data.X, self.wide_)
        # Members that need no prior are first: their scores tell it.
        found = self._cross_fit(problem, views, splits, clock)
        if not found:
            raise ValueError("members needs a learner that ranks without the prior: add one.")
        Z = np.column_stack([member.standardized for member in found])
        self.weights_ = greedy(Z[rows], *known, problem.random)
        self._resolve_prior(Z @ self.weights_, before)
        others = self._fit_classifiers(problem, views, splits, clock)
        if others:
            found += others
            Z = np.column_stack([member.standardized for member in found])
            self.weights_ = greedy(Z[rows], *known, problem.random)
        score = Z @ self.weights_
        deviation = float(np.std(score[rows]))
        self.score_scale_ = deviation if deviation > TINY else 1.0
        score /= self.score_scale_
        self.link_ = self._fit_link(score, before)
        self.members_ = [member.learner for member in found]
        self.member_names_ = [member.name for member in found]
        self.member_scale_ = np.array([[member.mean, member.scale] for member in found])
        self.member_auc_ = np.full(len(found), np.nan)
        self.member_out_of_fold_ = np.full_like(Z, np.nan)
        if splits:
            told = np.flatnonzero(before.weight)
            evaluated = before.is_positive[told], before.weight[told]
            self.member_auc_[:] = [_auc(column, *evaluated) for column in Z[told].T]
            self.member_out_of_fold_[rows] = Z[rows]
        # Weights were chosen, without a negative.
        self.selection_ = "pu"
        self.ensemble_: PUVotingClassifier | None = None
        self.member_scores_, self.kept_ = np.array([np.nan]), np.array([0])
        probability = linked(score, self.link_)
        is_unseen = np.isfinite(self.member_out_of_fold_[:, 0])
        return Scores(probability, np.where(is_unseen, probability, np.nan))

    def _cross_fit(
        self, problem: Problem, views: Views, splits: list[Split], clock: "Clock"
    ) -> list[FittedMember]:
        """Fit the rankers, and leave out those that a time limit has no room for."""
        found: list[FittedMember] = []
        # Even the first fold of one that is left out takes time.
        least = 0.0
        for name, learner in self.pool(len(problem.data)):
            if isinstance(learner, BasePUClassifier):
                continue
            if found and clock.left < least:
                problem.tick(FOLDS + 1)
                continue
            learner, before = views.adapted(learner), clock.used
            member = cross_fit(
                name,
                learner,
                views.data_of(learner, problem.data),
                splits,
                problem.random,
                seconds_left=clock.left,
                # One member there must be.
                is_required=not found,
                tick=lambda: problem.tick(1),
            )
            if member is None:
                problem.tick(FOLDS)
                continue
            taken = clock.used - before
            least = min(least, taken) if found else taken
            found.append(member)
        return found

    def _fit_classifiers(
        self, problem: Problem, views: Views, splits: list[Split], clock: "Clock"
    ) -> list[FittedMember]:
        """Fit the members that know the prior, as far as there is time."""
        found: list[FittedMember] = []
        rankers, data = clock.used, problem.data
        taking_part = {name for name, _ in self.pool(len(data), self.prior_)}
        for name, learner in self.pool(len(data), 1.0):
            if not isinstance(learner, BasePUClassifier):
                continue
            is_ours = self.members is None or name in self.members
            cost, most = (MEMBERS[name].cost, MEMBERS[name].most) if is_ours else (1.0, MOST)
            if name in taking_part and cost * rankers <= clock.left:
                share = problem.share_to_train(self.prior_)
                shared = {"prior": share, "scenario": self.scenario, "pos_label": None}
                given = clone(learner).set_params(**shared)
                part = views.data_of(given, data)
                found.append(fit_classifier(name, given, part, splits, problem.random, most))
            problem.tick(FOLDS + 1)
        return found

    def _resolve_prior(self, score: Floats, data: TrainingData) -> None:
        """The prior as given, or from the out-of-fold scores of the pool."""
        counted = self.counted_prior(data)
        if counted is not None:
            self.prior_ = counted
        elif needs_estimation(self.prior):
            data, score = data.with_weight(), score[data.weight > 0]
            require_two(data.is_positive)
            known = data.is_positive, data.weight, self.prior, data.outcome
            self.prior_ = from_weighted(score, *known)
        else:
            self.prior_ = check_prior(self.prior)
        self.population_prior_ = data.population_prior(self.prior_, self.scenario)

    def _fit_link(self, score: Floats, data: TrainingData) -> Floats:
        """Slope and shift from scores to probabilities, which have the mean of the prior."""
        score, data = score[data.weight > 0], data.with_weight()
        shares = self.prior_, self.population_prior_
        return fit_link(score, data.is_positive, data.weight, *shares, self.scenario, data.outcome)

    def _take_over(self, ensemble: PUVotingClassifier) -> Scores:
        """Keep the fitted ensemble of networks, and its scores."""
        self.ensemble_, self.selection_ = ensemble, ensemble.selection_
        self.prior_, self.population_prior_ = ensemble.prior_, ensemble.population_prior_
        self.weights_, self.member_names_ = ensemble.weights_, ensemble.estimator_names_
        self.members_ = ensemble.estimators_
        self.member_scores_, self.kept_ = ensemble.member_scores_, ensemble.kept_
        return Scores(ensemble.probability_, ensemble.out_of_fold_)

    @property
    def named_members_(self) -> Bunch:
        """The fitted learners by name."""
        return Bunch(**dict(zip(self.member_names_, self.members_, strict=True)))

    def _sk_visual_block_(self) -> Any:
        if hasattr(self, "weights_"):
            return side_by_side(self.member_names_, self.members_, self.weights_.tolist())
        return side_by_side(*zip(*self.pool(), strict=True))

    # New rows.

    def member_scores(self, X: ArrayLike) -> Floats:
        """Standardised score of each row by each member, (n, K).

        Parameters
        ----------
        X
            Rows like those of fit.
        """
        check_is_fitted(self)
        if self.ensemble_ is not None:
            raise ValueError("images have no pool: ask ensemble_.part_probabilities(X).")
        views = self._views(X)
        scores = [self._member_score(k, views) for k in range(len(self.members_))]
        return np.column_stack(scores)

    def predict_rows(self, X: ArrayLike) -> Floats:
        if self.ensemble_ is not None:
            whole: Floats = self.ensemble_.predict_proba(X)[:, 1]
            return whole
        views = self._views(X)
        total = np.zeros(views.X.shape[0])
        for k, weight in enumerate(self.weights_):
            if weight > 0:
                total += weight * self._member_score(k, views)
        return linked(total / self.score_scale_, self.link_)

    def row_cost(self) -> int:
        parts = zip(self.members_, self.weights_, strict=True)
        costs = [
            member.row_cost()
            for member, weight in parts
            if weight > 0 and isinstance(member, BasePUClassifier)
        ]
        return max(costs, default=1)

    def _member_score(self, k: int, views: Views) -> Floats:
        """Standardised scores by one member, (n,)."""
        learner, (mean, scale) = self.members_[k], self.member_scale_[k]
        standardized: Floats = (score_rows(learner, views.of(learner)) - mean) / scale
        return standardized

    def _views(self, X: ArrayLike) -> Views:
        return Views(self._rows(X), getattr(self, "wide_", None))

    def _rows(self, X: ArrayLike) -> Any:
        if self.vectorizer_ is None:
            return check_table(self, self._filled(X))
        names = getattr(self, "feature_names_in_", None)
        if not is_frame(X) or names is None:
            X = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        return self.vectorizer_.encode(columns_of(X, names))

    def _filled(self, X: ArrayLike) -> ArrayLike:
        """Put medians into gaps of rows, if the table of the fit had none."""
        if self.fill_ is None or not needs_vectorizer(X) or not _are_numbers(X):
            return X
        rows = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
        filled: NDArray[Any] = np.where(np.isnan(rows), self.fill_, rows)
        return filled

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags


class Clock:
    """Seconds that a fit has used, and those that are left."""

    def __init__(self, limit: float):
        self._started, self._limit = time.perf_counter(), limit

    @property
    def used(self) -> float:
        """Since it was made."""
        return time.perf_counter() - self._started

    @property
    def left(self) -> float:
        """Until the limit; below 0 after it."""
        return self._limit - self.used


def require_two(is_positive: Mask) -> None:
    """Refuse to estimate a prior from a single row of either kind."""
    counts = int(is_positive.sum()), int((~is_positive).sum())
    if min(counts) < 2:
        raise ValueError(
            "to estimate the prior takes at least 2 labelled positives and 2 unlabelled rows; "
            f"there are {counts[0]} and {counts[1]}. Give prior= a number: the share of positives "
            "that you expect among the unlabelled rows."
        )


def _are_numbers(X: Any) -> bool:
    """Whether all columns are numbers, with or without gaps."""
    kinds = [str(kind) for kind in X.dtypes] if is_frame(X) else [str(np.asarray(X).dtype)]
    return all(kind.lower().startswith(("int", "uint", "float", "bool")) for kind in kinds)


def _check_members(name: str, value: Any) -> None:
    if value is not None:
        named_members(value)


def _auc(score: Floats, is_positive: Mask, weight: Floats) -> float:
    parts = score[is_positive], score[~is_positive], weight[is_positive], weight[~is_positive]
    return auc(*parts)
