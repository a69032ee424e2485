"""Notes below a table: incomplete cells, remarks, gaps."""

from robustpu.bench.report.tables import Table
from robustpu.charts.wording import listed


def notes(table: Table) -> list[str]:
    """List what a reader should know of single cells.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    notes
        First, marked by a dagger, cells that are not compared: one note per data set, prior and
        reason. Then remarks on data sets, then what the paper lacks and what was not run.
    """
    flaws: dict[tuple[str, float, str], list[str]] = {}
    remarks: dict[str, None] = {}
    for (dataset, prior, method), cell in table.cells.items():
        if cell.flaw:
            flaws.setdefault((dataset, prior, cell.flaw), []).append(table.label(method))
        if cell.remark:
            remarks[f"{dataset}: {cell.remark}."] = None
    marked = [
        f"† {dataset}, π = {prior:g}, {', '.join(labels)}: {flaw}."
        for (dataset, prior, flaw), labels in flaws.items()
    ]
    return [*marked, *remarks, *_not_in_paper(table), *_gaps(table)]


def _not_in_paper(table: Table) -> list[str]:
    """Name the data sets that the paper's table does not have."""
    if table.reference is None:
        return []
    known = table.reference.datasets()
    missing = [dataset for dataset in table.datasets if dataset.replace("_", "-") not in known]
    return [f"The paper has no errors for {listed(missing)} here."] if missing else []


def _gaps(table: Table) -> list[str]:
    """Say how much was not run."""
    gaps = sum(not cell.was_run for cell in table.cells.values())
    if not gaps:
        return []
    return [f"{gaps} of {len(table.cells)} cells were not run (–); bold compares the others."]
