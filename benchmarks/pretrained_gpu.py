"""Time of the pretrained network on a GPU.

    python benchmarks/pretrained_gpu.py            # half a minute
    python benchmarks/pretrained_gpu.py --write    # stores it in benchmarks/pretrained_gpu.json

The tables of `pretrained.py`, with the default two members and with eight. *Context* and *new rows*
are the network alone; *fit* also scores the training rows out of fold and estimates the prior. The
least wall time of four.
"""

import argparse
import time
import warnings

import torch

from measured import store
from pretrained import QUERIES, SIZES, make
from robustpu import PretrainedPUClassifier
from robustpu.pretrained import EncodedTable, load_network

MEMBERS, REPEATS = (2, 8), 4


def measure(n_rows: int, n_columns: int, n_members: int) -> dict[str, float]:
    """Least seconds of a fit, of encoding the context, and of 1,000 new rows."""
    X, y, new = make(n_rows, n_columns)
    network, times = load_network(device="cuda"), []
    for _ in range(REPEATS):
        start = time.perf_counter()
        PretrainedPUClassifier(n_members=n_members, random_state=0, device="cuda").fit(X, y)
        torch.cuda.synchronize()
        fitted = time.perf_counter()
        table = EncodedTable(network, X, y == 1, n_members=n_members)
        torch.cuda.synchronize()
        encoded = time.perf_counter()
        table.score(new)
        times.append((fitted - start, encoded - fitted, time.perf_counter() - encoded))
    fit, context, queries = (round(min(part), 4) for part in zip(*times, strict=True))
    return {"fit": fit, "context": context, "new_rows": queries}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="store it, for the docs")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = []
    for n_members in MEMBERS:
        for n_rows, n_columns in SIZES:
            entry = {"members": n_members, "rows": n_rows, "columns": n_columns}
            found.append(entry | measure(n_rows, n_columns, n_members))
            print(found[-1], f"and {QUERIES:,} new rows", flush=True)
    if asked.write:
        store(__file__, found, "cuda")


if __name__ == "__main__":
    main()
