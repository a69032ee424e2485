"""What users do today with labelled and unlabelled rows: the baselines of real_tables.py.

Each is a function of a problem that returns the probability of its test rows, shape (n,).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from real_data import Problem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

QUIET = {"verbose": -1, "n_jobs": 1}
SMALL = {
    **QUIET,
    "num_leaves": 8,
    "learning_rate": 0.03,
    "n_estimators": 150,
    "subsample": 0.7,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
    "random_state": 0,
}
# Strengths of the logistic regression, of which the out-of-fold AUC of P against U chooses one.
PATH = (0.001, 0.01, 0.1, 1.0, 10.0)


def lightgbm(**settings: Any) -> Any:
    """LightGBM's classifier, imported here: methods of ours run without it."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**settings)


def naive_lightgbm(problem: Problem) -> np.ndarray:
    """LightGBM as it is, labelled against unlabelled rows."""
    X, X_test = problem.raw
    return positive(lightgbm(**QUIET, random_state=0).fit(X, problem.y), X_test)


def logistic(problem: Problem) -> np.ndarray:
    """Logistic regression, C chosen by the out-of-fold AUC of P against U."""
    X, X_test = problem.matrices
    models = [
        make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=1000))
        for strength in PATH
    ]
    best = max(models, key=lambda model: roc_auc_score(problem.y, out_of_fold(model, X, problem.y)))
    return positive(best.fit(X, problem.y), X_test)


def elkan_noto(problem: Problem) -> np.ndarray:
    """Weights of Elkan and Noto (2008) around a small LightGBM: each unlabelled row counts twice.

    w = (1 - c)/c g/(1 - g) as a positive and 1 - w as a negative, where g is the out-of-fold
    probability of being labelled, and c its mean over the labelled rows.
    """
    (X, X_test), y = problem.raw, problem.y
    found = np.clip(out_of_fold(lightgbm(**SMALL), X, y), 1e-6, 1 - 1e-6)
    frequency = max(found[y == 1].mean(), 1e-3)
    odds = found[y == 0] / (1 - found[y == 0])
    weight = np.clip((1 - frequency) / frequency * odds, 0, 1)
    unlabeled, ones = X[y == 0], np.ones(int(y.sum()))
    rows = pd.concat([X[y == 1], unlabeled, unlabeled])
    label = np.concatenate([ones, np.ones(len(weight)), np.zeros(len(weight))])
    weights = np.concatenate([ones, weight, 1 - weight])
    return positive(lightgbm(**SMALL).fit(rows, label, sample_weight=weights), X_test)


def bagged_lightgbm(problem: Problem) -> np.ndarray:
    """50 small LightGBMs, each on a bootstrap sample of P and 3 x as many unlabelled rows."""
    X, X_test = problem.raw

    def member(seed: int) -> Any:
        return lightgbm(
            **QUIET,
            n_estimators=30,
            num_leaves=8,
            min_child_samples=5,
            class_weight="balanced",
            random_state=seed,
        )

    return bagged(member, X, problem.y, X_test, 50, 3)


def down_sampled_forest(problem: Problem) -> np.ndarray:
    """500 trees, each on a bootstrap sample of P and as many unlabelled rows."""
    X, X_test = problem.matrices

    def member(seed: int) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(max_features="sqrt", random_state=seed)

    return bagged(member, X, problem.y, X_test, 500, 1)


def limit(problem: Problem) -> np.ndarray:
    """Small LightGBM with all true labels."""
    X, X_test = problem.raw
    return positive(lightgbm(**SMALL).fit(X, problem.truth), X_test)


def bagged(
    member: Callable[[int], Any], X: Any, y: np.ndarray, X_test: Any, count: int, ratio: float
) -> np.ndarray:
    """Mean probability of learners on bootstrap samples, ``ratio`` unlabelled rows a label."""
    rng = np.random.default_rng(0)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    total = np.zeros(len(X_test))
    for seed in range(count):
        drawn = rng.choice(labeled, len(labeled)), rng.choice(unlabeled, int(ratio * len(labeled)))
        rows = np.concatenate(drawn)
        part = X.iloc[rows] if hasattr(X, "iloc") else X[rows]
        total += positive(member(seed).fit(part, y[rows]), X_test)
    return total / count


def out_of_fold(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Probability of being labelled by models that have not seen the row, shape (n,)."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]


def positive(model: Any, X: Any) -> np.ndarray:
    return model.predict_proba(X)[:, 1]


BASELINES: dict[str, Callable[[Problem], np.ndarray]] = {
    "naive LightGBM": naive_lightgbm,
    "logistic, C chosen": logistic,
    "Elkan-Noto, small LightGBM": elkan_noto,
    "50 bagged LightGBMs": bagged_lightgbm,
    "down-sampled forest": down_sampled_forest,
}
# P against U as if U were negative, without bags and without weights.
NAIVE = ("naive LightGBM", "logistic, C chosen")
LIMIT = "all true labels: the limit"
