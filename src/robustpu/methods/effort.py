"""The effort of the default: light, so that the command line can check it at once."""

from typing import Any, Final

from robustpu.validation.numbers import check_number

EFFORTS: Final = ("fast", "default", "best")


def check_effort(name: str, value: Any) -> None:
    """Allow a name of ``EFFORTS``, or seconds.

    Examples
    --------
    >>> check_effort("effort", "quick")
    Traceback (most recent call last):
    ValueError: effort must be 'fast', 'default' or 'best', or a number of seconds; it is 'quick'.
    """
    if isinstance(value, str):
        if value not in EFFORTS:
            *most, last = map(repr, EFFORTS)
            raise ValueError(
                f"{name} must be {', '.join(most)} or {last}, or a number of seconds; it is "
                f"{value!r}."
            )
        return
    check_number(name, value, above=0)
