"""The k rows of a table that are most likely positive, however long the table is."""

from typing import Any, Literal

import numpy as np

from robustpu.checks import check_number
from robustpu.study.scoring import Scored, is_labelled, score_parts
from robustpu.study.stages import Tell, silent
from robustpu.study.study import Study
from robustpu.study.suspects import SHOWN, list_suspects, texts_of
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
    held: list[_Row] = []
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
        least = held[-1].score if len(held) == top else -1.0
        held += _candidates(part, top, least, roles, id)
        # Stable, so that of equals the first in the table is first.
        held = sorted(held, key=lambda own: -own.score)[:top]
    return list_suspects(
        study.probability,
        np.array([own.features for own in held]),
        np.array([own.score for own in held]),
        study.background,
        study.vectorizer.sources_,
        [own.cells for own in held],
        [own.number for own in held],
        [None if id is None else own.cells.get(id, "") for own in held],
        shown,
        progress,
    )


class _Row:
    """A row on the list."""

    __slots__ = ("cells", "features", "number", "score")

    def __init__(self, score: float, number: int, features: Any, cells: dict[str, str]) -> None:
        self.score, self.number, self.features, self.cells = score, number, features, cells


def _candidates(
    part: Scored, top: int, least: float, roles: dict[str, Any], id: str | None
) -> list[_Row]:
    """The best rows of a part that beat the last one so far."""
    is_open = ~is_labelled(part.table, roles["label"], roles["positive"])
    places = most_likely(part.score, is_open & (part.score > least), top)
    if not len(places):
        return []
    cells = texts_of(part.table.data, places, part.table.names)
    return [
        _Row(float(part.score[place]), part.first + int(place), part.X[place].copy(), own)
        for place, own in zip(places, cells, strict=True)
    ]
