"""An experiment file: TOML in, a checked ``Experiment`` out.

One file is one table: data sets, priors, trials, methods with their fixed and searched settings,
and what selects among those. TOML has no word for None; the text "none" stands for it in settings.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from robustpu.bench.candidates import Settings, check_space
from robustpu.bench.keys import a_prior, check_keys, one_of, section, several
from robustpu.bench.paper import references
from robustpu.bench.protocol import PROTOCOLS, VALIDATIONS, Sizes
from robustpu.checks import check_number
from robustpu.methods import all_methods

SELECTIONS = ("oracle", "pu")
TUNES = ("cell", "trial")
# Parameters that the runner itself gives to every estimator.
TAKEN = ("device", "pos_label", "random_state", "scenario", "verbose")


@dataclass(frozen=True)
class Method:
    """A row of the table: an estimator, its fixed settings, and the spaces to search."""

    name: str
    estimator: str
    label: str
    x: float | None
    preset: str | None
    fixed: Settings
    search: Mapping[str, Any]
    on_dataset: Mapping[str, Settings]


@dataclass(frozen=True)
class Experiment:
    """All that a file says."""

    name: str
    title: str
    table: str | None
    datasets: tuple[str, ...]
    priors: tuple[float, ...]
    trials: int
    selection: tuple[str, ...]
    tune: str
    candidates: int
    seed: int
    validation: str
    sizes: Mapping[str, Sizes]
    methods: tuple[Method, ...]


def read(path: Path) -> Experiment:
    """Read an experiment file.

    Parameters
    ----------
    path
        A TOML file; its name without the ending is that of the experiment.

    Raises
    ------
    ValueError
        Something in the file is unknown or has a value that cannot be; the message says where.
    """
    return _experiment(path.stem, tomllib.loads(path.read_text(encoding="utf-8")))


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    known = {**_OPTIONAL, "datasets": None, "priors": None, "selection": None, "methods": None}
    check_keys("the file", content, known)
    for key in ("datasets", "priors", "selection", "methods"):
        if key not in content:
            raise ValueError(f"the file has no {key!r}; it must say which.")
    given = {**_OPTIONAL, **content}
    for key, least in (("trials", 1), ("candidates", 1), ("seed", 0)):
        check_number(key, given[key], least=least, whole=True)
    if not isinstance(given["title"], str | None):
        raise ValueError(f"title must be text; it is {given['title']!r}.")
    if given["table"] is not None:
        one_of(references())("table", given["table"])
    datasets = several("datasets", given["datasets"], one_of(PROTOCOLS))
    return Experiment(
        name=name,
        title=given["title"] or name,
        table=given["table"],
        datasets=datasets,
        priors=several("priors", given["priors"], a_prior),
        trials=given["trials"],
        selection=several("selection", given["selection"], one_of(SELECTIONS)),
        tune=one_of(TUNES)("tune", given["tune"]),
        candidates=given["candidates"],
        seed=given["seed"],
        validation=one_of(VALIDATIONS)("validation", given["validation"]),
        sizes=_sizes(section("sizes", given["sizes"]), datasets),
        methods=_methods(section("methods", given["methods"]), datasets),
    )


_OPTIONAL: dict[str, Any] = {
    "title": None,
    "table": None,
    "trials": 10,
    "tune": "cell",
    "candidates": 24,
    "seed": 0,
    "validation": "disjoint",
    "sizes": {},
}


def _sizes(given: dict[str, Any], datasets: Sequence[str]) -> dict[str, Sizes]:
    """Lay what the file says over the protocol: first for all data sets, then for one."""
    names = asdict(PROTOCOLS[datasets[0]].sizes)
    check_keys("[sizes]", given, [*names, *datasets])
    for_all = {key: value for key, value in given.items() if key in names}
    sizes = {}
    for dataset in datasets:
        own = section(f"sizes.{dataset}", given.get(dataset, {}))
        check_keys(f"[sizes.{dataset}]", own, names)
        changes = {**for_all, **own}
        for key, value in changes.items():
            least = 0 if key == "n_validation" else 1
            check_number(f"{key} of {dataset}", value, least=least, whole=True)
        sizes[dataset] = replace(PROTOCOLS[dataset].sizes, **changes)
    return sizes


def _methods(given: dict[str, Any], datasets: Sequence[str]) -> tuple[Method, ...]:
    if not given:
        raise ValueError("[methods] is empty: give at least one, such as [methods.nnpu].")
    return tuple(
        _method(name, section(f"methods.{name}", own), datasets) for name, own in given.items()
    )


def _method(name: str, given: dict[str, Any], datasets: Sequence[str]) -> Method:
    where = f"methods.{name}"
    keys = ("estimator", "label", "x", "preset", "fixed", "search", "datasets")
    check_keys(f"[{where}]", given, keys)
    label, x = given.get("label", name), given.get("x")
    if not isinstance(label, str):
        raise ValueError(f"label of [{where}] must be text; it is {label!r}.")
    check_number(f"x of [{where}]", x, optional=True)
    estimator = one_of(all_methods())(f"estimator of [{where}]", given.get("estimator", name))
    fixed = section(f"{where}.fixed", given.get("fixed", {}))
    search = section(f"{where}.search", given.get("search", {}))
    on_dataset = section(f"{where}.datasets", given.get("datasets", {}))
    check_keys(f"[{where}.datasets]", on_dataset, datasets)
    for key, space in search.items():
        check_space(f"{key} in [{where}.search]", space)
        if key in fixed:
            raise ValueError(f"{key} of [{where}] is fixed and searched; it can be one of the two.")
    settings = {
        dataset: section(f"{where}.datasets.{dataset}", own) for dataset, own in on_dataset.items()
    }
    for key in (*fixed, *search, *(key for own in settings.values() for key in own)):
        if key.rpartition("__")[2] in TAKEN:
            raise ValueError(f"{key} of [{where}] cannot be set: the runner gives it itself.")
    return Method(
        name=name,
        estimator=estimator,
        label=label,
        x=x,
        preset=given.get("preset"),
        fixed=_with_none(fixed),
        search={
            key: [_none(choice) for choice in space] if isinstance(space, list) else space
            for key, space in search.items()
        },
        on_dataset={dataset: _with_none(own) for dataset, own in settings.items()},
    )


def _with_none(settings: Settings) -> Settings:
    return {key: _none(value) for key, value in settings.items()}


def _none(value: Any) -> Any:
    return None if value == "none" else value
