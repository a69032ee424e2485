"""From a table to a fitted model, its results, scores of new tables, and a list to act on.

Names are imported when they are first used; they need the extra ``tables``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustpu.workflow.comparison import compare_table as compare_table
    from robustpu.workflow.fitting import fit_table as fit_table
    from robustpu.workflow.folder import open_study as open_study
    from robustpu.workflow.ranking import rank_table as rank_table
    from robustpu.workflow.scoring import score_parts as score_parts
    from robustpu.workflow.study import Study as Study

_HOME = {
    "Study": "study",
    "compare_table": "comparison",
    "fit_table": "fitting",
    "open_study": "folder",
    "rank_table": "ranking",
    "score_parts": "scoring",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu.workflow' has no attribute {name!r}")
    return getattr(import_module(f"robustpu.workflow.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return __all__
