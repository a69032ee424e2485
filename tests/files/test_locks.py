"""One process at a time."""

import errno
import subprocess
import sys

import pytest

from robustpu.files import locks
from robustpu.files.locks import locked

HOLD = """
import sys, time
from pathlib import Path
from robustpu.files.locks import locked
with locked(Path(sys.argv[1]), lambda: None):
    print("held", flush=True)
    sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock until it is told or killed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize("end", ["tell", "kill"])
def test_the_second_waits_for_the_first(end, holder, tmp_path):
    waited = []

    def on_wait():
        waited.append(holder.poll())
        if end == "kill":
            holder.kill()
        else:
            holder.stdin.write("\n")
            holder.stdin.flush()

    with locked(tmp_path / "lock", on_wait):
        assert waited == [None]
        holder.wait(10)


def test_nobody_waits_for_a_lock_that_was_given_back(tmp_path):
    for _ in range(2):
        with locked(tmp_path / "lock", lambda: pytest.fail("waited")):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="flock is not of Windows")
def test_a_file_system_without_locks_is_lived_with(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with locked(tmp_path / "lock", lambda: pytest.fail("waited")):
        pass
