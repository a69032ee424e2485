"""The bench on a real cluster of two processes: the records of one process, and hard to kill."""

import json
import os
import signal
import time
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

pytest.importorskip("distributed", reason="needs robustpu[dask]")

from robustpu.bench import connect, plan
from robustpu.bench.run import missing, run
from robustpu.bench.screen import PlainScreen
from robustpu.bench.train import Machine
from robustpu.bench.workers import train_all
from robustpu.cli import app

SMALL = """
title = "Small"
datasets = ["digits"]
priors = [0.2, 0.4]
trials = 2
selection = "pu"
[sizes]
n_positive = 30
n_unlabeled = 60
n_test = 40
[methods.pn.fixed]
epochs = 3
[methods.nnpu.fixed]
epochs = 3
"""
MACHINE = Machine("cpu")


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture
def address(client):
    client.wait_for_workers(2)
    return client.scheduler.address


def bench(small, out, *arguments):
    given = ["bench", "run", str(small), "--out", str(out), "--device", "cpu"]
    return CliRunner().invoke(app, [*given, *map(str, arguments)])


def records(folder):
    lines = (folder / "small.jsonl").read_text().splitlines()
    own = [{**json.loads(line), "seconds": None} for line in lines]
    return sorted(own, key=lambda one: (one["method"], one["prior"], one["trial"]))


def quiet(cells):
    return PlainScreen(len(cells), True, Console(stderr=True))


def test_records_are_those_of_one_process_and_it_goes_on_where_it_was(small, tmp_path, address):
    here, there = tmp_path / "here", tmp_path / "there"
    assert bench(small, here).exit_code == 0
    # Half of it first.
    answer = bench(small, there, "--cluster", address, "--only", "*/pn/*")
    assert answer.exit_code == 0, answer.output
    assert "2 cells finished, 0 failed" in answer.output
    half = (there / "small.jsonl").read_bytes()
    # The rest on a cluster of one process that is started for it.
    answer = bench(small, there, "--cluster", "local:1")
    assert "2 cells finished, 0 failed, 2 were there already" in answer.output
    assert (there / "small.jsonl").read_bytes().startswith(half)
    assert records(there) == records(here)
    # With nothing to do, nobody is asked.
    assert bench(small, there, "--cluster", "tcp://127.0.0.1:1").exit_code == 0


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_worker_loses_nothing(small, tmp_path, client, address):
    cells = [replace(cell, fixed={"epochs": 400}) for cell in plan.load(small)[:2]]
    begun, killed = [], []

    class Killing(PlainScreen):
        def watch(self, cell, done, total):
            begun.extend([] if total else [cell])
            if total and not killed:
                # Both are busy: each has one of two cells.
                address, pid = next(iter(client.run(os.getpid).items()))
                killed.append(address)
                os.kill(pid, signal.SIGKILL)

    with connect.crew_at(address, MACHINE, ["digits"], print) as crew:
        assert len(crew) == 2
        outcome = run(cells, tmp_path / "there", MACHINE, crew, lambda own: Killing(2, True, None))
    assert outcome == (2, 0, 0)
    assert not {*killed} & {*client.nthreads()}
    assert len(begun) == 3
    assert missing(cells, tmp_path / "there") == {}
    run(cells, tmp_path / "here", MACHINE, 1, quiet)
    assert records(tmp_path / "there") == records(tmp_path / "here")


def test_what_is_broken_off_leaves_the_workers_free(small, client, address):
    endless = [replace(cell, fixed={"epochs": 10_000_000}) for cell in plan.load(small)]

    def stop(cell, done, total):
        if total:
            raise KeyboardInterrupt

    with connect.crew_at(address, MACHINE, ["digits"], print) as crew:
        with pytest.raises(KeyboardInterrupt):
            list(train_all(endless, MACHINE, crew, stop))
        deadline = time.monotonic() + 15
        while client.call_stack() and time.monotonic() < deadline:
            time.sleep(0.2)
    assert not client.call_stack()
    assert not any(client.processing().values())


def test_a_data_set_that_a_worker_lacks_is_told_with_its_name(small, tmp_path, client, address):
    small.write_text(SMALL.replace('["digits"]', '["mushrooms"]'))
    nowhere = tmp_path / "nowhere"
    answer = bench(small, tmp_path / "out", "--cluster", address, "--data-dir", nowhere)
    assert answer.exit_code == 1
    for worker in client.nthreads():
        assert f"worker {worker}: not in {nowhere}: mushrooms. Get them by" in answer.output
    assert not (tmp_path / "out").exists()


def test_nobody_at_the_address(small, tmp_path, monkeypatch):
    monkeypatch.setattr(connect, "PATIENCE", 0.5)
    answer = bench(small, tmp_path / "out", "--cluster", "tcp://127.0.0.1:1")
    assert answer.exit_code == 1
    assert answer.output.startswith("Error: no Dask scheduler answers at tcp://127.0.0.1:1 within")
    assert answer.output.count("\n") == 1
    assert not (tmp_path / "out").exists()
