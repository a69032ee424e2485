"""The results of a fit on a table: what the page draws and a model folder keeps.

The dataclasses are the schema of the JSON document, see :mod:`robustpu.validation.schema`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

from robustpu.validation.schema import SchemaError, number, read, to_json

SCHEMA: Final = 2
# Shares may leave [0, 1] by rounding.
ROUNDING: Final = 1e-9
# Larger numbers cannot be drawn, and larger counts are not exact everywhere.
LARGEST: Final = 1e15
# An interval of the prior must lie as far below 1 where metrics are computed with it.
SMALLEST: Final = 1e-5
# Stands for all values of a profile that are not listed.
OTHER: Final = "all other values"
# Metrics that are not shares.
UNBOUNDED: Final = frozenset({"lee_liu", "lift_at_k", "positives_at_k"})

Number = Annotated[float, number(-LARGEST, LARGEST)]
Amount = Annotated[float, number(0, LARGEST)]
Share = Annotated[float, number(0, 1, slack=ROUNDING)]
Count = Annotated[int, number(0, LARGEST, whole=True)]
Size = Annotated[int, number(1, LARGEST, whole=True)]


@dataclass(frozen=True)
class Data:
    """What was read; texts are names of columns, but for the labels ``positive``, ``negative``.

    ``n_positive`` and ``n_negative``, known negatives, include rows that were checked.
    """

    name: str
    rows: Size
    columns: Size
    label: str | None
    positive: str | None
    n_positive: Count
    n_unlabeled: Count
    id: str | None
    time: str | None
    dropped: tuple[str, ...]
    propensity: str | None = None
    negative: str | None = None
    n_negative: Count = 0
    n_checked: Count = 0

    def __post_init__(self) -> None:
        if self.n_positive + self.n_unlabeled + self.n_negative != self.rows:
            raise ValueError("has other rows than labelled and unlabelled ones")


@dataclass(frozen=True)
class Method:
    """What was fitted: its id, title and class, and the parameters that are not the defaults."""

    name: str
    title: str
    class_name: str
    parameters: Mapping[str, str]
    seconds: Amount


@dataclass(frozen=True)
class Prior:
    """Share of positives among the unlabelled rows.

    Attributes
    ----------
    source
        "estimated", "given", "range" (two ends were given) or "count".
    value, low, high
        The share and its interval; there is no interval if the share was given and held-out scores
        do not refute it.
    level
        Coverage of the interval.
    estimates
        The share by each method of estimation.
    warnings
        Why it may be wrong.
    is_known
        Whether it was given, or held-out rows tell it; else nothing that needs it is promised.
    """

    source: Literal["estimated", "given", "range", "count"]
    value: Share
    low: Share | None = None
    high: Share | None = None
    level: Share = 0.9
    estimates: Mapping[str, Share] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    is_known: bool = True

    def __post_init__(self) -> None:
        _check_interval(self.low, self.high)

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) below 1, for :func:`robustpu.metrics.evaluate`."""
        if self.low is None or self.high is None:
            return None
        return min(self.low, self.value), max(min(self.high, 1 - SMALLEST), self.value)


@dataclass(frozen=True)
class Scar:
    """Whether positives may have been labelled completely at random (SCAR).

    Attributes
    ----------
    most
        The largest share of positives among the unlabelled rows with which they may.
    level
        Chance with which a right share is not refuted, at the least.
    is_refuted
        Whether the share that the user gave is above; None if none was given.
    text
        All this in words.
    """

    most: Share
    level: Share
    is_refuted: bool | None
    text: str


@dataclass(frozen=True)
class Metric:
    """An estimate with its interval; ``clipped`` if it was out of range before."""

    name: str
    value: Number
    low: Number
    high: Number
    clipped: bool = False

    def __post_init__(self) -> None:
        most = LARGEST if self.name in UNBOUNDED else 1 + ROUNDING
        for end in ("value", "low", "high"):
            if not -ROUNDING <= getattr(self, end) <= most:
                raise ValueError(f"has a {end} of {getattr(self, end)} for {self.name[:40]}")
        _check_interval(self.low, self.high)


@dataclass(frozen=True)
class Recovery:
    """``recall`` of the held-out labelled positives rank in the first ``share`` of the rows."""

    share: Share
    recall: Share
    low: Share
    high: Share

    def __post_init__(self) -> None:
        _check_interval(self.low, self.high)


@dataclass(frozen=True)
class EvaluationSummary:
    """Metrics on held-out rows, without negatives.

    Attributes
    ----------
    k
        Length of the list of the metrics ``_at_k``.
    recovery
        Where held-out labelled positives rank among the unlabelled rows, by growing share.
    auc_of_labeled
        Chance that a labelled row outranks an unlabelled one; None in older results.
    """

    level: Share
    k: Size
    n_positive: Count
    n_unlabeled: Count
    remarks: tuple[str, ...]
    metrics: tuple[Metric, ...]
    recovery: tuple[Recovery, ...] = ()
    auc_of_labeled: Metric | None = None

    @property
    def beats_chance(self) -> bool:
        """Whether held-out rows show that the ranking is better than chance."""
        return self.auc_of_labeled is None or self.auc_of_labeled.low > 0.5

    def metric(self, name: str) -> Metric | None:
        """The metric of that name."""
        return next((metric for metric in self.metrics if metric.name == name), None)

    @property
    def auc(self) -> Metric | None:
        """Of positives against negatives, or, if the share is unknown, of labelled rows."""
        return self.metric("auc") or self.metric("auc_of_labeled")


@dataclass(frozen=True)
class TimeHoldout:
    """The newest rows, scored by a model of the older rows; ``text`` says it in a sentence.

    ``since`` and ``evaluation`` are None if the newest rows could not be evaluated.
    """

    text: str
    since: str | None = None
    evaluation: EvaluationSummary | None = None


@dataclass(frozen=True)
class TopK:
    """Expected positives among the k rows with the highest scores, with their interval."""

    k: Size
    expected: Amount
    low: Amount
    high: Amount

    def __post_init__(self) -> None:
        if max(self.expected, self.high) > self.k * (1 + ROUNDING):
            raise ValueError(f"has more positives than its {self.k} rows")
        _check_interval(self.low, self.high)


@dataclass(frozen=True)
class SharePoint:
    """What another share of positives would mean.

    Attributes
    ----------
    share
        Of positives among the unlabelled rows.
    precision
        With that share.
    cutoff
        The score that as many rows reach as would be positive.
    expected, low, high
        Positives among the first k rows with their intervals, for each k of ``Results.top``; there
        may be no intervals.
    """

    share: Share
    precision: Share
    cutoff: Number
    expected: tuple[Amount, ...]
    low: tuple[Amount, ...] = ()
    high: tuple[Amount, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.low) == len(self.high) in (0, len(self.expected)):
            raise ValueError("has intervals of other lists")


@dataclass(frozen=True)
class ScoreHistogram:
    """Held-out scores of labelled and of unlabelled rows, counted in bins."""

    edges: tuple[Number, ...]
    positive: tuple[Count, ...]
    unlabeled: tuple[Count, ...]

    def __post_init__(self) -> None:
        if not len(self.positive) == len(self.unlabeled) == len(self.edges) - 1:
            raise ValueError("has bins and counts of different lengths")


@dataclass(frozen=True)
class Round:
    """A round of the self-correction, averaged over the networks.

    Attributes
    ----------
    number
        0 is the pre-trained network, which has no thresholds and no weights.
    threshold_positive, threshold_unlabeled
        Hardness up to which a row counts as easy.
    flagged
        Share of the unlabelled rows that are predicted positive after it; None after the last.
    score
        On held-out rows.
    n_best
        Networks whose best round it is.
    weights_positive, weights_unlabeled
        Rows by weight, in the bins of ``Rounds.edges``; empty if weights were not recorded.
    """

    number: Count
    threshold_positive: Number | None
    threshold_unlabeled: Number | None
    flagged: Share | None
    score: Number | None
    n_best: Count
    weights_positive: tuple[Count, ...] = ()
    weights_unlabeled: tuple[Count, ...] = ()


@dataclass(frozen=True)
class Rounds:
    """The self-correction of Robust-PU; ``best`` is the middle one of the networks' best rounds."""

    best: Count
    edges: tuple[Number, ...]
    rounds: tuple[Round, ...]

    def __post_init__(self) -> None:
        bins = {0, len(self.edges) - 1}
        counts = [(each.weights_positive, each.weights_unlabeled) for each in self.rounds]
        if not {len(weights) for both in counts for weights in both} <= bins:
            raise ValueError("has bins and counts of different lengths")
        if self.best not in [each.number for each in self.rounds if each.n_best]:
            raise ValueError(f"has a best round {self.best} that is the best of no network")


@dataclass(frozen=True)
class PoolMember:
    """A member of the pool, its weight, and how well it ranks labelled above unlabelled rows."""

    name: str
    weight: Share
    auc: Share


@dataclass(frozen=True)
class Alarm:
    """What a person should know first; ``kind`` is a key of the titles of the page."""

    kind: str
    text: str


@dataclass(frozen=True)
class Driver:
    """A column that changes the log-odds of a row by ``effect``, and its value there."""

    column: str
    value: str
    effect: Number


@dataclass(frozen=True)
class Suspect:
    """An unlabelled row with a high score.

    Attributes
    ----------
    row
        Its number, from 1.
    drivers, against
        Columns that raise and that lower its score, the strongest first.
    shown
        Some of its cells.
    """

    rank: Size
    row: Size
    id: str | None
    score: Share
    drivers: tuple[Driver, ...]
    shown: Mapping[str, str]
    against: tuple[Driver, ...] = ()


@dataclass(frozen=True)
class Importance:
    """Mean change of the log-odds by shuffling a column, and its deviation over the repeats."""

    column: str
    value: Amount
    deviation: Amount


@dataclass(frozen=True)
class Spread:
    """Values of a column in some rows.

    Attributes
    ----------
    counts
        Rows in each bin, or with each value.
    missing
        Rows without a value.
    quantiles
        5, 25, 50, 75 and 95 % of the values are below; empty where there are no numbers.
    rows
        Number of rows; None if each has one value or none, so that counts say it.
    """

    counts: tuple[Count, ...]
    missing: Count
    quantiles: tuple[Number, ...] = ()
    rows: Count | None = None

    def __post_init__(self) -> None:
        if len(self.quantiles) not in (0, 5):
            raise ValueError(f"has {len(self.quantiles)} quantiles")

    @property
    def total(self) -> int:
        """Number of rows."""
        return sum(self.counts) + self.missing if self.rows is None else self.rows


@dataclass(frozen=True)
class Profile:
    """A column in the rows with the highest scores, and in the other unlabelled rows.

    Attributes
    ----------
    kind
        What ``edges`` are, a "date" in days since 1970; what is counted in ``values``: a "value",
        of which a row has one, or a "word" of a text.
    edges
        Of the bins of numbers and dates; what lies beyond is in the first and the last bin.
    values
        What is counted, if there are no bins; the last one may stand for all others.
    listed, others
        The two groups of rows.
    """

    column: str
    kind: Literal["number", "date", "value", "word"]
    edges: tuple[Number, ...]
    values: tuple[str, ...]
    listed: Spread
    others: Spread

    def __post_init__(self) -> None:
        is_binned = self.kind in ("number", "date")
        bins = len(self.edges) - 1 if is_binned else len(self.values)
        if not len(self.listed.counts) == len(self.others.counts) == bins:
            raise ValueError("has bins and counts of different lengths")
        groups = self.listed, self.others
        if is_binned and not all(group.quantiles for group in groups):
            raise ValueError("has bins without quantiles")
        if any(low >= high for low, high in pairwise(self.edges)):
            raise ValueError("has edges that do not grow")


@dataclass(frozen=True)
class Column:
    """What a column holds, and what was done with it to make ``features`` numbers."""

    name: str
    kind: str
    missing: Share
    distinct: Count
    done: str
    features: Count
    notes: tuple[str, ...]
    alarm: str | None


@dataclass(frozen=True)
class Settings:
    """What it takes to repeat the fit."""

    command: str | None
    seed: Count
    versions: Mapping[str, str]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Results:
    """All that is known of a fit on a table.

    Attributes
    ----------
    made
        When, in universal time.
    threshold, flagged
        Score from which a row is flagged, and the share of the unlabelled rows that reach it.
    evaluation
        None if there are too few rows to hold some out.
    top
        Expected positives by length of the list.
    sensitivity
        What other shares of positives would mean.
    rounds
        None for methods without rounds.
    suspects, importance
        The highest first.
    members
        What the ranking rests on; empty for other methods than the pool.
    profiles
        Important columns, the most important first.
    scar
        None if propensities were given, there is no evaluation, or in older results.
    """

    made: str
    data: Data
    method: Method
    scenario: Literal["case-control", "single-set"]
    prior: Prior
    threshold: Number
    flagged: Share
    evaluation: EvaluationSummary | None
    time_holdout: TimeHoldout | None
    top: tuple[TopK, ...]
    sensitivity: tuple[SharePoint, ...]
    scores: ScoreHistogram
    rounds: Rounds | None
    alarms: tuple[Alarm, ...]
    suspects: tuple[Suspect, ...]
    importance: tuple[Importance, ...]
    columns: tuple[Column, ...]
    notes: tuple[str, ...]
    settings: Settings
    members: tuple[PoolMember, ...] = ()
    profiles: tuple[Profile, ...] = ()
    scar: Scar | None = None
    schema: Literal[2] = SCHEMA

    def __post_init__(self) -> None:
        if {len(point.expected) for point in self.sensitivity} - {len(self.top)}:
            raise ValueError("has other lists in its sensitivity than in its top")

    @property
    def beats_chance(self) -> bool:
        """Whether held-out rows, if any, show a ranking that is better than chance."""
        return self.evaluation is None or self.evaluation.beats_chance

    @property
    def is_list_known(self) -> bool:
        """Whether ``top`` can be relied on: the share is known, or enough rows were checked."""
        found = None if self.evaluation is None else self.evaluation.metric("precision_at_k")
        return self.prior.is_known or (self.data.n_checked > 0 and found is not None)

    @property
    def expected(self) -> float:
        """Expected number of positives among the unlabelled rows."""
        return self.prior.value * self.data.n_unlabeled

    def to_json(self) -> dict[str, Any]:
        """Plain values, for :func:`json.dumps`."""
        document: dict[str, Any] = to_json(self)
        return document


def read_results(document: Any) -> Results:
    """Read what :meth:`Results.to_json` wrote; all of it is checked.

    Parameters
    ----------
    document
        As :func:`json.loads` returns it. Entries that are not known are ignored.

    Raises
    ------
    SchemaError
        It is of another schema, or something in it is wrong.

    Examples
    --------
    >>> read_results({"schema": 2, "made": "2024-05-01", "data": {"name": 5}})
    Traceback (most recent call last):
    robustpu.validation.schema.SchemaError: the results are damaged: results.data.name must...
    """
    schema = document.get("schema") if isinstance(document, dict) else None
    if type(schema) is int and schema > SCHEMA:
        raise SchemaError("the results were written by a later version of robustpu. Install it.")
    if type(schema) is int and schema < SCHEMA:
        raise SchemaError("the results were written by an earlier version of robustpu. Fit again.")
    try:
        return read(Results, document, "results", ignore_unknown=True)
    except SchemaError as error:
        raise SchemaError(f"the results are damaged: {error} Fit the model again.") from None


def _check_interval(low: float | None, high: float | None) -> None:
    is_wrong = (low is None) != (high is None)
    if is_wrong or (low is not None and high is not None and low > high):
        raise ValueError(f"has an interval from {low} to {high}")
