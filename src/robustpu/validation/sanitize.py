"""Replace control characters in untrusted text."""

import re
from typing import Final

# Control characters, marks that reverse the direction of text, and lone surrogates.
CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def shown(text: str) -> str:
    """Replace each control character by U+FFFD.

    Parameters
    ----------
    text
        One line: line ends are control characters too.

    Examples
    --------
    >>> shown("a\\x1b[2Jb") == "a\\ufffd[2Jb"
    True
    """
    return CONTROL.sub("\ufffd", text)
