import json

import numpy as np
import pytest

from robustpu import datasets, make_pu
from robustpu.study.course import rounds_section
from robustpu.study.training import Wish, make_model, train


@pytest.fixture(scope="module")
def model():
    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=150, prior=0.3, random_state=0
    )
    model = make_model(Wish("robust-pu", members=2), 0.3, len(pu.y))
    return train(model.set_params(max_rounds=4), pu.X, pu.y).model


def test_rounds_are_means_of_the_history(model):
    found = rounds_section(model)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["round"] == [0, 1, 2, 3, 4]
    third = [own for own in model.history_ if own["round"] == 3]
    assert found["score"][3] == pytest.approx(np.mean([own["score"] for own in third]))
    assert found["threshold_positive"][3] == pytest.approx(
        np.mean([own["threshold_positive"] for own in third])
    )
    # The rate at the end of round 2 is that at the start of round 3.
    rate = np.mean([own["positive_rate"] for own in third])
    assert found["predicted_rate"][2] == pytest.approx(rate)
    assert found["predicted_rate"][4] is None
    assert found["threshold_positive"][0] is None
    assert found["chosen"] == round(float(np.median(model.turns_)))
    assert sum(found["taken"]) == 2
    assert all(found["taken"][turn] > 0 for turn in model.turns_)


def test_weights_of_each_round_are_counted(model):
    found = rounds_section(model)
    for side, mask in (("positive", model.is_positive_), ("unlabeled", ~model.is_positive_)):
        counts = found[f"weights_{side}"]
        assert counts[0] == []
        assert len(counts) == len(found["round"])
        for number in range(1, 5):
            own = model.weight_path_[number - 1][mask]
            assert sum(counts[number]) == np.isfinite(own).sum()
            assert counts[number][-1] == np.sum(own >= 0.95)


def test_methods_without_rounds_have_none():
    X = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    y = np.arange(60) % 3 // 2
    assert rounds_section(train(make_model(Wish("puet"), 0.2), X, y).model) is None
    assert rounds_section(train(make_model(Wish("nnpu"), 0.2), X, y).model) is None
