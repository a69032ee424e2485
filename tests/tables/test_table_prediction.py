"""The same table again, as it comes at prediction: shuffled, changed, incomplete."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from robustpu.tables import TableError, TableWarning, Tally, Vectorizer, iter_table, read_table

N = 60
FRAME = pd.DataFrame(
    {
        "amount": np.arange(N) * 1.5,
        "city": ["Bern", "Rome", "Oslo"] * 20,
        "flag": ["yes", "no"] * 30,
        "when": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
        "gap": np.where(np.arange(N) % 5, np.arange(N) % 7 * 1.0, np.nan),
        "note": [f"the {place % 50}th claim of the year" for place in range(N)],
    }
)


@pytest.fixture
def vectorizer() -> Vectorizer:
    return Vectorizer().fit(FRAME)


def told(
    vectorizer: Vectorizer, frame: pd.DataFrame, **options: bool
) -> tuple[np.ndarray, list[str]]:
    tally = Tally()
    X = vectorizer.transform(frame, tally=tally, **options)
    assert np.isfinite(X).all()
    return X, tally.lines()


def test_same_table_has_nothing_to_tell(vectorizer: Vectorizer) -> None:
    assert told(vectorizer, FRAME)[1] == []


def test_another_order(vectorizer: Vectorizer) -> None:
    X, lines = told(vectorizer, FRAME[FRAME.columns[::-1]])
    np.testing.assert_array_equal(X, vectorizer.transform(FRAME))
    assert lines == []


def test_missing_columns(vectorizer: Vectorizer) -> None:
    with pytest.raises(TableError) as caught:
        vectorizer.transform(FRAME.drop(columns=["amount", "city"]))
    message = str(caught.value)
    assert "no column 'amount', 'city'" in message
    assert "--fill-columns" in message
    X, lines = told(vectorizer, FRAME.drop(columns=["amount"]), fill_columns=True)
    assert (X[:, 0] == np.median(FRAME["amount"])).all()
    assert any("60 rows lack this column" in line for line in lines)
    with pytest.raises(TableError, match="and 1 more"):
        vectorizer.transform(FRAME[[]].assign(other=1), fill_columns=True)


def test_additional_column_is_noted(vectorizer: Vectorizer) -> None:
    X, lines = told(vectorizer, FRAME.assign(label=1))
    np.testing.assert_array_equal(X, vectorizer.transform(FRAME))
    assert lines == ["column 'label': was not there in training, and is left alone"]


def test_columns_left_out_in_training_are_no_news() -> None:
    frame = FRAME.assign(row=np.arange(N))
    vectorizer = Vectorizer().fit(frame)
    assert told(vectorizer, frame)[1] == []
    assert told(vectorizer, FRAME)[1] == []  # nor are they needed


def test_new_category(vectorizer: Vectorizer) -> None:
    X, lines = told(vectorizer, FRAME.assign(city=["Paris", "Bern"] * 30))
    names = vectorizer.feature_names_out_
    assert X[0, [names.index(f"city = {city}") for city in ("Bern", "Rome", "Oslo")]].sum() == 0
    assert lines == [
        "column 'city': 30 rows have values that were not in training, such as 'Paris'"
    ]


def test_new_category_beside_rare_ones_is_rare() -> None:
    cities = ["Bern", "Rome"] * 29 + ["Oslo", "Bonn"]
    vectorizer = Vectorizer().fit(FRAME.assign(city=cities))
    X, lines = told(vectorizer, FRAME.assign(city=["Paris", "Oslo"] * 30))
    place = vectorizer.feature_names_out_.index("city = (other)")
    assert (X[:, place] == 1).all()
    assert any("30 rows have values that were not" in line and "'Paris'" in line for line in lines)


def test_missing_where_none_was(vectorizer: Vectorizer) -> None:
    changed = FRAME.copy()
    changed.loc[:4, ["amount", "city", "flag", "when", "note", "gap"]] = None
    X, lines = told(vectorizer, changed)
    assert len(lines) == 5  # all but gap, which had some in training
    assert (
        "column 'amount': 5 cells are missing, none was in training; the median 44.25" in lines[0]
    )
    assert (X[:5, 0] == 44.25).all()


def test_types_that_can_be_cast(vectorizer: Vectorizer) -> None:
    X = vectorizer.transform(FRAME)
    for change in (
        {"amount": [f"{value:.1f}" for value in FRAME["amount"]]},
        {"amount": [f"€ {value:,.1f}" for value in FRAME["amount"]]},
        {"city": pd.Categorical(FRAME["city"])},
        {"city": [f"  {city} " for city in FRAME["city"]]},
        {"flag": FRAME["flag"] == "yes"},
        {"flag": (FRAME["flag"] == "yes").astype(float)},
        {"flag": [{"yes": "1", "no": "0"}[each] for each in FRAME["flag"]]},
        {"flag": FRAME["flag"].str.upper()},
        {"when": pd.date_range("2024-01-01", periods=N)},
        {"when": pd.date_range("2024-01-01", periods=N).strftime("%Y-%m-%d")},
        {"when": [day.date() for day in pd.date_range("2024-01-01", periods=N)]},
        {"note": pd.Categorical(FRAME["note"])},
    ):
        got, lines = told(vectorizer, FRAME.assign(**change))
        np.testing.assert_allclose(got, X, rtol=1e-6)
        assert lines == []


def test_numbered_categories_in_any_type() -> None:
    frame = FRAME.assign(shop_id=np.arange(N) % 4)
    vectorizer = Vectorizer().fit(frame)
    X = vectorizer.transform(frame)
    for values in (frame["shop_id"].astype(float), frame["shop_id"].astype(str)):
        np.testing.assert_array_equal(told(vectorizer, frame.assign(shop_id=values))[0], X)


def test_some_cells_that_cannot_be_cast(vectorizer: Vectorizer) -> None:
    values = FRAME["amount"].astype(str)
    values[[1, 4]] = "broken"
    X, lines = told(vectorizer, FRAME.assign(amount=values))
    assert X[1, 0] == 44.25
    assert "column 'amount': 2 cells are no number and count as missing, such as 'broken'" in lines


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("amount", ["high"] * N),
        ("amount", pd.date_range("2024-01-01", periods=N)),
        ("amount", [[1]] * N),
        ("when", ["soon"] * N),
        ("when", np.arange(N)),
        ("flag", ["maybe"] * N),
        ("city", [[1]] * N),
        ("note", [[1]] * N),
    ],
)
def test_types_that_cannot_be_cast(vectorizer: Vectorizer, column: str, values: object) -> None:
    with pytest.raises(TableError, match=f"column '{column}' .*when the model was fitted"):
        vectorizer.transform(FRAME.assign(**{column: values}))


def test_differences_are_warned_of_without_a_tally(vectorizer: Vectorizer) -> None:
    with pytest.warns(TableWarning, match="differs from the fitted table: column 'extra'"):
        vectorizer.transform(FRAME.assign(extra=1))


def test_tally_adds_up_over_parts(vectorizer: Vectorizer) -> None:
    tally = Tally()
    csv = FRAME.assign(city="Paris", extra=1).to_csv(index=False).encode()
    for part in iter_table(io.BytesIO(csv), rows=7):
        vectorizer.transform(part, tally=tally)
    assert tally.lines() == [
        "column 'extra': was not there in training, and is left alone",
        "column 'city': 60 rows have values that were not in training, such as 'Paris'",
    ]


def test_json_lines_may_lack_keys(vectorizer: Vectorizer) -> None:
    rows = FRAME.astype(object).where(FRAME.notna(), None).to_dict("records")
    lines = "\n".join(json.dumps({k: v for k, v in row.items() if v is not None}) for row in rows)
    X = np.concatenate(
        [
            vectorizer.transform(part, tally=Tally())
            for part in iter_table(io.BytesIO(lines.encode()), rows=1)
        ]
    )
    np.testing.assert_allclose(X, vectorizer.transform(FRAME), rtol=1e-6)


def test_a_table_without_any_other_column():
    vectorizer = Vectorizer(min_count=1).fit(read_table({"a": [1.0, 2.0, 3.0]}))
    table = read_table({"id": ["a", "b"]}).without({"id"})
    with pytest.raises(TableError, match=r"It has no other columns\. Add the missing ones"):
        vectorizer.transform(table)


@pytest.mark.parametrize(("fitted", "asked"), [("129.5", "129,5"), ("129,5", "129.5")])
def test_the_other_decimal_mark_is_read(fitted, asked):
    mark = fitted[3]
    texts = [f"{place}{mark}5" for place in range(60)]
    vectorizer = Vectorizer().fit(read_table({"a": [*texts, asked]}))
    tally = Tally()
    found = vectorizer.transform(read_table({"a": [fitted, asked]}), tally=tally)
    assert found.tolist() == [[129.5], [129.5]]
    assert not tally.lines()
