"""Methods side by side, on the same folds, by metrics that need no negatives."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from robustpu.metrics import evaluate
from robustpu.results import Metric, Prior
from robustpu.tables import Roles
from robustpu.workflow.config import FitConfig, parse_prior
from robustpu.workflow.held_out import cross_fit
from robustpu.workflow.prior import find_prior
from robustpu.workflow.problem import Problem, make_problem
from robustpu.workflow.progress import Progress, reporter
from robustpu.workflow.training import make_model

FOLDS: Final = 5


@dataclass(frozen=True)
class ComparedMethod:
    """A method with its metrics, or with the error that stopped it; ``seconds`` of one fit."""

    method: str
    title: str
    metrics: Mapping[str, Metric] | None
    seconds: float | None
    remarks: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True)
class Comparison:
    """Methods on the same folds with the same prior, the best first by the metric ``by``."""

    prior: Prior
    folds: int
    by: str
    n_positive: int
    n_unlabeled: int
    methods: tuple[ComparedMethod, ...]
    notes: tuple[str, ...]


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
    progress: Progress | None = None,
) -> Comparison:
    """Evaluate methods on rows that they were not fitted on, all on the same folds.

    Parameters
    ----------
    data, label, positive, id, time, drop, kinds, prior, scenario, seed
        As for :func:`robustpu.workflow.fit_table`. All methods get the same prior.
    methods
        Names that ``robustpu methods`` lists.
    by
        The metric that decides the order.
    folds
        Their number; reduced if there are fewer labelled positives.
    members
        Networks to average, for methods that train networks; None for their defaults.
    verbose
        Whether to show progress, on standard error.
    progress
        Called as ``progress(stage, done, total)``, whatever ``verbose`` says.

    Examples
    --------
    >>> frame = {"x": [row**0.5 for row in range(60)], "y": [1] * 12 + [0] * 48}
    >>> found = compare_table(frame, methods=["elkan-noto", "puet"], label="y", prior=0.1)
    >>> sorted(each.method for each in found.methods), found.folds
    (['elkan-noto', 'puet'], 5)
    """
    source, _ = parse_prior(prior)
    configs = [_config(name, scenario, seed, members) for name in dict.fromkeys(methods)]
    roles = Roles(label=label, positive=positive, id=id, time=time, drop=tuple(drop))
    with reporter(progress, verbose) as report:
        report("reading", 0, 0)
        problem = make_problem(data, roles, kinds, seed)
        count = _count_folds(problem, folds)
        if source == "estimated":
            report("prior", 0, 0)
        found = find_prior(problem.X, problem.y, prior, scenario, seed, report)
        compared = [_compare(config, problem, found, count, report) for config in configs]
    compared.sort(key=lambda each: _order(each, by))
    return Comparison(
        prior=found,
        folds=count,
        by=by,
        n_positive=problem.n_positive,
        n_unlabeled=problem.n_unlabeled,
        methods=tuple(compared),
        notes=(*problem.all_notes(), *found.warnings, *_remarks(compared)),
    )


def _count_folds(problem: Problem, folds: int) -> int:
    count = min(folds, problem.n_positive, problem.n_unlabeled)
    if count < 2:
        raise ValueError(
            "methods are compared on rows that they were not fitted on, so at least 2 labelled "
            f"positives and 2 unlabelled rows are needed; there are {problem.n_positive} and "
            f"{problem.n_unlabeled}."
        )
    return count


def _compare(
    config: FitConfig, problem: Problem, prior: Prior, folds: int, progress: Progress
) -> ComparedMethod:
    """Evaluate one method; if it fails on the table, the others are still compared."""
    model, stage = make_model(config, prior.value), f"fitting {config.method}"
    X, y = problem.X, problem.y
    try:
        score, seconds = cross_fit(model, X, y, folds, config.seed, progress, stage)
    except ValueError as error:
        return ComparedMethod(config.method, config.title, None, None, error=str(error))
    evaluation = evaluate(
        y,
        score,
        prior=prior.value,
        prior_interval=prior.interval,
        scenario=config.scenario,
        level=prior.level,
    )
    metrics = {
        name: Metric(name, float(each.value), float(each.low), float(each.high), each.clipped)
        for name, each in evaluation.items()
    }
    return ComparedMethod(
        config.method, config.title, metrics, round(seconds, 2), tuple(evaluation.remarks())
    )


def _remarks(compared: Sequence[ComparedMethod]) -> list[str]:
    """Remarks on the metrics of methods, each once."""
    by_text: dict[str, list[str]] = {}
    for each in compared:
        for remark in each.remarks:
            by_text.setdefault(remark.removeprefix("* "), []).append(each.title)
    return [f"{', '.join(titles)}: {remark}" for remark, titles in by_text.items()]


def _config(name: str, scenario: str, seed: int, members: int | None) -> FitConfig:
    """What to fit; the number of members is for methods that have some."""
    plain = FitConfig(name, scenario, seed=seed)
    make_model(plain, 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            config = FitConfig(name, scenario, seed=seed, members=members)
            make_model(config, 0.5)
        except ValueError:
            return plain
    return config


def _order(compared: ComparedMethod, by: str) -> float:
    if compared.metrics is None:
        return float("inf")
    value = compared.metrics[by].value
    return value if by == "zero_one_risk" else -value
