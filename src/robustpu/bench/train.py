"""One cell: all trials and candidates trained at once, one chosen, a record a trial."""

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from robustpu.base.classifier import BasePUClassifier
from robustpu.base.neural import NeuralPUClassifier
from robustpu.bench.machine import checkout, device_name
from robustpu.bench.plan import Cell
from robustpu.bench.protocol import as_floats, digest, size, splits
from robustpu.bench.store import Record
from robustpu.methods.auto import PUClassifier
from robustpu.methods.voting import PUVotingClassifier
from robustpu.split import PUData
from robustpu.training import Job, Progress, fit_together
from robustpu.versions import versions

Floats: TypeAlias = NDArray[np.float64]
Fitted: TypeAlias = BasePUClassifier | Exception


@dataclass(frozen=True)
class Machine:
    """Where to train, where the data sets lie that are not bundled, and the state of the code."""

    device: str
    data_dir: Path | None = None
    code: Mapping[str, Any] = field(default_factory=checkout)


def train(cell: Cell, machine: Machine, progress: Progress | None = None) -> list[Record]:
    """Train a cell, and give one record a trial, and one for each of its twins.

    Whatever fails becomes part of the records.

    Parameters
    ----------
    cell
        What to train.
    machine
        Where.
    progress
        Called as ``progress(done, total)``, in epochs of single networks.
    """
    start = time.perf_counter()
    try:
        return _records(cell, machine, progress)
    except Exception as error:
        return failures(cell, machine, error, time.perf_counter() - start)


def failures(cell: Cell, machine: Machine, error: Exception, seconds: float) -> list[Record]:
    """Make the records of a cell that has no results.

    Parameters
    ----------
    cell
        What failed.
    machine
        Where.
    error
        Why.
    seconds
        How long it took.
    """
    share = seconds / len(cell.numbers)
    return [
        _record(twin, trial, machine, share, _reason(error))
        for twin in (cell, *cell.twins)
        for trial in cell.numbers
    ]


def _reason(error: Exception) -> Record:
    return {"failure": f"{type(error).__name__}: {error}"}


def _records(cell: Cell, machine: Machine, progress: Progress | None) -> list[Record]:
    problems = splits(
        cell.dataset, cell.prior, cell.numbers, cell.sizes, cell.validation, machine.data_dir
    )
    where = cell.dataset, machine.data_dir
    data = {"data": digest(*where), "rows": size(*where)}
    start = time.perf_counter()
    fitted = _fit(cell, problems, machine, progress)
    seconds = (time.perf_counter() - start) / len(cell.numbers)
    scores = np.array([[_score(model) for model in row] for row in fitted])
    return [
        _record(
            twin,
            trial,
            machine,
            seconds,
            {**data, **_result(twin, fitted[place], scores, place, pu)},
        )
        for twin in (cell, *cell.twins)
        for place, (trial, pu) in enumerate(zip(cell.numbers, problems, strict=True))
    ]


def _result(cell: Cell, fitted: Sequence[Fitted], scores: Floats, row: int, pu: PUData) -> Record:
    """Take the best candidates of a trial, whose scores are in this row, and examine them."""
    best = CHOICES[cell.tune](scores)[row][: cell.average]
    sound = [place for place in best if not isinstance(fitted[place], Exception)]
    if not sound:
        failure = fitted[best[0]]
        assert isinstance(failure, Exception)
        return _reason(failure)
    return {
        "candidate": sound[0],
        **({"averaged": sound} if cell.average > 1 else {}),
        **_iterations(fitted[sound[0]]),
        "settings": cell.settings(cell.candidates[sound[0]]),
        "scores": {
            **_examine([fitted[place] for place in sound], pu),
            "validation": 100 * float(np.mean(scores[row, sound])),
        },
        "tried": scores[row].tolist(),
    }


def _fit(
    cell: Cell, problems: Sequence[PUData], machine: Machine, progress: Progress | None
) -> list[list[Fitted]]:
    """Train a model a trial and candidate, (trials, candidates), all in one go."""
    jobs = []
    is_neural = isinstance(cell.blank(), NeuralPUClassifier | PUVotingClassifier)
    is_choice = len(cell.candidates) > 1
    for trial, pu in zip(cell.numbers, problems, strict=True):
        # Candidates of one trial share their arrays, and the engine's copies of them.
        X, eval_set = as_floats(pu.X), None
        if cell.selection == "oracle":
            eval_set = (as_floats(pu.X_validation), pu.y_validation)
        given = {"prior": pu.prior, "device": machine.device}
        jobs += [
            Job(
                # Methods without networks draw the rows that they hold out from their seed.
                cell.build(
                    candidate, random_state=seed_of(trial, place) if is_neural else trial, **given
                ),
                X,
                pu.y,
                eval_set,
                # Candidates are compared, so all of a trial hold out the same rows.
                split=trial if is_choice else None,
            )
            for place, candidate in enumerate(cell.candidates)
        ]
    with warnings.catch_warnings():
        # A collapse shows in the error.
        warnings.simplefilter("ignore")
        fitted = fit_together(jobs, progress, return_errors=True)
    width = len(cell.candidates)
    return [fitted[start : start + width] for start in range(0, len(fitted), width)]


# Candidates of a trial start from several seeds in turn: from one, an unlucky start would spoil
# them all; from as many as there are, none could share their pre-training.
STARTS, APART = 5, 1_000_000


def seed_of(trial: int, candidate: int) -> int:
    """Seed of the networks of a candidate; the first candidate has the number of the trial.

    Parameters
    ----------
    trial, candidate
        Their numbers, from 0.

    Examples
    --------
    >>> [seed_of(3, candidate) for candidate in (0, 1, 5)]
    [3, 1000003, 3]
    """
    return trial + APART * (candidate % STARTS)


def _score(model: Fitted) -> float:
    """Score on held-out rows, the mean of the members; -inf if it failed, NaN if it has none."""
    if isinstance(model, Exception):
        return -math.inf
    scores = [part.member_scores_[part.kept_] for part in _scored(model)]
    return float(np.mean(np.concatenate(scores)))


def _scored(model: Any) -> list[Any]:
    """Give the model itself, or the classifiers of an ensemble that are of its first class."""
    if isinstance(model, PUClassifier):
        model = model.ensemble_ or model
    if not isinstance(model, PUVotingClassifier):
        return [model]
    first = type(model.estimators_[0])
    return [part for part in model.estimators_ if type(part) is first]


def _best_of_cell(scores: Floats) -> list[list[int]]:
    """One order for all trials: sound in most of them, then best in the mean of those."""
    sound = scores > -math.inf
    known = np.nan_to_num(np.where(sound, scores, 0.0))
    mean = known.sum(0) / np.maximum(sound.sum(0), 1)
    order = np.lexsort((-mean, -sound.sum(0)))
    return [order.tolist()] * len(scores)


def _best_of_trial(scores: Floats) -> list[list[int]]:
    """Order each trial by its own scores."""
    known = np.nan_to_num(scores, neginf=-math.inf)
    return [np.argsort(-row, kind="stable").tolist() for row in known]


# Scores (trials, candidates) -> the candidates of each trial, best first; of equals the first.
CHOICES: Mapping[str, Callable[[Floats], list[list[int]]]] = {
    "cell": _best_of_cell,
    "trial": _best_of_trial,
}


def _iterations(model: Any) -> Record:
    """Give the epochs or rounds that were chosen, one a member, if the method has such."""
    parts = [(part, getattr(part, "best_name", "best_round_")) for part in _scored(model)]
    if not all(hasattr(part, name) for part, name in parts):
        return {}
    # Members of an ensemble have the settings of its classifiers in turn.
    in_turn = zip_longest(*(getattr(part, name).tolist() for part, name in parts))
    return {"iterations": [value for row in in_turn for value in row if value is not None]}


def _examine(models: Sequence[Any], pu: PUData) -> dict[str, float]:
    """Score the mean of models on the test rows, in points."""
    rows = as_floats(pu.X_test)
    probability = np.mean([model.predict_proba(rows)[:, 1] for model in models], axis=0)
    threshold = float(np.mean([model.threshold_ for model in models]))
    answer = (probability >= threshold).astype(int)
    return {
        "error": 100 * float(np.mean(answer != pu.y_test)),
        "auc": 100 * float(roc_auc_score(pu.y_test, probability)),
        "precision": 100 * float(precision_score(pu.y_test, answer, zero_division=0)),
        "recall": 100 * float(recall_score(pu.y_test, answer)),
    }


def relabelled(record: Record, cell: Cell) -> Record:
    """Take over a record of another experiment that trained the same, under this cell's names.

    Parameters
    ----------
    record
        Of a cell with the same fingerprint.
    cell
        Which it is to stand for.
    """
    place = {"prior": cell.prior, "selection": cell.selection}
    return {**record, **names(cell), "estimator": cell.estimator, **place}


def names(cell: Cell) -> Record:
    """Give what says where a record stands, and nothing that its result depends on.

    Parameters
    ----------
    cell
        Of the plan.
    """
    return {
        "experiment": cell.experiment,
        "title": cell.title,
        "table": cell.table,
        "dataset": cell.dataset,
        "method": cell.method,
        "label": cell.label,
        "paper": cell.paper,
        "x": cell.x,
        "seed": cell.seed,
        "tune": cell.tune,
    }


def _record(cell: Cell, trial: int, machine: Machine, seconds: float, result: Record) -> Record:
    record = {
        **names(cell),
        "estimator": cell.estimator,
        "prior": cell.prior,
        "trial": trial,
        "selection": cell.selection,
        "validation": cell.validation,
        "sizes": asdict(cell.sizes),
        "fingerprint": cell.fingerprint,
        "training": cell.training,
        "candidates": len(cell.candidates),
        **result,
        "seconds": seconds,
        "versions": versions(),
        **machine.code,
        "device": device_name(machine.device),
    }
    return rounded(record)  # type: ignore[no-any-return]


def rounded(value: Any) -> Any:
    """Round floats to 6 significant digits, all the way down; those without a value become None.

    Examples
    --------
    >>> rounded({"a": 2 / 3, "b": [1, -math.inf]})
    {'a': 0.666667, 'b': [1, None]}
    """
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value
