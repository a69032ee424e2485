"""Compare predictions of every method with those that were stored before a change.

    python tools/golden.py write FILE.npz      # before
    python tools/golden.py check FILE.npz      # after each step: bit for bit, or what differs

Every method in both scenarios, with and without sample weights, with the prior known and estimated,
on small data. Floating-point results belong to one machine, so the file is not committed.
"""

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from robustpu import all_methods

FEW_EPOCHS = {"epochs": 4}
SMALL: dict[str, dict[str, Any]] = {
    "genpu": {"epochs": 3},
    "pulns": {"epochs": 3},
    "tedn": {"epochs": 4, "warm_epochs": 1},
    "auto": {"n_members": 8},
    "bagging": {"n_estimators": 7},
    "puet": {"n_estimators": 9},
    "robust-pu-meta": {"n_members": 2},
}


def data(n_columns: int = 5) -> tuple[Any, Any, Any, Any]:
    """Two overlapping clouds: rows, labels, weights and rows to predict."""
    random = np.random.RandomState(7)
    truth = random.rand(260) < 0.45
    X = random.randn(260, n_columns) + 1.2 * truth[:, None]
    y = (truth & (random.rand(260) < 0.5)).astype(int)
    weight = random.choice([0.0, 0.5, 1.0, 3.0], 260, p=[0.05, 0.3, 0.5, 0.15])
    return X, y, weight, random.randn(90, n_columns) + 0.6


def images() -> tuple[Any, Any, Any]:
    random = np.random.RandomState(3)
    truth = random.rand(120) < 0.4
    X = random.rand(120, 1, 8, 8).astype(np.float32)
    X[truth, :, 2:5, 2:5] += 1
    return X, (truth & (random.rand(120) < 0.6)).astype(int), X[:30] * 0.9


def parameters(name: str, kind: type) -> dict[str, Any]:
    known = set(kind._get_param_names())  # type: ignore[attr-defined]
    given = {**FEW_EPOCHS, "random_state": 0, "validation_fraction": 0.1}
    if name in SMALL:
        given.pop("epochs")
    return {key: value for key, value in {**given, **SMALL.get(name, {})}.items() if key in known}


def fits() -> Iterator[tuple[str, Any]]:
    """Name each case, with a function that fits it and returns what is compared."""
    methods = dict(all_methods())
    X, y, weight, X_new = data()
    for name, kind in methods.items():
        for scenario in ("case-control", "single-set"):
            for weights in (None, weight):
                key = f"{name}/{scenario}/{'weighted' if weights is not None else 'plain'}"
                model = kind(prior=0.3, scenario=scenario, **parameters(name, kind))
                yield key, (model, X, y, weights, X_new)
        model = kind(prior="auto", **parameters(name, kind))
        yield f"{name}/prior-auto", (model, X, y, None, X_new)
    whole = methods["auto"](random_state=1)
    yield "auto/default", (whole, X, y, None, X_new)
    for name in ("recall:0.8", "prior", "top:20"):
        yield (
            f"auto/{name}",
            (
                methods["auto"](random_state=1, n_members=4, prior=0.3, threshold=name),
                X,
                y,
                None,
                X_new,
            ),
        )
    pictures, labels, others = images()
    model = methods["auto"](random_state=1, n_members=4, prior=0.3, module="mlp", mirror=True)
    yield "auto/images", (model, pictures, labels, None, others)
    paper = methods["robust-pu"](prior=0.3, random_state=0, n_members=2).spelled_out()
    yield "robust-pu/paper", (paper.set_params(curriculum__max_rounds=3), X, y, None, X_new)


def results(model: Any, X: Any, y: Any, weight: Any, X_new: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, weight)
        return {
            "new": model.predict_proba(X_new)[:, 1],
            "fit": model.probability_,
            "oof": model.out_of_fold_,
            "numbers": np.array([model.threshold_, model.prior_, model.population_prior_]),
        }


def main(action: str, path: str, *only: str) -> None:
    stored = {} if action == "write" else dict(np.load(path))
    new, different = {}, 0
    for key, case in fits():
        if only and not any(part in key for part in only):
            continue
        try:
            found = results(*case)
        except Exception as error:
            print(f"{key}: {type(error).__name__}: {str(error)[:200]}")
            different += 1
            continue
        for part, value in found.items():
            new[f"{key}|{part}"] = value
            if action == "write":
                continue
            before = stored.get(f"{key}|{part}")
            if before is None:
                print(f"{key} {part}: not stored")
                different += 1
            elif not np.array_equal(before, value, equal_nan=True):
                gap = np.nanmax(np.abs(before - value)) if before.shape == value.shape else np.nan
                print(f"{key} {part}: differs, by {gap:.3g} at most")
                different += 1
    if action == "write":
        np.savez(path, **new)
    print(f"{len(new)} arrays, {different} differ or fail")


if __name__ == "__main__":
    main(*sys.argv[1:])
