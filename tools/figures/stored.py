"""Where results lie, and how they are read."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
RESULTS: Final = ROOT / "experiments" / "results"


@cache
def lines(name: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines of the results."""
    return [json.loads(line) for line in (RESULTS / name).read_text().splitlines()]
