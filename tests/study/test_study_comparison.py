import json

import numpy as np
import pytest

from robustpu.metrics import auc
from robustpu.study import compare_table
from robustpu.study.held_out import cross_fit
from robustpu.study.problem import make_problem
from robustpu.study.training import Wish, make_model
from robustpu.tables import Roles


def test_methods_are_judged_on_the_same_folds(table):
    given = {"label": "fraud", "id": "claim", "drop": ("filed",)}
    found = compare_table(table, methods=["elkan-noto", "puet", "puet"], prior=0.18, **given)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    values = [own["metrics"]["auc"]["value"] for own in found["rows"]]
    assert values == sorted(values, reverse=True)
    assert len(values) == 2
    problem = make_problem(table, Roles(label="fraud", id="claim", drop=("filed",)))
    score, _ = cross_fit(make_model(Wish("puet"), 0.18), problem.X, problem.y, 5, 0)
    wanted = auc(problem.y, score, prior=0.18)
    own = next(own for own in found["rows"] if own["method"] == "puet")
    assert own["metrics"]["auc"]["value"] == pytest.approx(wanted)
    assert own["metrics"]["auc"]["low"] <= wanted <= own["metrics"]["auc"]["high"]
    assert own["seconds"] > 0


def test_members_are_for_those_that_have_some(table):
    found = compare_table(
        table,
        methods=["puet", "nnpu"],
        label="fraud",
        drop=("claim", "filed"),
        prior=0.18,
        folds=2,
        members=2,
    )
    assert found["folds"] == 2
    assert all(own["metrics"] for own in found["rows"])


def test_one_that_fails_does_not_stop_the_others(table, monkeypatch):
    from robustpu import ElkanNotoClassifier

    def fail(*given, **more):
        raise ValueError("too hard")

    monkeypatch.setattr(ElkanNotoClassifier, "fit", fail)
    found = compare_table(
        table, methods=["elkan-noto", "puet"], label="fraud", drop=("claim",), prior=0.18
    )
    assert [own["error"] for own in found["rows"]] == [None, "too hard"]


def test_one_positive_is_too_few():
    frame = {"x": np.sqrt(np.arange(20.0)), "y": [1] + [0] * 19}
    with pytest.raises(ValueError, match="at least 2 labelled positives"):
        compare_table(frame, methods=["puet"], label="y", prior=0.2)
    with pytest.raises(ValueError, match="unknown method"):
        compare_table(frame, methods=["pu"], label="y", prior=0.2)


def test_a_share_that_scores_refute_is_told_by_method():
    random = np.random.default_rng(0)
    y = np.arange(1200) < 200
    x = random.normal(np.where(np.arange(1200) < 300, 4.0, 0.0), 1)
    frame = {"x": x.tolist(), "y": y.astype(int).tolist()}
    given = {"methods": ["elkan-noto", "bagging"], "label": "y"}
    found = compare_table(frame, prior=0.5, **given)
    told = [note for note in found["notes"] if "allow at most" in note]
    assert len(told) in (1, 2)
    assert all("the prior says 50.0%" in note for note in told)
    assert all(own["remarks"] for own in found["rows"])
    fair = compare_table(frame, prior=0.1, **given)
    assert not [note for note in fair["notes"] if "allow at most" in note]
