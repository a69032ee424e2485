"""How the self-correction went, round by round."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from markupsafe import Markup

from robustpu.charts.svg import scale, ticks
from robustpu.charts.wording import counted, evenly, percent
from robustpu.report.markup import Child, card, element, joined
from robustpu.report.plot import box, dot, feet, levels, path, plot, rule, words
from robustpu.results import Results, Rounds

HEIGHT: Final = 110
ROW: Final = 12
# Rounds that there is room for.
MOST: Final = 14


def rounds(results: Results) -> Markup:
    """Draw weights, thresholds, the share of flagged rows and the score, all by round.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        Cards; empty if the method has no rounds.
    """
    found = results.rounds
    if found is None:
        return Markup("")
    kept = [each.number for each in found.rounds]
    courses = {
        "Thresholds, unlabelled rows": [each.threshold_unlabeled for each in found.rounds],
        "Thresholds, positives": [each.threshold_positive for each in found.rounds],
        "Unlabelled rows that are flagged": [each.flagged for each in found.rounds],
        "Score on held-out rows": [each.score for each in found.rounds],
    }
    cards = [
        card(title, _course(kept, values, title, found.best)) for title, values in courses.items()
    ]
    unlabeled = _weights(found, [each.weights_unlabeled for each in found.rounds], "cool")
    positive = _weights(found, [each.weights_positive for each in found.rounds], "warm")
    how = "Hidden positives should stay at the left, near zero: they hardly count as negatives."
    return joined(
        element("p", _explained(found), class_="how"),
        element(
            "div",
            card("Weights of unlabelled rows", unlabeled, how),
            card("Weights of labelled positives", positive, "They should move to the right."),
            cards,
            class_="panels",
        ),
    )


def _explained(found: Rounds) -> str:
    """Which rounds the networks keep, and what came of it."""
    n_best = {each.number: each.n_best for each in found.rounds if each.n_best}
    total = counted(sum(n_best.values()), "network")
    later = [number for number in n_best if number > 0]
    words = "Rows are weighted by how easy they are, and the networks train on, round after round. "
    if not later:
        return f"{words}It did not improve any of {total}: all keep round 0, before it."
    span = f"round {later[0]}" if len(later) == 1 else f"rounds {min(later)} to {max(later)}"
    if 0 in n_best:
        words += (
            f"Each network keeps its best round: {counted(n_best[0])} of {total} keep round 0, "
            f"before the correction; the others keep {span}. "
        )
    else:
        words += f"It improved all of {total}, which keep {span}. "
    words += f"The middle one of the best rounds is {found.best}"
    flagged = next(each.flagged for each in found.rounds if each.number == found.best)
    return f"{words}." if flagged is None else f"{words}: {percent(flagged)} are flagged after it."


def _course(
    numbers: Sequence[int], values: Sequence[float | None], title: str, best: int
) -> Markup:
    """A line with a dot a round; empty if there are fewer than two."""
    known = [(at, value) for at, value in zip(numbers, values, strict=True) if value is not None]
    if len(known) < 2:
        return Markup("")
    heights = [value for _, value in known]
    # Ticks are at least a tenth apart, so values are drawn in hundredths.
    marks = [mark / 100 for mark in ticks(100 * min(heights), 100 * max(heights), 4)]
    x, y = scale(numbers[0], numbers[-1], 0, 100), scale(marks[0], marks[-1], HEIGHT, 0)
    line = path([(x(at), y(value)) for at, value in known], HEIGHT, "line")
    dots = [dot(x(at), y(value), 2.4, f"round {at}: {value:.4g}") for at, value in known]
    step = max(1, -(-len(numbers) // 8))
    return plot(
        HEIGHT,
        f"{title}, by round",
        levels(marks, y, evenly(marks)),
        rule(x(best), 0, x(best), HEIGHT, "chance"),
        element("g", line, dots, class_="cool"),
        feet(numbers[::step], x, HEIGHT + 15, lambda number: f"{number:g}"),
        words("round; the grey line is the middle one of the best", 50, HEIGHT + 31, "middle"),
        kind="wide",
    )


def _weights(found: Rounds, counts: Sequence[Sequence[int]], kind: str) -> Markup:
    """A row a round, a field a bin: the more rows have such a weight, the fuller."""
    known = [
        (each.number, weights)
        for each, weights in zip(found.rounds, counts, strict=True)
        if any(weights)
    ]
    if not known:
        return Markup("")
    known = known[:: max(1, -(-len(known) // MOST))]
    x = scale(found.edges[0], found.edges[-1], 0, 100)
    parts: list[Child] = []
    for place, (number, weights) in enumerate(known):
        most, y = max(weights), place * ROW
        parts.append(words(f"{number}", 0, y + 10, "end", dx=-6))
        for (low, high), count in zip(pairwise(found.edges), weights, strict=True):
            # The root, so that small ones are seen, too.
            fill = element(
                "g", box(x(low), y, x(high) - x(low), ROW - 1, "bar"), opacity=(count / most) ** 0.5
            )
            parts.append(fill if count else None)
    height = ROW * len(known)
    ends = feet([found.edges[0], found.edges[-1]], x, height + 15, lambda mark: f"{mark:g}")
    title = "Weights by round: each row is a round, fuller where more rows have the weight"
    return plot(
        height,
        title,
        element("g", parts, class_=kind),
        ends,
        words("weight; a line each round", 50, height + 15, "middle"),
        kind="wide",
    )
