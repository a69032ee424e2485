"""The colours of all pages, light and dark, as variables of their style sheets.

Positives are warm, the rest is cool.
"""

from collections.abc import Mapping
from typing import Final

LIGHT: Final = {
    "paper": "#faf9f6",
    "card": "#ffffff",
    "ink": "#1d2930",
    "soft": "#4d5961",
    "rule": "#dde1e2",
    "accent": "#2f6690",
    "cool": "#2f6690",
    "warm": "#c8553d",
    "warm-ink": "#ad4029",
    "faint": "#eef0f0",
    "warn": "#fbf0ec",
}
DARK: Final = {
    "paper": "#11171b",
    "card": "#182025",
    "ink": "#e4eaed",
    "soft": "#9babb4",
    "rule": "#2b373e",
    "accent": "#7db8e0",
    "cool": "#60a5d6",
    "warm": "#ec8067",
    "warm-ink": "#f0937d",
    "faint": "#212b31",
    "warn": "#2b1f1d",
}
PRINT: Final = {**LIGHT, "paper": "#ffffff", "ink": "#000000", "soft": "#444444", "rule": "#cccccc"}


def variables(
    light: Mapping[str, str] = LIGHT,
    dark: Mapping[str, str] = DARK,
    printed: Mapping[str, str] = PRINT,
) -> str:
    """Rules that give the variables their colours.

    The reader's system decides, unless a switch of the page does; paper is always white.

    Parameters
    ----------
    light, dark, printed
        Name of a variable -> its colour, on a light screen, on a dark screen and on paper.

    Returns
    -------
    css
        One rule a scheme.

    Examples
    --------
    >>> variables().count("--paper")
    4
    """
    return "".join(
        [
            _rule(":root", light, "light"),
            "@media screen and (prefers-color-scheme: dark) {\n",
            _rule(":root:not(:has(#light:checked))", dark, "dark"),
            "}\n@media screen {\n",
            _rule(":root:has(#dark:checked)", dark, "dark"),
            "}\n@media print {\n",
            _rule(":root", printed, "light"),
            "}\n",
        ]
    )


def _rule(selector: str, colours: Mapping[str, str], scheme: str) -> str:
    inside = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f"{selector} {{ color-scheme: {scheme}; {inside} }}\n"
