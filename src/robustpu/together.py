"""Fitting several estimators at once: jobs -> members -> fleets -> fitted estimators.

A job is one estimator with its data. It becomes ``n_members`` members, each with a seed, settings
and held-out rows of its own. Members of all jobs that can share a fleet do, whichever job they
come from.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from robustpu import priors
from robustpu.fleet import Mapped, Pool
from robustpu.fleet.devices import gpus
from robustpu.rows import some_of_each
from robustpu.scenario import check_prior, population_prior
from robustpu.sharing import Group, Prepared, Task, group_key, train_all

if TYPE_CHECKING:
    from robustpu.neural import NeuralPUClassifier

Progress: TypeAlias = Callable[[int, int], None]

# Of a mapped file the prior is estimated from so many labelled and so many unlabelled rows.
PRIOR_ROWS = 50_000


class Job(NamedTuple):
    """An estimator with what it is to be fitted on.

    ``split`` decides which rows are held out, if no ``eval_set`` is given. Jobs whose scores are
    to be compared have to agree in it; by default it follows from the estimator's random state.
    """

    estimator: "NeuralPUClassifier"
    X: Any
    y: Any
    eval_set: tuple[Any, Any] | None = None
    sample_weight: Any = None
    split: int | None = None


def fit_together(
    jobs: Iterable[Job | tuple[Any, ...]],
    progress: Progress | None = None,
    *,
    return_errors: bool = False,
) -> list[Any]:
    """Fit several estimators at once, and return them fitted.

    Jobs with networks of one kind and equally many rows are trained in lock-step, which is
    several times faster than one after the other; all others are grouped as far as they can be.
    Each result is the same as that of ``estimator.fit`` alone, up to rounding.

    Parameters
    ----------
    jobs
        Tuples ``(estimator, X, y)``, ``(estimator, X, y, eval_set)`` or
        ``(estimator, X, y, eval_set, sample_weight)``; or ``Job``.
    progress
        Called as ``progress(done, total)``, in epochs of single networks.
    return_errors
        Whether a job whose training diverged is answered by its exception. Otherwise the exception
        is raised, and the other jobs are lost.

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
    if not checked:
        return []
    alone = [job for job in checked if not hasattr(job.estimator, "_fleet_key")]
    if alone:
        fitted = {id(job): _fit_alone(job, return_errors) for job in alone}
        rest = [job for job in checked if id(job) not in fitted]
        others = iter(fit_together(rest, progress, return_errors=return_errors))
        return [fitted[id(job)] if id(job) in fitted else next(others) for job in checked]
    store = _Store()
    numbers = count()
    tasks = [_task(job, store, numbers) for job in checked]
    _set_priors(tasks)
    groups: dict[Any, Group] = {}
    for task in tasks:
        for member, settings in enumerate(task.settings):
            groups.setdefault(group_key(task, settings), []).append((task, member))
    ticker = _Ticker(progress, groups)
    for group in groups.values():
        # Neighbours with equal rates share a step of the optimiser.
        group.sort(key=lambda pair: pair[0].settings[pair[1]]._rates())
    train_all(list(groups.values()), ticker.tick)
    answers = []
    for task in tasks:  # No comprehension: a warning counts the frames up to the caller of fit.
        answers.append(_finish(task, return_errors))
    ticker.close()
    return answers


def _fit_alone(job: Job, return_errors: bool) -> Any:
    """Fit an estimator that trains no networks."""
    try:
        return job.estimator.fit(job.X, job.y, job.sample_weight, eval_set=job.eval_set)
    except ValueError as error:
        if not return_errors:
            raise
        return error


def _finish(task: Task, return_errors: bool) -> Any:
    """Let the estimator take what was learnt, and return it."""
    try:
        task.estimator._adopt(
            [task.trained[place] for place in range(len(task.settings))],
            task.settings,
            task.data,
            (task.prior, task.population_prior),
        )
    except ValueError as error:
        if not return_errors:
            raise
        return error
    return task.estimator


def _job(job: Any) -> Job:
    if not isinstance(job, tuple | list) or not 3 <= len(job) <= 6:
        raise TypeError("a job is (estimator, X, y), (..., eval_set) or (..., sample_weight).")
    if not hasattr(job[0], "_check_parameters"):
        raise TypeError(f"a job begins with an estimator of this library, not {job[0]!r}.")
    return Job(*job)


class _Store:
    """Data that several jobs share: checked once, and in memory once."""

    def __init__(self) -> None:
        self._prepared: dict[Any, tuple[Prepared, dict[str, Any]]] = {}
        self._x: dict[Any, Pool] = {}

    def prepare(self, job: Job) -> Prepared:
        """Check a job's data, or take it from an earlier job on the same data."""
        estimator = job.estimator
        how = (estimator.standardize, estimator.device, type(estimator)._dtype)
        held = job.eval_set if isinstance(job.eval_set, tuple) else (job.eval_set,)
        given = (job.X, job.y, *held, job.sample_weight)
        key = (*map(id, given), estimator.pos_label, *how)
        if key in self._prepared:
            data, learnt = self._prepared[key]
            estimator._recall(learnt)
            return data
        data = estimator._prepare(job.X, job.y, job.eval_set, job.sample_weight)
        data.x = self._x.setdefault((id(job.X), *how), data.x)
        learnt = {name: value for name, value in vars(estimator).items() if _is_learnt(name)}
        self._prepared[key] = data, learnt
        return data


def _is_learnt(name: str) -> bool:
    return name.endswith("_") or name == "_scale"


def _task(job: Job, store: _Store, numbers: Iterator[int]) -> Task:
    estimator = job.estimator
    estimator._check_parameters()
    data = store.prepare(job)
    random = check_random_state(estimator.random_state)
    n_rows = len(data.is_positive)
    seeds = random.randint(np.iinfo(np.int32).max, size=estimator._size(n_rows)).tolist()
    # Members take turns: the first of each recipe, then the second of each, on its next fold.
    recipes = estimator._recipes(n_rows)
    turns = [divmod(place, len(recipes)) for place in range(len(seeds))]
    firsts = _first_folds(len(recipes), len(seeds), estimator.validation_fraction)
    group_of_recipe = [next(numbers) for _ in recipes]
    return Task(
        estimator,
        data,
        seeds[0] if job.split is None else job.split,
        seeds,
        settings=[
            _settle(estimator, recipes[kind], seed)
            for (_, kind), seed in zip(turns, seeds, strict=True)
        ],
        folds=[firsts[kind] + turn for turn, kind in turns],
        # Members of one recipe are judged together, unless they draw settings of their own.
        groups=[next(numbers) if estimator.vary else group_of_recipe[kind] for _, kind in turns],
        devices=gpus(estimator.device) or [data.x.device],
    )


def _first_folds(recipes: int, members: int, fraction: float) -> list[int]:
    """Where the folds of each recipe begin: each goes on where the one before ended.

    So few members, too, leave out all rows between them, and none more often than need be.

    Examples
    --------
    >>> _first_folds(4, 12, 0.1), _first_folds(4, 40, 0.1)
    ([0, 3, 6, 9], [0, 0, 0, 0])
    """
    folds = round(1 / fraction) if fraction else 1
    return [kind * math.ceil(members / recipes) % folds for kind in range(recipes)]


def _settle(
    estimator: "NeuralPUClassifier", recipe: Mapping[str, Any], seed: int
) -> "NeuralPUClassifier":
    """Return the estimator with a recipe, and the member's own draw of what ``vary`` names."""
    if not recipe and not estimator.vary:
        return estimator
    settings: NeuralPUClassifier = clone(estimator)
    settings.set_params(**{name: clone(value, safe=False) for name, value in recipe.items()})
    random = np.random.RandomState(seed)
    for name, choices in sorted((estimator.vary or {}).items()):
        if hasattr(choices, "rvs"):
            value = choices.rvs(random_state=random)
        else:
            value = clone(choices[random.randint(len(choices))], safe=False)
        settings.set_params(**{name: value})
    settings._check_parameters()
    return settings


# What the members of one model have in common, and cannot vary.
SHARED = {
    "beside",
    "beside_share",
    "calibrate",
    "device",
    "mirror",
    "module",
    "n_keep",
    "n_members",
    "pos_label",
    "prior",
    "random_state",
    "record_weights",
    "scenario",
    "standardize",
    "threshold",
    "vary",
    "verbose",
}


def check_vary(vary: Any) -> None:
    """Refuse what is not a mapping from parameters that may differ to their choices."""
    if vary is None:
        return
    if not isinstance(vary, Mapping):
        raise ValueError(f"vary must map names of parameters to choices; it is {vary!r}.")
    for name, choices in vary.items():
        if name.rpartition("__")[2] in SHARED:
            raise ValueError(f"vary cannot name {name!r}: the members of a model share it.")
        listed = isinstance(choices, Sequence | np.ndarray) and not isinstance(choices, str)
        if not hasattr(choices, "rvs") and not (listed and len(choices)):
            raise ValueError(
                f"vary[{name!r}] must be a list of choices, not empty, or a distribution with "
                f"rvs; it is {choices!r}."
            )


def _set_priors(tasks: Sequence[Task]) -> None:
    unknown = [task for task in tasks if priors.is_open(task.estimator.prior)]
    estimates = priors.estimate([_sample(task) for task in unknown])
    for task, estimate in zip(unknown, estimates, strict=True):
        task.prior = estimate
    for task in tasks:
        if not priors.is_open(task.estimator.prior):
            task.prior = check_prior(task.estimator.prior)
        labelled = float(task.data.weight[task.data.is_positive].sum())
        unlabeled = float(task.data.weight[~task.data.is_positive].sum())
        task.population_prior = population_prior(
            task.prior, labelled, unlabeled, task.estimator.scenario
        )


def _sample(task: Task) -> priors.Sample:
    """What the prior is estimated from: rows that weigh; of a mapped file, no more than so many."""
    x, is_positive, weight = task.data.x, task.data.is_positive, task.data.weight
    rows = np.flatnonzero(weight > 0)
    if isinstance(x, Mapped):
        rows = rows[some_of_each(is_positive[rows], (PRIOR_ROWS, PRIOR_ROWS), task.seeds[0])]
    if len(rows) < len(x):
        x = x.take(rows) if isinstance(x, Mapped) else x[rows]
        is_positive = is_positive[rows]
    estimator = task.estimator
    return priors.Sample(x, is_positive, estimator.module, task.seeds[0], estimator.prior)


class _Ticker:
    """Counts epochs of single networks."""

    def __init__(self, progress: Progress | None, groups: dict[Any, Group]):
        self._progress = progress
        self.done = 0
        self._total = sum(
            task.settings[member]._planned_epochs()
            for group in groups.values()
            for task, member in group
        )
        self._report()

    def tick(self, members: int) -> None:
        """Count epochs, or take some back: then nothing is said, for bars do not shrink."""
        self.done += members
        if members >= 0:
            self._report()

    def close(self) -> None:
        self.done = self._total
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.done, self._total)
