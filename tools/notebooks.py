"""Examples that are notebooks too: written from their scripts, so that both stay the same.

python -m tools.notebooks    # writes examples/notebooks/*.ipynb again
"""

import json
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = ("fraud", "churn")
INSTALL = "To run this notebook: `pip install '.[plot,tables]' pandas` in a clone of robustpu."


def notebook(script: str) -> dict[str, Any]:
    """A script with a docstring, and comments after ``# %%``, as a notebook of version 4.5."""
    head, *blocks = script.split("# %%\n")
    _, docstring, code = head.split('"""', 2)
    title, _, text = docstring.strip().split("\n", 2)
    cells = [("markdown", f"# {title}\n\n{text.strip()}\n\n{INSTALL}"), ("code", code)]
    for block in blocks:
        lines = block.splitlines()
        n_text = next(at for at, line in enumerate(lines) if not line.startswith("#"))
        cells.append(("markdown", "\n".join(line.removeprefix("# ") for line in lines[:n_text])))
        cells.append(("code", "\n".join(lines[n_text:])))
    return {
        "cells": [cell(at, kind, text.strip()) for at, (kind, text) in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def cell(at: int, kind: str, text: str) -> dict[str, Any]:
    """One cell, without output."""
    found = {"cell_type": kind, "id": f"cell-{at}", "metadata": {}}
    found["source"] = text.splitlines(keepends=True)
    return found | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def text_of(name: str) -> str:
    """The file of the notebook of an example."""
    made = notebook((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    (EXAMPLES / "notebooks").mkdir(exist_ok=True)
    for name in NOTEBOOKS:
        (EXAMPLES / "notebooks" / f"{name}.ipynb").write_text(text_of(name), encoding="utf-8")
