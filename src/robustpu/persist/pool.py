"""Rankers of a pool <-> a model folder: their trees, and what they have learned."""

from typing import Any, Final

import numpy as np

from robustpu.persist.expect import places
from robustpu.persist.forests import check_children
from robustpu.persist.kind import Kind
from robustpu.persist.learners import COLUMNS, targets
from robustpu.persist.values import TAG, Decoder, Encoder, Json, fields, refuse
from robustpu.pool.basis import BASES, KNOTS
from robustpu.pool.forests import BagRanker
from robustpu.pool.trees import Trees
from robustpu.validation.arrays import array
from robustpu.validation.schema import Place, number

# Array of trees -> kind of its numbers.
TREES: Final = {
    "start": "i8",
    "feature": "i8",
    "threshold": "f8",
    "left": "i8",
    "right": "i8",
    "value": "f8",
}
# Sums of this many leaves are finite.
LARGEST_VALUE: Final = 1e100
MOST_TREES: Final = 1_000_000


def encode_trees(encoder: Encoder, trees: Trees, path: str) -> Json:
    """Store the arrays of many trees."""
    for name, kind in TREES.items():
        encoder.arrays[f"{path}/{name}"] = np.ascontiguousarray(getattr(trees, name), dtype=kind)
    return {TAG: "trees", "columns": int(trees.n_features)}


def decode_trees(decoder: Decoder, node: dict[str, Json], path: str) -> Trees:
    """Make trees in which every row comes to a leaf, and reads nothing but its columns."""
    (columns,) = fields(node, path, "columns")
    if type(columns) is not int or not 1 <= columns < 1 << 31:
        refuse(path, f"it has {str(columns)[:60]} columns.")
    arrays = {name: decoder.take(f"{path}/{name}") for name in TREES}
    count = arrays["feature"].shape
    for name, kind in TREES.items():
        found = arrays[name]
        is_long = found.ndim == 1 and (name == "start" or found.shape == count)
        if found.dtype != np.dtype(kind) or not is_long or not np.isfinite(found).all():
            refuse(path, f"{name} is of type {found.dtype} and shape {found.shape}, or not finite.")
    start, nodes = arrays["start"], len(arrays["feature"])
    if len(start) < 2 or start[0] != 0 or start[-1] != nodes or (np.diff(start) < 1).any():
        refuse(path, "its trees do not begin one after the other.")
    offset = np.repeat(start[:-1], np.diff(start))
    inside = arrays["left"] >= 0
    left, right = (
        np.where(arrays[side] >= 0, arrays[side] + offset, arrays[side])
        for side in ("left", "right")
    )
    check_children(left, right, start, path)
    feature = arrays["feature"]
    is_column = (feature >= 0) & (feature < columns)
    if not is_column[inside].all() or (feature[~inside] != -1).any():
        refuse(path, f"it asks for columns that are not among the {columns}.")
    if (np.abs(arrays["value"]) > LARGEST_VALUE).any():
        refuse(path, "values are out of range.")
    whole = {name: arrays[name].astype(np.intp) for name in ("start", "feature", "left", "right")}
    return Trees(columns, **whole, threshold=arrays["threshold"], value=arrays["value"])


def _trees(value: Any, place: Place) -> Trees:
    if not isinstance(value, Trees) or value.n_features != place.sizes["d"]:
        place.expect("trees for this number of columns", value)
    return value


def _basis(value: Any, place: Place) -> Any:
    """Read what a basis has learned: landmarks, or columns and where their knots are."""
    if not isinstance(value, dict):
        place.expect("a dictionary", value)
    d = place.sizes["d"]
    if value.keys() == {"landmarks"}:
        array("f", ("m", "d"))(value["landmarks"], place)
    elif value.keys() == {"columns", "knots"}:
        columns = array("f", ("many",), 0, d - 1)(value["columns"], place)
        array("f", ("many", len(KNOTS)))(value["knots"], place)
        if len(np.unique(columns)) < len(columns) or (columns % 1 != 0).any():
            place.refuse("names columns twice, or none")
    else:
        place.refuse("holds what no basis learns")
    return value


def _check_ridge(ranker: Any) -> str | None:
    """Whether a ridge ranker scores rows: its basis and its coefficients fit together."""
    if not isinstance(ranker.basis, str) or ranker.basis not in BASES:
        return f"there is no basis {str(ranker.basis)[:60]!r}"
    if not hasattr(ranker, "fitted_"):
        return None
    try:
        features = BASES[ranker.basis].features(np.zeros((1, len(ranker.mean_))), ranker.fitted_)
    except KeyError:
        return "its basis learned something else"
    if features.shape[1] != len(ranker.coef_):
        return f"it has {len(ranker.coef_)} coefficients for {features.shape[1]} features"
    return None


def _screened(value: Any, place: Place) -> Any:
    """Read the fitted ranker of the chosen columns."""
    if not isinstance(value, BagRanker) or not hasattr(value, "trees_"):
        place.expect("a fitted ranker", value)
    if value.n_features_in_ != place.sizes["m"]:
        place.refuse("was fitted on another number of columns")
    return value


def _check_bag(ranker: Any) -> str | None:
    if not isinstance(ranker.n_estimators, int) or not 0 < ranker.n_estimators <= MOST_TREES:
        return f"n_estimators is {str(ranker.n_estimators)[:60]}"
    return None


LEARNER: Final = {**COLUMNS, "classes_": targets}
SCALE: Final = {"mean_": array("f", ("d",)), "scale_": array("f", ("d",), 1e-300)}
BAG: Final = {**LEARNER, **SCALE, "trees_": _trees}
RANKERS: Final = {
    "RidgeRanker": Kind(
        "robustpu.pool.ridge",
        "RidgeRanker",
        {
            **LEARNER,
            **SCALE,
            "fitted_": _basis,
            "coef_": array("f", (None,)),
            "intercept_": number(),
            "penalty_": number(0),
        },
        check=_check_ridge,
    ),
    "ScreenedRanker": Kind(
        "robustpu.pool.screening",
        "ScreenedRanker",
        {**LEARNER, "columns_": places("m", "d"), "learner_": _screened},
        check=lambda ranker: None if hasattr(ranker.learner, "fit") else "it has no ranker",
    ),
    "ForestRanker": Kind("robustpu.pool.forests", "ForestRanker", BAG, check=_check_bag),
    "BoostingRanker": Kind("robustpu.pool.forests", "BoostingRanker", BAG, check=_check_bag),
}
