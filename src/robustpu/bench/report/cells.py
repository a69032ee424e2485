"""A cell of a table: one method on one data set at one prior."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from robustpu.bench.paper import MeanSD

SIGNIFICANT: Final = 0.05


@dataclass(frozen=True)
class Cell:
    """The trials of a method, and how it compares.

    Parameters
    ----------
    errors
        Trial -> test error in percent.
    failures
        One message per failed trial.
    expected
        The trials that any method of its kind has on this data set and prior.
    most_trials
        Number of trials of the cell of the table that has most.
    dropped
        Number of trials that are left out: they are of an older plan or of other data.
    same_rows
        Whether all methods of its kind were trained on the same rows, so that trials are pairs.
    paper_sizes
        Whether it has as many rows as the paper.
    paper
        The paper's error.
    rows_used
        "30,000 of 60,000", if the files lacked a part of the data set; else empty.
    best
        Whether no other method of its kind has a lower mean, as printed.
    p
        p value of the paired test against the best; None for the best itself and without a test.
    """

    errors: Mapping[int, float]
    failures: tuple[str, ...]
    expected: frozenset[int]
    most_trials: int
    dropped: int
    same_rows: bool
    paper_sizes: bool
    paper: MeanSD | None
    rows_used: str = ""
    best: bool = False
    p: float | None = None

    @property
    def was_run(self) -> bool:
        """Whether there is any trial, even a failed one."""
        return bool(self.errors or self.failures)

    @property
    def complete(self) -> bool:
        """Whether it can be compared: it has all expected trials, on the same rows."""
        return bool(self.errors) and self.same_rows and self.errors.keys() == self.expected

    @property
    def ours(self) -> MeanSD:
        """Mean and standard deviation (ddof=1) of the errors, in percent."""
        errors = list(self.errors.values())
        return MeanSD(
            fmean(errors) if errors else math.nan, stdev(errors) if len(errors) > 1 else math.nan
        )

    @property
    def mean(self) -> float:
        """Mean error in percent; NaN without a trial."""
        return self.ours.mean

    @property
    def tied(self) -> bool:
        """Whether it is not the best, but does not differ significantly from the best."""
        return not self.best and self.p is not None and self.p >= SIGNIFICANT

    @property
    def difference(self) -> float | None:
        """Our mean minus the paper's, as printed; None unless there are both."""
        if self.paper is None or not self.complete:
            return None
        return round(round(self.mean, 2) - round(self.paper.mean, 2), 2)

    @property
    def at_or_below(self) -> bool | None:
        """Whether our mean is at or below the paper's, as printed; None unless there are both."""
        return None if self.difference is None else self.difference <= 0

    @property
    def flaw(self) -> str:
        """Why it cannot be compared; empty if it can, or if it was not run."""
        if self.complete or not self.was_run:
            return ""
        if not self.same_rows:
            return "trained on other rows than the other methods"
        text = f"{len(self.errors)} of {len(self.expected)} trials"
        if self.failures:
            reasons = ", ".join(dict.fromkeys(" ".join(line.split()) for line in self.failures))
            text += f"; {len(self.failures)} failed ({reasons})"
        return text

    @property
    def remark(self) -> str:
        """What a reader should know of it although it can be compared."""
        remarks = []
        if self.dropped:
            remarks.append("trials of an older plan are left out")
        if self.complete and len(self.errors) < self.most_trials:
            remarks.append(f"{len(self.errors)} trials, where others have {self.most_trials}")
        if self.complete and self.paper is not None and not self.paper_sizes:
            remarks.append("other numbers of rows than in the paper")
        if self.rows_used:
            remarks.append(f"drawn from {self.rows_used} rows of the data set")
        return "; ".join(remarks)
