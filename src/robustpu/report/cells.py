"""A cell of a table: one method on one data set at one prior."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final

from robustpu.bench.paper import Figure

SIGNIFICANT: Final = 0.05


@dataclass(frozen=True)
class Cell:
    """The trials of a method, and how it stands.

    Parameters
    ----------
    errors
        Trial -> test error in points.
    failures
        What went wrong, one message a failed trial.
    expected
        The trials that it or one of its neighbours on this data set and prior has.
    usual
        Most trials that any cell of the table has.
    dropped
        Trials that are left out, because they are of an older plan or of other data.
    alike
        Whether its rows are drawn as those of its neighbours, so that trials are pairs.
    as_paper
        Whether there are as many rows as in the paper.
    partly
        How many rows the files had, of how many, if they lacked a part of the data set.
    paper
        The paper's figure.
    best
        Whether no other method has a lower mean, as printed.
    p
        Of the paired test against the best; None for the best itself, and where none was made.
    """

    errors: Mapping[int, float]
    failures: tuple[str, ...]
    expected: frozenset[int]
    usual: int
    dropped: int
    alike: bool
    as_paper: bool
    paper: Figure | None
    partly: str = ""
    best: bool = False
    p: float | None = None

    @property
    def was_run(self) -> bool:
        """Whether there is any trial, be it one that failed."""
        return bool(self.errors or self.failures)

    @property
    def complete(self) -> bool:
        """Whether it may compete: the trials and the rows of its neighbours, and one plan."""
        same = self.alike and self.errors.keys() == self.expected
        return bool(self.errors) and same

    @property
    def mean(self) -> float:
        """Mean error in points; NaN where there is nothing to average."""
        return fmean(self.errors.values()) if self.errors else math.nan

    @property
    def sd(self) -> float:
        """Deviation over the trials (ddof=1) in points; NaN for fewer than two."""
        return stdev(self.errors.values()) if len(self.errors) > 1 else math.nan

    @property
    def tied(self) -> bool:
        """Whether it is not the best, but the paired test cannot tell it from the best."""
        return not self.best and self.p is not None and self.p >= SIGNIFICANT

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's mean as printed, in points; None unless there are both."""
        if self.paper is None or not self.complete:
            return None
        return round(round(self.mean, 2) - round(self.paper.mean, 2), 2)

    @property
    def at_or_below(self) -> bool | None:
        """Whether the mean is at or below the paper's, as printed; None unless there are both."""
        return None if self.difference is None else self.difference <= 0

    @property
    def flaw(self) -> str:
        """Why it may not compete; empty where it may, or where it was not run."""
        if self.complete or not self.was_run:
            return ""
        if not self.alike:
            return "other rows than its neighbours have"
        text = f"{len(self.errors)} of {len(self.expected)} trials"
        if self.failures:
            reasons = ", ".join(dict.fromkeys(" ".join(line.split()) for line in self.failures))
            text += f"; {len(self.failures)} failed ({reasons})"
        return text

    @property
    def remark(self) -> str:
        """What else is to be known of it, though it may compete."""
        known = []
        if self.dropped:
            known.append("trials of an older plan are left out")
        if self.complete and len(self.errors) < self.usual:
            known.append(f"{len(self.errors)} trials, where others have {self.usual}")
        if self.complete and self.paper is not None and not self.as_paper:
            known.append("other numbers of rows than in the paper")
        if self.partly:
            known.append(f"drawn from {self.partly} rows of the data set")
        return "; ".join(known)
