import platform

import torch

import robustpu
from robustpu.bench.machine import device_name, versions


def test_versions():
    told = versions()
    assert told["robustpu"] == robustpu.__version__
    assert told["python"] == platform.python_version()
    assert told["torch"] == torch.__version__


def test_a_cpu_has_a_name():
    assert device_name("cpu") not in ("", "cpu")
    assert device_name("mps") == "mps"
