"""Which method is the best on a data set, and whether by more than chance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from robustpu.report.cells import SIGNIFICANT, Cell
from robustpu.report.paired import FEWEST_PAIRS, signed_rank


@dataclass(frozen=True)
class Duel:
    """The best method of a data set and prior against its best rival, over their common trials.

    A rival is of another family: a method is not set against its own variant.
    """

    dataset: str
    prior: float
    best: str
    rival: str
    pairs: int
    wins: int
    losses: int
    difference: float  # mean error of the rival minus that of the best, points
    p: float | None  # None: too few pairs to tell anything

    @property
    def told_apart(self) -> bool:
        """Whether the best is ahead by more than chance."""
        return self.p is not None and self.p < SIGNIFICANT


def rank(
    cells: Mapping[str, Cell], dataset: str, prior: float, families: Mapping[str, str]
) -> tuple[dict[str, Cell], Duel | None]:
    """Mark the best, and test it against all others.

    Only methods with all trials take part, and one alone is not called the best.

    Parameters
    ----------
    cells
        By method, of one data set and prior.
    dataset, prior
        Which.
    families
        By method; variants share one.

    Returns
    -------
    cells
        With `best` and `p` filled in.
    duel
        The best against the lowest mean of another family; None where there is none.
    """
    whole = [(cell.mean, name) for name, cell in cells.items() if cell.complete]
    if len(whole) < 2:
        return dict(cells), None
    order = [name for _, name in sorted(whole, key=lambda pair: pair[0])]
    winner = cells[order[0]]
    ranked = dict(cells)
    for name in order:
        cell = cells[name]
        ranked[name] = replace(
            cell,
            best=f"{cell.mean:.2f}" == f"{winner.mean:.2f}",
            p=None if name == order[0] else _test(winner, cell),
        )
    others = [name for name in order if families[name] != families[order[0]]]
    if not others:
        return ranked, None
    rival = ranked[others[0]]
    gaps = _differences(winner, rival)
    return ranked, Duel(
        dataset,
        prior,
        order[0],
        others[0],
        len(gaps),
        sum(gap > 0 for gap in gaps),
        sum(gap < 0 for gap in gaps),
        rival.mean - winner.mean,
        rival.p,
    )


def _differences(best: Cell, other: Cell) -> list[float]:
    return [round(other.errors[trial] - error, 9) for trial, error in best.errors.items()]


def _test(best: Cell, other: Cell) -> float | None:
    gaps = _differences(best, other)
    return signed_rank(gaps) if len(gaps) >= FEWEST_PAIRS else None
