"""From a table to a study."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.methods import all_methods
from robustpu.results import (
    Alarm,
    EvaluationSummary,
    Importance,
    PoolMember,
    Prior,
    Results,
    Scar,
    ScoreHistogram,
    Settings,
    SharePoint,
    Suspect,
    TimeHoldout,
    TopK,
)
from robustpu.tables import Roles, Table
from robustpu.thresholds import most_likely
from robustpu.workflow import alarms, sections
from robustpu.workflow.config import DEFAULT_METHOD, FitConfig, parse_prior
from robustpu.workflow.effects import draw_background, importance
from robustpu.workflow.evaluation import (
    evaluate_scores,
    expected_hits,
    score_histogram,
    summarize,
    widen_by_folds,
)
from robustpu.workflow.held_out import held_out_scores
from robustpu.workflow.prior import (
    among_unlabeled,
    bounded,
    find_prior,
    keep_interval,
    prior_of,
)
from robustpu.workflow.problem import Problem, make_problem
from robustpu.workflow.profiles import profiles
from robustpu.workflow.progress import Progress, reporter
from robustpu.workflow.rounds import summarize_rounds
from robustpu.workflow.scar import SCAR, check_labels, describe_scar
from robustpu.workflow.sensitivity import prior_sensitivity
from robustpu.workflow.study import Study
from robustpu.workflow.suspects import SHOWN, ids_of, list_suspects, texts_of
from robustpu.workflow.time_holdout import evaluate_newest
from robustpu.workflow.training import Fitted, make_model, parts_of, probability, train
from robustpu.workflow.training_rows import remember

SUSPECTS: Final = 500
# Columns that are compared between the top of the list and the rest.
PROFILES: Final = 40


def fit_table(
    data: Any,
    *,
    label: str,
    positive: str | None = None,
    negative: str | None = None,
    checked: Any = None,
    id: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    method: str = DEFAULT_METHOD,
    prior: str | float = "auto",
    scenario: str = "case-control",
    threshold: float | str = 0.5,
    seed: int = 0,
    members: int | None = None,
    effort: str | float = "default",
    propensity: str | None = None,
    name: str | None = None,
    command: str | None = None,
    options: Mapping[str, Any] | None = None,
    verbose: bool = False,
    progress: Progress | None = None,
) -> Study:
    """Fit a model on a table, and evaluate it without negatives.

    Parameters
    ----------
    data
        A frame of pandas or polars, a path, a :class:`robustpu.tables.Table`, or whatever
        :func:`robustpu.tables.read_table` reads.
    label, positive, negative, id, time, drop
        Roles of columns, see :class:`robustpu.tables.Roles`. With a time, a model of the older rows
        is also evaluated on the newest.
    checked
        A table, or a list of them, with the ids or the numbers of rows, as
        :func:`robustpu.workflow.rank_table` lists them, and a column ``checked`` of yes, no, or
        nothing.
    kinds
        Kinds of columns that are not to be detected.
    method
        A name that ``robustpu methods`` lists.
    prior
        Share of positives among the unlabelled rows: ``"auto"`` estimates it; a number;
        ``"0.02:0.05"`` for a range; ``"count:500"`` for a number of rows.
    scenario, threshold
        As in :class:`robustpu.PUClassifier`: case-control by default, as in the papers, while
        ``robustpu fit`` takes a file for one sample, single-set.
    seed
        Seed of everything random.
    members
        Networks to average, for methods that train networks; None for the default.
    effort
        Of the default method: ``"fast"``, ``"default"``, ``"best"``, or seconds.
    propensity
        Column that says how likely each labelled positive was to be labelled; empty in others.
    name
        Name of the data on the page.
    command, options
        Stored in ``results.settings``.
    verbose
        Whether to show progress, on standard error.
    progress
        Called as ``progress(stage, done, total)``, whatever ``verbose`` says.

    Returns
    -------
    study
        With ``model``, ``vectorizer`` and ``results``; :meth:`Study.save` writes the page.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3,
    ...              random_state=0)
    >>> frame = {f"c{place}": column for place, column in enumerate(pu.X.T[:6])} | {"ill": pu.y}
    >>> study = fit_table(frame, label="ill", method="puet", prior=0.3)
    >>> study.results.data.n_positive, len(study.results.suspects)
    (60, 200)
    """
    config = FitConfig(method, scenario, threshold, seed, members, effort)
    # Refuse wrong settings before the table is read.
    source, _ = parse_prior(prior)
    make_model(config, 0.5)
    roles = Roles(label, positive, negative, id, time, tuple(drop), propensity)
    settings = sections.describe_settings(config, prior, command, options or {})
    with reporter(progress, verbose) as report:
        report("columns" if isinstance(data, Table) else "reading", 0, 0)
        files = checked if isinstance(checked, list | tuple) else [checked]
        answers = [file for file in files if file is not None]
        problem = make_problem(data, roles, kinds, seed, answers)
        found = None
        if source != "estimated" or not all_methods()[method].estimates_while_fitting:
            if source == "estimated":
                report("prior", 0, 0)
            rows = problem.propensity, problem.checked
            found = find_prior(problem.X, problem.y, prior, scenario, seed, report, *rows)
        return _fit(problem, found, config, name or _name_of(data), settings, report)


def _fit(
    problem: Problem,
    prior: Prior | None,
    config: FitConfig,
    name: str,
    settings: Settings,
    progress: Progress,
) -> Study:
    X, y = problem.X, problem.y
    model = make_model(config, "auto" if prior is None else prior.value)
    if (y == -1).any():
        model.set_params(neg_label=-1)
    fitted = train(model, X, y, progress, propensity=problem.propensity, checked=problem.checked)
    model, rounds = fitted.model, summarize_rounds(fitted.model)
    prior = prior_of(model) if prior is None else prior
    _drop_weights(model)
    checked = _evaluate(model, problem, prior, config, progress)
    # Not before: folds are fitted with the same number.
    keep_interval(model, checked.prior)
    training_rows = remember(X, model.probability_, problem.checked | (y == -1))
    score = partial(probability, model)
    scores, _ = training_rows.score(X, score)
    background = draw_background(X, y, config.seed)
    how = problem.vectorizer.sources_, config.seed, progress, model.row_cost()
    columns = importance(score, X, y, *how)
    results = Results(
        made=sections.now(),
        data=sections.describe_data(problem, name),
        method=sections.describe_method(config, model, fitted.seconds),
        scenario=config.scenario,  # type: ignore[arg-type]
        prior=among_unlabeled(checked.prior, y, problem.checked),
        threshold=float(model.threshold_),
        flagged=float((scores[y == 0] >= model.threshold_).mean()),
        evaluation=checked.summary,
        time_holdout=checked.time_holdout,
        top=checked.top,
        sensitivity=checked.sensitivity,
        scores=checked.scores,
        rounds=rounds,
        alarms=_alarms(problem, config, fitted, checked, scores[y == 0]),
        suspects=_suspects(problem, scores, model, background, columns, progress),
        importance=tuple(column for column in columns if column.value > 0),
        columns=sections.describe_columns(problem),
        notes=problem.notes,
        settings=settings,
        members=describe_members(model),
        profiles=profiles(
            problem, scores, [each.column for each in columns[:PROFILES] if each.value > 0]
        ),
        scar=checked.scar,
    )
    return Study(model, problem.vectorizer, results, background, training_rows)


@dataclass(frozen=True)
class _Evaluated:
    """What held-out rows say about a fit; ``how`` they came about, or why there are none."""

    prior: Prior
    scar: Scar | None
    summary: EvaluationSummary | None
    time_holdout: TimeHoldout | None
    top: tuple[TopK, ...]
    sensitivity: tuple[SharePoint, ...]
    scores: ScoreHistogram
    how: str


def _evaluate(
    model: BasePUClassifier,
    problem: Problem,
    prior: Prior,
    config: FitConfig,
    progress: Progress,
) -> _Evaluated:
    X, y, rows = problem.X, problem.y, (problem.propensity, problem.checked)
    n_unlabeled = int(problem.was_unlabeled.sum())
    held_out, how, fits = held_out_scores(model, X, y, config.seed, progress, *rows)
    checked = check_labels(problem.y_before, held_out, prior, config.scenario, problem.propensity)
    most, is_scar = checked.largest_prior, problem.propensity is None
    scar = describe_scar(checked) if is_scar else None
    prior = bounded(prior, most, SCAR if is_scar else "with these propensities")
    evaluation = evaluate_scores(y, held_out, prior, model.threshold_, config.scenario, *rows)
    evaluation, apart = widen_by_folds(evaluation, problem.is_labeled, held_out, fits)
    time_holdout = None
    remarks = [f"Evaluated by {how}."]
    if problem.times is not None:
        time_holdout = evaluate_newest(model, X, y, problem.times, prior, progress, *rows)
        remarks.append(time_holdout.text)
    summary = summarize(evaluation, remarks)
    top = expected_hits(evaluation, n_unlabeled, apart)
    ks = [each.k for each in top]
    sensitivity = prior_sensitivity(evaluation, prior, most, ks, n_unlabeled, apart)
    scores = score_histogram(y, held_out)
    return _Evaluated(prior, scar, summary, time_holdout, top, sensitivity, scores, how)


def _alarms(
    problem: Problem,
    config: FitConfig,
    fitted: Fitted,
    checked: _Evaluated,
    unlabeled: NDArray[np.float64],
) -> tuple[Alarm, ...]:
    prior, threshold = checked.prior, fitted.model.threshold_
    auc = None if checked.summary is None else checked.summary.auc
    lowest = None if auc is None else auc.low
    collapsed = alarms.collapse_alarms(unlabeled, prior.value, config, threshold, lowest)
    return (
        *alarms.chance_alarms(checked.summary),
        *alarms.data_alarms(problem, prior, fitted.warnings),
        *alarms.threshold_alarms(prior, config.threshold),
        # If the share is not known, nobody knows how many rows should be flagged.
        *(collapsed if prior.is_known else ()),
        *alarms.missing_evaluation_alarms(checked.summary, checked.how),
        *alarms.time_alarms(checked.summary, checked.time_holdout),
    )


def _suspects(
    problem: Problem,
    scores: NDArray[np.float64],
    model: BasePUClassifier,
    background: NDArray[np.float32],
    columns: Sequence[Importance],
    progress: Progress,
) -> tuple[Suspect, ...]:
    rows = most_likely(scores, problem.y == 0, SUSPECTS)
    ids = [None] * len(rows) if problem.ids is None else ids_of(problem.ids, rows)
    return list_suspects(
        partial(probability, model),
        problem.X[rows],
        scores[rows],
        background,
        problem.vectorizer.sources_,
        texts_of(problem.table.data, rows, problem.table.names),
        (rows + 1).tolist(),
        ids,
        [column.column for column in columns[:SHOWN] if column.value > 0],
        progress,
        model.row_cost(),
    )


def describe_members(model: Any) -> tuple[PoolMember, ...]:
    """Members of a pool, the one with the largest weight first; none of other models."""
    if not hasattr(model, "member_auc_") or np.isnan(model.member_auc_).any():
        return ()
    found = zip(model.member_names_, model.weights_, model.member_auc_, strict=True)
    members = [PoolMember(name, float(weight), float(auc)) for name, weight, auc in found]
    return tuple(sorted(members, key=lambda member: -member.weight))


def _drop_weights(model: Any) -> None:
    """Drop the weights of all rounds: with them a folder would be many times as large."""
    for part in parts_of(model):
        if hasattr(part, "weight_path_"):
            part.weight_path_ = None


def _name_of(data: Any) -> str:
    if isinstance(data, Table):
        data = data.source
    if isinstance(data, str | os.PathLike):
        return Path(data).name if str(data) != "-" else "standard input"
    return f"a {type(data).__name__}"
