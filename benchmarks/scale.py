"""Robust-PU on Dask against the plain learner on Dask: seconds and memory, in one run.

    python benchmarks/scale.py                          # 10^5 and 10^6 rows, 1 and 2 workers
    python benchmarks/scale.py --rows 10000000 --workers 2

Rows x 30 are made on the workers, at most a hundred thousand a block, single precision, and held.
The plain learner is LightGBM's, P against U, fitted to all rows, once before Robust-PU and once
after it; the mean counts, since even the processor's seconds differ from minute to minute where
other work shares the machine. Robust-PU fits it to two halves in round 0 and in each of two rounds,
so that the least is three times the plain one. One thread a worker. Memory is the largest resident
size of a worker, looked at four times a second.
"""

import argparse
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS, BLOCK, ROUNDS = 30, 100_000, 2
LEARNER = {"n_estimators": 50, "num_leaves": 31, "verbose": -1}
HERE = Path(__file__).with_suffix(".json")


def make(seed: int, rows: int) -> Any:
    """One block: rows, and a last column of labels; a third of the rows are positive."""
    random = np.random.default_rng(seed)
    truth = random.random(rows) < 1 / 3
    shift = np.linspace(0.6, 0, COLUMNS)
    table = random.normal(size=(rows, COLUMNS + 1)) + truth[:, None] * np.append(shift, 0)
    table[:, -1] = truth & (random.random(rows) < 0.4)
    return table.astype(np.float32)


def data(rows: int) -> tuple[Any, Any]:
    """X and y on the workers."""
    import dask
    import dask.array as da
    from distributed import wait

    block = min(BLOCK, rows // 10)
    parts = [
        da.from_delayed(dask.delayed(make)(seed, block), (block, COLUMNS + 1), np.float32)
        for seed in range(rows // block)
    ]
    table = da.concatenate(parts)
    held = dask.persist(table[:, :COLUMNS], table[:, COLUMNS].astype(np.int8))
    wait(held)
    return held


def processes_of(client: Any) -> list[Any]:
    """The workers, as the operating system sees them."""
    from psutil import Process

    return [Process(pid) for pid in client.run(os.getpid).values()]


@contextmanager
def watched(processes: list[Any]) -> Iterator[list[float]]:
    """Note the largest resident size of a worker, in GB."""
    peak, over = [0.0], threading.Event()

    def look() -> None:
        while not over.wait(0.25):
            peak[0] = max(peak[0], *(one.memory_info().rss / 1e9 for one in processes))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peak
    finally:
        over.set()
        thread.join()


def processor(processes: list[Any]) -> float:
    """Seconds of the processor that the workers have had, together."""
    return sum(sum(one.cpu_times()[:2]) for one in processes)


def timed(client: Any, work: Callable[[], Any]) -> tuple[dict[str, float], Any]:
    """Seconds, seconds of the processor, GB; and what came of it."""
    processes = processes_of(client)
    with watched(processes) as peak:
        start, before = time.perf_counter(), processor(processes)
        answer = work()
        seconds, cpu = time.perf_counter() - start, processor(processes) - before
    return {"s": round(seconds, 2), "cpu_s": round(cpu, 2), "gb": round(peak[0], 2)}, answer


def rounds_of(count: int) -> Any:
    """The default curriculum with another number of rounds."""
    from robustpu.methods.robust_pu_meta import default_curriculum

    return default_curriculum().set_params(max_rounds=count)


def measure(rows: int, workers: int) -> dict[str, Any]:
    """The plain learner, then Robust-PU around it, on a fresh cluster."""
    from distributed import Client, LocalCluster
    from lightgbm import DaskLGBMClassifier

    from robustpu.distributed import DaskRobustPUMetaClassifier

    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, Client(cluster) as client:
        # The first fit of a worker imports the libraries; it is not counted.
        given = {"prior": 0.23, "scenario": "single-set", "patience": None, "random_state": 0}
        small = DaskLGBMClassifier(**LEARNER | {"n_estimators": 20})
        DaskRobustPUMetaClassifier(small, curriculum=rounds_of(1), **given).fit(*data(20_000))
        X, y = data(rows)
        learner = DaskLGBMClassifier(**LEARNER)
        ours = DaskRobustPUMetaClassifier(learner, curriculum=rounds_of(ROUNDS), **given)
        before, _ = timed(client, lambda: learner.fit(X, y))
        robust, model = timed(client, lambda: ours.fit(X, y))
        after, _ = timed(client, lambda: learner.fit(X, y))
        plain = {kind: round((before[kind] + after[kind]) / 2, 2) for kind in before}
    return {
        "rows": rows,
        "workers": workers,
        "data_gb": round(rows * (COLUMNS * 4 + 1) / 1e9, 3),
        "plain": plain,
        "robust": robust,
        "ratio_a_round": {
            kind: round(robust[kind] / plain[kind] / (ROUNDS + 1), 2) for kind in ("s", "cpu_s")
        },
        "score": round(model.score_, 4),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    asked = parser.parse_args()
    print("| rows | workers | plain, s (cpu) | Robust-PU, s (cpu) | a round (cpu) | GB a worker |")
    print("|---|---|---|---|---|---|")
    results = json.loads(HERE.read_text()) if HERE.exists() else []
    for rows in asked.rows:
        for workers in asked.workers:
            one = measure(rows, workers)
            results = [
                each for each in results if (each["rows"], each["workers"]) != (rows, workers)
            ] + [one]
            results.sort(key=lambda each: (each["rows"], each["workers"]))
            HERE.write_text(json.dumps(results, indent=1) + "\n")
            print(told(one), flush=True)


def told(one: dict[str, Any]) -> str:
    """One line of the table."""
    plain, robust, ratio = one["plain"], one["robust"], one["ratio_a_round"]
    pairs = [f"{each['s']} ({each['cpu_s']})" for each in (plain, robust, ratio)]
    memory = f"{plain['gb']}, {robust['gb']}"
    return "| " + " | ".join([f"{one['rows']:,}", str(one["workers"]), *pairs, memory]) + " |"


if __name__ == "__main__":
    main()
