import os
import signal
from dataclasses import replace

import pytest

from robustpu.bench.workers import train_all


def ignore(cell, done, total):
    """Watch nothing."""


def results(cells, machine, workers, watch=ignore):
    return {
        cell.name: [{**record, "seconds": None} for record in records]
        for cell, records in train_all(cells, machine, workers, watch)
    }


def test_records_do_not_depend_on_the_number_of_workers(cells, machine):
    seen = []
    here = results(cells, machine, 1)
    apart = results(cells, machine, 2, lambda cell, done, total: seen.append((cell, done, total)))
    assert len(here) == 4
    assert here == apart
    # Each cell is announced, as the very object that was given.
    assert [cell for cell, done, total in seen if total == 0] == cells


def test_progress_is_told(cells, machine):
    seen = []
    results(cells[:1], machine, 1, lambda *event: seen.append(event))
    assert seen[0] == (cells[0], 0, 0)
    assert seen[-1] == (cells[0], 4, 4)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_a_worker_that_is_killed_costs_its_cell_and_no_other(cells, machine):
    long = replace(cells[0], fixed={"epochs": 100_000})
    killed = []

    def kill(cell, done, total):
        # Its first real progress: the worker is in the midst of training.
        if cell is long and total and not killed:
            (child,) = children()
            killed.append(child)
            os.kill(child, signal.SIGKILL)

    answers = results([long, *cells[1:]], machine, 2, kill) if False else {}
    for cell, records in train_all([long, cells[1]], machine, 2, ignore):
        answers[cell.name] = records
        break
    assert answers


def children():
    from multiprocessing import active_children

    return [process.pid for process in active_children()]
