import copy

import numpy as np
import pytest

from robustpu import Curriculum, PUVotingClassifier, datasets, make_pu
from robustpu.workflow.config import FitConfig
from robustpu.workflow.rounds import summarize_rounds
from robustpu.workflow.training import make_model, train


@pytest.fixture(scope="module")
def model():
    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=150, prior=0.3, random_state=0
    )
    model = make_model(FitConfig("robust-pu", members=2), 0.3)
    return train(model.set_params(curriculum=Curriculum(max_rounds=4)), pu.X, pu.y).model


def test_rounds_are_means_of_the_history(model):
    found = summarize_rounds(model)
    rounds = found.rounds
    assert [each.number for each in rounds] == [0, 1, 2, 3, 4]
    third = [entry for entry in model.history_ if entry["round"] == 3]
    assert rounds[3].score == pytest.approx(np.mean([entry["score"] for entry in third]))
    assert rounds[3].threshold_positive == pytest.approx(
        np.mean([entry["threshold_positive"] for entry in third])
    )
    # The rate at the end of round 2 is that at the start of round 3.
    rate = np.mean([entry["positive_rate"] for entry in third])
    assert rounds[2].flagged == pytest.approx(rate)
    assert rounds[4].flagged is None
    assert rounds[0].threshold_positive is None
    assert sum(each.n_best for each in rounds) == 2
    assert all(rounds[number].n_best > 0 for number in model.best_round_)


@pytest.mark.parametrize(("best", "middle"), [([0, 4], 0), ([1, 3, 4], 3), ([2, 2], 2)])
def test_the_middle_of_the_best_rounds_is_the_best_of_some_network(model, best, middle):
    changed = copy.copy(model)
    changed.best_round_ = np.array(best)
    found = summarize_rounds(changed)
    assert found.best == middle
    assert found.rounds[middle].n_best > 0


def test_weights_of_each_round_are_counted(model):
    found = summarize_rounds(model)
    for side, mask in (("positive", model.is_positive_), ("unlabeled", ~model.is_positive_)):
        counts = [getattr(each, f"weights_{side}") for each in found.rounds]
        assert counts[0] == ()
        for number in range(1, 5):
            weights = model.weight_path_[number - 1][mask]
            assert sum(counts[number]) == np.isfinite(weights).sum()
            assert counts[number][-1] == np.sum(weights >= 0.95)


def test_an_ensemble_has_the_rounds_of_all_its_networks(model):
    ensemble = PUVotingClassifier([])
    ensemble.estimators_, ensemble.is_positive_ = [model, copy.copy(model)], model.is_positive_
    found, alone = summarize_rounds(ensemble), summarize_rounds(model)
    assert [each.n_best for each in found.rounds] == [2 * each.n_best for each in alone.rounds]
    for ours, theirs in zip(found.rounds, alone.rounds, strict=True):
        assert ours.score == pytest.approx(theirs.score)
        assert ours.weights_unlabeled == theirs.weights_unlabeled


def test_methods_without_rounds_have_none():
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    y = np.arange(60) % 3 // 2
    assert summarize_rounds(train(make_model(FitConfig("puet"), 0.2), X, y).model) is None
    assert summarize_rounds(train(make_model(FitConfig("nnpu"), 0.2), X, y).model) is None
