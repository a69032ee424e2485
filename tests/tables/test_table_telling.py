"""Where a warning points to, and how much is said about many columns."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from robustpu.tables import TableWarning, Tally, Vectorizer
from robustpu.workflow import fit_table

FRAME = {f"c{place}": [value**0.5 for value in range(40)] for place in range(20)}
MORE = {**FRAME, "extra": [1] * 40}
LABEL = [1] * 10 + [0] * 30


def here():
    return inspect.currentframe().f_back.f_lineno


def only(caught):
    (value,) = [each for each in caught if each.category is TableWarning]
    assert value.filename == __file__
    return value.lineno


def plain():
    return Vectorizer().fit(FRAME).transform


def piped():
    return make_pipeline(Vectorizer(), LogisticRegression()).fit(FRAME, LABEL).predict


def studied():
    return fit_table({**FRAME, "y": LABEL}, label="y", method="elkan-noto", prior=0.2).score


@pytest.mark.parametrize("make", [plain, piped, studied])
def test_a_warning_points_at_the_call_of_the_user(make):
    call = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(MORE)
        line = here() - 1
    assert only(caught) == line


def test_a_table_is_fitted_without_a_warning_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        fit_table({**FRAME, "y": LABEL}, label="y", method="elkan-noto", prior=0.2)


@pytest.mark.parametrize(("missing", "n_lines"), [(19, 1), (4, 1), (3, 3), (1, 1)])
def test_what_is_the_same_in_many_columns_is_said_once(missing, n_lines):
    tally = Tally()
    few = {name: value for name, value in FRAME.items() if int(name[1:]) >= missing}
    Vectorizer().fit(FRAME).transform(few, fill_columns=True, tally=tally)
    lines = tally.lines()
    assert len(lines) == n_lines
    if missing > 3:
        names = "'c0', 'c1', 'c2'" + f" and {missing - 3} more"
        assert lines[0] == (
            f"each of {missing} columns, {names}: 40 rows lack this column; its values count as "
            "missing"
        )
    else:
        assert lines[0].startswith("column 'c0': 40 rows lack this column")


def test_counts_that_differ_and_examples_are_told_of_each_column():
    tally = Tally()
    for place in range(5):
        tally.add(f"a{place}", "rows are odd", 1 + place)
        tally.add(f"b{place}", "rows have new values", 7, [f"v{place}"])
        tally.say(f"d{place}", "is new")
    lines = tally.lines()
    assert len(lines) == 11
    assert "column 'a3': 4 rows are odd" in lines
    assert "column 'b2': 7 rows have new values, such as 'v2'" in lines
    assert "each of 5 columns, 'd0', 'd1', 'd2' and 2 more: is new" in lines


def test_one_warning_names_many_columns():
    few = {"c0": FRAME["c0"]}
    with pytest.warns(TableWarning, match="each of 19 columns, 'c1', 'c2', 'c3' and 16 more"):
        found = Vectorizer().fit(FRAME).transform(few, fill_columns=True)
    assert np.isfinite(found).all()
