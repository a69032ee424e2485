"""Rename methods and settings in stored results, and keep the fingerprints that were valid valid.

    PYTHONPATH=OLD/src python tools/rename_results.py dump OLD/experiments old.json
    python tools/rename_results.py apply old.json

OLD is a checkout of the last commit before the names changed. A record is given the fingerprint of
its cell in the present plan if it had that of its cell in the old plan; a record that was outdated
stays outdated. What was trained does not change: see the golden predictions of that step.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any

from robustpu.bench import plan

EXPERIMENTS = Path(__file__).parents[1] / "experiments"
# The default ensemble bore the name of one of its parts.
METHODS = {
    "default": {"robust-pu": "auto", "robust-pu-auto": "auto-estimated"},
    "few_labels": {"robust-pu": "auto"},
    "strangers": {"robust-pu": "auto"},
    "biased": {"robust-pu": "auto"},
}
# What is a parameter of the curriculum now.
MOVED = re.compile(
    "(hardness|weighting|balance|max_rounds"
    "|temperature_positive|temperature_unlabeled|pacing_positive|pacing_unlabeled)(__.*)?"
)


def dump(experiments: Path, path: Path) -> None:
    """Write the fingerprints of all cells of some experiment files."""
    found = {}
    for file in sorted(experiments.glob("*.toml")):
        for cell in plan.load(file):
            found[f"{cell.experiment}/{cell.name}"] = [cell.fingerprint, cell.training]
    path.write_text(json.dumps(found), encoding="utf-8")


def apply(path: Path) -> None:
    """Rename what is in experiments/results."""
    old = json.loads(path.read_text(encoding="utf-8"))
    cells = {
        f"{cell.experiment}/{cell.name}": cell
        for file in sorted(EXPERIMENTS.glob("*.toml"))
        for cell in plan.load(file)
    }
    for results in sorted((EXPERIMENTS / "results").glob("*.*json*")):
        lines = results.read_text(encoding="utf-8").splitlines()
        renamed = [renamed_line(line, results.stem, old, cells) for line in lines]
        if renamed != lines:
            results.write_text("".join(f"{line}\n" for line in renamed), encoding="utf-8")
            print(results.name, sum(map(str.__ne__, lines, renamed)), "of", len(lines), "records")


def renamed_line(line: str, stem: str, old: dict[str, Any], cells: dict[str, plan.Cell]) -> str:
    """Rename one record; lines that are none stay as they are."""
    if not line.startswith('{"'):
        return line
    record = json.loads(line)
    if "method" not in record:
        return line
    before = cell_of(record)
    names = METHODS.get(stem, {})
    record["method"] = names.get(record["method"], record["method"])
    if "fingerprint" not in record:
        return json.dumps(record)
    cell = cells.get(cell_of(record))
    if cell is not None:
        record |= {"title": cell.title, "label": cell.label, "paper": cell.paper}
        if old.get(before, [None])[0] == record["fingerprint"]:
            record |= {"fingerprint": cell.fingerprint, "training": cell.training}
    if "turns" in record:
        record = {("iterations" if key == "turns" else key): entry for key, entry in record.items()}
    if "settings" in record:
        settings = {moved(key): value for key, value in record["settings"].items()}
        settings.pop("preset", None)
        record["settings"] = settings
    return json.dumps(record)


def cell_of(record: dict[str, Any]) -> str:
    """Name the cell of a record as a plan does."""
    place = f"{record.get('dataset')}/{record['method']}/{record.get('prior', 0):g}"
    return f"{record.get('experiment')}/{place}/{record.get('selection')}"


def moved(key: str) -> str:
    """Name a setting as it is named now."""
    return f"curriculum__{key}" if MOVED.fullmatch(key) else key


if __name__ == "__main__":
    action, *paths = sys.argv[1:]
    {"dump": dump, "apply": apply}[action](*map(Path, paths))
