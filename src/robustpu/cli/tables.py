"""What commands on a user's own table share: options, reading, errors.

Exit codes: 0 all went well; 1 something is wrong with the input, and the message says what to do;
2 the command was not understood; 130 interrupted; 143 told to end; 70 a fault of this program.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from robustpu.unseen import shown

if TYPE_CHECKING:
    from robustpu.tables import Roles, Table

EXIT_CODES = (
    "Exit codes: 0 done; 1 something is wrong with the input, and the message says what to do; "
    "2 the command was not understood; 130 interrupted."
)

Data = Annotated[
    str,
    typer.Argument(
        help="The table: CSV, TSV, Parquet, Feather or JSON lines, packed or not; - reads standard "
        "input.",
        show_default=False,
    ),
]
Model = Annotated[
    Path, typer.Argument(help="Model folder, as `robustpu fit` wrote it.", show_default=False)
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
Kind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND",
        help="What a column holds, where it is not to be found out: number, boolean, category, "
        "date, text or drop. May be given several times.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time-column",
        help="Column that says when a row came about; not learnt from.",
    ),
]
Scenario = Annotated[
    str,
    typer.Option(
        help="case-control: the unlabelled rows are a sample of the population. single-set: they "
        "are what was left after some of its positives were labelled."
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        help="Share of positives among the unlabelled rows: auto estimates it; or 0.2; or "
        "count:500, so many rows."
    ),
]
Threshold = Annotated[
    str,
    typer.Option(
        help="Score from which a row is answered positive: a number, prior, precision:0.9, "
        "recall:0.8 or top:200."
    ),
]
Members = Annotated[
    int | None,
    typer.Option(min=1, help="Networks to average.", show_default="the method's own"),
]
Header = Annotated[
    bool, typer.Option("--no-header", help="The first row of a text is no header, but data.")
]
SkipBadRows = Annotated[
    bool,
    typer.Option("--skip-bad-rows", help="Leave out rows of a text with too many or few cells."),
]
FillColumns = Annotated[
    bool, typer.Option("--fill-columns", help="Take columns that are missing as without values.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print no notes and no progress.")]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where in the program an error came about.")
]


def read(data: str, no_header: bool = False, skip_bad_rows: bool = False) -> "Table":
    """Read a table whole, as the options say.

    Parameters
    ----------
    data
        A path, or ``-``.
    no_header, skip_bad_rows
        Of the options.
    """
    from robustpu.tables import read_table

    return read_table(data, header=not no_header, bad_rows="skip" if skip_bad_rows else "error")


def roles(
    label: str,
    positive: str | None,
    id_column: str | None,
    drop: Sequence[str] | None,
    time: str | None,
) -> "Roles":
    """What columns are for, as the options say."""
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
    for own in given or ():
        name, equals, kind = own.rpartition("=")
        if not equals or not name:
            raise typer.BadParameter(f"--kind wants NAME=KIND, such as zip=category, not {own!r}.")
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


def tell(notes: Sequence[str], quiet: bool) -> None:
    """Say what was noticed, on standard error."""
    if not quiet:
        for note in dict.fromkeys(notes):
            typer.echo(f"Note: {shown(note)}", err=True)


@contextmanager
def clean_errors(debug: bool = False) -> Iterator[None]:
    """Say what a user can mend in one line, and end with the exit code that tells what it was.

    Parameters
    ----------
    debug
        Whether to let errors through as they are.
    """
    try:
        with _ends_cleanly():
            yield
    except KeyboardInterrupt:
        typer.echo("Stopped.", err=True)
        raise typer.Exit(130) from None
    except BrokenPipeError:
        # Whoever read the output has had enough; Python would complain when it flushes the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(141) from None
    except (ValueError, OSError, ModuleNotFoundError) as error:
        _end(str(error), 1, debug)
    except MemoryError:
        _end("there is not enough memory. Take fewer rows, or columns.", 1, debug)
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort) or type(error).__module__.startswith(
            ("click", "typer")
        ):
            raise
        _end(
            f"unforeseen: {type(error).__name__}: {error}. That is a fault of robustpu, not "
            "yours: run it again with --debug, and report what it shows.",
            70,
            debug,
        )


def _end(message: str, code: int, debug: bool) -> NoReturn:
    if debug:
        raise
    lines = "\n".join(map(shown, message.splitlines()))
    typer.echo(f"Error: {lines}", err=True)
    raise typer.Exit(code) from None


@contextmanager
def _ends_cleanly() -> Iterator[None]:
    """Let a polite request to end, as schedulers send it, run what cleans up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> NoReturn:
        raise SystemExit(128 + number)

    # A terminal that is closed; nohup has it ignored, and so it stays. Windows has none.
    hung_up = getattr(signal, "SIGHUP", None)
    numbers = [signal.SIGTERM]
    if hung_up is not None and signal.getsignal(hung_up) != signal.SIG_IGN:
        numbers.append(hung_up)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
