"""The command line as a user meets it: killed, its file torn, and run again."""

import json
import os
import subprocess
import sys
import time

import pytest

from robustpu.bench.store import key_of

CELLS, TRIALS = 16, 3
# Small budgets on bundled data: what they show does not matter here.
EXPERIMENT = """\
datasets = ["digits", "spambase"]
priors = [0.4]
trials = 3
selection = ["oracle", "pu"]
tune = "cell"
candidates = 4

[methods.pn]
label = "PN"
[methods.pn.fixed]
epochs = 20

[methods.upu]
label = "uPU"
[methods.upu.fixed]
epochs = 20

[methods.nnpu]
label = "nnPU"
[methods.nnpu.fixed]
epochs = 20
[methods.nnpu.search]
lr = [1e-2, 1e-3]
weight_decay = [0.0, 5e-3]

[methods.robust-pu]
label = "Robust-PU"
[methods.robust-pu.fixed]
pretrain__epochs = 20
curriculum__max_rounds = 8
[methods.robust-pu.search]
lr = { low = 1e-3, high = 1e-2, log = true }
curriculum__temperature_unlabeled = { low = 0.2, high = 3.0 }
curriculum__pacing_unlabeled__beta = [1.0, 2.0, 5.0]
epochs = [5, 10]
"""


def start(out, *options):
    path = out.parent / "small.toml"
    path.write_text(EXPERIMENT)
    command = [sys.executable, "-c", "from robustpu.cli import main; main()", "bench", "run"]
    return subprocess.Popen(
        [*command, str(path), "--out", str(out), "--device", "cpu", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def wait_for_lines(path, count, process):
    for _ in range(600):
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)
    pytest.fail("no results within a minute")


def by_key(content):
    records = [json.loads(line) for line in content.splitlines()]
    keys = [key_of(record) for record in records]
    assert len(set(keys)) == len(keys), "a trial was done twice"
    return {key: {**record, "seconds": None} for key, record in zip(keys, records, strict=True)}


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_run_loses_nothing_and_does_nothing_twice(tmp_path):
    torn, whole = tmp_path / "torn" / "small.jsonl", tmp_path / "whole" / "small.jsonl"
    killed = start(torn.parent, "--workers", "2")
    wait_for_lines(torn, 4 * TRIALS, killed)
    killed.kill()
    # Returns when the last worker has let go of the pipe: none of them outlives its parent long.
    killed.communicate(timeout=60)

    before = torn.read_bytes()
    assert before.count(b"\n") < CELLS * TRIALS, "it was killed too late to tell anything"
    last = before[:-1].rfind(b"\n") + 1
    torn.write_bytes(before[: (last + len(before)) // 2])

    # One process where there were two: results are the same.
    again, undisturbed = start(torn.parent), start(whole.parent)
    said = again.communicate()[0]
    assert again.returncode == 0, said
    assert undisturbed.wait() == 0, undisturbed.communicate()[0]
    undisturbed.communicate()

    assert torn.read_bytes()[:last] == before[:last]
    assert "finished before" in said
    resumed, expected = by_key(torn.read_bytes()), by_key(whole.read_bytes())
    assert len(expected) == CELLS * TRIALS
    assert not any("failure" in record for record in expected.values())
    assert resumed == expected
