"""The settings of pictures.toml are those that the stored search found best."""

import sys
from pathlib import Path

import pytest

from robustpu.bench.plan import load

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))

import picture_search
from figure import HERE
from fits import stored

CELLS = {
    (cell.dataset, cell.method): cell.settings(cell.candidates[0])
    for cell in load(HERE / "pictures.toml")
}


@pytest.mark.parametrize(("dataset", "method"), CELLS)
def test_they_are_the_best_of_the_search(dataset, method):
    lines = stored(picture_search.STORED)
    rows = picture_search.summary(lines, dataset, method)
    assert len(rows) == len(picture_search.SETTINGS[method])
    assert rows[0]["score"] == max(row["score"] for row in rows)
    best = {**picture_search.start_of(lines, dataset, method), **rows[0]["settings"]}
    # The rate of nnPU is its default, which Robust-PU's pre-training has too.
    best.pop("pretrain__lr", None)
    assert best.items() <= CELLS[dataset, method].items()


def test_robust_pu_started_from_the_best_nnpu():
    for line in stored(picture_search.STORED):
        if line["method"] == "robust-pu":
            start = picture_search.start_of(
                stored(picture_search.STORED), line["dataset"], "robust-pu"
            )
            assert start.items() <= line["settings"].items()
