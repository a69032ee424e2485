"""Figures of time and memory, from ``benchmarks/default.json`` and ``benchmarks/fleet.json``."""

import json
from collections.abc import Callable
from typing import Any, Final

from tools.figures.real_tables import Rows
from tools.figures.stored import ROOT


def default_times() -> Rows:
    """Time and memory of the default, as `benchmarks/default.py` stored it."""
    rows = [["rows x columns", "effort", "seconds", "times LightGBM's own fit", "memory, GB"]]
    rows[0].append("rows scored a second")
    last = ""
    for entry in json.loads((ROOT / "benchmarks" / "default.json").read_text()):
        size = f"{entry['rows']:,} x {entry['columns']}"
        seconds = entry["seconds"]
        row = ["" if size == last else size, entry["effort"], f"{seconds:.{int(seconds < 20)}f}"]
        row += [f"{seconds / entry['lightgbm']:.0f}", f"{entry['gigabytes']:.2f}"]
        rows.append([*row, f"{round(entry['rows_a_second'], -3):,}"])
        last = size
    return rows


def default_seconds(rows: str) -> str:
    """Seconds of a default fit of a table with so many rows."""
    stored = json.loads((ROOT / "benchmarks" / "default.json").read_text())
    wanted = (int(rows.replace(",", "")), "default")
    found = next(each for each in stored if (each["rows"], each["effort"]) == wanted)
    return f"{found['seconds']:.0f}"


def fleet_speed(with_times: str = "") -> Rows:
    """Speed of fleets as multiples of the plain loop's, as `benchmarks/fleet.py` stored it."""
    sizes = ("1", "10", "30")
    rows = [["inputs", *(["plain loop"] if with_times else []), *(f"fleet of {m}" for m in sizes)]]
    for entry in json.loads((ROOT / "benchmarks" / "fleet.json").read_text()):
        plain = entry["plain"]
        ratios = [f"{plain / entry[size]:.1f}x" for size in sizes]
        if with_times:
            times = [f"{entry[size]:.0f}" for size in sizes]
            ratios = [f"{a} ({b})" for a, b in zip(times, ratios, strict=True)]
            ratios.insert(0, f"{plain:,.0f}")
        rows.append([str(entry["inputs"]), *ratios])
    return rows


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "default-times": default_times,
    "default-seconds": default_seconds,
    "fleet-speed": fleet_speed,
}
