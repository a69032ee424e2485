"""What was learnt, stored and read again."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from test_table_vectorizer import mixed

from robustpu.tables import TableError, Tally, Vectorizer


def stored(state: Any) -> Any:
    """As a file gives it back: through JSON, arrays apart."""
    arrays: dict[str, np.ndarray] = {}

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return {key: plain(each, f"{path}/{key}") for key, each in value.items()}
        if isinstance(value, list):
            return [plain(each, f"{path}/{place}") for place, each in enumerate(value)]
        if isinstance(value, np.ndarray):
            arrays[path] = value.copy()
            return {"$array": path}
        return value

    def again(value: Any) -> Any:
        if isinstance(value, dict) and "$array" in value:
            return arrays[value["$array"]]
        if isinstance(value, dict):
            return {key: again(each) for key, each in value.items()}
        return [again(each) for each in value] if isinstance(value, list) else value

    return again(json.loads(json.dumps(plain(state, ""), allow_nan=False)))


@pytest.fixture(scope="module")
def fitted() -> Vectorizer:
    frame = mixed()
    frame["verdict"] = np.arange(len(frame)) < 50
    return Vectorizer(kinds={"claim_id": "drop"}).fit(frame, np.arange(len(frame)) < 50)


def test_round_trip_is_exact(fitted: Vectorizer) -> None:
    again = Vectorizer.from_state(stored(fitted.state()))
    frame = mixed().assign(verdict=True)
    np.testing.assert_array_equal(again.transform(frame), fitted.transform(frame))
    assert again.feature_names_out_ == fitted.feature_names_out_
    assert again.sources_ == fitted.sources_
    assert again.get_params() == fitted.get_params()
    for ours, theirs in zip(again.columns_, fitted.columns_, strict=True):
        for name in ("name", "kind", "missing", "different", "done", "notes", "alarm"):
            assert getattr(ours, name) == getattr(theirs, name)
    assert stored(again.state()).keys() == fitted.state().keys()
    assert any(column.alarm for column in again.columns_)


def test_state_is_small_and_plain(fitted: Vectorizer) -> None:
    def leaves(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            for each in value.values():
                yield from leaves(each)
        elif isinstance(value, list):
            for each in value:
                yield from leaves(each)
        else:
            yield value

    for leaf in leaves(fitted.state()):
        assert isinstance(leaf, str | bool | int | float | np.ndarray | None)
        if isinstance(leaf, np.ndarray):
            assert leaf.dtype.kind in "if"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for key in range(min(len(value), 10)):
            yield from places(value[key], (*path, key))


WRONG: list[Any] = [
    None,
    "\0",
    "x" * 20_000,
    -1,
    2**70,
    float("nan"),
    float("inf"),
    True,
    [],
    {},
    [1],
    [None],
    {"kind": "number"},
    np.array([1.0]),
    np.array(["x"]),
    np.array([object()], dtype=object),
    np.full((16, 8192), np.nan, np.float32),
    lambda: None,
]


def test_what_is_not_sound_is_refused_or_harmless(fitted: Vectorizer) -> None:
    frame = mixed(40).assign(verdict=True)
    state = fitted.state()
    n_refused = n_tried = 0
    for path in places(state):
        for wrong in [*WRONG, "remove", "add"]:
            changed = copy.deepcopy(state)
            owner = changed
            for key in path[:-1]:
                owner = owner[key]
            if not path:
                changed = wrong
            elif isinstance(wrong, str) and wrong == "remove":
                del owner[path[-1]]
            elif isinstance(wrong, str) and wrong == "add":
                if not isinstance(owner, dict):
                    continue
                owner["more"] = 1
            else:
                owner[path[-1]] = wrong
            n_tried += 1
            try:
                made = Vectorizer.from_state(changed)
            except TableError as error:
                n_refused += "not sound" in str(error)
                continue
            try:
                X = made.transform(frame, tally=Tally(), fill_columns=True)
            except TableError:
                continue
            assert X.shape == (40, len(made.feature_names_out_))
            assert np.isfinite(X).all()
    assert n_tried > 1500
    assert n_refused > 0.85 * n_tried


def test_columns_that_contradict_each_other(fitted: Vectorizer) -> None:
    def first(state: Any, kind: str) -> Any:
        return next(each for each in state["columns"] if each["kind"] == kind)

    for change in (
        lambda state: first(state, "boolean").update(kind="number"),
        lambda state: first(state, "boolean").update(name="amount"),
        lambda state: first(state, "number")["plan"].update(has_value=False, has_missing=False),
        lambda state: first(state, "date")["plan"].update(parts=["days", "century"]),
        lambda state: first(state, "category")["plan"].update(
            values=[], common=[], has_other=False, has_missing=False, has_frequency=False,
            counts=np.empty(0, np.int64),
        ),
        lambda state: state.update(columns=[first(state, "constant")]),
    ):  # fmt: skip
        state = copy.deepcopy(fitted.state())
        change(state)
        with pytest.raises(TableError, match="not sound"):
            Vectorizer.from_state(state)


def test_changed_category_lists_are_refused(fitted: Vectorizer) -> None:
    for change in (
        lambda plan: plan.update(values=[*plan["values"], plan["values"][0]]),
        lambda plan: plan.update(common=plan["common"][::-1]),
        lambda plan: plan.update(counts=plan["counts"][:-1]),
        lambda plan: plan.update(counts=plan["counts"] * 0),
        lambda plan: plan.update(counts=plan["counts"].astype(float)),
        lambda plan: plan.update(common=[], counts=plan["counts"][:0]),
    ):
        state = copy.deepcopy(fitted.state())
        plan = next(each["plan"] for each in state["columns"] if each["name"] == "shop")
        change(plan)
        with pytest.raises(TableError, match="not sound"):
            Vectorizer.from_state(state)
