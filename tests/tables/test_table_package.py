"""The package as a whole: what it offers, and what it says where pyarrow is missing."""

import subprocess
import sys

import pytest

import robustpu.tables


def test_names() -> None:
    for name in robustpu.tables.__all__:
        assert getattr(robustpu.tables, name).__name__ == name
    assert dir(robustpu.tables) == robustpu.tables.__all__
    with pytest.raises(AttributeError, match="no attribute 'read_tables'"):
        _ = robustpu.tables.read_tables


def test_import_is_quick_and_needs_nothing() -> None:
    code = """
import sys
sys.modules["pyarrow"] = None
import robustpu.tables
assert "sklearn" not in sys.modules and "numpy" not in sys.modules
from robustpu.tables import TableError
try:
    from robustpu.tables import read_table
except ModuleNotFoundError as error:
    print(error)
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'robustpu[tables]'" in out.stdout
