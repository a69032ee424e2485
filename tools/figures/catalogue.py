"""Name of a figure -> what computes it."""

from collections.abc import Callable
from typing import Any, Final

from tools.figures import (
    bench,
    bench_tables,
    checked_rows,
    method_pages,
    pretrained,
    priors,
    real_tables,
    reproduction,
    rounds,
    special,
    speed,
    studies,
)

FIGURES: Final[dict[str, Callable[..., Any]]] = {
    **bench.FIGURES,
    **bench_tables.FIGURES,
    **checked_rows.FIGURES,
    **method_pages.FIGURES,
    **pretrained.FIGURES,
    **priors.FIGURES,
    **real_tables.FIGURES,
    **reproduction.FIGURES,
    **rounds.FIGURES,
    **special.FIGURES,
    **speed.FIGURES,
    **studies.FIGURES,
}
