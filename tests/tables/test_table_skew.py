"""Numbers of which a few are far larger than all others."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest

from robustpu.tables import Vectorizer
from robustpu.tables.number_plan import LARGEST, signed_log, unit_of


@pytest.fixture
def frame():
    random = np.random.default_rng(0)
    amounts = random.lognormal(5, 2, 400)
    amounts[:40] = np.nan
    return pd.DataFrame({"amount": amounts, "age": random.normal(40, 10, 400)})


def test_a_skewed_column_is_its_logarithm_and_others_are_left(frame):
    vectorizer = Vectorizer()
    made = vectorizer.fit_transform(frame)
    known = frame["amount"].dropna()
    unit = known.median()
    by_hand = np.log1p(frame["amount"].fillna(unit) / unit)
    np.testing.assert_allclose(made[:, 0], by_hand, rtol=1e-6)
    np.testing.assert_allclose(made[:, 2], frame["age"], rtol=1e-6)
    assert "for it is skewed" in str(vectorizer.columns_[0].done)


def test_debts_are_below_0_and_zeros_stay():
    numbers = np.r_[np.zeros(50), -(10.0 ** np.linspace(0, 6, 50))]
    unit = unit_of(numbers)
    assert unit == pytest.approx(1000, rel=0.2)
    made = signed_log(numbers, unit)
    assert (made[:50] == 0).all()
    assert (np.diff(made[50:]) < 0).all()


@pytest.mark.parametrize(
    "numbers",
    [np.arange(100.0), np.repeat([0.0, 1.0], [990, 10]), np.full(9, 3.0), np.array([1.0, 2.0])],
    ids=["even", "rare ones", "constant", "two"],
)
def test_what_no_logarithm_mends_is_taken_as_it_is(numbers):
    assert unit_of(numbers) == 0


def test_the_largest_numbers_stay_finite():
    numbers = np.r_[10.0 ** np.arange(0, 300, 10), 1e308]
    unit = unit_of(numbers)
    assert np.isfinite(signed_log(np.clip(numbers, -LARGEST, LARGEST), unit or 1.0)).all()


def test_a_stored_table_has_it_and_one_of_before_has_none(frame):
    vectorizer = Vectorizer().fit(frame)
    again = Vectorizer.from_state(vectorizer.state())
    np.testing.assert_array_equal(again.transform(frame), vectorizer.transform(frame))
    old = deepcopy(vectorizer.state())
    for column in old["columns"]:
        column["plan"].pop("unit", None)
    plain = Vectorizer.from_state(old).transform(frame)
    np.testing.assert_allclose(plain[40:, 0], frame["amount"][40:], rtol=1e-6)


@pytest.mark.parametrize("unit", [-1.0, float("nan"), "x", 1e-320, 1e300])
def test_a_hostile_unit_is_refused(frame, unit):
    bad = deepcopy(Vectorizer().fit(frame).state())
    bad["columns"][0]["plan"]["unit"] = unit
    with pytest.raises(ValueError, match="unit"):
        Vectorizer.from_state(bad)


def test_rows_of_prediction_go_by_the_unit_of_training(frame):
    vectorizer = Vectorizer().fit(frame)
    one = vectorizer.transform(pd.DataFrame({"amount": [np.nan], "age": [40.0]}))
    assert one[0, 0] == pytest.approx(np.log(2), rel=1e-6)
