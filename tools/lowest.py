"""Print the lowest versions that pyproject.toml claims, one requirement a line, for pip.

``python tools/lowest.py test`` prints those of the library and of the extra ``test``;
``--torch 2.13.0`` replaces the lowest torch, for machines that have wheels of some releases only.
"""

import argparse
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
# pip takes the newest of what these need in turn, and an old matplotlib warns with that.
INDIRECT = ("pyparsing<3.3",)
OWN = re.compile(r"robustpu\[(.*)\]")


def requirements(project: dict[str, Any], extras: list[str]) -> Iterator[str]:
    """Yield what the library and some extras of it need, as pyproject.toml has it.

    Parameters
    ----------
    project
        The table ``project`` of pyproject.toml.
    extras
        Names of extras; extras that these name are followed.
    """
    yield from project["dependencies"]
    for extra in extras:
        for line in project["optional-dependencies"][extra]:
            if each := OWN.fullmatch(line):
                yield from requirements({**project, "dependencies": []}, each[1].split(","))
            else:
                yield line


def main() -> None:
    """Print the requirements that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--torch", help="this release instead of the lowest")
    args = parser.parse_args()
    project = tomllib.loads(PYPROJECT.read_text())["project"]
    for line in requirements(project, args.extras):
        if line.startswith("torch>=") and args.torch:
            print(f"torch=={args.torch}")
        else:
            print(line.replace(">=", "==", 1))
    print(*INDIRECT, sep="\n")


if __name__ == "__main__":
    main()
