"""A study: a table, the model of it, and what was found."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.base import BasePUClassifier
from robustpu.study.seen import Seen
from robustpu.study.training import probability
from robustpu.tables import Table, Tally, Vectorizer, read_table


@dataclass(frozen=True, repr=False)
class Study:
    """A fitted model, what makes numbers of tables for it, and what was found.

    Attributes
    ----------
    model
        A fitted classifier of this library.
    vectorizer
        From tables to its features.
    findings
        All that was found, in plain values: prior, estimates, suspects, columns...
    background
        Features of a few unlabelled rows that others are compared with, (b, d).
    seen
        The rows that it was trained on, which are known again.
    """

    model: BasePUClassifier
    vectorizer: Vectorizer
    findings: dict[str, Any]
    background: NDArray[np.float32]
    seen: Seen

    def __repr__(self) -> str:
        data, prior = self.findings["data"], self.findings["prior"]
        return (
            f"<Study of {data['name']}: {self.findings['method']['title']}, "
            f"{data['n_positive']:,} labelled positives, {data['n_unlabeled']:,} unlabelled rows, "
            f"prior {prior['value']:.3f}>"
        )

    def probability(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Of being positive, from features, as the model answers, (n,).

        Parameters
        ----------
        X
            What the vectorizer makes of a table.
        """
        return probability(self.model, X)

    def answers(self, X: NDArray[np.float32]) -> tuple[NDArray[np.float64], int]:
        """Probabilities, (n,), and how many rows are known; see :mod:`robustpu.study.seen`.

        Parameters
        ----------
        X
            What the vectorizer makes of a table.
        """
        return self.seen.corrected(X, self.probability(X))

    def score(
        self, data: Any, *, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float64]:
        """Probabilities of being positive of the rows of a table, (n,).

        Rows that the model was trained on have the answers of ``model.probability_``, in which
        trees answer only for rows that they have not seen.

        Parameters
        ----------
        data
            A frame of pandas or polars, a path, or whatever
            :func:`robustpu.tables.read_table` reads.
        fill_columns, tally
            As in :meth:`robustpu.tables.Vectorizer.transform`.
        """
        table = data if isinstance(data, Table) else read_table(data)
        return self.answers(self.features(table, fill_columns, tally))[0]

    def features(
        self, table: Table, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float32]:
        """Features of a table, (n, d); columns that had a role in training are left alone.

        Parameters
        ----------
        table
            Some rows.
        fill_columns, tally
            As in :meth:`robustpu.tables.Vectorizer.transform`.
        """
        data = self.findings["data"]
        roles = {data[name] for name in ("label", "id", "time")} | set(data["dropped"])
        answer: NDArray[np.float32] = self.vectorizer.transform(
            table.without(roles - {None}), fill_columns=fill_columns, tally=tally
        )
        return answer

    def rank(self, data: Any, top: int = 200, **reading: Any) -> list[dict[str, Any]]:
        """The rows of a table that are most likely positive, and what drove them.

        Parameters
        ----------
        data
            As for :meth:`score`. Rows that are labelled positive in it are left out.
        top
            How many.
        reading
            See :func:`robustpu.study.ranking.rank_table`.
        """
        from robustpu.study.ranking import rank_table

        return rank_table(self, data, top, **reading)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the model folder, with ``report.html`` in it.

        Parameters
        ----------
        path
            The folder.
        overwrite
            Whether to replace a model that is there.
        """
        from robustpu.study.folder import save_study

        save_study(self, path, overwrite=overwrite)
