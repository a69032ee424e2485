import json
import random
from dataclasses import replace

import numpy as np
import pytest
from made import families, record, table3, trials
from scipy.stats import wilcoxon

from robustpu.bench.paper import MeanSD
from robustpu.bench.report.tables import tables

NNPU = {"method": "nnpu", "label": "nnPU"}
ROBUST = {"method": "robust-pu", "label": "Robust-PU"}


def only(records):
    (table,) = tables(records)
    return table


def cells(records, dataset="mnist", prior=0.2):
    table = only(records)
    return {row.key: table.cells[dataset, prior, row.key] for row in table.methods}


def test_mean_and_deviation():
    errors = [3.1, 2.9, 3.6, 3.3]
    cell = cells(trials(errors))["nnpu"]
    assert cell.mean == pytest.approx(np.mean(errors))
    assert cell.ours.sd == pytest.approx(np.std(errors, ddof=1))
    assert cell.errors == dict(enumerate(errors))
    assert cell.paper == MeanSD(7.38, 0.9)


def test_one_trial_has_no_deviation():
    cell = cells([record(error=3.0)])["nnpu"]
    assert cell.mean == 3.0
    assert np.isnan(cell.ours.sd)


def test_one_table_an_experiment_and_selection():
    found = tables(table3() + trials([1.0], experiment="other", title="Other", table=None))
    assert [(t.experiment, t.selection) for t in found] == [
        ("table3", "oracle"),
        ("table3", "pu"),
        ("other", "oracle"),
    ]
    assert found[0].reference is not None
    assert found[2].reference is None


@pytest.mark.parametrize("change", [{"validation": "overlapping"}, {"tune": "trial"}])
def test_other_validation_or_tuning_is_another_table(change):
    assert len(tables(trials([1.0]) + trials([2.0], dataset="cifar10", **change))) == 2


def test_order_is_that_of_the_file_and_priors_ascend():
    table = only(
        trials([1.0], dataset="b", prior=0.6, method="z")
        + trials([1.0], dataset="a", prior=0.2, method="y")
        + trials([1.0], dataset="b", prior=0.4, method="x", label=None)
    )
    assert table.datasets == ("b", "a")
    assert table.priors == (0.2, 0.4, 0.6)
    assert [row.key for row in table.methods] == ["z", "y", "x"]
    assert [row.label for row in table.methods] == ["nnPU", "nnPU", "x"]


def test_what_the_paper_has_stands_in_its_order_before_the_rest():
    rows = [("spambase", "mine-too"), ("mnist", "robust-pu"), ("digits", "pn"), ("cifar10", "mine")]
    table = only(
        [
            row
            for dataset, method in rows
            for row in trials(
                [1.0], dataset=dataset, method=method, paper={"mine": "nnpu"}.get(method)
            )
        ]
    )
    assert table.datasets == ("cifar10", "mnist", "spambase", "digits")
    assert [row.key for row in table.methods] == ["pn", "mine", "robust-pu", "mine-too"]


def test_methods_with_an_x_ascend():
    table = only(trials([1.0], method="ten", x=10) + trials([1.0], method="two", x=2.0))
    assert [row.key for row in table.methods] == ["two", "ten"]


def test_tables_of_the_paper_come_first_and_oracles_before_the_others():
    kinds = [
        {"experiment": "sweep", "table": None},
        {"experiment": "pacing", "table": "pacing"},
        {"experiment": "default", "table": "main"},
        {"experiment": "main", "table": "main", "selection": "pu"},
        {"experiment": "main", "table": "main", "selection": "oracle"},
    ]
    found = tables([record for kind in kinds for record in trials([1.0], **kind)])
    assert [(table.experiment, table.selection) for table in found[:2]] == [
        ("main", "oracle"),
        ("main", "pu"),
    ]
    assert [table.experiment for table in found[2:]] == ["default", "pacing", "sweep"]


def test_a_cell_that_was_not_run_is_a_gap():
    table = only(table3()[:20] + trials([1.0] * 10, dataset="cifar10", **NNPU))
    cell = table.cells["cifar10", 0.2, "robust-pu"]
    assert np.isnan(cell.mean)
    assert (cell.complete, cell.flaw, cell.at_or_below) == (False, "", None)
    assert cell.paper == MeanSD(7.58, 0.4)


def test_a_cell_that_was_not_run_has_the_figure_of_the_papers_name_for_the_method():
    table = only(
        trials([1.0], method="p3mix-c", paper="p3mix")
        + trials([1.0], dataset="cifar10", **NNPU)
        + trials([1.0], dataset="cifar10", method="p3mix-c", paper="p3mix", prior=0.4)
    )
    assert not table.cells["cifar10", 0.2, "p3mix-c"].was_run
    assert table.cells["cifar10", 0.2, "p3mix-c"].paper == MeanSD(7.99, 0.9)


def test_a_table_of_methods_that_the_paper_does_not_have_has_no_reference():
    assert only(trials([1.0], method="mine-too")).reference is None
    assert only(trials([1.0], method="mine-too") + trials([1.0], **NNPU)).reference is not None


def test_the_best_is_the_lowest_mean():
    found = cells(trials([3.0, 3.2], **NNPU) + trials([2.9, 3.1], **ROBUST))
    assert (found["nnpu"].best, found["robust-pu"].best) == (False, True)


def test_means_that_print_alike_are_both_best():
    found = cells(trials([3.1, 2.902] * 5, **NNPU) + trials([2.9, 3.1] * 5, **ROBUST))
    assert found["nnpu"].p > 0.05
    assert found["nnpu"].best
    assert found["robust-pu"].best
    assert not found["nnpu"].tied


def test_one_method_alone_is_not_the_best():
    table = only(trials([3.0] * 10))
    assert not table.cells["mnist", 0.2, "nnpu"].best
    assert table.paired_tests == ()


@pytest.mark.parametrize(("error", "verdict"), [(7.384, True), (7.386, False), (7.0, True)])
def test_at_or_below_the_paper_is_decided_as_printed(error, verdict):
    assert cells(trials([error]))["nnpu"].at_or_below is verdict


def test_the_difference_to_the_paper_is_that_of_the_printed_means():
    assert cells(trials([7.0, 7.1]))["nnpu"].difference == pytest.approx(-0.33)


def test_the_paired_test_is_between_the_two_lowest_means():
    rng = np.random.default_rng(0)
    third, first, second = (mean + rng.normal(0, 0.3, 10) for mean in (6.0, 3.0, 3.4))
    table = only(
        trials(third, method="pn", label="PN") + trials(first, **ROBUST) + trials(second, **NNPU)
    )
    (test,) = table.paired_tests
    assert (test.best, test.rival, test.pairs) == ("robust-pu", "nnpu", 10)
    assert test.wins == (second > first).sum()
    assert test.losses == (second < first).sum()
    assert test.difference == pytest.approx(second.mean() - first.mean())
    assert test.p == pytest.approx(wilcoxon(second - first, method="exact").pvalue)
    cell = table.cells["mnist", 0.2, "pn"]
    assert cell.p == pytest.approx(wilcoxon(third - first, method="exact").pvalue)
    assert not cell.tied


def test_the_paired_test_is_against_another_family_and_the_marks_are_against_the_best():
    table = only(families())
    (test,) = table.paired_tests
    assert (test.best, test.rival, test.wins) == ("robust-pu-5", "nnpu", 8)
    assert test.p == table.cells["mnist", 0.2, "nnpu"].p
    assert table.cells["mnist", 0.2, "robust-pu"].p is not None


def test_without_another_family_on_a_data_set_there_is_no_test():
    variants = [r for r in families() if r["method"] != "nnpu"]
    (test,) = only(families() + [{**r, "dataset": "cifar10"} for r in variants]).paired_tests
    assert test.dataset == "mnist"


def test_in_a_table_of_one_family_variants_are_rivals():
    (test,) = only([r for r in families() if r["method"] != "nnpu"]).paired_tests
    assert (test.best, test.rival) == ("robust-pu-5", "robust-pu")


def test_the_places_of_a_sweep_are_rivals():
    rows = [{**r, "x": float(len(r["method"]))} for r in families()]
    (test,) = only(rows).paired_tests
    assert (test.best, test.rival) == ("robust-pu-5", "robust-pu")


def test_trials_are_paired_by_number_not_by_place():
    errors = [3.0 + 0.2 * i for i in range(8)]
    ours, theirs = trials(errors, **ROBUST), trials([e + 0.1 for e in errors], **NNPU)
    (test,) = only(ours + theirs).paired_tests
    random.Random(0).shuffle(theirs)
    (shuffled,) = only(ours + theirs).paired_tests
    assert test == shuffled
    assert (test.wins, test.significant) == (8, True)


def test_a_method_that_chance_could_have_put_behind_is_tied():
    found = cells(
        trials([3.0, 3.2, 3.1, 2.9, 3.0, 3.1], **ROBUST)
        + trials([3.1, 3.1, 3.2, 2.9, 2.9, 3.2], **NNPU)
    )
    assert found["nnpu"].tied
    assert found["robust-pu"].p is None


def test_too_few_trials_are_not_tested():
    table = only(trials([3.0] * 5, **ROBUST) + trials([4.0] * 5, **NNPU))
    (test,) = table.paired_tests
    assert test.p is None
    assert not test.significant
    assert not table.cells["mnist", 0.2, "nnpu"].tied


def test_failures_are_named_and_keep_a_cell_out_of_comparisons():
    records = trials([9.0] * 10, **ROBUST) + trials([1.0] * 8, **NNPU)
    records += [record(trial=t, failure="ValueError: diverged\nbadly", **NNPU) for t in (8, 9)]
    table = only(records)
    cell = table.cells["mnist", 0.2, "nnpu"]
    assert cell.mean == 1.0
    assert not cell.best
    assert cell.at_or_below is None
    assert cell.flaw == "8 of 10 trials; 2 failed (ValueError: diverged badly)"
    assert table.paired_tests == ()


def test_a_cell_that_failed_altogether():
    cell = cells([record(trial=t, failure="ValueError: no", **NNPU) for t in range(3)])["nnpu"]
    assert np.isnan(cell.mean)
    assert cell.flaw == "0 of 3 trials; 3 failed (ValueError: no)"


def test_fewer_trials_than_other_methods_are_marked():
    found = cells(trials([9.0] * 10, **ROBUST) + trials([1.0] * 6, **NNPU))
    assert found["nnpu"].flaw == "6 of 10 trials"
    assert not found["nnpu"].best
    assert found["robust-pu"].flaw == ""


def test_fewer_trials_than_other_data_sets_are_marked_but_compared():
    records = trials([3.0] * 3, **ROBUST) + trials([4.0] * 3, **NNPU)
    records += trials([3.0] * 10, dataset="cifar10", **ROBUST)
    found = cells(records)
    assert found["robust-pu"].best
    assert found["robust-pu"].flaw == ""
    assert found["robust-pu"].remark == "3 trials, where others have 10"


@pytest.mark.parametrize("change", [{"fingerprint": "new"}, {"data": "new"}])
def test_of_two_plans_in_one_cell_the_newer_one_holds(change):
    records = trials([5.0] * 6, data="old") + trials([1.0] * 3, method="pn", data="old")
    records[3:6] = trials([1.0] * 6, **{"data": "old", **change})[3:6]
    (table,) = tables(records)
    cell = table.cells["mnist", 0.2, "nnpu"]
    assert cell.errors == {3: 1.0, 4: 1.0, 5: 1.0}
    assert cell.mean == 1.0
    assert "trials of an older plan are left out" in cell.remark


def test_two_records_of_one_trial_are_refused():
    with pytest.raises(ValueError, match="two records of one trial: experiment table3"):
        tables([record(), record()])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": None}, "dataset must be str, not None"),
        ({"prior": "0.2"}, "prior must be int or float, not '0.2'"),
        ({"label": 3}, "label must be str, not 3"),
        ({"estimator": ["auto"]}, r"estimator must be str, not \['auto'\]"),
        ({"versions": []}, "versions must be dict"),
        ({"error": float("nan")}, "scores.error must be a number from 0 to 100, not nan"),
        ({"error": None}, "scores.error must be a number from 0 to 100, not None"),
        ({"scores": None}, "scores.error must be a number from 0 to 100, not None"),
    ],
)
def test_damaged_records_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        tables([record(**change)])


def test_optional_fields_may_be_absent():
    bare = {k: v for k, v in record().items() if k not in ("table", "label", "x", "device")}
    assert only([bare]).methods[0].label == "nnpu"


def test_a_table_is_a_pure_function_of_the_records():
    records = table3()
    before = json.dumps(records)
    first, second = tables(records), tables(json.loads(before))
    assert json.dumps(records) == before
    assert [replace(t, records=()) for t in first] == [replace(t, records=()) for t in second]


def test_a_method_may_be_set_beside_one_of_the_paper_with_another_name():
    (table,) = tables(trials([3.0] * 6, method="ours", label="Ours", paper="robust-pu"))
    assert table.cells["mnist", 0.2, "ours"].paper == MeanSD(3.28, 0.3)


@pytest.mark.parametrize(
    "change",
    [
        {"prior": -1},
        {"prior": 10**400},
        {"trial": -1},
        {"seconds": float("inf")},
        {"error": -1.0},
        {"error": 1e308},
        {"versions": {"torch": 2}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_numbers_that_cannot_be_are_refused(change):
    with pytest.raises(ValueError, match=next(iter(change))):
        tables([record(**change)])


@pytest.mark.parametrize("change", [{"data": "other"}, {"sizes": {"n_test": 7}}])
def test_trials_on_other_rows_are_no_pairs(change):
    records = trials([1.0] * 8, data="same", sizes={"n_test": 9})
    records += trials([2.0] * 8, method="pn", **{"data": "same", "sizes": {"n_test": 9}, **change})
    (table,) = tables(records)
    assert table.paired_tests == ()
    for cell in table.cells.values():
        assert not cell.complete
        assert cell.flaw == "trained on other rows than the other methods"


@pytest.mark.parametrize(
    ("rows", "remark"),
    [(30_000, "drawn from 30,000 of 60,000 rows of the data set"), (60_000, ""), (None, "")],
)
def test_a_part_of_a_data_set_is_remarked(rows, remark):
    records = [{**record, "rows": rows} for record in trials([1.0, 2.0], dataset="cifar10")]
    assert cells(records, "cifar10")["nnpu"].remark == remark
