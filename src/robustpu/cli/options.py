"""Options and arguments that commands on a user's own table share."""

from pathlib import Path
from typing import Annotated

import typer

# What NumPy and scikit-learn take.
MOST_SEEDS = 2**32 - 1

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="The table: CSV, TSV, Parquet, Feather or JSON lines, packed or not; - reads standard "
        "input.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Model folder, as `robustpu fit` wrote it.", show_default=False
    ),
]
Label = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Column that says which rows are known positives.",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="What the label column holds for them.",
        show_default="found out, if it is plain",
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that names the rows; not learnt from."),
]
ScoredId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that names the rows.",
        show_default="that of the fit; the number of the row where it is missing",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out. May be given several times."),
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
        metavar="COLUMN",
        help="Column that says when a row came about; not learnt from.",
    ),
]
Scenario = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="single-set: the known positives were found among these very rows, as some frauds "
        "among all claims of a year. case-control: they are from elsewhere, as patients of a "
        "clinic beside a sample of the population.",
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        metavar="SHARE",
        help="Share of positives among the unlabelled rows: auto estimates it; or 0.2; 0.1:0.3, "
        "between these; or count:500, so many rows.",
    ),
]
Threshold = Annotated[
    str,
    typer.Option(
        metavar="SCORE",
        help="Score from which a row is answered positive: a number, prior, precision:0.9, "
        "recall:0.8 or top:200.",
    ),
]
Members = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Networks to average.", show_default="the method's own"),
]
Header = Annotated[
    bool,
    typer.Option(
        "--no-header",
        metavar="",
        help="The first row of a text is no header, but data; columns are called 'column 1', "
        "'column 2'...",
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        metavar="",
        help="Leave out rows of a text with too many or too few cells.",
    ),
]
FillColumns = Annotated[
    bool,
    typer.Option(
        "--fill-columns",
        metavar="",
        help="Go on where columns of the fit are missing, as if they were empty.",
    ),
]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe",
        metavar="",
        help="Put ' before texts that a spreadsheet would run as a formula (CSV and TSV).",
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, max=MOST_SEEDS, metavar="N", help="Seed of everything random.")
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document, for programs.")
]
Quiet = Annotated[bool, typer.Option("--quiet", metavar="", help="Print no notes, no progress.")]
Debug = Annotated[
    bool,
    typer.Option("--debug", metavar="", help="Show where in the program an error came about."),
]
