"""What benchmarks share: a measurement in a process of its own, and how it is stored."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def apart(file: str, *words: object, threads: int | None = None) -> dict[str, Any]:
    """What a script, started with these words, prints as JSON."""
    command = [sys.executable, "-W", "ignore", file, *map(str, words)]
    more = {} if threads is None else {"OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | more
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def store(file: str, found: list[dict[str, Any]], device: str = "cpu", **about: object) -> None:
    """Write results next to a script, with the device and the state of the code.

    What an entry has already stays: it was measured earlier.
    """
    # Not above: what it imports would count as memory.
    from robustpu.bench.machine import checkout, device_name

    about |= {"device": device_name(device), **checkout()}
    text = json.dumps([{**about, **entry} for entry in found], indent=1)
    Path(file).with_suffix(".json").write_text(text + "\n")
