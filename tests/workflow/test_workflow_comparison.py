import json

import numpy as np
import pytest

from robustpu.metrics import auc
from robustpu.tables import Roles
from robustpu.validation.schema import to_json
from robustpu.workflow import baselines, compare_table
from robustpu.workflow.config import FitConfig
from robustpu.workflow.held_out import cross_fit
from robustpu.workflow.problem import make_problem
from robustpu.workflow.training import make_model


def test_methods_are_evaluated_on_the_same_folds(table):
    given = {"label": "fraud", "id": "claim", "drop": ("filed",)}
    found = compare_table(table, methods=["elkan-noto", "puet", "puet"], prior=0.18, **given)
    assert json.dumps(to_json(found), allow_nan=False)
    values = [each.metrics["auc"].value for each in found.methods]
    assert values == sorted(values, reverse=True)
    assert len(values) == 2
    problem = make_problem(table, Roles(label="fraud", id="claim", drop=("filed",)))
    score, _ = cross_fit(make_model(FitConfig("puet"), 0.18), problem.X, problem.y, 5, 0)
    wanted = auc(problem.y, score, prior=0.18)
    puet = next(each for each in found.methods if each.method == "puet")
    metric = puet.metrics["auc"]
    assert metric.value == pytest.approx(wanted)
    assert metric.low <= wanted <= metric.high
    assert puet.seconds > 0


def test_differences_are_to_the_first_method(table):
    given = {"label": "fraud", "id": "claim", "drop": ("filed",), "prior": 0.18}
    methods = ["elkan-noto", "logistic", "boosting"]
    first, *others = compare_table(table, methods=methods, **given).methods
    assert first.difference is None
    for each in others:
        areas = [method.metrics["auc_of_labeled"].value for method in (each, first)]
        assert each.difference.value == pytest.approx(areas[0] - areas[1])
        assert each.difference.low <= each.difference.value <= min(0, each.difference.high)
        assert 0 < each.metrics["found_in_tenth"].value < 1


def test_boosting_does_without_lightgbm(monkeypatch):
    assert type(baselines.boosting()).__name__ == "LGBMClassifier"
    monkeypatch.setattr(baselines, "find_spec", lambda name: None)
    assert type(baselines.boosting()).__name__ == "HistGradientBoostingClassifier"


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
    assert found.folds == 2
    assert all(each.metrics for each in found.methods)


def test_one_that_fails_does_not_stop_the_others(table, monkeypatch):
    from robustpu import ElkanNotoClassifier

    def fail(*given, **more):
        raise ValueError("too hard")

    monkeypatch.setattr(ElkanNotoClassifier, "fit_data", fail)
    found = compare_table(
        table, methods=["elkan-noto", "puet"], label="fraud", drop=("claim",), prior=0.18
    )
    assert [each.error for each in found.methods] == [None, "too hard"]


def test_one_positive_is_too_few():
    frame = {"x": np.sqrt(np.arange(20.0)), "y": [1] + [0] * 19}
    with pytest.raises(ValueError, match="at least 2 labelled positives"):
        compare_table(frame, methods=["puet"], label="y", prior=0.2)
    with pytest.raises(ValueError, match="unknown method"):
        compare_table(frame, methods=["pu"], label="y", prior=0.2)


def test_a_share_that_scores_refute_is_noted_by_method():
    random = np.random.default_rng(0)
    y = np.arange(1200) < 200
    x = random.normal(np.where(np.arange(1200) < 300, 4.0, 0.0), 1)
    frame = {"x": x.tolist(), "y": y.astype(int).tolist()}
    given = {"methods": ["elkan-noto", "puet"], "label": "y", "folds": 2}
    found = compare_table(frame, prior=0.5, **given)
    notes = [note for note in found.notes if "allow at most" in note]
    assert len(notes) in (1, 2)
    assert all("The prior of 50.0% and" in note for note in notes)
    assert all(each.remarks for each in found.methods)
    possible = compare_table(frame, prior=0.1, **given)
    assert not [note for note in possible.notes if "allow at most" in note]
