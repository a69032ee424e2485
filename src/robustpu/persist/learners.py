"""Learners of scikit-learn that a model folder may hold, and their fitted attributes.

scikit-learn has no format without pickle. The attributes of these are plain numbers, which can be
checked; other learners cannot be saved.
"""

import math
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.tree._tree import Tree

from robustpu.persist.expect import names, places
from robustpu.persist.kind import Kind
from robustpu.validation.arrays import array, size
from robustpu.validation.schema import Place, Reader, either, list_of, number, optional

TRANSFORMERS: Final = ("StandardScaler", "MinMaxScaler", "SparseScaler")


def targets(value: Any, place: Place) -> NDArray[Any]:
    """Read the classes 0 and 1."""
    is_known = isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.shape == (2,)
    if is_known and value.tolist() == [0, 1]:
        return cast(NDArray[Any], value)
    return place.expect("the classes 0 and 1", value)


def tree(value: Any, place: Place) -> Any:
    """Read a tree for the given number of columns."""
    if isinstance(value, Tree) and value.n_features == place.sizes["d"]:
        return value
    return place.expect("a tree for this number of columns", value)


def columns(least: float = -math.inf) -> Reader:
    """Read a number a column, or None."""
    return optional(array("f", ("d",), least))


def learner(value: Any, place: Place) -> Any:
    """Read a fitted classifier of scikit-learn with targets 0 and 1."""
    classes = getattr(value, "classes_", None)
    if not isinstance(classes, np.ndarray) or classes.tolist() != [0, 1]:
        place.expect("a learner that was fitted to targets 0 and 1", value)
    if getattr(value, "n_features_in_", None) != place.sizes["d"]:
        place.refuse("was fitted on another number of columns")
    return value


learners: Final = list_of(learner, least=1)
COUNT: Final = number(0, 1 << 62, whole=True)
COLUMNS: Final = {"n_features_in_": size("d"), "feature_names_in_": names("d")}
LINEAR: Final = {
    **COLUMNS,
    "classes_": targets,
    "coef_": array("f", (1, "d")),
    "intercept_": either(array("f", (1,)), number()),
    "n_iter_": either(array("iu", (1,), 0), COUNT),
}
TREE: Final = {
    **COLUMNS,
    "classes_": targets,
    "n_classes_": number(2, 2, whole=True),
    "n_outputs_": number(1, 1, whole=True),
    "max_features_": COUNT,
    "tree_": tree,
}


def tree_template(value: Any, place: Place) -> Any:
    """Read the unfitted tree that the trees of a forest are copies of."""
    is_known = type(value).__name__ in ("DecisionTreeClassifier", "ExtraTreeClassifier")
    return value if is_known else place.expect("a tree", value)


FOREST: Final = {
    **COLUMNS,
    "classes_": targets,
    "n_classes_": number(2, 2, whole=True),
    "n_outputs_": number(1, 1, whole=True),
    "estimator_": tree_template,
    "estimators_": learners,
    "_n_samples": COUNT,
    "_n_samples_bootstrap": optional(COUNT),
    "_sample_weight": optional(array("f", ("rows",), 0)),
}


def _validate(learner: Any) -> str | None:
    """Let the learner check its parameters, as it does before a fit."""
    try:
        learner._validate_params()
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def _check_steps(pipeline: Any) -> str | None:
    """Refuse pipelines of anything but scalers and a classifier."""
    steps = pipeline.steps
    if not isinstance(steps, list) or not steps:
        return "its steps are not a list"
    for place, step in enumerate(steps):
        if not isinstance(step, tuple) or len(step) != 2 or not isinstance(step[0], str):
            return "a step is not a pair of a name and a learner"
        is_scaler = type(step[1]).__name__ in TRANSFORMERS
        is_last = place == len(steps) - 1
        if is_scaler == is_last or not (is_scaler or type(step[1]).__name__ in CLASSIFIERS):
            return f"the step {step[0][:60]!r} is not what it should be"
    if len({name for name, _ in steps}) < len(steps):
        return "two steps have one name"
    widths = {getattr(learner, "n_features_in_", None) for _, learner in steps}
    if len(widths) > 1 or pipeline.memory is not None:
        return "its steps do not fit together"
    return None


def _check_projection(projection: Any) -> str | None:
    """Whether the columns that it keeps are among those that it has."""
    if hasattr(projection, "kept_") and (projection.kept_ >= len(projection.columns_)).any():
        return "it keeps columns that it does not have"
    return None


def _kind(module: str, name: str, fitted: dict[str, Reader], *optional: str) -> Kind:
    return Kind(
        f"sklearn.{module}", name, fitted, frozenset({"feature_names_in_", *optional}), _validate
    )


CLASSIFIERS: Final = {
    "LogisticRegression": _kind("linear_model", "LogisticRegression", LINEAR),
    "LinearSVC": _kind("svm", "LinearSVC", LINEAR),
    "GaussianNB": _kind(
        "naive_bayes",
        "GaussianNB",
        {
            **COLUMNS,
            "classes_": targets,
            "epsilon_": number(0),
            "theta_": array("f", (2, "d")),
            "var_": array("f", (2, "d"), 0),
            "class_count_": array("f", (2,), 0),
            "class_prior_": array("f", (2,), 0),
        },
    ),
    "DecisionTreeClassifier": _kind("tree", "DecisionTreeClassifier", TREE),
    "ExtraTreeClassifier": _kind("tree", "ExtraTreeClassifier", TREE),
    "RandomForestClassifier": _kind("ensemble", "RandomForestClassifier", FOREST, "_sample_weight"),
    "ExtraTreesClassifier": _kind("ensemble", "ExtraTreesClassifier", FOREST, "_sample_weight"),
}
LEARNERS: Final = {
    **CLASSIFIERS,
    "StandardScaler": _kind(
        "preprocessing",
        "StandardScaler",
        {
            **COLUMNS,
            "n_samples_seen_": either(number(0), array("iuf", ("d",), 0)),
            "mean_": columns(),
            "var_": columns(least=0),
            "scale_": columns(least=1e-300),
        },
    ),
    "MinMaxScaler": _kind(
        "preprocessing",
        "MinMaxScaler",
        {
            **COLUMNS,
            "n_samples_seen_": number(0),
            **{name: columns() for name in ("scale_", "min_", "data_min_", "data_max_")},
            "data_range_": columns(least=0),
        },
    ),
    "SparseScaler": Kind(
        "robustpu.sparse.scaler",
        "SparseScaler",
        {
            **COLUMNS,
            "mean_": array("f", ("d",)),
            "scale_": array("f", ("d",), 1e-300),
            "is_full_": array("b", ("d",)),
        },
    ),
    "RowProjection": Kind(
        "robustpu.sparse.projection",
        "RowProjection",
        {
            **COLUMNS,
            "columns_": places("m", "d"),
            "mean_": array("f", ("m",)),
            "scale_": array("f", ("m",), 1e-300),
            "kept_": array("iu", ("kept",), 0),
            "components_": array("f", ("directions", "m")),
        },
        check=_check_projection,
    ),
    "Pipeline": Kind("sklearn.pipeline", "Pipeline", check=_check_steps),
}
