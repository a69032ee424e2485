"""The k rows of a table that are most likely positive, however long the table is."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustpu.checks import check_number
from robustpu.study.scoring import Scored, labelled, score_parts
from robustpu.study.stages import Tell, silent
from robustpu.study.study import Study
from robustpu.study.suspects import SHOWN, ids_of, list_suspects, texts_of
from robustpu.tables import Tally
from robustpu.thresholds import most_likely


def rank_table(
    study: Study,
    data: Any,
    top: int = 200,
    *,
    id: str | None = None,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
    fill_columns: bool = False,
    tally: Tally | None = None,
    notes: list[str] | None = None,
    progress: Tell = silent,
) -> list[dict[str, Any]]:
    """The rows that are most likely positive and not labelled so, with what drove them.

    Parameters
    ----------
    study
        With the model.
    data
        As for :func:`robustpu.study.score_parts`.
    top
        How many rows.
    id
        Column that names the rows; that of training by default.
    header, bad_rows, fill_columns, tally, notes, progress
        As for :func:`robustpu.study.score_parts`.

    Returns
    -------
    rows
        One dictionary each, the most suspect first: rank, row (from 1), id, score, up to three
        drivers (column, value, effect on the log-odds), and cells of the most important columns.

    Examples
    --------
    >>> from robustpu.study import fit_table
    >>> frame = {"x": [own**0.5 for own in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> [own["row"] for own in rank_table(study, frame, top=2)]
    [11, 12]
    """
    check_number("top", top, least=1, whole=True)
    roles = study.findings["data"]
    asked, id = id, roles["id"] if id is None else id
    shown = [own["column"] for own in study.findings["importance"][:SHOWN]]
    # Which of the two lists it is shows when all rows have been seen.
    same, alike, has_same, words = _List(top), _List(top), False, set[str]()
    parts = score_parts(
        study,
        data,
        header=header,
        bad_rows=bad_rows,
        fill_columns=fill_columns,
        tally=tally,
        notes=notes,
        progress=progress,
    )
    for place, part in enumerate(parts):
        if place == 0 and asked is not None:
            part.table.column(asked)
        if place == 0 and notes is not None and roles["label"] not in part.table.names:
            notes.append(
                f"there is no column {roles['label']!r}: known positives cannot be told from the "
                "others, and may be on the list"
            )
        marks = labelled(part.table, roles["label"], roles["positive"])
        has_same |= bool(marks.is_same.any())
        words |= marks.words
        same.add(part, ~marks.is_same, id)
        # As soon as one row has the very label, other words for yes are other labels.
        if not has_same:
            alike.add(part, ~marks.is_alike, id)
    if notes is not None and not has_same and len(words) > 1:
        notes.append(
            f"no row is labelled {roles['positive']!r} as in training; all of "
            f"{', '.join(sorted(words))} are taken for it, and left out"
        )
    held = same.rows if has_same else alike.rows
    return list_suspects(
        study.probability,
        np.array([own.features for own in held]),
        np.array([own.score for own in held]),
        study.background,
        study.vectorizer.sources_,
        [own.cells for own in held],
        [own.number for own in held],
        [own.id for own in held],
        shown,
        progress,
    )


class _Row(NamedTuple):
    """A row on the list."""

    score: float
    number: int
    id: str | None
    features: NDArray[np.float32]
    cells: dict[str, str]


class _List:
    """The best rows so far."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.rows: list[_Row] = []

    def add(self, part: Scored, is_open: NDArray[np.bool_], id: str | None) -> None:
        """Take the rows of a part that are open and beat the last one so far."""
        least = self.rows[-1].score if len(self.rows) == self.top else -1.0
        places = most_likely(part.score, is_open & (part.score > least), self.top)
        if not len(places):
            return
        data = part.table.data
        cells = texts_of(data, places, part.table.names)
        ids: list[str | None] = [None if id is None else ""] * len(places)
        if id in part.table.names:
            ids[:] = ids_of(data.column(id), places)
        more = [
            # A copy, or all of the part would stay in memory.
            _Row(float(part.score[at]), part.first + int(at), id, part.X[at].copy(), texts)
            for at, id, texts in zip(places, ids, cells, strict=True)
        ]
        # Stable, so that of equals the first in the table is first.
        self.rows = sorted([*self.rows, *more], key=lambda own: -own.score)[: self.top]
