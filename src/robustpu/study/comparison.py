"""Methods side by side, on the same folds, by criteria that need no negatives."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from robustpu.metrics import evaluate
from robustpu.study.findings import TITLES
from robustpu.study.held_out import cross_fit
from robustpu.study.prior import Prior, find_prior, parse_prior
from robustpu.study.problem import Problem, make_problem
from robustpu.study.stages import Tell, told
from robustpu.study.training import Wish, make_model
from robustpu.tables import Roles

FOLDS: Final = 5


def compare_table(
    data: Any,
    *,
    methods: Sequence[str],
    label: str,
    positive: str | None = None,
    id: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    prior: str | float = "auto",
    scenario: str = "case-control",
    by: str = "auc",
    folds: int = FOLDS,
    seed: int = 0,
    members: int | None = None,
    verbose: bool = False,
    progress: Tell | None = None,
) -> dict[str, Any]:
    """Judge methods on rows that they were not fitted on, all on the same folds.

    Parameters
    ----------
    data, label, positive, id, time, drop, kinds, prior, scenario, seed
        As for :func:`robustpu.study.fit_table`. All methods get the same prior.
    methods
        Names that ``robustpu methods`` lists.
    by
        The metric that decides the order.
    folds
        How many; fewer if there are fewer labelled positives.
    members
        Networks to average, of methods that train networks; None for their defaults.
    verbose
        Whether to show progress, on standard error.
    progress
        Called as ``progress(stage, done, total)``, whatever ``verbose`` says.

    Returns
    -------
    comparison
        ``prior``, ``folds``, ``notes``, and ``rows``, one a method, the best first: ``method``,
        ``seconds`` of a fit, ``metrics`` with intervals and ``remarks``, or ``error``.

    Examples
    --------
    >>> frame = {"x": [own**0.5 for own in range(60)], "y": [1] * 12 + [0] * 48}
    >>> found = compare_table(frame, methods=["elkan-noto", "puet"], label="y", prior=0.1)
    >>> sorted(own["method"] for own in found["rows"]), found["folds"]
    (['elkan-noto', 'puet'], 5)
    """
    parse_prior(prior)
    wishes = [_wish(name, scenario, seed, members) for name in dict.fromkeys(methods)]
    roles = Roles(label=label, positive=positive, id=id, time=time, drop=tuple(drop))
    with told(progress, verbose) as tell:
        tell("reading", 0, 0)
        problem = make_problem(data, roles, kinds, seed)
        count = min(folds, problem.n_positive, problem.n_unlabeled)
        if count < 2:
            raise ValueError(
                "methods are compared on rows that they were not fitted on, so at least 2 labelled "
                f"positives and 2 unlabelled rows are needed; there are {problem.n_positive} and "
                f"{problem.n_unlabeled}."
            )
        if parse_prior(prior)[0] == "estimated":
            tell("prior", 0, 0)
        found = find_prior(problem.X, problem.y, prior, scenario, seed, tell)
        rows = [_row(wish, problem, found, count, tell) for wish in wishes]
    rows.sort(key=lambda own: _place(own, by))
    return {
        "prior": {"how": found.how, "value": found.value, "low": found.low, "high": found.high},
        "level": found.level,
        "folds": count,
        "by": by,
        "n_positive": problem.n_positive,
        "n_unlabeled": problem.n_unlabeled,
        "rows": rows,
        "notes": [*problem.told(), *found.doubts, *_remarks(rows)],
    }


def _row(wish: Wish, problem: Problem, prior: Prior, folds: int, tell: Tell) -> dict[str, Any]:
    """Judge one method; one that cannot deal with the table does not stop the others."""
    row: dict[str, Any] = {"method": wish.method, "title": TITLES.get(wish.method, wish.method)}
    model = make_model(wish, prior.value)
    stage = f"fitting {wish.method}"
    try:
        score, seconds = cross_fit(model, problem.X, problem.y, folds, wish.seed, tell, stage)
    except ValueError as error:
        return {**row, "error": str(error), "metrics": None, "seconds": None, "remarks": []}
    judged = evaluate(
        problem.y,
        score,
        prior=prior.value,
        prior_interval=prior.interval,
        scenario=wish.scenario,
        level=prior.level,
    )
    metrics = {
        name: {"value": float(own.value), "low": float(own.low), "high": float(own.high)}
        for name, own in judged.items()
    }
    return {
        **row,
        "error": None,
        "metrics": metrics,
        "seconds": round(seconds, 2),
        "remarks": judged.remarks(),
    }


def _remarks(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What is wrong with the figures of methods, each remark once."""
    by_text: dict[str, list[str]] = {}
    for row in rows:
        for remark in row["remarks"]:
            by_text.setdefault(remark.removeprefix("* "), []).append(row["title"])
    return [f"{', '.join(titles)}: {remark}" for remark, titles in by_text.items()]


def _wish(name: str, scenario: str, seed: int, members: int | None) -> Wish:
    """What is wanted of a method; members only of those that have some."""
    make_model(Wish(name, scenario, seed=seed), 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wish = Wish(name, scenario, seed=seed, members=members)
            make_model(wish, 0.5)
        except ValueError:
            return Wish(name, scenario, seed=seed)
    return wish


def _place(row: dict[str, Any], by: str) -> float:
    if row["metrics"] is None:
        return float("inf")
    value = float(row["metrics"][by]["value"])
    return value if by == "zero_one_risk" else -value
