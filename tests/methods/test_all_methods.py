import re
import subprocess
import sys
from pathlib import Path

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
