"""From a file to a matrix of numbers and labels, and the same again at prediction.

Names are imported when they are first used; they need the extra ``tables``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustpu.tables.columns import Column as Column
    from robustpu.tables.errors import TableError as TableError
    from robustpu.tables.errors import TableWarning as TableWarning
    from robustpu.tables.reading import iter_table as iter_table
    from robustpu.tables.reading import read_table as read_table
    from robustpu.tables.roles import Parts as Parts
    from robustpu.tables.roles import Roles as Roles
    from robustpu.tables.roles import take_roles as take_roles
    from robustpu.tables.table import Table as Table
    from robustpu.tables.tally import Tally as Tally
    from robustpu.tables.vectorizer import Vectorizer as Vectorizer

_HOME = {
    "Column": "columns",
    "Parts": "roles",
    "Roles": "roles",
    "Table": "table",
    "TableError": "errors",
    "TableWarning": "errors",
    "Tally": "tally",
    "Vectorizer": "vectorizer",
    "iter_table": "reading",
    "read_table": "reading",
    "take_roles": "roles",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu.tables' has no attribute {name!r}")
    try:
        return getattr(import_module(f"robustpu.tables.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise ModuleNotFoundError(
            "tables are read with pyarrow, which is not installed: pip install 'robustpu[tables]'",
            name="pyarrow",
        ) from error


def __dir__() -> list[str]:
    return __all__
