"""What kind of model a method is. Methods are compared with others of their kind only."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

from robustpu.methods import METHODS

# The recommended ensemble; variants of it are named "auto-...".
AUTO: Final = "auto"


class Kind(StrEnum):
    """What one trial of a method trains."""

    NETWORK = "single network"
    ENSEMBLE = "ensemble"
    OTHER = "network-free method"


def kind_of(records: Iterable[Mapping[str, Any]]) -> Kind:
    """Find the kind of a method.

    Parameters
    ----------
    records
        All records of the method in a table.

    Examples
    --------
    >>> kind_of([{"method": "nnpu"}]).value
    'single network'
    >>> kind_of([{"method": "nnpu-5", "averaged": [3, 1, 4, 0, 7]}]).value
    'ensemble'
    """
    records = list(records)
    name = records[0].get("estimator") or records[0]["method"]
    learner = METHODS[name].learner if name in METHODS else "network"
    if _is_auto(name) or learner == "ensemble" or any(_members(record) > 1 for record in records):
        return Kind.ENSEMBLE
    return Kind.NETWORK if learner == "network" else Kind.OTHER


def label_of(record: Mapping[str, Any]) -> str:
    """Name a method in a report: an ensemble with other members is never called Robust-PU.

    Parameters
    ----------
    record
        Any record of the method.

    Examples
    --------
    >>> label_of({"method": "auto", "label": "Robust-PU"})
    'PUClassifier (ensemble)'
    """
    name = record["method"]
    label: str = record.get("label") or name
    if not _is_auto(record.get("estimator") or name):
        return label
    is_unnamed = label == name and _is_auto(name)
    label = "PUClassifier" if is_unnamed else label.replace("Robust-PU", "PUClassifier")
    return label if "ensemble" in label else f"{label} (ensemble)"


def _is_auto(name: str) -> bool:
    return name == AUTO or name.startswith(f"{AUTO}-")


def _members(record: Mapping[str, Any]) -> int:
    """Count the networks whose scores were averaged, as far as the record tells."""
    settings = record.get("settings") or {}
    chosen = record.get("iterations"), record.get("averaged")
    counts = [len(values) for values in chosen if isinstance(values, list)]
    members = settings.get("n_members")
    return max([1, *counts, members if isinstance(members, int) else 1])
