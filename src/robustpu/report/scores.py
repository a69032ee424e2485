"""The distribution of the scores of labelled and of unlabelled rows."""

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from markupsafe import Markup

from robustpu.charts.svg import scale, ticks
from robustpu.charts.wording import counted
from robustpu.report.markup import card, joined
from robustpu.report.plot import box, feet, levels, plot, rule, words
from robustpu.results import Results

HEIGHT: Final = 82
# Most unlabelled rows are plain negatives. If the fullest bin has this many times the rows of a
# usual one, the rows that matter cannot be seen on a linear scale.
STEEP: Final = 20
# A bin with one row has to be seen on a logarithmic scale, too.
LEAST: Final = 0.6


def scores(results: Results) -> Markup:
    """Draw histograms of labelled and of unlabelled rows below each other.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
    """
    found = results.scores
    sides = (
        ("labelled positives", "warm", found.positive),
        ("unlabelled rows", "cool", found.unlabeled),
    )
    how = "Number of rows by score; flagged ones are drawn full."
    if any(is_steep(counts) for _, _, counts in sides):
        how += " The scale is logarithmic: each line is ten times the one below."
    pictures = [_histogram(found.edges, *side, results.threshold) for side in sides]
    return card("Scores of held-out rows", joined(pictures), how)


def is_steep(counts: Sequence[float]) -> bool:
    """Whether counts differ so much that only a logarithmic scale shows them all.

    Examples
    --------
    >>> is_steep([4, 5, 6]), is_steep([900, 2, 3, 0])
    (False, True)
    """
    full = [count for count in counts if count > 0]
    return bool(full) and max(full) > STEEP * median(full)


def _histogram(
    edges: Sequence[float], name: str, kind: str, counts: Sequence[float], cut: float
) -> Markup:
    most, logarithmic = max(*counts, 1), is_steep(counts)
    if logarithmic:
        marks = [10.0**power for power in range(math.floor(math.log10(most)) + 1)]
    else:
        marks = [mark for mark in ticks(0, most, 4) if mark <= most]
    y = scale(LEAST if logarithmic else 0, most, HEIGHT, 0, logarithmic=logarithmic)
    x = scale(edges[0], edges[-1], 0, 100)
    bars = [
        box(
            x(low),
            y(count),
            0.9 * (x(high) - x(low)),
            HEIGHT - y(count),
            f"bar {kind}" if (low + high) / 2 >= cut else f"bar {kind} pale",
        )
        for (low, high), count in zip(pairwise(edges), counts, strict=True)
        if count > 0
    ]
    return plot(
        HEIGHT,
        f"Histogram of the scores of {counted(sum(counts))} {name}",
        words(f"{counted(sum(counts))} {name}", 0, -7, kind=kind),
        levels(marks, y, counted),
        bars,
        rule(x(cut), 0, x(cut), HEIGHT, "chance"),
        feet(
            [edges[0], (edges[0] + edges[-1]) / 2, edges[-1]],
            x,
            HEIGHT + 15,
            lambda mark: f"{mark:g}",
        ),
        kind="wide",
    )
