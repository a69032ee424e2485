"""Scores of a table of any length, part by part."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.methods.bagging import BaggingPUClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.tables import Table, Tally, iter_table
from robustpu.tables.cells import cells_of
from robustpu.tables.label import label_key
from robustpu.tables.texts import TRUE
from robustpu.workflow.progress import Progress, silent
from robustpu.workflow.source import counted
from robustpu.workflow.study import Study
from robustpu.workflow.training import parts_of

Item = TypeVar("Item")
# Parts that are scored at a time.
THREADS: Final = 2
KNOWN: Final = "rows are training rows, or equal to one, and have the scores of the fit"
BIASED: Final = "Labelled positives score too high there: do not evaluate the model on them"


@dataclass(frozen=True)
class Scored:
    """Some rows with their scores.

    Attributes
    ----------
    table
        The rows, with all their columns.
    first
        Number of the first of them in the whole table, from 1.
    X
        Their features, (n, d).
    score
        Their probabilities of being positive, (n,).
    flagged
        1 where the score reaches the threshold, else 0, (n,).
    """

    table: Table
    first: int
    X: NDArray[np.float32]
    score: NDArray[np.float64]
    flagged: NDArray[np.int8]


def score_parts(
    study: Study,
    data: Any,
    *,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
    fill_columns: bool = False,
    tally: Tally | None = None,
    notes: list[str] | None = None,
    progress: Progress = silent,
) -> Iterator[Scored]:
    """Score a table part by part, in memory that does not grow with it.

    An error, such as a bad row, is raised after the parts before it were given.

    Parameters
    ----------
    study
        With the model.
    data
        A path, "-", a frame, or whatever :func:`robustpu.tables.iter_table` reads.
    header, bad_rows
        As in :func:`robustpu.tables.iter_table`.
    fill_columns
        Whether columns may be missing; their values then count as missing.
    tally
        Collects differences from the training table.
    notes
        Collects remarks on the file.
    progress
        Callback for the part of the file that was read.

    Examples
    --------
    >>> from robustpu.workflow import fit_table
    >>> frame = {"x": [row**0.5 for row in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> [part.score.shape for part in score_parts(study, frame)]
    [(40,)]
    """
    tally = Tally() if tally is None else tally
    first, n_known = 1, 0
    progress("scoring", 0, 0)
    with counted(data) as (source, far), ThreadPoolExecutor(THREADS) as threads:

        def begun() -> Iterator[tuple[Table, NDArray[np.float32], Future[Any]]]:
            for part in iter_table(source, header=header, bad_rows=bad_rows):
                if notes is not None:
                    notes.extend(part.notes)
                features = study.features(part, fill_columns, tally)
                yield part, features, threads.submit(study.score_features, features)

        # While parts are scored the next one is read.
        for part, features, scores in ahead(begun(), THREADS):
            score, known = scores.result()
            n_known += known
            flagged = (score >= study.model.threshold_).astype(np.int8)
            yield Scored(part, first, features, score, flagged)
            first += part.n_rows
            progress("scoring", *far(first - 1))
    if n_known and notes is not None:
        notes.append(f"{n_known:,} {KNOWN}{_fitted_by(study.model)}")


def ahead(items: Iterator[Item], count: int) -> Iterator[Item]:
    """Give each item after ``count`` more were begun.

    Examples
    --------
    >>> said = ahead((print(number) or number for number in range(3)), 1)
    >>> next(said)
    0
    1
    0
    """
    begun: deque[Item] = deque()
    try:
        for item in items:
            begun.append(item)
            if len(begun) > count:
                yield begun.popleft()
    except Exception:
        # What was begun before the error comes before it.
        yield from begun
        raise
    yield from begun


# They score training rows by parts that were not trained on them.
TREES: Final = (PUExtraTreesClassifier, BaggingPUClassifier)


def _fitted_by(model: BasePUClassifier) -> str:
    """Which parts of a model were trained on the rows whose scores are those of the fit."""
    is_same = model.probability_ == model.out_of_fold_
    if is_same.all():
        return ", from parts of the model that were not trained on them"
    if is_same[model.is_positive_].all():
        return ", labelled positives out of fold, and so rather too low beside the others"
    if isinstance(model, BaggingPUClassifier):
        return f", unlabelled ones from learners that were not trained on them. {BIASED}"
    if any(isinstance(part, TREES) for part in parts_of(model)):
        return f": its networks were trained on them, its trees were not. {BIASED}"
    return f": the model was trained on them. {BIASED}"


class Marks(NamedTuple):
    """Which rows have the label of positives, and which have it or a synonym of yes; (n,).

    ``words`` are the labels of the latter, in lower case.
    """

    is_same: NDArray[np.bool_]
    is_alike: NDArray[np.bool_]
    words: set[str]


def labelled(table: Table, label: str | None, positive: str | None) -> Marks:
    """Which rows of a part of a table may be labelled positives; all parts decide together.

    Parameters
    ----------
    table
        Some rows.
    label, positive
        The column, and the value that marks positives.

    Examples
    --------
    >>> from robustpu.tables import read_table
    >>> marks = labelled(read_table({"y": ["T", "Y", "N"]}), "y", "T")
    >>> marks.is_same.tolist(), marks.is_alike.tolist()
    ([True, False, False], [True, True, False])
    """
    if label is None or positive is None or label not in table.names:
        nothing = np.zeros(table.n_rows, np.bool_)
        return Marks(nothing, nothing, set())
    text = cells_of(table.column(label)).text
    wanted = label_key(positive)
    alike = set(TRUE) if wanted in TRUE else {wanted}
    keys = [label_key(value) for value in text.values.to_pylist()]
    is_same = np.array([key == wanted for key in keys] + [False])[text.codes]
    is_alike = np.array([key in alike for key in keys] + [False])[text.codes]
    return Marks(is_same, is_alike, alike & set(keys))
