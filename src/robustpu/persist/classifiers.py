"""What a fit leaves in the classifiers of this library.

A method that gets a new fitted attribute gets a line here.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

from sklearn.base import BaseEstimator

from robustpu.base import BasePUClassifier
from robustpu.methods import METHODS
from robustpu.persist.expect import (
    Expect,
    Sizes,
    array,
    labels,
    names,
    number,
    one_of,
    pair,
    places,
    records,
    row_shape,
    share,
    size,
)
from robustpu.persist.kind import Kind
from robustpu.persist.learners import either, learner, learners, nothing
from robustpu.trees import Forest

# What is divided by, or what it leaves of 1, is not 0.
TINY: Final = 1e-300
SHARE: Final = number(TINY, math.nextafter(1, 0))
# Parameters that cost time or threads before anything else can refuse them.
LARGEST: Final = {"max_rounds": 100_000, "n_jobs": 10_000}


def methods(value: Any, sizes: Sizes) -> str | None:
    """Expect a list of fitted classifiers of this library for the same columns."""
    if not isinstance(value, list):
        return "it is no list of classifiers"
    for own in value:
        if not isinstance(own, BasePUClassifier) or not hasattr(own, "threshold_"):
            return "it holds what is no fitted classifier of this library"
        if getattr(own, "n_features_in_", None) != sizes["d"]:
            return "it holds one that was fitted on another number of columns"
    return None


def forest(value: Any, sizes: Sizes) -> str | None:
    """Expect a forest that asks for no other columns than there are."""
    if not isinstance(value, Forest):
        return "it is no forest"
    return None if value.feature.max() < sizes["d"] else "it asks for columns that are not there"


ANY: Final = {
    "n_features_in_": size("d"),
    "feature_names_in_": names("d"),
    "classes_": labels,
    "is_positive_": array("b", ("n",)),
    "sample_weight_": array("f", ("n",), 0),
    "probability_": share(("n",)),
    "out_of_fold_": share(("n",), finite=False),
    "prior_": SHARE,
    "population_prior_": SHARE,
    "calibration_": number(-700, 700),
    "threshold_": number(1e-9, 1 - 1e-9),
    "selection_": one_of("pu", "oracle", "none"),
    "member_scores_": array("f", ("all",), finite=False),
    "kept_": places("m", "all"),
}
NEURAL: Final = {
    **ANY,
    "input_shape_": row_shape,
    "_scale": pair(array("f", ("d",)), array("f", ("d",), TINY)),
    "history_": records,
    "turns_": array("iu", ("m",), 0),
}
ROBUST: Final = {
    **NEURAL,
    "hardness_": array("f", ("n",)),
    "weight_": array("f", ("n",)),
    "weight_path_": array("f", ("rounds", "n"), finite=False),
    "beside_": methods,
    "beside_share_": number(0, 1),
}
TWO_STEP: Final = {
    **ANY,
    "estimators_": learners,
    "n_reliable_": array("iu", ("draws",), 0),
    "shift_": number(-1e6, 1e6),
}
# What a fit leaves, of the methods that have more than the others of their family.
OWN: Final[Mapping[str, Mapping[str, Expect]]] = {
    "robust-pu": ROBUST,
    "vpu": {**NEURAL, "scale_": array("f", ("m",), TINY)},
    "puet": {**ANY, "forest_": forest, "feature_importances_": array("f", ("d",))},
    "elkan-noto": {
        **ANY,
        "estimator_": learner,
        "label_frequency_": SHARE,
        "_labelled_": share(("learnt",)),
    },
    "bagging": {
        **ANY,
        "estimators_": learners,
        "label_frequency_": SHARE,
        "_own_": share(("learnt",)),
        "_is_unseen_": array("b", ("learnt",)),
    },
    "robust-pu-meta": {
        **ANY,
        "estimators_": learners,
        "shift_": number(-1e6, 1e6),
        "label_frequency_": either(SHARE, nothing),
        "hardness_": array("f", ("n",)),
        "weight_": array("f", ("n",)),
        "history_": records,
        "turns_": array("iu", ("m",), 0),
    },
    "spy": TWO_STEP,
    "pebl": {**TWO_STEP, "n_iter_": array("iu", ("draws",), 0), "history_": records},
}


def _check(model: Any) -> str | None:
    """Let the classifier check its parameters, as it does before a fit."""
    for name, most in LARGEST.items():
        if isinstance(own := getattr(model, name, None), int) and abs(own) > most:
            return f"{name} is {own}"
    if not isinstance(getattr(model, "device", "auto"), str):
        return "device is not a text"
    if not isinstance(getattr(model, "estimator", None), BaseEstimator | None):
        return "estimator is no learner"
    try:
        model._check_parameters()
        if hasattr(model, "threshold_"):
            model._positive_place()
    except Exception as error:
        # Whatever it says to values that no constructor looks at.
        return str(error)
    return None


CLASSIFIERS: Final = {
    name: Kind(
        f"robustpu.methods.{own.file}",
        own.kind,
        OWN.get(name, NEURAL),
        frozenset({"feature_names_in_", "weight_path_"}),
        _check,
    )
    for name, own in METHODS.items()
}
