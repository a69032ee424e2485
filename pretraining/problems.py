"""Positive-unlabelled problems drawn from the development tables, by three protocols.

``single``: 70 % of the rows are for training, 15 % of their positives labelled, all others
unlabelled, the prior unknown; truth on the other 30 %. ``case``: 400 positives and 800 unlabelled
rows at priors 0.2, 0.4 and 0.6 (a quarter or an eighth of that on smaller tables). ``few``: 20
positives, 300 unlabelled rows, prior 0.3.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SINGLE = (
    "default",
    "lending",
    "caravan",
    "email",
    "hmda",
    "mlc_churn",
    "attrition",
    "wa_churn",
    "credit",
)
CASE = (
    "optdigits",
    "texture",
    "splice",
    "digits",
    "breast_cancer",
    "spambase",
    "shuttle",
    "mushrooms",
    "mushrooms_onehot",
)


@dataclass(frozen=True)
class Problem:
    """One drawn positive-unlabelled problem with a test set."""

    protocol: str
    name: str
    X: np.ndarray
    is_positive: np.ndarray
    is_category: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    prior: float
    scenario: str


def draw_single(name: str, table: dict[str, np.ndarray], seed: int) -> Problem:
    """15 % of the training positives labelled, the rest of the rows unlabelled."""
    X, y = table["X"], table["y"]
    rng = np.random.default_rng(100 + seed)
    order = rng.permutation(len(X))
    cut = int(0.7 * len(X))
    train, test = np.sort(order[:cut]), np.sort(order[cut:])
    positive = train[y[train]]
    labeled = rng.choice(positive, round(0.15 * len(positive)), replace=False)
    is_positive = np.isin(train, labeled)
    prior = y[train][~is_positive].mean()
    return Problem(
        "single",
        name,
        X[train],
        is_positive,
        table["is_category"],
        X[test],
        y[test],
        float(prior),
        "single-set",
    )


def draw_case(
    protocol: str,
    name: str,
    table: dict[str, np.ndarray],
    n_positive: int,
    n_unlabeled: int,
    prior: float,
    seed: int,
) -> Problem:
    """Positives and unlabelled rows drawn apart; test rows at the same prior."""
    X, y = table["X"], table["y"]
    rng = np.random.default_rng(seed)
    positive, negative = rng.permutation(np.flatnonzero(y)), rng.permutation(np.flatnonzero(~y))
    hidden = round(prior * n_unlabeled)
    rows = np.concatenate([positive[: n_positive + hidden], negative[: n_unlabeled - hidden]])
    rest_positive, rest_negative = positive[n_positive + hidden :], negative[n_unlabeled - hidden :]
    size = min(1500, len(rest_positive) / prior, len(rest_negative) / (1 - prior))
    test = np.concatenate(
        [rest_positive[: int(size * prior)], rest_negative[: int(size * (1 - prior))]]
    )
    is_positive = np.arange(len(rows)) < n_positive
    return Problem(
        protocol,
        name,
        X[rows],
        is_positive,
        table["is_category"],
        X[test],
        y[test],
        prior,
        "case-control",
    )


def draw_problems(
    folder: Path, protocols: list[str], n_draws: int, tables: tuple[str, ...] = SINGLE + CASE
) -> Iterator[Problem]:
    """Yield all problems of the protocols on these tables."""
    for name in tables:
        with np.load(folder / f"{name}.npz") as file:
            table = {key: file[key] for key in file.files}
        for seed in range(n_draws):
            if name in SINGLE and "single" in protocols:
                yield draw_single(name, table, seed)
            if name in CASE and "case" in protocols:
                part = 8 if len(table["X"]) < 1000 else 4 if len(table["X"]) < 3200 else 1
                for index, prior in enumerate((0.2, 0.4, 0.6)):
                    yield draw_case(
                        "case", name, table, 400 // part, 800 // part, prior, 10 * seed + index
                    )
            if name in CASE and "few" in protocols:
                yield draw_case("few", name, table, 20, 300, 0.3, 10 * seed + 7)
