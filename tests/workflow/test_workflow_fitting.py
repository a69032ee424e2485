import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from robustpu import ModelFolderError, PUClassifier, PUExtraTreesClassifier, load, persist, save
from robustpu.metrics import METRICS
from robustpu.report import render
from robustpu.results import Data
from robustpu.tables import TableError, Tally, read_table
from robustpu.workflow import fit_table, open_study, rank_table, score_parts
from robustpu.workflow.fitting import describe_members
from robustpu.workflow.folder import stored_parts
from robustpu.workflow.scoring import labelled

PRINTS = np.arange(3, dtype=np.uint64)
QUICK = {"label": "fraud", "id": "claim", "drop": ("filed",), "method": "puet", "prior": 0.18}


def test_results_are_complete(study, table):
    results = study.results
    n_positive = sum(label is not None for label in table["fraud"])
    assert results.data == Data(
        name="claims.csv",
        rows=300,
        columns=6,
        label="fraud",
        positive="yes",
        n_positive=n_positive,
        n_unlabeled=300 - n_positive,
        id="claim",
        time="filed",
        dropped=(),
    )
    assert [metric.name for metric in results.evaluation.metrics] == list(METRICS)
    assert {column.name for column in results.columns} == {"amount", "kind", "age"}
    assert {each.column for each in results.importance[:2]} == {"amount", "kind"}
    assert "newest" in results.evaluation.remarks[1]
    assert results.evaluation.remarks[1] == results.time_holdout.text
    assert sum(results.scores.unlabeled) == 300 - n_positive


def test_suspects_are_unlabelled_and_say_why(study, table):
    found = study.results.suspects
    scores = [suspect.score for suspect in found]
    assert scores == sorted(scores, reverse=True)
    for suspect in found:
        assert table["fraud"][suspect.row - 1] is None
        assert suspect.id == table["claim"][suspect.row - 1]
        effects = [driver.effect for driver in suspect.drivers]
        assert effects == sorted(effects, reverse=True)
        assert all(effect > 0 for effect in effects)
        for driver in suspect.drivers:
            cell = table[driver.column][suspect.row - 1]
            assert driver.value == ("" if cell is None else str(cell).removesuffix(".0"))
    assert {driver.column for driver in found[0].drivers} & {"amount", "kind"}


def test_frames_of_pandas_and_polars_give_the_same(table):
    given = {**QUICK, "method": "elkan-noto"}
    plain = fit_table(table, **given).score(table)
    for frame in (pd.DataFrame(table), pl.DataFrame(table)):
        assert np.allclose(fit_table(frame, **given).score(frame), plain)


def test_a_leak_is_an_alarm(table):
    leaky = {**table, "verdict": [label or "no" for label in table["fraud"]]}
    alarms = fit_table(leaky, **QUICK).results.alarms
    assert [alarm.kind for alarm in alarms if "verdict" in alarm.text] == ["leak"]


def test_few_positives_are_an_alarm_and_wrong_settings_an_error(table):
    few = {**table, "fraud": ["yes"] * 5 + [None] * 295}
    alarms = fit_table(few, **QUICK).results.alarms
    assert any(alarm.kind == "few" and "Only 5 positives" in alarm.text for alarm in alarms)
    # Before the table is read.
    with pytest.raises(ValueError, match="unknown method"):
        fit_table("not there.csv", **{**QUICK, "method": "no"})


def test_weights_of_the_rounds_are_on_the_page_and_not_in_the_folder(table, tmp_path):
    study = fit_table(table, **{**QUICK, "method": "robust-pu"}, members=2)
    assert study.results.method.parameters == {"n_members": "2"}
    assert sum(study.results.rounds.rounds[1].weights_unlabeled) > 100
    assert study.model.weight_path_ is None
    assert study.results.members == ()
    page = render(study.results)
    sections = re.findall(r'<section id="(\w+)">', page)
    assert sections == ["suspects", "prospects", "important", "data", "technical"]
    assert "<h3>Self-correction</h3>" in page
    assert not re.search(r"\b(nan|None|inf)\b", page)
    study.save(tmp_path / "model")
    assert np.array_equal(open_study(tmp_path / "model").score(table), study.score(table))


def test_the_members_of_the_default_are_on_the_page_and_in_the_folder(table, tmp_path):
    study = fit_table(table, **{**QUICK, "method": "auto"}, effort="fast")
    results, model = study.results, study.model
    assert results.method.parameters == {"effort": "fast"}
    assert results.rounds is None
    assert results.members == describe_members(model)
    page = render(results)
    assert "<h3>Learners</h3>" in page
    assert "<h3>Self-correction</h3>" not in page
    study.save(tmp_path / "model")
    again = open_study(tmp_path / "model")
    assert again.results == results
    assert np.array_equal(again.score(table), study.score(table))


def test_members_are_described_by_their_weight():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 2)) + (np.arange(200) < 80)[:, None]
    y = (np.arange(200) < 40).astype(int)
    model = PUClassifier(members=["logistic", "hinges"], prior=0.25, random_state=0).fit(X, y)
    found = describe_members(model)
    weights = [member.weight for member in found]
    assert weights == sorted(model.weights_.tolist(), reverse=True)
    assert {member.name: (member.weight, member.auc) for member in found} == {
        name: (model.weights_[place], model.member_auc_[place])
        for place, name in enumerate(["logistic", "hinges"])
    }
    assert describe_members(PUExtraTreesClassifier(n_estimators=2, prior=0.25).fit(X, y)) == ()


def test_the_folder_has_all_of_it(study, table, tmp_path):
    study.save(tmp_path / "model")
    again = open_study(tmp_path / "model")
    assert again.results == study.results
    assert np.array_equal(again.score(table), study.score(table))
    assert b"<html" in persist.read_attachment(tmp_path / "model", "report.html").lower()
    with pytest.raises(FileExistsError):
        study.save(tmp_path / "model")
    study.save(tmp_path / "model", overwrite=True)


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
def test_models_that_were_not_fitted_on_a_table(tmp_path):
    y = np.arange(60) % 3 // 2
    X = np.random.default_rng(0).normal(size=(60, 2)) + 2 * y[:, None]
    save(PUExtraTreesClassifier(prior=0.2).fit(X, y), tmp_path / "m")
    with pytest.raises(ModelFolderError, match="not fitted on a table"):
        open_study(tmp_path / "m")


@pytest.mark.parametrize(
    "damage",
    [
        {"results": None},
        {"results": {"schema": 3}},
        {"results": {"schema": 2}},
        {"results": {"schema": 2, "data": {"label": 3}, "settings": {"options": {}}}},
        {"findings": {"schema": 1}},
        {"vectorizer": {}},
        {"vectorizer": None},
        {"background": [1.0]},
        {"background": np.zeros((3, 2), np.float32)},
        {"background": np.full((3, 8), np.nan, np.float32)},
        {"training_rows": None},
        {"training_rows": {"fingerprints": PRINTS[::-1], "scores": np.zeros(3)}},
        {"training_rows": {"fingerprints": PRINTS, "scores": np.full(3, 2.0)}},
    ],
)
def test_damaged_folders_are_refused(study, tmp_path, damage):
    persist.save(study.model, tmp_path / "m", extra={**stored_parts(study), **damage})
    with pytest.raises(ModelFolderError, match=str(tmp_path)):
        open_study(tmp_path / "m")


def test_parts_are_scored_as_the_whole(study, table, tmp_path, monkeypatch):
    path = tmp_path / "new.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    whole = list(score_parts(study, path))
    assert len(whole) == 1
    parts = list(read_parts(study, path, monkeypatch))
    assert [part.first for part in parts] == [1, 101, 201]
    assert np.allclose(np.concatenate([part.score for part in parts]), whole[0].score)
    assert np.array_equal(whole[0].flagged, whole[0].score >= study.model.threshold_)


def read_parts(study, path, monkeypatch):
    from robustpu.workflow import scoring

    real = scoring.iter_table
    monkeypatch.setattr(
        scoring, "iter_table", lambda *given, **more: real(*given, rows=100, **more)
    )
    return score_parts(study, path)


def test_the_list_is_the_same_in_parts(study, table, tmp_path, monkeypatch):
    path = tmp_path / "new.csv"
    pd.DataFrame(table).to_csv(path, index=False)
    whole = rank_table(study, path, top=30)
    scores = study.score(table)
    is_unlabeled = np.array([label is None for label in table["fraud"]])
    order = np.argsort(-np.where(is_unlabeled, scores, -1), kind="stable")[:30]
    assert [suspect.row for suspect in whole] == (order + 1).tolist()
    assert [suspect.id for suspect in whole] == [table["claim"][place] for place in order]
    list(read_parts(study, path, monkeypatch))
    again = rank_table(study, path, top=30)
    assert again == whole


def test_training_rows_are_recognised(study, table):
    scores = study.score(table)
    assert np.allclose(scores, study.model.probability_)
    features = study.features(read_table(table))
    assert np.abs(scores - study.probability(features)).max() > 0.1
    new = {**table, "amount": [amount + 0.01 for amount in table["amount"]]}
    features = study.features(read_table(new))
    assert np.array_equal(study.score(new), study.probability(features))
    # The list of the table is that of the page.
    assert study.rank(table, top=50) == list(study.results.suspects[:50])


def test_training_rows_are_not_scored_again(study, table, monkeypatch):
    scored = []

    def count(model, X):
        scored.append(len(X))
        return np.full(len(X), 0.25)

    monkeypatch.setattr(type(study.model), "predict_rows", count)
    np.testing.assert_array_equal(study.score(table), study.model.probability_)
    assert scored == []
    new = {**table, "amount": [*table["amount"][:-2], 1.0, 2.0]}
    np.testing.assert_array_equal(study.score(new)[-2:], 0.25)
    assert scored == [2]


def test_rows_that_are_equal_have_one_score(table):
    # Every row twice: other trees score each of them, so the scores of twins differ.
    names = ("amount", "kind", "fraud")
    twice = {name: table[name] + table[name] for name in names}
    study = fit_table(twice, label="fraud", method="bagging", prior=0.18)
    plain = study.model.probability_
    assert np.abs(plain[:300] - plain[300:]).max() > 0.01
    scores = study.score(twice)
    assert np.array_equal(scores[:300], scores[300:])
    assert study.rank(twice, top=40) == list(study.results.suspects[:40])


def test_progress_is_shown_if_asked_for(table, capsys):
    names = {"label": "fraud", "id": "claim", "method": "elkan-noto", "prior": 0.18}
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
    assert [suspect.id for suspect in found] == [""] * 5
    assert found[0].drivers
    assert len(study.rank(new, top=500)) == 20


def test_what_differs_is_counted_or_refused(study, table):
    tally = Tally()
    new = {**table, "kind": ["storm"] * 300, "age": [str(age) for age in table["age"]]}
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


def test_a_given_share_that_rows_refute_is_an_alarm(table):
    study = fit_table(table, label="fraud", id="claim", method="puet", prior=0.8)
    results = study.results
    prior = results.prior
    assert study.model.prior_ == prior.value == 0.8
    assert (prior.source, prior.low, prior.high) == ("given", None, None)
    texts = [alarm.text for alarm in results.alarms if alarm.kind == "prior"]
    assert "You gave 80.0%. Both cannot hold" in " ".join(texts)


@pytest.mark.parametrize(
    ("method", "prior"), [("puet", "auto"), ("auto", "auto"), ("puet", "0.1:0.3"), ("puet", 0.18)]
)
def test_a_loaded_model_promises_what_its_fit_did(table, tmp_path, method, prior):
    study = fit_table(table, **QUICK | {"method": method, "prior": prior})
    study.save(tmp_path / "model")
    model = load(tmp_path / "model")
    found, results = model.evaluate(), study.results
    assert model.prior == ("auto" if prior == "auto" else pytest.approx(results.prior.value))
    assert found.is_prior_known == results.prior.is_known
    assert found.sample.prior == results.prior.value
    ends = results.prior.interval or (results.prior.value,) * 2
    assert found.sample.priors == pytest.approx(ends)
    assert list(found) == [metric.name for metric in results.evaluation.metrics]
    for metric in results.evaluation.metrics:
        ends = found[metric.name].low, found[metric.name].high
        assert ends == pytest.approx((metric.low, metric.high))


@pytest.mark.parametrize(("labelled", "method"), [(1, "nnpu"), (2, "elkan-noto")])
def test_a_fit_that_cannot_be_evaluated_is_not_lost(labelled, method):
    random = np.random.default_rng(0)
    frame = {"x": random.normal(size=60).tolist(), "y": [1] * labelled + [0] * (60 - labelled)}
    results = fit_table(frame, label="y", method=method, prior=0.1).results
    assert results.evaluation is None
    assert results.top == ()
    (text,) = [each.text for each in results.alarms if "could not be evaluated" in each.text]
    assert f"{labelled} labelled and {60 - labelled} unlabelled rows are too few" in text
    assert results.suspects


def test_a_costly_method_scores_fewer_rows_to_give_reasons(table, monkeypatch):
    n_rows, predict_rows = [], PUExtraTreesClassifier.predict_rows

    def count(model, X):
        n_rows[-1] += len(X)
        return predict_rows(model, X)

    monkeypatch.setattr(PUExtraTreesClassifier, "predict_rows", count)
    for cost in (1, 100):
        monkeypatch.setattr(PUExtraTreesClassifier, "row_cost", lambda model, cost=cost: cost)
        n_rows.append(0)
        study = fit_table(table, **QUICK)
        n_rows.append(0)
        rank_table(study, table, top=200)
    (fit, rank), (costly_fit, costly_rank) = n_rows[:2], n_rows[2:]
    assert costly_fit < fit / 2
    assert costly_rank < rank / 2
