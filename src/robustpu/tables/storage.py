"""A fitted vectorizer as plain values and NumPy arrays, and back."""

from collections.abc import Mapping
from typing import Any, Final

from robustpu.tables.columns import Column, column_from_state
from robustpu.tables.kinds import KINDS
from robustpu.tables.state import Fields

VERSION: Final = 1


def plain_state(parameters: dict[str, Any], columns: list[Column]) -> dict[str, Any]:
    """What there is to store.

    Parameters
    ----------
    parameters
        Of the vectorizer.
    columns
        What it learnt.
    """
    kinds = parameters["kinds"]
    return {
        "version": VERSION,
        "parameters": {**parameters, "kinds": None if kinds is None else dict(kinds)},
        "columns": [column.state() for column in columns],
    }


def sound_state(state: Any) -> tuple[dict[str, Any], list[Column]]:
    """(parameters, columns) of a stored state; nothing of it is run, and all of it is checked.

    Parameters
    ----------
    state
        What `plain_state` gave.

    Raises
    ------
    TableError
        The state is not sound.
    """
    fields = Fields(state, "state")
    fields.take("version", f"{VERSION}", lambda own: type(own) is int and own == VERSION)
    own = Fields(fields.take("parameters", "a dictionary", _is_dict), "parameters")
    stored = fields.take("columns", "a list", lambda value: isinstance(value, list))
    fields.done()
    parameters = {
        "max_categories": own.whole("max_categories", 2),
        "min_count": own.whole("min_count", 1),
        "text_components": own.whole("text_components", 1),
        "kinds": own.take("kinds", "kinds of columns", _are_kinds),
        "random_state": own.whole("random_state", 0),
    }
    own.done()
    columns = [column_from_state(value, f"column {place}") for place, value in enumerate(stored)]
    if len({column.name for column in columns}) < len(columns):
        fields.refuse("two columns have one name")
    if not any(column.plan for column in columns):
        fields.refuse("no column has features")
    return parameters, columns


def _is_dict(value: Any) -> bool:
    return isinstance(value, Mapping)


def _are_kinds(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and all(isinstance(word, str) for pair in value.items() for word in pair)
        and set(value.values()) <= set(KINDS)
    )
