"""How the self-correction of Robust-PU went: the section ``rounds`` of the findings."""

from typing import Any, Final

import numpy as np

from robustpu.base import BasePUClassifier

BINS: Final = 20


def rounds_section(model: BasePUClassifier) -> dict[str, Any] | None:
    """Means over the averaged networks, round by round; None of methods that have no rounds.

    Round 0 is the pre-trained network, which has no thresholds and no weights yet. The rate is that
    of positive answers to unlabelled rows at the end of the round; of the last one it is not known.

    Parameters
    ----------
    model
        Fitted.
    """
    history = getattr(model, "history_", None)
    if not history or "round" not in history[0] or not hasattr(model, "turns_"):
        return None
    kept = set(np.asarray(model.kept_).tolist())
    entries: dict[int, list[dict[str, float]]] = {}
    for own in history:
        if own["member"] in kept:
            entries.setdefault(int(own["round"]), []).append(own)
    numbers = sorted(entries)

    def mean(name: str, turn: int) -> float | None:
        values = [own[name] for own in entries.get(turn, []) if name in own]
        finite = [float(value) for value in values if value is not None and np.isfinite(value)]
        return float(np.mean(finite)) if finite else None

    section: dict[str, Any] = {
        "round": numbers,
        "threshold_positive": [mean("threshold_positive", turn) for turn in numbers],
        "threshold_unlabeled": [mean("threshold_unlabeled", turn) for turn in numbers],
        # Each round notes the rate at its start.
        "predicted_rate": [mean("positive_rate", turn + 1) for turn in numbers],
        "score": [mean("score", turn) for turn in numbers],
        "chosen": round(float(np.median(model.turns_))),
        # Networks whose best round it is.
        "taken": [int(np.sum(np.asarray(model.turns_) == turn)) for turn in numbers],
    }
    edges = np.linspace(0, 1, BINS + 1)
    section["edges"] = edges.round(6).tolist()
    path = getattr(model, "weight_path_", None)
    for side, mask in (("positive", model.is_positive_), ("unlabeled", ~model.is_positive_)):
        section[f"weights_{side}"] = (
            []
            if path is None
            # Round 0 has no weights: an empty list keeps the places.
            else [[], *(_counts(weights[mask], edges) for weights in path[: len(numbers) - 1])]
        )
    return section


def _counts(weights: Any, edges: Any) -> list[int]:
    known = np.clip(weights[np.isfinite(weights)], 0, 1)
    counts: list[int] = np.histogram(known, edges)[0].tolist()
    return counts
