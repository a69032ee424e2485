import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from robustpu import ModelFolderError, PUExtraTreesClassifier, persist, save
from robustpu.metrics import METRICS
from robustpu.study import fit_table, open_study, rank_table, score_parts, soundness
from robustpu.study.scoring import labelled
from robustpu.tables import TableError, Tally, read_table

QUICK = {"label": "fraud", "id": "claim", "drop": ("filed",), "method": "puet", "prior": 0.18}


def test_findings_are_plain_and_complete(study, table):
    found = study.findings
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    n_positive = sum(own is not None for own in table["fraud"])
    assert found["data"] == {
        "name": "claims.csv",
        "rows": 300,
        "columns": 6,
        "label": "fraud",
        "positive": "yes",
        "n_positive": n_positive,
        "n_unlabeled": 300 - n_positive,
        "id": "claim",
        "time": "filed",
        "dropped": [],
    }
    assert [own["name"] for own in found["evaluation"]["metrics"]] == list(METRICS)
    assert {own["name"] for own in found["columns"]} == {"amount", "kind", "age"}
    assert {own["column"] for own in found["importance"][:2]} == {"amount", "kind"}
    assert "newest" in found["evaluation"]["remarks"][1]
    assert sum(found["scores"]["unlabeled"]) == 300 - n_positive


def test_suspects_are_unlabelled_and_say_why(study, table):
    found = study.findings["suspects"]
    scores = [own["score"] for own in found]
    assert scores == sorted(scores, reverse=True)
    for own in found:
        assert table["fraud"][own["row"] - 1] is None
        assert own["id"] == table["claim"][own["row"] - 1]
        effects = [driver["effect"] for driver in own["drivers"]]
        assert effects == sorted(effects, reverse=True)
        assert all(effect > 0 for effect in effects)
        for driver in own["drivers"]:
            cell = table[driver["column"]][own["row"] - 1]
            wanted = "" if cell is None else str(cell).removesuffix(".0")
            assert driver["value"] == wanted
    assert {driver["column"] for driver in found[0]["drivers"]} & {"amount", "kind"}


def test_frames_of_pandas_and_polars_give_the_same(table):
    plain = fit_table(table, **QUICK).score(table)
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        own = fit_table(frame, **QUICK)
        assert np.allclose(own.score(frame), plain)


def test_a_leak_is_an_alarm(table):
    leaky = {**table, "verdict": [own or "no" for own in table["fraud"]]}
    alarms = fit_table(leaky, **QUICK).findings["alarms"]
    assert [own["kind"] for own in alarms if "verdict" in own["text"]] == ["leak"]


def test_few_positives_are_an_alarm_and_wrong_settings_an_error(table):
    few = {**table, "fraud": ["yes"] * 5 + [None] * 295}
    alarms = fit_table(few, **QUICK).findings["alarms"]
    assert any(own["kind"] == "few" and "only 5" in own["text"] for own in alarms)
    # Before the table is read.
    with pytest.raises(ValueError, match="unknown method"):
        fit_table("not there.csv", **{**QUICK, "method": "no"})


def test_weights_of_the_rounds_are_on_the_page_and_not_in_the_folder(table, tmp_path):
    own = fit_table(table, **{**QUICK, "method": "robust-pu"}, members=1)
    assert own.findings["method"]["parameters"] == {"n_members": "1"}
    assert sum(own.findings["rounds"]["weights_unlabeled"][1]) > 100
    assert not hasattr(own.model, "weight_path_")
    own.save(tmp_path / "model")
    assert np.array_equal(open_study(tmp_path / "model").score(table), own.score(table))


def test_the_folder_has_all_of_it(study, table, tmp_path):
    study.save(tmp_path / "model")
    again = open_study(tmp_path / "model")
    assert again.findings == study.findings
    assert np.array_equal(again.score(table), study.score(table))
    assert b"<html" in persist.read_attachment(tmp_path / "model", "report.html").lower()
    with pytest.raises(FileExistsError):
        study.save(tmp_path / "model")
    study.save(tmp_path / "model", overwrite=True)


def test_models_that_were_not_fitted_on_a_table(tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2))
    save(PUExtraTreesClassifier(prior=0.2).fit(X, np.arange(60) % 3 // 2), tmp_path / "m")
    with pytest.raises(ModelFolderError, match="not fitted on a table"):
        open_study(tmp_path / "m")


@pytest.mark.parametrize(
    "damage",
    [
        {"findings": None},
        {"findings": {"schema": 2}},
        {"findings": {"schema": 1}},
        {"findings": {"schema": 1, "data": {"label": 3}, "settings": {"options": {}}}},
        {"vectorizer": {}},
        {"vectorizer": None},
        {"background": [1.0]},
        {"background": np.zeros((3, 2), np.float32)},
        {"background": np.full((3, 8), np.nan, np.float32)},
        {"seen": None},
        {"seen": {"prints": np.arange(3, dtype=np.uint64)[::-1], "answers": np.zeros(3)}},
        {"seen": {"prints": np.arange(3, dtype=np.uint64), "answers": np.full(3, 2.0)}},
    ],
)
def test_damaged_folders_are_refused(study, tmp_path, damage):
    extra = {
        "vectorizer": study.vectorizer.state(),
        "findings": study.findings,
        "background": study.background,
        "seen": {"prints": study.seen.prints, "answers": study.seen.answers},
    }
    persist.save(study.model, tmp_path / "m", extra={**extra, **damage})
    with pytest.raises(ModelFolderError, match=str(tmp_path)):
        open_study(tmp_path / "m")


def test_parts_are_scored_as_the_whole(study, table, tmp_path, monkeypatch):
    path = tmp_path / "new.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    whole = list(score_parts(study, path))
    assert len(whole) == 1
    parts = list(read_parts(study, path, monkeypatch))
    assert [own.first for own in parts] == [1, 101, 201]
    assert np.allclose(np.concatenate([own.score for own in parts]), whole[0].score)
    assert np.array_equal(whole[0].answer, whole[0].score >= study.model.threshold_)


def read_parts(study, path, monkeypatch):
    from robustpu.study import scoring

    real = scoring.iter_table
    monkeypatch.setattr(scoring, "iter_table", lambda *own, **more: real(*own, rows=100, **more))
    return score_parts(study, path)


def test_the_list_is_the_same_in_parts(study, table, tmp_path, monkeypatch):
    path = tmp_path / "new.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    whole = rank_table(study, path, top=30)
    scores = study.score(table)
    is_open = np.array([own is None for own in table["fraud"]])
    order = np.argsort(-np.where(is_open, scores, -1), kind="stable")[:30]
    assert [own["row"] for own in whole] == (order + 1).tolist()
    assert [own["id"] for own in whole] == [table["claim"][place] for place in order]
    list(read_parts(study, path, monkeypatch))
    again = rank_table(study, path, top=30)
    assert [own["row"] for own in again] == [own["row"] for own in whole]
    assert again[0]["drivers"] == whole[0]["drivers"]


def test_rows_of_training_are_known_again(study, table):
    scores = study.score(table)
    assert np.allclose(scores, study.model.probability_)
    features = study.features(read_table(table))
    assert np.abs(scores - study.probability(features)).max() > 0.1
    new = {**table, "amount": [own + 0.01 for own in table["amount"]]}
    features = study.features(read_table(new))
    assert np.array_equal(study.score(new), study.probability(features))
    # The list of the table is that of the page.
    listed = [own["row"] for own in study.rank(table, top=50)]
    assert listed == [own["row"] for own in study.findings["suspects"][:50]]


def test_rows_that_are_equal_have_one_score(table):
    # Every row twice: trees answer for each by others, so the answers of twins differ.
    names = ("amount", "kind", "fraud")
    twice = {name: table[name] + table[name] for name in names}
    study = fit_table(twice, label="fraud", method="puet", prior=0.18)
    own = study.model.probability_
    assert np.abs(own[:300] - own[300:]).max() > 0.01
    scores = study.score(twice)
    assert np.array_equal(scores[:300], scores[300:])
    listed = [(row["row"], row["score"]) for row in study.rank(twice, top=40)]
    assert listed == [(row["row"], row["score"]) for row in study.findings["suspects"][:40]]


def test_progress_is_shown_if_asked_for(table, capsys):
    names = {"label": "fraud", "id": "claim", "method": "puet", "prior": 0.18}
    fit_table(table, **names)
    assert capsys.readouterr().err == ""
    fit_table(table, **names, verbose=True)
    assert "Training\n" in capsys.readouterr().err


def test_a_study_says_in_a_line_what_it_is(study):
    assert repr(study).startswith("<Study of claims.csv: PU extra-trees, ")
    assert repr(study).endswith("prior 0.180>")


def test_new_rows_need_neither_label_nor_id(study, table):
    new = {name: table[name][:20] for name in ("age", "kind", "amount")}
    assert len(study.score(new)) == 20
    found = study.rank(new, top=5)
    assert [own["id"] for own in found] == [""] * 5
    assert found[0]["drivers"]
    assert len(study.rank(new, top=500)) == 20


def test_what_differs_is_counted_or_refused(study, table):
    tally = Tally()
    new = {**table, "kind": ["storm"] * 300, "age": [str(own) for own in table["age"]]}
    study.score(new, tally=tally)
    assert any("'kind'" in line and "300" in line for line in tally.lines())
    del new["amount"]
    with pytest.raises(TableError, match="no column 'amount'"):
        study.score(new)
    assert len(study.score(new, fill_columns=True, tally=tally)) == 300


@pytest.mark.parametrize(
    ("cells", "positive", "wanted"),
    [
        (["yes", "Yes ", "no", None], "yes", [1, 1, 0, 0]),
        ([1.0, 0.0, None], "1", [1, 0, 0]),
        ([True, False], "true", [1, 0]),
        (["fraud", "unknown"], "fraud", [1, 0]),
        (["a", "b"], "fraud", [0, 0]),
    ],
)
def test_labelled_rows_are_known_however_they_are_written(cells, positive, wanted):
    table = read_table({"y": cells, "x": [*range(len(cells))]})
    assert labelled(table, "y", positive).is_same.astype(int).tolist() == wanted
    assert not labelled(table, "z", positive).is_alike.any()


def test_a_given_share_that_rows_refute_makes_no_certainty(table):
    study = fit_table(table, label="fraud", id="claim", method="puet", prior=0.8)
    found = study.findings
    metrics = {own["name"]: own for own in found["evaluation"]["metrics"]}
    assert study.model.prior_ == 0.8
    assert found["prior"]["how"] == "given"
    assert found["prior"]["low"] == 0
    assert found["prior"]["value"] == found["prior"]["high"] < 0.6
    assert metrics["precision"]["high"] - metrics["precision"]["low"] > 0.2
    assert all(own["high"] - own["low"] > 0.5 for own in found["top"])
    told = " ".join(own["text"] for own in found["alarms"] if own["kind"] == "prior")
    assert "You gave 80.0%" in told
    assert soundness.fault(found) is None


@pytest.mark.parametrize(("labelled", "method"), [(1, "nnpu"), (2, "elkan-noto")])
def test_a_fit_that_cannot_be_judged_is_not_lost(labelled, method):
    random = np.random.default_rng(0)
    frame = {"x": random.normal(size=60).tolist(), "y": [1] * labelled + [0] * (60 - labelled)}
    found = fit_table(frame, label="y", method=method, prior=0.1).findings
    assert found["evaluation"] is None
    assert found["top"] == []
    told = [own["text"] for own in found["alarms"] if "could not be judged" in own["text"]]
    assert len(told) == 1
    assert f"{labelled} labelled and {60 - labelled} unlabelled rows are too few" in told[0]
    assert found["suspects"]
