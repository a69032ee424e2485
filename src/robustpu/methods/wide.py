"""Very many columns in a pool: which member gets all of them, and which a few numbers."""

from dataclasses import replace
from functools import cached_property
from typing import Any

from scipy.sparse import issparse

from robustpu.base.classifier import BasePUClassifier
from robustpu.base.wrapper import WrapperPUClassifier
from robustpu.pool.forests import BagRanker
from robustpu.pool.screening import ScreenedRanker
from robustpu.sparse.learners import takes_sparse
from robustpu.sparse.projection import RowProjection
from robustpu.training import TrainingData


class Views:
    """Rows as they are, and as a projection gives them, (n, d) and (n, m).

    Parameters
    ----------
    X
        Rows, sparse or not.
    projection
        None if all members get the rows as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from robustpu.pool.forests import ForestRanker
    >>> X = np.random.default_rng(0).random((50, 30))
    >>> views = Views(X, RowProjection().fit(X))
    >>> views.of(LogisticRegression()).shape, views.of(ForestRanker()).shape
    ((50, 30), (50, 40))
    """

    def __init__(self, X: Any, projection: RowProjection | None):
        self.X, self.projection = X, projection

    @cached_property
    def few(self) -> Any:
        """The projected rows."""
        assert self.projection is not None
        return self.projection.transform(self.X)

    def of(self, learner: Any) -> Any:
        """Rows for a member."""
        if self.projection is None or takes_many(learner):
            return self.X
        return self.few

    def adapted(self, learner: Any) -> Any:
        """A member for these rows: trees of wide rows that are dense choose columns first.

        A few directions of all columns would hide a column that tells much; of words and the like,
        which are sparse, they tell more than any.
        """
        if self.projection is None or issparse(self.X) or not isinstance(learner, BagRanker):
            return learner
        return ScreenedRanker(learner)

    def data_of(self, learner: Any, data: TrainingData) -> TrainingData:
        """The same data with the rows for a member."""
        return data if self.projection is None else replace(data, X=self.of(learner))


def takes_many(learner: Any) -> bool:
    """Whether a member gets all columns: learners that take sparse rows can take many.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> from robustpu import BaggingPUClassifier, NNPUClassifier
    >>> takes_many(LinearSVC()), takes_many(BaggingPUClassifier()), takes_many(NNPUClassifier())
    (True, True, False)
    """
    if isinstance(learner, WrapperPUClassifier):
        return takes_sparse(learner.learner())
    if isinstance(learner, BasePUClassifier):
        return False
    return isinstance(learner, ScreenedRanker) or takes_sparse(learner)
