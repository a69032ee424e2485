"""A table to try everything on: insurance claims, made by us, some of them known frauds."""

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Columns: TypeAlias = dict[str, NDArray[Any]]

# Share of claims that are frauds, and of frauds that are known.
FRAUDS: Final = 0.08
KNOWN: Final = 0.55
# Frequency, and the logarithm of the usual amount.
KINDS: Final = {
    "collision": (0.42, 8.0),
    "glass": (0.21, 6.3),
    "parking": (0.14, 7.0),
    "theft": (0.09, 8.8),
    "hail": (0.09, 7.6),
    "fire": (0.05, 9.1),
}
CITIES: Final = (
    *("Zürich", "Genève", "Basel", "Bern", "Lausanne", "Winterthur", "Luzern", "St. Gallen"),
    *("Lugano", "Biel", "Thun", "Köniz", "Fribourg", "Schaffhausen", "Chur", "Neuchâtel"),
)
PLACES: Final = ("at a crossing", "in the car park", "on the motorway", "at home", "in a side road")
USUAL: Final = (
    *("other driver admitted it", "witness left a note", "police came", "photos enclosed"),
    *("car towed to the garage", "repaired before", "no one was hurt"),
)
ODD: Final = (
    *("other driver left at once", "keys lost the week before", "invoice will follow"),
    *("car bought abroad", "please pay in cash", "no photos were taken"),
)


class Claims(NamedTuple):
    """A table by its columns, and which rows are frauds, (n,)."""

    columns: Columns
    is_fraud: NDArray[np.bool_]


def claims(rows: int = 5_000, *, seed: int = 0) -> Claims:
    """Make a table of insurance claims, a few of them frauds, of which about half are known.

    Known frauds were selected completely at random, among these rows. Frauds are dear, early in a
    contract, late to be reported, at some garages, and otherwise much like the other claims.

    Parameters
    ----------
    rows
        Number of claims.
    seed
        Another one gives other claims of the same kind.

    Returns
    -------
    claims
        ``columns``, with missing values as None, NaN or NaT; the column ``fraud`` is "yes" for
        known frauds and empty otherwise. ``is_fraud`` is the truth.

    Examples
    --------
    >>> columns, is_fraud = claims(1_000)
    >>> int(is_fraud.sum()), int((columns["fraud"] == "yes").sum())
    (80, 44)
    """
    random = np.random.default_rng(seed)
    columns = _circumstances(rows, random) | _money(rows, random)
    kind = columns["kind"]
    columns["amount"] = np.round(columns["amount"] * np.array([_usual(each) for each in kind]), 2)
    is_fraud = np.zeros(rows, np.bool_)
    odds = _log_odds(columns) + random.logistic(scale=0.8, size=rows)
    is_fraud[np.argsort(-odds, kind="stable")[: round(FRAUDS * rows)]] = True
    columns["description"] = _descriptions(is_fraud, random)
    is_known = np.zeros(rows, np.bool_)
    frauds = np.flatnonzero(is_fraud)
    is_known[random.choice(frauds, round(KNOWN * len(frauds)), replace=False)] = True
    return Claims(_finished(columns, is_known, random), is_fraud)


def _circumstances(rows: int, random: np.random.Generator) -> Columns:
    """What happened, where and when."""
    kinds, shares = list(KINDS), [share for share, _ in KINDS.values()]
    delay = np.floor(random.exponential(3.0, rows)).astype(np.int64)
    filed = np.datetime64("2024-01-01") + np.sort(random.integers(0, 366, rows))
    hour = np.clip(np.round(random.normal(14, 4.5, rows)), 0, 23).astype(np.int64)
    minute = random.integers(0, 60, rows)
    days = (filed - delay).astype("datetime64[m]")
    return {
        "claim": np.array([f"C{place:05d}" for place in range(1, rows + 1)]),
        "filed": filed,
        "incident": (days + hour * 60 + minute).astype("datetime64[s]"),
        "days_to_report": delay,
        "kind": random.choice(kinds, rows, p=np.array(shares) / sum(shares)),
        "city": np.array(CITIES)[np.minimum(random.geometric(0.18, rows), len(CITIES)) - 1],
        "garage": _garages(rows, random),
        "channel": random.choice(["phone", "web", "agent", "app"], rows, p=[0.3, 0.35, 0.2, 0.15]),
        "police_report": random.choice(["yes", "no"], rows, p=[0.4, 0.6]),
        "witnesses": np.minimum(random.poisson(0.6, rows), 4),
    }


def _garages(rows: int, random: np.random.Generator) -> NDArray[Any]:
    """One of 120, some of them large; None where there is nothing to repair."""
    garages = np.array([f"G{place:03d}" for place in range(120)], object)
    found: NDArray[Any] = garages[np.minimum(random.geometric(0.035, rows), 120) - 1]
    found[random.random(rows) < 0.25] = None
    return found


def _money(rows: int, random: np.random.Generator) -> Columns:
    """The contract, its holder and the sums; ``amount`` as a multiple of what is usual."""
    age = np.clip(np.round(random.normal(46, 16, rows)), 18, 92)
    vehicle = np.round(random.gamma(2.0, 3.5, rows))
    premium = 380 * (1 + 0.8 * (age < 25)) * np.exp(random.normal(0, 0.25, rows) - vehicle / 40)
    return {
        "amount": random.lognormal(0.0, 0.7, rows),
        "deductible": random.choice([0, 200, 500, 1000], rows, p=[0.15, 0.3, 0.4, 0.15]),
        "premium": np.round(premium, 2),
        "contract_months": np.floor(random.exponential(48, rows)).astype(np.int64),
        "claims_before": random.poisson(0.5, rows),
        "age": age,
        "vehicle_age": vehicle,
        "vehicle_value": np.round(38_000 * np.exp(random.normal(0, 0.5, rows) - vehicle / 7), -2),
        "km_a_year": np.round(random.lognormal(9.4, 0.45, rows), -2),
    }


def _usual(kind: str) -> float:
    return float(np.exp(KINDS[kind][1]))


def _log_odds(columns: Columns) -> NDArray[np.float64]:
    """Of a fraud, but for a constant."""
    hour = (columns["incident"] - columns["incident"].astype("datetime64[D]")).astype(int) // 3600
    is_theft, has_police = columns["kind"] == "theft", columns["police_report"] == "yes"
    usual = np.array([_usual(kind) for kind in columns["kind"]])
    odds: NDArray[np.float64] = (
        1.3 * np.log(columns["amount"] / usual)
        + 2.2 * np.exp(-columns["contract_months"] / 9)
        + 0.16 * np.minimum(columns["days_to_report"], 14)
        + 1.1 * is_theft
        + 1.3 * (is_theft & ~has_police)
        - 0.9 * has_police
        - 0.6 * np.minimum(columns["witnesses"], 2)
        + 0.6 * np.minimum(columns["claims_before"], 3)
        + 0.9 * ((hour >= 22) | (hour <= 4))
        + 2.4 * np.isin(columns["garage"], ("G003", "G011", "G017"))
        + 1.2 * (columns["amount"] > 0.7 * columns["vehicle_value"])
    )
    return odds


def _descriptions(is_fraud: NDArray[np.bool_], random: np.random.Generator) -> NDArray[Any]:
    """A place and two remarks; of frauds, some are odd. A few are missing."""
    places = random.choice(PLACES, len(is_fraud))
    # Objects: arrays of texts have the width of their longest, and would cut longer ones.
    remarks = random.choice(np.array(USUAL, object), (len(is_fraud), 2))
    odd = random.choice(ODD, len(is_fraud))
    is_odd = random.random(len(is_fraud)) < np.where(is_fraud, 0.4, 0.07)
    remarks[is_odd, 1] = odd[is_odd]
    texts = [
        f"{place}, {first}, {second}"
        for place, (first, second) in zip(places, remarks, strict=True)
    ]
    found = np.array(texts, object)
    found[random.random(len(found)) < 0.04] = None
    return found


def _finished(
    columns: Columns, is_known: NDArray[np.bool_], random: np.random.Generator
) -> Columns:
    """Gaps where files have gaps, and the label as the last column."""
    for name, share in (("age", 0.06), ("vehicle_value", 0.09), ("km_a_year", 0.12)):
        columns[name] = np.where(random.random(len(is_known)) < share, np.nan, columns[name])
    columns["fraud"] = np.array([None, "yes"])[is_known.astype(int)]
    return columns
