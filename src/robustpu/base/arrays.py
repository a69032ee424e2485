"""Checks of rows of numbers: tables, images, and mapped files that are never held."""

from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from robustpu import labels
from robustpu.modules.rows import extremes, is_mapped
from robustpu.training.data import TrainingData


def check_training_data(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    eval_set: tuple[ArrayLike, ArrayLike] | None,
) -> TrainingData:
    """Check what a fit on numbers was given; sets ``input_shape_`` and what scikit-learn sets."""
    labels.refuse_missing(y)
    table, y = validate_data(estimator, X, y, multi_output=False, **_how(X))
    is_positive = estimator.encode_labels(y)
    estimator.input_shape_ = table.shape[1:]
    weight = estimator.check_weight(sample_weight, is_positive)
    truth = estimator.check_truth(eval_set)
    rows = None if eval_set is None else check_table(estimator, eval_set[0])
    return TrainingData(table, is_positive, weight, rows, truth)


def check_table(estimator: Any, X: ArrayLike) -> NDArray[Any]:
    """Check rows to be scored against those of the fit, ``input_shape_``."""
    table: NDArray[Any] = validate_data(estimator, X, reset=False, **_how(X))
    if table.shape[1:] != estimator.input_shape_:
        raise ValueError(
            f"X has rows of shape {table.shape[1:]}, but {type(estimator).__name__} was fitted on "
            f"rows of shape {estimator.input_shape_}."
        )
    return table


def check_images(mirror: bool, input_shape: tuple[int, ...]) -> None:
    """Refuse to mirror what is no image."""
    if mirror and len(input_shape) != 3:
        raise ValueError(
            "mirror=True is for images, one row a (channels, height, width) array; a row here has "
            f"the shape {input_shape}."
        )


def edges_of(estimator: Any, X: NDArray[Any]) -> NDArray[Any] | None:
    """Least and largest rows of a mapped table, if all numbers are finite; None of others."""
    if not is_mapped(X):
        return None
    return check_array(  # type: ignore[no-any-return]
        extremes(X), allow_nd=True, ensure_2d=False, estimator=estimator, input_name="X"
    )


def _how(X: Any) -> dict[str, Any]:
    """How scikit-learn checks rows; of a mapped file it would make copies to see it finite."""
    return {"dtype": "numeric", "allow_nd": True, "ensure_all_finite": not is_mapped(X)}
