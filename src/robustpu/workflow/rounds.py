"""How the self-correction of Robust-PU went, round by round."""

from collections.abc import Sequence
from statistics import median_low
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from robustpu.base.classifier import BasePUClassifier
from robustpu.results import Round, Rounds
from robustpu.workflow.training import parts_of

BINS: Final = 20


def summarize_rounds(model: BasePUClassifier) -> Rounds | None:
    """Means over the Robust-PU networks of a model, round by round; None if it has none.

    Parameters
    ----------
    model
        Fitted; Robust-PU, or an ensemble with it.
    """
    parts = [part for part in parts_of(model) if hasattr(part, "best_round_") and part.history_]
    if not parts:
        return None
    best = [int(number) for part in parts for number in part.best_round_]
    entries = _entries(parts)
    edges, path = np.linspace(0, 1, BINS + 1), _mean_path(parts)

    def mean(name: str, number: int) -> float | None:
        values = [entry.get(name) for entry in entries.get(number, [])]
        finite = [float(value) for value in values if value is not None and np.isfinite(value)]
        return float(np.mean(finite)) if finite else None

    return Rounds(
        # The lower one of two middle rounds, so that it is the best of some network.
        best=median_low(best),
        edges=tuple(edges.round(6).tolist()),
        rounds=tuple(
            Round(
                number=number,
                threshold_positive=mean("threshold_positive", number),
                threshold_unlabeled=mean("threshold_unlabeled", number),
                # Each round records the rate at its start.
                flagged=mean("positive_rate", number + 1),
                score=mean("score", number),
                n_best=best.count(number),
                weights_positive=_counts(path, number, model.is_positive_, edges),
                weights_unlabeled=_counts(path, number, ~model.is_positive_, edges),
            )
            for number in sorted({*entries, *best})
        ),
    )


def _entries(parts: Sequence[Any]) -> dict[int, list[dict[str, float]]]:
    """What the histories of the kept networks record, by round."""
    entries: dict[int, list[dict[str, float]]] = {}
    for part in parts:
        kept = set(np.asarray(part.kept_).tolist())
        for entry in part.history_:
            if entry["member"] in kept:
                entries.setdefault(int(entry["round"]), []).append(entry)
    return entries


def _mean_path(parts: Sequence[Any]) -> NDArray[np.float64] | None:
    """Mean weight of each row in each round, (rounds, n); NaN where nothing trained on it."""
    paths = [getattr(part, "weight_path_", None) for part in parts]
    if any(path is None for path in paths):
        return None
    known = [np.asarray(path) for path in paths]
    total = np.zeros((max(map(len, known)), known[0].shape[1]))
    count = np.zeros_like(total)
    for path in known:
        total[: len(path)] += np.nan_to_num(path, nan=0.0)
        count[: len(path)] += np.isfinite(path)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _counts(
    path: NDArray[np.float64] | None,
    number: int,
    mask: NDArray[np.bool_],
    edges: NDArray[np.float64],
) -> tuple[int, ...]:
    """Rows by their weight in a round; round 0 has no weights."""
    if path is None or not 1 <= number <= len(path):
        return ()
    weights = path[number - 1][mask]
    known = np.clip(weights[np.isfinite(weights)], 0, 1)
    return tuple(np.histogram(known, edges)[0].tolist())
