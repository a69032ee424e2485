"""The grid that the Robust-PU paper tunes over."""

from typing import Any

from scipy.stats import uniform

# Section 4.1 of the paper: what it tunes, and from which values; for a search over
# ``RobustPUClassifier().spelled_out()``.
PAPER_GRID: dict[str, Any] = {
    "lr": [1e-2, 1e-3, 1e-4],
    "weight_decay": [0.0, 1e-4, 1e-2],
    "warmup_epochs": [0, 5, 10],
    "curriculum__temperature_positive": uniform(0.2, 2.8),
    "curriculum__temperature_unlabeled": uniform(0.2, 2.8),
    "curriculum__pacing_positive__lambda0": uniform(0.1, 0.8),
    "curriculum__pacing_unlabeled__lambda0": uniform(0.1, 0.8),
    "curriculum__pacing_positive__beta": [1.0, 2.0, 5.0],
    "curriculum__pacing_unlabeled__beta": [1.0, 2.0, 5.0],
    "curriculum__pacing_positive__t_grow": [10, 15, 20],
    "curriculum__pacing_unlabeled__t_grow": [10, 15, 20],
    "epochs": [10, 20, 50],
}
