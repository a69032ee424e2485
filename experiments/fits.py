"""What scripts share that keep one JSON line a fit: reading, running what is missing, scoring."""

import json
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

import robustpu

# Of the paper.
PRIORS = (0.2, 0.4, 0.6)


def stored(path: Path) -> list[dict[str, Any]]:
    """All lines so far."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def run_missing(
    path: Path,
    names: Sequence[str],
    keys: Iterable[tuple[Any, ...]],
    run: Callable[..., dict[str, Any]],
    jobs: int,
) -> None:
    """Run the keys, which are values of these names, that no line has; a line each, at once."""
    done = {tuple(entry[name] for name in names) for entry in stored(path)}
    tasks = (delayed(run)(*key) for key in keys if key not in done)
    with path.open("a") as file:
        for entry in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
            print(json.dumps(entry), file=file, flush=True)


def run_cells(
    path: Path, run: Callable[[str, float], list[dict[str, Any]]], tables: Iterable[str]
) -> None:
    """Run what no line has of these tables with the paper's priors; all lines of a cell at once."""
    done = {(line["table"], line["prior"]) for line in stored(path)}
    for table, prior in product(tables, PRIORS):
        if (table, prior) not in done:
            lines = run(table, prior)
            with path.open("a") as file:
                file.write("".join(json.dumps(line) + "\n" for line in lines))
            print(table, prior, flush=True)


def fit_and_score(model: Any, pu: robustpu.PUData) -> dict[str, Any]:
    """Fit to the labelled positives and unlabelled rows; the error on the test rows in percent."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(pu.X, pu.y)
    seconds = time.perf_counter() - start
    return {
        "error": round(100 * float(np.mean(model.predict(pu.X_test) != pu.y_test)), 4),
        "seconds": round(seconds, 3),
        "version": robustpu.__version__,
    }
