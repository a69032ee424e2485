"""What columns are taken for, and what is said of them."""

import uuid
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from robustpu.tables import Column, TableError, Vectorizer

N = 200
RNG = np.random.default_rng(0)
NUMBERS = np.round(RNG.standard_normal(N), 3)
WORDS = np.array(["red", "green", "blue", "car", "house", "tree", "fast", "slow", "new", "old"])


def column(values: Any, name: str = "x", **parameters: Any) -> Column:
    """What becomes of a column, in a table that has another one to learn from."""
    table = {name: values, "other": np.arange(len(values)) % 7 * 0.5}
    return Vectorizer(**parameters).fit(table).columns_[0]


def prose() -> list[str]:
    return [" ".join(WORDS[RNG.integers(0, 10, 6)]) + f" {place}" for place in range(N)]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (NUMBERS, "number"),
        ([f"{value}" for value in NUMBERS], "number"),
        ([f"€ {value:,.2f}" for value in NUMBERS * 1e5], "number"),
        ([f"{value:.1f} %" for value in NUMBERS], "number"),
        (["yes", "no"] * 100, "boolean"),
        (["TRUE", "false"] * 100, "boolean"),
        (["Y", ""] * 100, "boolean"),
        ([True, False] * 100, "boolean"),
        (["1", "0"] * 100, "number"),
        (["a", "b", "c", "d"] * 50, "category"),
        (pd.Categorical(["a", "b"] * 100), "category"),
        (pd.date_range("2024-01-01", periods=N), "date"),
        (pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"), "date"),
        (pd.date_range("2024-01-01", periods=N).strftime("%Y%m%d").astype(int), "date"),
        (pd.date_range("2024-01-01", periods=N, tz="Asia/Tokyo"), "date"),
        ([d.date() for d in pd.date_range("2024-01-01", periods=N)], "date"),
        (pd.to_timedelta(np.arange(N) % 50, "s"), "number"),
        (prose(), "text"),
        ([f"{place:05d}" for place in np.arange(N) % 40], "category"),
        ([None] * N, "empty"),
        (["", "NA", "?", "null"] * 50, "empty"),
        ([np.nan, np.inf] * 100, "empty"),
        (["same"] * N, "constant"),
        ([3.5] * N, "constant"),
        (pd.date_range("2024-01-01", periods=1).repeat(N), "constant"),
        ([[1, 2]] * N, "nested"),
        ([b"\xff\xfe"] * N, "nested"),
    ],
)
def test_kinds(values: Any, kind: str) -> None:
    assert column(values).kind == kind


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("x", [str(uuid.UUID(int=place * 7919)) for place in range(N)]),
        ("x", [f"AB{place:04d}" for place in range(N)]),
        ("x", np.arange(N)),
        ("x", RNG.permutation(N) + 1),
        ("x", [f"{place}" for place in range(N)]),
        ("claim_id", 1000 + np.arange(N) * 3),
        ("claimId", 1000 + np.arange(N) * 3),
        ("invoice no", 1000 + np.arange(N) * 3),
        ("x", 10_000_000 + np.arange(N) * 31),
        ("email", [f"p{place}@example.org" for place in range(N)]),
        ("customer_id", np.arange(N) // 1.5 // 1 * 7),
        ("customer_id", [f"c{place // 1.5:.0f}" for place in range(N)]),
        ("column 1", np.sort(RNG.permutation(5000)[:N])),
    ],
)
def test_ids_are_noticed_and_left_out(name: str, values: Any) -> None:
    found = column(values, name)
    assert found.kind == "id"
    assert found.plan is None
    assert "kinds={" in found.done
    assert found.notes
    # And can be kept.
    kept = column(values, name, kinds={name: "category"}, min_count=1)
    assert kept.kind == "category"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("price", np.arange(N) * 10 + 5000),
        ("salary", RNG.permutation(900_000)[:N] + 100_000),
        ("year", np.arange(1800, 1800 + N)),
        ("paid", np.arange(N) * 3 + 1.5),
        ("x", NUMBERS),
    ],
)
def test_numbers_that_differ_are_no_ids(name: str, values: Any) -> None:
    assert column(values, name).kind == "number"


def test_numbered_groups_are_categories() -> None:
    assert column(np.arange(N) % 9, "store_id").kind == "category"
    assert column(np.arange(N) % 9, "rooms").kind == "number"


def test_stray_words_among_numbers() -> None:
    values = [f"{value}" for value in NUMBERS[:-4]] + ["error", "error", "<5", "n/a"]
    found = column(values)
    assert found.kind == "number"
    assert found.missing == pytest.approx(4 / N)
    assert any("3 cells that are no numbers" in note and "'error'" in note for note in found.notes)
    # A third of the rows is no accident.
    assert column([f"{v}" for v in NUMBERS[:130]] + ["low", "high"] * 35).kind != "number"


def test_missing_and_different_are_counted() -> None:
    found = column(["a", "b", "", None, "a"] * 40)
    assert (found.missing, found.different) == (pytest.approx(0.4), 2)
    numbers = column(np.where(np.arange(N) % 4, NUMBERS, np.nan))
    assert numbers.missing == pytest.approx(0.25)


def test_notes_say_how_cells_were_read() -> None:
    assert "decimal comma" in column([f"{v:.2f}".replace(".", ",") for v in NUMBERS]).notes
    slashes = column(pd.date_range("2024-01-01", periods=12).strftime("%m/%d/%Y"))
    assert any("other way round" in note for note in slashes.notes)
    assert any("20240131" in n for n in column(np.array([20240101, 20240102, 20240105] * 9)).notes)
    assert column(np.array([20240101, 20240102, 20240199] * 9)).kind == "number"
    stray = column(["20240101", "20240102", "20240103"] * 30 + ["soon"])
    assert stray.kind == "date"
    assert any("'soon'" in note for note in stray.notes)


def test_given_kinds() -> None:
    assert column(np.arange(N) % 9, kinds={"x": "category"}).kind == "category"
    assert column(["5", "6"] * 100, kinds={"x": "text"}).kind == "text"
    assert column(NUMBERS, kinds={"x": "drop"}).plan is None
    assert column(np.arange(N), kinds={"x": "number"}).kind == "number"
    assert column(["1", "0"] * 100, kinds={"x": "boolean"}).kind == "boolean"
    assert column(pd.date_range("2024-01-01", periods=N), kinds={"x": "date"}).kind == "date"
    assert column(["01", "02"] * 100, kinds={"x": "number"}).kind == "number"
    with pytest.raises(TableError, match="cannot be read as date"):
        column(["a", "b"] * 100, kinds={"x": "date"})
    with pytest.raises(TableError, match=r"no column 'X'\. Did you mean 'x'"):
        column(NUMBERS, kinds={"X": "number"})
    with pytest.raises(TableError, match=r"unknown kind 'numbre'.*did you mean 'number'"):
        column(NUMBERS, kinds={"x": "numbre"})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (pa.array([1.5, 2.5] * 100).dictionary_encode(), "number"),
        (pa.array(["a", "b"] * 100, pa.string_view()), "category"),
        (pa.array([b"a", b"b"] * 100), "category"),
        (pa.array([[1]] * 200), "nested"),
        (pa.array(['"a"', '"b"'] * 100, pa.string()).cast(pa.json_()), "category"),
        (pc.run_end_encode(pa.array(["a"] * 100 + ["b"] * 100)), "category"),
        (pa.array([1, 2] * 100, pa.int32()).cast(pa.time32("s")), "number"),
        (pa.array([2**40, 2**41] * 100).cast(pa.timestamp("s")), "empty"),
        (pa.array([5, 7] * 100, pa.decimal128(12, 2)), "number"),
    ],
)
def test_types_of_arrow(values: Any, kind: str) -> None:
    assert column(values).kind == kind


def test_large_whole_numbers_keep_their_digits() -> None:
    base = 2**60
    values = np.array([base, base + 1, base + 2] * 30)
    found = column(values, kinds={"x": "category"})
    assert found.different == 3


def test_nothing_to_learn_from() -> None:
    with pytest.raises(TableError, match="no column to learn from: 'a' is left out"):
        Vectorizer().fit({"a": [1] * 30, "b": [None] * 30})


@pytest.mark.parametrize("word", ["none", "None", "NA", "null", "n/a", "NaN"])
def test_words_that_are_taken_for_missing_are_named(word: str) -> None:
    found = column(["theft"] * 50 + [word] * 30 + ["fire"] * 40 + [""] * 10, "kind")
    assert (found.kind, found.missing) == ("category", pytest.approx(40 / 130))
    told = f"taken for missing: '{word}' (30 rows). If that is a value, write it otherwise"
    assert [note for note in found.notes if note.startswith(told)]


def test_one_row_is_not_many() -> None:
    found = column(["theft"] * 50 + ["none"] + ["fire"] * 40, "kind")
    assert [note for note in found.notes if "'none' (1 row)." in note]
    assert column([1e308, *[0.5, 1.5] * 50]).notes == (
        "1 value beyond 1e+30 is cut to that; give them in larger units",
    )


def test_missing_numbers_and_empty_cells_go_without_saying() -> None:
    assert column(["1.5", "NA", "2.5", "7.25"] * 50).notes == ()
    assert column(["a", "", "?", "b", "-"] * 50).notes == ()
    assert column(pd.Series(["a", None, np.nan, "b"] * 50)).notes == ()


@pytest.mark.parametrize("form", ["%b-%Y", "%B %Y", "%Y-%m", "%m/%Y"])
def test_months_are_dates(form: str) -> None:
    months = pd.date_range("2015-01-01", periods=60, freq="MS")
    found = column(months.strftime(form).tolist() * 2, "issued")
    assert found.kind == "date"
    assert found.plan is not None
    assert found.plan.endings() == [": days", ": month"]


def test_an_id_that_is_left_out_is_told_as_such() -> None:
    found = column(np.arange(1, 201), "rownames")
    assert (found.kind, found.notes) == ("id", ("left out: it seems to be an id, row numbers",))


def test_numbers_beyond_single_precision_are_cut_and_told() -> None:
    values = [1e308, -1e308, 3.0, 4.5] * 50
    vectorizer = Vectorizer().fit({"huge": values})
    made = vectorizer.transform({"huge": values})
    np.testing.assert_array_equal(made[:4, 0], np.float32([1e30, -1e30, 3, 4.5]))
    # In single precision, as scikit-learn does it.
    with np.errstate(all="raise"):
        assert np.isfinite(made - made.mean(axis=0)).all()
    told = "100 values beyond 1e+30 are cut to that; give them in larger units"
    assert vectorizer.columns_[0].notes == (told,)
    # Whatever the median of these is, it is finite.
    gaps = Vectorizer().fit({"x": [1e308] * 60 + [1e307] * 60 + [None] * 9})
    assert np.isfinite(gaps.transform({"x": [None, 1e308]})).all()


def test_numbers_that_are_all_beyond_are_one_value() -> None:
    found = column(np.arange(1, 201) * 1e300)
    assert (found.kind, found.done) == ("constant", "left out: it has one value only")
    assert "cut" in found.notes[0]
