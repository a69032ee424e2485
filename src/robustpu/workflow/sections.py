"""Parts of the results that are taken from the table and the configuration."""

import datetime
from collections.abc import Mapping
from typing import Any, Final

from robustpu.base.classifier import BasePUClassifier
from robustpu.results import Column, Data, Method, Settings
from robustpu.versions import versions
from robustpu.workflow.config import FitConfig
from robustpu.workflow.problem import Problem

# Parameters that the results name elsewhere.
ELSEWHERE: Final = frozenset({"prior", "scenario", "threshold", "random_state", "neg_label"})


def now() -> str:
    """The time as text, in universal time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def describe_data(problem: Problem, name: str) -> Data:
    """What was read."""
    roles = problem.roles
    return Data(
        name=name,
        rows=len(problem.y),
        columns=problem.n_columns,
        label=roles.label,
        positive=roles.positive,
        n_positive=problem.n_positive,
        n_unlabeled=problem.n_unlabeled,
        n_negative=int((problem.y == -1).sum()),
        n_checked=int(problem.checked.sum()),
        negative=roles.negative,
        id=roles.id,
        time=roles.time,
        dropped=tuple(roles.drop),
        propensity=roles.propensity,
    )


def describe_method(config: FitConfig, model: BasePUClassifier, seconds: float) -> Method:
    """What was fitted, with the parameters that are not the defaults."""
    kind = type(model)
    usual = kind().get_params(deep=False)
    changed = {
        name: str(value)
        for name, value in sorted(model.get_params(deep=False).items())
        if name not in ELSEWHERE and repr(value) != repr(usual[name])
    }
    return Method(config.method, config.title, kind.__name__, changed, round(seconds, 1))


def describe_columns(problem: Problem) -> tuple[Column, ...]:
    """What each column holds, and what was done with it."""
    return tuple(
        Column(
            name=column.name,
            kind=str(column.kind),
            missing=float(column.missing),
            distinct=int(column.different),
            done=column.done,
            features=0 if column.plan is None else len(column.plan.endings()),
            notes=tuple(column.notes),
            alarm=column.alarm or None,
        )
        for column in problem.vectorizer.columns_
    )


def describe_settings(
    config: FitConfig, prior: str | float, command: str | None, options: Mapping[str, Any]
) -> Settings:
    """What it takes to repeat the fit; ``prior`` as the user gave it."""
    given = {
        "method": config.method,
        "prior": str(prior),
        "scenario": config.scenario,
        "threshold": str(config.threshold),
        "members": config.members,
    }
    return Settings(command, config.seed, versions("pyarrow"), given | dict(options))
