"""Read tables as the options say, and print notes on them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from robustpu.validation.sanitize import shown

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from robustpu.tables import Roles, Table


class Needs(NamedTuple):
    """What a model needs of a table: columns, and whether its first row is a header."""

    columns: tuple[str, ...] = ()
    header: bool = True


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


def read_labelled(
    data: str,
    label: str,
    marks: tuple[str | None, str | None],
    others: Iterable[str | None],
    kinds: Mapping[str, str],
    no_header: bool,
    skip_bad_rows: bool,
) -> "tuple[Table, NDArray[np.bool_]]":
    """A whole table, and which of its rows are labelled; wrong names are refused at once.

    Parameters
    ----------
    data, label, no_header, skip_bad_rows
        Of the options.
    marks
        The labels of positives and of known negatives; None is an option that was not given.
    others
        Further columns that options name; None is an option that was not given.
    kinds
        Kinds of columns by name.
    """
    from robustpu.tables.cells import cells_of
    from robustpu.tables.kinds import check_kind
    from robustpu.tables.label import find_labels

    named = label, *others, *kinds
    for name, kind in kinds.items():
        check_kind(name, kind)
    check_start(data, no_header, named)
    table = read(data, no_header, skip_bad_rows)
    check_columns(table, *named)
    return table, find_labels(label, cells_of(table.column(label)), *marks).is_positive


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


def check_start(
    data: str,
    no_header: bool,
    names: Iterable[str | None],
    needs: Needs = Needs(),  # noqa: B008
    fill_columns: bool = False,
) -> None:
    """Refuse a file that is not there, or that lacks a column, by its first row.

    Standard input cannot be read twice, and columns of JSON lines may begin later: these are left
    to the reader.

    Parameters
    ----------
    data
        A path, or ``-``.
    no_header, fill_columns
        Of the options.
    names
        Columns that options name; None is an option that was not given.
    needs
        Of a model.
    """
    from robustpu.tables import TableError, iter_table

    if data == "-" or (Path(data).exists() and not Path(data).is_file()):
        return
    try:
        header = needs.header and not no_header
        part = next(iter_table(data, rows=1, header=header, bad_rows="skip"))
    except TableError:
        if Path(data).exists():
            # The reader says what is wrong with it.
            return
        raise
    if not part.is_partial:
        check_columns(part, *names)
        part.lacking(needs.columns, fill=fill_columns)


def check_model(model: Path) -> Needs:
    """Refuse a folder that is no model, before anything heavy is imported; and what it needs.

    Parameters
    ----------
    model
        Of the arguments.
    """
    from robustpu.persist.contents import parse, reading
    from robustpu.persist.reading import MODEL, read_checked, read_sums

    extra = reading(model, lambda folder: parse(read_checked(folder, MODEL, read_sums(folder))))[
        "extra"
    ]
    try:
        columns = extra["vectorizer"]["columns"]
        named = tuple(column["name"] for column in columns if column["plan"] is not None)
        return Needs(named, extra["results"]["settings"]["options"].get("header") is not False)
    except (KeyError, TypeError, AttributeError):
        # Whoever opens the model says what is wrong with it.
        return Needs()


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
