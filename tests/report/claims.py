"""Results made by hand: a table of claims, 312 known frauds, and 500 suspects."""

import json
from functools import cache

import numpy as np

from robustpu.report import render
from robustpu.results import read_results

NAMES = ("amount", "days_open", "vehicle_age", "region", "channel", "previous_claims")
KINDS = {"region": "category", "channel": "category"}
VALUES = {"region": ("Nørrebro", "Leith", "Łódź"), "channel": ("phone", "web", "broker")}


def stored(suspects=500, columns=80, **changes):
    """Results as a model folder holds them; sections can be replaced."""
    return {**json.loads(_written(suspects, columns)), **changes}


def page_of(found=None, **changes):
    """The page of a document."""
    return render(read_results({**(found or stored()), **changes}))


@cache
def _written(suspects, columns):
    whole = {
        "schema": 2,
        "made": "2026-11-16T01:02:03+00:00",
        "data": {
            "name": "claims.parquet",
            "rows": 100_000,
            "columns": columns,
            "label": "is_fraud",
            "positive": "1",
            "n_positive": 312,
            "n_unlabeled": 99_688,
            "id": "claim_id",
            "time": "filed_on",
            "dropped": ["handler"],
        },
        "method": {
            "name": "robust-pu",
            "title": "Robust-PU",
            "class_name": "RobustPUClassifier",
            "parameters": {"n_members": "12", "prior": "0.021"},
            "seconds": 41.2,
        },
        "scenario": "case-control",
        "prior": {
            "source": "estimated",
            "value": 0.021,
            "low": 0.015,
            "high": 0.03,
            "level": 0.9,
            "estimates": {"dedpul": 0.0198, "best-bin": 0.0262, "km1": 0.021},
            "warnings": ["Three methods agree within a factor of 1.4."],
        },
        "threshold": 0.5,
        "flagged": 0.024,
        "evaluation": {
            "level": 0.9,
            "n_positive": 312,
            "n_unlabeled": 99_688,
            "k": 2000,
            "remarks": [],
            "metrics": metrics(),
            "recovery": recovery(),
        },
        "time_holdout": None,
        "top": top(),
        "sensitivity": sensitivity(),
        "scores": scores(),
        "rounds": rounds(),
        "alarms": [
            {
                "kind": "leak",
                "text": "closed_by alone tells labelled from unlabelled rows (AUC 0.997). Is it "
                "known before a claim is labelled?",
            }
        ],
        "suspects": [suspect(rank) for rank in range(1, suspects + 1)],
        "importance": [
            {"column": name, "value": value, "deviation": value / 12}
            for name, value in importances(columns)
        ],
        "columns": [column(i) for i in range(columns)],
        "profiles": [profile(name) for name in (*NAMES, "filed")],
        "notes": ["The delimiter is a comma."],
        "settings": {
            "command": "robustpu fit claims.parquet --label is_fraud --id claim_id --out claims/",
            "seed": 0,
            "versions": {"robustpu": "0.1.0", "python": "3.11.2", "torch": "2.4.0"},
            "options": {"prior": "auto", "time column": "filed_on"},
        },
    }
    return json.dumps(whole)


def metrics():
    figures = {
        "recall": (0.86, 0.82, 0.89),
        "precision": (0.755, 0.55, 0.99),
        "f1": (0.803, 0.66, 0.93),
        "accuracy": (0.991, 0.985, 0.996),
        "specificity": (0.994, 0.991, 0.998),
        "balanced_accuracy": (0.927, 0.908, 0.944),
        "zero_one_risk": (0.009, 0.004, 0.015),
        "lee_liu": (30.8, 27.7, 33.9),
        "auc": (0.981, 0.968, 0.993),
        "average_precision": (0.83, 0.62, 1.0),
        "precision_at_k": (0.93, 0.8, 1.0),
        "lift_at_k": (44.3, 38.1, 47.6),
        "positives_at_k": (93, 80, 100),
    }
    return [
        {"name": name, "value": value, "low": low, "high": high, "clipped": False}
        for name, (value, low, high) in figures.items()
    ]


def top(total=2093.4):
    ks = (10, 20, 50, 100, 200, 300, 500, 700, 1000, 1500, 2000, 2500, 3000, 4000)
    expected = [total * (1 - np.exp(-0.97 * k / total * (1 + 0.9 * k / total))) for k in ks]
    return [
        {"k": k, "expected": e, "low": e * 0.86, "high": min(k, e * 1.08)}
        for k, e in ((k, min(0.96 * k, float(e))) for k, e in zip(ks, expected, strict=True))
    ]


def sensitivity(shares=(0.005, 0.01, 0.021, 0.03)):
    return [
        {
            "share": share,
            "precision": min(1, 0.755 * share / 0.021),
            "cutoff": 0.9 - 10 * share,
        }
        | {
            end: [min(each["k"], each[end] * share / 0.021) for each in top()]
            for end in ("expected", "low", "high")
        }
        for share in shares
    ]


def recovery(half=0.01):
    """Where hidden positives came back: half of them in a hundredth of the rows."""
    shares = (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
    recalls = [1 - 0.5 ** (share / half) if share < 1 else 1.0 for share in shares]
    return [
        {"share": share, "recall": r, "low": max(0, r - 0.05), "high": min(1, r + 0.05)}
        for share, r in zip(shares, recalls, strict=True)
    ]


def profile(name):
    """A column at the top of the list, and elsewhere."""
    if name in KINDS:
        values = [*VALUES[name], "all other values"]
        counts = [150, 30, 10, 5], [200, 700, 50, 40]
        groups = [{"counts": each, "missing": 5, "quantiles": []} for each in counts]
        return {"column": name, "kind": "value", "edges": [], "values": values} | dict(
            zip(("listed", "others"), groups, strict=True)
        )
    start, step = (19_000.0, 30.0) if name == "filed" else (0.0, 2.0)
    edges = [start + step * place for place in range(13)]
    counts = [5] * 6 + [20, 25, 30, 35, 30, 30], [200] * 6 + [50] * 6
    groups = [
        {"counts": each, "missing": 0, "quantiles": [edges[at] for at in places]}
        for each, places in zip(counts, ((2, 6, 9, 11, 12), (1, 2, 4, 6, 10)), strict=True)
    ]
    kind = "date" if name == "filed" else "number"
    return {"column": name, "kind": kind, "edges": edges, "values": []} | dict(
        zip(("listed", "others"), groups, strict=True)
    )


def scores():
    edges = np.linspace(0, 1, 41)
    random = np.random.default_rng(0)
    positive = np.histogram(random.beta(5, 1.4, 312), edges)[0]
    hidden, plain = random.beta(5, 1.4, 2093), random.beta(0.5, 9, 97_595)
    unlabeled = np.histogram(np.concatenate([hidden, plain]), edges)[0]
    return {
        "edges": edges.tolist(),
        "positive": positive.tolist(),
        "unlabeled": unlabeled.tolist(),
    }


def rounds(count=11, best=8, n_best=None):
    edges = np.linspace(0, 1, 21)
    random = np.random.default_rng(1)
    n_best = n_best or [2, *[0] * (count - 5), 3, 4, 2, 1]
    made = []
    for number in range(count):
        easy = 1 + 6 * number / count
        positive = random.beta(easy, 1.6, 280)
        unlabeled = np.concatenate([random.beta(0.5, 6, 1800), random.beta(2 + easy, 1.2, 80_000)])
        weights = [np.histogram(each, edges)[0].tolist() for each in (positive, unlabeled)]
        made.append(
            {
                "number": number,
                "threshold_positive": 0.4 + 0.06 * number if number else None,
                "threshold_unlabeled": 0.15 + 0.05 * number if number else None,
                "flagged": 0.06 * 0.82**number + 0.016,
                "score": 0.99 - 0.02 * 0.7**number - 0.0006 * max(0, number - best),
                "n_best": n_best[number],
                "weights_positive": weights[0] if number else [],
                "weights_unlabeled": weights[1] if number else [],
            }
        )
    return {"best": best, "edges": edges.tolist(), "rounds": made}


def suspect(rank):
    random = np.random.default_rng(rank)
    shown = {
        "amount": f"{random.lognormal(9, 0.8):,.0f}",
        "days_open": str(random.integers(0, 90)),
        "vehicle_age": "" if rank % 17 == 0 else f"{random.gamma(3, 2):.1f}",
        "region": str(random.choice(VALUES["region"])),
        "channel": str(random.choice(VALUES["channel"])),
    }
    order = random.permutation(4)[:3]
    effects = sorted(random.gamma(2, 0.5, 3), reverse=True)
    names = list(shown)
    reasons = [
        {"column": names[i], "value": shown[names[i]], "effect": float(effect)}
        for i, effect in zip(order, effects, strict=True)
    ]
    against = []
    if rank % 5 == 0:
        reasons[-1]["effect"] *= -0.6
        against = [reasons.pop()]
    return {
        "rank": rank,
        "row": int(random.integers(1, 100_000)),
        "id": f"C-{random.integers(1e5, 1e6)}",
        "score": float(0.9996 - 0.35 * (rank / 500) ** 0.8),
        "drivers": reasons,
        "against": against,
        "shown": shown,
    }


def importances(columns):
    names = [*NAMES, *(f"telematics_{i}" for i in range(columns - len(NAMES)))]
    return [(name, 0.9 * 0.86**i) for i, name in enumerate(names[:40])]


def column(i):
    name = NAMES[i] if i < len(NAMES) else f"telematics_{i - len(NAMES)}"
    kind = KINDS.get(name, "number")
    leak = i == 7
    return {
        "name": "closed_by" if leak else name,
        "kind": "category" if leak else kind,
        "missing": 0.31 if leak else 0.02 * (i % 4),
        "distinct": 812 + i,
        "done": "one column a value"
        if kind == "category"
        else "standardised; missing as 0 and an indicator",
        "features": 2,
        "notes": ["3 cells are no numbers and count as missing."] if i == 3 else [],
        "alarm": "Tells labelled from unlabelled rows alone (AUC 0.997)." if leak else None,
    }
