"""Seconds of one fit of every method, as a multiple of PN's, in one run on one thread.

    python benchmarks/methods.py            # prints the table
    python benchmarks/methods.py --write    # and stores it for `robustpu methods`

Each method fits the same 400 positives and 800 unlabelled rows of spambase with its defaults. All
take turns and the least of several fits counts, so that a busy machine disturbs all alike.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import torch

from robustpu import all_methods
from robustpu.bench.protocol import split

STORED = Path(__file__).parents[1] / "src" / "robustpu" / "methods" / "times.json"


def seconds(kind, pu) -> float:
    model = kind(prior=pu.prior, random_state=0)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pu.X, pu.y)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", action="store_true", help=f"store the table in {STORED.name}")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pu = split("spambase", 0.4, trial=0)
    times: dict[str, list[float]] = {name: [] for name in all_methods()}
    for _ in range(options.repeats):
        for name, kind in all_methods().items():
            times[name].append(seconds(kind, pu))
    unit = min(times["pn"])
    ratios = {name: float(f"{min(taken) / unit:.2g}") for name, taken in times.items()}
    for name, ratio in ratios.items():
        print(f"{name:12} {min(times[name]):8.2f} s {ratio:8g} x")
    if options.write:
        STORED.write_text(json.dumps(ratios, indent=2) + "\n")


if __name__ == "__main__":
    main()
