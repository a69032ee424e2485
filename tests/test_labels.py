"""Any two labels in, a mask of positives out; everything else is refused with advice."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from robustpu.labels import encode, positive_index, predicted_classes, read_known, strata


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1, 0, 1], [0, 1]),
        ([1, -1, 1], [-1, 1]),
        ([True, False, True], [False, True]),
        ([2.0, 1.0, 2.0], [1.0, 2.0]),
        (np.array([1, 0, 1], dtype=object), [0, 1]),
        (np.array([True, False, True], dtype=object), [False, True]),
        (pd.Series([1, 0, 1], dtype="Int64", index=[7, 8, 9]), [0, 1]),
    ],
)
def test_the_larger_of_two_numbers_is_positive(y, classes):
    found, is_positive = encode(y)
    assert found.tolist() == classes
    assert is_positive.dtype == bool
    assert is_positive.tolist() == [True, False, True]


@given(st.lists(st.sampled_from([3, 8]), min_size=2).filter(lambda y: len(set(y)) == 2))
def test_decoding_gives_y_back_whichever_label_is_positive(y):
    for pos_label in (3, 8):
        classes, is_positive = encode(y, pos_label)
        index = positive_index(classes, pos_label)
        assert classes[np.where(is_positive, index, 1 - index)].tolist() == y
        assert is_positive.sum() == y.count(pos_label)


@pytest.mark.parametrize("dtype", [object, "U10", "category"])
def test_an_obvious_text_marks_positives(dtype):
    y = pd.Series(["known", "unlabeled", "known"])
    y = y.astype("category") if dtype == "category" else y.to_numpy().astype(dtype)
    classes, is_positive = encode(y)
    assert classes.tolist() == ["known", "unlabeled"]
    assert is_positive.tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("texts", "positive"),
    [
        (["yes", "no"], "yes"),
        (["Yes", ""], "Yes"),
        (["fraud", "unknown"], "fraud"),
        (["fraud", "?"], "fraud"),
        (["1", "0"], "1"),
        (["p", "u"], "p"),
        (["two", "one"], "two"),
        (["positive", "not checked"], "positive"),
    ],
)
def test_what_is_obvious(texts, positive):
    classes, is_positive = encode(texts)
    assert np.array(texts)[is_positive].tolist() == [positive]
    assert classes[positive_index(classes)] == positive


@pytest.mark.parametrize("texts", [["a", "b"], ["fraud", "genuine"], ["yes", "true"], ["no", ""]])
def test_texts_that_are_not_obvious_are_refused(texts):
    with pytest.raises(ValueError, match=r"not obvious.*pos_label='.*' or pos_label='"):
        encode(texts)
    _, is_positive = encode(texts, pos_label=texts[0])
    assert is_positive.tolist() == [True, False]


def test_folds_need_not_know_what_labels_mean():
    assert strata(["a", "b", "a"])[0].tolist() == [False, True, False]
    with pytest.raises(ValueError, match="one class only"):
        strata(["a", "a"])


def test_a_column_vector_is_flattened_with_the_usual_warning():
    with pytest.warns(DataConversionWarning):
        _, is_positive = encode(np.array([[1], [0]]))
    assert is_positive.shape == (2,)


@pytest.mark.parametrize("y", [[0, 1, 2], [-1, 0, 1], ["a", "b", "c"]])
def test_three_values_are_refused_with_advice(y):
    text = r"Only binary classification is supported\. The type of the target is multiclass\."
    with pytest.raises(ValueError, match=rf"{text}.*it has 3.*Known negatives"):
        encode(y)


def test_continuous_targets_are_refused_as_scikit_learn_does():
    with pytest.raises(ValueError, match=r"^Unknown label type: "):
        encode([0.1, 0.7, 0.3])


def test_labels_that_cannot_be_sorted_are_refused():
    with pytest.raises(ValueError, match="several types"):
        encode(np.array([1, "a"], dtype=object))


@pytest.mark.parametrize(
    ("y", "pos_label", "text"),
    [
        ([1, 1], None, "one class only.*no unlabelled rows"),
        ([True, True], None, "one class only.*no unlabelled rows"),
        ([0, 0], None, "one class only.*no labelled positives"),
        ([0, 0], 0, "one class only.*no unlabelled rows"),
        ([1, 1], 2, "one class only.*no labelled positives.*2"),
        (["a", "a"], "a", "one class only.*no unlabelled rows"),
        (["a", "a"], None, "one class only.*no labelled positives.*pos_label"),
        ([], None, "empty.*two classes"),
    ],
)
def test_one_class_is_refused_and_the_missing_part_named(y, pos_label, text):
    with pytest.raises(ValueError, match=text):
        encode(y, pos_label)


@pytest.mark.parametrize(
    "y",
    [
        [1.0, np.nan],
        np.array([1, None], dtype=object),
        np.array(["a", np.nan], dtype=object),
        np.array([1, pd.NA], dtype=object),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", None]),
    ],
)
def test_missing_labels_are_refused_and_zero_advised(y):
    with pytest.raises(ValueError, match="every unlabelled row with 0"):
        encode(y)


@pytest.mark.parametrize("pos_label", [2, "1"])
def test_an_absent_pos_label_is_refused_and_the_labels_found_named(pos_label):
    with pytest.raises(ValueError, match=rf"pos_label={pos_label!r}.*0 and 1"):
        encode([0, 1], pos_label)


@pytest.mark.parametrize("dtype", [object, "U10", "category"])
def test_known_negatives_are_read_as_unlabelled_rows(dtype):
    y = pd.Series(["known", "", "clean", "known", ""])
    y = y.astype("category") if dtype == "category" else y.to_numpy().astype(dtype)
    known = read_known(y, neg_label="clean")
    assert known.y.tolist() == ["known", "", "", "known", ""]
    assert known.is_negative.tolist() == [False, False, True, False, False]
    assert known.is_checked is None


def test_what_is_predicted():
    assert predicted_classes(np.array([0, 1]), 1, -1).tolist() == [-1, 1]
    assert predicted_classes(np.array(["?", "bad"]), 1, "fine").tolist() == ["bad", "fine"]
    assert positive_index(np.array([1, 2]), None, 2) == 0
    assert positive_index(np.array(["bad", "fine"]), "bad", "fine") == 0
    # Fitted to two labels, the negative one among them.
    assert positive_index(np.array([0, 1]), None, -1) == 1


def test_a_row_was_checked_or_is_a_negative_from_elsewhere():
    known = read_known([1, 1, 0, -1, -1], neg_label=-1, checked=[False, True, False, True, False])
    before = known.before(encode(known.y)[1])
    assert before.is_positive.tolist() == [True, False, False, False, False]
    np.testing.assert_array_equal(before.outcome, [np.nan, 1, np.nan, 0, 0])
    assert before.tells.tolist() == [True, True, True, True, False]


def test_strata_of_three_labels():
    larger, negative = strata([1, 0, -1, 1], -1)
    assert larger.tolist() == [True, False, False, True]
    assert negative.tolist() == [False, False, True, False]
    with pytest.raises(ValueError, match="two values"):
        strata([1, 0, -1, 2], -1)
