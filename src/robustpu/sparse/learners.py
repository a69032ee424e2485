"""Learners of scikit-learn's kind on sparse rows: which take them, and how they scale columns."""

from typing import Any

from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from robustpu.sparse.scaler import SparseScaler


def for_sparse(learner: Any) -> Any:
    """The learner, with a SparseScaler in the place of a StandardScaler that would centre.

    Parameters
    ----------
    learner
        It stays as it is.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> learner = for_sparse(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> [type(step).__name__ for _, step in learner.steps]
    ['SparseScaler', 'LogisticRegression']
    """
    parts = learner.get_params() if hasattr(learner, "get_params") else {}
    centring = [
        name for name, part in parts.items() if isinstance(part, StandardScaler) and part.with_mean
    ]
    if not centring:
        return learner
    return clone(learner).set_params(**{name: SparseScaler() for name in centring})


def takes_sparse(learner: Any) -> bool:
    """Whether a learner takes sparse rows, as its tags say; without tags, it is tried.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> takes_sparse(DecisionTreeClassifier()), takes_sparse(HistGradientBoostingClassifier())
    (True, False)
    """
    try:
        return bool(get_tags(for_sparse(learner)).input_tags.sparse)
    except (AttributeError, TypeError):
        return True


def picks_columns(learner: Any) -> bool:
    """Whether a learner asks for columns of a DataFrame by their names."""
    parts = learner.get_params().values() if hasattr(learner, "get_params") else ()
    return any(type(part).__name__ == "ColumnTransformer" for part in (learner, *parts))
