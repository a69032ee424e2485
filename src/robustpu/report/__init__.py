"""The page about the fit on a table: the results, how certain they are, and the list to act on."""

from robustpu.report.document import render

__all__ = ["render"]
