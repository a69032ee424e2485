"""Findings that a stranger may have written: refused, or drawn without harm."""

import copy
import math
import random

import pytest

from robustpu import ModelFolderError
from robustpu.cli.fit import summary
from robustpu.page import render
from robustpu.study.folder import check_findings, damage_told
from robustpu.study.soundness import fault

JUNK = (None, True, -1, 0, 10**30, 0.5, -1e308, math.nan, math.inf, "", "\x1b[2J", [], [[]], {})


def places(value, path=()):
    """All places in nested values."""
    yield path
    if isinstance(value, dict):
        for name, own in value.items():
            yield from places(own, (*path, name))
    elif isinstance(value, list):
        for place, own in enumerate(value[:3]):
            yield from places(own, (*path, place))


def changed(findings, path, value):
    made = copy.deepcopy(findings)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return made


@pytest.fixture
def findings(study):
    return study.findings


def test_our_own_are_sound(findings):
    assert fault(findings) is None


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("prior", "value"), 1.5, "prior.value is 1.5, expected a number from 0 to 1"),
        (("prior", "value"), math.nan, "prior.value is nan"),
        (("prior", "low"), 0.9, "has an interval from 0.9 to"),
        (("data", "n_positive"), -1, "data.n_positive is -1, expected a whole number"),
        (("data", "rows"), 7, "data has other rows than"),
        (("evaluation", "metrics", 0, "value"), -0.1, ".value of recall is -0.1"),
        (("evaluation", "metrics", 0, "high"), 3.0, ".high of recall is 3.0"),
        (("evaluation", "metrics", 0, "low"), math.inf, "metrics[0].low is inf"),
        (("top", 0, "high"), 1e9, "top[0] has more positives than its 1 rows"),
        (("suspects", 0, "score"), 2, "suspects[0].score is 2"),
        (("suspects", 0, "drivers", 0, "effect"), math.nan, "effect is nan"),
        (("scores", "positive", 0), -5, "scores.positive[0] is -5"),
        (("scores", "edges"), [], "different lengths"),
        (("columns", 0, "missing"), 2.0, "columns[0].missing is 2.0"),
        (("method", "seconds"), -1, "method.seconds is -1"),
        (("scenario",), "both", "scenario is not one of"),
        (("settings", "options"), [], "settings.options is of type list"),
        (("notes",), [1], "notes[0] is of type int, expected a text"),
    ],
)
def test_what_is_out_of_range_is_named(findings, path, value, told):
    with pytest.raises(ModelFolderError, match="findings are damaged") as caught:
        check_findings("m", changed(findings, path, value))
    assert told in str(caught.value)


def test_what_is_missing_is_named(findings):
    made = copy.deepcopy(findings)
    del made["prior"]["level"]
    assert fault(made) == ".prior.level is missing"


def test_more_than_is_known_does_no_harm(findings):
    assert fault(changed(findings, ("prior", "later"), object())) is None


def test_whatever_is_accepted_can_be_shown(findings):
    generator = random.Random(0)
    everywhere = [path for path in places(findings) if path and path != ("schema",)]
    accepted = 0
    for path in everywhere:
        for value in generator.sample(JUNK, 3):
            made = changed(findings, path, value)
            if fault(made) is None and generator.random() < 0.3:
                accepted += 1
                assert "nan" not in "".join(summary(made))
                render(made)
    assert accepted > 20


def test_too_large_for_the_memory_is_damage_as_well():
    with pytest.raises(ModelFolderError, match="damaged"), damage_told("m"):
        raise MemoryError


@pytest.mark.parametrize("path", [("evaluation", "k"), ("rounds", "taken")])
def test_what_earlier_versions_did_not_write_may_be_missing(findings, path):
    made = copy.deepcopy(findings)
    if made["rounds"] is None:
        names = ("round", "threshold_positive", "threshold_unlabeled", "predicted_rate", "score")
        more = ("taken", "edges", "weights_positive", "weights_unlabeled")
        made["rounds"] = {"chosen": 0} | {name: [] for name in (*names, *more)}
        assert fault(made) is None
    del made[path[0]][path[1]]
    assert fault(made) is None
    assert summary(made)
    assert render(made)
    # What is there must be right.
    assert f".{'.'.join(path)} is" in fault(changed(made, path, -1))


@pytest.mark.parametrize(
    "path", [("suspects", 0, "score"), ("prior", "value"), ("evaluation", "metrics", 0, "high")]
)
def test_shares_may_pass_their_bounds_by_rounding(findings, path):
    assert fault(changed(findings, path, 1 + 1e-12)) is None
    assert fault(changed(findings, path, 1 + 1e-6)) is not None
