"""Learners of scikit-learn's kind on sparse rows: which take them, and how they scale columns."""

import warnings
from typing import Any, Final

import numpy as np
import sklearn
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from robustpu.sparse.scaler import SparseScaler

# Learners of scikit-learn 1.6 have the tag for sparse rows, and none says that it takes them.
IS_TAGGED: Final = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 7)


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
    """Whether a learner takes sparse rows, as its tags say; without tags, it is taken to.

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> takes_sparse(DecisionTreeClassifier()), takes_sparse(HistGradientBoostingClassifier())
    (True, False)
    """
    learner = for_sparse(learner)
    try:
        says = bool(get_tags(learner).input_tags.sparse)
    except (AttributeError, TypeError):
        return True
    return says or (not IS_TAGGED and _can_fit(learner))


def _can_fit(learner: Any) -> bool:
    """Fit to a few sparse rows.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> _can_fit(BernoulliNB()), _can_fit(GaussianNB())
    (True, False)
    """
    place = np.arange(20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            clone(learner).fit(csr_matrix(np.c_[place % 3, place % 5].astype(float)), place % 2)
        # It may be anybody's.
        except Exception:
            return False
    return True


def picks_columns(learner: Any) -> bool:
    """Whether a learner asks for columns of a DataFrame by their names."""
    parts = learner.get_params().values() if hasattr(learner, "get_params") else ()
    return any(type(part).__name__ == "ColumnTransformer" for part in (learner, *parts))
