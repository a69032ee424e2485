"""Read tables as the options say, and print notes on them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer

from robustpu.validation.sanitize import shown

if TYPE_CHECKING:
    from robustpu.tables import Roles, Table

# The name of a column of a file without a header.
PLACE: Final = re.compile(r"column \d+")


def read(data: str, no_header: bool = False, skip_bad_rows: bool = False) -> "Table":
    """Read a whole table, as the options say.

    Parameters
    ----------
    data
        A path, or ``-``.
    no_header, skip_bad_rows
        Of the options.
    """
    from robustpu.tables import read_table

    return read_table(data, header=not no_header, bad_rows="skip" if skip_bad_rows else "error")


def check_columns(table: "Table", *names: str | None) -> None:
    """Refuse a name that is not a column: before anything heavy is imported.

    Parameters
    ----------
    table
        As it was read.
    names
        Columns that options name; None is an option that was not given.
    """
    for name in names:
        if name is not None:
            table.column(name)


def check_start(data: str, no_header: bool, *names: str | None) -> None:
    """Refuse a file that is not there, or that lacks a column, by its first rows.

    Standard input cannot be read twice, and columns of JSON lines may begin later: these are left
    to the reader.

    Parameters
    ----------
    data
        A path, or ``-``.
    no_header
        Of the options; a model may have been fitted without a header, which is not known here.
    names
        Columns that options name; None is an option that was not given.
    """
    from robustpu.tables import TableError, iter_table

    if data == "-" or (Path(data).exists() and not Path(data).is_file()):
        return
    try:
        part = next(iter_table(data, rows=1, header=not no_header, bad_rows="skip"))
    except TableError:
        if Path(data).exists():
            # What is wrong with the file depends on the options of the model.
            return
        raise
    if not part.is_partial:
        check_columns(part, *(name for name in names if not PLACE.fullmatch(name or "")))


def check_model(model: Path) -> None:
    """Refuse a folder that is no model, before anything heavy is imported.

    Parameters
    ----------
    model
        Of the arguments.
    """
    from robustpu.persist.contents import reading
    from robustpu.persist.reading import read_sums

    reading(model, read_sums)


def roles(
    label: str,
    positive: str | None,
    id_column: str | None,
    drop: Sequence[str] | None,
    time: str | None,
) -> "Roles":
    """Roles of columns, as the options say."""
    from robustpu.tables import Roles

    return Roles(label=label, positive=positive, id=id_column, time=time, drop=tuple(drop or ()))


def kinds_of(given: Sequence[str] | None) -> dict[str, Any]:
    """Kinds of columns by name.

    Examples
    --------
    >>> kinds_of(["zip=category", "a=b=text"])
    {'zip': 'category', 'a=b': 'text'}
    """
    found = {}
    for option in given or ():
        name, equals, kind = option.rpartition("=")
        if not equals or not name:
            raise typer.BadParameter(
                f"--kind needs NAME=KIND, such as zip=category, not {option!r}."
            )
        found[name] = kind
    return found


def threshold_of(text: str) -> float | str:
    """A threshold as the methods take it.

    Examples
    --------
    >>> threshold_of("0.5"), threshold_of("top:200")
    (0.5, 'top:200')
    """
    try:
        return float(text)
    except ValueError:
        return text


def effort_of(text: str) -> float | str:
    """An effort as the default method takes it: a name, or seconds.

    Examples
    --------
    >>> effort_of("fast"), effort_of("30")
    ('fast', 30.0)
    """
    return threshold_of(text)


def print_notes(notes: Sequence[str], quiet: bool) -> None:
    """Print each note once, on standard error."""
    if not quiet:
        for note in dict.fromkeys(notes):
            typer.echo(f"Note: {shown(note)}", err=True)
