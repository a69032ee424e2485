"""Columns that give the label away."""

import numpy as np
import pytest

from robustpu.tables import Vectorizer

N = 2_000
Y = (np.arange(N) < 120).astype(int)


def alarms(cells):
    columns = Vectorizer().fit({"x": np.arange(N) ** 0.5, "tried": cells}, Y).columns_
    return {column.name for column in columns if column.alarm} - {"x"}


@pytest.mark.parametrize("n_values", [1, 2, 5])
def test_values_that_only_positives_have_are_an_alarm(n_values):
    random = np.random.default_rng(0)
    theirs, others = random.integers(n_values, size=N), random.integers(4, size=N)
    cells = np.where(Y == 1, np.char.mod("closed %d", theirs), np.char.mod("open %d", others))
    assert alarms(cells.tolist()) == {"tried"}


@pytest.mark.parametrize("n_values", [3, 25, 400])
def test_values_that_have_nothing_to_do_with_the_label_are_none(n_values):
    values = np.random.default_rng(1).integers(n_values, size=N)
    assert alarms([f"v{value}" for value in values]) == set()
