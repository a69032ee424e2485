"""Device and state of the code that results were computed with."""

import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

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


@cache
def checkout(file: str = __file__) -> dict[str, Any]:
    """Commit of the code, and whether the package was as committed.

    Parameters
    ----------
    file
        A file of this folder of the package.

    Returns
    -------
    state
        ``commit`` and ``clean``; empty where the package does not lie in a git checkout of its own.
    """
    folder = Path(file).parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(folder), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        # An installed copy may lie inside the checkout of something else.
        git("ls-files", "--error-unmatch", Path(file).name)
        changes = git("status", "--porcelain", "--", str(folder.parent))
        return {"commit": git("rev-parse", "HEAD"), "clean": not changes}
    except (OSError, subprocess.CalledProcessError):
        return {}
