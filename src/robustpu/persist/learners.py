"""Learners of scikit-learn's that a folder may hold, and what a fit leaves in them.

scikit-learn has no format without pickle. These are plain numbers, so that all of them can be
checked; others are refused when they are to be saved.
"""

import math
from typing import Any, Final

import numpy as np
from sklearn.tree._tree import Tree

from robustpu.persist.expect import Expect, Sizes, array, names, number, size
from robustpu.persist.kind import Kind

TRANSFORMERS: Final = ("StandardScaler", "MinMaxScaler")


def targets(value: Any, sizes: Sizes) -> str | None:
    """Expect the classes 0 and 1."""
    known = isinstance(value, np.ndarray) and value.dtype.kind in "iuf" and value.shape == (2,)
    return None if known and value.tolist() == [0, 1] else "its classes are not 0 and 1"


def tree(value: Any, sizes: Sizes) -> str | None:
    """Expect a tree that asks for no other columns than there are."""
    known = isinstance(value, Tree) and value.n_features == sizes["d"]
    return None if known else "it is no tree for this number of columns"


def either(*expected: Expect) -> Expect:
    """Expect one of several things."""

    def check(value: Any, sizes: Sizes) -> str | None:
        wrong = [expect(value, sizes) for expect in expected]
        return None if None in wrong else wrong[0]

    return check


def nothing(value: Any, sizes: Sizes) -> str | None:
    """Expect None."""
    return None if value is None else "it is not None"


def count() -> Expect:
    """Expect a number of something."""
    return number(0, 1 << 62, whole=True)


def columns(least: float = -math.inf) -> Expect:
    """Expect a number a column, or None."""
    return either(array("f", ("d",), least), nothing)


def learner(value: Any, sizes: Sizes) -> str | None:
    """Expect a fitted classifier of scikit-learn's for targets 0 and 1."""
    known = getattr(value, "classes_", None)
    if not isinstance(known, np.ndarray) or known.tolist() != [0, 1]:
        return "it is no learner that was fitted to targets 0 and 1"
    same = getattr(value, "n_features_in_", None) == sizes["d"]
    return None if same else "it was fitted on another number of columns"


def learners(value: Any, sizes: Sizes) -> str | None:
    """Expect a list of such."""
    if not isinstance(value, list) or not value:
        return "it is not a list of learners"
    return next((wrong for own in value if (wrong := learner(own, sizes))), None)


COLUMNS: Final = {"n_features_in_": size("d"), "feature_names_in_": names("d")}
LINEAR: Final = {
    **COLUMNS,
    "classes_": targets,
    "coef_": array("f", (1, "d")),
    "intercept_": either(array("f", (1,)), number()),
    "n_iter_": either(array("iu", (1,), 0), count()),
}
TREE: Final = {
    **COLUMNS,
    "classes_": targets,
    "n_classes_": number(2, 2, whole=True),
    "n_outputs_": number(1, 1, whole=True),
    "max_features_": count(),
    "tree_": tree,
}


def same_kind(value: Any, sizes: Sizes) -> str | None:
    """Expect the unfitted tree that the trees of a forest are copies of."""
    known = type(value).__name__ in ("DecisionTreeClassifier", "ExtraTreeClassifier")
    return None if known else "it is no tree"


FOREST: Final = {
    **COLUMNS,
    "classes_": targets,
    "n_classes_": number(2, 2, whole=True),
    "n_outputs_": number(1, 1, whole=True),
    "estimator_": same_kind,
    "estimators_": learners,
    "_n_samples": count(),
    "_n_samples_bootstrap": either(count(), nothing),
    "_sample_weight": either(array("f", ("rows",), 0), nothing),
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
    widths = {getattr(own, "n_features_in_", None) for _, own in steps}
    if len(widths) > 1 or pipeline.memory is not None:
        return "its steps do not fit together"
    return None


def _kind(module: str, name: str, fitted: dict[str, Expect], *optional: str) -> Kind:
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
    "Pipeline": Kind("sklearn.pipeline", "Pipeline", check=_check_steps),
}
