import platform

import torch

import robustpu
from robustpu.bench.machine import device_name
from robustpu.versions import versions


def test_versions():
    found = versions()
    assert found["robustpu"] == robustpu.__version__
    assert found["python"] == platform.python_version()
    assert found["torch"] == torch.__version__


def test_a_cpu_has_a_name():
    assert device_name("cpu") not in ("", "cpu")
    assert device_name("mps") == "mps"
