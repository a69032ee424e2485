"""What commands on a user's own table share: its options, and reading it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from robustpu.tables import Parts, Vectorizer

Data = Annotated[
    str,
    typer.Argument(
        help="The table: CSV, TSV, Parquet, Feather or JSON lines, packed or not; - reads standard "
        "input.",
        show_default=False,
    ),
]
Label = Annotated[
    str,
    typer.Option(help="Column that says which rows are known positives.", show_default=False),
]
Positive = Annotated[
    str | None,
    typer.Option(help="Its value for them.", show_default="found out, if it is plain"),
]
Id = Annotated[str | None, typer.Option("--id", help="Column that names the rows.")]
Drop = Annotated[
    list[str] | None, typer.Option(help="Column to leave out. May be given several times.")
]
Time = Annotated[
    str | None, typer.Option("--time-column", help="Column that says when a row came about.")
]
Scenario = Annotated[
    str,
    typer.Option(
        help="case-control: the unlabelled rows are a sample of the population. single-set: they "
        "are what was left after some of its positives were labelled."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no notes.")]


class Problem(NamedTuple):
    """A table as numbers, and what was noticed on the way."""

    X: "NDArray[np.float32]"
    y: "NDArray[np.int64]"
    parts: "Parts"
    vectorizer: "Vectorizer"
    notes: tuple[str, ...]


def read_problem(
    data: str,
    label: str,
    positive: str | None,
    id_column: str | None,
    drop: Sequence[str] | None,
    time: str | None,
) -> Problem:
    """Read a table, find its labels, and make numbers of its columns.

    Parameters
    ----------
    data
        A path, or ``-``.
    label, positive, id_column, drop, time
        What columns are for, see :class:`robustpu.tables.Roles`.

    Raises
    ------
    TableError
        Whatever is wrong with it.
    """
    from robustpu.tables import Roles, Vectorizer, read_table, take_roles

    table = read_table(data)
    roles = Roles(label=label, positive=positive, id=id_column, time=time, drop=tuple(drop or ()))
    parts = take_roles(table, roles)
    assert parts.y is not None
    vectorizer = Vectorizer().fit(parts.table, parts.y)
    told = [
        f"{column.name}: {note}"
        for column in vectorizer.columns_
        for note in (*column.notes, *([column.alarm] if column.alarm else []))
    ]
    X = vectorizer.transform(parts.table)
    return Problem(X, parts.y, parts, vectorizer, (*table.notes, *parts.notes, *told))


@contextmanager
def clean_errors() -> Iterator[None]:
    """Say what a user can mend in one line, and end: 130 when interrupted, else 1."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None
    except (ValueError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None
