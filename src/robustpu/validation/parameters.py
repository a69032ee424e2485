"""Parameters of estimators: declared with what values are allowed, and checked in one place."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import check_random_state

from robustpu.validation.names import pick, suggest
from robustpu.validation.numbers import check_number

# Takes the name of a parameter and its value; raises ValueError.
Check: TypeAlias = Callable[[str, Any], None]

# A dataclass writes the constructor that scikit-learn asks for: explicit keyword parameters, stored
# verbatim, inherited ones included.
parameters = dataclass(kw_only=True, eq=False, repr=False)


def param(
    default: Any, check: Check | None = None, *, fleet: bool = False, positional: bool = False
) -> Any:
    """Declare a parameter of an estimator.

    Parameters
    ----------
    default
        Its default.
    check
        Refuses values that are not allowed.
    fleet
        Whether networks must agree in it to be trained in one fleet.
    positional
        Whether it may be given without its name.

    Examples
    --------
    >>> @parameters
    ... class Learner:
    ...     lr: float = param(1e-3, number(above=0))
    >>> check_parameters(Learner(lr=-1))
    Traceback (most recent call last):
    ValueError: lr must be a number above 0; it is -1.
    """
    return field(default=default, kw_only=not positional, metadata={"check": check, "fleet": fleet})


def check_parameters(estimator: Any) -> None:
    """Check every parameter of an estimator, then what they have to be together.

    Parameters
    ----------
    estimator
        An instance of a class under ``parameters``. Its ``check_combination()``, if it has one,
        refuses values that do not go together.
    """
    kind: Any = type(estimator)
    for name, check in _checks(kind):
        check(name, getattr(estimator, name))
    if hasattr(estimator, "check_combination"):
        estimator.check_combination()


@cache
def _checks(kind: type) -> list[tuple[str, Check]]:
    declared = [(entry.name, entry.metadata.get("check")) for entry in fields(kind)]
    return [(name, check) for name, check in declared if check is not None]


@cache
def fleet_parameters(kind: type) -> tuple[str, ...]:
    """Names of the parameters in which networks of one fleet agree.

    Examples
    --------
    >>> @parameters
    ... class Learner:
    ...     epochs: int = param(100, number(least=1), fleet=True)
    ...     lr: float = param(1e-3, number(above=0))
    >>> fleet_parameters(Learner)
    ('epochs',)
    """
    return tuple(entry.name for entry in fields(kind) if entry.metadata.get("fleet"))


def number(**bounds: Any) -> Check:
    """Allow finite numbers in a range, see :func:`robustpu.validation.numbers.check_number`."""
    return lambda name, value: check_number(name, value, **bounds)


def flag(name: str, value: Any) -> None:
    """Allow True and False.

    Examples
    --------
    >>> flag("balance", "yes")
    Traceback (most recent call last):
    ValueError: balance must be True or False; it is 'yes'.
    """
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False; it is {value!r}.")


def accepted_by(function: Callable[[Any], Any]) -> Check:
    """Allow what a function of the value does not refuse."""

    def check(name: str, value: Any) -> None:
        function(value)

    return check


def one_of(*options: Any) -> Check:
    """Allow some values."""

    def check(name: str, value: Any) -> None:
        # Not `in`: an array would be compared number by number.
        if not any(value is option or (_is_plain(value) and value == option) for option in options):
            *most, last = map(repr, options)
            wanted = f"{', '.join(most)} or {last}"
            hint = suggest(value, [option for option in options if isinstance(option, str)])
            close = hint.partition("?")[0] + "?" if "did you mean" in hint else ""
            raise ValueError(f"{name} must be {wanted}; it is {value!r}{close or '.'}")

    return check


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def strategy(table: Mapping[str, Any]) -> Check:
    """Allow a name of a table of functions, or a function."""

    def check(name: str, value: Any) -> None:
        pick(name, value, table)

    return check


def instance_of(*kinds: type, wanted: str, optional: bool = False) -> Check:
    """Allow instances of some classes; ``wanted`` says which, for the message."""

    def check(name: str, value: Any) -> None:
        if not (isinstance(value, kinds) or (optional and value is None)):
            raise ValueError(f"{name} must be {wanted}; it is {value!r}.")

    return check


def random_state(name: str, value: Any) -> None:
    """Allow what scikit-learn takes as a random state.

    Examples
    --------
    >>> random_state("random_state", -1)
    Traceback (most recent call last):
    ValueError: random_state must be a whole number from 0 to 2**32 - 1, a RandomState or None; ...
    """
    try:
        check_random_state(value)
    except ValueError:
        raise ValueError(
            f"{name} must be a whole number from 0 to 2**32 - 1, a RandomState or None; it is "
            f"{value!r}."
        ) from None


def learner(name: str, value: Any) -> None:
    """Allow a scikit-learn estimator, or None.

    Examples
    --------
    >>> learner("estimator", "forest")
    Traceback (most recent call last):
    ValueError: estimator must be a scikit-learn classifier or None; it is 'forest'.
    """
    is_learner = hasattr(value, "fit") and hasattr(value, "get_params")
    if value is not None and (not is_learner or isinstance(value, type)):
        raise ValueError(f"{name} must be a scikit-learn classifier or None; it is {value!r}.")


def n_jobs(name: str, value: Any) -> None:
    """Allow numbers of threads as joblib has them.

    Examples
    --------
    >>> n_jobs("n_jobs", 0)
    Traceback (most recent call last):
    ValueError: n_jobs must not be 0; give None or 1 for one thread, -1 for all.
    """
    check_number(name, value, whole=True, optional=True)
    if value == 0:
        raise ValueError(f"{name} must not be 0; give None or 1 for one thread, -1 for all.")
