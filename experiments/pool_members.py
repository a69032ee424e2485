"""Members that were tried for the pool: each ranks rows by P against U, whatever the prior.

A member is a function of (X, y, seed) that returns a function X -> score, shape (n,). ``INPUTS``
says what its X is: "matrix", our Vectorizer's numbers; "standard", the same with mean 0 and
deviation 1, clipped; "hinges" and "bins", functions of each column for linear models; "raw", with
gaps and codes of categories.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from scipy.special import logit
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

Score = Callable[[Any], np.ndarray]
QUIET = {"verbose": -1, "n_jobs": 1}


def log_odds(probability: np.ndarray) -> np.ndarray:
    return logit(np.clip(probability, 1e-4, 1 - 1e-4))


def balanced(y: np.ndarray) -> np.ndarray:
    """Weights that give P and U the same sum."""
    share = y.mean()
    return np.where(y == 1, 0.5 / share, 0.5 / (1 - share))


def linear(X: np.ndarray, y: np.ndarray, seed: int, *, C: float, weighted: bool = False) -> Score:
    weight = balanced(y) * len(y) if weighted else None
    model = LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(X, y, sample_weight=weight)
    return model.decision_function


def discriminant(X: np.ndarray, y: np.ndarray, seed: int, *, shrink: float) -> Score:
    """(S + shrink I)^-1 (mean of P - mean of U), S the covariance of all rows."""
    centre = X.mean(axis=0)
    S = np.cov(X, rowvar=False) + shrink * np.eye(X.shape[1])
    direction = np.linalg.solve(S, X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
    return lambda rows: (rows - centre) @ direction


def kernel(X: np.ndarray, y: np.ndarray, seed: int, *, C: float, landmarks: int = 200) -> Score:
    gamma = 0.3 / X.shape[1]
    maps = Nystroem(gamma=gamma, n_components=min(landmarks, len(X)), random_state=seed).fit(X)
    model = LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(maps.transform(X), y)
    return lambda rows: model.decision_function(maps.transform(rows))


def bag(
    X: Any, y: np.ndarray, seed: int, *, make: Callable[[int], Any], count: int, ratio: float
) -> Score:
    """Learners on a bootstrap sample of P and ratio times as many unlabelled rows."""
    rng = np.random.default_rng(seed)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), int(ratio * len(labeled)))
    models = []
    for member in range(count):
        rows = np.concatenate([rng.choice(labeled, len(labeled)), rng.choice(unlabeled, size)])
        models.append(make(member).fit(X[rows], y[rows]))
    return lambda rows: log_odds(np.mean([m.predict_proba(rows)[:, 1] for m in models], axis=0))


def forest(
    X: np.ndarray, y: np.ndarray, seed: int, *, count: int, ratio: float, leaf: int
) -> Score:
    """Like a bag of trees, without the checks around each of them: scores 5 times as fast."""
    rng = np.random.default_rng(seed)
    X = np.ascontiguousarray(X, dtype=np.float32)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), max(1, round(ratio * len(labeled))))
    trees = []
    for member in range(count):
        rows = np.concatenate([rng.choice(labeled, len(labeled)), rng.choice(unlabeled, size)])
        weight = np.repeat([size / len(labeled), 1.0], [len(labeled), size])
        model = DecisionTreeClassifier(
            min_samples_leaf=leaf, max_features="sqrt", random_state=seed * count + member
        )
        model.fit(X[rows], y[rows], sample_weight=weight, check_input=False)
        trees.append(model.tree_)

    def score(rows: np.ndarray) -> np.ndarray:
        rows = np.ascontiguousarray(rows, dtype=np.float32)
        total = np.zeros(len(rows))
        for tree in trees:
            total += tree.predict(rows)[:, 1]
        return log_odds(total / count)

    return score


def small_lightgbm(seed: int, **settings: Any) -> LGBMClassifier:
    return LGBMClassifier(
        **QUIET,
        n_estimators=30,
        num_leaves=8,
        min_child_samples=5,
        class_weight="balanced",
        random_state=seed,
        **settings,
    )


def histogram_bags(
    X: Any, y: np.ndarray, seed: int, *, count: int, ratio: int = 3, **settings: Any
) -> Score:
    """Histogram boosting on P, each row ratio times, and ratio times as many unlabelled rows.

    Rows are repeated rather than weighted: scikit-learn 1.9 bins columns 40 times slower with
    weights.
    """
    rng = np.random.default_rng(seed)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), ratio * len(labeled))
    base = {"max_iter": 40, "max_leaf_nodes": 8, "min_samples_leaf": 5 * ratio, "max_features": 0.5}
    models = []
    for member in range(count):
        drawn_positive = np.repeat(rng.choice(labeled, len(labeled)), ratio)
        rows = np.concatenate([drawn_positive, rng.choice(unlabeled, size)])
        model = HistGradientBoostingClassifier(
            **{**base, "early_stopping": False, "random_state": member, **settings}
        )
        models.append(model.fit(X[rows], y[rows]))
    return lambda rows: np.mean([m.decision_function(rows) for m in models], axis=0)


def tree(seed: int, *, leaf: int, kind: Any = DecisionTreeClassifier, **settings: Any) -> Any:
    return kind(min_samples_leaf=leaf, max_features="sqrt", random_state=seed, **settings)


def boosted(X: Any, y: np.ndarray, seed: int, **settings: Any) -> Score:
    """One LightGBM, P and U with the same weight."""
    model = LGBMClassifier(**{**QUIET, **SMALL, "random_state": seed, **settings})
    model.fit(X, y, sample_weight=balanced(y) * len(y))
    return lambda rows: model.predict_proba(rows, raw_score=True)


def drawn(X: Any, y: np.ndarray, seed: int, *, ratio: float = 3, **settings: Any) -> Score:
    """One LightGBM, each tree on most of P and a new draw of ratio times as many of U."""
    fraction = min(1.0, ratio * y.sum() / (y == 0).sum())
    # LightGBM's bags are drawn anew for each tree.
    base = {
        "n_estimators": 200,
        "num_leaves": 8,
        "learning_rate": 0.05,
        "min_child_samples": 5,
        "colsample_bytree": 0.5,
        "pos_bagging_fraction": 0.8,
        "neg_bagging_fraction": fraction,
        "bagging_freq": 1,
        "boost_from_average": False,
    }
    model = LGBMClassifier(**{**QUIET, **base, "random_state": seed, **settings})
    # Both have the same weight within a bag.
    weight = np.where(y == 1, min(ratio, (y == 0).sum() / y.sum()), 1.0)
    model.fit(X, y, sample_weight=weight)
    return lambda rows: model.predict_proba(rows, raw_score=True)


def lightgbm_bags(
    X: Any, y: np.ndarray, seed: int, *, count: int = 10, ratio: int = 3, **settings: Any
) -> Score:
    """Like histogram_bags: LightGBMs on P and ratio times as many of U; mean log-odds."""
    rng = np.random.default_rng(seed)
    labeled, unlabeled = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    size = min(len(unlabeled), ratio * len(labeled))
    base = {"n_estimators": 40, "num_leaves": 8, "min_child_samples": 10, "colsample_bytree": 0.5}
    models = []
    for member in range(count):
        rows = np.concatenate([rng.choice(labeled, len(labeled)), rng.choice(unlabeled, size)])
        model = LGBMClassifier(
            **{**QUIET, **base, "class_weight": "balanced", "random_state": member, **settings}
        )
        models.append(model.fit(X[rows], y[rows]))
    return lambda rows: np.mean([m.predict_proba(rows, raw_score=True) for m in models], axis=0)


def kernel_discriminant(
    X: np.ndarray,
    y: np.ndarray,
    seed: int,
    *,
    shrink: float,
    width: float = 0.3,
    landmarks: int = 200,
    kernel: str = "rbf",
    with_positive: bool = False,
    smallest: float = 0.0,
) -> Score:
    """Discriminant in the space of a kernel, by Nystroem's approximation.

    ``with_positive`` makes half of the landmarks labelled rows, if there are enough. ``smallest``
    is the least deviation that a column of X is taken to have had: columns of rare values, which
    standardised ones are far from 0 in, then count less.
    """
    rng = np.random.default_rng(seed)
    labeled = np.flatnonzero(y == 1)
    count = min(landmarks // 2, len(labeled)) if with_positive else 0
    others = np.flatnonzero(y == 0)
    chosen = np.concatenate(
        [
            rng.choice(labeled, count, replace=False),
            rng.choice(others, min(landmarks - count, len(others)), replace=False),
        ]
    )
    # Standardised columns of two values tell their deviation by their distance.
    span = np.ptp(X, axis=0)
    factor = np.minimum(1.0, 1 / np.maximum(span * smallest, 1e-9)) if smallest else 1.0
    X = X * factor
    gamma = width / X.shape[1]
    maps = Nystroem(kernel=kernel, gamma=gamma, n_components=len(chosen), random_state=seed)
    maps.fit(X[chosen])
    score = discriminant(maps.transform(X), y, seed, shrink=shrink)
    return lambda rows: score(maps.transform(rows * factor))


def naive_bayes(X: np.ndarray, y: np.ndarray, seed: int, *, extra: float = 5.0) -> Score:
    """Sum over columns of log-odds of P against U above and below 0, shrunk by extra rows."""
    above = X > 0
    unlabeled = (above[y == 0].mean(axis=0) * 0.998) + 0.001
    count = (y == 1).sum()
    positive = (above[y == 1].sum(axis=0) + extra * unlabeled) / (count + extra)
    on, off = np.log(positive / unlabeled), np.log((1 - positive) / (1 - unlabeled))
    return lambda rows: (rows > 0) @ (on - off) + off.sum()


def extra_trees(X: Any, y: np.ndarray, seed: int, *, count: int = 100, leaf: int = 5) -> Score:
    model = ExtraTreesClassifier(count, min_samples_leaf=leaf, random_state=seed)
    model.fit(X, y, sample_weight=balanced(y))
    return lambda rows: log_odds(model.predict_proba(rows)[:, 1])


def elkan_noto(X: Any, y: np.ndarray, seed: int, folds: int = 3) -> Score:
    """Elkan and Noto's weights around a small LightGBM; c from inner folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    make = partial(LGBMClassifier, **QUIET, **{**SMALL, "random_state": seed})
    inner = StratifiedKFold(folds, shuffle=True, random_state=seed)
    found = cross_val_predict(make(), X, y, cv=inner, method="predict_proba")[:, 1]
    found = np.clip(found, 1e-6, 1 - 1e-6)
    c = max(found[y == 1].mean(), 1e-3)
    weight = np.clip((1 - c) / c * found[y == 0] / (1 - found[y == 0]), 0, 1)
    ones, unlabeled = np.ones(int(y.sum())), X[y == 0]
    model = make().fit(
        np.concatenate([X[y == 1], unlabeled, unlabeled]),
        np.concatenate([ones, np.ones(len(weight)), np.zeros(len(weight))]),
        sample_weight=np.concatenate([ones, weight, 1 - weight]),
    )
    return lambda rows: model.predict_proba(rows, raw_score=True)


SMALL = {
    "num_leaves": 8,
    "learning_rate": 0.03,
    "n_estimators": 150,
    "subsample": 0.7,
    "subsample_freq": 1,
    "colsample_bytree": 0.5,
}
STUMPS = {"num_leaves": 2, "learning_rate": 0.05, "n_estimators": 200, "min_child_samples": 10}
STRONG = {"min_child_samples": 50, "reg_lambda": 10.0, "num_leaves": 4}

# Name -> what X is, member.
MEMBERS: dict[str, tuple[str, Callable[..., Score]]] = {
    "linear .001": ("standard", partial(linear, C=0.001)),
    "linear .01": ("standard", partial(linear, C=0.01)),
    "linear .1": ("standard", partial(linear, C=0.1)),
    "linear 1": ("standard", partial(linear, C=1.0)),
    "hinges .01": ("hinges", partial(linear, C=0.01)),
    "hinges .1": ("hinges", partial(linear, C=0.1)),
    "bins .01": ("bins", partial(linear, C=0.01)),
    "bins .1": ("bins", partial(linear, C=0.1)),
    "discriminant 1": ("standard", partial(discriminant, shrink=1.0)),
    "discriminant hinges": ("hinges", partial(discriminant, shrink=1.0)),
    "kernel 1": ("standard", partial(kernel, C=1.0)),
    "bagged LightGBM": ("matrix", partial(bag, make=small_lightgbm, count=30, ratio=3)),
    "bagged trees 5": ("matrix", partial(bag, make=partial(tree, leaf=5), count=100, ratio=1)),
    "bagged trees 1": ("matrix", partial(bag, make=partial(tree, leaf=1), count=100, ratio=1)),
    "bagged extra 3": (
        "matrix",
        partial(bag, make=partial(tree, leaf=3, kind=ExtraTreeClassifier), count=100, ratio=3),
    ),
    "extra-trees 5": ("matrix", extra_trees),
    "boosted": ("matrix", boosted),
    "boosted raw": ("raw", boosted),
    "boosted strong": ("matrix", partial(boosted, **STRONG)),
    "stumps": ("matrix", partial(boosted, **STUMPS)),
    "drawn": ("matrix", drawn),
    "drawn raw": ("raw", drawn),
    "drawn stumps": ("matrix", partial(drawn, num_leaves=2, n_estimators=300)),
    "histogram bags": ("matrix", partial(histogram_bags, count=10)),
    "Elkan-Noto": ("matrix", elkan_noto),
    # Second round, after it was seen that the weaker members of a kind are the better ones.
    "hinges .001": ("hinges", partial(linear, C=0.001)),
    "discriminant hinges .3": ("hinges", partial(discriminant, shrink=0.3)),
    "discriminant hinges 3": ("hinges", partial(discriminant, shrink=3.0)),
    "discriminant bins": ("bins", partial(discriminant, shrink=1.0)),
    "kernel discriminant": ("standard", partial(kernel_discriminant, shrink=0.01)),
    "naive Bayes": ("bins", naive_bayes),
    "LightGBM bags": ("matrix", lightgbm_bags),
    "LightGBM bags 4": ("matrix", partial(lightgbm_bags, num_leaves=4)),
    "LightGBM bags .05": ("matrix", partial(lightgbm_bags, learning_rate=0.05)),
    "LightGBM bags of 8 U": ("matrix", partial(lightgbm_bags, ratio=8, min_child_samples=20)),
    "bagged trees 10": ("matrix", partial(bag, make=partial(tree, leaf=10), count=100, ratio=1)),
    "bagged trees 5 of 3 U": (
        "matrix",
        partial(bag, make=partial(tree, leaf=10, class_weight="balanced"), count=100, ratio=3),
    ),
    "drawn strong": (
        "matrix",
        partial(drawn, num_leaves=4, learning_rate=0.03, min_child_samples=20, reg_lambda=10.0),
    ),
    "boosted 4": ("matrix", partial(boosted, num_leaves=4)),
    # Third round, after the kernel discriminant was among the best.
    **{
        f"kernel discriminant {width} {shrink}": (
            "standard",
            partial(kernel_discriminant, width=width, shrink=shrink),
        )
        for width, shrink in ((0.1, 0.01), (0.1, 0.001), (1.0, 0.01), (0.3, 0.001), (0.3, 0.1))
    },
    "kernel discriminant of 500": (
        "standard",
        partial(kernel_discriminant, shrink=0.01, landmarks=500),
    ),
    "kernel discriminant with P": (
        "standard",
        partial(kernel_discriminant, shrink=0.01, with_positive=True),
    ),
    "kernel discriminant hinges": ("hinges", partial(kernel_discriminant, shrink=0.01)),
    "kernel discriminant bins": ("bins", partial(kernel_discriminant, shrink=0.01)),
    "kernel discriminant rare": (
        "standard",
        partial(kernel_discriminant, shrink=0.01, smallest=0.3),
    ),
    "kernel discriminant laplacian": (
        "standard",
        partial(kernel_discriminant, shrink=0.01, kernel="laplacian", width=0.5),
    ),
    # Fourth round: the same faster.
    "forest 5": ("matrix", partial(forest, count=200, ratio=1, leaf=5)),
    "forest 10 of 3 U": ("matrix", partial(forest, count=200, ratio=3, leaf=10)),
    "forest 3": ("matrix", partial(forest, count=200, ratio=1, leaf=3)),
    "bags of 31 bins": (
        "matrix",
        partial(lightgbm_bags, count=15, n_estimators=30, max_bin=31, colsample_bytree=1.0),
    ),
    "bags of 31 bins .5": ("matrix", partial(lightgbm_bags, count=15, n_estimators=30, max_bin=31)),
    "bags of 31 bins 5": (
        "matrix",
        partial(
            lightgbm_bags,
            count=15,
            n_estimators=20,
            max_bin=31,
            min_child_samples=5,
            colsample_bytree=1.0,
        ),
    ),
    "histogram bags 31": (
        "matrix",
        partial(histogram_bags, count=15, max_iter=30, max_bins=31),
    ),
    **{
        f"laplacian {width} {shrink}": (
            "standard",
            partial(kernel_discriminant, kernel="laplacian", width=width, shrink=shrink),
        )
        for width, shrink in ((0.25, 0.01), (1.0, 0.01), (0.5, 0.003), (0.5, 0.03))
    },
    "laplacian of 400": (
        "standard",
        partial(kernel_discriminant, kernel="laplacian", width=0.5, shrink=0.01, landmarks=400),
    ),
    "laplacian rare": (
        "standard",
        partial(kernel_discriminant, kernel="laplacian", width=0.5, shrink=0.01, smallest=0.3),
    ),
    "boosted stronger": (
        "matrix",
        partial(boosted, **{**STRONG, "n_estimators": 80, "colsample_bytree": 0.3}),
    ),
}
