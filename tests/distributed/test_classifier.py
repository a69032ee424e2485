"""Robust-PU on a real cluster of two processes: as good as in memory, and hard to kill."""

import contextlib
import os
import pickle
import signal
import threading
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs robustpu[dask]")
lightgbm = pytest.importorskip("lightgbm", reason="the learner of these tests")

import cloudpickle  # noqa: E402
import dask.array as da  # noqa: E402
import distributed  # noqa: E402
import torch  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

from robustpu import CollapseWarning, Curriculum, RobustPUMetaClassifier  # noqa: E402
from robustpu.distributed import DaskRobustPUMetaClassifier, learning  # noqa: E402
from robustpu.methods.robust_pu_meta import default_curriculum  # noqa: E402

SETTING = {"n_estimators": 20, "num_leaves": 8, "min_child_samples": 5, "verbose": -1}


def model_of(known, **given):
    learner = lightgbm.DaskLGBMClassifier(**SETTING)
    settings = {"prior": known.prior, "scenario": "single-set", "random_state": 0}
    return DaskRobustPUMetaClassifier(**{"estimator": learner, **settings, **given})


def one_round():
    return default_curriculum().set_params(max_rounds=1)


def arrays(value):
    """All arrays, frames and lists of numbers in what came to the client."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from arrays(item)
    elif hasattr(value, "shape"):
        yield value


@pytest.fixture(scope="module")
def fitted(client, known):
    """A model, and the shapes of all arrays that came to the client."""
    import dask.array as da

    chunks = (1000, 2000, 1500, 1500)
    X, y = da.from_array(known.X, chunks=(chunks, 5)), da.from_array(known.y, chunks=(chunks,))
    came = []
    gather = distributed.Client._gather

    async def watched(self, *args, **kwargs):
        answer = await gather(self, *args, **kwargs)
        came.extend(array.shape for array in arrays(answer))
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distributed.Client, "_gather", watched)
        model = model_of(known).fit(X, y)
    return model, came


def accuracy(model, known):
    return float(np.mean(model.predict(known.X_test) == known.truth_test))


def test_as_good_as_in_memory(fitted, known):
    model = fitted[0]
    learner = lightgbm.LGBMClassifier(n_jobs=1, **SETTING)
    given = {"prior": known.prior, "scenario": "single-set", "n_members": 1, "n_folds": 2}
    here, other = (
        RobustPUMetaClassifier(estimator=learner, random_state=seed, **given).fit(known.X, known.y)
        for seed in (0, 1)
    )
    # Five times the deviation of a share of 10,000 rows.
    assert accuracy(model, known) == pytest.approx(accuracy(here, known), abs=0.02)
    assert accuracy(model, known) > 0.8
    assert model.score_ == pytest.approx(accuracy(model, known), abs=0.05)
    # In memory, another seed changes as much.
    ours, one, two = (fitted.predict_proba(known.X_test)[:, 1] for fitted in (model, here, other))
    assert np.abs(ours - one).mean() < 1.5 * np.abs(one - two).mean()
    assert model.positive_rate_ == pytest.approx(known.prior, abs=0.08)
    # A wrong prior, or no rounds at all, would not do.
    assert model.best_round_ > 0
    assert model.history_[model.best_round_]["score"] == max(one["score"] for one in model.history_)


def test_rows_stay_on_the_workers(fitted, known):
    came = fitted[1]
    assert (2, 4096) in came  # the histogram of a round
    assert max(shape[0] for shape in came if shape) < 1000


def test_dask_in_dask_out_and_numpy_in_numpy_out(fitted, known, blocks):
    model, (X, _) = fitted[0], blocks
    for name in ("predict_proba", "decision_function", "predict"):
        lazy, here = getattr(model, name)(X), getattr(model, name)(known.X)
        assert lazy.chunks[0] == X.chunks[0]
        assert isinstance(here, np.ndarray)
        assert np.array_equal(lazy.compute(), here)
    assert model.predict_proba(known.X).sum(1) == pytest.approx(1.0)
    assert np.array_equal(model.decision_function(known.X) >= 0, model.predict(known.X) == 1)


def test_suspects_are_hidden_positives(fitted, known):
    model = fitted[0]
    rows, probability = model.suspects(50)
    assert not known.y[rows].any()
    assert known.truth[rows].mean() > 0.75
    assert np.all(np.diff(probability) <= 0)


def test_a_copy_answers_the_same_but_has_no_suspects(fitted, known):
    model = fitted[0]
    copy = pickle.loads(pickle.dumps(model))
    assert np.array_equal(copy.predict(known.X), model.predict(known.X))
    with pytest.raises(ValueError, match="left on the cluster"):
        copy.suspects()
    assert len(model.suspects(3)[0]) == 3


def test_frames_strings_and_an_estimated_prior(client, known):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(known.X, columns=list("abcde"))
    frame.loc[::50, "a"] = np.nan
    frame["label"] = np.where(known.y == 1, "case", "unknown")
    table = dd.from_pandas(frame, npartitions=3)
    model = model_of(known, prior="dedpul", pos_label="case", curriculum=one_round())
    model.fit(table[list("abcde")], table["label"])
    assert model.prior_ == pytest.approx(known.prior, abs=0.12)
    answers = model.predict(table[list("abcde")]).compute()
    assert np.mean((answers == "case") == known.truth) > 0.75
    assert np.array_equal(answers, model.predict(frame[list("abcde")]))
    assert model.predict_proba(frame[list("abcde")])[known.truth, 0].mean() > 0.5


def test_xgboost(client, known, blocks):
    kind = pytest.importorskip("xgboost.dask").DaskXGBClassifier
    learner = kind(n_estimators=15, max_depth=3, verbosity=0)
    model = model_of(known, estimator=learner, curriculum=one_round()).fit(*blocks)
    assert accuracy(model, known) > 0.8


def test_the_number_that_stands_for_missing_ones_is_kept(client, known):
    kind = pytest.importorskip("xgboost.dask").DaskXGBClassifier
    X = np.where(np.random.default_rng(0).random(known.X.shape) < 0.3, -999, known.X)
    rows, y = da.from_array(X, chunks=(3000, 5)), da.from_array(known.y, chunks=3000)
    learner = kind(n_estimators=15, max_depth=3, verbosity=0, missing=-999)
    model = model_of(known, estimator=learner, curriculum=one_round()).fit(rows, y)
    blank = np.where(X == -999, np.nan, X)
    plain = clone(model.estimators_[0]).set_params(missing=np.nan)
    plain.load_model(model.estimators_[0].get_booster().save_raw("ubj"))
    expected = plain.predict_proba(blank[:50])
    np.testing.assert_allclose(model.estimators_[0].predict_proba(X[:50]), expected, atol=1e-6)


def test_the_class_in_memory_gathers_nothing(blocks):
    with pytest.raises(TypeError, match=r"take robustpu\.distributed\.DaskRobustPUMetaClassifier"):
        RobustPUMetaClassifier(prior=0.3).fit(*blocks)


def test_tasks_of_answers_bring_no_learners_along(fitted, blocks):
    model = fitted[0]
    graph = dict(model.predict_proba(blocks[0]).__dask_graph__())
    sizes = [len(cloudpickle.dumps(task)) for key, task in graph.items() if "answer" in str(key)]
    assert len(sizes) == 4
    assert max(sizes) < len(cloudpickle.dumps(model.estimators_[0])) / 4


class Killing(lightgbm.DaskLGBMClassifier):
    """In its third fit, the first worker that gets to the fifth tree dies."""

    fits = 0
    mark = ""

    def fit(self, *args, **kwargs):
        Killing.fits += 1
        if Killing.fits == 3:
            mark = Killing.mark

            def die(state):
                if state.iteration == 5:
                    with contextlib.suppress(FileExistsError):
                        os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
                        os.kill(os.getpid(), signal.SIGKILL)

            kwargs["callbacks"] = [die]
        return super().fit(*args, **kwargs)


def test_a_killed_worker_does_not_lose_the_fit(client, known, blocks, monkeypatch, tmp_path):
    monkeypatch.setattr(Killing, "fits", 0)
    monkeypatch.setattr(Killing, "mark", str(tmp_path / "died"))
    before = set(client.nthreads())
    model = model_of(known, estimator=Killing(**SETTING), curriculum=one_round()).fit(*blocks)
    assert (tmp_path / "died").exists()
    assert not before & set(client.nthreads())
    assert Killing.fits == 5
    assert accuracy(model, known) > 0.8
    assert len(model.suspects(10)[0]) == 10


class Cluster:
    """Has one worker, which goes away in each fit if it is told so."""

    def __init__(self, goes):
        self.goes, self.name = goes, 0

    def nthreads(self):
        return {f"worker {self.name}": 1}

    def fail(self, *_):
        self.name += self.goes
        raise OSError("broken pipe")


@pytest.mark.parametrize(
    ("goes", "kind", "fits"), [(True, learning.LostWorkerError, 3), (False, OSError, 1)]
)
def test_a_fit_is_tried_again_only_if_a_worker_was_lost(goes, kind, fits, monkeypatch):
    cluster, seen = Cluster(goes), []
    monkeypatch.setattr(learning, "GLANCE", 0)
    monkeypatch.setattr(learning, "client_of", lambda: cluster)
    monkeypatch.setattr(learning, "settled", lambda _: seen.append(1))
    monkeypatch.setattr(learning, "_watched", cluster.fail)
    monkeypatch.setattr(learning, "_renew", lambda *_: None)
    with pytest.raises(kind, match=r"lost in 3 fits|broken pipe"):
        learning.fit(lightgbm.DaskLGBMClassifier(), (), 0, 2)
    assert len(seen) == fits


def test_a_worker_that_comes_back_at_its_address_was_lost(monkeypatch):
    left = [{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 1}]
    user = SimpleNamespace(
        nthreads=lambda: left.pop(0) if left else {"a": 1, "b": 1},
        scheduler=SimpleNamespace(address="tcp://here:1"),
        security=None,
    )
    end = threading.Event()
    monkeypatch.setattr(distributed, "Client", lambda *_, **__: contextlib.nullcontext())
    monkeypatch.setattr(learning, "_fitted", lambda *_: end.wait(30))
    monkeypatch.setattr(learning, "GLANCE", 0.01)
    monkeypatch.setattr(learning, "GRACE", 0.1)
    watch = learning.Watch(user)
    with pytest.raises(learning.LostWorkerError, match="broken off"):
        learning._watched(user, None, (), watch)
    end.set()
    assert watch.wait() == {"b"}


def test_the_client_of_a_fit_has_the_certificates_of_the_users(monkeypatch):
    class AskedError(Exception):
        pass

    def client(address, **given):
        raise AskedError(address, given)

    monkeypatch.setattr(distributed, "Client", client)
    user = SimpleNamespace(scheduler=SimpleNamespace(address="tls://here:1"), security=object())
    with pytest.raises(AskedError) as asked:
        learning._watched(user, None, (), None)
    assert asked.value.args == ("tls://here:1", {"security": user.security})


def first_alone(hardness, threshold):
    """Weight 1, but of the labelled rows of a block, whose threshold is 2, all but one 0."""
    labelled = torch.nonzero(threshold == 2).flatten()
    weight = torch.ones_like(hardness)
    weight[labelled[1:]] = 0
    return weight


# Two labelled rows are too few to learn well from.
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
def test_rounds_end_before_a_fold_would_learn_one_class(client, known, blocks):
    # Of two labelled rows each fold has one.
    y = da.from_array((np.arange(6000) < 2).astype(int), chunks=blocks[1].chunks)
    model = model_of(known, curriculum=default_curriculum().set_params(weighting=first_alone))
    with pytest.warns(UserWarning, match="round 1 would leave positives or negatives without"):
        model.fit(blocks[0], y)
    assert model.best_round_ == 0


def test_without_a_cluster_there_is_an_error(monkeypatch):
    def nobody():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", nobody)
    with pytest.raises(ValueError, match="there is no Dask cluster"):
        learning.client_of()


def test_answers_of_one_class_raise_the_alarm(client, known, blocks):
    with pytest.warns(CollapseWarning, match="collapsed to all-negative"):
        model_of(known, curriculum=one_round(), threshold=0.999).fit(*blocks)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"estimator": LogisticRegression()}, "must fit Dask collections; LogisticRegression"),
        ({"estimator": lightgbm.LGBMClassifier()}, "takes rows in memory"),
        ({"prior": 2.0}, "between 0 and 1"),
        ({"prior": "tedn"}, "trains networks"),
        ({"curriculum": Curriculum(max_rounds=0)}, "max_rounds must be a whole number at least 1"),
        ({"threshold": "prior"}, "threshold must be a number"),
        ({"retries": -1}, "retries must be"),
        ({"curriculum": Curriculum(hardness="none")}, "unknown hardness|hardness must"),
    ],
)
def test_parameters_are_refused(known, blocks, given, words):
    with pytest.raises(ValueError, match=words):
        model_of(known, **given).fit(*blocks)


def test_what_is_not_fitted_answers_nothing(known):
    with pytest.raises(NotFittedError):
        model_of(known).predict(known.X)
