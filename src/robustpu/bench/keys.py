"""Checks of the values of an experiment file; messages name the place in the file."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from robustpu.scenario import check_prior
from robustpu.validation.names import suggest

Check: TypeAlias = Callable[[str, Any], Any]


def check_keys(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse unknown keys, and suggest known ones."""
    known = list(known)
    for key in given:
        if key not in known:
            raise ValueError(f"unknown key {key!r} in {where}{suggest(key, known)}")


def section(where: str, given: Any) -> dict[str, Any]:
    """Check that a value is a section."""
    if not isinstance(given, dict):
        raise ValueError(f"{where} must be a section, [{where}]; it is {given!r}.")
    return given


def one_of(known: Iterable[str]) -> Check:
    """Make a check that accepts known names, and suggests one for others."""
    names = list(known)

    def check(where: str, value: Any) -> Any:
        if value not in names:
            raise ValueError(f"unknown {value!r} for {where}{suggest(value, names)}")
        return value

    return check


def a_prior(where: str, value: Any) -> float:
    """Check a prior."""
    try:
        # As many digits as a record keeps, so that stored results are found.
        return float(f"{check_prior(value):.6g}")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def several(where: str, value: Any, check: Check) -> tuple[Any, ...]:
    """Check one value or a list of different values."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{where} is empty: give at least one.")
    checked = [check(where, each) for each in values]
    for place, each in enumerate(checked):
        if each in checked[:place]:
            raise ValueError(f"{each!r} is in {where} twice.")
    return tuple(checked)
