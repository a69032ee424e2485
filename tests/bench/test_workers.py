import os
import signal
from dataclasses import replace
from multiprocessing import active_children

import pytest
import torch

from robustpu.bench.workers import train_all


@pytest.fixture
def children():
    """Processes that the test has started; a cluster of other tests may be there as well."""
    before = {child.pid for child in active_children()}
    return lambda: [child for child in active_children() if child.pid not in before]


def ignore(cell, done, total):
    """Watch nothing."""


def results(cells, machine, workers, watch=ignore):
    return {
        cell.name: [{**record, "seconds": None} for record in records]
        for cell, records in train_all(cells, machine, workers, watch)
    }


def endless(cell):
    return replace(cell, fixed={"epochs": 10_000_000})


# Both in one test: to start processes takes seconds.
@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_killed_worker_costs_its_cell_alone(cells, machine, children):
    doomed, others = endless(cells[0]), cells[1:]
    announced, killed = [], []

    def kill(cell, done, total):
        if not total:
            announced.append(cell)
        elif cell is doomed and not killed:
            # The first that was started has the first cell.
            first = min(children(), key=lambda child: int(child.name.rpartition("-")[2]))
            killed.append(first.pid)
            os.kill(first.pid, signal.SIGKILL)

    answers = results([doomed, *others], machine, 2, kill)
    assert [own["failure"] for own in answers.pop(doomed.name)] == [
        "WorkerDied: the process that trained this cell ended by signal 9; out of memory?"
    ] * 2
    assert announced == [doomed, *others]
    assert not children()
    assert answers == results(others, machine, 1)


def test_workers_end_with_the_one_who_asked(cells, machine, children):
    def stop(cell, done, total):
        if total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        results([endless(cell) for cell in cells], machine, 2, stop)
    assert not children()


def test_progress_is_told(cells, machine):
    seen = []
    results(cells[:1], machine, 1, lambda *event: seen.append(event))
    assert seen[0] == (cells[0], 0, 0)
    assert seen[-1] == (cells[0], 4, 4)


def test_this_process_keeps_to_one_thread_on_a_cpu(cells, machine):
    torch.set_num_threads(2)
    results(cells[:1], machine, 1)
    assert torch.get_num_threads() == 1
