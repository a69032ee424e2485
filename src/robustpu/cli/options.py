"""Options and arguments that commands on a table share."""

from pathlib import Path
from typing import Annotated

import typer

# What NumPy and scikit-learn take.
MOST_SEEDS = 2**32 - 1

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="The table: CSV, TSV, Excel (.xlsx), Parquet, Feather or JSON lines, also compressed; "
        "- reads standard input.",
        show_default=False,
    ),
]
Model = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="Model folder that `robustpu fit` wrote.", show_default=False
    ),
]
Label = Annotated[
    str,
    typer.Option(
        metavar="COLUMN",
        help="Column that marks the known positives.",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE",
        help="Label of the known positives.",
        show_default="detected, if it is clear",
    ),
]
Negative = Annotated[
    str | None,
    typer.Option(
        metavar="VALUE", help="Label of known negatives: rows that turned out not to be positive."
    ),
]
Checked = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE",
        help="Rows of DATA that were checked since, by id or row number, with yes or no in a "
        "column `checked`: what `robustpu next` proposed, filled in. Can be repeated.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Column that names the rows; not a feature."),
]
ScoredId = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column that names the rows.",
        show_default="that of the fit, or the row number",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to leave out. Can be repeated."),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=KIND",
        help="Kind of a column, instead of the detected one: number, boolean, category, date, "
        "text or drop. Can be repeated.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time-column",
        metavar="COLUMN",
        help="Column with the time of a row; not a feature.",
    ),
]
Propensity = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column with the probability of each known positive to have been labelled, given that "
        "it is positive; empty in other rows. For labels that prefer some kinds of positives.",
    ),
]
Scenario = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="single-set: the known positives were found among these rows, as some frauds among "
        "all claims of a year. case-control: they come from elsewhere, as patients of a clinic "
        "next to a sample of the population. Without it, a terminal asks where it matters.",
        show_default="single-set",
    ),
]
Prior = Annotated[
    str,
    typer.Option(
        metavar="SHARE",
        help="Share of positives among the unlabelled rows: auto estimates it; or a number, as "
        "0.2; a range, as 0.1:0.3; or a number of rows, as count:500.",
    ),
]
Threshold = Annotated[
    str,
    typer.Option(
        metavar="SCORE",
        help="Score from which a row is flagged: a number, prior, precision:0.9, recall:0.8 or "
        "top:200.",
    ),
]
Members = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Networks to average.", show_default="that of the method"
    ),
]
Effort = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="Of the default method: fast, default, best, or seconds that the training may take.",
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--no-header",
        metavar="",
        help="The first row of a text file is data, not a header; columns are called 'column 1', "
        "'column 2'...",
    ),
]
SkipBadRows = Annotated[
    bool,
    typer.Option(
        "--skip-bad-rows",
        metavar="",
        help="Leave out rows of a text file with too many or too few cells.",
    ),
]
FillColumns = Annotated[
    bool,
    typer.Option(
        "--fill-columns",
        metavar="",
        help="Treat missing columns as empty.",
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
Seed = Annotated[int, typer.Option(min=0, max=MOST_SEEDS, metavar="N", help="Random seed.")]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print one JSON document, for programs.")
]
Quiet = Annotated[bool, typer.Option("--quiet", metavar="", help="Print no notes and no progress.")]
Debug = Annotated[
    bool,
    typer.Option("--debug", metavar="", help="Show the traceback of an error."),
]
