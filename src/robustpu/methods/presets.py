"""Named parameters of Robust-PU, and the grid that the paper tunes over."""

from collections.abc import Callable
from typing import Any

from scipy.stats import uniform

from robustpu.methods.nnpu import NNPUClassifier
from robustpu.pacing import Pacing

# Section 4.1 of the paper: what it tunes, and from which values. For ``vary=``, or for a search
# over ``RobustPUClassifier.from_preset("paper")``.
PAPER_GRID: dict[str, Any] = {
    "lr": [1e-2, 1e-3, 1e-4],
    "weight_decay": [0.0, 1e-4, 1e-2],
    "warmup_epochs": [0, 5, 10],
    "temperature_positive": uniform(0.2, 2.8),
    "temperature_unlabeled": uniform(0.2, 2.8),
    "pacing_positive__lambda0": uniform(0.1, 0.8),
    "pacing_unlabeled__lambda0": uniform(0.1, 0.8),
    "pacing_positive__beta": [1.0, 2.0, 5.0],
    "pacing_unlabeled__beta": [1.0, 2.0, 5.0],
    "pacing_positive__t_grow": [10, 15, 20],
    "pacing_unlabeled__t_grow": [10, 15, 20],
    "epochs": [10, 20, 50],
}


# What the members of the default ensemble do: member k follows recipe k mod 4. They differ so that
# their errors differ. How they were found, and with which labels: docs/robust_pu.md.
RECIPES: tuple[dict[str, Any], ...] = (
    {
        "pretrain": NNPUClassifier(surrogate="sigmoid", epochs=50, weight_decay=1e-2),
        "lr": 1e-2,
        "weight_decay": 1e-4,
        "temperature_positive": 1.5,
        "pacing_positive": Pacing("linear", lambda0=1.0, beta=2.0, t_grow=5),
        "pacing_unlabeled": Pacing("linear", lambda0=0.3, beta=0.7, t_grow=5),
    },
    {
        "pretrain": NNPUClassifier(surrogate="logistic", epochs=50, weight_decay=1e-3),
        "lr": 1e-2,
        "weight_decay": 1e-4,
        "temperature_positive": 1.5,
        "pacing_positive": Pacing("linear", lambda0=1.0, beta=2.0, t_grow=5),
        "pacing_unlabeled": Pacing("linear", lambda0=0.3, beta=0.7, t_grow=5),
    },
    {
        "pretrain": NNPUClassifier(surrogate="sigmoid", epochs=50, weight_decay=1e-2),
        "lr": 1e-2,
        "weight_decay": 0.0,
        "temperature_positive": 1.0,
        "pacing_positive": Pacing("linear", lambda0=0.5, beta=1.0, t_grow=10),
        "pacing_unlabeled": Pacing("linear", lambda0=0.3, beta=0.7, t_grow=10),
    },
    {
        "pretrain": NNPUClassifier(surrogate="logistic", epochs=50, weight_decay=1e-2),
        "lr": 3e-3,
        "weight_decay": 0.0,
        "temperature_positive": 1.5,
        "pacing_positive": Pacing("linear", lambda0=1.0, beta=2.0, t_grow=10),
        "pacing_unlabeled": Pacing("linear", lambda0=0.3, beta=0.7, t_grow=10),
    },
)


def default() -> dict[str, Any]:
    """Give what ``RobustPUClassifier()`` is: an ensemble of ``RECIPES``, selected PU-only.

    Examples
    --------
    >>> len(default())
    0
    """
    return {}


def paper() -> dict[str, Any]:
    """Give the paper's algorithm, with settings inside its grid.

    nnPU with the sigmoid surrogate for 100 epochs; then one network, weights as they are, 20
    epochs a round, until 5 rounds bring nothing better. The paper publishes no chosen settings;
    those here are the ones in the authors' public example, moved to the nearest point of the grid.

    Examples
    --------
    >>> paper()["epochs"]
    20
    """
    return {
        "pretrain": NNPUClassifier(
            surrogate="sigmoid", epochs=100, batch_size=64, lr=1e-3, weight_decay=1e-4
        ),
        "hardness": "logistic",
        "temperature_positive": 1.0,
        "temperature_unlabeled": 1.3,
        "weighting": "welsch",
        "pacing_positive": Pacing("linear", lambda0=0.1, beta=1.0, t_grow=10),
        "pacing_unlabeled": Pacing("linear", lambda0=0.11, beta=1.0, t_grow=10),
        "balance": False,
        "epochs": 20,
        "batch_size": 64,
        "lr": 1e-2,
        "weight_decay": 0.0,
        "warmup_epochs": 0,
        "max_rounds": 100,
        "patience": 5,
        "n_members": 1,
        "beside": None,
        "calibrate": False,
    }


PRESETS: dict[str, Callable[[], dict[str, Any]]] = {"default": default, "paper": paper}
