"""Pictures by matplotlib, an extra: ``pip install 'robustpu[plot]'``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from robustpu.priors.estimation import PriorEstimate

POSITIVE, NEGATIVE, INK = "#c8553d", "#2f6690", "#333333"


def draw_weights(path: NDArray[Any], is_hidden_positive: NDArray[np.bool_], picture: Path) -> None:
    """Draw how the weights of unlabelled rows change from round to round, by their true class.

    Parameters
    ----------
    path
        Weights (rounds, unlabelled rows); NaN where no network trained on the row.
    is_hidden_positive
        True classes, (unlabelled rows,), which the model never saw.
    picture
        File to write; its suffix decides the format.
    """
    figure, left, right = _two_panels()
    sides = (
        ("negatives", path[:, ~is_hidden_positive], NEGATIVE),
        ("hidden positives", path[:, is_hidden_positive], POSITIVE),
    )
    for name, weights, colour in sides:
        _draw_course(left, f"unlabelled {name}", weights, colour)
        last = weights[-1][~np.isnan(weights[-1])]
        bins = np.linspace(0, 1, 26)
        right.hist(last, bins, color=colour, alpha=0.65, label=f"{name} ({len(last)})")
    left.set(xlabel="round", ylabel="weight in training", ylim=(-0.02, 1.02))
    left.set_xticks(np.arange(1, len(path) + 1)[:: max(1, len(path) // 8)])
    left.set_title("Median weight and middle half of the rows", loc="left", color=INK)
    right.set(xlabel="weight in the last round", ylabel="unlabelled rows")
    right.legend(frameon=False)
    right.set_title("All rows, last round", loc="left", color=INK)
    figure.suptitle(
        "Self-correction: positives hidden among the unlabelled rows stay down-weighted",
        x=0.01,
        ha="left",
        weight="bold",
    )
    figure.savefig(picture, dpi=150)


def _draw_course(axes: Any, name: str, weights: NDArray[Any], colour: str) -> None:
    """Draw the median and the middle half by round, with the name at the end."""
    rounds = np.arange(1, len(weights) + 1)
    low, middle, high = np.nanpercentile(weights, [25, 50, 75], axis=1)
    axes.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.plot(rounds, middle, color=colour, linewidth=2.2)
    axes.annotate(
        name,
        (rounds[-1], middle[-1]),
        xytext=(-4, 7 if middle[-1] < 0.85 else -14),
        textcoords="offset points",
        ha="right",
        color=colour,
        weight="bold",
    )


def draw_prior(found: "PriorEstimate", is_positive: NDArray[np.bool_], picture: Path) -> None:
    """Draw the scores that a prior was estimated from, and the estimate of each method.

    Parameters
    ----------
    found
        Result of ``estimate_prior``.
    is_positive
        Which rows are labelled, (n,).
    picture
        File to write; its suffix decides the format.
    """
    figure, left, right = _two_panels()
    low, high = np.quantile(found.scores, [0.005, 0.995])
    edges = np.linspace(low, max(high, low + 1e-6), 41)
    sides = (("unlabelled", ~is_positive, NEGATIVE), ("labelled positives", is_positive, POSITIVE))
    for name, side, colour in sides:
        scores = np.clip(found.scores[side], edges[0], edges[-1])
        # Unlabelled positives have scores like labelled ones: scaled by the estimate, the positives
        # fill the right of the unlabelled rows.
        share = found.value if name == "labelled positives" else 1.0
        weight = np.full(len(scores), share / len(scores))
        left.hist(scores, edges, weights=weight, color=colour, alpha=0.55, label=name)
    left.set(xlabel="out-of-fold score", ylabel="share of the unlabelled rows")
    left.legend(frameon=False)
    left.set_title("Labelled positives, scaled by the estimate", loc="left", color=INK)
    names = [found.method, *(name for name in found.answers if name != found.method)]
    values = [found.value, *(found.answers[name] for name in names[1:])]
    height = np.arange(len(names))[::-1]
    right.axvspan(found.low, found.high, color=POSITIVE, alpha=0.15, linewidth=0)
    right.plot(values[1:], height[1:], "o", color=NEGATIVE, markersize=6)
    right.plot(values[:1], height[:1], "o", color=POSITIVE, markersize=10)
    right.set_yticks(height, names)
    right.set(xlim=(0, 1), xlabel="share of positives among the unlabelled rows")
    right.set_title(
        f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})", loc="left", color=INK
    )
    figure.savefig(picture, dpi=150)


def _two_panels() -> tuple[Any, Any, Any]:
    """Make a figure with two axes side by side."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    return figure, left, right
