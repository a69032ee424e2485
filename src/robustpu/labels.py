"""Labels in, masks of positives and known negatives out: the only file that knows an encoding."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target

Label = str | float | bool

# Texts whose meaning is obvious, in lower case: positive, and unlabelled or negative.
POSITIVE = frozenset(
    {"1", "yes", "y", "true", "t", "positive", "pos", "p", "known", "labelled", "labeled"}
)
UNLABELED = frozenset(
    {"", "0", "no", "n", "false", "f", "negative", "neg", "unknown", "unlabelled", "unlabeled", "u"}
    | {"?", "-", "na", "n/a", "none", "other"}
)
# Numbers in words are compared as numbers are.
WORDS = {"zero": 0, "one": 1, "two": 2}
# Word -> number, which is higher for the positive one of two; the first that differs decides.
RANKS: tuple[Callable[[str], float], ...] = (
    lambda word: WORDS.get(word, math.nan),
    lambda word: word in POSITIVE,
    lambda word: word not in UNLABELED,
)


def encode(y: ArrayLike, pos_label: Label | None = None) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """(classes, is_positive) of a y with any two labels.

    Parameters
    ----------
    y
        Two distinct labels, shape (n,): labelled positive and unlabelled.
    pos_label
        The label of the positives; by default the larger of two numbers, or the one of two texts
        that obviously marks positives.

    Returns
    -------
    classes
        The two labels in ascending order, shape (2,).
    is_positive
        True for the labelled positives, shape (n,).

    Raises
    ------
    ValueError
        The labels are texts, and it is not obvious which one marks the positives.

    Examples
    --------
    >>> classes, is_positive = encode(["yes", "?", "?"])
    >>> classes.tolist()
    ['?', 'yes']
    >>> int(is_positive.sum())
    1
    """
    labels, classes = _two_classes(y, pos_label)
    index = positive_index(classes, pos_label)
    return classes, np.asarray(labels == classes[index], dtype=np.bool_)


class Before(NamedTuple):
    """Labels as they were before any row was checked, (n,).

    ``is_positive`` has the positives that were not found by a check. ``outcome`` is 1 of rows that
    turned out positive, 0 of known negatives, NaN of others; None if there are none of the former.
    ``tells`` leaves out negatives that are known from elsewhere: they are no sample of anything.
    """

    is_positive: NDArray[np.bool_]
    outcome: NDArray[np.float64] | None
    tells: NDArray[np.bool_]


class Known(NamedTuple):
    """Two labels of each row, and which rows are known negatives or were checked, (n,).

    Known negatives are among the unlabelled rows of ``y``. The masks are None if there are none.
    """

    y: Any
    is_negative: NDArray[np.bool_] | None = None
    is_checked: NDArray[np.bool_] | None = None

    def before(self, is_positive: NDArray[np.bool_]) -> Before:
        """Labels as they were before any row was checked.

        Parameters
        ----------
        is_positive
            Which rows are labelled, (n,).

        Examples
        --------
        >>> known = read_known([1, 1, 0, -1, -1], None, -1, [0, 1, 0, 1, 0])
        >>> found = known.before(encode(known.y)[1])
        >>> found.is_positive.tolist()
        [True, False, False, False, False]
        >>> found.outcome.tolist(), found.tells.tolist()
        ([nan, 1.0, nan, 0.0, 0.0], [True, True, True, True, False])
        """
        if self.is_negative is None:
            return Before(is_positive, None, np.ones_like(is_positive))
        checked = np.zeros_like(is_positive) if self.is_checked is None else self.is_checked
        outcome = np.where(self.is_negative, 0.0, np.where(checked, 1.0, np.nan))
        if np.isnan(outcome).all():
            return Before(is_positive, None, np.ones_like(is_positive))
        return Before(is_positive & ~checked, outcome, checked | ~self.is_negative)


def read_known(
    y: Any,
    pos_label: Label | None = None,
    neg_label: Label | None = None,
    checked: ArrayLike | None = None,
) -> Known:
    """Take known negatives out of a y with a third label.

    Parameters
    ----------
    y
        Labelled positive, unlabelled, and perhaps known negative, shape (n,).
    pos_label
        The label of the positives; by default as in :func:`encode`, of the other two labels.
    neg_label
        The label of known negatives; None if there are none.
    checked
        Which rows owe their label to a check, (n,).

    Examples
    --------
    >>> known = read_known([1, 0, -1, 0], neg_label=-1)
    >>> known.y.tolist(), known.is_negative.tolist()
    ([1, 0, 0, 0], [False, False, True, False])
    """
    if neg_label is None and checked is None:
        return Known(y)
    if pos_label is not None and pos_label == neg_label:
        raise ValueError(
            f"pos_label and neg_label are both {pos_label!r}: positives and negatives need "
            "different labels."
        )
    refuse_missing(y)
    labels = _as_column(y)
    values, place = np.unique(labels, return_inverse=True)
    is_neg = np.array([value == neg_label for value in values.tolist()], dtype=np.bool_)
    others = values[~is_neg]
    if len(others) > 2 or (is_neg.any() and len(others) < 2):
        found = ", ".join(map(repr, others[:5].tolist())) or "none"
        raise ValueError(
            f"y must have two labels beside neg_label={neg_label!r}, those of labelled positives "
            f"and of rows whose class is not known; it has {len(others)}: {found}."
        )
    unlabeled: Any = None
    if len(others) == 2:
        unlabeled = others[1 - positive_index(others, pos_label)]
    is_negative = is_neg[place]
    labels = np.where(is_negative, unlabeled, labels) if is_negative.any() else labels
    if checked is None:
        return Known(labels, is_negative)
    return Known(labels, is_negative, _checked_rows(checked, labels, is_negative, unlabeled))


def _checked_rows(
    checked: ArrayLike,
    labels: NDArray[Any],
    is_negative: NDArray[np.bool_],
    unlabeled: Any,
) -> NDArray[np.bool_]:
    """The mask of checked rows, each of which has an answer."""
    mask = np.asarray(checked)
    if mask.shape != labels.shape or not np.isin(mask, (0, 1)).all():
        raise ValueError(
            f"checked must be True or False for each of the {len(labels)} rows; it has the shape "
            f"{mask.shape} and the type {mask.dtype}."
        )
    mask = mask.astype(np.bool_)
    open_rows = int((mask & (labels == unlabeled) & ~is_negative).sum())
    if open_rows:
        raise ValueError(
            f"checked marks {open_rows} rows that are still unlabelled in y: give them the label "
            "of the positives or neg_label, or take them out of checked."
        )
    if not ((labels != unlabeled) & ~mask).any():
        raise ValueError(
            "checked marks every labelled positive: leave those out that were known before any "
            "check, since they show how positives rank."
        )
    return mask


def strata(
    y: ArrayLike, neg_label: Label | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which rows have the larger of two labels, whatever it means, and which are negatives, (n,).

    Examples
    --------
    >>> [mask.tolist() for mask in strata(["a", "b", "no"], "no")]
    [[False, True, False], [False, False, True]]
    """
    labels, is_negative = _as_column(y), np.zeros(np.shape(y)[:1], dtype=np.bool_)
    if neg_label is not None:
        is_negative = np.array([label == neg_label for label in labels.tolist()], dtype=np.bool_)
    is_larger = np.zeros_like(is_negative)
    others, classes = _two_classes(labels[~is_negative], None)
    is_larger[~is_negative] = others == classes[1]
    return is_larger, is_negative


def _two_classes(y: ArrayLike, pos_label: Label | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The labels as an array, (n,), and the two that there are, sorted."""
    labels = _checked(y)
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(_one_class_message(classes.tolist(), pos_label))
    return labels, classes


def as_numbers(
    is_positive: NDArray[np.bool_], outcome: NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """1 for positives, 0 for unlabelled rows, -1 for known negatives; and what is not by label.

    Parameters
    ----------
    is_positive
        Which rows are labelled, other than by a check, (n,).
    outcome
        See :class:`Before`.

    Examples
    --------
    >>> y, known = as_numbers(np.array([True, False, False]), np.array([np.nan, 0.0, 1.0]))
    >>> y.tolist(), known.tolist()
    ([1, -1, 1], [False, True, True])
    """
    y = is_positive.astype(np.int64)
    if outcome is None:
        return y, None
    y[outcome == 1], y[outcome == 0] = 1, -1
    return y, np.isfinite(outcome)


def predicted_classes(classes: NDArray[Any], place: int, neg_label: Label) -> NDArray[Any]:
    """The positive label and that of known negatives, sorted, (2,): what is predicted.

    Parameters
    ----------
    classes, place
        The labels of positives and of unlabelled rows, and the place of the former.
    neg_label
        The label of known negatives.

    Examples
    --------
    >>> predicted_classes(np.array([0, 1]), 1, -1).tolist()
    [-1, 1]
    """
    return np.unique(np.append(classes[place : place + 1], neg_label))


def positive_index(
    classes: NDArray[Any], pos_label: Label | None = None, neg_label: Label | None = None
) -> int:
    """0 or 1: the place of the positive label in the two sorted classes.

    Parameters
    ----------
    classes
        Two labels.
    pos_label
        The positive one, if it was given.
    neg_label
        The other one, if that is known.

    Examples
    --------
    >>> positive_index(np.array([-1, 1]))
    1
    >>> positive_index(np.array(["fraud", "unknown"]))
    0
    """
    found: list[Label] = classes.tolist()
    if neg_label is not None and neg_label in found:
        return 1 - found.index(neg_label)
    if pos_label is None:
        return 1 if classes.dtype.kind in "biuf" else _obvious_index([str(each) for each in found])
    if pos_label not in found:
        raise ValueError(
            f"pos_label={pos_label!r} is not in y, whose labels are {found[0]!r} and {found[1]!r}. "
            "Set pos_label to the one of these that marks the labelled positives."
        )
    return found.index(pos_label)


def _obvious_index(texts: list[str]) -> int:
    """The place of the text that marks positives, if that is obvious."""
    words = [text.strip().lower() for text in texts]
    for rank in RANKS:
        first, second = map(rank, words)
        if first < second or first > second:
            return int(first < second)
    raise ValueError(
        f"the labels in y are {texts[0]!r} and {texts[1]!r}, and it is not obvious which one marks "
        f"the positives: give pos_label={texts[0]!r} or pos_label={texts[1]!r}."
    )


def _checked(y: ArrayLike) -> NDArray[Any]:
    """y as an array (n,) of at most two distinct labels, none of them missing."""
    refuse_missing(y)
    labels = _as_column(y)
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y")
    if kind != "binary":
        found = np.unique(labels)
        some = ", ".join(map(repr, found[:5].tolist()))
        raise ValueError(
            f"Only binary classification is supported. The type of the target is {kind}. "
            f"y must have two values, labelled positive and unlabelled; it has {len(found)}, such "
            f"as {some}. Known negatives may have a third label: name it by neg_label=."
        )
    return labels


def _as_column(y: ArrayLike) -> NDArray[Any]:
    """y as an array (n,) of labels of one type."""
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    if labels.dtype == object and not any(isinstance(label, str) for label in labels):
        # A column of a mixed table: numbers or booleans, held as objects.
        labels = np.array(labels.tolist())
    if labels.dtype == object and len({isinstance(label, str) for label in labels}) > 1:
        raise ValueError("y holds labels of several types, strings and others; give one type.")
    return labels


def refuse_missing(y: Any) -> None:
    """Raise ValueError if a label is NaN, None or pandas.NA."""
    if y is None:  # scikit-learn has the message for that.
        return
    labels = np.asarray(y).ravel()
    if any(map(_is_missing, labels)) if labels.dtype == object else np.any(labels != labels):
        raise ValueError(
            "y contains NaN or None, expected two labels. Mark every unlabelled row with 0 "
            "(and the labelled positives with 1)."
        )


def require_both_classes(is_positive: NDArray[np.bool_], weight: NDArray[np.float64]) -> None:
    """Refuse weights, (n,), that leave no labelled or no unlabelled row.

    Parameters
    ----------
    is_positive
        Which rows are labelled, (n,).
    weight
        At least 0.

    Examples
    --------
    >>> require_both_classes(np.array([True, False]), np.array([1.0, 0.0]))
    Traceback (most recent call last):
    ValueError: sample_weight is zero for all unlabelled rows: one class has no rows that count.
    """
    for name, rows in (("labelled positives", is_positive), ("unlabelled rows", ~is_positive)):
        if not weight[rows].any():
            raise ValueError(
                f"sample_weight is zero for all {name}: one class has no rows that count."
            )


def _is_missing(label: object) -> bool:
    # A comparison with pandas.NA is pandas.NA, which has no truth value.
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True


def _one_class_message(found: list[Label], pos_label: Label | None) -> str:
    if not found:
        return "y is empty, expected two classes: 1 for labelled positives and 0 for unlabelled."
    positive = 1 if pos_label is None else pos_label
    if found[0] == positive:
        return (
            f"y has one class only, the positive label {positive!r}: there are no unlabelled rows. "
            "Add the rows whose class is unknown, and give them another label, such as 0."
        )
    return (
        f"y has one class only, {found[0]!r}: there are no labelled positives, which are marked "
        f"with {positive!r}. Mark some, or set pos_label if another label marks them."
    )
