"""A small table of mixed columns, and a study of it."""

import numpy as np
import pytest

from robustpu.workflow import fit_table


def claims(n=300, seed=0):
    """Columns of a table in which frauds are dear, are thefts, and come after other claims."""
    random = np.random.default_rng(seed)
    is_fraud = random.random(n) < 0.3
    kinds = np.where(
        is_fraud & (random.random(n) < 0.7), "theft", random.choice(["fire", "water", "theft"], n)
    )
    amount = np.round(random.lognormal(6 + 1.5 * is_fraud, 0.7), 2)
    age = [None if draw < 0.1 else int(18 + 60 * draw) for draw in random.random(n)]
    days = np.datetime64("2023-01-01") + random.integers(0, 365, n)
    labelled = is_fraud & (random.random(n) < 0.5)
    return {
        "claim": [f"C{place:04d}" for place in range(n)],
        "amount": amount.tolist(),
        "kind": kinds.tolist(),
        "age": age,
        "filed": days.astype(str).tolist(),
        "fraud": ["yes" if each else None for each in labelled],
    }


@pytest.fixture(scope="session")
def table():
    return claims()


@pytest.fixture(scope="session")
def study(table):
    return fit_table(
        table, label="fraud", id="claim", time="filed", method="puet", prior=0.18, name="claims.csv"
    )
