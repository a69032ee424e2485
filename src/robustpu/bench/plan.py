"""The plan: an experiment -> cells, each with all that decides its results."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from robustpu.base import BasePUClassifier
from robustpu.bench.candidates import Settings, draw
from robustpu.bench.experiment import Experiment, Method, read
from robustpu.bench.keys import suggest
from robustpu.bench.protocol import PROTOCOLS, Sizes
from robustpu.datasets.catalogue import SOURCES
from robustpu.methods import all_methods
from robustpu.split import make_pu


@dataclass(frozen=True, eq=False)
class Cell:
    """One method on one data set, at one prior, selected in one way: all trials, all candidates."""

    experiment: str
    title: str
    table: str | None
    dataset: str
    method: str
    label: str
    x: float | None
    prior: float
    seed: int
    selection: str
    validation: str
    tune: str
    trials: int
    sizes: Sizes
    estimator: str
    preset: str | None
    fixed: Settings
    candidates: tuple[Settings, ...]

    @property
    def name(self) -> str:
        """Data set, method, prior and selection in one word, for people and for patterns."""
        return f"{self.dataset}/{self.method}/{self.prior:g}/{self.selection}"

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all in the plan that its results depend on."""
        plan = {
            "dataset": self.dataset,
            "sizes": asdict(self.sizes),
            "validation": self.validation,
            "prior": self.prior,
            "selection": self.selection,
            "estimator": self.estimator,
            "settings": self.settings({}),
            "candidates": self.candidates,
        }
        # A lone candidate is chosen whatever the others do.
        if len(self.candidates) > 1:
            plan["tune"] = self.tune
            if self.tune == "cell":
                plan["trials"] = self.trials
        return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]

    def settings(self, candidate: Settings) -> dict[str, Any]:
        """All that differs from the defaults of the estimator, the candidate's own included."""
        preset = {} if self.preset is None else {"preset": self.preset}
        return {**preset, **self.fixed, **candidate}

    def build(self, candidate: Settings, **given: Any) -> BasePUClassifier:
        """Make the estimator of a candidate; ``given`` is what the settings may still overrule."""
        settings = {**given, **self.fixed, **candidate}
        return _blank(self.estimator, self.preset).set_params(**settings)  # type: ignore[no-any-return]


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
        experiment = read(path)
        return cells(experiment if trials is None else replace(experiment, trials=trials))
    except ValueError as error:
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
    ]
    seen: set[str] = set()
    for cell in plan:
        _check_sizes(cell.dataset, cell.prior, cell.sizes)
        if cell.selection == "oracle" and cell.sizes.n_validation == 0:
            raise ValueError(f"selection 'oracle' needs n_validation above 0, on {cell.dataset}.")
        # Most cells of a method differ in nothing that its estimator could refuse.
        alike = json.dumps([cell.method, cell.fixed, cell.candidates, cell.selection], default=str)
        if alike not in seen:
            _check_settings(cell)
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
    own = method.on_dataset.get(dataset, {})
    search = {key: space for key, space in method.search.items() if key not in own}
    module = PROTOCOLS[dataset].module
    # The mlp is every estimator's default.
    network = {} if module == "mlp" else {"module": module}
    return Cell(
        experiment=experiment.name,
        title=experiment.title,
        table=experiment.table,
        dataset=dataset,
        method=method.name,
        label=method.label,
        x=method.x,
        prior=prior,
        seed=experiment.seed,
        selection=selection,
        validation=experiment.validation,
        tune=experiment.tune,
        trials=experiment.trials,
        sizes=experiment.sizes[dataset],
        estimator=method.estimator,
        preset=method.preset,
        fixed={**network, **method.fixed, **own},
        candidates=draw(search, experiment.candidates, experiment.seed),
    )


def _blank(name: str, preset: str | None) -> BasePUClassifier:
    kind: Any = all_methods()[name]
    if preset is None:
        return kind()  # type: ignore[no-any-return]
    if not hasattr(kind, "from_preset"):
        raise ValueError(f"{name} has no presets; leave preset = {preset!r} out.")
    return kind.from_preset(preset)  # type: ignore[no-any-return]


@cache
def _check_sizes(dataset: str, prior: float, sizes: Sizes) -> None:
    """Refuse what the data set has too few rows for, and test rows of one class."""
    source = SOURCES[dataset]
    truth = np.arange(source.rows) < source.positives
    try:
        make_pu(truth[:, None], truth, prior=prior, random_state=0, **asdict(sizes))
    except ValueError as error:
        raise ValueError(f"{dataset}: {error}") from None
    if not 0 < round(prior * sizes.n_test) < sizes.n_test:
        raise ValueError(
            f"{dataset}: prior={prior} of n_test={sizes.n_test} rows leaves a class without rows. "
            "Raise n_test."
        )


def _check_settings(cell: Cell) -> None:
    where = f"[methods.{cell.method}]"
    try:
        known = _blank(cell.estimator, cell.preset).get_params()
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    for key, value in _all_values(cell):
        if key not in known:
            raise ValueError(
                f"{cell.estimator} has no parameter {key!r}, in {where}{suggest(key, known)}"
            )
        # Python would take any text, even "false", for true.
        if isinstance(known[key], bool) and not isinstance(value, bool):
            raise ValueError(f"{where}: {key} must be true or false; it is {value!r}.")
    for candidate in cell.candidates:
        try:
            estimator = cell.build(candidate)
            estimator._check_parameters()
        except (ValueError, TypeError, AttributeError) as error:
            tried = f" with {dict(candidate)}" if candidate else ""
            raise ValueError(f"{where} on {cell.dataset}{tried}: {error}") from None
        blind = cell.selection == "pu" and estimator.validation_fraction == 0
        if blind and len(cell.candidates) > 1:
            raise ValueError(
                f"{where}: validation_fraction = 0 leaves selection 'pu' nothing to choose "
                "a candidate by. Raise it, or search nothing."
            )


def _all_values(cell: Cell) -> Iterator[tuple[str, Any]]:
    for settings in (cell.fixed, *cell.candidates):
        yield from settings.items()
