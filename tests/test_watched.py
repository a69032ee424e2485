"""The experiments that watch the rounds or epochs train what the classifiers train."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone

from robustpu import DistPUClassifier, NNPUClassifier, RobustPUClassifier, make_pu
from robustpu.curriculum import Curriculum

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

import selection_noise
from watched import watch, watch_epochs


def problem():
    random = np.random.default_rng(0)
    y = np.repeat([1, 0], 200)
    X = random.normal(size=(400, 3)) + y[:, None]
    return make_pu(X, y, n_positive=40, n_unlabeled=80, n_test=50, prior=0.4, random_state=0)


def test_watched_networks_end_where_robust_pu_ends():
    pu = problem()
    model = RobustPUClassifier(
        pretrain=NNPUClassifier(epochs=3),
        curriculum=Curriculum(max_rounds=2, balance=True),
        epochs=2,
        patience=None,
        prior=0.4,
        random_state=0,
        validation_fraction=0.0,
        device="cpu",
    )
    ((after, mean),) = watch([(model, pu.X, pu.y, (pu.X_test, pu.y_test))], scored=0)
    probability = model.fit(pu.X, pu.y).predict_proba(pu.X_test)[:, 1]
    assert after.shape == mean.shape == (3, 50)
    assert (after[0] == mean[0]).all()
    np.testing.assert_allclose(after[-1].sigmoid().numpy(), probability, atol=1e-5)
    assert not np.allclose(after[0].numpy(), after[-1].numpy(), atol=0.01)


ROBUST_PU = RobustPUClassifier(
    pretrain=NNPUClassifier(epochs=2), curriculum=Curriculum(max_rounds=2), epochs=3
)


@pytest.mark.parametrize(
    "model", [ROBUST_PU, NNPUClassifier(epochs=8), DistPUClassifier(epochs=4, mix_epochs=4)]
)
def test_epochs_are_watched_up_to_the_fitted_network(model):
    pu = problem()
    model = clone(model).set_params(
        patience=None, prior=0.4, random_state=0, validation_fraction=0.0, device="cpu"
    )
    seen = watch_epochs(model, pu.X, pu.y, 2)
    probability = model.fit(pu.X, pu.y).predict_proba(pu.X)[:, 1]
    assert list(seen) == [2, 4, 6, 8]
    np.testing.assert_allclose(expit(seen[8]), probability, atol=1e-5)
    assert not np.allclose(seen[2], seen[8], atol=0.001)


def test_a_round_and_a_setting_are_selected_by_the_score():
    # One table, prior and seed; two trials, two settings, three rounds.
    score = np.array([[0.5, 0.9, 0.1], [0.6, 0.6, 0.7], [0.3, 0.2, 0.8], [0.9, 0.4, 0.1]])
    error = np.array([[10.0, 20, 30], [40, 50, 60], [70, 80, 90], [15, 25, 35]])
    shape = (1, 1, 2, 2, 1, 3)
    test, validation = selection_noise.select(score.reshape(shape), error.reshape(shape))
    # The first setting has 0.9 and 0.8 at its best rounds, the second 0.7 and 0.9.
    assert test.ravel().tolist() == [20, 90]
    np.testing.assert_allclose(validation.ravel(), [10, 20])


def test_scores_are_smoothed_with_their_neighbours():
    assert selection_noise.smooth(np.array([3.0, 0, 6, 9])).tolist() == [1.5, 3, 5, 7.5]
