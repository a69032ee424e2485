"""The one way to fit: check the data, resolve the prior, fit, then threshold and alarms.

``estimator.fit`` is this for one estimator. For several, all networks that can share a fleet are
trained in one, whichever estimator they belong to.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from robustpu import priors
from robustpu.labels import Known, read_known
from robustpu.scenario import check_prior
from robustpu.training.data import TrainingData
from robustpu.training.fleets import train_networks
from robustpu.training.known import before_checks, refuse_too_low, share_to_train, to_train
from robustpu.training.members import Inputs, Plan, Trained, plan_of
from robustpu.validation.parameters import check_parameters

Progress: TypeAlias = Callable[[int, int], None]


class Job(NamedTuple):
    """An estimator with what it is to be fitted on.

    ``split`` decides which rows are held out, if no ``eval_set`` is given. Jobs whose scores are
    compared have to agree in it; by default it follows from the random state of the estimator.
    Ensembles also say the ``seeds`` of their networks, and the ``first_fold`` that these hold out;
    they have used propensities already, as sample weights. ``checked`` says which rows owe their
    label to a check.
    """

    estimator: Any
    X: Any
    y: Any
    eval_set: tuple[Any, Any] | None = None
    sample_weight: Any = None
    split: int | None = None
    seeds: Sequence[int] | None = None
    first_fold: int = 0
    propensity: Any = None
    checked: Any = None


@dataclass
class Problem:
    """A job on its way through the fit; ``parts`` are those of an ensemble.

    ``data`` are rows to train on, with the weights of known negatives; ``before`` the same rows as
    they were before any was checked. Both are one without known negatives and checked rows.
    ``priors`` are of ``before``, and ``trained_priors`` of ``data``.
    """

    job: Job
    data: TrainingData
    before: TrainingData
    random: np.random.RandomState
    plan: Plan
    inputs: Inputs | None = None
    parts: list["Problem"] = field(default_factory=list)
    trained: list[Trained] = field(default_factory=list)
    tick: Callable[[int], None] = lambda steps: None
    priors: tuple[float, float] | None = None
    trained_priors: tuple[float, float] | None = None

    @property
    def estimator(self) -> Any:
        return self.job.estimator

    def share_to_train(self, prior: float) -> float:
        """Share of positives among what is trained on as unlabelled, from that before checks."""
        return share_to_train(prior, self.before.training(), self.data.training())

    def networks(self) -> list["Problem"]:
        """Itself if it trains networks, and those of its parts."""
        inside = [found for part in self.parts for found in part.networks()]
        return [self, *inside] if self.inputs is not None else inside


def fit_together(
    jobs: Iterable[Job | tuple[Any, ...]],
    progress: Progress | None = None,
    *,
    return_errors: bool = False,
) -> list[Any]:
    """Fit several estimators at once, and return them fitted.

    Networks of one kind on equally many rows are trained in lock-step, which is several times
    faster than one after the other. Each result is the same as that of ``estimator.fit`` alone, up
    to rounding.

    Parameters
    ----------
    jobs
        Tuples ``(estimator, X, y)``, ``(estimator, X, y, eval_set)`` or
        ``(estimator, X, y, eval_set, sample_weight)``; or ``Job``.
    progress
        Called as ``progress(done, total)``, in epochs of single networks.
    return_errors
        Whether to return the exception in the place of an estimator that could not be fitted, such
        as one whose training diverged. Otherwise it is raised, and the other jobs are lost.

    Returns
    -------
    estimators
        The estimators of the jobs, in order.

    Examples
    --------
    >>> from robustpu import NNPUClassifier, datasets, fit_together, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> trials = [
    ...     make_pu(table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3,
    ...             n_test=100, random_state=seed)
    ...     for seed in range(3)
    ... ]
    >>> models = fit_together(
    ...     (NNPUClassifier(prior=0.3, epochs=20, random_state=0), trial.X, trial.y)
    ...     for trial in trials
    ... )
    >>> accuracy = [m.score(t.X_test, t.y_test) for m, t in zip(models, trials)]
    >>> min(accuracy) > 0.8
    True
    """
    checked = [_job(job) for job in jobs]
    if len({id(job.estimator) for job in checked}) < len(checked):
        raise ValueError("one estimator is in several jobs; give each its own, by sklearn's clone.")
    shared = SharedInputs()

    # Step 1: check parameters and data.
    problems = [_check(job, shared) for job in checked]

    # Step 2: the class prior, given or estimated.
    _resolve_priors(problems)
    for problem in problems:
        _add_parts(problem, shared)

    # Step 3: fit. Networks of all estimators first, together; each then makes scores of them.
    meter = Meter(progress, problems)
    train_networks([found for problem in problems for found in problem.networks()], meter.add)

    # Step 4: threshold, calibration, alarms.
    fitted = [_finish(problem, meter, return_errors) for problem in problems]
    meter.close()
    return fitted


def _job(job: Any) -> Job:
    if not isinstance(job, tuple | list) or not 3 <= len(job) <= len(Job._fields):
        raise TypeError("a job is (estimator, X, y), (..., eval_set) or (..., sample_weight).")
    if not hasattr(job[0], "fit_data"):
        raise TypeError(f"a job begins with an estimator of this library, not {job[0]!r}.")
    return Job(*job)


def _check(job: Job, shared: "SharedInputs") -> Problem:
    """Check the parameters and the data of a job."""
    estimator = job.estimator
    check_parameters(estimator)
    data, inputs, known = shared.check(job)
    before = before_checks(data, known).with_propensity(job.propensity, estimator.scenario)
    data = to_train(data.weighted_as(before), known)
    random = check_random_state(estimator.random_state)
    seeds = job.seeds
    if seeds is None:
        seeds = random.randint(np.iinfo(np.int32).max, size=estimator.n_seeds(data)).tolist()
    data = estimator.hold_out(data, random)
    before = data if before.outcome is None else replace(before, held_out=data.held_out)
    plan = plan_of(seeds, job.split, job.first_fold)
    return Problem(job, data, before, random, plan, inputs)


def _resolve_priors(problems: Sequence[Problem]) -> None:
    """Set ``prior_`` and ``population_prior_``; estimates from networks are made together."""
    counted = {id(problem): problem.estimator.counted_prior(problem.before) for problem in problems}
    unknown = [
        problem
        for problem in problems
        if priors.needs_estimation(problem.estimator.prior) and counted[id(problem)] is None
    ]
    by_networks = [problem for problem in unknown if hasattr(problem.estimator, "prior_sample")]
    samples = [
        problem.estimator.prior_sample(problem.before, problem.inputs, problem.plan.seeds[0])
        for problem in by_networks
    ]
    found = {
        id(problem): prior
        for problem, prior in zip(by_networks, priors.estimate(samples), strict=True)
    }
    for problem in problems:
        estimator, before = problem.estimator, problem.before.training()
        if not priors.needs_estimation(estimator.prior):
            refuse_too_low(check_prior(estimator.prior), before)
        if estimator.estimates_while_fitting:
            continue
        if counted[id(problem)] is not None:
            prior = counted[id(problem)]
        elif id(problem) in found:
            prior = found[id(problem)]
        elif priors.needs_estimation(estimator.prior):
            prior = estimator.estimate_prior(before, problem.random)
        else:
            prior = check_prior(estimator.prior)
        problem.priors = prior, before.population_prior(prior, estimator.scenario)
        # Training goes by the shares of what it sees.
        share = problem.share_to_train(prior)
        estimator.prior_ = share
        training = problem.data.training()
        estimator.population_prior_ = training.population_prior(share, estimator.scenario)
        problem.trained_priors = estimator.prior_, estimator.population_prior_


def _add_parts(problem: Problem, shared: "SharedInputs") -> None:
    """Check the estimators of an ensemble, which take its prior."""
    jobs = problem.estimator.part_jobs(problem.data, problem.plan.seeds)
    problem.parts = [_check(job, shared) for job in jobs]
    _resolve_priors(problem.parts)
    for part in problem.parts:
        _add_parts(part, shared)


def _finish(
    problem: Problem, meter: "Meter", return_errors: bool = False, is_part: bool = False
) -> Any:
    """Make scores of what was trained, or train, and let the estimator settle what follows."""
    estimator = problem.estimator
    try:
        for part in problem.parts:
            _finish(part, meter, is_part=True)
        before, problem.tick = meter.done, meter.add
        scores = estimator.fit_data(problem)
        if problem.inputs is None and not problem.parts:
            meter.add(before + _planned(problem) - meter.done)
        # Unless training found another prior itself.
        if (estimator.prior_, estimator.population_prior_) == problem.trained_priors:
            assert problem.priors is not None
            estimator.prior_, estimator.population_prior_ = problem.priors
            if problem.priors != problem.trained_priors:
                estimator.trained_priors_ = problem.trained_priors
        estimator.finalize(problem.before, scores)
        # All parts together may be sound where one is not, and raise alarms themselves.
        if not is_part:
            estimator.raise_alarms()
    except ValueError as error:
        if not return_errors:
            raise
        return error
    return estimator


class SharedInputs:
    """Data of several jobs: checked once, and in memory once."""

    def __init__(self) -> None:
        self._checked: dict[Any, tuple[TrainingData, Inputs | None, Known, dict[str, Any]]] = {}
        self._inputs: dict[Any, Inputs] = {}

    def check(self, job: Job) -> tuple[TrainingData, Inputs | None, Known]:
        """Check the data of a job, or take it from an earlier job on the same data."""
        estimator = job.estimator
        eval_set = job.eval_set if isinstance(job.eval_set, tuple) else (job.eval_set,)
        given = (job.X, job.y, *eval_set, job.sample_weight, job.checked)
        kind = getattr(estimator, "inputs_key", None)
        key = (*map(id, given), estimator.pos_label, estimator.neg_label, kind)
        if kind is not None and key in self._checked:
            data, inputs, known, found = self._checked[key]
            estimator.reset(**found)
            return data, inputs, known
        estimator.reset()
        known = read_known(job.y, estimator.pos_label, estimator.neg_label, job.checked)
        data = estimator.check_data(job.X, known.y, job.sample_weight, job.eval_set)
        if kind is None:
            return data, None, known
        inputs = estimator.inputs_of(data)
        # Rows that come with other labels or weights are still the same rows.
        inputs.x = self._inputs.setdefault((id(job.X), *kind), inputs).x
        found = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
        self._checked[key] = data, inputs, known, found
        return data, inputs, known


class Meter:
    """Counts epochs of single networks; another estimator counts as some of them."""

    def __init__(self, progress: Progress | None, problems: Sequence[Problem]):
        self._progress = progress
        self.done = 0
        self._total = sum(map(_planned, problems))
        self._report()

    def add(self, epochs: int) -> None:
        """Count epochs, or take some back: a bar does not shrink, so that is not shown."""
        self.done += epochs
        if epochs > 0:
            self._report()

    def close(self) -> None:
        self.done = self._total
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.done, self._total)


def _planned(problem: Problem) -> int:
    if problem.parts:
        return sum(map(_planned, problem.parts))
    if problem.inputs is None:
        return int(problem.estimator.n_steps())
    return len(problem.plan.seeds) * int(problem.estimator.planned_epochs)
