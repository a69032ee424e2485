import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from robustpu.validation.schema import (
    Place,
    SchemaError,
    anything,
    list_of,
    mapping_of,
    number,
    one_of,
    parse_json,
    read,
    reader_of,
    record,
    text,
    to_json,
)


@dataclass(frozen=True)
class Metric:
    name: Literal["auc", "recall"]
    low: Annotated[float, number(0, 1, slack=1e-9)]
    high: float | None = None

    def __post_init__(self) -> None:
        if self.high is not None and self.low > self.high:
            raise ValueError(f"has an interval from {self.low} to {self.high}.")


@dataclass(frozen=True)
class Results:
    rows: int
    metrics: tuple[Metric, ...]
    kind: str = field(metadata={"name": "class"})
    versions: dict[str, str] = field(default_factory=dict)
    is_done: bool = False
    extra: Any = None


STORED = {
    "rows": 5,
    "metrics": [{"name": "auc", "low": 0.5, "high": 1}],
    "class": "NNPUClassifier",
}


def test_a_dataclass_survives_json():
    found = read(Results, STORED, "results")
    assert found.metrics == (Metric("auc", 0.5, 1.0),)
    assert read(Results, json.loads(json.dumps(to_json(found))), "results") == found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 5.0}, r"results\.rows must be a whole number; it is 5\.0"),
        ({"rows": True}, r"results\.rows must be a whole number; it is True"),
        ({"rows": 10**400}, r"results\.rows must be a whole number; it is too large"),
        ({"class": 3}, r"results\.class must be a text"),
        ({"metrics": {}}, r"results\.metrics must be a list; it is of type dict"),
        (
            {"metrics": [{"name": "f1", "low": 0}]},
            r"metrics\[0\]\.name must be one of auc, recall; it is 'f1'",
        ),
        (
            {"metrics": [{"name": "auc", "low": float("nan")}]},
            r"metrics\[0\]\.low must be a number from 0 to 1; it is nan",
        ),
        ({"metrics": [{"name": "auc"}]}, r"results\.metrics\[0\]\.low is missing"),
        (
            {"metrics": [{"name": "auc", "low": 1, "high": 0}]},
            r"results\.metrics\[0\] has an interval from 1\.0 to 0\.0\.$",
        ),
        ({"versions": {"torch": None}}, r"results\.versions\.torch must be a text"),
        ({"is_done": 1}, r"results\.is_done must be true or false"),
        ({"more": 1}, r"results has an unknown entry 'more'"),
    ],
)
def test_the_error_names_the_path(change, message):
    with pytest.raises(SchemaError, match=message):
        read(Results, STORED | change, "results")


def test_unknown_entries_may_be_ignored():
    stored = STORED | {"later": 1, "metrics": [STORED["metrics"][0] | {"later": 2}]}
    assert read(Results, stored, "results", ignore_unknown=True) == read(Results, STORED, "results")


def test_no_value_is_converted_to_another_type():
    for reader, value in [
        (number(), "1"),
        (number(), True),
        (number(whole=True), 1.0),
        (text(), b"a"),
        (one_of(1, 2), True),
        (one_of("a"), ["a"]),
        (list_of(text()), "ab"),
        (mapping_of(text()), [("a", "b")]),
        (mapping_of(text()), {1: "b"}),
    ]:
        with pytest.raises(SchemaError):
            reader(value, Place("value"))


def test_infinite_numbers_only_where_allowed():
    for value in (float("inf"), float("-inf"), float("nan")):
        assert repr(number(finite=False)(value, Place("score"))) == repr(value)
        with pytest.raises(SchemaError):
            number()(value, Place("score"))
    with pytest.raises(SchemaError, match="too large"):
        number(finite=False)(10**400, Place("score"))


def test_limits_against_bombs():
    with pytest.raises(SchemaError, match="at most 3 characters"):
        text(3)("abcd", Place("name"))
    with pytest.raises(SchemaError, match="0 to 2 items; it has 3"):
        list_of(text(), most=2)(["a", "b", "c"], Place("names"))
    with pytest.raises(SchemaError, match="at most 1 entries"):
        mapping_of(text(), most=1)({"a": "a", "b": "b"}, Place("names"))
    with pytest.raises(SchemaError, match="holds an item twice"):
        list_of(text(), unique=True)(["a", "a"], Place("names"))
    deep: Any = 1
    for _ in range(60):
        deep = [deep]
    with pytest.raises(SchemaError, match="nested more than 50 deep"):
        anything(deep, Place("value"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1, "a": 2}', "the key 'a' is there twice"),
        ("[NaN]", "NaN is not a number in JSON"),
        (b"{", "is not valid JSON"),
        (b"\xff\xfe\xfa", "is not valid JSON"),
        (b"[" * 100_000, "is not valid JSON"),
    ],
)
def test_json_is_parsed_strictly(content, message):
    with pytest.raises(SchemaError, match=message):
        parse_json(content, "file.json")


def test_the_number_of_json_values_is_limited():
    for content in ("[1, 1, 1]", b"[1, 1, 1]"):
        assert parse_json(content, "file.json", most_values=3) == [1, 1, 1]
        with pytest.raises(SchemaError, match="has 3 values or more; at most 2 are allowed"):
            parse_json(content, "file.json", most_values=2)


def test_messages_hold_no_control_characters():
    with pytest.raises(SchemaError) as found:
        read(dict[str, int], {"a\x1b[2J": "\x1b"}, "counts")
    assert "\x1b" not in str(found.value)


def test_a_type_that_cannot_be_read_is_an_error_of_the_program():
    with pytest.raises(TypeError, match="not a type that can be read"):
        reader_of(set[int])
    with pytest.raises(SchemaError, match="must be a dictionary"):
        record(Metric)([], Place("metric"))
