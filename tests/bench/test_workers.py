import os
import signal
from dataclasses import replace
from multiprocessing import active_children

import pytest
import torch

from robustpu.bench.workers import train_all


@pytest.fixture
def children():
    """Processes that the test has started; other tests may have started some as well."""
    before = {child.pid for child in active_children()}
    return lambda: [child for child in active_children() if child.pid not in before]


def ignore(cell, done, total):
    """Ignore progress."""


def results(cells, machine, watch=ignore):
    """Records of cells that are trained in this process."""
    return {
        cell.name: [{**record, "seconds": None} for record in records]
        for cell, records in train_all(cells, machine, 1, watch)
    }


def endless(cell):
    return replace(cell, fixed={"epochs": 10_000_000})


# One test of both: starting processes takes seconds.
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_worker_fails_its_cell_only_and_an_interrupt_ends_all(cells, machine, children):
    doomed, others, last = endless(cells[0]), cells[1:-1], endless(cells[-1])
    announced, killed, finished = [], [], {}

    def watch(cell, done, total):
        if not total:
            announced.append(cell)
        elif cell is doomed and not killed:
            # The first process has the first cell.
            first = min(children(), key=lambda child: int(child.name.rpartition("-")[2]))
            killed.append(first.pid)
            os.kill(first.pid, signal.SIGKILL)
        elif cell is last and len(finished) == 1 + len(others):
            raise KeyboardInterrupt

    def collect():
        for cell, records in train_all([doomed, *others, last], machine, 2, watch):
            finished[cell.name] = [{**record, "seconds": None} for record in records]

    with pytest.raises(KeyboardInterrupt):
        collect()
    assert [record["failure"] for record in finished.pop(doomed.name)] == [
        "WorkerDied: the process that trained this cell ended by signal 9; out of memory?"
    ] * 2
    assert announced == [doomed, *others, last]
    assert not children()
    assert finished == results(others, machine)


def test_progress_is_reported(cells, machine):
    seen = []
    results(cells[:1], machine, lambda *event: seen.append(event))
    assert seen[0] == (cells[0], 0, 0)
    assert seen[-1] == (cells[0], 4, 4)


def test_this_process_keeps_to_one_thread_on_a_cpu(cells, machine):
    torch.set_num_threads(2)
    results(cells[:1], machine)
    assert torch.get_num_threads() == 1
