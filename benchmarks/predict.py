"""Time and memory of `robustpu predict` on a file that is larger than the memory it may take.

    python benchmarks/predict.py                         # CSV files of 0.25 and 1 GB
    python benchmarks/predict.py --gigabytes 5           # as many GB of disk meanwhile
    python benchmarks/predict.py --write                 # stores it in benchmarks/predict.json

Fits the default to 5,000 rows of 30 mixed columns, writes such rows again and again until the file
is as large as asked, and then, in a process of its own for each, reads it in parts and scores it.
Two parts are scored at a time while the next one is read; libraries have one thread each.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

from measured import store
from robustpu.tables import iter_table
from tables import make

ROWS = 5_000
EFFORTS = ("default", "fast")


def enlarge(block: Path, target: Path, size: int) -> int:
    """Write a header, and the rows of a block until the file has a size; return their number."""
    header, _, body = block.read_bytes().partition(b"\n")
    rows = body.count(b"\n")
    times = max(1, round((size - len(header)) / len(body)))
    with target.open("wb") as file:
        file.write(header + b"\n")
        for _ in range(times):
            file.write(body)
    return rows * times


def run(*command: object) -> dict[str, float]:
    """Run a process to its end: seconds, those of the processor, and its most memory in GB."""
    started = time.perf_counter()
    process = os.posix_spawn(sys.executable, [sys.executable, *map(str, command)], os.environ)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "processor": round(used.ru_utime + used.ru_stime, 1),
        "gigabytes": round(used.ru_maxrss / 2**20, 3),
    }


def measure(gigabytes: float, folder: Path) -> dict[str, Any]:
    """Fit, enlarge, read and score."""
    size = round(gigabytes * 1e9)
    if shutil.disk_usage(folder).free < 1.5 * size:
        raise SystemExit(f"{folder} has too little room for a file of {gigabytes} GB.")
    make(ROWS, folder)
    table, large = folder / "table.csv", folder / "large.csv"
    rows = enlarge(table, large, size)
    print(f"{large.stat().st_size / 1e9:.2f} GB, {rows:,} rows of 30 columns", flush=True)
    found: dict[str, Any] = {
        "file": gigabytes,
        "rows": rows,
        "reading": run(__file__, "--read", large),
    }
    for effort in EFFORTS:
        model, scores = folder / effort, folder / "scores.parquet"
        fit = ("fit", table, "--label", "label", "--prior", "0.05", "--effort", effort, "--quiet")
        run("-m", "robustpu", *fit, "--out", model)
        found[effort] = run("-m", "robustpu", "predict", model, large, "--out", scores, "--quiet")
        scores.unlink()
    for name in ("reading", *EFFORTS):
        used = found[name]
        print(
            f"{name:8} {used['seconds']:7.1f} s {used['processor']:7.1f} s of the processor "
            f"{used['gigabytes']:6.2f} GB {rows / used['processor']:9,.0f} rows/s",
            flush=True,
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, nargs="*", default=[0.25, 1.0])
    parser.add_argument("--folder", help="Where to put the files; a temporary folder by default.")
    parser.add_argument("--write", action="store_true", help="store it, for benchmarks/README.md")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        sum(part.n_rows for part in iter_table(options.read))
        return
    found = []
    for gigabytes in options.gigabytes:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            found.append(measure(gigabytes, Path(name)))
    if options.write:
        store(__file__, found)


if __name__ == "__main__":
    main()
