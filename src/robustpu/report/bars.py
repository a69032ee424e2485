"""How much each column counts, as bars."""

from collections.abc import Sequence
from typing import NamedTuple

from robustpu.charts.axes import label
from robustpu.charts.svg import WIDTH, scale, shortened, svg, text_width
from robustpu.charts.wording import number

LINE, TOP, RIGHT = 19, 4, 44


class Bar(NamedTuple):
    """A name, a length, and a deviation of it or None."""

    name: str
    value: float
    deviation: float | None = None


def bars(found: Sequence[Bar], title: str, most: float) -> str:
    """Draw bars below each other, each with its name and value.

    Parameters
    ----------
    found
        From the top; what is below zero is drawn as nothing.
    title
        What is to be seen.
    most
        What the full length stands for.

    Returns
    -------
    svg
        Empty if there is no bar.

    Examples
    --------
    >>> bars([Bar("amount", 0.31, 0.02), Bar("age", 0.1)], "columns", 0.4).count("<rect")
    2
    """
    if not found:
        return ""
    names = [shortened(bar.name, 0.42 * WIDTH) for bar in found]
    left = 10 + max(map(text_width, names))
    x = scale(0, max(most, 1e-9), left, WIDTH - RIGHT)
    parts = []
    for i, (name, bar) in enumerate(zip(names, found, strict=True)):
        y = TOP + i * LINE
        wide = max(x(bar.value) - left, 0.8)
        end = x(bar.value)
        parts.append(label(name, left - 6, y + 11.5, "name", "end"))
        parts.append(
            f'<rect class="bar" x="{left:.1f}" y="{y + 2:g}" width="{wide:.1f}" height="11"/>'
        )
        if bar.deviation:
            end = x(bar.value + bar.deviation)
            parts.append(
                f'<path class="whisker" d="M{x(bar.value - bar.deviation):.1f} {y + 7.5:g}'
                f'H{end:.1f}"/>'
            )
        parts.append(label(number(bar.value), end + 5, y + 11.5))
    return svg(TOP + LINE * len(found), title, [f'<g class="cool">{"".join(parts)}</g>'])
