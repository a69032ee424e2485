"""Important columns at the top of the list, and in the other unlabelled rows."""

import numpy as np
import pytest

from robustpu.results import OTHER
from robustpu.tables import Roles
from robustpu.workflow.problem import make_problem
from robustpu.workflow.profiles import FEWEST, MOST, profiles

N = 400


@pytest.fixture(scope="module")
def found():
    """Profiles of a table whose last rows have the highest scores: a tenth of 390 is 39 rows."""
    number = np.arange(N)
    random = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + number
    table = {
        "number": [None if place % 50 == 7 else place + 0.5 for place in number],
        "count": (number // 40).tolist(),
        "skewed": np.exp(random.normal(0, 2, N)).tolist(),
        "flag": (number >= 380).astype(int).tolist(),
        "city": np.where(number >= 390, "Rome", random.choice(list("ABCDEFGHIJKL"), N)).tolist(),
        "yes": ["yes" if place >= 370 else "no" for place in number],
        "filed": days.astype(str).tolist(),
        "text": [f"a long remark about claim {place} {place * 7}" for place in number],
        "label": ["x" if place < 10 else None for place in number],
    }
    problem = make_problem(table, Roles(label="label"))
    names = [name for name in table if name != "label"]
    return {each.column: each for each in profiles(problem, number / N, names)}


def test_groups_are_the_top_of_the_list_and_the_rest(found):
    assert "text" not in found
    for profile in found.values():
        assert (profile.listed.total, profile.others.total) == (39, 351)


def test_numbers_are_in_bins_with_their_quantiles(found):
    number = found["number"]
    assert number.kind == "number"
    assert sum(number.listed.counts[:-2]) == 0
    assert (sum(number.others.counts), number.others.missing) == (351 - 7, 7)
    assert number.listed.quantiles[2] == pytest.approx(380, abs=1)
    assert number.others.quantiles[2] == pytest.approx(185, abs=3)


def test_whole_numbers_have_whole_bins(found):
    assert found["count"].edges == tuple(np.arange(11) - 0.5)
    assert found["count"].listed.counts == (*[0] * 9, 39)


def test_bins_of_skewed_numbers_grow(found):
    widths = np.diff(found["skewed"].edges)
    assert (widths[1:] > widths[:-1]).all()


def test_values_are_counted_and_rare_ones_together(found):
    assert found["flag"].values == ("0", "1")
    assert found["flag"].listed.counts == (19, 20)
    assert set(found["yes"].values) == {"no", "yes"}
    city = found["city"]
    assert (len(city.values), city.values[-1]) == (10, OTHER)
    assert city.listed.counts[city.values.index("Rome")] == 10


def test_words_that_are_more_frequent_at_the_top_are_counted():
    number = np.arange(N)
    remarks = np.array([f"at home, invoice {place}" for place in number], dtype=object)
    remarks[380:] = [f"at home, left at once in a hurry {place}" for place in range(20)]
    remarks[350:370] = None
    labels = ["x" if place < 10 else None for place in number]
    problem = make_problem({"remark": remarks.tolist(), "label": labels}, Roles(label="label"))
    (words,) = profiles(problem, number / N, ["remark"])
    assert words.kind == "word"
    # Of a phrase one word; "at" and "home" are everywhere.
    assert words.values == ("hurry",)
    assert (words.listed.counts, words.others.counts) == ((20,), (0,))
    assert (words.listed.total, words.others.total) == (39, 351)
    assert (words.listed.missing, words.others.missing) == (9, 11)


def test_dates_are_days(found):
    filed = found["filed"]
    assert filed.kind == "date"
    first = np.datetime64("2024-01-01").astype(int)
    assert first + 10 <= filed.edges[0] + 0.5 < filed.edges[-1] <= first + N + 28
    assert filed.listed.quantiles[2] == pytest.approx(first + 380, abs=1)


@pytest.mark.parametrize(("n", "size"), [(30, 15), (60, FEWEST), (1000, 100), (5000, MOST)])
def test_a_tenth_of_the_rows_is_compared_within_bounds(n, size):
    table = {"x": 0.5 + np.arange(n + 5), "label": ["x"] * 5 + [None] * n}
    (profile,) = profiles(make_problem(table, Roles(label="label")), np.arange(n + 5) / n, ["x"])
    assert profile.listed.total == size


def test_a_single_unlabelled_row_has_no_words_to_compare():
    remarks = [f"at home, left at once, invoice {place}" for place in range(N)]
    labels = ["x"] * (N - 1) + [None]
    problem = make_problem({"remark": remarks, "label": labels}, Roles(label="label"))
    assert profiles(problem, np.arange(N) / N, ["remark"]) == ()
