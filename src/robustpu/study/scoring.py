"""Scores of a table of any length, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustpu.base import BasePUClassifier
from robustpu.methods.bagging import BaggingPUClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.study.source import counted
from robustpu.study.stages import Tell, silent
from robustpu.study.study import Study
from robustpu.tables import Table, Tally, iter_table
from robustpu.tables.cells import cells_of
from robustpu.tables.label import label_key
from robustpu.tables.texts import TRUE

KNOWN: Final = "rows of the training, or equal to such, have the scores of the fit"
JUDGE: Final = "Known positives score too high there, so do not judge by them"


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
    answer
        1 where the score reaches the threshold, else 0, (n,).
    """

    table: Table
    first: int
    X: NDArray[np.float32]
    score: NDArray[np.float64]
    answer: NDArray[np.int8]


def score_parts(
    study: Study,
    data: Any,
    *,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
    fill_columns: bool = False,
    tally: Tally | None = None,
    notes: list[str] | None = None,
    progress: Tell = silent,
) -> Iterator[Scored]:
    """Score a table part by part, in memory that does not grow with it.

    Parameters
    ----------
    study
        With the model.
    data
        A path, "-", a frame, or whatever :func:`robustpu.tables.iter_table` reads.
    header, bad_rows
        As in :func:`robustpu.tables.iter_table`.
    fill_columns
        Whether columns may be missing; their values count as missing then.
    tally
        Takes what differs from the fitted table.
    notes
        Takes what was noticed while reading.
    progress
        Told how far the file is read.

    Examples
    --------
    >>> from robustpu.study import fit_table
    >>> frame = {"x": [own**0.5 for own in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> [part.score.shape for part in score_parts(study, frame)]
    [(40,)]
    """
    tally = Tally() if tally is None else tally
    first, n_known = 1, 0
    progress("scoring", 0, 0)
    with counted(data) as (source, far):
        for part in iter_table(source, header=header, bad_rows=bad_rows):
            if notes is not None:
                notes += part.notes
            features = study.features(part, fill_columns, tally)
            score, known = study.answers(features)
            n_known += known
            answer = (score >= study.model.threshold_).astype(np.int8)
            yield Scored(part, first, features, score, answer)
            first += part.n_rows
            progress("scoring", *far(first - 1))
    if n_known and notes is not None:
        notes.append(f"{n_known:,} {KNOWN}{_known_by(study.model)}")


# They answer training rows by what has not seen them.
TREES: Final = (PUExtraTreesClassifier, BaggingPUClassifier)


def _known_by(model: BasePUClassifier) -> str:
    """What has seen the rows of the training whose scores are those of the fit."""
    if np.array_equal(model.probability_, model.out_of_fold_):
        return ", by what has not seen them"
    if isinstance(model, BaggingPUClassifier):
        return f", unlabelled ones by learners that have not seen them. {JUDGE}"
    if any(isinstance(own, TREES) for own in getattr(model, "beside_", [])):
        return f": networks have seen them, trees have not. {JUDGE}"
    return f": the model has seen them. {JUDGE}"


class Marks(NamedTuple):
    """Which rows have the label of positives, and which have it or another word for yes; (n,).

    ``words`` are the labels of the latter, in small letters.
    """

    is_same: NDArray[np.bool_]
    is_alike: NDArray[np.bool_]
    words: set[str]


def labelled(table: Table, label: str | None, positive: str | None) -> Marks:
    """Which rows of a part of a table may be labelled positives: other parts tell.

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
