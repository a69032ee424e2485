"""The kernel-mean estimates of the class prior."""

import math
import time

import numpy as np
import pytest
from scipy.optimize import minimize

from robustpu.priors.kernel_mean import (
    _problem,
    check_tables,
    hull_distance,
    km1,
    km2,
    median_distance,
    standardised,
    subsample,
)

RNG = np.random.default_rng(0)
BOTH = pytest.mark.parametrize("estimate", [km1, km2])


def tables(prior, n_positive, n_unlabeled, seed, columns=3, gap=1.5):
    rng = np.random.default_rng(seed)
    hidden = round(prior * n_unlabeled)
    unlabeled = rng.normal(gap, 1, (n_unlabeled, columns))
    unlabeled[hidden:] -= 2 * gap
    return rng.normal(gap, 1, (n_positive, columns)), rng.permutation(unlabeled)


def kernel_of(x, width=1.0):
    return np.exp(-((x[:, None] - x[None]) ** 2).sum(2) / (2 * width**2))


class TestHullDistance:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("extent", [1.0, 1.5, 4.0])
    def test_is_the_best_of_a_general_solver(self, seed, extent):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(12, 2))
        kernel = kernel_of(x)
        target = np.append(np.full(7, extent / 7), np.full(5, (1 - extent) / 5))
        expected = minimize(
            lambda v: (target - v) @ kernel @ (target - v) / 2,
            np.full(12, 1 / 12),
            jac=lambda v: kernel @ (v - target),
            method="SLSQP",
            bounds=[(0, 1)] * 12,
            constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 1000},
        ).fun
        distance, weight = hull_distance(kernel, target, np.full(12, 1 / 12))
        assert distance**2 / 2 == pytest.approx(expected, abs=1.1e-5)
        assert weight.sum() == pytest.approx(1)
        assert (weight >= 0).all()

    def test_start_is_left_alone(self):
        start = np.array([0.5, 0.5])
        hull_distance(np.eye(2), np.array([2.0, -1.0]), start)
        assert start.tolist() == [0.5, 0.5]

    def test_same_rows(self):
        distance, _ = hull_distance(np.ones((3, 3)), np.array([2.0, -1.0, 0.0]), np.ones(3) / 3)
        assert distance == pytest.approx(0, abs=1e-12)


class TestPieces:
    def test_width_is_that_of_the_largest_discrepancy(self):
        positive, unlabeled = tables(0.3, 40, 60, 0)
        x = np.concatenate(standardised(positive, unlabeled)[::-1])
        squared = ((x[:, None] - x[None]) ** 2).sum(2)
        middle = math.sqrt(np.median(squared[squared > 0]))
        weight = np.append(np.full(60, 1 / 60), np.full(40, -1 / 40))
        lengths = [
            math.sqrt(weight @ np.exp(-squared / (2 * (middle * factor) ** 2)) @ weight)
            for factor in 10 ** np.array([-1, -0.5, 0, 0.5, 1])
        ]
        problem = _problem(positive, unlabeled, 100, 0)
        assert problem.discrepancy == pytest.approx(max(lengths))

    def test_standardised(self):
        rng = np.random.default_rng(0)
        x = rng.normal(5, 3, (30, 2))
        both = np.concatenate(standardised(x[:10], x[10:]))
        np.testing.assert_allclose(both, (x - x.mean(0)) / x.std(0))
        constant = standardised(np.full((4, 1), 0.1), np.full((3, 1), 0.1))
        assert not np.concatenate(constant).any()

    def test_subsample(self):
        table = np.arange(10.0)[:, None]
        few = subsample(table, 4, np.random.default_rng(0))
        assert len(np.unique(few)) == 4
        assert subsample(table, 10, np.random.default_rng(0)) is table

    def test_median_distance_of_one_point(self):
        assert median_distance(np.zeros((3, 3))) == 1.0

    def test_scores_are_one_column(self):
        positive, unlabeled = check_tables([1, 2], [[3]])
        assert positive.shape == (2, 1)
        assert unlabeled.shape == (1, 1)


class TestEstimates:
    @BOTH
    @pytest.mark.parametrize("prior", [0.25, 0.5, 0.75])
    def test_two_places(self, estimate, prior):
        """P at one place, U at two: d = max(0, lambda (1 - prior) - 1) times their distance."""
        unlabeled = np.repeat([1.0, 0.0], [round(prior * 100), round((1 - prior) * 100)])
        extent = 1 / (1 - estimate(np.ones(100), unlabeled))
        assert extent == pytest.approx(1 / (1 - prior), abs=0.04)

    @BOTH
    @pytest.mark.parametrize(("columns", "gap"), [(1, 2.0), (20, 0.7)])
    @pytest.mark.parametrize("prior", [0.1, 0.4, 0.7])
    def test_gaussians(self, estimate, prior, columns, gap):
        """The higher the prior, the less the slope changes: with few rows it is found too low."""
        found = estimate(*tables(prior, 300, 500, 1, columns, gap))
        assert found == pytest.approx(prior, abs=0.08 if prior < 0.5 else 0.16)

    @BOTH
    def test_scale_of_columns_is_of_no_importance(self, estimate):
        positive, unlabeled = tables(0.4, 60, 90, 0)
        scale, shift = np.array([1e-6, 1.0, 1e6]), np.array([0.0, -7.0, 1e6])
        moved = estimate(positive * scale + shift, unlabeled * scale + shift)
        assert moved == pytest.approx(estimate(positive, unlabeled))

    @BOTH
    def test_random_state_decides_which_rows(self, estimate):
        positive, unlabeled = tables(0.4, 99, 99, 0, gap=0.8)
        few = [estimate(positive, unlabeled, max_rows=30, random_state=s) for s in (0, 0, 1, 2)]
        assert few[0] == few[1]
        assert len(set(few)) > 1

    def test_few_positives_make_km1_take_the_threshold_of_km2(self):
        positive, _ = tables(0.5, 30, 1, 0)
        unlabeled = np.concatenate([positive, positive + 0.1])
        assert _problem(positive, unlabeled, 100, 0).discrepancy < 1 / math.sqrt(30)
        assert km1(positive, unlabeled) == km2(positive, unlabeled)

    @BOTH
    def test_nothing_of_p_in_u(self, estimate):
        assert estimate(RNG.normal(9, 1, 200), RNG.normal(0, 1, 200)) < 0.05

    def test_is_quick(self):
        """A thousand rows of each and fifty columns in 10 s; the clock is of this process."""
        positive, unlabeled = tables(0.4, 1000, 1000, 0, 50, 0.35)
        start = time.process_time()
        found = km2(positive, unlabeled)
        assert time.process_time() - start < 10
        assert found == pytest.approx(0.4, abs=0.1)


@BOTH
@pytest.mark.parametrize(
    ("positive", "unlabeled"),
    [
        ([2.0], RNG.normal(size=50)),
        ([2.0], [1.0]),
        (RNG.normal(size=50), [2.0]),
        (np.zeros((9, 2)), np.zeros((12, 2))),
        (np.ones(9), np.zeros(12)),
        (RNG.normal(3, 1, 99), RNG.normal(3, 1, 99)),
        (RNG.integers(1, 3, 50), RNG.integers(0, 3, 90)),
        (np.c_[RNG.normal(size=50), np.ones(50)], np.c_[RNG.normal(size=70), np.ones(70)]),
        (np.append(RNG.normal(size=50), 1e12), RNG.normal(size=50)),
    ],
    ids=["one P", "one", "one U", "equal", "apart", "all P", "ties", "constant", "outlier"],
)
def test_is_a_share_whatever_comes(estimate, positive, unlabeled):
    found = estimate(positive, unlabeled)
    assert isinstance(found, float)
    assert 0 <= found <= 1


@BOTH
def test_rows_that_say_nothing_give_the_largest(estimate):
    assert estimate(np.zeros(50), np.zeros(70)) == 0.875


class TestErrors:
    @BOTH
    def test_pictures(self, estimate):
        message = r"positive must be a table.* its shape is \(3, 2, 2\). Flatten it"
        with pytest.raises(ValueError, match=message):
            estimate(np.zeros((3, 2, 2)), np.zeros((3, 4)))

    @BOTH
    def test_other_columns(self, estimate):
        with pytest.raises(ValueError, match="the same columns; they have 2 and 1"):
            estimate(np.zeros((3, 2)), np.zeros(4))

    @BOTH
    @pytest.mark.parametrize(("positive", "unlabeled"), [([], [1.0]), ([1.0], [math.nan])])
    def test_empty_or_nan(self, estimate, positive, unlabeled):
        with pytest.raises(ValueError, match=r"must (have at least one row|be finite)"):
            estimate(positive, unlabeled)

    @BOTH
    def test_max_rows(self, estimate):
        with pytest.raises(ValueError, match="max_rows must be a whole number at least 2"):
            estimate([1.0], [1.0], max_rows=1)
