"""From a table to a study."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.metrics import largest_prior
from robustpu.study import findings as sections
from robustpu.study.course import rounds_section
from robustpu.study.effects import draw_background, importance
from robustpu.study.held_out import unseen
from robustpu.study.judging import (
    evaluation_section,
    judge,
    judge_folds,
    scores_section,
    top_section,
    unjudged_alarms,
)
from robustpu.study.newest import judge_newest, newest_alarms
from robustpu.study.prior import Prior, find_prior, parse_prior, within
from robustpu.study.problem import Problem, make_problem
from robustpu.study.seen import remember
from robustpu.study.stages import Tell, told
from robustpu.study.study import Study
from robustpu.study.supposing import suppositions_section
from robustpu.study.suspects import SHOWN, ids_of, list_suspects, texts_of
from robustpu.study.training import (
    Wish,
    make_model,
    probability,
    train,
)
from robustpu.tables import Roles, Table
from robustpu.thresholds import most_likely

SUSPECTS: Final = 500


def fit_table(
    data: Any,
    *,
    label: str,
    positive: str | None = None,
    id: str | None = None,
    time: str | None = None,
    drop: Sequence[str] = (),
    kinds: Mapping[str, Any] | None = None,
    method: str = "robust-pu",
    prior: str | float = "auto",
    scenario: str = "case-control",
    threshold: float | str = 0.5,
    seed: int = 0,
    members: int | None = None,
    name: str | None = None,
    command: str | None = None,
    options: Mapping[str, Any] | None = None,
    verbose: bool = False,
    progress: Tell | None = None,
) -> Study:
    """From a table to a fitted model and an honest account of it.

    Parameters
    ----------
    data
        A frame of pandas or polars, a path, a :class:`robustpu.tables.Table`, or whatever
        :func:`robustpu.tables.read_table` reads.
    label, positive, id, time, drop
        What columns are for, see :class:`robustpu.tables.Roles`. With a time, a model of the older
        rows is judged on the newest as well.
    kinds
        What columns hold, where it is not to be found out.
    method
        A name that ``robustpu methods`` lists.
    prior
        Share of positives among the unlabelled rows: ``"auto"`` estimates it; a number;
        ``"count:500"``, so many rows.
    scenario, threshold
        As in :class:`robustpu.RobustPUClassifier`.
    seed
        Of everything random.
    members
        Networks to average, of methods that train networks; None for the default.
    name
        Of the data, for the page.
    command, options
        What to note as the way it was made.
    verbose
        Whether to show progress, on standard error.
    progress
        Called as ``progress(stage, done, total)``, whatever ``verbose`` says.

    Returns
    -------
    study
        With ``model``, ``vectorizer`` and ``findings``; :meth:`Study.save` writes the page.

    Examples
    --------
    >>> from robustpu import datasets, make_pu
    >>> table = datasets.load("breast_cancer")
    >>> pu = make_pu(table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3,
    ...              random_state=0)
    >>> frame = {f"c{place}": own for place, own in enumerate(pu.X.T[:6])} | {"ill": pu.y}
    >>> study = fit_table(frame, label="ill", method="puet", prior=0.3)
    >>> study.findings["data"]["n_positive"], len(study.findings["suspects"])
    (60, 200)
    """
    wish = Wish(method, scenario, threshold, seed, members)
    parse_prior(prior)
    make_model(wish, 0.5)
    roles = Roles(label=label, positive=positive, id=id, time=time, drop=tuple(drop))
    with told(progress, verbose) as tell:
        tell("reading", 0, 0)
        problem = make_problem(data, roles, kinds, seed)
        if parse_prior(prior)[0] == "estimated":
            tell("prior", 0, 0)
        found = find_prior(problem.X, problem.y, prior, scenario, seed, tell)
        return _study(
            problem,
            found,
            wish,
            name or _name_of(data),
            sections.settings_section(wish, prior, command, options or {}),
            tell,
        )


def _study(
    problem: Problem,
    prior: Prior,
    wish: Wish,
    name: str,
    settings: dict[str, Any],
    progress: Tell,
) -> Study:
    X, y = problem.X, problem.y
    fitted = train(make_model(wish, prior.value, len(y)), X, y, progress)
    model = fitted.model
    rounds = rounds_section(model)
    _forget_weights(model)

    held_out, how, fits = unseen(model, X, y, wish.seed, progress)
    known = np.isfinite(held_out)
    parts = held_out[known & (y == 1)], held_out[known & (y == 0)]
    most = largest_prior(*parts)
    prior = within(prior, most)
    judged = judge(y, held_out, prior, model.threshold_, wish.scenario)
    judged, apart = judge_folds(judged, y, held_out, fits)
    remarks = [f"Judged by {how}."]
    newest = None
    if problem.times is not None:
        newest = judge_newest(model, X, y, problem.times, prior, progress)
        remarks.append(newest["text"])
    # A collapse is an alarm, with the one rate that the page speaks of.
    evaluation = evaluation_section(judged and replace(judged, collapse=None), remarks)

    def score(rows: NDArray[np.float32]) -> NDArray[np.float64]:
        return probability(model, rows)

    sources = problem.vectorizer.sources_
    counted = importance(score, X, y, sources, wish.seed, progress)
    background = draw_background(X, y, wish.seed)
    seen = remember(X, model.probability_)
    chance, _ = seen.corrected(X, model.probability_)
    rows = most_likely(chance, y == 0, SUSPECTS)
    listed = list_suspects(
        score,
        X[rows],
        chance[rows],
        background,
        sources,
        texts_of(problem.table.data, rows, problem.table.names),
        (rows + 1).tolist(),
        _ids(problem.ids, rows),
        [own.column for own in counted[:SHOWN] if own.value > 0],
        progress,
    )
    top = top_section(judged, problem.n_unlabeled, apart)
    found = {
        "schema": sections.SCHEMA,
        "made": sections.now(),
        "data": sections.data_section(problem, name),
        "method": sections.method_section(wish, model, fitted.seconds),
        "scenario": wish.scenario,
        "prior": sections.prior_section(prior),
        "threshold": float(model.threshold_),
        "answered_positive": sections.answered(chance, y, model.threshold_),
        "evaluation": evaluation,
        "newest": newest,
        "top": top,
        "suppositions": suppositions_section(
            judged, prior, most, [own["k"] for own in top], problem.n_unlabeled
        ),
        "scores": scores_section(y, held_out),
        "rounds": rounds,
        "alarms": sections.alarm_section(problem, prior, fitted.warnings)
        + sections.collapse_alarms(
            chance[y == 0],
            prior.value,
            wish,
            model.threshold_,
            settings["command"],
            None if judged is None else judged["auc"].low,
        )
        + unjudged_alarms(judged, how)
        + newest_alarms(evaluation, newest),
        "suspects": listed,
        "importance": sections.importance_section(counted),
        "columns": sections.columns_section(problem),
        "notes": list(problem.notes),
        "settings": settings,
    }
    return Study(model, problem.vectorizer, found, background, seen)


def _forget_weights(model: Any) -> None:
    """The weights of all rounds were for the page; a folder would be many times as large."""
    if getattr(model, "record_weights", False):
        model.record_weights = False
        if hasattr(model, "weight_path_"):
            del model.weight_path_


def _ids(ids: Any, rows: NDArray[np.intp]) -> list[str | None]:
    if ids is None:
        return [None] * len(rows)
    return list(ids_of(ids, rows))


def _name_of(data: Any) -> str:
    if isinstance(data, Table):
        data = data.source
    if isinstance(data, str | os.PathLike):
        return Path(data).name if str(data) != "-" else "standard input"
    return f"a {type(data).__name__}"
