"""Results that a stranger may have written: refused, or drawn without harm."""

import copy
import json
import math
import random

import pytest

from robustpu import ModelFolderError
from robustpu.cli.fit import summary
from robustpu.report import render
from robustpu.results import Results, read_results
from robustpu.validation.schema import SchemaError
from robustpu.workflow.folder import name_damage

JUNK = (None, True, -1, 0, 1, 1e15, 10**30, 0.5, 1e-9, -1e308, math.nan, math.inf)
JUNK += ("", "\x1b[2J", "x" * 5000, [], [[]], [None], {}, {"a": {}})


def places(value, path=()):
    """All places in nested values."""
    yield path
    if isinstance(value, dict):
        for name, part in value.items():
            yield from places(part, (*path, name))
    elif isinstance(value, list):
        for place, part in enumerate(value[:3]):
            yield from places(part, (*path, place))


def changed(document, path, value):
    made = copy.deepcopy(document)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return made


@pytest.fixture(scope="module")
def document(study):
    """Few suspects and profiles, so that copies are quick."""
    made = study.results.to_json()
    kinds = {each["kind"]: each for each in made["profiles"]}
    made["profiles"] = [kinds["number"], kinds["value"]]
    rounds = [
        {"number": 0, "n_best": 1, "score": 0.8, "flagged": 0.2},
        {"number": 1, "n_best": 0, "score": 0.7, "flagged": None},
    ]
    for each in rounds:
        each |= {"threshold_positive": 0.1, "threshold_unlabeled": 0.2}
        each |= {"weights_positive": [3, 4], "weights_unlabeled": [5, 6]}
    made["rounds"] = {"best": 0, "edges": [0, 0.5, 1], "rounds": rounds}
    return {**made, "suspects": made["suspects"][:3]}


def is_accepted(document):
    try:
        return isinstance(read_results(document), Results)
    except SchemaError:
        return False


def test_what_is_written_is_read(study):
    document = study.results.to_json()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert read_results(document) == study.results


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("prior", "value"), 1.5, "prior.value must be a number from 0 to 1; it is 1.5"),
        (("prior", "value"), math.nan, "prior.value must be a number from 0 to 1; it is nan"),
        (("prior", "low"), 0.9, "prior has an interval from 0.9 to"),
        (("prior", "source"), "guess", "prior.source must be one of estimated, given"),
        (("data", "n_positive"), -1, "data.n_positive must be a whole number"),
        (("data", "rows"), 7, "data has other rows than"),
        (("evaluation", "metrics", 0, "value"), -0.1, "metrics[0] has a value of -0.1 for recall"),
        (("evaluation", "metrics", 0, "high"), 3.0, "metrics[0] has a high of 3.0 for recall"),
        (("evaluation", "metrics", 0, "low"), math.inf, "metrics[0].low must be a number"),
        (("top", 0, "high"), 1e9, "top[0] has more positives than its 1 rows"),
        (("suspects", 0, "score"), 2, "suspects[0].score must be a number from 0 to 1; it is 2"),
        (("suspects", 0, "drivers", 0, "effect"), math.nan, "drivers[0].effect must be a number"),
        (("scores", "positive", 0), -5, "scores.positive[0] must be a whole number"),
        (("scores", "edges"), [], "scores has bins and counts of different lengths"),
        (("columns", 0, "missing"), 2.0, "columns[0].missing must be a number from 0 to 1"),
        (("method", "seconds"), -1, "method.seconds must be a number"),
        (("scenario",), "both", "scenario must be one of case-control, single-set"),
        (("settings", "options"), [], "settings.options must be a dictionary"),
        (("notes",), [1], "notes[0] must be a text"),
        (("sensitivity", 0, "expected"), [1.0], "sensitivity[0] has intervals of other lists"),
        (("top",), [], "has other lists in its sensitivity"),
        (("profiles", 0, "listed", "quantiles"), [], "has bins without quantiles"),
        (("profiles", 0, "listed", "quantiles"), [1], "has 1 quantiles"),
        (("profiles", 0, "edges"), [0.0], "has bins and counts of different lengths"),
        (("rounds", "best"), 1, "rounds has a best round 1 that is the best of no network"),
        (("rounds", "edges"), [0, 1], "rounds has bins and counts of different lengths"),
    ],
)
def test_what_is_wrong_is_named(document, path, value, words):
    with pytest.raises(SchemaError, match=r"results are damaged: results.*Fit the model") as caught:
        read_results(changed(document, path, value))
    assert words in str(caught.value)


def test_what_is_missing_is_named(document):
    made = copy.deepcopy(document)
    del made["prior"]["value"]
    with pytest.raises(SchemaError, match=r"results\.prior\.value is missing"):
        read_results(made)


@pytest.mark.parametrize(
    ("schema", "words"),
    [(1, "earlier version of robustpu"), (3, "later version"), ("2", "schema must be one of 2")],
)
def test_another_schema_is_refused(document, schema, words):
    with pytest.raises(SchemaError, match=words):
        read_results({**document, "schema": schema})


def test_unknown_entries_do_no_harm(document):
    assert is_accepted(changed(document, ("prior", "later"), object()))


def test_whatever_is_accepted_can_be_shown(document):
    generator = random.Random(0)
    everywhere = [path for path in places(document) if path and path != ("schema",)]
    accepted = 0
    for path in everywhere:
        for value in generator.sample(JUNK, 3):
            made = changed(document, path, value)
            if is_accepted(made):
                accepted += 1
                results = read_results(made)
                assert "nan" not in "".join(summary(results))
                page = render(results)
                assert "nan" not in page.replace("finan", "")
    assert accepted > 80


def test_too_large_for_the_memory_is_damage_as_well():
    with pytest.raises(ModelFolderError, match="damaged"), name_damage("m"):
        raise MemoryError


@pytest.mark.parametrize(
    "path", [("suspects", 0, "score"), ("prior", "value"), ("evaluation", "metrics", 0, "high")]
)
def test_shares_may_pass_their_bounds_by_rounding(document, path):
    assert is_accepted(changed(document, path, 1 + 1e-12))
    assert not is_accepted(changed(document, path, 1 + 1e-6))
