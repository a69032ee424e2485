from io import StringIO
from pathlib import Path

import pytest
from made import record, table3, trials
from rich.console import Console

from markup import Reader
from robustpu.bench import store
from robustpu.bench.report.kinds import Kind, kind_of, label_of
from robustpu.bench.report.lowest import lowest, sentences
from robustpu.bench.report.markdown import markdown
from robustpu.bench.report.page import page
from robustpu.bench.report.tables import tables
from robustpu.bench.report.terminal import show

RESULTS = Path(__file__).parents[3] / "experiments" / "results"


def counts(records, kind=Kind.NETWORK):
    (table,) = tables(records)
    (found,) = [found for found in lowest(table) if found.kind is kind]
    return found.counts, len(found.compared), len(found.left_out)


def three(dataset, pn, nnpu, robust, **changes):
    """Three methods on a data set, with their errors."""
    return [
        *trials(pn, method="pn", label="PN", dataset=dataset, **changes),
        *trials(nnpu, method="nnpu", label="nnPU", dataset=dataset, **changes),
        *trials(robust, method="robust-pu", label="Robust-PU", dataset=dataset, **changes),
    ]


def test_each_method_is_counted_where_it_is_lowest():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += three("shuttle", [3.0] * 3, [1.0] * 3, [2.0] * 3)
    records += three("spambase", [9.0] * 3, [8.0] * 3, [7.0] * 3)
    assert counts(records) == ({"pn": 0, "nnpu": 1, "robust-pu": 2}, 3, 0)
    (text,) = sentences(tables(records)[0])
    assert text == (
        "Lowest error in the 3 cells where all 3 single networks have the same trials: "
        "Robust-PU 2, nnPU 1; never PN."
    )


def test_cells_without_all_trials_of_all_methods_are_left_out():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += three("shuttle", [3.0] * 3, [1.0] * 2, [2.0] * 3)
    records += three("spambase", [3.0] * 3, [], [2.0] * 3)
    assert counts(records) == ({"pn": 0, "nnpu": 0, "robust-pu": 1}, 1, 2)
    (text,) = sentences(tables(records)[0])
    assert "in the 1 of 3 cells where" in text
    assert text.endswith("some of them lack trials there: shuttle and spambase.")


def test_a_part_of_a_data_set_that_is_left_out_is_named_by_its_prior():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += three("mnist", [3.0] * 3, [2.0], [1.0] * 3, prior=0.4)
    assert sentences(tables(records)[0])[0].endswith("there: mnist at 0.4.")


def test_other_rows_are_not_compared():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += trials([0.5] * 3, method="vpu", label="VPU", data="other")
    assert counts(records)[1:] == (0, 1)
    assert sentences(tables(records)[0])[0].startswith(
        "Lowest error: not counted; in no cell all 4"
    )


def test_equal_means_count_for_each_and_printed_digits_do_not_make_them_equal():
    equal = trials([3.0, 1.0], method="pn") + trials([1.0, 3.0])
    assert counts(equal)[0] == {"pn": 1, "nnpu": 1}
    assert "A tie counts for each." in sentences(tables(equal)[0])[0]
    close = trials([3.002], method="pn") + trials([3.0])
    assert counts(close)[0] == {"pn": 0, "nnpu": 1}


def test_ensembles_and_trees_are_not_counted_among_single_networks():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += trials([0.1] * 3, method="auto", label="Robust-PU")
    records += trials([0.2] * 3, method="nnpu-5", label="nnPU, 5 best", averaged=[0, 1, 2, 3, 4])
    records += trials([0.3] * 3, method="puet", label="PU extra-trees")
    records += trials([0.4] * 3, method="spy", label="Spy")
    assert counts(records)[0] == {"pn": 0, "nnpu": 0, "robust-pu": 1}
    assert counts(records, Kind.ENSEMBLE)[0] == {"auto": 1, "nnpu-5": 0}
    assert counts(records, Kind.OTHER)[0] == {"puet": 1, "spy": 0}
    (table,) = tables(records)
    best = {name for (_, _, name), cell in table.cells.items() if cell.best}
    assert best == {"robust-pu", "auto", "puet"}
    assert "both ensembles" in sentences(table)[1]


def test_missing_trials_of_an_ensemble_do_not_matter_to_single_networks():
    records = three("mnist", [3.0] * 3, [2.0] * 3, [1.0] * 3)
    records += trials([0.1] * 5, method="auto")
    assert counts(records) == ({"pn": 0, "nnpu": 0, "robust-pu": 1}, 1, 0)


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"method": "robust-pu"}, Kind.NETWORK),
        ({"method": "anything"}, Kind.NETWORK),
        ({"method": "robust-pu", "settings": {"n_members": 5}}, Kind.ENSEMBLE),
        ({"method": "robust-pu", "iterations": [3, 1, 4]}, Kind.ENSEMBLE),
        ({"method": "nnpu", "averaged": [0, 1]}, Kind.ENSEMBLE),
        ({"method": "auto"}, Kind.ENSEMBLE),
        ({"method": "auto-prior"}, Kind.ENSEMBLE),
        ({"method": "mine", "estimator": "auto"}, Kind.ENSEMBLE),
        ({"method": "mine", "estimator": "bagging"}, Kind.OTHER),
        ({"method": "elkan-noto"}, Kind.OTHER),
    ],
)
def test_the_kind_of_a_method(changes, kind):
    assert kind_of([record(**changes)]) is kind


@pytest.mark.parametrize(
    ("method", "label", "shown"),
    [
        ("auto", None, "PUClassifier (ensemble)"),
        ("auto", "Robust-PU", "PUClassifier (ensemble)"),
        ("auto", "PUClassifier (ensemble)", "PUClassifier (ensemble)"),
        ("auto-prior", "Robust-PU, prior estimated", "PUClassifier, prior estimated (ensemble)"),
        ("robust-pu", "Robust-PU", "Robust-PU"),
        ("nnpu", None, "nnpu"),
    ],
)
def test_the_recommended_ensemble_is_never_called_robust_pu(method, label, shown):
    assert label_of({"method": method, "label": label}) == shown


def test_an_ensemble_under_another_id_is_known_by_its_estimator():
    mine = {"method": "mine", "estimator": "auto"}
    assert label_of({**mine, "label": "Robust-PU"}) == "PUClassifier (ensemble)"
    assert label_of({**mine, "label": "Mine"}) == "Mine (ensemble)"
    assert label_of({**mine, "label": None}) == "mine (ensemble)"


def test_one_method_of_a_kind_is_not_counted():
    assert lowest(tables(trials([1.0]))[0]) == []


def test_all_formats_have_the_counts():
    stream = StringIO()
    found = tables(table3())
    show(found, Console(file=stream, width=300))
    sentence = (
        "Lowest error in the 4 cells where both single networks have the same trials: Robust-PU 4; "
        "never nnPU."
    )
    assert sentence in stream.getvalue()
    text = markdown(found)
    assert "### How often each method is lowest" in text
    assert f"- {sentence}" in text
    assert "| Robust-PU | single network | 4 | 4 |\n| nnPU | single network | 0 | 4 |" in text
    reader = Reader(page(found))
    assert sentence in reader.text
    assert len(reader.all("table", **{"class": "lowest"})) == 2


def test_the_committed_main_results_are_counted_truthfully():
    oracle, _ = tables(store.read(RESULTS / "main.jsonl"))
    networks, ensembles = lowest(oracle)
    counted = {oracle.label(name): count for name, count in networks.counts.items() if count}
    assert counted == {"P3Mix-C": 5, "P3Mix-E": 4, "PULNS": 3, "Robust-PU": 2, "nnPU": 1}
    assert (len(networks.compared), len(networks.left_out), len(networks.counts)) == (15, 6, 10)
    assert {dataset for dataset, _ in networks.left_out} == {"cifar10", "stl10"}
    assert set(ensembles.counts) == {"nnpu-5", "robust-pu-5"}
