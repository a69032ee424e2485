"""What a terminal shows: numbers and intervals as a line of letters, and texts of strangers."""

import re

# Controls, which could steer the terminal, and marks that turn the direction of a text.
UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# Letters between 0 and 1.
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
        Letters between 0 and 1.

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


def plain(text: str) -> str:
    """One line of text that cannot steer the terminal, whatever it was read from.

    Examples
    --------
    >>> plain("a\\x1b[2Jb") == "a\\ufffd[2Jb"
    True
    """
    return UNSEEN.sub("\ufffd", text)
