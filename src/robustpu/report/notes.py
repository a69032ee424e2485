"""What is to be known of the cells of a table: flaws, remarks, gaps."""

from robustpu.report.tables import Table
from robustpu.report.wording import listed


def notes(table: Table) -> list[str]:
    """Name every cell that is not what it seems.

    Parameters
    ----------
    table
        The table.

    Returns
    -------
    notes
        Behind a dagger, the cells that take part in no comparison, one note a data set, prior and
        flaw; then what else is to be known, one a data set; then what is missing.
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
    return [*marked, *remarks, *_without_figures(table), *_gaps(table)]


def _without_figures(table: Table) -> list[str]:
    """Name the data sets that the paper's table does not have."""
    if table.reference is None:
        return []
    known = table.reference.datasets()
    missing = [dataset for dataset in table.datasets if dataset.replace("_", "-") not in known]
    return [f"The paper has no figures for {listed(missing)} here."] if missing else []


def _gaps(table: Table) -> list[str]:
    """Say how much was not run, and what that means for the best."""
    gaps = sum(not cell.was_run for cell in table.cells.values())
    if not gaps:
        return []
    return [
        f"{gaps} of {len(table.cells)} cells were not run (–): bold compares only what was run."
    ]
