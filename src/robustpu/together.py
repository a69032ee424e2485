"""Fitting several estimators at once: jobs -> members -> fleets -> fitted estimators.

A job is one estimator with its data. It becomes ``n_members`` members, each with a seed, settings
and held-out rows of its own. Members of all jobs that can share a fleet do, whichever job they
come from.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from torch import Tensor

from robustpu import priors
from robustpu.fleet import Criterion, Fleet, Member, Network, Rows, State
from robustpu.scenario import check_prior, population_prior
from robustpu.selection import of_logits, oracle_accuracy, proxy_accuracy

if TYPE_CHECKING:
    from robustpu.neural import NeuralPUClassifier

Progress: TypeAlias = Callable[[int, int], None]


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


@dataclass
class Prepared:
    """Data that has been checked and turned into tensors; ``exact`` is x as predictions need it."""

    table: NDArray[Any]
    x: Tensor
    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64]
    x_eval: Tensor | None
    truth: NDArray[np.bool_] | None
    exact: Tensor | None = None


@dataclass
class Trained:
    """What training left of one member; ``turn`` is the epoch or round that was selected.

    ``held_out`` are the numbers of the job's own rows that it did not see.
    """

    network: Network
    state: State
    score: float | None
    turn: int
    history: list[dict[str, float]]
    rows: dict[str, Tensor]
    held_out: NDArray[np.int64]
    seed: int

    def is_sound(self) -> bool:
        """Whether training did not diverge."""
        return self.score != -math.inf and bool(self.state.flat.isfinite().all())


@dataclass
class _Task:
    """A job on its way: one entry a member in each list."""

    estimator: "NeuralPUClassifier"
    data: Prepared
    split: int
    seeds: list[int]
    settings: list["NeuralPUClassifier"]
    folds: list[int]
    groups: list[int]
    prior: float = 0.0
    population_prior: float = 0.0
    trained: dict[int, Trained] = field(default_factory=dict)


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
    groups: dict[Any, list[tuple[_Task, int]]] = {}
    for task in tasks:
        for member, settings in enumerate(task.settings):
            groups.setdefault(_group_key(task, settings), []).append((task, member))
    ticker = _Ticker(progress, groups)
    for group in groups.values():
        # Neighbours with equal rates share a step of the optimiser.
        group.sort(key=lambda pair: pair[0].settings[pair[1]]._rates())
        _train_or_split(group, ticker)
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


def _finish(task: _Task, return_errors: bool) -> Any:
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
        self._x: dict[Any, Tensor] = {}

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


def _task(job: Job, store: _Store, numbers: Iterator[int]) -> _Task:
    estimator = job.estimator
    estimator._check_parameters()
    data = store.prepare(job)
    random = check_random_state(estimator.random_state)
    n_rows = len(data.is_positive)
    seeds = random.randint(np.iinfo(np.int32).max, size=estimator._size(n_rows)).tolist()
    # Members take turns: the first of each recipe, then the second of each, on the next fold.
    recipes = estimator._recipes(n_rows)
    turns = [divmod(place, len(recipes)) for place in range(len(seeds))]
    group_of_recipe = [next(numbers) for _ in recipes]
    return _Task(
        estimator,
        data,
        seeds[0] if job.split is None else job.split,
        seeds,
        settings=[
            _settle(estimator, recipes[kind], seed)
            for (_, kind), seed in zip(turns, seeds, strict=True)
        ],
        folds=[fold for fold, _ in turns],
        # Members of one recipe are judged together, unless they draw settings of their own.
        groups=[next(numbers) if estimator.vary else group_of_recipe[kind] for _, kind in turns],
    )


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


def _set_priors(tasks: Sequence[_Task]) -> None:
    unknown = [task for task in tasks if priors.is_open(task.estimator.prior)]
    estimates = priors.estimate(
        [
            priors.Sample(
                task.data.x,
                task.data.is_positive,
                task.estimator.module,
                task.seeds[0],
                task.estimator.prior,
            )
            for task in unknown
        ]
    )
    for task, estimate in zip(unknown, estimates, strict=True):
        task.prior = estimate
    for task in tasks:
        if not priors.is_open(task.estimator.prior):
            task.prior = check_prior(task.estimator.prior)
        n_positive = int(task.data.is_positive.sum())
        n_unlabeled = len(task.data.is_positive) - n_positive
        task.population_prior = population_prior(
            task.prior, n_positive, n_unlabeled, task.estimator.scenario
        )


def _group_key(task: _Task, settings: "NeuralPUClassifier") -> Any:
    """What members of one fleet have in common."""
    n_positive = int(task.data.is_positive.sum())
    return (
        settings._fleet_key(),
        tuple(task.data.x.shape),
        task.data.x.device,
        _held_out_sizes(n_positive, len(task.data.is_positive), settings.validation_fraction),
        None if task.data.truth is None else len(task.data.truth),
        task.estimator._settle(),
    )


def _held_out_sizes(n_positive: int, n: int, fraction: float) -> tuple[int, int]:
    """Rows to hold out of the positives and of the unlabelled; none if either has just one."""
    n_unlabeled = n - n_positive
    if fraction == 0 or min(n_positive, n_unlabeled) < 2:
        return 0, 0
    return (
        min(max(1, int(fraction * n_positive + 1e-9)), n_positive - 1),
        min(max(1, int(fraction * n_unlabeled + 1e-9)), n_unlabeled - 1),
    )


def _train_or_split(group: Sequence[tuple[_Task, int]], ticker: "_Ticker") -> None:
    """Train members that can share a fleet, in two fleets if one is too large for the GPU."""
    done = ticker.done
    try:
        _train_group(group, ticker)
        return
    except torch.cuda.OutOfMemoryError:
        if len(group) == 1:
            raise
    # Out here the exception, and with it the fleet, is gone.
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
    ticker.done = done
    for half in _halves(group):
        _train_or_split(half, ticker)


def _halves(group: Sequence[tuple[_Task, int]]) -> list[list[tuple[_Task, int]]]:
    """Cut in two, between members that are judged together only if there is no other way."""
    judged = list(dict.fromkeys(task.groups[member] for task, member in group))
    if len(judged) == 1:
        return [list(group[: len(group) // 2]), list(group[len(group) // 2 :])]
    first = set(judged[: len(judged) // 2])
    inside = [pair for pair in group if pair[0].groups[pair[1]] in first]
    return [inside, [pair for pair in group if pair[0].groups[pair[1]] not in first]]


def _train_group(group: Sequence[tuple[_Task, int]], ticker: "_Ticker") -> None:
    """Train members that can share a fleet, and leave the results with their tasks."""
    # The pool: each distinct X once, then each task's own evaluation rows.
    blocks: list[Tensor] = []
    start: dict[int, int] = {}
    height = 0
    tasks = list({id(task): task for task, _ in group}.values())
    for x in [task.data.x for task in tasks] + [task.data.x_eval for task in tasks]:
        if x is not None and id(x) not in start:
            start[id(x)] = height
            blocks.append(x)
            height += len(x)
    pool = blocks[0] if len(blocks) == 1 else torch.cat(blocks)
    members = [_member(task, place, start) for task, place in group]
    settings = [task.settings[place] for task, place in group]
    criterion = _criterion(group[0][0], members[0])
    oracle = group[0][0].data.truth is not None
    fleet = Fleet(pool, members, settings[0].module, criterion, oracle, settings[0].mirror)
    fleet.on_epoch = ticker.tick
    course = type(settings[0])._train(fleet, settings)
    fleet.network.release()
    outcomes = zip(group, members, course.histories(), course.rows(), strict=True)
    for place, ((task, number), member, history, rows) in enumerate(outcomes):
        task.trained[number] = Trained(
            fleet.network,
            fleet.state.select(torch.tensor([place], device=pool.device)),
            None if member.held_out is None else float(course.best.score[place]),
            int(course.best.turn[place]),
            history,
            {
                name: _on_all_rows(values, member, start[id(task.data.x)], task)
                for name, values in rows.items()
            },
            _own_rows(member, start[id(task.data.x)], task),
            member.seed,
        )


def _on_all_rows(values: Tensor, member: Member, start: int, task: _Task) -> Tensor:
    """Spread values (..., training rows) over all rows of the job, NaN where held out."""
    spread = torch.full((*values.shape[:-1], len(task.data.is_positive)), torch.nan)
    spread[..., member.training.index - start] = values
    return spread


def _own_rows(member: Member, start: int, task: _Task) -> NDArray[np.int64]:
    """Numbers of the job's rows that the member does not train on."""
    if member.held_out is None or task.data.truth is not None:
        return np.zeros(0, dtype=np.int64)
    return member.held_out.index.numpy() - start


def _criterion(task: _Task, member: Member) -> Criterion | None:
    if member.held_out is None:
        return None
    criterion = proxy_accuracy if task.data.truth is None else oracle_accuracy
    return of_logits(criterion, task.estimator._settle())


def _member(task: _Task, place: int, start: dict[int, int]) -> Member:
    data = task.data
    first = start[id(data.x)]

    def rows(index: NDArray[np.intp]) -> Rows:
        return Rows(
            torch.from_numpy(index + first),
            torch.from_numpy(data.is_positive[index]),
            torch.from_numpy(data.weight[index]),
        )

    everything = np.arange(len(data.is_positive))
    if data.truth is not None and data.x_eval is not None:
        training, held_out = (
            everything,
            Rows(
                torch.arange(len(data.truth)) + start[id(data.x_eval)],
                torch.from_numpy(data.truth),
                torch.ones(len(data.truth), dtype=torch.float64),
            ),
        )
    else:
        chosen = _held_out(data.is_positive, task.split, task.folds[place], task.settings[place])
        training, held_out = np.setdiff1d(everything, chosen), None
        if len(chosen):
            held_out = rows(chosen)
    seed, priors = task.seeds[place], (task.prior, task.population_prior)
    fraction = task.settings[place].validation_fraction
    # Those that are judged together with it count, too: they share in the choice of its epoch.
    judged = tuple(
        own
        for own, group in zip(task.seeds, task.groups, strict=True)
        if group == task.groups[place]
    )
    origin = (id(data), task.split, task.folds[place], fraction, *priors, seed, judged)
    return Member(rows(training), held_out, *priors, seed, task.groups[place], origin)


def _held_out(
    is_positive: NDArray[np.bool_], seed: int, fold: int, settings: "NeuralPUClassifier"
) -> NDArray[np.intp]:
    """Rows that this member does not train on: its slice of one shuffle of the job's rows.

    The members of a job hold out different rows, as the folds of a cross-validation do, so that
    together they are judged on as many rows as there are.
    """
    random = np.random.default_rng(seed)
    parts = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
    sizes = _held_out_sizes(len(parts[0]), len(is_positive), settings.validation_fraction)
    chosen = [
        np.take(random.permutation(part), np.arange(fold * size, (fold + 1) * size), mode="wrap")
        for part, size in zip(parts, sizes, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


class _Ticker:
    """Counts epochs of single networks."""

    def __init__(self, progress: Progress | None, groups: dict[Any, list[tuple[_Task, int]]]):
        self._progress = progress
        self.done = 0
        self._total = sum(
            task.settings[member]._planned_epochs()
            for group in groups.values()
            for task, member in group
        )
        self._report()

    def tick(self, members: int) -> None:
        self.done += members
        self._report()

    def close(self) -> None:
        self.done = self._total
        self._report()

    def _report(self) -> None:
        if self._progress is not None:
            self._progress(self.done, self._total)
