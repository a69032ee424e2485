"""What learners say of themselves: which columns matter, and what each adds to a row's score."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _get_feature_names

from robustpu.sparse.projection import MOST_NUMBERS

Floats: TypeAlias = NDArray[np.float64]


class Explanation(NamedTuple):
    """What each column adds to the score of each row; contributions and base add up to it.

    ``names`` of the columns, (d,); ``contribution``, (n, d); ``base``, what a row has without a
    look at its columns, (n,); ``unit`` of these, ``"log-odds"`` or ``"probability"``.
    """

    names: NDArray[Any]
    contribution: Floats
    base: Floats
    unit: str


def explanation(learners: Sequence[Any], X: Any) -> Explanation:
    """Mean over learners of what each column adds to the score of each row.

    A linear model adds coefficient x value. On its way to a leaf a row of a tree goes through
    nodes, each with a mean of its training rows: a step adds its change to the column that is
    asked there. LightGBM and XGBoost are asked for theirs.

    Parameters
    ----------
    learners
        Fitted, all of one kind, or pipelines that end in one; the columns are then those that the
        last step sees.
    X
        Rows.

    Raises
    ------
    AttributeError
        The learners are of another kind.
    ValueError
        Sparse rows are too many to be explained at once.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    >>> learner = LogisticRegression().fit(X, y)
    >>> found = explanation([learner], X)
    >>> np.allclose(found.contribution.sum(1) + found.base, learner.decision_function(X))
    True
    """
    total: Any = 0.0
    for learner in learners:
        last, rows = _last_step(learner, X)
        unit, explain = _way_of(last)
        total = total + np.asarray(explain(last, rows), dtype=np.float64)
    mean: Floats = total / len(learners)
    names = _names(learners[0], X, mean.shape[1] - 1)
    return Explanation(names, mean[:, :-1], mean[:, -1], unit)


def importances(learners: Sequence[Any], n_features: int) -> Floats:
    """Mean over learners of their ``feature_importances_``, each scaled to the sum 1, (d,).

    Parameters
    ----------
    learners
        Fitted, all of one kind.
    n_features
        Number of the columns that were given.

    Raises
    ------
    AttributeError
        They have none, or those of other columns than were given.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> tree = DecisionTreeClassifier().fit([[0, 5], [0, 6], [1, 5], [1, 6]], [0, 0, 1, 1])
    >>> importances([tree], 2).tolist()
    [1.0, 0.0]
    """
    last = [learner[-1] if isinstance(learner, Pipeline) else learner for learner in learners]
    if not all(hasattr(learner, "feature_importances_") for learner in last):
        raise AttributeError(
            f"{type(last[0]).__name__} has no feature_importances_. Ask explain(X), or "
            "sklearn.inspection.permutation_importance, which takes any model and true labels."
        )
    found = [np.asarray(learner.feature_importances_, dtype=np.float64) for learner in last]
    if len(found[0]) != n_features:
        raise AttributeError(
            f"the pipeline makes {len(found[0])} columns of the {n_features} that were given: its "
            "importances are those of estimators_[i][-1], one learner at a time."
        )
    # A learner without a single split has zeros.
    mean: Floats = np.mean([values / (values.sum() or 1.0) for values in found], axis=0)
    return mean


def path_contributions(
    feature: NDArray[Any], left: NDArray[Any], right: NDArray[Any], value: Floats, width: int
) -> Floats:
    """What the columns add on the way to each node of a tree, and last its root's value.

    Parameters
    ----------
    feature, left, right
        Of each node: the column that it asks, and its children, (nodes,). Children come after
        their parents; leaves have none, which is a number below 1.
    value
        Of each node, (nodes,).
    width
        Number of columns.

    Returns
    -------
    contribution
        (nodes, width + 1); the sum of a row is the value of the node.

    Examples
    --------
    >>> given = np.array([1, -1, -1]), np.array([1, -1, -1]), np.array([2, -1, -1])
    >>> path_contributions(*given, np.array([0.4, 0.1, 0.6]), 2).round(6).tolist()
    [[0.0, 0.0, 0.4], [0.0, -0.3, 0.4], [0.0, 0.2, 0.4]]
    """
    answer = np.zeros((len(value), width + 1))
    answer[0, -1] = value[0]
    for node in np.flatnonzero(left > 0):
        for child in (left[node], right[node]):
            answer[child] = answer[node]
            answer[child, feature[node]] += value[child] - value[node]
    return answer


def _last_step(learner: Any, X: Any) -> tuple[Any, Any]:
    """Give the last step of a pipeline, and the rows as it sees them."""
    if not isinstance(learner, Pipeline):
        return learner, X
    return learner[-1], learner[:-1].transform(X) if len(learner) > 1 else X


def _names(learner: Any, X: Any, count: int) -> NDArray[Any]:
    names = _get_feature_names(X)
    if isinstance(learner, Pipeline) and len(learner) > 1:
        try:
            names = learner[:-1].get_feature_names_out()
        except (AttributeError, ValueError):
            # A step that knows no names: numbers then.
            names = None
    if names is None or len(names) != count:
        names = [f"x{place}" for place in range(count)]
    return np.asarray(names, dtype=object)


def _way_of(learner: Any) -> tuple[str, Callable[[Any, Any], Any]]:
    for attribute, way in WAYS.items():
        if hasattr(learner, attribute):
            return way
    raise AttributeError(
        f"{type(learner).__name__} has no contributions of its own to explain rows by. Linear "
        "models, trees, forests, HistGradientBoostingClassifier, LightGBM and XGBoost have; for "
        "others take the package shap."
    )


def _linear(learner: Any, X: Any) -> Floats:
    if issparse(X) and X.shape[0] * X.shape[1] > MOST_NUMBERS:
        raise ValueError(
            f"an explanation has a number for each row and column, {X.shape[0]:,} x "
            f"{X.shape[1]:,} here: give at most {max(1, MOST_NUMBERS // X.shape[1]):,} rows."
        )
    rows = X.toarray() if issparse(X) else np.asarray(X, dtype=np.float64)
    base = np.full(len(rows), float(np.ravel(learner.intercept_)[0]))
    return np.column_stack([rows * np.ravel(learner.coef_), base])


def _tree(learner: Any, X: Any) -> Floats:
    tree = learner.tree_
    share = tree.value[:, 0, 1] / tree.value[:, 0].sum(1)
    given = tree.feature, tree.children_left, tree.children_right, share, tree.n_features
    answer: Floats = path_contributions(*given)[learner.apply(X)]
    return answer


def _forest(learner: Any, X: Any) -> Floats:
    # The trees of a forest were fitted without names of columns.
    rows = learner._validate_X_predict(X)
    total: Any = sum(_tree(tree, rows) for tree in learner.estimators_)
    answer: Floats = total / len(learner.estimators_)
    return answer


def _hist_boosting(learner: Any, X: Any) -> Floats:
    rows = learner._preprocess_X(X, reset=False)
    width = rows.shape[1]
    categories = learner._bin_mapper.make_known_categories_bitsets()
    answer = np.zeros((len(rows), width + 1))
    answer[:, -1] = np.ravel(learner._baseline_prediction)[0]
    for (predictor,) in learner._predictors:
        nodes = predictor.nodes
        value = nodes["value"].copy()
        left, right = (np.where(nodes["is_leaf"], 0, nodes[side]) for side in ("left", "right"))
        # Inner nodes have no value of use: the mean of their rows is that of their leaves.
        for node in np.flatnonzero(left > 0)[::-1]:
            pair = [left[node], right[node]]
            value[node] = np.average(value[pair], weights=nodes["count"][pair])
        # The same tree, with numbers of leaves as values, tells the leaf of each row.
        numbered = type(predictor)(
            nodes.copy(), predictor.binned_left_cat_bitsets, predictor.raw_left_cat_bitsets
        )
        numbered.nodes["value"] = np.arange(len(nodes))
        leaf = numbered.predict(rows, *categories, 1).astype(np.intp)
        paths = path_contributions(nodes["feature_idx"], left, right, value, width)
        answer += paths[leaf]
    # Inside, columns of categories come first.
    is_category = learner.is_categorical_
    if is_category is not None:
        order = np.argsort(~is_category, kind="stable")
        answer[:, order] = answer[:, :-1].copy()
    return answer


def _lightgbm(learner: Any, X: Any) -> Any:
    return learner.predict(X, pred_contrib=True)


def _xgboost(learner: Any, X: Any) -> Any:
    matrix = import_module("xgboost").DMatrix(X, missing=learner.missing, enable_categorical=True)
    return learner.get_booster().predict(matrix, pred_contribs=True)


# What tells a kind of learner -> the unit of its scores, and how it explains rows.
WAYS: dict[str, tuple[str, Callable[[Any, Any], Any]]] = {
    "booster_": ("log-odds", _lightgbm),
    "get_booster": ("log-odds", _xgboost),
    "_predictors": ("log-odds", _hist_boosting),
    "coef_": ("log-odds", _linear),
    "tree_": ("probability", _tree),
    "_validate_X_predict": ("probability", _forest),
}
