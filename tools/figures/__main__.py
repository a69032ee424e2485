"""Check the marked figures of the docs against stored results, or write them anew.

    python -m tools.figures            # says what differs; exit status 1 if anything does
    python -m tools.figures --write    # makes tables and figures again
    python -m tools.figures --list     # every marked figure, with its value

Nothing is trained. How figures are marked: tools/figures/pages.py. What computes them:
tools/figures/catalogue.py.
"""

import argparse
import sys
from pathlib import Path

from tools.figures.catalogue import FIGURES
from tools.figures.pages import calls, compare
from tools.figures.stored import ROOT


def marked() -> list[Path]:
    """Pages with marked figures."""
    pages = [ROOT / "README.md", ROOT / "benchmarks" / "README.md"]
    pages += sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in pages if calls(page.read_text())]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", type=Path, help="by default all that have marks")
    parser.add_argument("--write", action="store_true", help="correct the pages")
    parser.add_argument("--list", action="store_true", help="print every mark")
    options = parser.parse_args()
    wrong = 0
    for page in options.pages or marked():
        text = page.read_text()
        if options.list:
            print(*(f"{page}: {call}" for call in calls(text)), sep="\n")
            continue
        right, differences = compare(text, FIGURES)
        wrong += len(differences)
        for difference in differences:
            print(f"{page}, {difference}")
        if options.write and differences:
            page.write_text(right)
    return 1 if wrong and not options.write else 0


if __name__ == "__main__":
    sys.exit(main())
