"""Refuse wrong settings of a fit: light, so that the command line can do it at once."""

from robustpu.methods import METHODS
from robustpu.methods.effort import check_effort
from robustpu.scenario import check_scenario
from robustpu.thresholds import parse
from robustpu.validation.names import suggest
from robustpu.workflow.config import FitConfig


def check_config(config: FitConfig) -> None:
    """Refuse what is wrong whatever the data are.

    Parameters
    ----------
    config
        What to fit.

    Examples
    --------
    >>> check_config(FitConfig("nnpuu"))
    Traceback (most recent call last):
    ValueError: unknown method 'nnpuu': did you mean 'nnpu'? Give one of auto, bagging, ...
    """
    check_method(config.method)
    check_scenario(config.scenario)
    parse(config.threshold)
    check_effort("effort", config.effort)
    if config.effort != "default" and METHODS[config.method].learner != "ensemble":
        raise ValueError(f"{config.method} has no effort to set: leave it out.")


def check_method(name: str, more: tuple[str, ...] = ()) -> None:
    """Refuse a name that is no method.

    Parameters
    ----------
    name
        The name.
    more
        Names that are allowed as well.
    """
    known = (*METHODS, *more)
    if name not in known:
        raise ValueError(f"unknown method {name!r}{suggest(name, known)}")
