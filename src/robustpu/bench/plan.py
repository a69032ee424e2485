"""The plan: an experiment -> cells, each with all that decides its results."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

from sklearn.base import BaseEstimator

from robustpu.base.classifier import BasePUClassifier
from robustpu.bench.candidates import Settings, draw
from robustpu.bench.experiment import Experiment, Method, read
from robustpu.bench.protocol import PROTOCOLS, Sizes
from robustpu.bench.refusals import check_settings, check_sizes
from robustpu.methods import all_methods
from robustpu.methods.auto import PUClassifier


@dataclass(frozen=True, eq=False)
class Cell:
    """One method on one data set, at one prior, selected in one way: all trials, all candidates.

    ``twins`` are cells that train the same, and differ in what they take from it; ``only`` names
    the trials to train, if not all.
    """

    experiment: str
    title: str
    table: str | None
    dataset: str
    method: str
    label: str
    paper: str
    x: float | None
    prior: float
    seed: int
    selection: str
    validation: str
    tune: str
    trials: int
    sizes: Sizes
    estimator: str
    fixed: Settings
    candidates: tuple[Settings, ...]
    average: int = 1
    twins: tuple["Cell", ...] = ()
    only: tuple[int, ...] | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The trials to train, by their numbers from 0."""
        return tuple(range(self.trials)) if self.only is None else self.only

    @property
    def name(self) -> str:
        """Data set, method, prior and selection in one word, for people and for patterns."""
        return f"{self.dataset}/{self.method}/{self.prior:g}/{self.selection}"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all in the plan that its results depend on."""
        plan = self._training()
        # A lone candidate is chosen whatever the others do.
        if len(self.candidates) > 1:
            plan["tune"] = self.tune
            if self.tune == "cell":
                plan["trials"] = self.trials
            if self.average > 1:
                plan["average"] = self.average
        return _digest(plan)

    @cached_property
    def training(self) -> str:
        """Digest of what is trained; cells that agree in it can share one training."""
        return _digest({**self._training(), "trials": self.trials})

    def _training(self) -> dict[str, Any]:
        # Candidates once held out different rows, and were compared all the same.
        is_choice = self.selection == "pu" and len(self.candidates) > 1
        settings = [{**self.fixed, **candidate} for candidate in self.candidates]
        return {
            **({"held_out": "by trial"} if is_choice else {}),
            # It may be the estimator's default, but it is not what the runner gives.
            **({"sets": "prior"} if any("prior" in given for given in settings) else {}),
            "dataset": self.dataset,
            "sizes": asdict(self.sizes),
            "validation": self.validation,
            "prior": self.prior,
            "selection": self.selection,
            "models": _models(
                self.estimator,
                json.dumps(settings),
            ),
        }

    def settings(self, candidate: Settings) -> dict[str, Any]:
        """All that differs from the defaults of the estimator, the candidate's own included."""
        return {**self.fixed, **candidate}

    def blank(self) -> BasePUClassifier:
        """Make the estimator with its defaults, those that are parts spelled out."""
        return _blank(self.estimator)

    def build(self, candidate: Settings, **given: Any) -> BasePUClassifier:
        """Make the estimator of a candidate; ``given`` is what the settings may still overrule."""
        blank = self.blank()
        # A method without networks needs no device.
        known = {name: value for name, value in given.items() if hasattr(blank, name)}
        settings = {**known, **self.fixed, **candidate}
        return blank.set_params(**settings)  # type: ignore[no-any-return]


def _blank(name: str) -> BasePUClassifier:
    model: Any = all_methods()[name]()
    return model.spelled_out() if hasattr(model, "spelled_out") else model  # type: ignore[no-any-return]


# Cells that differ in the data set, the prior or the selection share it.
@cache
def _models(name: str, settings: str) -> Any:
    """Spell out the estimators of all candidates, whose settings come as JSON."""
    return [resolved(_blank(name).set_params(**given)) for given in json.loads(settings)]


# Networks that train best in large fleets.
SMALL = ("mlp", "linear")
# What the runner gives to every estimator, or what changes no result: cells know two labels.
GIVEN = ("device", "neg_label", "random_state", "verbose")
# Parameters that are younger than stored results, at the value that changes nothing.
LATER = {"balanced_prior": None}
# Images for which the composition of an ensemble is spelled out.
EXAMPLE = 1_000


def resolved(value: Any) -> Any:
    """Spell out a setting for a digest: an estimator as its class and all that it would train with.

    Parameters
    ----------
    value
        An estimator, a part of one, or a plain value.

    Examples
    --------
    >>> from robustpu import Pacing
    >>> resolved(Pacing("linear", lambda0=0.5))["lambda0"]
    0.5
    """
    if isinstance(value, Mapping):
        return {str(key): resolved(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(entry) for entry in value]
    if isinstance(value, BaseEstimator):
        given = value.get_params(deep=False)
        parts = {
            key: resolved(entry)
            for key, entry in given.items()
            if key not in GIVEN and (key not in LATER or entry != LATER[key])
        }
        if isinstance(value, PUClassifier):
            parts["composition"] = [
                resolved(value.pool()),
                resolved(value.image_ensemble(EXAMPLE).estimators),
            ]
        return {"class": type(value).__name__, **parts}
    if callable(value):
        return getattr(value, "__qualname__", repr(value))
    return value


def _digest(plan: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]


def joined(cells: Iterable[Cell]) -> list[Cell]:
    """Give one cell a training: the first of those that share it, with the others as its twins.

    Parameters
    ----------
    cells
        A plan, or what is left of it.
    """
    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.training, []).append(cell)
    return [replace(first, twins=tuple(rest)) for first, *rest in groups.values()]


def in_parts(left: Mapping[Cell, frozenset[int]], device: str) -> list[Cell]:
    """What is to be trained: cells that share a training once, in parts that are stored apart.

    Parameters
    ----------
    left
        Cells, and their trials that are missing.
    device
        Where they are trained, as torch names it.
    """
    return [
        part
        for cell in joined(left)
        for part in _parts(
            cell,
            {trial for twin in left if twin.training == cell.training for trial in left[twin]},
            device,
        )
    ]


def _parts(cell: Cell, left: Iterable[int], device: str) -> list[Cell]:
    """Take a cell apart so that no trial is trained again, and as little as can be is at risk.

    Candidates are compared over all trials. A lone one's trials have nothing to do with each other:
    large networks are trained trial by trial on a processor, where they gain little by company;
    small ones, and those on a GPU, together.
    """
    if len(cell.candidates) > 1:
        return [cell]
    trials = sorted(left)
    is_large = cell.fixed.get("module", "mlp") not in SMALL and not device.startswith("cuda")
    groups = [(trial,) for trial in trials] if is_large else [tuple(trials)]
    return [
        replace(cell, only=group, twins=tuple(replace(twin, only=group) for twin in cell.twins))
        for group in groups
    ]


def load(path: Path, trials: int | None = None) -> list[Cell]:
    """Read an experiment file, and expand it to its cells.

    Parameters
    ----------
    path
        A TOML file.
    trials
        How many, instead of what the file says.

    Raises
    ------
    ValueError
        Something in the file cannot be; the message names the file and the place.
    """
    try:
        plan = cells(read(path))
        return plan if trials is None else [replace(cell, trials=trials) for cell in plan]
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path}: {error}") from None


def cells(experiment: Experiment) -> list[Cell]:
    """Expand an experiment to its cells, those that share their splits next to each other.

    Parameters
    ----------
    experiment
        A checked file.

    Raises
    ------
    ValueError
        A setting is unknown to its estimator or refused by it, or sizes do not suit a prior.
    """
    plan = [
        _cell(experiment, dataset, prior, selection, method)
        for dataset, prior, selection, method in product(
            experiment.datasets, experiment.priors, experiment.selection, experiment.methods
        )
        if dataset not in method.not_on
    ]
    if not plan:
        raise ValueError("no cell is left: not_on keeps every method off every data set.")
    seen: set[tuple[str, ...]] = set()
    for cell in plan:
        check_sizes(cell)
        # Cells that differ in the prior alone have the same settings.
        alike = (cell.dataset, cell.method, cell.selection)
        if alike not in seen:
            check_settings(cell)
        seen.add(alike)
    return plan


def matching(plan: Sequence[Cell], patterns: Iterable[str]) -> list[Cell]:
    """Keep the cells whose name any of the patterns matches, such as ``mnist/*/0.2/*``.

    Parameters
    ----------
    plan
        Cells.
    patterns
        With ``*`` and ``?``; if there are none, all cells stay.

    Raises
    ------
    ValueError
        A pattern matches no cell.
    """
    patterns = list(patterns)
    for pattern in patterns:
        if not any(fnmatchcase(cell.name, pattern) for cell in plan):
            raise ValueError(
                f"no cell matches {pattern!r}: a cell is dataset/method/prior/selection, such as "
                f"{plan[0].name!r}, and * stands for anything."
            )
    return [
        cell
        for cell in plan
        if not patterns or any(fnmatchcase(cell.name, pattern) for pattern in patterns)
    ]


def _cell(
    experiment: Experiment, dataset: str, prior: float, selection: str, method: Method
) -> Cell:
    here = method.on_dataset.get(dataset, {})
    search = {key: space for key, space in method.search.items() if key not in here}
    module = PROTOCOLS[dataset].module
    # The mlp is the default of all estimators that train networks.
    has_module = hasattr(all_methods()[method.estimator], "module")
    network = {"module": module} if has_module and module != "mlp" else {}
    return Cell(
        experiment=experiment.name,
        title=experiment.title,
        table=experiment.table,
        dataset=dataset,
        method=method.name,
        label=method.label,
        paper=method.paper,
        x=method.x,
        prior=prior,
        seed=experiment.seed,
        selection=selection,
        validation=experiment.validation,
        tune=experiment.tune,
        trials=experiment.budgets[dataset].trials,
        sizes=experiment.sizes[dataset],
        estimator=method.estimator,
        fixed={**network, **method.fixed, **here},
        average=method.average,
        candidates=draw(search, experiment.budgets[dataset].candidates, experiment.seed),
    )
