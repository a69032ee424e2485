import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from robustpu import ElkanNotoClassifier, RobustPUClassifier
from robustpu.study import training
from robustpu.study.training import Wish, cross_fit, make_model, train, unseen


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3)).astype(np.float32)
    y = (np.arange(120) < 30).astype(np.int64)
    X[:30] += 1
    return X, y


def test_a_wish_becomes_parameters():
    model = make_model(Wish("robust-pu", "single-set", "top:20", 7, 3), 0.2, n_rows=50)
    assert isinstance(model, RobustPUClassifier)
    given = model.get_params(deep=False)
    names = ("prior", "scenario", "threshold", "random_state", "n_members", "record_weights")
    assert [given[name] for name in names] == [0.2, "single-set", "top:20", 7, 3, True]
    assert not make_model(Wish("robust-pu"), 0.2, n_rows=10**6).record_weights


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (Wish("robustpu"), "did you mean 'robust-pu'"),
        (Wish("puet", members=3), "puet has no members"),
        (Wish("nnpu", threshold=2.0), "threshold must be a number above 0"),
        (Wish("nnpu", scenario="x"), "scenario"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_read(wish, message):
    with pytest.raises(ValueError, match=message):
        make_model(wish, 0.2)


def test_folds_are_judged_by_models_that_have_not_seen_them(rows):
    X, y = rows
    # A tree that learns every row by heart answers 1 to each labelled row that it has seen.
    learner = DecisionTreeClassifier(random_state=0)
    model = ElkanNotoClassifier(estimator=learner, prior=0.2, random_state=0)
    noise = np.random.default_rng(1).normal(size=X.shape).astype(np.float32)
    score, seconds = cross_fit(model, noise, y, 4, 0)
    assert np.isfinite(score).all()
    assert 0.05 < score[y == 1].mean() < 0.6
    assert train(model, noise, y).model.predict_proba(noise)[y == 1, 1].mean() > 0.9
    assert seconds > 0


def test_own_answers_are_taken_if_there_are_enough(rows):
    X, y = rows
    trees = train(make_model(Wish("puet"), 0.2), X, y).model
    score, how = unseen(trees, X, y, 0)
    assert score is trees.out_of_fold_
    assert "did not train on" in how
    other = train(make_model(Wish("elkan-noto"), 0.2), X, y).model
    assert not np.isfinite(other.out_of_fold_).any()
    score, how = unseen(other, X, y, 0)
    assert np.isfinite(score).all()
    assert how == "5-fold cross-fitting"


def test_own_answers_to_many_rows_are_enough(rows, monkeypatch):
    X, y = rows
    model = train(make_model(Wish("nnpu", members=2), 0.2), X, y).model
    parts = [int(np.isfinite(model.out_of_fold_[y == label]).sum()) for label in (1, 0)]
    assert 0 < parts[1] < 0.5 * (y == 0).sum()
    monkeypatch.setattr(training, "ENOUGH_ROWS", tuple(parts))
    assert unseen(model, X, y, 0)[0] is model.out_of_fold_
    monkeypatch.setattr(training, "ENOUGH_ROWS", (parts[0], parts[1] + 1))
    assert unseen(model, X, y, 0)[1] == "5-fold cross-fitting"


def test_one_positive_cannot_be_cross_fitted(rows):
    X, y = rows
    y = (np.arange(120) < 1).astype(np.int64)
    model = train(make_model(Wish("nnpu"), 0.2), X, y).model
    score, _ = unseen(model, X, y, 0)
    assert score is model.out_of_fold_


def test_progress_and_warnings_are_told(rows):
    X, y = rows
    told = []
    wish = Wish("nnpu", members=2)
    fitted = train(make_model(wish, 0.2), X, y, lambda *own: told.append(own))
    assert told[-1][0] == "training"
    assert told[-1][1] == told[-1][2] > 0
    assert fitted.seconds > 0
    told.clear()
    train(make_model(Wish("puet"), 0.2), X, y, lambda *own: told.append(own))
    assert told[0][2] == 0, "unknown until trees are grown"
    assert told[-1][1] == told[-1][2] == 350, "100 trees, and 50 for each of five folds"
    collapsed = train(make_model(Wish("nnpu", threshold=0.999999), 0.5), X, y)
    assert any("collapsed" in own for own in collapsed.warnings)
