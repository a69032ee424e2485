"""What a fit is given, checked, and what it returns."""

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing

from robustpu.propensity import Counted, check, count_hidden, inverse_weight
from robustpu.scenario import population_prior

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]
Index: TypeAlias = NDArray[np.intp]

NONE: Index = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True)
class TrainingData:
    """Rows with what is known of them.

    Parameters
    ----------
    X
        Rows (n, ...), in the form that the estimator takes.
    is_positive
        Which rows are labelled positives, (n,).
    weight
        Sample weights, (n,): ones if none were given.
    X_eval, truth
        Rows of an ``eval_set``, and which of them are positive; None without one.
    held_out
        Rows that the estimator does not train on.
    propensity
        Of labelled rows, NaN for others, (n,); ``weight`` has their inverse. None without.
    counted
        Share of positives among the unlabelled rows of single-set data, by propensities.
    outcome
        Of rows as they were before a check: 1 positive, 0 negative, NaN not known, (n,); or None.
    is_negative
        Of rows to train on: which are known negatives, (n,); or None.
    """

    X: Any
    is_positive: Mask
    weight: Floats
    X_eval: Any = None
    truth: Mask | None = None
    held_out: Index = field(default_factory=lambda: NONE)
    propensity: Floats | None = None
    counted: Counted | None = None
    outcome: Floats | None = None
    is_negative: Mask | None = None

    def __len__(self) -> int:
        return len(self.is_positive)

    @property
    def kept(self) -> Index:
        """Rows to train on, in order."""
        return np.setdiff1d(np.arange(len(self)), self.held_out)

    def training(self) -> "TrainingData":
        """Give the rows to train on."""
        return self.take(self.kept) if len(self.held_out) else self

    def with_propensity(self, given: ArrayLike | None, scenario: str) -> "TrainingData":
        """Weigh labelled rows by their inverse propensity; the sum of their weights stays.

        Parameters
        ----------
        given
            Propensities, not checked, or None.
        scenario
            ``"case-control"`` or ``"single-set"``.
        """
        if given is None:
            return self
        propensity = check(given, self.is_positive)
        known = self.weight, propensity, self.is_positive
        counted = count_hidden(*known) if scenario == "single-set" else None
        weight = inverse_weight(*known)
        return replace(self, weight=weight, propensity=propensity, counted=counted)

    def weighted_as(self, before: "TrainingData") -> "TrainingData":
        """Take over propensities of these rows as they were before a check, and their weights."""
        if before.propensity is None:
            return self
        weight = np.where(before.is_positive, before.weight, self.weight)
        return replace(self, weight=weight, propensity=before.propensity, counted=before.counted)

    def take(self, rows: Index) -> "TrainingData":
        """Give some rows, without the ``eval_set``."""
        return TrainingData(
            rows_of(self.X, rows),
            self.is_positive[rows],
            self.weight[rows],
            propensity=None if self.propensity is None else self.propensity[rows],
            outcome=None if self.outcome is None else self.outcome[rows],
            is_negative=None if self.is_negative is None else self.is_negative[rows],
        )

    def with_weight(self) -> "TrainingData":
        """Give the rows with non-zero sample weight."""
        rows = np.flatnonzero(self.weight)
        return self if len(rows) == len(self) else self.take(rows)

    def masses(self) -> tuple[float, float]:
        """Sums of the sample weights of the labelled and of the unlabelled rows."""
        positive = float(self.weight[self.is_positive].sum())
        return positive, float(self.weight[~self.is_positive].sum())

    def population_prior(self, prior: float, scenario: str) -> float:
        """Share of positives in the population, from that among the unlabelled rows."""
        return population_prior(prior, *self.masses(), scenario)


class Scores(NamedTuple):
    """Probabilities of being positive of the training rows, (n,).

    ``out_of_fold`` has those by models that did not train on the row, NaN where all did;
    ``on_eval`` those of the rows of an ``eval_set``, if the estimator scores it as a whole.
    """

    in_sample: Floats
    out_of_fold: Floats
    on_eval: Floats | None = None


def kept_masses(weight: Floats, is_positive: Mask, rows: Index) -> Floats:
    """Weights of some rows, whose sums over P and over U are those of all.

    Examples
    --------
    >>> kept_masses(np.ones(4), np.array([True, False, False, False]), np.array([0, 1])).tolist()
    [1.0, 3.0]
    """
    chosen, labelled = weight[rows], is_positive[rows]
    unlabeled, positive = (
        weight[is_positive == side].sum() / chosen[labelled == side].sum() for side in (False, True)
    )
    scaled: Floats = chosen * np.where(labelled, positive, unlabeled)
    return scaled


def rows_of(X: Any, index: Index) -> Any:
    """Take rows of an array, a DataFrame, a sparse matrix or a list, by their numbers.

    Examples
    --------
    >>> rows_of([[1], [2], [3]], np.array([2, 0]))
    [[3], [1]]
    """
    return _safe_indexing(X, index)
