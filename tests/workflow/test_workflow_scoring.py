import json
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from robustpu.tables import TableError, Tally, iter_table
from robustpu.tables.records import blocks
from robustpu.validation.schema import to_json
from robustpu.workflow import fit_table
from robustpu.workflow import scoring as scoring_module
from robustpu.workflow.ranking import rank_table
from robustpu.workflow.scoring import score_parts
from robustpu.workflow.suspects import ids_of

N = 200
RANDOM = np.random.default_rng(0)
IS_FRAUD = RANDOM.random(N) < 0.3
X = RANDOM.normal(size=N) + 2 * IS_FRAUD
IS_LABELLED = IS_FRAUD & (RANDOM.random(N) < 0.5)


def frame(**more):
    return {"x": X.tolist(), "y": np.where(IS_LABELLED, "T", "N").tolist()} | more


@pytest.fixture(scope="module")
def study():
    return fit_table(frame(), label="y", positive="T", method="elkan-noto", prior=0.15)


@pytest.fixture(params=[7, 50, None])
def in_parts(request, monkeypatch):
    real = scoring_module.iter_table
    monkeypatch.setattr(
        scoring_module,
        "iter_table",
        lambda *given, **more: real(*given, rows=request.param, **more),
    )


def listed(study, table, notes=None):
    return {suspect.row - 1 for suspect in rank_table(study, table, top=N, notes=notes)}


@pytest.mark.usefixtures("in_parts")
@pytest.mark.parametrize("is_reversed", [False, True])
def test_other_words_for_yes_are_other_labels_where_the_very_word_is(study, is_reversed):
    # All known positives at one end, so that most parts have none.
    order = np.argsort(IS_LABELLED, kind="stable")[:: -1 if is_reversed else 1]
    labels = np.where(IS_LABELLED, "T", np.where(np.arange(N) % 2, "Y", "N"))[order]
    table = frame(x=X[order].tolist(), y=labels.tolist())
    assert listed(study, table) == set(np.flatnonzero(labels != "T"))


@pytest.mark.usefixtures("in_parts")
def test_other_words_for_yes_are_the_label_where_the_very_word_is_not(study):
    for yes in ("1", "yes", "TRUE"):
        labels = np.where(IS_LABELLED, yes, "0")
        notes = []
        assert listed(study, frame(y=labels.tolist()), notes) == set(np.flatnonzero(~IS_LABELLED))
        assert not any("as in training" in note for note in notes)
    labels = np.where(IS_LABELLED, np.where(np.arange(N) % 2, "yes", "1"), "0")
    notes = []
    assert listed(study, frame(y=labels.tolist()), notes) == set(np.flatnonzero(~IS_LABELLED))
    assert any("labelled 'T' as in training; all of 1, yes are read" in note for note in notes)


@pytest.mark.usefixtures("in_parts")
def test_the_same_rows_in_the_same_order_however_it_is_read(study):
    rows = rank_table(study, frame(), top=9)
    order = np.argsort(-study.score(frame()) + IS_LABELLED * 9, kind="stable")
    assert [suspect.row - 1 for suspect in rows] == order[:9].tolist()


@pytest.mark.usefixtures("in_parts")
def test_a_cell_that_cannot_be_read_does_not_stop_it(study):
    cells = [f"{value:.3f}" for value in X]
    cells[-1] = cells[3] = "n/k"
    tally = Tally()
    score = np.concatenate([part.score for part in score_parts(study, frame(x=cells), tally=tally)])
    assert len(score) == N
    assert score[-1] == score[3]
    assert any("2 cells are no number" in line for line in tally.lines())
    with pytest.raises(TableError, match="none of its cells can be read"):
        list(score_parts(study, frame(x=["n/k"] * N)))


@pytest.fixture
def in_blocks(monkeypatch):
    """Texts are read in blocks of a dozen rows, and each part has 20."""
    monkeypatch.setattr("robustpu.tables.delimited.blocks", partial(blocks, size=100))
    monkeypatch.setattr(scoring_module, "iter_table", partial(iter_table, rows=20))


@pytest.mark.usefixtures("in_blocks")
@pytest.mark.parametrize("place", [0, 30, N - 1])
def test_rows_before_a_bad_one_are_scored(study, tmp_path, place):
    lines = [f"{value:.3f},N" for value in X]
    lines[place] += ",more"
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    parts = []
    with pytest.raises(TableError, match=f"row {place + 2}: expected 2 cells"):
        parts.extend(score_parts(study, path))
    score = np.concatenate([part.score for part in parts]) if parts else np.zeros(0)
    assert len(score) % 20 == 0
    # The rest is in the part of the bad row.
    assert place - len(score) < 20
    whole = study.score(frame(x=[round(value, 3) for value in X]))
    np.testing.assert_allclose(score, whole[: len(score)])


@pytest.mark.parametrize(
    ("values", "kind", "wanted"),
    [
        (["a" * 500], None, ["a" * 500]),
        ([0.10000558, 7.0, float("nan"), None], None, ["0.10000558", "7", "", ""]),
        ([2**62 + 1], None, [str(2**62 + 1)]),
        ([12345678901234567891], pa.decimal128(22, 2), ["12345678901234567891.00"]),
        ([0, 1_558], pa.timestamp("ms"), ["1970-01-01", "1970-01-01 00:00:01.558"]),
        ([10_000_000_001], pa.timestamp("ns"), ["1970-01-01 00:00:10.000000001"]),
        ([600], pa.timestamp("s"), ["1970-01-01 00:10:00"]),
        ([600_000], pa.timestamp("ms", "UTC"), ["1970-01-01 00:10:00Z"]),
        ([True], None, ["true"]),
    ],
)
def test_ids_are_whole(values, kind, wanted):
    column = pa.chunked_array([pa.array(values, kind)])
    assert ids_of(column, np.arange(len(values))) == wanted


def test_ids_on_the_list_are_whole(study):
    ids = [f"https://example.org/{'a' * 150}/{place}" for place in range(N)]
    for suspect in rank_table(study, frame(key=ids), top=3, id="key"):
        assert suspect.id == ids[suspect.row - 1]
    stamps = pa.array(range(N), pa.timestamp("ms"))
    rows = rank_table(study, pa.table(frame() | {"key": stamps}), top=20, id="key")
    assert len({suspect.id for suspect in rows}) == 20
    assert json.dumps(to_json(rows))


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("elkan-noto", "fit: the model was trained on them. Labelled"),
        ("puet", "fit, from parts of the model that were not trained on them"),
        ("bagging", "fit, unlabelled ones from learners that were not trained on them. Labelled"),
        ("pretrained", "fit, labelled positives out of fold"),
    ],
)
def test_notes_say_what_was_trained_on_known_rows(method, words):
    table = frame()
    study = fit_table(table, label="y", positive="T", method=method, prior=0.15)
    notes = []
    list(score_parts(study, table, notes=notes))
    assert words in notes[-1]
    assert "trees" not in notes[-1]
    assert ("do not evaluate" in notes[-1]) == words.endswith("Labelled")
