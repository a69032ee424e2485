import numpy as np
import pytest

from robustpu.workflow import effects
from robustpu.workflow.effects import (
    draw_background,
    drivers,
    features_of,
    importance,
)
from robustpu.workflow.suspects import _lowering, _raising

SOURCES = ["a", "b", "b", "c"]


def sigmoid(X):
    """A model that looks at a and at the first feature of b."""
    return 1 / (1 + np.exp(-(X[:, 0] - 2 * X[:, 1])))


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)


def log_odds(p):
    p = np.clip(p, 0.001, 1 - 1e-12)
    return np.log(p / (1 - p))


def test_drivers_are_the_mean_change_by_rows_of_the_background(rows):
    columns, effects = drivers(sigmoid, rows[:5], rows[[5, 6, 7, 8, 8, 8]], SOURCES)
    assert columns == ["a", "b", "c"]
    for place in range(5):
        for column, features in (("a", [0]), ("b", [1, 2]), ("c", [3])):
            changed = []
            for other in rows[[5, 6, 7, 8, 8, 8]]:
                moved = rows[place].copy()
                moved[features] = other[features]
                changed.append(log_odds(sigmoid(moved[None]))[0])
            wanted = log_odds(sigmoid(rows[place : place + 1]))[0] - np.mean(changed)
            assert effects[place, columns.index(column)] == pytest.approx(wanted, abs=1e-6)


def test_drivers_do_not_depend_on_how_many_rows_are_done_at_a_time(rows, monkeypatch):
    whole = drivers(sigmoid, rows[:9], rows[20:30], SOURCES)[1]
    monkeypatch.setattr("robustpu.workflow.effects.CHUNK", 1)
    assert np.allclose(drivers(sigmoid, rows[:9], rows[20:30], SOURCES)[1], whole)


def test_of_many_values_a_few_do_as_well(rows, monkeypatch):
    background = np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)
    count = Counted()
    few = drivers(count, rows, background, SOURCES)[1]
    assert count.rows == len(rows) * (1 + 3 * 5)
    monkeypatch.setattr(effects, "VALUES", 30)
    whole = drivers(sigmoid, rows, background, SOURCES)[1]
    # Of b the order is that of its first feature.
    assert np.corrcoef(few.ravel(), whole.ravel())[0, 1] > 0.98
    half = drivers(sigmoid, rows, background[:15], SOURCES)[1]
    assert np.abs(few - whole)[:, 0].max() < np.abs(half - whole)[:, 0].max()


def test_importance_orders_columns_by_what_they_change(rows):
    found = importance(sigmoid, rows, np.arange(60) % 2, SOURCES)
    assert [each.column for each in found] == ["b", "a", "c"]
    assert found[2].value == 0
    # The mean of |x - x'| of normal numbers is 2 / sqrt(pi); b counts twice.
    assert found[1].value == pytest.approx(2 / np.pi**0.5, rel=0.25)
    assert found[0].value / found[1].value == pytest.approx(2, rel=0.25)
    assert found[0].deviation > 0
    assert found == importance(sigmoid, rows, np.arange(60) % 2, SOURCES)


def test_probabilities_near_the_ends_make_no_difference(rows):
    tiny = importance(lambda X: 1e-9 * (X[:, 0] > 0), rows, np.arange(60) % 2, SOURCES)
    assert all(each.value == 0 for each in tiny)


def test_the_background_is_unlabelled(rows):
    y = np.zeros(60, dtype=int)
    y[:50] = 1
    assert {tuple(row) for row in draw_background(rows, y)} == {tuple(row) for row in rows[50:]}
    assert len(draw_background(rows, 0 * y, size=7)) == 7


def test_features_of_a_column_need_not_be_neighbours():
    assert features_of(["a", "b", "a"])["a"].tolist() == [0, 2]


class Counted:
    """A scorer that counts the rows it is asked for."""

    def __init__(self):
        self.rows = 0

    def __call__(self, X):
        self.rows += len(X)
        return sigmoid(X)


@pytest.mark.parametrize("columns", [40, 400, 2000])
def test_what_is_scored_is_bounded_however_many_columns_there_are(monkeypatch, columns):
    monkeypatch.setattr("robustpu.workflow.effects.BUDGET", 10_000)
    monkeypatch.setattr("robustpu.workflow.effects.LEAST_SAMPLE", 4)
    X = np.random.default_rng(0).normal(size=(1000, columns)).astype(np.float32)
    sources, y = [f"c{place}" for place in range(columns)], np.arange(1000) % 2
    count = Counted()
    found = importance(count, X, y, sources)
    assert len(found) == columns
    assert count.rows < 12_000
    count = Counted()
    named, effects = drivers(count, X[:50], X[50:60], sources)
    assert (len(named), effects.shape) == (columns, (50, columns))
    assert count.rows < 25_000


def test_of_many_columns_those_that_count_are_measured(monkeypatch):
    monkeypatch.setattr("robustpu.workflow.effects.BUDGET", 1_000)
    monkeypatch.setattr("robustpu.workflow.effects.LEAST_COLUMNS", 3)
    X = np.random.default_rng(0).normal(size=(300, 60)).astype(np.float32)
    sources = [f"c{place}" for place in range(60)]
    _, effects = drivers(sigmoid, X[:50], X[50:80], sources)
    assert np.flatnonzero(np.abs(effects).max(0) > 1e-4).tolist() == [0, 1]
    whole = drivers(sigmoid, X[:50], X[50:80], ["c0", "c1", *["c"] * 58])[1]
    assert effects[:, :2] == pytest.approx(whole[:, :2], abs=1e-5)


def test_importance_does_not_depend_on_how_many_columns_are_done_at_a_time(rows, monkeypatch):
    whole = importance(sigmoid, rows, np.arange(60) % 2, SOURCES)
    monkeypatch.setattr("robustpu.workflow.effects.CHUNK", 1)
    one_by_one = importance(sigmoid, rows, np.arange(60) % 2, SOURCES)
    assert [each.value for each in one_by_one] == pytest.approx([each.value for each in whole])


def test_a_row_has_the_same_drivers_in_any_list():
    random = np.random.default_rng(0)
    many = random.normal(size=(700, 30)).astype(np.float32)
    slopes, background = random.normal(size=30), random.normal(size=(30, 30)).astype(np.float32)

    def score(rows):
        return 1 / (1 + np.exp(-rows @ slopes / 3))

    sources = [f"c{place}" for place in range(30)]
    alone, together = (drivers(score, rows, background, sources)[1] for rows in (many[:3], many))
    np.testing.assert_allclose(alone, together[:3], atol=1e-6)


def test_numbers_that_are_scored_do_not_grow_with_the_square_of_the_columns(monkeypatch):
    monkeypatch.setattr(effects, "NUMBERS", 100_000)
    scored = []
    for d in (500, 1000):
        X = np.random.default_rng(0).normal(size=(60, d)).astype(np.float32)
        total = 0

        def score(rows):
            nonlocal total
            total += rows.size
            return 1 / (1 + np.exp(-3 * rows[:, 7].astype(np.float64)))

        names = [f"c{place}" for place in range(d)]
        found = effects.importance(score, X, np.arange(60) % 2, names)
        assert found[0].column == "c7"
        assert len(found) == d
        scored.append(total)
    assert scored[1] < 2.5 * scored[0]


def test_a_costly_scorer_gets_fewer_rows():
    X = np.random.default_rng(0).normal(size=(1000, 30)).astype(np.float32)
    sources, y = [f"c{place}" for place in range(30)], np.arange(1000) % 2
    scored = {}
    for cost in (1, 20):
        count = Counted()
        found = importance(count, X, y, sources, cost=cost)
        assert [each.column for each in found[:2]] == ["c1", "c0"]
        first = count.rows
        _, effects = drivers(count, X[:500], X[500:530], sources, cost=cost)
        scored[cost] = first, count.rows - first
        assert np.flatnonzero(np.abs(effects).max(0) > 1e-4).tolist() == [0, 1]
        alone = drivers(count, X[:3], X[500:530], sources, cost=cost)[1]
        np.testing.assert_allclose(alone, effects[:3], atol=1e-6)
    assert scored[20][0] < scored[1][0] / 6
    assert scored[20][1] < scored[1][1] / 8


def test_a_costly_scorer_of_few_columns_compares_with_few_values(rows):
    background = np.random.default_rng(1).normal(size=(31, 4)).astype(np.float32)
    background[:, 2] = background[:, 1]
    columns, effects = drivers(sigmoid, rows, background, SOURCES, cost=100)
    middle = np.sort(background[:, 0])[15]
    assert effects[:, columns.index("a")] == pytest.approx(rows[:, 0] - middle, abs=1e-4)


def test_rows_that_are_nearly_certain_have_reasons(rows):
    def certain(X):
        return 1 / (1 + np.exp(-20 - X[:, 0].astype(np.float64)))

    columns, effects = drivers(certain, rows[:5], rows[5:9], SOURCES)
    assert effects[:, columns.index("a")] == pytest.approx(
        rows[:5, 0] - rows[5:9, 0].mean(), abs=1e-4
    )


def test_reasons_for_and_against_a_row_are_its_strongest():
    effects = np.array([0.5, -0.3, 2.0, -0.06, 1.0, -1.0, 0.1, 0.0])
    names = list("abcdefgh")
    raising = _raising(names, effects, {"c": "1"})
    assert [(each.column, each.value) for each in raising] == [("c", "1"), ("e", ""), ("a", "")]
    # A tenth of the strongest is the least that counts.
    assert [each.column for each in _lowering(names, effects, {})] == ["f", "b"]
    assert _lowering(names, np.minimum(effects, 0) / 100, {}) == ()
