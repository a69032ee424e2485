"""Whether findings that a stranger may have written are what they must be.

A check is a function value -> what is wrong with it, or None. Entries that are not known are left
alone: later versions have more.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from robustpu.persist.expect import ROUNDING
from robustpu.scenario import SCENARIOS

Check: TypeAlias = Callable[[Any], str | None]
# Whole numbers beyond that are not exact everywhere.
MOST: Final = 2**53


def number(least: float = -math.inf, most: float = math.inf, slack: float = 0.0) -> Check:
    """A finite number within bounds, which it may pass by the slack.

    Examples
    --------
    >>> number(0, 1)(0.5), number(0, 1)(float("nan"))
    (None, 'is nan, expected a number from 0 to 1')
    """

    def check(value: Any) -> str | None:
        is_number = type(value) in (int, float) and abs(value) < math.inf
        if is_number and least - slack <= value <= most + slack:
            return None
        return f"is {str(value)[:40]}, expected a number from {least:g} to {most:g}"

    return check


def whole(least: int = 0) -> Check:
    """A whole number."""

    def check(value: Any) -> str | None:
        if type(value) is int and least <= value <= MOST:
            return None
        return f"is {str(value)[:40]}, expected a whole number of at least {least}"

    return check


def one_of(*known: Any) -> Check:
    """One of few values."""
    return lambda value: None if value in known else f"is not one of {', '.join(map(str, known))}"


def maybe(own: Check) -> Check:
    """None, or something."""
    return lambda value: None if value is None else own(value)


def each(own: Check) -> Check:
    """A list of things of one kind.

    Examples
    --------
    >>> each(text)(["a", 1])
    '[1] is of type int, expected a text'
    """

    def check(value: Any) -> str | None:
        if type(value) is not list:
            return _type(value, "a list")
        return _first((f"[{place}]", own(item)) for place, item in enumerate(value))

    return check


def named(own: Check) -> Check:
    """A dictionary from texts to things of one kind."""

    def check(value: Any) -> str | None:
        if type(value) is not dict or not all(type(name) is str for name in value):
            return _type(value, "a dictionary of texts")
        return _first((f".{name[:40]}", own(item)) for name, item in value.items())

    return check


def fields(
    more: Check | None = None, later: Mapping[str, Check] | None = None, /, **known: Check
) -> Check:
    """A dictionary with certain entries, and what must hold between them.

    Parameters
    ----------
    more
        Of the whole dictionary, if all its entries are sound.
    later
        Entries that earlier versions did not write, and which may be missing.
    **known
        Entries that must be there.

    Examples
    --------
    >>> fields(None, {"k": whole(1)}, name=text)({"name": "a"}), fields(name=text)({})
    (None, '.name is missing')
    """

    def check(value: Any) -> str | None:
        if type(value) is not dict:
            return _type(value, "a dictionary")
        there = {name: own for name, own in (later or {}).items() if name in value}
        found = _first(
            (f".{name}", own(value[name]) if name in value else "is missing")
            for name, own in (known | there).items()
        )
        return found or (more(value) if more is not None else None)

    return check


def text(value: Any) -> str | None:
    """A text."""
    return None if type(value) is str else _type(value, "a text")


def anything(value: Any) -> str | None:
    """Whatever it is."""
    return None


def _first(found: Any) -> str | None:
    return next(
        (
            f"{where}{told}" if told.startswith((".", "[")) else f"{where} {told}"
            for where, told in found
            if told is not None
        ),
        None,
    )


def _type(value: Any, wanted: str) -> str:
    return f"is of type {type(value).__name__}, expected {wanted}"


def _in_order(value: Mapping[str, Any]) -> str | None:
    low, high = value["low"], value["high"]
    is_wrong = (low is None) != (high is None) or (low is not None and low > high)
    return f"has an interval from {low} to {high}" if is_wrong else None


def _in_range(value: Mapping[str, Any]) -> str | None:
    check = number(0) if value["name"] in UNBOUNDED else SHARE
    for name in ("value", "low", "high"):
        found = check(value[name])
        if found is not None:
            return f".{name} of {value['name'][:40]} {found}"
    return _in_order(value)


def _in_list(value: Mapping[str, Any]) -> str | None:
    is_over = max(value["expected"], value["high"]) > value["k"] * (1 + ROUNDING)
    return f"has more positives than its {value['k']} rows" if is_over else _in_order(value)


def _as_many(value: Mapping[str, Any]) -> str | None:
    lengths = {len(value["positive"]), len(value["unlabeled"]), len(value["edges"]) - 1}
    return None if len(lengths) == 1 else "has bins and counts of different lengths"


def _adds_up(value: Mapping[str, Any]) -> str | None:
    is_sum = value["n_positive"] + value["n_unlabeled"] == value["rows"]
    return None if is_sum else "has other rows than labelled and unlabelled ones"


def _judged(value: Mapping[str, Any]) -> str | None:
    found = maybe(EVALUATION)(value.get("evaluation"))
    return found and f".evaluation{found}"


# The others are shares.
UNBOUNDED: Final = frozenset({"lee_liu", "lift_at_k", "positives_at_k"})
SHARE: Final = number(0, 1, ROUNDING)
TEXTS: Final = each(text)
EVALUATION: Final = fields(
    None,
    {"k": whole(1)},
    level=SHARE,
    judged=fields(n_positive=whole(), n_unlabeled=whole()),
    remarks=TEXTS,
    metrics=each(
        fields(_in_range, name=text, value=number(), low=number(), high=number(), clipped=anything)
    ),
)
ROUNDS: Final = fields(
    None,
    {"taken": each(whole())},
    round=each(whole()),
    threshold_positive=each(maybe(number())),
    threshold_unlabeled=each(maybe(number())),
    predicted_rate=each(maybe(SHARE)),
    score=each(maybe(number())),
    chosen=whole(),
    edges=each(number()),
    weights_positive=each(each(whole())),
    weights_unlabeled=each(each(whole())),
)
SUSPECT: Final = fields(
    rank=whole(1),
    row=whole(1),
    id=maybe(text),
    score=SHARE,
    drivers=each(fields(column=text, value=text, effect=number())),
    shown=named(text),
)
COLUMN: Final = fields(
    name=text,
    kind=text,
    missing=SHARE,
    distinct=whole(),
    done=text,
    features=whole(),
    notes=TEXTS,
    alarm=maybe(text),
)
SUPPOSITION: Final = fields(share=SHARE, precision=SHARE, cut=number(), expected=each(number(0)))
FINDINGS: Final = fields(
    None,
    {"suppositions": each(SUPPOSITION)},
    made=text,
    data=fields(
        _adds_up,
        name=text,
        rows=whole(1),
        columns=whole(1),
        label=maybe(text),
        positive=maybe(text),
        n_positive=whole(),
        n_unlabeled=whole(),
        id=maybe(text),
        time=maybe(text),
        dropped=TEXTS,
    ),
    method=fields(
        **{"name": text, "title": text, "class": text},
        parameters=named(text),
        seconds=number(0),
    ),
    scenario=one_of(*SCENARIOS),
    prior=fields(
        _in_order,
        how=text,
        value=SHARE,
        low=maybe(SHARE),
        high=maybe(SHARE),
        level=SHARE,
        answers=named(SHARE),
        doubts=TEXTS,
    ),
    threshold=number(),
    answered_positive=SHARE,
    evaluation=maybe(EVALUATION),
    newest=maybe(fields(_judged, text=text)),
    top=each(fields(_in_list, k=whole(1), expected=number(0), low=number(0), high=number(0))),
    scores=fields(_as_many, edges=each(number()), positive=each(whole()), unlabeled=each(whole())),
    rounds=maybe(ROUNDS),
    alarms=each(fields(kind=text, text=text)),
    suspects=each(SUSPECT),
    importance=each(fields(column=text, value=number(0), deviation=number(0))),
    columns=each(COLUMN),
    notes=TEXTS,
    settings=fields(
        command=maybe(text), seed=whole(), versions=named(text), options=named(anything)
    ),
)


def fault(findings: Any) -> str | None:
    """What is wrong with findings, or None.

    Parameters
    ----------
    findings
        As a model folder holds them.

    Examples
    --------
    >>> fault({"made": "2024-05-01", "data": {"name": 5}})
    '.data.name is of type int, expected a text'
    """
    return FINDINGS(findings)
