"""What the results were computed on."""

import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import torch

import robustpu


@cache
def versions() -> dict[str, str]:
    """Give the versions that results can depend on.

    Examples
    --------
    >>> list(versions())
    ['robustpu', 'python', 'torch', 'numpy', 'scikit-learn']
    """
    return {
        "robustpu": robustpu.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "numpy", "scikit-learn")},
    }


@cache
def device_name(device: str) -> str:
    """Name the model of a device, for people.

    Parameters
    ----------
    device
        As torch names it: ``"cpu"``, ``"cuda:0"``.
    """
    if device.startswith("cuda"):
        return torch.cuda.get_device_name(device)
    if device != "cpu":
        return device
    # The standard library knows the model on some systems only.
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
