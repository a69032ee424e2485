"""Text for LaTeX: nothing in it is read as a command."""

import re
from collections.abc import Mapping
from typing import Final

SPECIAL: Final[Mapping[str, str]] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "“": "``",
    "”": "''",
    "‘": "`",
    "’": "'",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≈": r"$\approx$",
    "×": r"$\times$",
    "–": "--",
    "†": r"$^\dagger$",
    **{mark: f"\\{mark}" for mark in "&%$#_{}"},
}

SMALL = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau"
LARGE = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK: Final = {
    **dict(zip("αβγδεζηθικλμνξπρστ", SMALL.split(), strict=True)),
    **dict(zip("υφχψω", ["upsilon", "phi", "chi", "psi", "omega"], strict=True)),
    **dict(zip("ΓΔΘΛΞΠΣΥΦΨΩ", LARGE.split(), strict=True)),
}
# Letters up to here are in the fonts that every LaTeX has.
LATIN: Final = 0x180


def escape(text: str) -> str:
    r"""Take the meaning from every character that TeX would read, and write Greek as mathematics.

    Parameters
    ----------
    text
        Any text.

    Returns
    -------
    text
        For LaTeX with UTF-8 input.

    Examples
    --------
    >>> print(escape("50 % of τ_1"))
    50 \% of $\tau$\_1
    >>> print(escape('the "best"'))
    the ``best''
    """
    # A straight mark opens where a word may begin.
    flat = re.sub(r'(?<![^\s(\[])"', "“", " ".join(text.split())).replace('"', "”")
    return "".join(SPECIAL.get(mark) or _other(mark) for mark in flat)


def _other(mark: str) -> str:
    """Write Greek by its name, and a question mark for what LaTeX has no letter for."""
    if mark in GREEK:
        return f"$\\{GREEK[mark]}$"
    return mark if mark.isprintable() and ord(mark) < LATIN else "?"
