"""Dates that mean that there is none, and dates that only look so."""

import numpy as np
import pandas as pd
import pytest

from robustpu.tables import TableError, Tally, Vectorizer
from robustpu.tables.no_dates import find_nones

N = 1000
RANDOM = np.random.default_rng(0)
# The middle half is about 180 days wide.
DAYS = np.datetime64("2022-01-01") + RANDOM.integers(0, 365, N)


def mixed(date, count, days=DAYS):
    dates = days.astype("datetime64[us]").copy()
    dates[:count] = np.datetime64(date)
    return dates


def found(dates):
    return [str(np.datetime64(each, "us"))[:10] for each in find_nones(dates)]


@pytest.mark.parametrize(
    "date", ["9999-12-31", "0001-01-01", "1900-01-01", "1970-01-01", "2099-12-31", "1753-01-01"]
)
@pytest.mark.parametrize("count", [20, 300, 900])
def test_far_dates_that_come_often(date, count):
    assert found(mixed(date, count)) == [date]


def test_it_must_come_often():
    assert found(mixed("9999-12-31", 19)) == []
    many = np.tile(DAYS, 3)
    assert found(mixed("9999-12-31", 29, many)) == []
    assert found(mixed("9999-12-31", 31, many)) == ["9999-12-31"]


def test_it_must_be_far():
    # Ten widths of about half a year, and ten years.
    assert found(mixed("2029-01-01", 300)) == []
    assert found(mixed("2035-01-01", 300)) == ["2035-01-01"]
    # Births, of which the middle half is 30 years wide: 1970 and 1900 are but two of them.
    births = np.datetime64("1910-01-01") + RANDOM.integers(0, 60 * 365, N)
    assert found(mixed("1970-01-01", 300, births)) == []
    assert found(mixed("1900-01-01", 300, births)) == []
    assert found(mixed("1800-01-01", 300, births)) == []
    assert found(mixed("9999-12-31", 300, births)) == ["9999-12-31"]


def test_dates_of_a_few_days_are_dates():
    two = np.array(["2024-01-01", "2024-02-01"], "datetime64[us]").repeat(50)
    assert found(two) == []
    assert found(two[:50]) == []
    assert found(np.array(["9999-12-31"], "datetime64[us]").repeat(50)) == []
    assert found(np.array(["NaT"], "datetime64[us]").repeat(50)) == []


def test_two_of_them():
    dates = mixed("9999-12-31", 300)
    dates[300:600] = np.datetime64("0001-01-01")
    dates[600:700] = np.datetime64("2099-12-31")
    assert found(dates) == ["0001-01-01", "2099-12-31", "9999-12-31"]


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", None])
def test_they_are_as_good_as_missing(form):
    dates = pd.Series(mixed("2099-12-31", 300)).astype("datetime64[us]")
    empty = dates.where(dates.dt.year < 2099)
    frame, blank = ({"x": range(N), "closed": each} for each in (dates, empty))
    if form is not None:
        frame, blank = (
            each | {"closed": each["closed"].dt.strftime(form)} for each in (frame, blank)
        )
    vectorizer, wanted = Vectorizer().fit(frame), Vectorizer().fit(blank)
    column = vectorizer.columns_[-1]
    assert column.missing == 0.3
    assert "2099-12-31, far off all other dates, in 300 cells" in column.notes[-1]
    X = vectorizer.transform(frame, tally=Tally())
    np.testing.assert_array_equal(X, wanted.transform(blank, tally=Tally()))
    again = Vectorizer.from_state(vectorizer.state())
    np.testing.assert_array_equal(again.transform(frame, tally=Tally()), X)
    # Another far date is what it says: only those of training mean none.
    other = {"x": [1], "closed": ["2098-12-31"]}
    place = vectorizer.feature_names_out_.index("closed is missing")
    assert vectorizer.transform(other, tally=Tally())[0, place] == 0


@pytest.mark.parametrize("nones", [["2099"], [1 << 62], 5, [1.5]])
def test_a_state_with_other_things_for_dates_is_refused(nones):
    state = Vectorizer().fit({"closed": mixed("2099-12-31", 300)}).state()
    assert state["columns"][0]["plan"]["nones"] == [4102358400000000]
    state["columns"][0]["plan"]["nones"] = nones
    with pytest.raises(
        TableError, match=r"plan\.nones(\[0\] must be a whole number| must be a list)"
    ):
        Vectorizer.from_state(state)
