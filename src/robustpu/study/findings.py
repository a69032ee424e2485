"""All that is known of a study, in plain values: what the page draws and the folder keeps."""

import datetime
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu import __version__, thresholds
from robustpu.base import BasePUClassifier, CollapseWarning
from robustpu.metrics import collapse
from robustpu.study.effects import Importance
from robustpu.study.prior import Prior
from robustpu.study.problem import Problem
from robustpu.study.training import Wish

SCHEMA: Final = 1
LIBRARIES: Final = ("torch", "scikit-learn", "numpy", "pyarrow")
# Fewer labelled positives than that say little about precision and recall.
# From this AUC on, a model tells rows apart.
RANKS: Final = 0.65
FEW: Final = 30
TITLES: Final = {
    "pn": "PN: unlabelled is negative",
    "upu": "uPU",
    "nnpu": "nnPU",
    "pusb": "PUSB",
    "pubn": "PUbN",
    "pulns": "PULNS",
    "p3mix-e": "P3Mix-E",
    "p3mix-c": "P3Mix-C",
    "dist-pu": "Dist-PU",
    "self-pu": "Self-PU",
    "spy": "Spies",
    "pebl": "PEBL",
    "genpu": "GenPU",
    "vpu": "VPU",
    "tedn": "TEDn",
    "lbe": "LBE",
    "elkan-noto": "Elkan-Noto",
    "bagging": "PU bagging",
    "puet": "PU extra-trees",
    "robust-pu": "Robust-PU",
    "robust-pu-meta": "Robust-PU around any learner",
}


def now() -> str:
    """The time in text, in universal time."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def data_section(problem: Problem, name: str) -> dict[str, Any]:
    """What was read."""
    roles = problem.roles
    return {
        "name": name,
        "rows": len(problem.y),
        "columns": problem.n_columns,
        "label": roles.label,
        "positive": roles.positive,
        "n_positive": problem.n_positive,
        "n_unlabeled": problem.n_unlabeled,
        "id": roles.id,
        "time": roles.time,
        "dropped": list(roles.drop),
    }


def method_section(wish: Wish, model: BasePUClassifier, seconds: float) -> dict[str, Any]:
    """What was fitted, with the parameters that are not the defaults."""
    kind = type(model)
    usual = kind().get_params(deep=False)
    # These have places of their own.
    elsewhere = {"prior", "scenario", "threshold", "random_state", "record_weights"}
    changed = {
        name: str(value)
        for name, value in sorted(model.get_params(deep=False).items())
        if name not in elsewhere and repr(value) != repr(usual[name])
    }
    return {
        "name": wish.method,
        "title": TITLES.get(wish.method, wish.method),
        "class": kind.__name__,
        "parameters": changed,
        "seconds": round(seconds, 1),
    }


def prior_section(prior: Prior) -> dict[str, Any]:
    """The share of positives among the unlabelled rows."""
    return {
        "how": prior.how,
        "value": prior.value,
        "low": prior.low,
        "high": prior.high,
        "level": prior.level,
        "answers": dict(prior.answers),
        "doubts": list(prior.doubts),
    }


def columns_section(problem: Problem) -> list[dict[str, Any]]:
    """What each column is, and what was done with it."""
    return [
        {
            "name": own.name,
            "kind": own.kind,
            "missing": float(own.missing),
            "distinct": int(own.different),
            "done": own.done,
            "features": 0 if own.plan is None else len(own.plan.endings()),
            "notes": list(own.notes),
            "alarm": own.alarm or None,
        }
        for own in problem.vectorizer.columns_
    ]


def importance_section(found: Sequence[Importance]) -> list[dict[str, Any]]:
    """The columns that count, the most important first."""
    return [own._asdict() for own in found if own.value > 0]


def alarm_section(
    problem: Problem, prior: Prior, warnings: Mapping[str, type[Warning]]
) -> list[dict[str, str]]:
    """What a person should know before trusting anything else.

    Parameters
    ----------
    problem, prior
        The data and its prior.
    warnings
        Those of the fit; of a collapse :func:`collapse_alarms` speaks.
    """
    alarms = [{"kind": "leak", "text": text} for text in _leaks(problem)]
    alarms += [
        {"kind": "fit", "text": text}
        for text, kind in warnings.items()
        if not issubclass(kind, CollapseWarning)
    ]
    alarms += [{"kind": "prior", "text": text} for text in prior.doubts]
    if problem.n_positive < FEW:
        alarms.append(
            {
                "kind": "few",
                "text": f"There are only {problem.n_positive} labelled positives: intervals are "
                "wide, and chance decides much. Label more rows if you can.",
            }
        )
    return alarms


def collapse_alarms(
    score: NDArray[np.float64],
    prior: float,
    wish: Wish,
    threshold: float,
    command: str | None,
    auc: float | None = None,
) -> list[dict[str, str]]:
    """Say if the model answers nearly all unlabelled rows alike, and what to try.

    A model that ranks rows well has not collapsed: positives that are few and hard to tell reach no
    half.

    Parameters
    ----------
    score
        Of the unlabelled rows.
    prior
        Share of positives among them.
    wish, threshold
        What was wanted, and the threshold that was found.
    command
        What was typed, or None in Python: options are called as they are there.
    auc
        The least that it may be, by held-out rows; None if it is not known.

    Examples
    --------
    >>> found = collapse_alarms(np.zeros(100), 0.2, Wish(), 0.5, "robustpu fit a.csv")
    >>> [own["kind"] for own in found], "--method" in found[0]["text"]
    (['collapse'], True)
    """
    # A target may ask for few or many positives; a half then tells of a collapse.
    is_target = thresholds.parse(wish.threshold)[0] in thresholds.TARGETS
    at, have = (0.5, "have") if is_target else (threshold, "are answered positive, with")
    rate = float((score >= at).mean())
    side = collapse(rate, prior, len(score))
    if side is None:
        return []
    if side == "negative" and auc is not None and auc >= RANKS:
        # A target, or a number of one's own, may ask for few answers.
        if is_target or wish.threshold != 0.5:
            return []
        quantile = "--threshold prior" if command else 'threshold="prior"'
        text = (
            f"{rate:.1%} of the unlabelled rows {have} a score of {at:.3g} or more, where "
            f"{prior:.1%} are expected to be positive: one by one, positives are hard to tell. The "
            f"order of the list stands. To answer as many as are expected, take {quantile}."
        )
        return [{"kind": "level", "text": text}]
    other = "nnpu" if wish.method == "puet" else "puet"
    share, method = ("--prior", f"--method {other}") if command else ("prior=", f'method="{other}"')
    text = (
        f"{rate:.1%} of the unlabelled rows {have} a score of {at:.3g} or more, where "
        f"{prior:.1%} are expected to be positive: the model has probably collapsed to all-{side}. "
        f"Give the share with {share} if you know it better, or try another method, such as "
        f"{method}."
    )
    return [{"kind": "collapse", "text": text}]


def settings_section(
    wish: Wish, asked_prior: str | float, command: str | None, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What is needed to do it again."""
    return {
        "command": command,
        "seed": wish.seed,
        "versions": versions(),
        "options": {
            "method": wish.method,
            "prior": str(asked_prior),
            "scenario": wish.scenario,
            "threshold": str(wish.threshold),
            "members": wish.members,
            **options,
        },
    }


def versions() -> dict[str, str]:
    """Of this library, of Python, and of what it is built on."""
    found = {"robustpu": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def answered(probability: NDArray[np.float64], y: NDArray[np.int64], threshold: float) -> float:
    """Share of the unlabelled rows that are answered positive."""
    return float((probability[y == 0] >= threshold).mean())


def _leaks(problem: Problem) -> list[str]:
    return [f"Column {own.name!r}: {own.alarm}" for own in problem.vectorizer.columns_ if own.alarm]
