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
# Trials and candidates at most: more is a slip of the pen.
MOST = 10_000
# What a method does not take over from another that it is like.
NAMES = ("label", "paper", "x")
# Parameters that the runner itself gives to every estimator.
TAKEN = ("device", "pos_label", "random_state", "scenario", "verbose")


@dataclass(frozen=True)
class Method:
    """A row of the table: an estimator, its fixed settings, and the spaces to search.

    ``average`` is the number of candidates, the best ones, whose probabilities are averaged.
    """

    name: str
    estimator: str
    label: str
    paper: str
    x: float | None
    average: int
    preset: str | None
    fixed: Settings
    search: Mapping[str, Any]
    on_dataset: Mapping[str, Settings]
    not_on: tuple[str, ...]


@dataclass(frozen=True)
class Budget:
    """What a data set may cost: trials, and settings tried a method at most."""

    trials: int
    candidates: int


@dataclass(frozen=True)
class Experiment:
    """All that a file says."""

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
        A TOML file; its name without the ending is that of the experiment.

    Raises
    ------
    ValueError
        Something in the file is unknown or has a value that cannot be; the message says where.
    """
    return _experiment(path.stem, tomllib.loads(path.read_text(encoding="utf-8-sig")))


def _experiment(name: str, content: dict[str, Any]) -> Experiment:
    known = {**_OPTIONAL, "datasets": None, "priors": None, "selection": None, "methods": None}
    check_keys("the file", content, known)
    for key in ("datasets", "priors", "selection", "methods"):
        if key not in content:
            choices = f" of {', '.join(SELECTIONS)}" if key == "selection" else ""
            raise ValueError(f"the file has no {key!r}; it must say which{choices}.")
    given = {**_OPTIONAL, **content}
    check_number("seed", given["seed"], least=0, whole=True)
    title = given["title"]
    if not (title is None or (isinstance(title, str) and title.isprintable())):
        raise ValueError(f"title must be text in one line; it is {title!r}.")
    if given["table"] is not None:
        one_of(references())("table", given["table"])
    datasets = several("datasets", given["datasets"], one_of(PROTOCOLS))
    return Experiment(
        name=name,
        title=given["title"] or name,
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
    """Take what the file says for all data sets, and what it says for one."""
    names = ("trials", "candidates")
    own = section("budget", given["budget"])
    check_keys("[budget]", own, datasets)
    budgets = {}
    for dataset in datasets:
        where = f"budget.{dataset}"
        changes = section(where, own.get(dataset, {}))
        check_keys(f"[{where}]", changes, names)
        numbers = {**{name: given[name] for name in names}, **changes}
        for name, value in numbers.items():
            check_number(name, value, least=1, most=MOST, whole=True)
        budgets[dataset] = Budget(**numbers)
    return budgets


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


def _methods(
    given: dict[str, Any], shared: dict[str, Any], datasets: Sequence[str]
) -> tuple[Method, ...]:
    if not given:
        raise ValueError("[methods] is empty: give at least one, such as [methods.nnpu].")
    check_keys("[all]", shared, ("estimator", "preset", "fixed", "search"))
    methods: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        own = section(f"methods.{name}", value)
        if "like" in own:
            if own["like"] not in methods:
                raise ValueError(
                    f"like of [methods.{name}] must name a method above it; it is {own['like']!r}."
                )
            model = own["like"]
            inherited = {key: methods[model][key] for key in methods[model] if key not in NAMES}
            inherited.setdefault("estimator", model)
            own = {key: own[key] for key in own if key != "like"}
            own = _over(inherited, own, name)
        methods[name] = _over(shared, own, name)
    return tuple(_method(name, own, datasets) for name, own in methods.items())


def _over(shared: dict[str, Any], own: dict[str, Any], name: str) -> dict[str, Any]:
    """Lay what is a method's own over what it shares with others."""
    fixed = section(f"methods.{name}.fixed", own.get("fixed", {}))
    search = section(f"methods.{name}.search", own.get("search", {}))
    for_all = section("all.fixed", shared.get("fixed", {}))
    to_search = section("all.search", shared.get("search", {}))
    return {
        **shared,
        **own,
        "fixed": {**{key: for_all[key] for key in for_all if key not in search}, **fixed},
        "search": {**{key: to_search[key] for key in to_search if key not in fixed}, **search},
    }


def _method(name: str, given: dict[str, Any], datasets: Sequence[str]) -> Method:
    where = f"methods.{name}"
    keys = (
        *("estimator", "label", "paper", "x", "average"),
        *("preset", "fixed", "search", "datasets", "not_on"),
    )
    check_keys(f"[{where}]", given, keys)
    label, paper, x = given.get("label", name), given.get("paper", name), given.get("x")
    for key, text in (("label", label), ("paper", paper)):
        if not isinstance(text, str) or not text.isprintable():
            raise ValueError(f"{key} of [{where}] must be text in one line; it is {text!r}.")
    check_number(f"x of [{where}]", x, optional=True)
    average = given.get("average", 1)
    check_number(f"average of [{where}]", average, least=1, whole=True)
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
        paper=paper,
        x=x,
        average=average,
        preset=given.get("preset"),
        fixed=_with_none(fixed),
        search={
            key: [_none(choice) for choice in space] if isinstance(space, list) else space
            for key, space in search.items()
        },
        on_dataset={dataset: _with_none(own) for dataset, own in settings.items()},
        not_on=several(f"not_on of [{where}]", given["not_on"], one_of(datasets))
        if "not_on" in given
        else (),
    )


def _with_none(settings: Settings) -> Settings:
    return {key: _none(value) for key, value in settings.items()}


def _none(value: Any) -> Any:
    return None if value == "none" else value
