import json
import os
from pathlib import Path

import pytest

from robustpu.bench.paper import MeanSD, references

SHARED = Path(os.environ.get("ROBUSTPU_SHARED", Path(__file__).parents[3] / "shared"))
GIVEN = SHARED / "paper" / "tables.json"


def test_every_table_is_there():
    sizes = {
        name: sum(len(row) for method in table.errors.values() for row in method.values())
        for name, table in references().items()
    }
    assert sizes == {"main": 189, "alzheimer": 21, "weighting": 45, "pacing": 75, "hardness": 30}


@pytest.mark.parametrize(
    ("table", "method", "prior", "dataset", "figure"),
    [
        ("main", "robust-pu", 0.2, "cifar10", (7.58, 0.4)),
        ("main", "pn", 0.6, "spambase", (34.33, 2.6)),
        ("main", "nnpu", 0.4, "fashion_mnist", (5.03, 0.2)),
        ("alzheimer", "dist-pu", 0.4, "alzheimer", (31.97, 1.5)),
        ("weighting", "hard", 0.2, "mnist", (5.324, 0.7)),
        ("pacing", "convex", 0.6, "shuttle", (1.81, 0.7)),
        ("hardness", "sigmoid", 0.4, "spambase", (9.98, 1.5)),
    ],
)
def test_figures_are_the_papers(table, method, prior, dataset, figure):
    assert references()[table].find(method, prior, dataset) == MeanSD(*figure)


@pytest.mark.parametrize(
    "place", [("nonsense", 0.2, "mnist"), ("pn", 0.3, "mnist"), ("pn", 0.2, "digits")]
)
def test_what_the_paper_has_not_is_none(place):
    assert references()["main"].find(*place) is None


def test_deviations_are_in_points():
    everything = [
        figure
        for table in references().values()
        for method in table.errors.values()
        for row in method.values()
        for figure in row.values()
    ]
    assert all(0.1 < figure.mean < 40 for figure in everything)
    assert all(0.1 < figure.sd + 0.01 < 6 for figure in everything)


def test_a_table_says_where_it_is_printed():
    for number, table in enumerate(references().values(), start=3):
        assert table.source.startswith(f"Table {number} of Zhu et al.")
        assert "KDD 2023" in table.source
    assert references()["alzheimer"].trials == 5
    assert references()["main"].trials == 10


@pytest.mark.skipif(not GIVEN.exists(), reason="the transcription of the paper is not here")
def test_figures_are_those_of_the_transcription():
    given = json.loads(GIVEN.read_text())
    found = references()
    for method, by_prior in given["main"].items():
        for prior, row in by_prior.items():
            for dataset, figure in row.items():
                assert found["main"].find(method, float(prior), dataset) == tuple(figure)
    for method, by_prior in given["alzheimer"].items():
        for prior, figure in by_prior.items():
            assert found["alzheimer"].find(method, float(prior), "alzheimer") == tuple(figure)
    for table in ("weighting", "pacing", "hardness"):
        for dataset, by_method in given[table].items():
            for method, by_prior in by_method.items():
                for prior, figure in by_prior.items():
                    assert found[table].find(method, float(prior), dataset) == tuple(figure)
