"""Where the known positives come from, if the user does not say it."""

import sys
from typing import TYPE_CHECKING, Final

import typer

from robustpu.scenario import SCENARIOS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# A file with both kinds of rows is nearly always one sample in which some positives were found.
GUESS: Final = "single-set"
# With a smaller share of known positives among all rows, both scenarios are nearly the same.
MATTERS: Final = 0.01
# Fewer positives than this may stand in one block by chance.
BLOCK: Final = 10


def settle_scenario(
    given: str | None, is_positive: "NDArray[np.bool_]", data: str, is_quiet: bool
) -> tuple[str, list[str]]:
    """The scenario that was given, else an answer of the user's, else a guess; and notes on it.

    Only a terminal asks. The default in Python is case-control, as in the papers.

    Parameters
    ----------
    given
        Of the options.
    is_positive
        Which rows are labelled, (n,).
    data
        Of the arguments: a table on standard input leaves nobody to ask.
    is_quiet
        Whether programs read the output.
    """
    if given is not None:
        return given, []
    if is_positive.mean() < MATTERS:
        return GUESS, []
    if not is_quiet and data != "-" and sys.stdin.isatty() and sys.stderr.isatty():
        return _asked(int(is_positive.sum()), is_block(is_positive)), []
    known = f"{int(is_positive.sum()):,} known positives"
    note = (
        f"--scenario was not given: the {known} count as found among these rows ({GUESS}); if they "
        "come from elsewhere, give --scenario case-control"
    )
    if is_block(is_positive):
        note += ", as it seems: they stand in one block"
    return GUESS, [note]


def is_block(is_positive: "NDArray[np.bool_]") -> bool:
    """Whether the labelled rows stand together at the start or the end, as if added to the others.

    Examples
    --------
    >>> import numpy as np
    >>> is_block(np.arange(100) < 20), is_block(np.arange(100) % 5 == 0)
    (True, False)
    """
    changes = int((is_positive[1:] != is_positive[:-1]).sum())
    return changes == 1 and int(is_positive.sum()) >= BLOCK


def _asked(n_positive: int, is_one_block: bool) -> str:
    """The answer of the user; an empty one is the guess."""
    hint = " They stand in one block." if is_one_block else ""
    typer.echo(
        f"Were the {n_positive:,} known positives found among these rows (single-set),\n"
        f"or do they come from elsewhere (case-control)?{hint}",
        err=True,
    )
    while True:
        typer.echo(f"[{GUESS}] ", nl=False, err=True)
        answer = sys.stdin.readline().strip().lower()
        found = [name for name in SCENARIOS if name.startswith(answer)] if answer else [GUESS]
        if len(found) == 1:
            return found[0]
        typer.echo(f"Please answer {' or '.join(SCENARIOS)}.", err=True)
