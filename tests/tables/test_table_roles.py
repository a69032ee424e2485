"""The label column and the other roles."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from robustpu.tables import Roles, TableError, read_table, take_roles


def label(values: Any, positive: Any = None, negative: Any = None) -> Any:
    table = read_table({"y": values, "x": range(len(values))})
    return take_roles(table, Roles(label="y", positive=positive, negative=negative))


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([1, 0, 0, 1], "1"),
        ([1.0, 0.0, 0.0, 1.0], "1"),
        (["1", "0", "0", "1"], "1"),
        (["1.0", "0", "0", "1"], "1"),
        ([True, False, False, True], "true"),
        (["TRUE", "false", "False", "true"], "TRUE"),
        (["yes", "no", "no", "yes"], "yes"),
        (["fraud", "", None, "fraud"], "fraud"),
        (["fraud", "unknown", "unknown", "fraud"], "fraud"),
        (["positive", "unlabelled", "unlabelled", "positive"], "positive"),
        ([1, None, None, 1], "1"),
        ([1, -1, -1, 1], "1"),
        (["1", "", "0", "1"], "1"),
    ],
)
def test_positives_are_found(values: Any, positive: str) -> None:
    parts = label(values)
    assert parts.roles.positive == positive
    assert parts.y.tolist() == [1, 0, 0, 1]
    assert parts.y.dtype == np.int64
    assert any("2 labelled positives" in note and "2 unlabelled" in note for note in parts.notes)


@pytest.mark.parametrize(
    ("values", "negative"),
    [
        (["yes", "no", "", "no"], "no"),
        (["yes", "no", "open", "NO "], "no"),
        ([1, -1, 0, -1], -1),
        ([1.0, 0.0, None, 0.0], "0"),
    ],
)
def test_known_negatives(values: Any, negative: Any) -> None:
    parts = label(values, negative=negative)
    assert parts.y.tolist() == [1, -1, 0, -1]
    assert any("2 known negatives" in note for note in parts.notes)
    assert any("1 labelled positive, 1 unlabelled row" in note for note in parts.notes)


@pytest.mark.parametrize(
    ("values", "positive", "negative", "text"),
    [
        (["yes", "no", ""], None, "none at all", "has no value 'none at all'; it has"),
        (["yes", "no", ""], "yes", "Yes", "as the label of positives and of negatives"),
        (["yes", "no", "no"], "yes", "no", "leaves no row unlabelled"),
        (["no", "no", ""], None, "no", "has no labelled positives"),
        (["a", "b", "no", "c"], None, "no", "has 3 different values, expected two"),
    ],
)
def test_wrong_negatives(values: Any, positive: Any, negative: Any, text: str) -> None:
    with pytest.raises(TableError, match=text):
        label(values, positive, negative)


def test_missing_labels_are_unlabelled_and_noted() -> None:
    assert any("2 rows without a label" in note for note in label(["1", "", None, "1"]).notes)


def test_given_positive() -> None:
    values = ["ok", "fraud", "open", "", "Fraud"]
    parts = label(values, "fraud")
    assert parts.y.tolist() == [0, 1, 0, 0, 1]
    assert any("'ok' (1 row), 'open' (1 row)" in note for note in parts.notes)
    assert label([0, 1, 2], 2).y.tolist() == [0, 0, 1]
    assert label([0.0, 1.0], "1").y.tolist() == [0, 1]
    assert label([True, False], "1").y.tolist() == [1, 0]
    assert label([True, False], "yes").y.tolist() == [1, 0]
    assert label(["b", "a"], "a").roles.positive == "a"
    assert label([1, 2], 2).y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("values", "positive", "parts"),
    [
        ([0, 1, 2, 2], None, ["3 different values", "'2' (2 rows)", "--positive VALUE"]),
        ([1, 0, -1], None, ["3 different values", "'-1' (1 row)"]),
        (["ok", "fraud"], None, ["two values", "'fraud' (1 row)", "--positive VALUE"]),
        ([1, 2], None, ["two values", "'2' (1 row)", "not clear"]),
        ([3, 7], None, ["two values", "not clear"]),
        (["yes", "true", ""], None, ["two values", "'yes' (1 row)"]),
        ([0, 0, None], None, ["no labelled positives", "'0' (2 rows)", "no value (1 row)"]),
        ([None, "", "NA"], None, ["has no values"]),
        ([1, 1, 1], None, ["marks every row as positive", "'1' (3 rows)"]),
        ([1, 0], "fraud", ["no value 'fraud'", "'1' (1 row)", "--positive VALUE"]),
        (["x"] * 9, "x", ["marks every row as positive"]),
        (list(range(30)), None, ["30 different values", "22 more values"]),
        ([[1], [0]], None, ["expected two values"]),
    ],
)
def test_labels_that_are_refused(values: Any, positive: Any, parts: list[str]) -> None:
    with pytest.raises(TableError) as caught:
        label(values, positive)
    for part in ["'y'", *parts]:
        assert part in str(caught.value)


def test_one_positive_is_enough_but_said() -> None:
    parts = label(["1", *[""] * 50])
    assert parts.y.sum() == 1
    assert any("only 1 labelled positive:" in note for note in parts.notes)


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": ["a", "b", "b"],
            "when": ["2024-01-03", "", "2024-01-01"],
            "x": [1, 2, 3],
            "note": ["u", "v", "w"],
            "y": [1, 0, 0],
        }
    )


def test_roles_take_columns_out() -> None:
    roles = Roles(label="y", id="id", time="when", drop=("note",))
    parts = take_roles(read_table(frame()), roles)
    assert parts.table.names == ["x"]
    assert parts.ids.to_pylist() == ["a", "b", "b"]
    expected = np.array(["2024-01-03", "NaT", "2024-01-01"], "datetime64[us]")
    np.testing.assert_array_equal(parts.times, expected)
    assert any("2 different ids in 3 rows" in note for note in parts.notes)
    assert any("1 rows have no time" in note for note in parts.notes)


def test_prediction_needs_no_role() -> None:
    roles = Roles(label="y", positive="1", id="id", time="when", drop=("note",))
    bare = take_roles(read_table(frame()[["x"]]), roles, for_fit=False)
    assert (bare.y, bare.ids, bare.times) == (None, None, None)
    # A label that could not be learnt from is of no concern here.
    odd = frame().assign(y=["?", "x", "z"])
    full = take_roles(read_table(odd), roles, for_fit=False)
    assert full.table.names == ["x"]
    assert full.y is None
    assert full.ids.to_pylist() == ["a", "b", "b"]


def test_time_may_be_a_number() -> None:
    table = read_table({"t": ["1", "2", "10"], "x": [1, 2, 3]})
    assert take_roles(table, Roles(time="t")).times.tolist() == [1, 2, 10]
    typed = read_table({"t": [1, 2, 10], "x": [1, 2, 3]})
    assert take_roles(typed, Roles(time="t")).times.tolist() == [1, 2, 10]
    with pytest.raises(
        TableError, match="time column 't' holds 'a', 'b', expected dates or numbers"
    ):
        take_roles(read_table({"t": ["a", "b"], "x": [1, 2]}), Roles(time="t"))
    with pytest.raises(TableError, match="no dates or numbers"):
        take_roles(read_table({"t": ["", ""], "x": [1, 2]}), Roles(time="t"))


def test_roles_that_cannot_be() -> None:
    table = read_table(frame())
    with pytest.raises(TableError, match=r"no column 'Notes'\. Did you mean 'note'\? It has 'id'"):
        take_roles(table, Roles(label="Notes"))
    with pytest.raises(TableError, match="'y' is given two roles"):
        take_roles(table, Roles(label="y", drop=("y",)))
    with pytest.raises(TableError, match="no columns to learn from besides"):
        take_roles(read_table({"y": [1, 0]}), Roles(label="y"))


def test_one_is_not_many() -> None:
    notes = label(["1", "", "0"]).notes
    assert "label '1': 1 labelled positive, 2 unlabelled rows" in notes
    assert "1 row without a label counts as unlabelled" in notes
    assert "label '1': 3 labelled positives, 1 unlabelled row" in label(["1", "1", "1", "0"]).notes


@pytest.mark.parametrize(
    ("labels", "positive"),
    [
        (["01"] * 3 + ["1"] * 5 + ["2"], "01"),
        (["01"] * 3 + ["1"] * 5 + ["2"], "1"),
        (["10000000000000001"] * 3 + ["10000000000000000"] * 5 + ["2"], "10000000000000001"),
        ([10000000000000001] * 3 + [10000000000000000] * 5 + [2], "10000000000000001"),
        (["1e2"] * 3 + ["100"] * 5 + ["2"], "1e2"),
        (["1e2"] * 3 + ["100"] * 5 + ["2"], "100"),
    ],
)
def test_labels_are_told_apart_by_their_spelling(labels: Any, positive: str) -> None:
    parts = take_roles(
        read_table({"y": labels, "x": range(len(labels))}), Roles(label="y", positive=positive)
    )
    assert parts.y.tolist() == [int(str(each) == positive) for each in labels]
    assert parts.roles.positive == positive


@pytest.mark.parametrize(
    ("labels", "positive"),
    [(["3.0", "4.0"], "3"), (["3", "4"], "3.0"), ([3.0, 4.0], "3"), ([3, None], "3.00")],
)
def test_whole_numbers_may_have_a_point(labels: Any, positive: str) -> None:
    table = read_table({"y": labels, "x": [1, 2]})
    assert take_roles(table, Roles(label="y", positive=positive)).y.tolist() == [1, 0]


def times_of(cells: Any) -> Any:
    table = read_table({"t": cells, "x": range(len(cells))})
    return take_roles(table, Roles(time="t"))


def test_numbers_that_look_like_dates_here_and_there_are_numbers() -> None:
    minutes = 28_005_000 + np.arange(400) * 40
    parts = times_of([str(each) for each in minutes])
    np.testing.assert_array_equal(parts.times, minutes)
    assert parts.notes == ()


def test_times_are_dates_if_nearly_all_are() -> None:
    days = pd.date_range("2024-01-01", periods=100)
    compact = [f"{day:%Y%m%d}" for day in days]
    np.testing.assert_array_equal(times_of(compact).times, days.to_numpy("datetime64[us]"))
    compact[:4] = ["20240001"] * 4
    assert times_of(compact).times.dtype.kind == "M"
    compact[:6] = ["20240001"] * 6
    assert times_of(compact).times.dtype.kind == "f"
    # Words are neither; then it is dates, for there is nothing else that it could be.
    written = [f"{day:%d.%m.%Y}" for day in days]
    written[:20] = ["unknown"] * 20
    parts = times_of(written)
    assert np.isnat(parts.times).sum() == 20
    assert parts.notes == ("20 rows have no time in 't'",)
