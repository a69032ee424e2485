"""Numbers and their intervals as a line of characters."""

# Characters between 0 and 1.
WIDTH = 50


def strip(
    value: float, low: float | None = None, high: float | None = None, width: int = WIDTH
) -> str:
    """Draw a number and its interval on a line from 0 to 1.

    Parameters
    ----------
    value, low, high
        From 0 to 1.
    width
        Characters between 0 and 1.

    Examples
    --------
    >>> strip(0.5, 0.25, 0.75, 8)
    '··──●──··'
    """

    def at(number: float) -> int:
        return round(min(max(number, 0), 1) * width)

    place = at(value)
    line = ["·"] * (width + 1)
    if low is not None and high is not None:
        first, last = at(low), at(high)
        line[first : last + 1] = "─" * (last + 1 - first)
    line[place] = "●" if low is not None else "○"
    return "".join(line)
