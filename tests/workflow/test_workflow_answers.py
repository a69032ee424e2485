"""Rows that were checked come back by their ids; the list goes on without them."""

import numpy as np
import pytest

from robustpu.tables import Roles, TableError, read_table
from robustpu.workflow import fit_table, open_study, rank_table
from robustpu.workflow.answers import add_checked

Y = np.array([1, 0, 0, 0, 0, -1])


def ids():
    return read_table({"id": ["a", "b", "c", "d", "d", "f"]}).column("id")


def add(table, roles=None, names=None, y=Y):
    files = table if isinstance(table, list) else [table]
    return add_checked(y, files, roles or Roles(), names)


class TestAnswers:
    @pytest.mark.parametrize(
        ("yes", "no"), [("yes", "no"), (1, 0), ("TRUE", "False"), ("Y", "n"), ("fraud", "fine")]
    )
    def test_words(self, yes, no):
        roles = Roles(label="y", positive="fraud", negative="fine")
        y, checked, notes = add({"row": [2, 3], "checked": [yes, no]}, roles)
        assert y.tolist() == [1, 1, -1, 0, 0, -1]
        assert checked.tolist() == [False, True, True, False, False, False]
        assert notes == ["2 checked rows: 1 positive, 1 negative"]

    @pytest.mark.parametrize("name", ["claim", "id"])
    def test_ids(self, name):
        table = {name: ["c", "b", "e"], "checked": ["no", "yes", ""], "score": [0.1, 0.2, 0.3]}
        y, _, _ = add(table, Roles(id="claim"), ids())
        assert y.tolist() == [1, 1, -1, 0, 0, -1]

    def test_several_files_and_labels_that_agree(self):
        tables = [{"row": [2], "checked": ["yes"]}, {"row": [2, 1, 6], "checked": [1, 1, 0]}]
        y, checked, _ = add(tables)
        assert y.tolist() == [1, 1, 0, 0, 0, -1]
        assert checked.tolist() == [True, True, False, False, False, True]

    @pytest.mark.parametrize(
        ("table", "text"),
        [
            ({"row": [2]}, "no column 'checked'"),
            ({"x": [2], "checked": [1]}, "needs a column 'claim' with the ids"),
            ({"claim": ["z"], "checked": [1]}, "'claim' 'z' was checked, and exactly one row"),
            ({"claim": ["d"], "checked": [1]}, "exactly one row"),
            ({"row": [9], "checked": [1]}, "'row' '9' was checked"),
            ({"claim": ["b"], "checked": ["maybe"]}, "row 1 is 'maybe', expected yes, no"),
            ({"claim": ["b", "b"], "checked": [1, 0]}, "two answers for 'b'"),
            ({"claim": ["a"], "checked": ["no"]}, "answer no of a check, and the label says"),
            ({"claim": ["f"], "checked": ["yes"]}, "answer yes of a check"),
            (
                [{"row": [2], "checked": [1]}, {"row": [2], "checked": [0]}],
                "row 2 was checked twice",
            ),
        ],
    )
    def test_what_is_wrong(self, table, text):
        with pytest.raises(TableError, match=text):
            add(table, Roles(id="claim"), ids())


@pytest.fixture(scope="module")
def loop(tmp_path_factory):
    """A study before a check and one after, on a table with few positives."""
    random = np.random.default_rng(0)
    truth = random.random(400) < 0.15
    frame = {f"x{k}": random.normal(1.3 * truth).tolist() for k in range(2)}
    frame["name"] = [f"n{row}" for row in range(400)]
    frame["y"] = np.where(truth & (random.random(400) < 0.4), "yes", "").tolist()
    how = {"label": "y", "id": "name", "method": "puet", "scenario": "single-set"}
    first = fit_table(frame, **how)
    rows = rank_table(first, frame, 30)
    answers = {
        "name": [row.id for row in rows],
        "checked": ["yes" if truth[row.row - 1] else "no" for row in rows],
    }
    second = fit_table(frame, **how, checked=answers)
    path = tmp_path_factory.mktemp("loop") / "model"
    second.save(path)
    return frame, truth, first, rows, second, path


class TestLoop:
    def test_what_is_known_of_the_list(self, loop):
        _, truth, first, _, second, _ = loop
        data = second.results.data
        found = data.n_positive - first.results.data.n_positive
        assert (data.n_checked, data.n_negative) == (30, 30 - found)
        assert second.results.is_list_known
        listed = [suspect.row - 1 for suspect in second.results.suspects[:50]]
        (top,) = (each for each in second.results.top if each.k == 50)
        assert top.low <= truth[listed].sum() <= top.high
        assert top.high - top.low < 25
        before = first.results.evaluation.metric("precision_at_k")
        assert before is None or before.high - before.low > 0.3

    def test_the_share_is_that_of_the_rows_that_are_left(self, loop):
        _, truth, _, rows, second, _ = loop
        found = sum(truth[row.row - 1] for row in rows)
        model, data = second.model, second.results.data
        left = (model.prior_ * (data.n_unlabeled + 30) - found) / data.n_unlabeled
        assert second.results.prior.value == pytest.approx(left, rel=1e-6)

    @pytest.mark.parametrize("by", ["suspect", "informative", "random"])
    def test_checked_rows_are_not_listed_again(self, loop, by):
        frame, _, _, rows, second, path = loop
        for study in (second, open_study(path)):
            again = rank_table(study, frame, 40, by=by)
            assert len(again) == 40
            assert not {row.id for row in rows} & {row.id for row in again}
        if by == "suspect":
            assert [row.id for row in again] == [row.id for row in second.results.suspects[:40]]

    def test_random_rows(self, loop):
        frame, _, _, _, second, _ = loop
        lists = [[row.row for row in rank_table(second, frame, 9, by="random", seed=k)]
                 for k in (0, 0, 1)]  # fmt: skip
        assert lists[0] == lists[1] != lists[2]

    def test_a_page_says_what_it_rests_on(self, loop):
        *_, path = loop
        assert "with the help of 30 checked rows" in (path / "report.html").read_text()


def test_negatives_by_a_label():
    random = np.random.default_rng(1)
    truth = random.random(400) < 0.3
    label = np.where(random.random(400) < 0.5, np.where(truth, "fraud", "fine"), "")
    frame = {"x": random.normal(2.0 * truth).tolist(), "y": label.tolist()}
    how = {"label": "y", "positive": "fraud", "method": "elkan-noto", "prior": 0.3}
    study = fit_table(frame, **how, negative="fine")
    data = study.results.data
    assert (data.negative, data.n_checked) == ("fine", 0)
    assert data.n_negative == (label == "fine").sum()
    assert data.n_positive + data.n_negative + data.n_unlabeled == 400
    listed = rank_table(study, frame, 400)
    assert {label[row.row - 1] for row in listed} == {""}


def test_no_row_is_left():
    frame = {"x": [1.0, 2.0, 3.0], "y": ["yes", "", ""]}
    answers = {"row": [2, 3], "checked": ["no", "yes"]}
    with pytest.raises(ValueError, match="no row is left unlabelled"):
        fit_table(frame, label="y", method="elkan-noto", prior=0.1, checked=answers)


def test_checked_rows_have_no_propensity():
    """A row may be labelled and checked: the check counts, and it needs no propensity."""
    rng = np.random.default_rng(0)
    truth = np.arange(300) < 120
    frame = {"x": rng.normal(truth * 3.0), "y": ["1"] * 50 + [""] * 250}
    frame["chance"] = ["0.5"] * 25 + ["0.8"] * 25 + [""] * 250
    rows = np.r_[0, 100:150]
    answers = {"row": rows + 1, "checked": np.where(truth[rows], "yes", "no")}
    how = {"label": "y", "method": "elkan-noto", "prior": 0.3, "propensity": "chance"}
    results = fit_table(frame, **how, checked=answers).results
    assert (results.data.propensity, results.data.n_checked) == ("chance", 51)
    assert results.data.n_positive == 50 + 20
    assert results.evaluation.n_positive == 49
