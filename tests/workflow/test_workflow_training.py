import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from robustpu import ElkanNotoClassifier, PUClassifier
from robustpu.calibration import shifted
from robustpu.metrics.folds import aligned
from robustpu.workflow import held_out
from robustpu.workflow.config import FitConfig
from robustpu.workflow.held_out import cross_fit, held_out_scores
from robustpu.workflow.training import make_model, train


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3)).astype(np.float32)
    y = (np.arange(120) < 30).astype(np.int64)
    X[:30] += 1
    return X, y


def test_a_configuration_becomes_parameters():
    model = make_model(FitConfig("auto", "single-set", "top:20", 7, 3), 0.2)
    assert isinstance(model, PUClassifier)
    given = model.get_params(deep=False)
    names = ("prior", "scenario", "threshold", "random_state", "n_members")
    assert [given[name] for name in names] == [0.2, "single-set", "top:20", 7, 3]
    assert given["effort"] == "default"
    assert make_model(FitConfig(effort="fast"), 0.2).effort == "fast"
    assert make_model(FitConfig(effort=3.0), 0.2).effort == 3.0


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (FitConfig("robustpu"), "did you mean 'robust-pu'"),
        (FitConfig("puet", members=3), "puet does not average members"),
        (FitConfig("puet", effort="fast"), "puet has no effort to set"),
        (FitConfig("auto", effort="quick"), "effort must be 'fast', 'default' or 'best', or a"),
        (FitConfig("auto", effort=-1.0), "effort must be a number above 0"),
        (FitConfig("nnpu", threshold=2.0), "threshold must be a number above 0"),
        (FitConfig("nnpu", scenario="x"), "scenario"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_read(config, message):
    with pytest.raises(ValueError, match=message):
        make_model(config, 0.2)


def test_folds_are_scored_by_models_that_were_not_trained_on_them(rows):
    X, y = rows
    # A tree that memorises every row scores 1 for each labelled row of its training.
    learner = DecisionTreeClassifier(random_state=0)
    model = ElkanNotoClassifier(estimator=learner, prior=0.2, random_state=0)
    noise = np.random.default_rng(1).normal(size=X.shape).astype(np.float32)
    score, seconds = cross_fit(model, noise, y, 4, 0)
    assert np.isfinite(score).all()
    assert 0.05 < score[y == 1].mean() < 0.6
    assert train(model, noise, y).model.predict_proba(noise)[y == 1, 1].mean() > 0.9
    assert seconds > 0


def test_out_of_fold_scores_are_used_if_there_are_enough(rows):
    X, y = rows
    trees = train(make_model(FitConfig("puet"), 0.2), X, y).model
    score, how, _ = held_out_scores(trees, X, y, 0)
    assert score is trees.out_of_fold_
    assert "did not train on" in how
    other = train(make_model(FitConfig("elkan-noto"), 0.2), X, y).model
    assert not np.isfinite(other.out_of_fold_).any()
    score, how, _ = held_out_scores(other, X, y, 0)
    assert np.isfinite(score).all()
    assert how == "5-fold cross-fitting"


def test_out_of_fold_scores_of_many_rows_are_enough(rows, monkeypatch):
    X, y = rows
    model = train(make_model(FitConfig("nnpu", members=2), 0.2), X, y).model
    parts = [int(np.isfinite(model.out_of_fold_[y == label]).sum()) for label in (1, 0)]
    assert 0 < parts[1] < 0.5 * (y == 0).sum()
    monkeypatch.setattr(held_out, "ENOUGH_ROWS", tuple(parts))
    assert held_out_scores(model, X, y, 0)[0] is model.out_of_fold_
    monkeypatch.setattr(held_out, "ENOUGH_ROWS", (parts[0], parts[1] + 1))
    assert held_out_scores(model, X, y, 0)[1] == "5-fold cross-fitting"


def test_one_positive_cannot_be_cross_fitted(rows):
    X, y = rows
    y = (np.arange(120) < 1).astype(np.int64)
    model = train(make_model(FitConfig("nnpu"), 0.2), X, y).model
    score, _, _ = held_out_scores(model, X, y, 0)
    assert score is model.out_of_fold_


def test_progress_and_warnings_are_reported(rows):
    X, y = rows
    calls = []
    config = FitConfig("nnpu", members=2)
    fitted = train(make_model(config, 0.2), X, y, lambda *call: calls.append(call))
    assert calls[-1][0] == "training"
    assert calls[-1][1] == calls[-1][2] > 0
    assert fitted.seconds > 0
    calls.clear()
    train(make_model(FitConfig("puet"), 0.2), X, y, lambda *call: calls.append(call))
    assert calls[0][:2] == ("training", 0)
    assert calls[-1][1] == calls[-1][2] > 0
    # Few positives were asked for.
    few = train(make_model(FitConfig("nnpu", threshold=0.999999), 0.5), X, y)
    assert not few.warnings
    collapsed = train(make_model(FitConfig("nnpu", threshold=0.999999), 0.5), np.ones_like(X), y)
    assert any("collapsed" in text for text in collapsed.warnings)


def test_two_positives_that_cannot_be_folded_leave_the_evaluation_out(rows):
    X, _ = rows
    y = (np.arange(120) < 2).astype(np.int64)
    model = train(make_model(FitConfig("elkan-noto"), 0.2), X, y).model
    score, how, fits = held_out_scores(model, X, y, 0)
    assert np.isnan(score).all()
    assert fits is None
    assert how.startswith("2 labelled and 118 unlabelled rows are too few")


def test_a_fault_of_many_rows_is_none_of_few(rows, monkeypatch):
    X, y = rows
    model = train(make_model(FitConfig("elkan-noto"), 0.2), X, y).model

    def fail(*given):
        raise ValueError("a fault")

    monkeypatch.setattr(held_out, "_fit_folds", fail)
    with pytest.raises(ValueError, match="a fault"):
        held_out_scores(model, X, y, 0)


def test_scores_of_folds_are_on_the_scale_of_the_model(rows):
    """A copy whose log-odds are twice as large and 1 higher comes back to where the model is."""
    random = np.random.default_rng(0)
    odds = random.normal(size=2000)
    usual, other = 1 / (1 + np.exp(-odds)), 1 / (1 + np.exp(-2 * odds - 1))
    found = aligned(other, other, usual, 0.5)
    middle = np.abs(odds) < 2
    assert np.abs(found - usual)[middle].max() < 0.01
    assert np.array_equal(np.argsort(found), np.argsort(usual))
    # Beyond all that is known it goes on as at the end.
    assert aligned(np.array([1 - 1e-9]), other, usual, 0.5)[0] > found.max()


def test_equal_scores_at_the_threshold_stay_there():
    usual = np.array([0.3] * 30 + [0.1] * 70)
    other = np.array([0.9] * 30 + [0.2] * 70)
    assert aligned(np.array([0.9, 0.2]), other, usual, 0.3)[0] == 0.3
    memorised = np.zeros(100)
    score = np.array([0.0, 0.4, 1.0])
    kept = aligned(score, memorised, memorised, 0.5)
    assert kept == pytest.approx(score, abs=1e-9)


def test_folds_are_aligned_and_known(rows):
    X, y = rows
    model = train(make_model(FitConfig("nnpu"), 0.2), X, y).model
    score, _, (fold, scores) = held_out_scores(model, X, y, 0)
    plain, _ = cross_fit(model, X, y, 5, 0)
    assert np.bincount(fold).tolist() == [24] * 5
    assert not np.array_equal(score, plain)
    assert np.array_equal(scores[fold, np.arange(120)], score)
    for place in range(5):
        rows = fold == place
        assert np.array_equal(np.argsort(score[rows]), np.argsort(plain[rows]))


@pytest.mark.parametrize("threshold", ["precision:0.9", "recall:0.8"])
@pytest.mark.parametrize("method", ["puet", "bagging", "spy", "pebl", "elkan-noto"])
def test_a_threshold_from_held_out_rows_names_methods_that_hold_some_out(method, threshold):
    with pytest.raises(ValueError, match=rf"{method} holds out none.*nnpu.*robust-pu.*top:200"):
        make_model(FitConfig(method, threshold=threshold), 0.2)
    assert make_model(FitConfig("nnpu", threshold=threshold), 0.2).threshold == threshold
    assert make_model(FitConfig(method, threshold="top:20"), 0.2).threshold == "top:20"


def test_fits_of_other_scales_can_be_ranked_together(rows, monkeypatch):
    """Fits that rank alike, and score the higher the later they are: the AUC of each is 1."""
    _, y = rows
    X = np.where(y == 1, 2.0, 0.0)[:, None].astype(np.float32) + np.arange(120)[:, None] / 120
    model = ElkanNotoClassifier(prior=0.2, random_state=0)
    fit_folds = held_out._fit_folds

    def blown_up(*given):
        copies, parts, seconds = fit_folds(*given)
        for place, copy in enumerate(copies):
            copy.calibration_ = 3.0 * place
            copy.probability_ = shifted(copy.probability_, 3.0 * place)
        return copies, parts, seconds

    monkeypatch.setattr(held_out, "_fit_folds", blown_up)
    score, _ = cross_fit(model, X, y, 4, 0)
    assert score[y == 1].min() > score[y == 0].max()
