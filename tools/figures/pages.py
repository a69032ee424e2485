"""Marked figures of a page: found, compared with stored results, and written anew.

A comment on the line above a table names what makes the table, whole:

    <!-- figures: errors default auto -->
    | data set | 0.2 | 0.4 | 0.6 |
    ...

A comment behind a figure in a sentence names what it is:

    at or below the paper in 10 of 21<!-- =below main robust-pu --> cells

`<!-- typed: reason -->` above a table says why it comes from no stored result.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Catalogue = Mapping[str, Callable[..., Any]]

TABLE: Final = re.compile(
    r"^(?P<indent>[ ]*)<!-- figures: (?P<call>[^>]+?) -->\n\n?(?P<table>(?:(?P=indent)\|.*\n)+)",
    re.MULTILINE,
)
ANY_TABLE: Final = re.compile(
    r"^(?P<mark>[ ]*<!-- (?:figures|typed): [^>]+? -->\n\n?)?(?P<table>(?:[ ]*\|.*\n)+)",
    re.MULTILINE,
)
INLINE: Final = re.compile(r"<!--\s=(?P<call>[^>]+?)\s-->")
# 1,200 or -0.35 or .81; a lone point or comma ends a sentence.
NUMBER: Final = r"[-−]?(?:\d[\d,]*)?\.?\d+"


@dataclass(frozen=True)
class Difference:
    """A figure of a page that is not what is stored."""

    line: int
    call: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.call}: {self.found!r} should be {self.expected!r}"


def compare(text: str, catalogue: Catalogue) -> tuple[str, list[Difference]]:
    """Check all marked figures of a page.

    Parameters
    ----------
    text
        Markdown.
    catalogue
        Name -> function of the words that follow it; it gives rows of texts for a table, and a text
        for a figure.

    Returns
    -------
    text, differences
        The page with the right figures, and what was wrong.
    """
    differences: list[Difference] = []

    def table(match: re.Match[str]) -> str:
        rows = evaluate(match["call"], catalogue)
        found = match["table"]
        expected = "".join(f"{match['indent']}{line}\n" for line in grid(rows))
        before = text.count("\n", 0, match.start("table")) + 1
        lines = found.splitlines(), expected.splitlines()
        for place in range(max(map(len, lines))):
            was, is_now = (each[place].strip() if place < len(each) else "" for each in lines)
            if was != is_now:
                differences.append(Difference(before + place, match["call"], was, is_now))
        return match[0].removesuffix(found) + expected

    text = TABLE.sub(table, text)
    parts, end = [], 0
    for match in INLINE.finditer(text):
        value = str(evaluate(match["call"], catalogue))
        before, after = _figure(text[end : match.start()], value, match["call"])
        if before != after:
            line = text.count("\n", 0, match.start()) + 1
            differences.append(Difference(line, match["call"], before, after))
        parts += [text[end : match.start()].removesuffix(before), after, match[0]]
        end = match.end()
    return "".join([*parts, text[end:]]), sorted(differences, key=lambda each: each.line)


def _figure(before: str, value: str, call: str) -> tuple[str, str]:
    """Give the figure that ends a text, and what it should be, with the line breaks it has."""
    shape = r"\s+".join(
        NUMBER.join(map(re.escape, re.split(NUMBER, word))) for word in value.split()
    )
    found = re.search(rf"(?<![\d.,])({shape})(\**)$", before)
    if found is None:
        raise ValueError(f"{call}: no figure like {value!r} at the end of {before[-60:]!r}")
    spaces = [*re.findall(r"\s+", found[1]), ""]
    after = "".join(word + space for word, space in zip(value.split(), spaces, strict=True))
    return found[0], after + found[2]


def calls(text: str) -> list[str]:
    """List what the comments of a page name, in order.

    Parameters
    ----------
    text
        Markdown.
    """
    marks = [*TABLE.finditer(text), *INLINE.finditer(text)]
    marks.sort(key=lambda match: match.start())
    return [" ".join(match["call"].split()) for match in marks]


def evaluate(call: str, catalogue: Catalogue) -> Any:
    """Compute what a comment names.

    Parameters
    ----------
    call
        A name, and words that it takes; quotes hold several words together.
    catalogue
        See `compare`.
    """
    name, *words = shlex.split(" ".join(call.split()))
    if name not in catalogue:
        raise ValueError(f"no figure {name!r}; there are {', '.join(sorted(catalogue))}")
    try:
        return catalogue[name](*words)
    except (KeyError, StopIteration, TypeError, ValueError, OSError) as error:
        raise ValueError(f"the figure {name} {words} cannot be computed: {error!r}") from error


def grid(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows, the first of them the head, as lines of Markdown.

    Parameters
    ----------
    rows
        Texts.
    """
    head, *body = rows
    rule = "|".join(["", *["---"] * len(head), ""])
    return [_line(head), rule, *map(_line, body)]


def _line(row: Sequence[str]) -> str:
    return re.sub(r"\|\s+(?=\|)", "| ", f"| {' | '.join(row)} |")


def unmarked(text: str) -> list[str]:
    """Find tables with measured figures that no comment stands above.

    Parameters
    ----------
    text
        Markdown.

    Returns
    -------
    tables
        The first line of each.
    """
    return [
        match["table"].splitlines()[0].strip()
        for match in ANY_TABLE.finditer(text)
        if match["mark"] is None and len(re.findall(r"(?<![\w`])\d*\.\d+\b", match["table"])) > 4
    ]
