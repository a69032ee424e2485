"""Rankers of the pool: what they learn, and that trees as arrays score as their learners do."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from robustpu.pool.basis import (
    CityBlock,
    fit_hinges,
    fit_laplacian,
    hinges,
    laplacian,
    whitening,
)
from robustpu.pool.forests import BoostingRanker, ForestRanker
from robustpu.pool.ridge import RidgeRanker, fit_ridge
from robustpu.pool.trees import packed, packed_boosting

RANKERS = [
    RidgeRanker("hinges"),
    RidgeRanker("laplacian", random_state=0),
    ForestRanker(20, random_state=0),
    BoostingRanker(3, random_state=0),
]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    truth = X[:, 0] + np.abs(X[:, 1]) + 0.5 * rng.normal(size=600) > 1
    y = np.zeros(600, dtype=int)
    y[rng.choice(np.flatnonzero(truth), 60, replace=False)] = 1
    return X, y, truth


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
class TestRankers:
    def test_rank_positives_above_negatives(self, ranker, table):
        X, y, truth = table
        score = ranker.fit(X, y).decision_function(X)
        unlabeled = y == 0
        assert roc_auc_score(truth[unlabeled], score[unlabeled]) > 0.8

    def test_rows_with_zero_weight_do_not_count(self, ranker, table):
        X, y, _ = table
        far = np.vstack([X, X + 100])
        both = ranker.fit(far, np.append(y, 1 - y), np.repeat([1.0, 0.0], len(X)))
        if isinstance(ranker, RidgeRanker):
            # Columns are standardised and landmarks drawn by all rows.
            assert roc_auc_score(y, both.decision_function(X)) > 0.7
        else:
            np.testing.assert_allclose(
                both.decision_function(X), ranker.fit(X, y).decision_function(X)
            )

    def test_scores_do_not_depend_on_the_rows_beside(self, ranker, table):
        X, y, _ = table
        score = ranker.fit(X, y).decision_function(X)
        np.testing.assert_allclose(ranker.decision_function(X[7:9]), score[7:9], rtol=1e-6)

    def test_one_seed_one_ranking(self, ranker, table):
        X, y, _ = table
        first = ranker.fit(X, y).decision_function(X)
        np.testing.assert_array_equal(first, ranker.fit(X, y).decision_function(X))

    def test_three_labels_are_enough_to_rank(self, ranker, table):
        X, y, _ = table
        few = np.zeros_like(y)
        few[np.flatnonzero(y)[:3]] = 1
        assert np.ptp(ranker.fit(X, few).decision_function(X)) > 0


class TestRidge:
    def test_scores_of_left_out_rows_are_those_of_a_fit_without_them(self):
        """The formula for left-out rows against the fit that it stands for."""
        rng = np.random.default_rng(1)
        y = np.arange(60) < 20
        F = rng.normal(size=(60, 4)) + np.outer(y, [1.0, 0, 0, 0])
        weight, penalty = np.full(60, 1 / 60), 0.5
        mean, target = F.mean(0), y - y.mean()
        row = 3
        others = np.arange(60) != row
        centred = F - mean
        S = centred[others].T @ centred[others] / 60 + penalty * np.eye(4)
        expected = centred[row] @ np.linalg.solve(S, centred[others].T @ target[others] / 60)
        whole = centred.T @ centred / 60 + penalty * np.eye(4)
        fitted = centred[row] @ np.linalg.solve(whole, centred.T @ target / 60)
        leverage = centred[row] @ np.linalg.solve(whole, centred[row]) / 60
        found = (fitted - leverage * target[row]) / (1 - leverage)
        assert found == pytest.approx(expected)
        coef, chosen = fit_ridge(F, y, weight, (penalty,))
        assert chosen == penalty
        np.testing.assert_allclose(coef, np.linalg.solve(whole, centred.T @ target / 60))

    def test_noise_gets_the_strongest_penalty_of_few_labels(self):
        rng = np.random.default_rng(0)
        y = np.arange(400) < 20
        F = rng.normal(size=(400, 80))
        F[:, 0] += 1.5 * y
        assert fit_ridge(F, y, np.full(400, 1 / 400), (3.0, 1e-6))[1] == 3.0

    def test_unknown_basis(self, table):
        X, y, _ = table
        with pytest.raises(ValueError, match="basis must be one of hinges, laplacian"):
            RidgeRanker("splines").fit(X, y)


class TestBasis:
    def test_hinges(self):
        Z = np.column_stack([np.linspace(-1, 1, 41), np.arange(41) % 2])
        fitted = fit_hinges(Z, np.random.RandomState(0))
        found = hinges(Z, fitted)
        assert found.shape == (41, 2 + 5)
        np.testing.assert_allclose(
            found[-1, 2:], 1 - np.quantile(Z[:, 0], (0.1, 0.25, 0.5, 0.75, 0.9))
        )

    def test_no_column_with_many_values(self):
        Z = (np.arange(40) % 2)[:, None].astype(float)
        assert hinges(Z, fit_hinges(Z, np.random.RandomState(0))).shape == (40, 1)

    def test_whitened_kernel_of_landmarks_is_the_kernel(self):
        Z = np.random.default_rng(0).normal(size=(50, 3))
        fitted = fit_laplacian(Z, np.random.RandomState(0))
        kernel, whitened = laplacian(Z, fitted), whitening(fitted)
        features = kernel @ whitened
        np.testing.assert_allclose(features @ features.T, laplacian(Z, {"landmarks": Z}), atol=1e-3)

    def test_copies_of_a_row_have_no_direction(self):
        fitted = {"landmarks": np.repeat(np.eye(3), 4, axis=0)}
        assert whitening(fitted).shape == (12, 3)

    @pytest.mark.parametrize("columns", [slice(0, 3), slice(3, 4), slice(0, 4)])
    def test_distances_of_columns_with_few_values(self, columns):
        """Flags, counts and a constant among the landmarks; rows have any values."""
        rng = np.random.default_rng(0)
        landmarks = np.column_stack(
            [rng.integers(0, 2, 50), rng.integers(-1, 3, 50) / 3, np.ones(50), rng.normal(size=50)]
        )[:, columns]
        Z = rng.normal(size=(30, 4))[:, columns]
        np.testing.assert_allclose(
            CityBlock(landmarks)(Z), cdist(Z, landmarks, "cityblock"), atol=1e-5
        )


class TestTrees:
    def test_as_boosting(self, table):
        X, y, _ = table
        model = HistGradientBoostingClassifier(max_iter=7, early_stopping=False, random_state=0)
        model.fit(X.astype(np.float32), y)
        rows = X.astype(np.float32)
        found = packed(packed_boosting(model)).total(rows)
        np.testing.assert_allclose(found, model.decision_function(rows), atol=1e-9)

    def test_as_trees(self, table):
        X, y, _ = table
        rows = X.astype(np.float32)
        models = [DecisionTreeClassifier(max_depth=3, random_state=k).fit(rows, y) for k in (0, 1)]
        found = packed(model.tree_ for model in models).total(rows)
        np.testing.assert_allclose(found, sum(model.predict_proba(rows)[:, 1] for model in models))


def test_more_features_than_rows_are_no_other_problem():
    rng = np.random.default_rng(0)
    y = np.arange(40) < 15
    F = rng.normal(size=(40, 90)) + 2 * np.outer(y, np.arange(90) < 3)
    weight = rng.uniform(1, 2, 40)
    weight /= weight.sum()
    coef, penalty = fit_ridge(F, y, weight, (1.0, 0.3))
    centred = F - weight @ F
    S = (centred * weight[:, None]).T @ centred
    wanted = np.linalg.solve(S + penalty * np.eye(90), centred.T @ (weight * (y - weight @ y)))
    np.testing.assert_allclose(coef, wanted, atol=1e-10)
    # The time of an eigenvalue problem of all features would be minutes.
    wide = rng.normal(size=(40, 12_000))
    assert fit_ridge(wide, y, weight, (1.0,))[0].shape == (12_000,)


FORKED = """
import multiprocessing
import numpy as np
from robustpu.pool.basis import CityBlock
Z = np.random.default_rng(0).normal(size=(2000, 20))
distances = CityBlock(Z[:200])
def distance(_):
    return float(distances(Z).sum())
if __name__ == "__main__":
    wanted = distance(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(distance, [0]).get(20) == [wanted]
"""


@pytest.mark.skipif(sys.platform != "linux", reason="forks are safe on Linux alone")
def test_distances_in_a_forked_process(tmp_path):
    script = tmp_path / "forked.py"
    script.write_text(FORKED)
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    subprocess.run([sys.executable, script], env={**os.environ, **threads}, check=True, timeout=90)
