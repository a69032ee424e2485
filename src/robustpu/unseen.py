"""Signs that do not show, but do something: taken out of texts that strangers wrote."""

import re
from typing import Final

# Controls, which can steer a terminal, marks that turn the direction of the text around them, and
# halves of signs.
UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(text: str) -> str:
    """Put U+FFFD, which says that something was there, in the place of such signs.

    Parameters
    ----------
    text
        One line: an end of a line is such a sign, too.

    Examples
    --------
    >>> shown("a\\x1b[2Jb") == "a\\ufffd[2Jb"
    True
    """
    return UNSEEN.sub("\ufffd", text)
