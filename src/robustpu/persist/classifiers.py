"""Fitted attributes of the classifiers of this library.

A new fitted attribute of a method needs a line here.
"""

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sklearn.base import BaseEstimator

from robustpu.base.classifier import BasePUClassifier
from robustpu.labels import positive_index
from robustpu.methods import METHODS
from robustpu.methods.auto import PUClassifier
from robustpu.methods.trees import Forest
from robustpu.methods.voting import PUVotingClassifier
from robustpu.methods.wide import takes_many
from robustpu.persist.expect import labels, names, places, records, row_shape, texts, tuple_of
from robustpu.persist.kind import Kind
from robustpu.persist.learners import learner, learners
from robustpu.pretrained import read_about
from robustpu.sparse.projection import RowProjection
from robustpu.validation.arrays import array, probabilities, size
from robustpu.validation.parameters import check_parameters
from robustpu.validation.schema import Place, Reader, flag, list_of, number, one_of, optional, text

# What is divided by, or what it leaves of 1, is not 0.
TINY: Final = 1e-300
SHARE: Final = number(TINY, math.nextafter(1, 0))
# The largest number of single precision.
LARGEST_VALUE: Final = 3.5e38
# Parameters that cost time or threads before anything else can refuse them.
LARGEST: Final = {"n_jobs": 10_000, "n_members": 1_000_000}


def methods(value: Any, place: Place) -> list[BasePUClassifier]:
    """Read a list of fitted classifiers of this library for the same columns."""
    found: list[BasePUClassifier] = list_of(_method)(value, place)
    place.sizes["parts"] = len(found)
    return found


def _method(value: Any, place: Place) -> BasePUClassifier:
    if not isinstance(value, BasePUClassifier) or not hasattr(value, "threshold_"):
        place.expect("a fitted classifier of this library", value)
    if getattr(value, "n_features_in_", None) != place.sizes["d"]:
        place.refuse("was fitted on another number of columns")
    return value


def members(value: Any, place: Place) -> list[Any]:
    """Read a list of fitted learners, or classifiers of this library."""
    found: list[Any] = list_of(_member, least=1)(value, place)
    place.sizes["parts"] = len(found)
    return found


def _member(value: Any, place: Place) -> Any:
    classes = getattr(value, "classes_", None)
    scores = hasattr(value, "decision_function") or hasattr(value, "predict_proba")
    if not scores or not isinstance(classes, np.ndarray) or classes.tolist() != [0, 1]:
        place.expect("a learner that was fitted to targets 0 and 1", value)
    return value


def vectorizer(value: Any, place: Place) -> Any:
    """Read a fitted vectorizer."""
    is_known = hasattr(value, "feature_names_out_") and hasattr(value, "transform")
    return value if is_known else place.expect("a vectorizer", value)


def ensemble(value: Any, place: Place) -> Any:
    """Read a fitted ensemble of networks."""
    is_known = isinstance(value, PUVotingClassifier) and hasattr(value, "threshold_")
    return value if is_known else place.expect("a fitted ensemble", value)


def forest(value: Any, place: Place) -> Forest:
    """Read a forest that needs no other columns than there are."""
    if not isinstance(value, Forest):
        place.expect("a forest", value)
    if value.feature.max() >= place.sizes["d"]:
        place.refuse("asks for columns that are not there")
    return value


def weights_sha256(value: Any, place: Place) -> str:
    """Read the checksum of the weights that a pretrained network had, which are to be the same."""
    about = read_about()
    if value != about["sha256"]:
        place.refuse(
            f"is not that of version {about['version']} of the network's weights, which is here: "
            "fit the model again, or install the robustpu that it was fitted with"
        )
    return str(value)


def projection(value: Any, place: Place) -> Any:
    """Read a projection of the columns; from here on, d is the number that it makes of them."""
    place.sizes["d"] = _projected(value, place)
    return value


def wide(value: Any, place: Place) -> Any:
    """Read a projection that some members of a pool get."""
    if value is not None:
        _projected(value, place)
    return value


def _projected(value: Any, place: Place) -> int:
    if not isinstance(value, RowProjection) or not hasattr(value, "components_"):
        place.expect("a fitted projection", value)
    if value.n_features_in_ != place.sizes["d"]:
        place.refuse("was fitted on another number of columns")
    return value.width


SCALE: Final = optional(tuple_of(array("f", ("d",)), array("f", ("d",), TINY)))
ANY: Final = {
    "n_features_in_": size("d"),
    "feature_names_in_": names("d"),
    "is_sparse_": one_of(True),
    "projection_": projection,
    "classes_": labels,
    "is_positive_": array("b", ("n",)),
    "sample_weight_": array("f", ("n",), 0),
    "propensity_": array("f", ("n",), 0, 1, finite=False),
    "prior_error_": number(0, 1e9),
    "prior_interval_": tuple_of(number(0, 1), SHARE, SHARE, flag),
    "trained_priors_": tuple_of(SHARE, SHARE),
    "probability_": probabilities(("n",)),
    "out_of_fold_": probabilities(("n",), finite=False),
    "outcome_": probabilities(("n",), finite=False),
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
    "input_scale_": SCALE,
    "history_": records,
    "best_epoch_": array("iu", ("m",), 0),
}
ROBUST: Final = {
    **{name: reader for name, reader in NEURAL.items() if name != "best_epoch_"},
    "best_round_": array("iu", ("m",), 0),
    "hardness_": array("f", ("n",)),
    "weight_": array("f", ("n",)),
    "weight_path_": optional(array("f", ("rounds", "n"), finite=False)),
}
VOTING: Final = {
    **ANY,
    "input_shape_": row_shape,
    "input_scale_": SCALE,
    "estimators_": methods,
    "estimator_names_": texts("parts"),
    "weights_": probabilities(("parts",)),
}
TWO_STEP: Final = {
    **ANY,
    "estimators_": learners,
    "n_reliable_": array("iu", ("draws",), 0),
    "shift_": number(-1e6, 1e6),
}
POOL: Final = {
    **ANY,
    "input_shape_": row_shape,
    "vectorizer_": optional(vectorizer),
    "wide_": wide,
    "fill_": optional(array("f", ("d",))),
    "ensemble_": optional(ensemble),
    "members_": members,
    "member_names_": texts("parts"),
    "weights_": probabilities(("parts",)),
    "member_scale_": array("f", ("parts", 2)),
    "member_auc_": probabilities(("parts",), finite=False),
    "member_out_of_fold_": array("f", ("n", "parts"), finite=False),
    "score_scale_": number(TINY),
    "link_": array("f", (2,)),
}
# What only the pool of a table has.
OF_TABLES: Final = frozenset(
    {"member_scale_", "member_auc_", "member_out_of_fold_", "score_scale_", "link_"}
)
# Fitted attributes of methods that have more than the others of their family.
FITTED: Final[Mapping[str, Mapping[str, Reader]]] = {
    "auto": POOL,
    "voting": VOTING,
    "robust-pu": ROBUST,
    "vpu": {**NEURAL, "scale_": array("f", ("m",), TINY)},
    "puet": {**ANY, "forest_": forest, "feature_importances_": array("f", ("d",))},
    "pretrained": {
        **ANY,
        "context_": array("f", ("k", "d"), -LARGEST_VALUE, LARGEST_VALUE, finite=False),
        "context_rows_": places("k", "n"),
        "is_category_": array("b", ("d",)),
        "given_prior_": optional(SHARE),
        "seed_": number(0, 2**31, whole=True),
        "n_members_": number(1, 100, whole=True),
        "weights_version_": text(100),
        "weights_sha256_": weights_sha256,
    },
    "elkan-noto": {
        **ANY,
        "estimator_": learner,
        "label_frequency_": SHARE,
        "_labelled_": probabilities(("learnt",)),
    },
    "bagging": {
        **ANY,
        "estimators_": learners,
        "label_frequency_": SHARE,
        "_out_of_bag_": probabilities(("learnt",)),
        "_is_out_of_bag_": array("b", ("learnt",)),
    },
    "robust-pu-meta": {
        **ANY,
        "estimators_": learners,
        "shift_": number(-1e6, 1e6),
        "label_frequency_": optional(SHARE),
        "hardness_": array("f", ("n",)),
        "weight_": array("f", ("n",)),
        "history_": records,
        "best_round_": array("iu", ("m",), 0),
    },
    "spy": TWO_STEP,
    "pebl": {**TWO_STEP, "n_iter_": array("iu", ("draws",), 0), "history_": records},
}


def _check(model: Any) -> str | None:
    """Let the classifier check its parameters, as it does before a fit."""
    for name, most in LARGEST.items():
        if isinstance(value := getattr(model, name, None), int) and abs(value) > most:
            return f"{name} is {value}"
    if not isinstance(getattr(model, "device", "auto"), str):
        return "device is not a text"
    if not isinstance(getattr(model, "estimator", None), BaseEstimator | None):
        return "estimator is no learner"
    if model.prior_interval_ is not None and model.prior_interval_[0] > model.prior_interval_[1]:
        return f"prior_interval_ begins at {model.prior_interval_[0]}, beyond its end"
    if isinstance(model, PUClassifier) and hasattr(model, "weights_"):
        if (wrong := _check_pool(model)) is not None:
            return wrong
    elif hasattr(model, "weights_"):
        parts = model.estimators_
        is_sound = parts and abs(model.weights_.sum() - 1) < 1e-6
        if not is_sound or len(set(model.estimator_names_)) < len(parts):
            return "its classifiers need different names, and weights of sum 1"
        if any(part.pos_label is not None for part in parts):
            return "a classifier of the ensemble has labels of its own"
    try:
        check_parameters(model)
        if hasattr(model, "threshold_"):
            positive_index(model.classes_, model.pos_label, model.neg_label)
    except Exception as error:
        # Whatever it says to values that no constructor looks at.
        return str(error)
    return None


def _check_pool(model: PUClassifier) -> str | None:
    """Whether a pool can score rows: an ensemble of images, or members of a table."""
    is_table = model.ensemble_ is None
    if any(hasattr(model, name) != is_table for name in OF_TABLES):
        return "it is neither a pool nor an ensemble"
    is_sound = abs(model.weights_.sum() - 1) < 1e-6 and model.members_
    if not is_sound or len(set(model.member_names_)) < len(model.member_names_):
        return "its members need different names, and weights of sum 1"
    if not is_table:
        return None
    width = model.n_features_in_
    if model.vectorizer_ is not None:
        width = len(model.vectorizer_.feature_names_out_)
    found = getattr(model, "wide_", None)
    few = width if found is None else found.width
    is_wrong = any(
        getattr(learner, "n_features_in_", 0) != (width if takes_many(learner) else few)
        for learner in model.members_
    )
    if is_wrong or (np.abs(model.member_scale_[:, 1]) < TINY).any():
        return "a member was fitted on another number of columns, or has no scale"
    return None


def _kind(name: str, file: str, cls: str) -> Kind:
    fitted = FITTED.get(name, NEURAL)
    optional = {"feature_names_in_", "propensity_", "outcome_", "is_sparse_", "projection_"}
    optional |= {"prior_error_", "prior_interval_", "trained_priors_"}
    optional |= OF_TABLES | {"wide_"} if name == "auto" else set()
    return Kind(f"robustpu.methods.{file}", cls, fitted, frozenset(optional), _check)


CLASSIFIERS: Final = {
    **{name: _kind(name, method.file, method.kind) for name, method in METHODS.items()},
    "voting": _kind("voting", "voting", "PUVotingClassifier"),
}
