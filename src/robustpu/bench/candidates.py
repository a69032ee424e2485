"""Search spaces -> candidates, the settings that are tried.

A space is a list of choices, or ``{low, high}``, uniform between the two, or ``{low, high, log =
true}``, uniform in the logarithm; or ``{like = "name"}``, always the value of another parameter.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from robustpu.validation.numbers import check_number

Settings: TypeAlias = Mapping[str, Any]


def draw(search: Mapping[str, Any], candidates: int, seed: int) -> tuple[Settings, ...]:
    """Draw settings, no two of them equal.

    A grid with no more points than ``candidates`` is used whole. Otherwise each parameter has its
    own random stream, which depends on the seed and its name only: equal spaces give equal settings
    for every method, and an additional parameter does not change the draws of the others.

    Parameters
    ----------
    search
        Name of a parameter -> its space, checked.
    candidates
        Largest number of settings.
    seed
        Seed of all draws.

    Examples
    --------
    >>> draw({"lr": [0.1, 0.01]}, candidates=5, seed=0)
    ({'lr': 0.1}, {'lr': 0.01})
    >>> draw({"lr": {"low": 0.0001, "high": 0.1, "log": True}}, candidates=2, seed=0)
    ({'lr': 0.0117102}, {'lr': 0.000136266})
    """
    tied = {name: space["like"] for name, space in search.items() if _is_tied(space)}
    free = {name: space for name, space in search.items() if name not in tied}
    for name, other in tied.items():
        if other not in free:
            raise ValueError(
                f"like of {name} must name another parameter that is searched; it is {other!r}."
            )
    if all(isinstance(space, list) for space in free.values()) and (
        math.prod(map(len, free.values())) <= candidates
    ):
        points = list(product(*free.values()))
    else:
        columns = [_stream(name, space, candidates, seed) for name, space in free.items()]
        points = list(zip(*columns, strict=True))
    drawn = [dict(zip(free, point, strict=True)) for point in points]
    settings = [{name: point[tied.get(name, name)] for name in search} for point in drawn]
    distinct = {json.dumps(setting, sort_keys=True, default=str): setting for setting in settings}
    return tuple(distinct.values())


def check_space(where: str, space: Any) -> None:
    """Refuse what is not a search space.

    Parameters
    ----------
    where
        Name of the parameter, for the message.
    space
        Its value in the file.
    """
    if (isinstance(space, list) and space) or _is_tied(space):
        return
    if not isinstance(space, dict) or not {"low", "high"} <= space.keys() <= {"low", "high", "log"}:
        raise ValueError(
            f"{where} must be a list of choices, not empty, or {{low = ..., high = ...}}, with "
            f"log = true if you like, or {{like = another parameter}}; it is {space!r}. A single "
            "value belongs under fixed."
        )
    if not isinstance(space.get("log", False), bool):
        raise ValueError(f"log of {where} must be true or false; it is {space['log']!r}.")
    check_number(f"low of {where}", space["low"], above=0 if space.get("log") else -math.inf)
    check_number(f"high of {where}", space["high"], above=space["low"])


def _is_tied(space: Any) -> bool:
    return isinstance(space, dict) and space.keys() == {"like"} and isinstance(space["like"], str)


def _stream(name: str, space: Any, candidates: int, seed: int) -> list[Any]:
    # Stored results drew the settings of a curriculum under their names alone.
    digest = hashlib.sha256(name.removeprefix("curriculum__").encode()).digest()
    random = np.random.default_rng([seed, int.from_bytes(digest[:8])])
    if isinstance(space, list):
        return [space[place] for place in random.integers(len(space), size=candidates)]
    low, high = space["low"], space["high"]
    share = random.random(candidates)
    drawn = low * (high / low) ** share if space.get("log") else low + (high - low) * share
    # As many digits as a record keeps, so that its settings are exactly those used.
    return [float(f"{value:.6g}") for value in drawn]
