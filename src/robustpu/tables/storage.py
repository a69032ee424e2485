"""A fitted vectorizer as plain values and NumPy arrays, and back."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from robustpu.tables.columns import Column
from robustpu.tables.errors import TableError
from robustpu.tables.kinds import Kind
from robustpu.validation.schema import SchemaError, number, read, to_json


@dataclass(frozen=True)
class Parameters:
    """Parameters of the vectorizer."""

    max_categories: Annotated[int, number(2, whole=True)]
    min_count: Annotated[int, number(1, whole=True)]
    text_components: Annotated[int, number(1, whole=True)]
    kinds: dict[str, Kind] | None
    random_state: Annotated[int, number(0, whole=True)]


@dataclass(frozen=True)
class State:
    """What is stored of a fitted vectorizer."""

    version: Literal[2]
    parameters: Parameters
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError("has two columns with one name")
        if not any(column.plan for column in self.columns):
            raise ValueError("has no column with features")


def write_state(parameters: dict[str, Any], columns: list[Column]) -> dict[str, Any]:
    """Plain values and NumPy arrays of a fitted vectorizer."""
    state: dict[str, Any] = to_json(State(2, Parameters(**parameters), tuple(columns)))
    return state


def read_state(stored: Any) -> State:
    """Read what :func:`write_state` wrote; all of it is checked, and nothing is run.

    Raises
    ------
    TableError
        Something is not as expected.
    """
    version = stored.get("version") if isinstance(stored, dict) else None
    if isinstance(version, int) and version == 1:
        raise TableError(
            "the stored vectorizer is of an earlier version, which read texts in another way: fit "
            "the model again."
        )
    try:
        return read(State, stored, "state")
    except SchemaError as error:
        raise TableError(f"the stored vectorizer is not sound: {error}") from None
