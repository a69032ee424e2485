"""The figures of the docs: which stored results they come from, and whether they are right."""

import sys
from pathlib import Path

# Scripts of experiments/ import each other by name, and figures use their lists.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "experiments"))
