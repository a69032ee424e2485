"""Time and memory of reading and vectorising a table of mixed columns.

    python benchmarks/tables.py                       # 1,000,000 rows, about 2 minutes
    python benchmarks/tables.py --rows 100000

Makes a CSV and a Parquet file of 30 columns in a temporary folder; then, in a process of its own
for each, reads, fits and transforms the whole, and goes through it in parts.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from robustpu.tables import Roles, Tally, Vectorizer, iter_table, read_table, take_roles

WORDS = np.array(
    [
        "red",
        "green",
        "car",
        "house",
        "claim",
        "water",
        "damage",
        "roof",
        "broken",
        "window",
        "stolen",
        "bike",
        "phone",
        "fire",
    ]
)


def make(rows: int, folder: Path) -> None:
    """Write ids, numbers, categories, flags, dates, money and text, a tenth of some missing."""
    random = np.random.default_rng(0)
    start = np.datetime64("2020-01-01T00:00:00")
    columns: dict[str, np.ndarray] = {"claim_id": np.arange(rows) + 10_000_000}
    columns["code"] = np.array([f"{each:016x}" for each in random.integers(0, 2**62, rows)])
    for place in range(12):
        columns[f"number {place}"] = np.round(random.lognormal(3, 1, rows), 2)
    for place in range(4):
        columns[f"count {place}"] = random.integers(0, 10 ** (place + 1), rows)
    for place in range(5):
        size = 4 ** (place + 1)
        drawn = np.minimum(random.geometric(3 / size, rows) - 1, size - 1)
        columns[f"kind {place}"] = np.array([f"level {level}" for level in range(size)])[drawn]
    columns["paid"] = np.array(["yes", "no"])[random.integers(0, 2, rows)]
    columns["closed"] = np.array(["true", "false"])[random.integers(0, 2, rows)]
    seconds = random.integers(0, 1800 * 86_400, (2, rows))
    columns["day"] = (start + seconds[0]).astype("datetime64[D]").astype(str)
    columns["time"] = (start + seconds[1]).astype(str)
    columns["note"] = np.array([" ".join(each) for each in random.choice(WORDS, (rows, 6))])
    columns["money"] = np.array([f"€ {each:,.2f}" for each in random.lognormal(7, 1, rows)])
    columns["label"] = np.where(random.random(rows) < 0.01, "1", "")
    gaps = {name for name in columns if name.endswith((" 1", " 3"))}
    table = pa.table(
        {
            name: pa.array(each, mask=random.random(rows) < 0.1 if name in gaps else None)
            for name, each in columns.items()
        }
    )
    csv.write_csv(table, folder / "table.csv")
    parquet.write_table(table, folder / "table.parquet")


def measure(file: Path, in_parts: bool) -> None:
    """Print processor seconds and the most memory so far, step by step."""
    roles = Roles(label="label")

    def step(name: str, work):
        start = time.process_time()
        answer = work()
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{file.suffix[1:]:8} {name:12} {time.process_time() - start:7.1f} s {memory:6.2f} GB"
        )
        return answer

    if in_parts:
        part = next(iter_table(file, rows=100_000))
        vectorizer = step("fit, a part", lambda: Vectorizer().fit(take_roles(part, roles).table))
        tally = Tally()
        step(
            "in parts",
            lambda: [len(vectorizer.transform(each, tally=tally)) for each in iter_table(file)],
        )
        return
    parts = take_roles(step("read", lambda: read_table(file)), roles)
    vectorizer = step("fit", lambda: Vectorizer().fit(parts.table, parts.y))
    print(step("transform", lambda: vectorizer.transform(parts.table)).shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--parts", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.parts)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(options.rows, folder)
        for file in (folder / "table.csv", folder / "table.parquet"):
            print(f"{file.name}: {file.stat().st_size / 1e6:.0f} MB", flush=True)
            for more in ([], ["--parts"]):
                subprocess.run([sys.executable, __file__, "--measure", file, *more], check=True)


if __name__ == "__main__":
    main()
