"""The experiment on batch sizes selects by scores, and compares splits in pairs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

import dist_pu_batch


def line(prior, size, score, error):
    return {
        "table": "shuttle",
        "prior": prior,
        "batch_size": size,
        "score": [score, score],
        "error": error,
    }


def lines():
    """Of each prior two settings with the default batches and one with each of the others."""
    found = []
    for prior in (0.2, 0.4, 0.6):
        found += [line(prior, 256, 0.9, [3.0, 5.0]), line(prior, 256, 0.8, [0.0, 0.0])]
        found += [line(prior, size, 0.7, [4.0, 4.0]) for size in (16, 64, 128)]
        found += [line(prior, 512, 0.95 if prior == 0.2 else 0.6, [2.0, 4.0])]
    return found


def test_the_setting_with_the_best_score_is_selected_in_each_cell():
    assert dist_pu_batch.selected(lines(), 256).tolist() == [[3, 5]] * 3
    assert dist_pu_batch.selected(lines()).tolist() == [[2, 4], [3, 5], [3, 5]]


def test_gains_are_over_the_default_batches():
    summary = dist_pu_batch.summary(lines())
    assert summary[256] == {"error": 4, "gain": 0, "half": 0}
    assert summary[512] == {"error": 3, "gain": 1, "half": 0}
    assert summary[None]["gain"] == pytest.approx(1 / 3)
