"""Networks on rows that are read from a mapped file, against rows in memory: seconds and memory.

    python benchmarks/streaming.py              # 2.5 million rows: 1 GB held and read, 4 GB read
    python benchmarks/streaming.py --gb 40      # other sizes, the rows of which are as many

Two networks d-100-1 are trained by nnPU, in batches of 64, for two epochs, and all rows are scored.
The smaller file has 100 columns in single precision, the larger one as many as make up its size:
memory that grows with rows alone is the same for both. Each fit has a process of its own. Memory
is anonymous memory (RssAnon of /proc/self/status, looked at fifty times a second) less what there
was before the fit, labels included; the file's pages, which the system takes back when it needs
memory, are not in it. The files have just been written, so that they are in the page cache, as far
as it goes.
"""

import argparse
import json
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from measured import apart

ROWS, COLUMNS, BLOCK = 2_500_000, 100, 1 << 15
HERE = Path(__file__).with_suffix(".json")


def make(path: Path, rows: int, columns: int) -> None:
    """Write rows, half of them positive."""
    table = np.lib.format.open_memmap(path, "w+", np.float32, (rows, columns))
    random = np.random.default_rng(0)
    shift = np.float32(1.5) / np.sqrt(np.float32(columns))
    for start in range(0, rows, BLOCK):
        part = table[start : start + BLOCK]
        part[:] = random.standard_normal(part.shape, np.float32)
        part[::2] += shift
    table.flush()


def anonymous() -> float:
    """Anonymous memory of this process, in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1000
    raise SystemExit("this system does not tell RssAnon; expected Linux.")


def fit(path: Path, is_held: bool) -> dict[str, float]:
    """Fit in this process: seconds, and by how many MB memory grew."""
    from robustpu import NNPUClassifier

    model = NNPUClassifier(prior=0.4, epochs=2, n_members=2, random_state=0)
    small = np.random.default_rng(0).normal(size=(200, 3))
    small[:100] += 2
    # The first fit imports the rest.
    model.fit(small, np.arange(200) < 40)
    rows = len(np.load(path, mmap_mode="r"))
    y = (np.arange(rows) % 10 == 0).astype(np.int8)
    before, peak, over = anonymous(), [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.02):
            peak[0] = max(peak[0], anonymous())

    thread = threading.Thread(target=look)
    thread.start()
    start, busy = time.perf_counter(), time.process_time()
    X = np.load(path) if is_held else np.load(path, mmap_mode="r")
    model.fit(X, y)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    over.set()
    thread.join()
    found = {"s": seconds, "cpu_s": busy, "mb": peak[0] - before}
    found["probability"] = float(model.probability_.sum())
    found["weights"] = float(model.state_.flat.sum())
    return found


def measure(path: Path, columns: int, is_held: bool) -> dict[str, Any]:
    """The same in a process of its own."""
    kind = "held" if is_held else "read"
    found = apart(__file__, "--fit", path, "--kind", kind)
    rows = len(np.load(path, mmap_mode="r"))
    one = {"rows": rows, "columns": columns, "gb": round(rows * columns * 4 / 1e9, 2), "kind": kind}
    one |= {name: round(found[name], 2) for name in ("s", "cpu_s", "mb")}
    one["bytes_a_row"] = round(found["mb"] * 1e6 / rows, 1)
    return one | {name: found[name] for name in ("probability", "weights")}


def told(one: dict[str, Any]) -> str:
    """One line of the table."""
    shown = f"{one['rows']:,}", one["columns"], one["gb"], one["kind"]
    numbers = f"{one['s']:.0f} ({one['cpu_s']:.0f})", f"{one['mb']:,.0f}", one["bytes_a_row"]
    return "| " + " | ".join(map(str, [*shown, *numbers])) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=4.0, help="size of the larger file")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.fit is not None:
        print(json.dumps(fit(asked.fit, asked.kind == "held")))
        return
    columns = max(1, round(asked.gb * 1e9 / 4 / asked.rows))
    print("| rows | columns | GB | X is | s (cpu) | MB more | bytes a row |")
    print("|---|---|---|---|---|---|---|")
    results = []
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows.npy")
        for wide, kinds in ((COLUMNS, (True, False)), (columns, (False,))):
            make(path, asked.rows, wide)
            for is_held in kinds:
                results.append(measure(path, wide, is_held))
                print(told(results[-1]), flush=True)
    held, read, _ = results
    same = all(held[name] == read[name] for name in ("probability", "weights"))
    print(f"\nread / held: {read['s'] / held['s']:.2f}; the same to the last bit: {same}")
    HERE.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
