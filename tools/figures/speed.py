"""Figures of time and memory, from the JSON files in ``benchmarks``."""

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
    for entry in _stored("default.json"):
        size = f"{entry['rows']:,} x {entry['columns']:,}"
        size += ", sparse" if entry.get("density", 1) < 1 else ""
        seconds = entry["seconds"]
        row = ["" if size == last else size, entry["effort"], f"{seconds:.{int(seconds < 20)}f}"]
        row += [f"{seconds / entry['lightgbm']:.0f}", f"{entry['gigabytes']:.2f}"]
        rows.append([*row, f"{round(entry['rows_a_second'], -3):,}"])
        last = size
    return rows


def default_seconds(rows: str) -> str:
    """Seconds of a default fit of a table with so many rows."""
    wanted = (int(rows), "default")
    stored = _stored("default.json")
    found = next(each for each in stored if (each["rows"], each["effort"]) == wanted)
    return f"{found['seconds']:.0f}"


def fleet_speed(with_times: str = "") -> Rows:
    """Speed of fleets as multiples of the plain loop's, as `benchmarks/fleet.py` stored it."""
    sizes = ("1", "10", "30")
    rows = [["inputs", *(["plain loop"] if with_times else []), *(f"fleet of {m}" for m in sizes)]]
    for entry in _stored("fleet.json"):
        plain = entry["plain"]
        ratios = [f"{plain / entry[size]:.1f}x" for size in sizes]
        if with_times:
            times = [f"{entry[size]:.0f}" for size in sizes]
            ratios = [f"{a} ({b})" for a, b in zip(times, ratios, strict=True)]
            ratios.insert(0, f"{plain:,.0f}")
        rows.append([str(entry["inputs"]), *ratios])
    return rows


def predict_speed() -> Rows:
    """Rows a second and memory of `robustpu predict`, as `benchmarks/predict.py` stored them."""
    rows = [["file", "rows", "effort", "rows a second", "a second of one core", "memory, GB"]]
    for entry in _stored("predict.json"):
        file = [f"{entry['file']:g} GB", f"{entry['rows']:,}"]
        for effort in ("default", "fast"):
            used = entry[effort]
            speeds = (entry["rows"] / used[name] for name in ("seconds", "processor"))
            texts = (f"{round(speed, -3):,.0f}" for speed in speeds)
            rows.append([*file, effort, *texts, f"{used['gigabytes']:.2f}"])
            file = ["", ""]
    return rows


def pretrained_speed() -> Rows:
    """Processor seconds of the pretrained network, as `benchmarks/pretrained.py` stored them."""
    rows = [["rows x columns", "fit + new rows", "memory, MB", "LightGBM in the same run", "ratio"]]
    for entry in _stored("pretrained.json"):
        ours, trees = entry["pretrained"], entry["lightgbm"]
        busy, their = (each["fit_cpu"] + each["predict_cpu"] for each in (ours, trees))
        seconds = f"{ours['fit_cpu']:.1f} + {ours['predict_cpu']:.1f}"
        size = f"{entry['rows']:,} x {entry['columns']}"
        rows.append([size, seconds, f"{ours['mb']:.0f}", f"{their:.2f}", f"{busy / their:.0f}"])
    return rows


def pretrained_on_gpu() -> Rows:
    """Milliseconds on a GPU, as `benchmarks/pretrained_gpu.py` stored them."""
    rows = [["rows x columns", "members", "fit", "context alone", "1,000 new rows"]]
    for entry in _stored("pretrained_gpu.json"):
        times = [f"{1000 * entry[name]:.0f}" for name in ("fit", "context", "new_rows")]
        rows.append([f"{entry['rows']:,} x {entry['columns']}", str(entry["members"]), *times])
    return rows


def _stored(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((ROOT / "benchmarks" / name).read_text())
    return found


def dask() -> Rows:
    """Time and memory on Dask, as `benchmarks/scale.py` stored them."""
    rows = [["rows", "workers", "plain, s (cpu)", "Robust-PU, s (cpu)", "a round (cpu)"]]
    rows[0].append("GB a worker")
    for entry in _stored("scale.json"):
        fits = [entry[name] for name in ("plain", "robust", "ratio_a_round")]
        times = [f"{each['s']} ({each['cpu_s']})" for each in fits]
        memory = f"{fits[0]['gb']}, {fits[1]['gb']}"
        rows.append([f"{entry['rows']:,}", str(entry["workers"]), *times, memory])
    return rows


def streaming() -> Rows:
    """Time and memory on mapped files, as `benchmarks/streaming.py` stored them."""
    rows = [["rows", "columns", "GB", "X is", "s (cpu)", "MB more", "bytes a row"]]
    for entry in _stored("streaming.json"):
        size = [f"{entry['rows']:,}", str(entry["columns"]), f"{entry['gb']:.1f}", entry["kind"]]
        times = f"{entry['s']:.0f} ({entry['cpu_s']:.0f})"
        rows.append([*size, times, f"{entry['mb']:,.0f}", str(entry["bytes_a_row"])])
    return rows


def streaming_ratio(what: str) -> str:
    """Time of a fit that reads 100 columns from the file, over that of one that holds them."""
    held, read = (each for each in _stored("streaming.json") if each["columns"] == 100)
    return f"{read[what] / held[what]:.2f}"


def dask_round(rows: str) -> str:
    """A round over a plain fit, in CPU seconds."""
    return f"{_dask(rows)['ratio_a_round']['cpu_s']:.2f}"


def dask_plain(rows: str) -> str:
    """Microseconds of a plain fit, a row."""
    return f"{1e6 * _dask(rows)['plain']['cpu_s'] / int(rows):.1f}"


def _dask(rows: str) -> dict[str, Any]:
    return next(each for each in _stored("scale.json") if each["rows"] == int(rows))


FIGURES: Final[dict[str, Callable[..., Any]]] = {
    "pretrained-speed": pretrained_speed,
    "pretrained-gpu": pretrained_on_gpu,
    "predict-speed": predict_speed,
    "default-times": default_times,
    "default-seconds": default_seconds,
    "fleet-speed": fleet_speed,
    "dask": dask,
    "dask-round": dask_round,
    "dask-plain": dask_plain,
    "streaming": streaming,
    "streaming-ratio": streaming_ratio,
}
