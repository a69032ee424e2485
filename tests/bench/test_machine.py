import platform
import subprocess

import torch

import robustpu
from robustpu.bench.machine import checkout, device_name
from robustpu.versions import versions


def test_versions():
    found = versions()
    assert found["robustpu"] == robustpu.__version__
    assert found["python"] == platform.python_version()
    assert found["torch"] == torch.__version__


def test_a_cpu_has_a_name():
    assert device_name("cpu") not in ("", "cpu")
    assert device_name("mps") == "mps"


def test_code_of_a_checkout_has_its_commit_and_says_if_it_was_changed(tmp_path):
    package = tmp_path / "src" / "robustpu"
    (package / "bench").mkdir(parents=True)
    file, other = package / "bench" / "machine.py", package / "other.py"
    file.write_text("")
    other.write_text("")

    def git(*words):
        words = ["git", "-c", "user.name=a", "-c", "user.email=a", *words]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    # Inside a checkout, but not of it: an installed copy.
    assert checkout.__wrapped__(str(file)) == {}
    git("add", ".")
    git("commit", "--quiet", "--message", "one")
    head = git("rev-parse", "HEAD")
    assert checkout.__wrapped__(str(file)) == {"commit": head, "clean": True}
    (tmp_path / "results.jsonl").write_text("")
    assert checkout.__wrapped__(str(file))["clean"]
    other.write_text("1")
    assert checkout.__wrapped__(str(file)) == {"commit": head, "clean": False}


def test_code_outside_of_a_checkout_has_no_commit(tmp_path):
    assert checkout.__wrapped__(str(tmp_path / "machine.py")) == {}
