"""Records of trials: what a report needs of them, and the check that it is there."""

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from robustpu.bench.store import KEY

Record: TypeAlias = Mapping[str, Any]

TEXT, NUMBER = (str,), (int, float)
FIELDS: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("experiment", "dataset", "method", "selection"), TEXT),
    **dict.fromkeys(("title", "validation", "tune", "fingerprint"), TEXT),
    **dict.fromkeys(("prior", "trial"), NUMBER),
}
OPTIONAL: Final[dict[str, tuple[type, ...]]] = {
    **dict.fromkeys(("table", "label", "paper", "estimator", "data", "training"), TEXT),
    **dict.fromkeys(("commit", "device", "failure"), TEXT),
    **dict.fromkeys(("x", "candidates", "seconds", "rows"), NUMBER),
    **dict.fromkeys(("settings", "sizes", "versions"), (dict,)),
}
# No count, time or x is larger.
MOST: Final = 1e12


def check(record: Record) -> None:
    """Refuse a record that cannot stand in a table.

    Parameters
    ----------
    record
        One line of a result file.

    Raises
    ------
    ValueError
        A field is missing or of the wrong type, or there is neither an error nor a failure.
    """
    for name, kinds in (FIELDS | OPTIONAL).items():
        value = record.get(name)
        if not isinstance(value, kinds) and (name in FIELDS or value is not None):
            expected = " or ".join(kind.__name__ for kind in kinds)
            raise ValueError(f"{name} must be {expected}, not {value!r}, in {identity(record)}")
    for name, (value, least, most) in _ranges(record).items():
        if not isinstance(value, NUMBER) or not least <= value <= most:
            raise ValueError(
                f"{name} must be a number from {least:g} to {most:g}, not {value!r}, in "
                f"{identity(record)}"
            )
    if not all(isinstance(value, str) for value in (record.get("versions") or {}).values()):
        raise ValueError(f"versions must be texts, in {identity(record)}")


def identity(record: Record) -> str:
    """Name a record in a message.

    Parameters
    ----------
    record
        Any record.
    """
    return ", ".join(f"{name} {record.get(name, '?')}" for name in KEY)


def _ranges(record: Record) -> dict[str, tuple[Any, float, float]]:
    """Give value, least and most of each number."""
    ranges: dict[str, tuple[Any, float, float]] = {
        "prior": (record["prior"], 0, 1),
        "trial": (record["trial"], 0, MOST),
        "seconds": (record.get("seconds") or 0, 0, MOST),
        "x": (record.get("x") or 0, -MOST, MOST),
        "rows": (record.get("rows") or 0, 0, MOST),
    }
    if not record.get("failure"):
        scores = record.get("scores")
        ranges["scores.error"] = (scores.get("error") if isinstance(scores, dict) else None, 0, 100)
    return ranges
