"""A study: the model of a table and its results."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.results import Results, Suspect
from robustpu.tables import Table, Tally, Vectorizer, read_table
from robustpu.workflow.training import probability
from robustpu.workflow.training_rows import TrainingRows


@dataclass(frozen=True, repr=False)
class Study:
    """A fitted model, the vectorizer that reads tables for it, and the results.

    Attributes
    ----------
    model
        A fitted classifier of this library.
    vectorizer
        From tables to its features.
    results
        Prior, metrics, suspects, columns, and all else that is on the page.
    background
        Features of a few unlabelled rows that others are compared with, (b, d).
    training_rows
        Fingerprints and scores of the rows that it was trained on.
    """

    model: BasePUClassifier
    vectorizer: Vectorizer
    results: Results
    background: NDArray[np.float32]
    training_rows: TrainingRows

    def __repr__(self) -> str:
        data, prior = self.results.data, self.results.prior
        return (
            f"<Study of {data.name}: {self.results.method.title}, {data.n_positive:,} labelled "
            f"positives, {data.n_unlabeled:,} unlabelled rows, prior {prior.value:.3f}>"
        )

    def probability(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Probability of being positive by the model, from features, (n,).

        Parameters
        ----------
        X
            Features, as :meth:`features` returns them.
        """
        return probability(self.model, X)

    def score_features(self, X: NDArray[np.float32]) -> tuple[NDArray[np.float64], int]:
        """Scores, (n,), with those of the fit for training rows, and the number of such rows.

        Parameters
        ----------
        X
            Features, as :meth:`features` returns them.
        """
        return self.training_rows.score(X, self.probability)

    def score(
        self, data: Any, *, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float64]:
        """Probabilities of being positive of the rows of a table, (n,).

        Training rows have the scores of ``model.probability_``, in which trees score only rows that
        they were not trained on.

        Parameters
        ----------
        data
            A frame of pandas or polars, a path, or whatever
            :func:`robustpu.tables.read_table` reads.
        fill_columns, tally
            As in :meth:`robustpu.tables.Vectorizer.transform`.
        """
        table = data if isinstance(data, Table) else read_table(data)
        return self.score_features(self.features(table, fill_columns, tally))[0]

    def features(
        self, table: Table, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float32]:
        """Features of a table, (n, d); columns that had a role in training are ignored.

        Parameters
        ----------
        table
            Some rows.
        fill_columns, tally
            As in :meth:`robustpu.tables.Vectorizer.transform`.
        """
        data = self.results.data
        named = (data.label, data.id, data.time, data.propensity, *data.dropped)
        roles = {name for name in named if name}
        features: NDArray[np.float32] = self.vectorizer.encode(
            table.without(roles), fill_columns=fill_columns, tally=tally
        )
        return features

    def rank(self, data: Any, top: int = 200, **reading: Any) -> list[Suspect]:
        """The unlabelled rows with the highest scores, and the columns that drive them.

        Parameters
        ----------
        data
            As for :meth:`score`. Rows with the label of positives are left out.
        top
            Number of rows.
        reading
            See :func:`robustpu.workflow.ranking.rank_table`.
        """
        from robustpu.workflow.ranking import rank_table

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
        from robustpu.workflow.folder import save_study

        save_study(self, path, overwrite=overwrite)
