"""What is told while it goes on, and when a model has collapsed."""

import numpy as np
import pytest

from robustpu.progress import time_left
from robustpu.study import compare_table, fit_table
from robustpu.study.findings import collapse_alarms
from robustpu.study.stages import lines
from robustpu.study.training import Wish

GIVEN = {"label": "fraud", "id": "claim", "drop": ("filed",)}


def stages_of(call, *args, **kwargs):
    told = []
    call(*args, progress=lambda stage, done, total: told.append(stage), **kwargs)
    return list(dict.fromkeys(told))


@pytest.mark.parametrize(("prior", "is_told"), [(0.2, False), ("count:30", False), ("auto", True)])
def test_a_share_that_is_given_is_not_said_to_be_estimated(table, prior, is_told):
    told = stages_of(fit_table, table, prior=prior, method="elkan-noto", **GIVEN)
    assert ("prior" in told) is is_told
    assert {"reading", "training", "drivers"} <= set(told)
    told = stages_of(compare_table, table, prior=prior, methods=["elkan-noto"], folds=2, **GIVEN)
    assert ("prior" in told) is is_told


def test_no_time_is_foretold_before_it_is_known():
    assert time_left(2.9, 50, 100, is_most=False) == ""
    assert time_left(60, 1, 100, is_most=False) == ""
    assert time_left(60, 0, 0, is_most=True) == ""
    assert time_left(60, 20, 100, is_most=False) == "4:00"
    assert time_left(60, 20, 100, is_most=True) == "at most about 4:00"
    assert time_left(60, 120, 100, is_most=False) == "0:00"


def test_networks_may_be_further_than_the_epochs_tell(capsys):
    seconds = iter([0, 0, 61, 62, 130])
    tell = lines(lambda: next(seconds))
    tell("training", 0, 10)
    tell("training", 4, 10)
    tell("scoring", 0, 10)
    tell("scoring", 4, 10)
    assert capsys.readouterr().err.splitlines() == [
        "0:00  Training",
        "1:01  Training, at least 40%",
        "1:02  Scoring",
        "2:10  Scoring, 40%",
    ]


def alarm(score, wish=None, command="robustpu fit a.csv", prior=0.2, threshold=0.5):
    found = collapse_alarms(np.array(score), prior, wish or Wish(), threshold, command)
    assert [own["kind"] for own in found] in ([], ["collapse"])
    return found[0]["text"] if found else ""


FEW = [0.9] + [0.1] * 99


def test_a_collapse_names_one_rate_and_what_the_command_has():
    text = alarm(FEW)
    assert text.startswith("1.0% of the unlabelled rows are answered positive, with a score of 0.5")
    assert "all-negative" in text
    assert text.count("%") == 2
    assert "--prior if" in text
    assert "--method puet." in text
    assert "all-positive" in alarm([0.9] * 100)
    assert alarm([0.9] * 20 + [0.1] * 80) == ""


def test_another_method_is_advised_than_the_one_that_collapsed():
    assert "--method nnpu." in alarm(FEW, Wish("puet"))


def test_in_python_options_are_called_as_there():
    text = alarm(FEW, command=None)
    assert "--" not in text
    assert 'prior= if you know it better, or try another method, such as method="puet".' in text


def test_a_target_of_few_answers_is_no_collapse():
    score = [0.7] * 20 + [0.1] * 80
    assert alarm(score, Wish(threshold="top:1"), threshold=0.95) == ""
    assert "a score of 0.95 or more" in alarm(score, Wish(threshold=0.95), threshold=0.95)
    low = alarm([0.1] * 100, Wish(threshold="top:10"), threshold=0.05)
    assert low.startswith("0.0% of the unlabelled rows have a score of 0.5 or more")


def test_a_model_that_ranks_has_not_collapsed():
    given = np.array(FEW), 0.2, Wish(), 0.5, "robustpu fit a.csv"
    (own,) = collapse_alarms(*given, 0.75)
    assert own["kind"] == "level"
    assert "collapsed" not in own["text"]
    assert own["text"].endswith("take --threshold prior.")
    assert [each["kind"] for each in collapse_alarms(*given, 0.55)] == ["collapse"]
    everything = np.full(100, 0.9)
    assert collapse_alarms(everything, *given[1:], 0.75)[0]["kind"] == "collapse"
    target = Wish(threshold="top:10")
    assert collapse_alarms(np.full(100, 0.1), 0.2, target, 0.05, None, 0.75) == []


def test_a_threshold_of_ones_own_is_no_collapse_of_what_ranks(table):
    found = fit_table(table, prior=0.6, threshold=0.999, method="nnpu", members=1, **GIVEN).findings
    assert not [own for own in found["alarms"] if own["kind"] in ("collapse", "level")]
    assert not [each for each in found["alarms"] if each["kind"] == "fit"]
    assert "standardize" not in str(found["alarms"])
    assert not [line for line in found["evaluation"]["remarks"] if "collapsed" in line]
