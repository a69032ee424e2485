"""Several pictures in one SVG file that needs nothing else."""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from robustpu.charts.axes import label
from robustpu.charts.svg import TYPE, WIDTH, text_width

GAP, MARGIN, HEAD, LINE = 28, 16, 22, 15
FONT: Final = 'text { font: 10.5px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }'


def sheet(
    title: str,
    captions: Sequence[str],
    pictures: Mapping[str, str],
    style: str,
    across: int = 4,
) -> str:
    """Put pictures side by side, with a title above and captions below.

    Parameters
    ----------
    title
        Of the whole.
    captions
        Sentences; each is broken into lines.
    pictures
        Name -> SVG element of width ``WIDTH``, as :func:`robustpu.charts.svg.svg` makes it.
    style
        Style sheet, with the colours of a light page.
    across
        Pictures in a row at most.

    Returns
    -------
    svg
        A whole file.
    """
    across = min(across, len(pictures))
    width = 2 * MARGIN + across * WIDTH + (across - 1) * GAP
    y = float(MARGIN + 2 * HEAD)
    parts = [label(title, MARGIN, MARGIN + 12, "title")]
    names = list(pictures)
    for start in range(0, len(names), across):
        row = names[start : start + across]
        for i, name in enumerate(row):
            x = MARGIN + i * (WIDTH + GAP)
            parts.append(label(name, x, y, "panel"))
            parts.append(_placed(pictures[name], x, y + 8))
        y += HEAD + 16 + max(_height(pictures[name]) for name in row)
    lines = [line for words in captions for line in _lines(words, width - 2 * MARGIN)]
    for i, words in enumerate(lines):
        parts.append(label(words, MARGIN, y + i * LINE))
    height = y + len(lines) * LINE + MARGIN - 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}">\n'
        f"<style>{FONT}\n{style}</style>\n"
        f'<rect class="card" width="{width:g}" height="{height:g}"/>\n{"".join(parts)}</svg>\n'
    )


def _height(picture: str) -> float:
    found = re.match(r'<svg viewBox="0 0 [\d.]+ ([\d.]+)"', picture)
    if found is None:
        raise ValueError("expected an SVG element with a viewBox.")
    return float(found.group(1))


def _placed(picture: str, x: float, y: float) -> str:
    size = f'x="{x:g}" y="{y:g}" width="{WIDTH}" height="{_height(picture):g}"'
    return picture.replace("<svg ", f"<svg {size} ", 1)


def _lines(words: str, width: float) -> list[str]:
    """Break a text into lines that fit; average letters are narrower than the widest font's."""
    lines: list[str] = []
    for word in words.split():
        if lines and text_width(f"{lines[-1]} {word}") < width + 4 * TYPE:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines
