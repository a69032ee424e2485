import math
import re

import pytest
from made import families, record, table3, temperature, trials

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.notes import notes
from robustpu.bench.report.summary import at_or_below, seconds, sentences
from robustpu.bench.report.tables import tables
from robustpu.bench.report.wording import number, selection, stems


def said(records):
    return " ".join(sentences(tables(records)[0]))


def test_the_counts_are_said():
    text = said(table3())
    # nnPU at 0.4 is 10.45 on mnist (paper 7.74) and 15.45 on cifar10 (12.60), and so on.
    assert "At or below the paper: nnPU in 0 of 4, Robust-PU in 0 of 4; together in 0 of 8" in text
    assert "significantly ahead of its best rival in 4 of 4" in text
    assert "10 trials per cell, selected by labelled validation (oracle)" in text
    assert "; 24 candidate settings per method, one setting for all trials" in text
    assert "80 trials took 40 s (sum over processes) on NVIDIA H200 (robustpu 0.1.0, " in text


def test_cells_at_or_below_the_paper_are_counted():
    records = trials([7.0] * 2) + trials([12.63] * 2, dataset="cifar10")
    records += trials([99.0] * 2, dataset="shuttle") + trials([1.0] * 2, dataset="digits")
    records += [record(dataset="spambase", failure="no")]
    (table,) = tables(records)
    assert at_or_below(table.cells.values()) == (2, 3)
    assert "nnPU in 2 of 3 cells." in said(records)


def test_the_candidates_are_said_from_the_least_to_the_most():
    records = trials([1.0], candidates=1) + trials([1.0], dataset="cifar10", candidates=40)
    assert "1 to 40 candidate settings per method" in said(records)


def test_ensembles_are_counted_apart_from_single_networks():
    five = [{**row, "averaged": [0, 1, 2, 3, 4]} for row in families() if "5" in row["method"]]
    others = [row for row in families() if "5" not in row["method"]]
    text = said(five + others)
    assert "At or below the paper: nnPU in 1 of 1, Robust-PU in 0 of 1; together in 1 of 2" in text
    assert "(ensembles against the paper's single networks): Five best in 0 of 1 cells." in text


def test_only_tests_on_cells_that_all_methods_have_are_counted():
    records = table3() + trials([9.0] * 10, method="pn", label="PN", dataset="mnist")
    assert "significantly ahead of its best rival in 1 of 1 comparisons" in said(records)


def test_nothing_is_said_of_a_paper_that_has_no_such_table():
    text = said(temperature())
    assert "paper" not in text
    assert "With fewer than 6 trials no paired test can be significant." in text


def test_untuned_and_tuned_by_trial():
    assert "nothing was tuned" in said(trials([1.0], candidates=1))
    assert "one setting for each trial" in said(trials([1.0], tune="trial"))


def test_all_hardware_and_versions_are_named():
    records = trials([1.0] * 2)
    records[1] |= {"device": "Intel Xeon", "versions": {"torch": "2.13.0"}, "seconds": None}
    text = said(records)
    assert "on NVIDIA H200 and Intel Xeon (robustpu 0.1.0, torch 2.11.0 and 2.13.0)" in text
    assert seconds(tables(records)[0]) == 0.5


def test_commits_are_named_and_changed_code_is_counted():
    records = trials([1.0] * 4)
    for record_, commit in zip(records, ("a" * 40, "a" * 40, "b" * 40), strict=False):
        record_ |= {"commit": commit, "clean": commit.startswith("a")}
    text = said(records)
    assert "commit aaaaaaa and bbbbbbb, 1 trial with uncommitted changes, 1 trial without a" in text
    assert "commit" not in said(trials([1.0]))


def test_a_report_says_that_splits_share_one_pool():
    assert "drawn from one pool of rows and overlap" in said(table3())


def test_hardware_may_be_unknown():
    assert "on unknown hardware." in said(trials([1.0], device=None, versions=None))


def test_cells_with_the_same_flaw_share_a_note():
    records = trials([1.0] * 4, method="a", label="A") + trials([1.0] * 4, method="b", label="B")
    records += trials([1.0] * 5, method="c", label="C")
    assert notes(tables(records)[0]) == ["† mnist, π = 0.2, A, B: 4 of 5 trials."]
    assert notes(tables(table3())[0]) == []


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "selected by labelled validation (oracle)"),
        ({"selection": "pu"}, "selected without negatives (PU-only)"),
        ({"selection": "luck"}, "selected by luck"),
        (
            {"validation": "overlapping"},
            "selected by labelled validation (oracle); validation rows overlap with training rows",
        ),
    ],
)
def test_selection_is_named(changes, words):
    assert selection(tables(trials([1.0], **changes))[0]) == words


def test_numbers():
    assert number(MeanSD(math.nan, math.nan)) == "–"
    assert number(MeanSD(3.005, math.nan)) == "3.00"
    assert number(MeanSD(10.0, 0.456)) == "10.00 ± 0.46"


def test_stems_are_different_and_fit_for_files():
    records = trials([1.0], experiment="../a b") + trials(
        [1.0], dataset="x", validation="overlapping"
    )
    records += trials([1.0], dataset="y")
    names = stems(tables(records))
    assert len(set(names)) == 3
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in names)


def test_a_training_that_methods_share_is_counted_once():
    first = trials([1.0] * 3, method="a", training="t", seconds=2.0)
    twin = trials([1.0] * 3, method="b", training="t", seconds=2.0)
    other = trials([1.0] * 3, method="c", training="u", seconds=1.0)
    (table,) = tables(first + twin + other)
    assert seconds(table) == 9.0


def test_what_is_short_or_departs_from_the_paper_is_said_once_a_data_set():
    small = {"n_positive": 1, "n_unlabeled": 1, "n_validation": 1, "n_test": 1}
    records = trials([1.0] * 10)
    records += trials([1.0] * 3, dataset="cifar10", sizes=small)
    records += trials([2.0] * 3, dataset="cifar10", sizes=small, method="robust-pu")
    (table,) = tables(records)
    assert notes(table) == [
        "cifar10: 3 trials, where others have 10; other numbers of rows than in the paper.",
        "1 of 4 cells were not run (–); bold compares the others.",
    ]


def test_a_failed_cell_was_run():
    records = [*trials([1.0]), record(method="pn", failure="no")]
    assert not [note for note in notes(tables(records)[0]) if "not run" in note]


def test_data_sets_that_the_paper_does_not_have_are_named():
    records = [row for name in ("mnist", "digits", "iris") for row in trials([1.0], dataset=name)]
    assert notes(tables(records)[0]) == ["The paper has no errors for digits and iris here."]
    assert notes(tables([{**row, "table": None} for row in records])[0]) == []
