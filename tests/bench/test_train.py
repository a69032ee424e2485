import json
import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from robustpu import PUClassifier, RobustPUClassifier, fit_together
from robustpu.bench import train as module
from robustpu.bench.plan import load
from robustpu.bench.protocol import split, splits
from robustpu.bench.store import read
from robustpu.bench.train import CHOICES, rounded, seed_of, train

BAD = -math.inf


def error_of(pu, model):
    return 100 * (1 - model.score(pu.X_test, pu.y_test))


@pytest.fixture
def nnpu(cells):
    (cell,) = [cell for cell in cells if cell.name == "digits/nnpu/0.4/oracle"]
    return cell


def test_a_record_says_all_of_a_trial(nnpu, machine):
    records = train(nnpu, machine)
    assert [record["trial"] for record in records] == [0, 1]
    first = records[0]
    assert list(first) == [
        "experiment", "title", "table", "dataset", "method", "label", "paper", "x", "seed", "tune",
        "estimator", "prior", "trial", "selection", "validation", "sizes", "fingerprint",
        "training", "candidates", "data", "rows", "candidate", "iterations", "settings", "scores",
        "tried", "seconds", "versions", *machine.code, "device",
    ]  # fmt: skip
    assert {name: first[name] for name in machine.code} == machine.code
    assert first["experiment"] == "small"
    assert first["estimator"] == "nnpu"
    assert (first["label"], first["x"], first["table"]) == ("nnPU", 0.5, None)
    assert (first["selection"], first["validation"]) == ("oracle", "disjoint")
    assert first["fingerprint"] == nnpu.fingerprint
    assert first["candidates"] == len(first["tried"]) == 2
    assert first["settings"] == {"epochs": 3, **nnpu.candidates[first["candidate"]]}
    assert first["scores"]["validation"] == pytest.approx(100 * first["tried"][first["candidate"]])
    assert first["seconds"] > 0
    assert json.loads(json.dumps(records, allow_nan=False)) == records


@pytest.mark.parametrize(
    ("selection", "validation"),
    [("oracle", "disjoint"), ("oracle", "overlapping"), ("pu", "disjoint")],
)
def test_the_scores_are_those_of_the_chosen_estimator(nnpu, machine, selection, validation):
    cell = replace(nnpu, selection=selection, validation=validation)
    for record in train(cell, machine):
        trial = record["trial"]
        pu = split("digits", 0.4, trial, cell.sizes, validation)
        eval_set = (pu.X_validation, pu.y_validation) if selection == "oracle" else None
        given = {"prior": 0.4, "device": "cpu"}
        models = fit_together(
            (
                cell.build(candidate, random_state=seed_of(trial, place), **given),
                pu.X,
                pu.y,
                eval_set,
                None,
                trial,
            )
            for place, candidate in enumerate(cell.candidates)
        )
        assert {model.selection_ for model in models} == {selection}
        assert record["tried"] == pytest.approx(
            [model.member_scores_[0] for model in models], abs=1e-5
        )
        chosen = models[record["candidate"]]
        assert record["iterations"] == chosen.best_epoch_.tolist()
        answer, scores = chosen.predict(pu.X_test), record["scores"]
        assert scores["error"] == pytest.approx(error_of(pu, chosen))
        probability = chosen.predict_proba(pu.X_test)[:, 1]
        assert scores["auc"] == pytest.approx(100 * roc_auc_score(pu.y_test, probability), 1e-4)
        assert scores["recall"] == pytest.approx(100 * recall_score(pu.y_test, answer), 1e-4)
        precision = precision_score(pu.y_test, answer, zero_division=0)
        assert scores["precision"] == pytest.approx(100 * precision, 1e-4)


def test_candidates_of_a_trial_share_their_arrays(nnpu, machine, monkeypatch):
    seen = []

    def spy(jobs, *more, **options):
        seen.extend(jobs)
        return fit_together(jobs, *more, **options)

    monkeypatch.setattr(module, "fit_together", spy)
    train(nnpu, machine)
    first, second, third, _ = seen
    assert first.X is second.X
    assert first.y is second.y
    assert first.eval_set is second.eval_set
    assert first.X is not third.X


@pytest.mark.parametrize("tune", ["cell", "trial"])
def test_the_same_settings_are_chosen_for_a_cell_and_its_own_for_a_trial(nnpu, machine, tune):
    # Ten candidates on tiny data: trials disagree about which is best.
    candidates = tuple({"lr": 10.0 ** (-exponent / 2)} for exponent in range(2, 12))
    cell = replace(nnpu, tune=tune, trials=4, candidates=candidates)
    records = train(cell, machine)
    tried = np.array([record["tried"] for record in records])
    expected = [tried.mean(0).argmax()] * 4 if tune == "cell" else tried.argmax(1)
    assert [record["candidate"] for record in records] == list(expected)
    assert len(set(tried.argmax(1).tolist())) > 1


def test_a_candidate_that_diverges_is_not_chosen(nnpu, machine):
    cell = replace(nnpu, candidates=({"lr": 1e38}, {"lr": 1e-3}))
    for record in train(cell, machine):
        assert record["tried"][0] is None
        assert record["candidate"] == 1


def test_a_cell_whose_candidates_all_diverge_fails(nnpu, machine):
    records = train(replace(nnpu, candidates=({"lr": 1e38},)), machine)
    assert [record["trial"] for record in records] == [0, 1]
    for record in records:
        assert record["failure"].startswith("ValueError: training diverged")
        assert not {"candidate", "settings", "scores", "tried"} & record.keys()
        assert record["fingerprint"]


def test_any_error_becomes_a_record_a_trial(nnpu, machine, tmp_path):
    cell = replace(nnpu, dataset="mnist")
    records = train(cell, replace(machine, data_dir=tmp_path))
    assert len(records) == 2
    assert all("mnist" in record["failure"] for record in records)


def test_progress_counts_epochs_of_networks(nnpu, machine):
    seen = []
    train(nnpu, machine, lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 12)  # 2 trials, 2 candidates, 3 epochs
    assert seen[-1] == (12, 12)


def test_without_held_out_rows_there_is_no_score(nnpu, machine):
    cell = replace(
        nnpu, selection="pu", candidates=({},), fixed={"epochs": 2, "validation_fraction": 0.0}
    )
    for record in train(cell, machine):
        assert record["tried"] == [None]
        assert record["scores"]["validation"] is None
        assert record["scores"]["error"] >= 0


def test_a_pool_has_no_score_and_no_rounds(cells, machine):
    """It holds out no rows: its weights are chosen by the cross-fit."""
    cell = next(cell for cell in cells if cell.name == "digits/pn/0.4/pu")
    given = {"estimator": "auto", "trials": 1, "fixed": {}, "candidates": ({"effort": "fast"},)}
    (record,) = train(replace(cell, method="auto", **given), machine)
    pu = split("digits", 0.4, 0, cell.sizes)
    model = PUClassifier(prior=0.4, effort="fast", random_state=0).fit(pu.X, pu.y)
    assert record["settings"] == {"effort": "fast"}
    assert (record["tried"], record["scores"]["validation"]) == ([None], None)
    assert "iterations" not in record
    assert record["scores"]["error"] == pytest.approx(error_of(pu, model))


def test_the_first_method_of_an_ensemble_of_images_gives_its_score_and_its_rounds():
    """Networks of other methods have other scores."""
    X, y = np.random.RandomState(0).rand(60, 1, 6, 6), np.arange(60) < 20
    model = PUClassifier(prior=0.3, n_members=2, random_state=0)
    with warnings.catch_warnings():
        # Images of noise tell nothing.
        warnings.simplefilter("ignore")
        model.fit(X, y)
    networks = [part for part in model.members_ if isinstance(part, RobustPUClassifier)]
    scores = [part.member_scores_[part.kept_] for part in networks]
    assert module._score(model) == pytest.approx(np.mean(np.concatenate(scores)))
    rounds = [number for part in networks for number in part.best_round_.tolist()]
    assert module._iterations(model) == {"iterations": rounds}


class TestChoices:
    @pytest.mark.parametrize(
        ("scores", "of_cell", "of_trial"),
        [
            pytest.param([[0.9, 0.8], [0.5, 0.8]], [1, 1], [0, 1], id="by mean, and by trial"),
            pytest.param([[0.5, 0.8, 0.8]], [1], [1], id="of equals the first"),
            pytest.param([[0.99, 0.8], [BAD, 0.8]], [1, 1], [0, 1], id="soundness first"),
            pytest.param([[BAD, -0.2]], [1], [1], id="negative scores beat failures"),
            pytest.param(
                [[BAD, 0.9, 0.8], [0.9, BAD, 0.8], [0.9, BAD, BAD]],
                [0, 0, 0],
                [1, 0, 0],
                id="all failed somewhere",
            ),
            pytest.param([[math.nan], [BAD]], [0, 0], [0, 0], id="no scores at all"),
        ],
    )
    def test_the_best(self, scores, of_cell, of_trial):
        for tune, expected in (("cell", of_cell), ("trial", of_trial)):
            orders = CHOICES[tune](np.array(scores))
            assert [order[0] for order in orders] == expected
            assert all(sorted(order) == list(range(len(scores[0]))) for order in orders)

    def test_the_others_follow_in_order(self):
        scores = np.array([[0.1, 0.9, 0.5, 0.9], [0.1, 0.7, 0.9, 0.9]])
        assert CHOICES["cell"](scores) == [[3, 1, 2, 0]] * 2
        assert CHOICES["trial"](scores) == [[1, 3, 2, 0], [2, 3, 1, 0]]


def test_twins_share_a_training_and_take_different_candidates(nnpu, machine):
    both = replace(nnpu, method="both", label="Both", average=2)
    by_trial = replace(nnpu, method="by-trial", tune="trial")
    progress = []
    records = train(
        replace(nnpu, twins=(both, by_trial)), machine, lambda *now: progress.append(now)
    )
    assert progress[-1] == (12, 12)
    assert [record["method"] for record in records] == ["nnpu"] * 2 + ["both"] * 2 + [
        "by-trial"
    ] * 2
    assert [record["trial"] for record in records] == [0, 1] * 3
    for cell, part in ((nnpu, records[:2]), (both, records[2:4]), (by_trial, records[4:])):
        alone = train(cell, machine)
        assert [{**r, "seconds": 0} for r in part] == [{**r, "seconds": 0} for r in alone]
    assert sorted(records[2]["averaged"]) == [0, 1]
    assert "averaged" not in records[0]


def test_the_probabilities_of_the_best_are_averaged(nnpu, machine):
    pu = splits("digits", 0.4, (0, 1), nnpu.sizes)[0]
    models = [
        nnpu.build(candidate, prior=pu.prior, random_state=seed_of(0, place), device="cpu").fit(
            pu.X, pu.y, eval_set=(pu.X_validation, pu.y_validation)
        )
        for place, candidate in enumerate(nnpu.candidates)
    ]
    mean = np.mean([model.predict_proba(pu.X_test)[:, 1] for model in models], axis=0)
    record = train(replace(nnpu, average=2), machine)[0]
    assert record["scores"]["error"] == pytest.approx(100 * np.mean((mean >= 0.5) != pu.y_test))
    assert record["scores"]["validation"] == pytest.approx(
        100 * np.mean([model.member_scores_[0] for model in models]), rel=1e-4
    )


EXPERIMENTS = Path(__file__).parents[2] / "experiments"
DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.skipif(not EXPERIMENTS.is_dir(), reason="no committed results here")
@pytest.mark.skipif(not (DATA / "shuttle").is_dir(), reason="no real copy of shuttle")
def test_a_stored_trial_of_the_default_is_reproduced(machine):
    plan = load(EXPERIMENTS / "default.toml")
    (cell,) = [cell for cell in plan if cell.name == "shuttle/auto/0.4/pu"]
    (stored,) = [
        record
        for record in read(EXPERIMENTS / "results" / "default.jsonl")
        if (record["fingerprint"], record["trial"]) == (cell.fingerprint, 0)
    ]
    (again,) = train(replace(cell, only=(0,)), replace(machine, data_dir=DATA))
    assert again["data"] == stored["data"]
    assert again["scores"]["error"] == stored["scores"]["error"]
    assert again["scores"]["auc"] == pytest.approx(stored["scores"]["auc"], abs=0.02)


def test_rounding():
    value = {"a": [1.23456789, 1e-9 / 3, 3, True, None, "x"], "b": (math.nan, math.inf)}
    assert rounded(value) == {
        "a": [1.23457, 3.33333e-10, 3, True, None, "x"],
        "b": [None, None],
    }


def test_candidates_of_a_trial_hold_out_the_same_rows(nnpu, machine, monkeypatch):
    cell = replace(nnpu, selection="pu", candidates=tuple({"lr": lr} for lr in (1e-3, 2e-3, 3e-3)))
    seen = []

    def fit(jobs, *args, **kwargs):
        seen.extend(jobs)
        return fit_together(jobs, *args, **kwargs)

    monkeypatch.setattr(module, "fit_together", fit)
    train(cell, machine)
    assert [job.split for job in seen] == [0, 0, 0, 1, 1, 1]
    # But they start from different weights.
    assert len({job.estimator.random_state for job in seen[:3]}) == 3
    train(replace(cell, candidates=cell.candidates[:1]), machine)
    assert [job.split for job in seen[6:]] == [None, None]
