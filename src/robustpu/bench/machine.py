"""Versions and device that results were computed with."""

import platform
from functools import cache
from pathlib import Path

import torch


@cache
def device_name(device: str) -> str:
    """Name the model of a device.

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
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
