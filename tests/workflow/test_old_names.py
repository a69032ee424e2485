"""Names of before: they warn once, and still work."""

import importlib
import sys
import warnings

import pytest

import robustpu
from robustpu import workflow


@pytest.fixture
def _forgotten(monkeypatch):
    """As if the old name had not been used yet."""
    monkeypatch.delitem(vars(robustpu), "study", raising=False)
    monkeypatch.delitem(sys.modules, "robustpu.study", raising=False)
    yield
    vars(robustpu).pop("study", None)
    sys.modules.pop("robustpu.study", None)


@pytest.mark.usefixtures("_forgotten")
@pytest.mark.parametrize(
    "use", [lambda: robustpu.study, lambda: importlib.import_module("robustpu.study")]
)
def test_the_old_name_of_the_workflow_warns_once(use):
    with pytest.warns(FutureWarning, match="robustpu.study is now robustpu.workflow"):
        assert use() is workflow
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert use() is workflow
        assert robustpu.study.fit_table is workflow.fit_table


def test_a_name_that_never_was_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'studies'"):
        _ = robustpu.studies
