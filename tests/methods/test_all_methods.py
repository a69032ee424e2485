import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robustpu
from robustpu.base.classifier import BasePUClassifier
from robustpu.methods import METHODS

CONTENTS = Path(__file__).parents[2] / "CONTENTS.md"


NAMES = (
    "auto pn upu nnpu pusb pubn pulns p3mix-e p3mix-c dist-pu self-pu spy pebl genpu vpu tedn "
    "lbe elkan-noto bagging puet pretrained robust-pu robust-pu-meta"
)


def test_every_method_has_a_name():
    methods = robustpu.all_methods()
    assert list(methods) == NAMES.split()
    assert methods["auto"] is robustpu.PUClassifier
    assert methods["robust-pu"] is robustpu.RobustPUClassifier
    assert all(issubclass(kind, BasePUClassifier) for kind in methods.values())


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("bagging", {}),
        ("nnpu", {"epochs": 3}),
        ("pretrained", {"n_members": 1}),
    ],
)
def test_new_rows_are_scored_as_in_the_fit_where_rows_were_checked(name, changes):
    """Single-set: a fit goes by the share among the unlabelled rows that were not checked."""
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.4
    X = rng.normal(size=(300, 4)) + 1.2 * truth[:, None]
    y = np.where(truth & (np.arange(300) % 3 == 0), 1, 0)
    checked = (y == 0) & (X.sum(1) > np.quantile(X.sum(1), 0.8))
    y[checked] = np.where(truth[checked], 1, -1)
    # Rows with zero weight are scored by the fit like new ones.
    weight = np.where((y == 0) & (np.arange(300) % 7 == 0), 0.0, 1.0)
    given = {"scenario": "single-set", "neg_label": -1, "prior": 0.3, "random_state": 0}
    model = robustpu.all_methods()[name](**given, **changes)
    model.fit(X, y, sample_weight=weight, checked=checked)
    assert model.trained_priors_[0] < model.prior_ == 0.3
    new = weight == 0
    np.testing.assert_allclose(model.predict_proba(X[new])[:, 1], model.probability_[new])


def test_to_name_them_is_not_to_import_them():
    check = "import sys, robustpu.methods; print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert answer.stdout == "False\n"


@pytest.mark.skipif(not CONTENTS.exists(), reason="not a checkout")
def test_contents_lists_them_all_with_their_pages():
    lines = CONTENTS.read_text().splitlines()
    for name, method in METHODS.items():
        (line,) = [line for line in lines if line.startswith(f"| `{name}`: `{method.kind}` |")]
        assert f"`methods/{method.file}.py`" in line
        assert method.paper in line
        for page in re.findall(r"\]\((.*?)\)", line):
            assert (CONTENTS.parent / page).exists()
