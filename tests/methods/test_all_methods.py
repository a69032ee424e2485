import subprocess
import sys

import robustpu
from robustpu.base import BasePUClassifier


def test_every_method_has_a_name():
    methods = robustpu.all_methods()
    assert list(methods) == ["pn", "upu", "nnpu", "robust-pu"]
    assert methods["robust-pu"] is robustpu.RobustPUClassifier
    assert all(issubclass(kind, BasePUClassifier) for kind in methods.values())


def test_to_name_them_is_not_to_import_them():
    check = "import sys, robustpu.methods; print('torch' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert answer.stdout == "False\n"
