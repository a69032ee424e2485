"""The three recipes of docs/design.md work as printed."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from robustpu import fit_together

DESIGN = (Path(__file__).parent.parent / "docs" / "design.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def names() -> dict[str, object]:
    blocks = re.findall(r"```python\n(.*?)```", DESIGN, flags=re.DOTALL)
    assert len(blocks) == 3
    found: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "design.md", "exec"), found)
    return found


def test_a_hardness(names):
    model, pu = clone(names["model"]), names["pu"]
    model.set_params(prior=0.3).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    assert model.hardness_.min() == 0


def test_a_method(names):
    estimator, pu = names["tempered"], names["pu"]
    alone = clone(estimator).fit(pu.X, pu.y)
    assert alone.score(pu.X_test, pu.y_test) > 0.85
    others = [clone(estimator).set_params(temperature=value) for value in (2.0, 5.0)]
    first, second = fit_together((other, pu.X, pu.y) for other in others)
    np.testing.assert_allclose(first.probability_, alone.probability_, atol=1e-6)
    assert not np.allclose(second.probability_, alone.probability_, atol=1e-3)
    with pytest.raises(ValueError, match="temperature must be a number above 0"):
        clone(estimator).set_params(temperature=0).fit(pu.X, pu.y)


def test_a_data_set(names):
    pu = names["pu"]
    assert pu.X.shape == (380, 2)
    assert pu.y.sum() == 80
