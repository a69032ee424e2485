"""Pictures. matplotlib is an extra: ``pip install 'robustpu[plot]'``."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

POSITIVE, NEGATIVE, INK = "#c8553d", "#2f6690", "#333333"


def draw_weights(path: NDArray[Any], is_hidden_positive: NDArray[np.bool_], picture: Path) -> None:
    """Draw how the weights of unlabelled rows change from round to round, by their true class.

    Parameters
    ----------
    path
        Weights (rounds, unlabelled rows); NaN where nobody trained on the row.
    is_hidden_positive
        The truth, (unlabelled rows,), which the model never saw.
    picture
        File to write; its ending tells the format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    rounds = np.arange(1, len(path) + 1)
    sides = (
        ("negatives", path[:, ~is_hidden_positive], NEGATIVE),
        ("hidden positives", path[:, is_hidden_positive], POSITIVE),
    )
    for name, weights, colour in sides:
        low, middle, high = np.nanpercentile(weights, [25, 50, 75], axis=1)
        left.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
        left.plot(rounds, middle, color=colour, linewidth=2.2)
        left.annotate(
            f"unlabelled {name}",
            (rounds[-1], middle[-1]),
            xytext=(-4, 7 if middle[-1] < 0.85 else -14),
            textcoords="offset points",
            ha="right",
            color=colour,
            weight="bold",
        )
    left.set(xlabel="round", ylabel="weight in training", ylim=(-0.02, 1.02))
    left.set_xticks(rounds[:: max(1, len(rounds) // 8)])
    left.set_title("Median weight and middle half of the rows", loc="left", color=INK)
    bins = np.linspace(0, 1, 26)
    for name, weights, colour in sides:
        last = weights[-1][~np.isnan(weights[-1])]
        right.hist(last, bins, color=colour, alpha=0.65, label=f"{name} ({len(last)})")
    right.set(xlabel="weight in the last round", ylabel="unlabelled rows")
    right.legend(frameon=False)
    right.set_title("All rows, last round", loc="left", color=INK)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(
        "Self-correction: positives hidden among the unlabelled rows stay down-weighted",
        x=0.01,
        ha="left",
        weight="bold",
    )
    figure.savefig(picture, dpi=150)
