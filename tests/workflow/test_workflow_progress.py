"""Progress, and alarms of a model that has collapsed."""

import numpy as np
import pytest

from robustpu.results import Prior
from robustpu.training.progress import time_left
from robustpu.workflow import compare_table, fit_table
from robustpu.workflow.alarms import collapse_alarms
from robustpu.workflow.config import FitConfig
from robustpu.workflow.progress import print_lines

GIVEN = {"label": "fraud", "id": "claim", "drop": ("filed",)}


def stages_of(call, *args, **kwargs):
    stages = []
    call(*args, progress=lambda stage, done, total: stages.append(stage), **kwargs)
    return list(dict.fromkeys(stages))


@pytest.mark.parametrize(("prior", "is_estimated"), [("count:30", False), ("auto", True)])
def test_only_an_estimated_share_is_said_to_be_estimated(table, prior, is_estimated, monkeypatch):
    # The estimate itself takes seconds.
    quick = lambda *given, **more: Prior("estimated", 0.2, 0.1, 0.3)  # noqa: E731
    for module in ("fitting", "comparison"):
        monkeypatch.setattr(f"robustpu.workflow.{module}.find_prior", quick)
    stages = stages_of(fit_table, table, prior=prior, method="elkan-noto", **GIVEN)
    assert ("prior" in stages) is is_estimated
    assert {"reading", "training", "drivers"} <= set(stages)
    stages = stages_of(compare_table, table, prior=prior, methods=["elkan-noto"], folds=2, **GIVEN)
    assert ("prior" in stages) is is_estimated


def test_no_time_is_predicted_before_it_is_known():
    assert time_left(2.9, 50, 100, is_most=False) == ""
    assert time_left(60, 1, 100, is_most=False) == ""
    assert time_left(60, 0, 0, is_most=True) == ""
    assert time_left(60, 20, 100, is_most=False) == "4:00"
    assert time_left(60, 20, 100, is_most=True) == "at most about 4:00"
    assert time_left(60, 120, 100, is_most=False) == "0:00"


def test_networks_may_be_further_than_the_epochs_say(capsys):
    seconds = iter([0, 0, 61, 62, 130])
    progress = print_lines(lambda: next(seconds))
    progress("training", 0, 10)
    progress("training", 4, 10)
    progress("scoring", 0, 10)
    progress("scoring", 4, 10)
    assert capsys.readouterr().err.splitlines() == [
        "0:00  Training",
        "1:01  Training, at least 40%",
        "1:02  Scoring",
        "2:10  Scoring, 40%",
    ]


def alarm(score, config=None, prior=0.2, threshold=0.5):
    found = collapse_alarms(np.array(score), prior, config or FitConfig(), threshold)
    assert [alarm.kind for alarm in found] in ([], ["collapse"])
    return found[0].text if found else ""


FEW = [0.9] + [0.1] * 99


def test_a_collapse_names_one_rate_and_what_to_do():
    text = alarm(FEW)
    assert text.startswith("1.0% of the unlabelled rows are flagged, with a score of 0.5")
    assert "all-negative" in text
    assert text.count("%") == 2
    assert text.endswith("or with the share of positives if you know it better.")
    assert "all-positive" in alarm([0.9] * 100)
    assert alarm([0.9] * 20 + [0.1] * 80) == ""


def test_a_target_of_few_rows_is_no_collapse():
    score = [0.7] * 20 + [0.1] * 80
    assert alarm(score, FitConfig(threshold="top:1"), threshold=0.95) == ""
    assert "a score of 0.95 or more" in alarm(score, FitConfig(threshold=0.95), threshold=0.95)
    low = alarm([0.1] * 100, FitConfig(threshold="top:10"), threshold=0.05)
    assert low.startswith("0.0% of the unlabelled rows have a score of 0.5 or more")


def test_a_model_that_ranks_has_not_collapsed():
    given = np.array(FEW), 0.2, FitConfig(), 0.5
    (level,) = collapse_alarms(*given, 0.75)
    assert level.kind == "level"
    assert "collapsed" not in level.text
    assert "The order of the list is still valid" in level.text
    assert [alarm.kind for alarm in collapse_alarms(*given, 0.55)] == ["collapse"]
    everything = np.full(100, 0.9)
    assert collapse_alarms(everything, *given[1:], 0.75)[0].kind == "collapse"
    target = FitConfig(threshold="top:10")
    assert collapse_alarms(np.full(100, 0.1), 0.2, target, 0.05, 0.75) == []


def test_a_threshold_of_the_user_is_no_collapse_of_a_model_that_ranks(table):
    results = fit_table(
        table, prior=0.6, threshold=0.999, method="nnpu", members=1, **GIVEN
    ).results
    assert not {alarm.kind for alarm in results.alarms} & {"collapse", "level", "fit"}
    assert "standardize" not in str(results.alarms)
    assert not [line for line in results.evaluation.remarks if "collapsed" in line]
