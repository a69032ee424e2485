"""The k unlabelled rows with the highest scores, however long the table is."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from robustpu.results import Suspect
from robustpu.tables import Tally
from robustpu.thresholds import most_likely, priority
from robustpu.validation.numbers import check_number
from robustpu.workflow.progress import Progress, silent
from robustpu.workflow.scoring import Marks, Scored, labelled, score_parts
from robustpu.workflow.study import Study
from robustpu.workflow.suspects import SHOWN, ids_of, list_suspects, texts_of


def rank_table(
    study: Study,
    data: Any,
    top: int = 200,
    *,
    by: str = "suspect",
    seed: int = 0,
    id: str | None = None,
    header: bool = True,
    bad_rows: Literal["error", "skip"] = "error",
    fill_columns: bool = False,
    tally: Tally | None = None,
    notes: list[str] | None = None,
    progress: Progress = silent,
) -> list[Suspect]:
    """The unlabelled rows with the highest scores, and the columns that drive them.

    Rows that were checked for the fit are not unlabelled any more.

    Parameters
    ----------
    study
        With the model.
    data
        As for :func:`robustpu.workflow.score_parts`.
    top
        Number of rows.
    by
        ``"suspect"``: the highest scores. To check: ``"informative"``, those nearest to the
        threshold; ``"random"``, drawn from all.
    seed
        Of the draw.
    id
        Column that names the rows; that of training by default.
    header, bad_rows, fill_columns, tally, notes, progress
        As for :func:`robustpu.workflow.score_parts`.

    Returns
    -------
    suspects
        The most wanted first; rows count from 1, drivers are effects on the log-odds.

    Examples
    --------
    >>> from robustpu.workflow import fit_table
    >>> frame = {"x": [row**0.5 for row in range(40)], "y": [1] * 10 + [0] * 30}
    >>> study = fit_table(frame, label="y", method="elkan-noto", prior=0.1)
    >>> [suspect.row for suspect in rank_table(study, frame, top=2)]
    [11, 12]
    """
    check_number("top", top, least=1, whole=True)
    data_roles = study.results.data
    asked, id = id, data_roles.id if id is None else id
    lists, random = _Lists(top, id), np.random.default_rng(seed)
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
    notes = [] if notes is None else notes
    for place, part in enumerate(parts):
        if place == 0 and asked is not None:
            part.table.column(asked)
        if place == 0 and data_roles.label not in part.table.names:
            notes.append(
                f"there is no column {data_roles.label!r}: known positives cannot be left out, and "
                "may be on the list"
            )
        wanted = priority(part.score, by, study.model.threshold_, random)
        settled = study.training_rows.are_settled(part.X)
        settled |= labelled(part.table, data_roles.label, data_roles.negative).is_same
        wanted[settled] = -np.inf
        lists.add(part, labelled(part.table, data_roles.label, data_roles.positive), wanted)
    if not lists.has_same and len(lists.words) > 1:
        notes.append(
            f"no row is labelled {data_roles.positive!r} as in training; all of "
            f"{', '.join(sorted(lists.words))} are read as this label, and left out"
        )
    return list(_explain(study, lists.rows, progress))


def _explain(study: Study, rows: "list[_Row]", progress: Progress) -> tuple[Suspect, ...]:
    return list_suspects(
        study.probability,
        np.array([row.features for row in rows]),
        np.array([row.score for row in rows]),
        study.background,
        study.vectorizer.sources_,
        [row.cells for row in rows],
        [row.number for row in rows],
        [row.id for row in rows],
        [column.column for column in study.results.importance[:SHOWN]],
        progress,
        study.model.row_cost(),
    )


class _Row(NamedTuple):
    """A row on the list, and how much it is wanted there."""

    wanted: float
    score: float
    number: int
    id: str | None
    features: NDArray[np.float32]
    cells: dict[str, str]


class _Lists:
    """The rows with the highest scores so far, by two readings of the labels.

    Only after the last part is it known which one holds: if any row has the exact label of
    training, synonyms of yes are other labels.
    """

    def __init__(self, top: int, id: str | None) -> None:
        self.top, self.id = top, id
        self.has_same = False
        self.words: set[str] = set()
        self._same: list[_Row] = []
        self._alike: list[_Row] = []

    @property
    def rows(self) -> list[_Row]:
        """The rows of the list."""
        return self._same if self.has_same else self._alike

    def add(self, part: Scored, marks: Marks, wanted: NDArray[np.float64]) -> None:
        """Add the unlabelled rows of a part that belong on the list: those most wanted."""
        self.has_same |= bool(marks.is_same.any())
        self.words |= marks.words
        self._same = self._merged(self._same, part, ~marks.is_same, wanted)
        if not self.has_same:
            self._alike = self._merged(self._alike, part, ~marks.is_alike, wanted)

    def _merged(
        self,
        rows: list[_Row],
        part: Scored,
        is_unlabeled: NDArray[np.bool_],
        wanted: NDArray[np.float64],
    ) -> list[_Row]:
        least = rows[-1].wanted if len(rows) == self.top else -np.inf
        places = most_likely(wanted, is_unlabeled & (wanted > least), self.top)
        if not len(places):
            return rows
        data = part.table.data
        cells = texts_of(data, places, part.table.names)
        ids: list[str | None] = [None if self.id is None else ""] * len(places)
        if self.id in part.table.names:
            ids[:] = ids_of(data.column(self.id), places)
        more = []
        for at, id, texts in zip(places, ids, cells, strict=True):
            order = float(wanted[at]), float(part.score[at]), part.first + int(at)
            # A copy, or all of the part would stay in memory.
            more.append(_Row(*order, id, part.X[at].copy(), texts))
        # Stable: of equal scores the first row in the table is first.
        return sorted([*rows, *more], key=lambda row: -row.wanted)[: self.top]
