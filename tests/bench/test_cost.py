import warnings
from dataclasses import replace

import pytest

from robustpu import CollapseWarning
from robustpu.bench import cost
from robustpu.bench.cost import Load, loads, seconds, work
from robustpu.bench.protocol import split
from robustpu.training import fit_together


def planned(cell):
    """Networks and epochs as the engine itself counts them."""
    pu = split(cell.dataset, cell.prior, 0, cell.sizes)
    seen = []
    models = [
        cell.build(candidate, prior=0.4, random_state=0, device="cpu")
        for candidate in cell.candidates
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        fit_together(((model, pu.X, pu.y) for model in models), lambda *event: seen.append(event))
    return seen[0][1]


def test_the_fleets_of_a_cell(cells):
    pn, nnpu = loads(cells[:2])
    assert pn == [Load(2, 4, 90, 64, "mlp", (64,))]
    assert nnpu == [Load(4, 12, 90, 64, "mlp", (64,))]


def test_selection_without_labels_holds_rows_out(cells):
    ((pn,),) = loads(cells[2:3])
    assert cells[2].selection == "pu"
    assert pn.rows == 81


def test_candidates_that_cannot_share_a_fleet_are_counted_apart(cells):
    cell = replace(cells[1], fixed={}, candidates=({"epochs": 2}, {"epochs": 3}, {"epochs": 2}))
    (fleets,) = loads([cell])
    assert [(load.networks, load.epochs) for load in fleets] == [(4, 8), (2, 6)]


def test_methods_whose_epochs_take_longer_are_not_underestimated(cells):
    plain, other = (
        loads([replace(cells[0], estimator=name, candidates=({},), fixed={"epochs": 9})])[0]
        for name in ("pn", "genpu")
    )
    assert [load.epochs for load in plain] == [load.epochs for load in other]
    assert work(other) == 12 * work(plain)


def test_experiments_do_not_lend_each_other_their_cost(cells):
    other = replace(cells[0], experiment="other", fixed={"epochs": 9})
    (_,), (load,) = loads([cells[0], other])
    assert load.epochs == 18


def test_epochs_are_those_that_the_engine_plans(cells):
    cell = replace(
        cells[2],
        estimator="robust-pu",
        trials=1,
        candidates=({},),
        fixed={"curriculum__max_rounds": 2, "epochs": 3, "pretrain__epochs": 4, "n_members": 2},
    )
    (fleets,) = loads([cell])
    assert sum(load.epochs for load in fleets) == planned(cell)
    assert sum(load.networks for load in fleets) == 2


def test_the_networks_of_an_ensemble_of_images_are_of_two_methods(cells):
    cell = replace(
        cells[2],
        dataset="cifar10",
        estimator="auto",
        trials=1,
        candidates=({},),
        fixed={"n_members": 4, "module": "all_conv", "mirror": True},
    )
    (fleets,) = loads([cell])
    # Four of Robust-PU, and four of P3Mix-C.
    assert sum(load.networks for load in fleets) == 8
    assert {(load.module, load.shape) for load in fleets} == {("all_conv", (3, 32, 32))}


@pytest.mark.parametrize("estimator", ["puet", "auto"])
def test_what_trains_no_networks_is_not_counted(cells, estimator):
    """Trees, and the default on a table."""
    cell = replace(cells[2], estimator=estimator, trials=1, candidates=({},), fixed={})
    assert loads([cell]) == [[]]


def test_trials_and_candidates_multiply_the_work(cells):
    once = work(loads([replace(cells[0], trials=1)])[0])
    assert work(loads([replace(cells[0], trials=7)])[0]) == 7 * once
    assert once > 0


def test_a_convolution_is_more_work_than_a_table():
    table = Load(1, 1, 100, 64, "mlp", (57,))
    image = Load(1, 1, 100, 64, "all_conv", (3, 32, 32))
    # 57 x 100 + 100 products and as many sums.
    assert work([table]) == 100 * 2 * 5800
    assert work([image]) > 1000 * work([table])


def test_time_grows_with_epochs_and_rows(monkeypatch):
    measured = []

    def measure(module, shape, rows, members, device):
        measured.append((rows, members))
        return 0.001 * members * rows / 64

    monkeypatch.setattr(cost, "_measure", measure)
    cost._step.cache_clear()
    load = Load(10, 1000, 640, 64, "mlp", (3,))
    try:
        # 100 epochs of 10 steps of 10 ms.
        assert seconds([load], "cpu") == pytest.approx(10.0)
        assert seconds([load, replace(load, epochs=500)], "cpu") == pytest.approx(15.0)
        assert measured == [(2, 1), (16, 1), (64, 1), (64, 4), (64, 10)]
    finally:
        cost._step.cache_clear()


def test_a_long_measurement_is_not_repeated_with_more_networks(monkeypatch):
    measured = []
    measure = cost._measure

    def spy(*arguments):
        measured.append((arguments[2:4], measure(*arguments)))
        return measured[-1][1]

    monkeypatch.setattr(cost, "ENOUGH", 0.0)
    monkeypatch.setattr(cost, "_measure", spy)
    cost._step.cache_clear()
    try:
        took = seconds([Load(1000, 1000, 64, 64, "mlp", (5,))], "cpu")
        ((size, step),) = measured
        assert size == (2, 1)
        assert took == pytest.approx(step * 32 * 1000)
    finally:
        cost._step.cache_clear()


def test_a_measurement_on_this_device():
    fleet = Load(20, 20 * 100, 1200, 64, "mlp", (57,))
    assert 0.001 < seconds([fleet], "cpu") < 1000
