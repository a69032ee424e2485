"""Time and memory of `robustpu predict` on a file that is larger than the memory it may take.

    python benchmarks/predict.py                      # a CSV of 0.5 GB
    python benchmarks/predict.py --gigabytes 5        # half an hour, and 5 GB of disk meanwhile

Fits a model on 5,000 rows of 30 mixed columns, writes such rows again and again until the file is
as large as asked, and then, in a process of its own for each, reads it in parts and scores it.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from robustpu.tables import iter_table
from tables import make

ROWS = 5_000


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


def run(*command: object) -> tuple[float, float]:
    """Run a process to its end: seconds, and the most memory that it had, in GB."""
    started = time.perf_counter()
    process = os.posix_spawn(sys.executable, [sys.executable, *map(str, command)], os.environ)
    _, status, used = os.wait4(process, 0)
    if status:
        raise SystemExit(f"failed: {command}")
    return time.perf_counter() - started, used.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=0.5)
    parser.add_argument("--method", default="auto")
    parser.add_argument("--members", default="4", help="Robust-PU networks; the trees are 200.")
    parser.add_argument("--folder", help="Where to put the files; a temporary folder by default.")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        sum(part.n_rows for part in iter_table(options.read))
        return
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        size = round(options.gigabytes * 1e9)
        if shutil.disk_usage(folder).free < 1.5 * size:
            raise SystemExit(f"{folder} has too little room for a file of {options.gigabytes} GB.")
        make(ROWS, folder)
        model, table = folder / "model", folder / "large.csv"
        fit = ("fit", folder / "table.csv", "--label", "label", "--prior", "0.05", "--quiet")
        some = ("--members", options.members) if options.method != "puet" else ()
        run("-m", "robustpu", *fit, "--method", options.method, *some, "--out", model)
        rows = enlarge(folder / "table.csv", table, size)
        print(f"{table.stat().st_size / 1e9:.2f} GB, {rows:,} rows of 30 columns", flush=True)
        reading = run(__file__, "--read", table)
        print(f"reading  {reading[0]:8.0f} s {reading[1]:6.2f} GB", flush=True)
        scores = folder / "scores.parquet"
        scoring = run("-m", "robustpu", "predict", model, table, "--out", scores, "--quiet")
        print(f"predict  {scoring[0]:8.0f} s {scoring[1]:6.2f} GB")
        print(f"{rows / scoring[0]:,.0f} rows/s, {scoring[0] / reading[0]:.1f} times reading alone")


if __name__ == "__main__":
    main()
