"""``robustpu sample``: a table to try the other commands on."""

from pathlib import Path
from typing import Annotated

import typer

from robustpu.cli.errors import clean_errors
from robustpu.cli.options import Debug, Quiet, Seed


def sample(
    out: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The table to write: .csv, .tsv, .parquet, .jsonl, .json or .feather.",
        ),
    ] = Path("claims.csv"),
    rows: Annotated[
        int, typer.Option(min=100, max=1_000_000, metavar="N", help="Number of claims.")
    ] = 5_000,
    seed: Seed = 0,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", metavar="", help="Replace files that are there.")
    ] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a table to try the other commands on: insurance claims, some of them known frauds.

    The claims are made up: 8 % are frauds, of which about half are known. The truth goes to a
    second file, for the end. Another seed gives other claims of the same kind.
    """
    with clean_errors(debug):
        from robustpu.workflow.writing import check_name, table_file

        truth = out.with_name(f"{out.stem}.truth{out.suffix}")
        for path in (out, truth):
            check_name(path)
            if path.exists() and not overwrite:
                raise FileExistsError(f"{path} exists: give another name, or --overwrite.")
        import numpy as np
        import pyarrow as pa

        from robustpu.datasets.sample import claims

        columns, is_fraud = claims(rows, seed=seed)
        known = {name: pa.array(each, from_pandas=True) for name, each in columns.items()}
        truth_of = {"claim": columns["claim"], "fraud": np.where(is_fraud, "yes", "no")}
        for path, table in ((out, known), (truth, truth_of)):
            with table_file(path) as write:
                write(pa.table(table))
        if not quiet:
            n_known = sum(label == "yes" for label in columns["fraud"])
            typer.echo(f"{out}: {rows:,} claims; {n_known:,} are known frauds, column fraud")
            typer.echo(f"{truth}: which of all claims are frauds; no command reads it\n")
            typer.echo(f"robustpu fit {out} --label fraud --id claim --out model")
