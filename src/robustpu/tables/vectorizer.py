"""From a table of mixed columns to a matrix of numbers, and the same again at prediction."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from robustpu.tables.cells import cells_of
from robustpu.tables.columns import Column, Settings, learn_column
from robustpu.tables.errors import TableError, TableWarning, depth_of_user, shown
from robustpu.tables.kinds import Kind, check_kind
from robustpu.tables.leaks import alarms, sample_rows
from robustpu.tables.names import tidied
from robustpu.tables.plan import Plan
from robustpu.tables.reading import read_table
from robustpu.tables.storage import read_state, write_state
from robustpu.tables.table import Table
from robustpu.tables.tally import Tally
from robustpu.validation.numbers import check_number
from robustpu.validation.schema import to_json

# Rows that are encoded at a time.
ROWS: Final = 32_768


class Vectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Columns of any kind -> numbers, in single precision, without gaps.

    Parameters
    ----------
    max_categories
        Most columns that a category becomes, the one for rare values counted, the one for missing
        values not.
    min_count
        Rows that a value of a category needs for a column of its own.
    text_components
        Directions of texts that are learnt; the strongest 16 are given a second time, alone.
    kinds
        What columns hold, where it is not to be found out: name -> number, boolean, category, date,
        text or drop.
    random_state
        Seed of the decomposition of texts.

    Attributes
    ----------
    columns_
        What is known of each column of the fitted table: a list of `Column`.
    feature_names_out_
        Names of the features.
    sources_
        Name of the column that each feature comes from.
    feature_names_in_, n_features_in_
        Names and number of the columns of the fitted table.

    Examples
    --------
    >>> table = {"amount": ["€ 5", "€ 6", ""], "city": ["Bern", "Bern", "Rome"]}
    >>> vectorizer = Vectorizer(min_count=1).fit(table)
    >>> vectorizer.feature_names_out_
    ['amount', 'amount is missing', 'city = Bern', 'city = Rome']
    >>> vectorizer.transform({"city": ["Rome"], "amount": ["7"]}).tolist()
    [[7.0, 0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        max_categories: int = 30,
        min_count: int = 5,
        text_components: int = 50,
        kinds: Mapping[str, Kind] | None = None,
        random_state: int = 0,
    ) -> None:
        self.max_categories = max_categories
        self.min_count = min_count
        self.text_components = text_components
        self.kinds = kinds
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike | None = None) -> "Vectorizer":
        """Learn what becomes of each column.

        Parameters
        ----------
        X
            A `Table`, or whatever `read_table` reads; without the label.
        y
            1 for labelled positives, 0 for unlabelled rows, shape (n,). Columns that give it away
            are named in ``columns_``; nothing else is learnt from it.
        """
        settings = self._settings()
        table = _as_table(X)
        kinds = self._checked_kinds(table)
        columns = [
            learn_column(name, cells_of(table.column(name)), kinds.get(name), settings)
            for name in table.names
        ]
        if not any(column.plan for column in columns):
            raise TableError(
                f"{table.source} has no column to learn from: "
                + "; ".join(f"{shown(column.name)} is {column.done}" for column in columns[:5])
                + ". Give it other columns, or say what they are with kinds (--kind)."
            )
        self._set(columns)
        if y is not None:
            self._sound_alarms(table, np.asarray(y))
        return self

    def transform(
        self, X: Any, *, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float32]:
        """The features of a table, shape (rows, features).

        Parameters
        ----------
        X
            A `Table`, or whatever `read_table` reads. Columns are found by name; others are left
            alone.
        fill_columns
            Whether columns may be missing; their values count as missing then.
        tally
            Takes what differs from the fitted table; without one, a warning says it.

        Raises
        ------
        TableError
            A column is missing, or cannot be read as what it was. Of parts of a table, as
            `iter_table` gives them, the last one tells, by the tally of all.
        """
        return self.encode(X, fill_columns=fill_columns, tally=tally)

    def encode(
        self, X: Any, *, fill_columns: bool = False, tally: Tally | None = None
    ) -> NDArray[np.float32]:
        """Do what ``transform`` does, and give an array whatever ``set_output`` says.

        Parameters
        ----------
        X, fill_columns, tally
            As there.
        """
        check_is_fitted(self)
        table = _as_table(X)
        noted = Tally() if tally is None else tally
        absent = self._absent(table, fill_columns, noted)
        out = np.empty((table.n_rows, len(self.feature_names_out_)), np.float32)
        for start in range(0, table.n_rows, ROWS):
            part = table.rows(start, ROWS)
            place = 0
            for name, plan in self._plans():
                is_absent = name in absent
                column = _nulls(part.n_rows) if is_absent else part.column(name)
                # That the column is absent says all about its cells.
                block = plan.encode(name, cells_of(column), Tally() if is_absent else noted)
                out[start : start + ROWS, place : place + block.shape[1]] = block
                place += block.shape[1]
        if not table.has_more:
            noted.check()
        if tally is None and noted.counts:
            lines = noted.lines()
            more = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
            warnings.warn(
                f"{table.source} differs from the fitted table: {'; '.join(lines[:5])}{more}",
                TableWarning,
                stacklevel=depth_of_user(),
            )
        return out

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the features, as scikit-learn asks for them."""
        check_is_fitted(self)
        return np.array(self.feature_names_out_, dtype=object)

    def state(self) -> dict[str, Any]:
        """All that was learnt: plain values, and NumPy arrays in their midst.

        Examples
        --------
        >>> vectorizer = Vectorizer().fit({"a": [1.0, 2.0]})
        >>> again = Vectorizer.from_state(vectorizer.state())
        >>> again.feature_names_out_
        ['a']
        """
        check_is_fitted(self)
        return write_state(self.get_params(deep=False), self.columns_)

    @classmethod
    def from_state(cls, state: Any) -> "Vectorizer":
        """The fitted vectorizer of a state; nothing of it is run, and all of it is checked.

        Parameters
        ----------
        state
            What `state` gave.

        Raises
        ------
        TableError
            The state is not sound.
        """
        stored = read_state(state)
        self = cls(**to_json(stored.parameters))
        self._set(list(stored.columns))
        return self

    def _settings(self) -> Settings:
        check_number("max_categories", self.max_categories, least=2, whole=True)
        check_number("min_count", self.min_count, least=1, whole=True)
        check_number("text_components", self.text_components, least=1, whole=True)
        check_number("random_state", self.random_state, least=0, whole=True)
        return Settings(
            self.max_categories, self.min_count, self.text_components, self.random_state
        )

    def _checked_kinds(self, table: Table) -> dict[str, Kind]:
        kinds = dict(self.kinds or {})
        for name, kind in kinds.items():
            table.column(name)
            check_kind(name, kind)
        return kinds

    def _set(self, columns: list[Column]) -> None:
        self.columns_ = columns
        self.feature_names_in_ = np.array([column.name for column in columns], dtype=object)
        self.n_features_in_ = len(columns)
        names = [name + ending for name, plan in self._plans() for ending in plan.endings()]
        self.feature_names_out_ = tidied(names)[0]
        self.sources_ = [name for name, plan in self._plans() for _ in plan.endings()]

    def _plans(self) -> list[tuple[str, Plan]]:
        return [(column.name, column.plan) for column in self.columns_ if column.plan is not None]

    def _absent(self, table: Table, fill_columns: bool, tally: Tally) -> set[str]:
        """Columns that are to be filled; those that are not known are noted."""
        absent = table.lacking([name for name, _ in self._plans()], fill=fill_columns)
        for name in absent:
            tally.add(name, "rows lack this column; its values count as missing", table.n_rows)
        known = set(self.feature_names_in_)
        for name in table.names:
            if name not in known:
                tally.say(name, "was not there in training, and is left alone")
        return set(absent)

    def _sound_alarms(self, table: Table, y: NDArray[Any]) -> None:
        if y.shape != (table.n_rows,):
            raise TableError(f"y has shape {y.shape}, expected ({table.n_rows},): one label a row.")
        is_positive = y == 1
        rows = sample_rows(is_positive)
        part = Table(table.data.take(rows), table.source)
        found = alarms(self.encode(part, tally=Tally()), is_positive[rows], self.sources_)
        self.columns_ = [
            replace(column, alarm=found.get(column.name, "")) for column in self.columns_
        ]


def _as_table(X: Any) -> Table:
    table = X if isinstance(X, Table) else read_table(X)
    if not table.n_rows:
        raise TableError(f"{table.source} has no rows, expected at least one.")
    return table


def _nulls(n_rows: int) -> Any:
    return pa.chunked_array([pa.nulls(n_rows)])
