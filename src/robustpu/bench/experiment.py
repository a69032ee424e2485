"""An experiment file: TOML in, a checked ``Experiment`` out.

One file is one table: data sets, priors, trials, methods with their fixed and searched settings,
and the selection among those. TOML has no None; in settings the text "none" stands for it.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from robustpu.bench.candidates import Settings, check_space
from robustpu.bench.keys import a_prior, check_keys, one_of, section, several
from robustpu.bench.paper import references
from robustpu.bench.protocol import PROTOCOLS, VALIDATIONS, Sizes
from robustpu.methods import all_methods
from robustpu.validation.numbers import check_number

SELECTIONS = ("oracle", "pu")
TUNES = ("cell", "trial")
# Most trials and candidates: more are taken for a typing error.
MOST = 10_000
# What a method does not inherit from the one that it is like.
NAMES = ("label", "paper", "x")
# Parameters that the runner sets.
TAKEN = ("device", "pos_label", "random_state", "scenario", "verbose")


@dataclass(frozen=True)
class Method:
    """A row of the table: an estimator, its fixed settings, and the spaces to search.

    ``average`` is the number of best candidates whose probabilities are averaged.
    """

    name: str
    estimator: str
    label: str
    paper: str
    x: float | None
    average: int
    fixed: Settings
    search: Mapping[str, Any]
    on_dataset: Mapping[str, Settings]
    not_on: tuple[str, ...]


@dataclass(frozen=True)
class Budget:
    """Budget of a data set: trials, and most settings tried per method."""

    trials: int
    candidates: int


@dataclass(frozen=True)
class Experiment:
    """The content of a file."""

    name: str
    title: str
    table: str | None
    datasets: tuple[str, ...]
    priors: tuple[float, ...]
    selection: tuple[str, ...]
    tune: str
    seed: int
    validation: str
    budgets: Mapping[str, Budget]
    sizes: Mapping[str, Sizes]
    methods: tuple[Method, ...]


def read(path: Path) -> Experiment:
    """Read an experiment file.

    Parameters
    ----------
    path
        A TOML file; its stem is the name of the experiment.

    Raises
    ------
    ValueError
        A key is unknown or a value is impossible; the message says where.
    """
    return _experiment(path.stem, tomllib.loads(path.read_text(encoding="utf-8-sig")))


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    known = {**_OPTIONAL, "datasets": None, "priors": None, "selection": None, "methods": None}
    check_keys("the file", content, known)
    for key in ("datasets", "priors", "selection", "methods"):
        if key not in content:
            choices = f" of {', '.join(SELECTIONS)}" if key == "selection" else ""
            raise ValueError(f"the file has no {key!r}; it must give some{choices}.")
    given = {**_OPTIONAL, **content}
    check_number("seed", given["seed"], least=0, whole=True)
    if given["table"] is not None:
        one_of(references())("table", given["table"])
    datasets = several("datasets", given["datasets"], one_of(PROTOCOLS))
    return Experiment(
        name=name,
        title=_line("title", given["title"] or name),
        table=given["table"],
        datasets=datasets,
        priors=several("priors", given["priors"], a_prior),
        selection=several("selection", given["selection"], one_of(SELECTIONS)),
        tune=one_of(TUNES)("tune", given["tune"]),
        seed=given["seed"],
        validation=one_of(VALIDATIONS)("validation", given["validation"]),
        budgets=_budgets(given, datasets),
        sizes=_sizes(section("sizes", given["sizes"]), datasets),
        methods=_methods(
            section("methods", given["methods"]), section("all", given["all"]), datasets
        ),
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
    "budget": {},
    "all": {},
}


def _budgets(given: dict[str, Any], datasets: Sequence[str]) -> dict[str, Budget]:
    """Combine the budget of all data sets with that of single ones."""
    names = ("trials", "candidates")
    budget = section("budget", given["budget"])
    check_keys("[budget]", budget, datasets)
    budgets = {}
    for dataset in datasets:
        where = f"budget.{dataset}"
        changes = section(where, budget.get(dataset, {}))
        check_keys(f"[{where}]", changes, names)
        numbers = {**{name: given[name] for name in names}, **changes}
        for name, value in numbers.items():
            check_number(name, value, least=1, most=MOST, whole=True)
        budgets[dataset] = Budget(**numbers)
    return budgets


def _sizes(given: dict[str, Any], datasets: Sequence[str]) -> dict[str, Sizes]:
    """Override the protocol's sizes: first for all data sets, then for single ones."""
    names = asdict(PROTOCOLS[datasets[0]].sizes)
    check_keys("[sizes]", given, [*names, *datasets])
    for_all = {key: value for key, value in given.items() if key in names}
    sizes = {}
    for dataset in datasets:
        for_one = section(f"sizes.{dataset}", given.get(dataset, {}))
        check_keys(f"[sizes.{dataset}]", for_one, names)
        changes = {**for_all, **for_one}
        for key, value in changes.items():
            least = 0 if key == "n_validation" else 1
            check_number(f"{key} of {dataset}", value, least=least, whole=True)
        sizes[dataset] = replace(PROTOCOLS[dataset].sizes, **changes)
    return sizes


def _methods(
    given: dict[str, Any], shared: dict[str, Any], datasets: Sequence[str]
) -> tuple[Method, ...]:
    if not given:
        raise ValueError("[methods] is empty: give at least one, such as [methods.nnpu].")
    check_keys("[all]", shared, ("estimator", "fixed", "search"))
    methods: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        method = section(f"methods.{name}", value)
        if "like" in method:
            method = _merged(_inherited(name, method["like"], methods), method, name)
            del method["like"]
        methods[name] = _merged(shared, method, name)
    return tuple(_method(name, method, datasets) for name, method in methods.items())


def _inherited(name: str, like: Any, methods: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Find what a method inherits from the one that it is like."""
    if like not in methods:
        raise ValueError(f"like of [methods.{name}] must name a method above it; it is {like!r}.")
    inherited = {key: value for key, value in methods[like].items() if key not in NAMES}
    return {"estimator": like, **inherited}


def _merged(shared: dict[str, Any], method: dict[str, Any], name: str) -> dict[str, Any]:
    """Override shared settings by those of a method; a searched one replaces a fixed one."""
    fixed = section(f"methods.{name}.fixed", method.get("fixed", {}))
    search = section(f"methods.{name}.search", method.get("search", {}))
    for_all = section("all.fixed", shared.get("fixed", {}))
    to_search = section("all.search", shared.get("search", {}))
    return {
        **shared,
        **method,
        "fixed": {**{key: for_all[key] for key in for_all if key not in search}, **fixed},
        "search": {**{key: to_search[key] for key in to_search if key not in fixed}, **search},
    }


def _method(name: str, given: dict[str, Any], datasets: Sequence[str]) -> Method:
    where = f"methods.{name}"
    keys = (
        *("estimator", "label", "paper", "x", "average"),
        *("fixed", "search", "datasets", "not_on"),
    )
    check_keys(f"[{where}]", given, keys)
    check_number(f"x of [{where}]", given.get("x"), optional=True)
    average = given.get("average", 1)
    check_number(f"average of [{where}]", average, least=1, whole=True)
    fixed, search, on_dataset = _settings(where, given, datasets)
    return Method(
        name=name,
        estimator=one_of(all_methods())(f"estimator of [{where}]", given.get("estimator", name)),
        label=_line(f"label of [{where}]", given.get("label", name)),
        paper=_line(f"paper of [{where}]", given.get("paper", name)),
        x=given.get("x"),
        average=average,
        fixed=_with_none(fixed),
        search={
            key: [_none(choice) for choice in space] if isinstance(space, list) else space
            for key, space in search.items()
        },
        on_dataset={dataset: _with_none(settings) for dataset, settings in on_dataset.items()},
        not_on=several(f"not_on of [{where}]", given["not_on"], one_of(datasets))
        if "not_on" in given
        else (),
    )


def _line(where: str, text: Any) -> str:
    """Check that a value is one line of text."""
    if not isinstance(text, str) or not text.isprintable():
        raise ValueError(f"{where} must be text in one line; it is {text!r}.")
    return text


def _settings(
    where: str, given: dict[str, Any], datasets: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any], dict[str, dict[str, Any]]]:
    """Check the fixed settings, the search spaces, and the settings on single data sets."""
    fixed = section(f"{where}.fixed", given.get("fixed", {}))
    search = section(f"{where}.search", given.get("search", {}))
    for key, space in search.items():
        check_space(f"{key} in [{where}.search]", space)
        if key in fixed:
            raise ValueError(f"{key} of [{where}] is fixed and searched; it can be one of the two.")
    by_dataset = section(f"{where}.datasets", given.get("datasets", {}))
    check_keys(f"[{where}.datasets]", by_dataset, datasets)
    on_dataset = {
        dataset: section(f"{where}.datasets.{dataset}", settings)
        for dataset, settings in by_dataset.items()
    }
    for key in chain(fixed, search, *on_dataset.values()):
        if key.rpartition("__")[2] in TAKEN:
            raise ValueError(f"{key} of [{where}] cannot be set: the runner sets it.")
    return fixed, search, on_dataset


def _with_none(settings: Settings) -> Settings:
    return {key: _none(value) for key, value in settings.items()}


def _none(value: Any) -> Any:
    return None if value == "none" else value
