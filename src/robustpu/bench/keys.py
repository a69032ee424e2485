"""Checks of what an experiment file says; each names the place in the file."""

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from robustpu.naming import suggest
from robustpu.scenario import check_prior

Check: TypeAlias = Callable[[str, Any], Any]


def check_keys(where: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a key that is not known, and suggest one that is."""
    known = list(known)
    for key in given:
        if key not in known:
            raise ValueError(f"unknown key {key!r} in {where}{suggest(key, known)}")


def section(where: str, given: Any) -> dict[str, Any]:
    """Take a section of the file, and nothing else."""
    if not isinstance(given, dict):
        raise ValueError(f"{where} must be a section, [{where}]; it is {given!r}.")
    return given


def one_of(known: Iterable[str]) -> Check:
    """Make a check that takes one of some names, and suggests one for any other."""
    names = list(known)

    def check(where: str, value: Any) -> Any:
        if value not in names:
            raise ValueError(f"unknown {value!r} for {where}{suggest(value, names)}")
        return value

    return check


def a_prior(where: str, value: Any) -> float:
    """Take a share between 0 and 1."""
    try:
        # As many digits as a record keeps, so that it is known again.
        return float(f"{check_prior(value):.6g}")
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def several(where: str, value: Any, check: Check) -> tuple[Any, ...]:
    """One or a list, none twice."""
    values = value if isinstance(value, list) else [value]
    if not values:
        raise ValueError(f"{where} is empty: give at least one.")
    checked = [check(where, each) for each in values]
    for place, each in enumerate(checked):
        if each in checked[:place]:
            raise ValueError(f"{each!r} is in {where} twice.")
    return tuple(checked)
