"""Methods side by side, on the same folds, by metrics that need no negatives."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.metrics import Estimate, auc_difference, evaluate, ranking, rates
from robustpu.results import Metric, Prior
from robustpu.tables import Roles, Table
from robustpu.thresholds import at_share
from robustpu.workflow.baselines import make_baseline
from robustpu.workflow.checks import check_method
from robustpu.workflow.config import BASELINES, FitConfig, parse_prior
from robustpu.workflow.held_out import cross_fit
from robustpu.workflow.prior import find_prior
from robustpu.workflow.problem import Problem, make_problem
from robustpu.workflow.progress import Progress, reporter
from robustpu.workflow.training import make_model

Floats: TypeAlias = NDArray[np.float64]

FOLDS: Final = 5


@dataclass(frozen=True)
class ComparedMethod:
    """A method with its metrics, or with the error that stopped it.

    Attributes
    ----------
    method, title
        Its name, and that for people.
    metrics
        By name. ``auc_of_labeled`` and ``found_in_tenth``, the share of the known positives that
        outrank nine tenths of the unlabelled rows, do not need the share of positives.
    difference
        Of ``auc_of_labeled`` to the first method; None for that one.
    seconds
        Of one fit.
    remarks, error
        On the metrics; what stopped it.
    """

    method: str
    title: str
    metrics: Mapping[str, Metric] | None
    seconds: float | None
    remarks: tuple[str, ...] = ()
    error: str | None = None
    difference: Estimate | None = None


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
        Names that ``robustpu methods`` lists; ``"boosting"`` and ``"logistic"`` are learners that
        take unlabelled rows as negatives.
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
        report("columns" if isinstance(data, Table) else "reading", 0, 0)
        problem = make_problem(data, roles, kinds, seed)
        count = _count_folds(problem, folds)
        if source == "estimated":
            report("prior", 0, 0)
        found = find_prior(problem.X, problem.y, prior, scenario, seed, report)
        pairs = [_compare(config, problem, found, count, report) for config in configs]
    pairs.sort(key=lambda pair: _order(pair[0], by))
    compared = _with_differences(pairs, problem.y, found.level)
    return Comparison(
        prior=found,
        folds=count,
        by=by,
        n_positive=problem.n_positive,
        n_unlabeled=problem.n_unlabeled,
        methods=compared,
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
) -> tuple[ComparedMethod, Floats]:
    """Evaluate one method, and its scores; if it fails on the table, others are still compared."""
    model, stage = _model(config, prior.value), f"fitting {config.method}"
    X, y, title = problem.X, problem.y, config.title
    try:
        score, seconds = cross_fit(model, X, y, folds, config.seed, progress, stage)
    except ValueError as error:
        return ComparedMethod(config.method, title, None, None, error=str(error)), np.empty(0)
    evaluation = evaluate(
        y,
        score,
        prior=prior.value,
        prior_interval=prior.interval,
        scenario=config.scenario,
        level=prior.level,
    )
    sample = evaluation.sample
    tenth = replace(sample, threshold=at_share(sample.unlabeled, 0.1))
    free = {
        "auc_of_labeled": ranking.auc_of_labeled(sample),
        "found_in_tenth": rates.estimates(tenth)["recall"],
    }
    metrics = {name: _metric(name, each) for name, each in {**free, **evaluation}.items()}
    remarks = tuple(evaluation.remarks()) if prior.is_known else ()
    return ComparedMethod(config.method, title, metrics, round(seconds, 2), remarks), score


def _with_differences(
    pairs: list[tuple[ComparedMethod, Floats]], y: NDArray[np.int64], level: float
) -> tuple[ComparedMethod, ...]:
    """The methods, each with its difference to the first."""
    (first, best), *others = pairs
    found = [first]
    for compared, score in others:
        difference = None
        if compared.metrics is not None:
            difference = auc_difference(y, score, best, level=level)
        found.append(replace(compared, difference=difference))
    return tuple(found)


def _metric(name: str, estimate: Estimate) -> Metric:
    value, low, high = float(estimate.value), float(estimate.low), float(estimate.high)
    return Metric(name, value, low, high, estimate.clipped)


def _model(config: FitConfig, prior: float) -> BasePUClassifier:
    if config.method in BASELINES:
        return make_baseline(config.method, prior, config.scenario, config.seed)
    return make_model(config, prior)


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
    check_method(name, BASELINES)
    _model(plain, 0.5)
    if name in BASELINES:
        return plain
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
    # In the same order, and nothing is cut at 1.
    value = compared.metrics["auc_of_labeled" if by == "auc" else by].value
    return value if by == "zero_one_risk" else -value
