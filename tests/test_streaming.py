"""A fit on a mapped file is the fit on the array, to the last bit, and does not hold it."""

import multiprocessing
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from torch import nn

import robustpu
from robustpu import (
    CollapseWarning,
    Curriculum,
    GenPUClassifier,
    NNPUClassifier,
    P3MixCClassifier,
    Pacing,
    PNClassifier,
    PUClassifier,
    PUExtraTreesClassifier,
    PULNSClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    SelfPUClassifier,
    VPUClassifier,
    fit_together,
)
from robustpu.base import neural
from robustpu.fleet import Mapped, batches, engine
from robustpu.methods import composition, voting
from robustpu.modules import mlp
from robustpu.modules import rows as blocks_room
from robustpu.training import fit as training
from robustpu.training import fleets

pytestmark = [
    pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning"),
    pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning"),
]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    """Several pieces an epoch, and several blocks a pass."""
    monkeypatch.setattr(batches, "PIECE", 10_000)
    monkeypatch.setattr(blocks_room, "BLOCK", 200)


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Forests that estimate a prior are small: how well they do is for the tests of the priors."""
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)


@pytest.fixture
def mapped(tmp_path):
    """A function that lays an array out in a file, and maps it."""
    count = iter(range(100))

    def save(array):
        path = tmp_path / f"{next(count)}.npy"
        np.save(path, array)
        return np.load(path, mmap_mode="r")

    return save


@pytest.fixture
def pools(monkeypatch):
    """Kinds of the pools that fleets are given."""
    seen = []

    class Recorded(fleets.Fleet):
        def __init__(self, pool, *rest):
            seen.append(type(pool))
            super().__init__(pool, *rest)

    monkeypatch.setattr(fleets, "Fleet", Recorded)
    return seen


def table(n=110, d=4, kind=np.float64):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.5
    X = rng.normal(60, 20, (n, d)) + 40 * truth[:, None]
    return np.clip(X, 0, 255).astype(kind), (truth & (rng.random(n) < 0.6)).astype(int)


def pictures(n=60, kind=np.uint8):
    X, y = table(n, 36, kind)
    return X.reshape(n, 1, 6, 6), y


def convolved(shape):
    return nn.Sequential(
        nn.Conv2d(shape[0], 3, 3, bias=False),
        nn.BatchNorm2d(3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(48, 1),
    )


def quick(cls=NNPUClassifier, **changes):
    given = {"prior": 0.3, "epochs": 2, "n_members": 2, "random_state": 0, "batch_size": 32}
    if cls is RobustPUClassifier:
        given |= {"pretrain": NNPUClassifier(epochs=2), "lr": 1e-3}
        pacing = {"pacing_positive": Pacing(), "pacing_unlabeled": Pacing()}
        given |= {"curriculum": Curriculum(max_rounds=2, balance=True, **pacing)}
    if cls is PULNSClassifier:
        given |= {"episodes": 1, "selector_steps": 2, "warm_epochs": 1}
    return cls(**given | changes)


def assert_equal(one, two):
    """All that was learnt, to the bit."""
    assert torch.equal(one.state_.flat, two.state_.flat)
    for name, value in one.state_.buffers.items():
        assert torch.equal(value, two.state_.buffers[name])
    for name in ("probability_", "out_of_fold_", "member_scores_", "kept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert (one.prior_, one.threshold_) == (two.prior_, two.threshold_)
    np.testing.assert_equal(one.history_, two.history_)


METHODS = [
    NNPUClassifier,
    P3MixCClassifier,
    PNClassifier,
    PULNSClassifier,
    RobustPUClassifier,
    SelfPUClassifier,
    VPUClassifier,
]


class TestEquality:
    @pytest.mark.parametrize("cls", METHODS)
    def test_tables(self, cls, mapped, pools):
        X, y = table()
        M = mapped(X)
        held, read = quick(cls).fit(X, y), quick(cls).fit(M, y)
        assert_equal(held, read)
        assert pools == [torch.Tensor, Mapped]
        for other in (X, M, M[20:90]):
            rows = np.array(other)
            np.testing.assert_array_equal(held.predict_proba(rows), read.predict_proba(other))

    @pytest.mark.parametrize("kind", [np.float32, np.uint8, ">f4", np.int64, np.float16], ids=str)
    @pytest.mark.parametrize("standardize", [True, False])
    def test_kinds_of_numbers(self, kind, standardize, mapped):
        X, y = table(kind=kind)
        held = quick(standardize=standardize).fit(X, y)
        assert_equal(held, quick(standardize=standardize).fit(mapped(X), y))

    @pytest.mark.parametrize("mirror", [False, True])
    @pytest.mark.parametrize("kind", [np.uint8, np.float32])
    @pytest.mark.parametrize("cls", [NNPUClassifier, RobustPUClassifier])
    def test_pictures(self, mirror, kind, cls, mapped, pools):
        X, y = pictures(kind=kind)
        model = quick(cls, module=convolved, mirror=mirror)
        held, read = clone(model).fit(X, y), clone(model).fit(mapped(X), y)
        assert_equal(held, read)
        assert pools == [torch.Tensor, Mapped]
        np.testing.assert_array_equal(held.predict_proba(X), read.predict_proba(mapped(X)))

    @pytest.mark.parametrize("rows_too", [True, False])
    @pytest.mark.parametrize("truth_too", [True, False])
    def test_an_eval_set(self, mapped, pools, rows_too, truth_too):
        X, y = table()
        other, truth = table(70)
        held = quick().fit(X, y, eval_set=(other, truth))
        given = mapped(other) if truth_too else other
        read = quick().fit(mapped(X) if rows_too else X, y, eval_set=(given, truth))
        assert_equal(held, read)
        assert pools[1] is (Mapped if rows_too or truth_too else torch.Tensor)

    def test_weights_and_their_record(self, mapped):
        X, y = table()
        weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
        model = quick(RobustPUClassifier)
        held, read = clone(model).fit(X, y, weight), clone(model).fit(mapped(X), y, weight)
        assert_equal(held, read)
        for name in ("weight_path_", "weight_", "hardness_"):
            np.testing.assert_array_equal(getattr(held, name), getattr(read, name))

    # Few rows are held out, too few to tell the share.
    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("prior", ["auto", "tedn", "elkan-noto"])
    def test_an_estimated_prior(self, mapped, prior):
        X, y = table(80)
        held, read = (quick(prior=prior).fit(rows, y) for rows in (X, mapped(X)))
        assert held.prior_ == read.prior_
        assert_equal(held, read)

    def test_cuts_of_a_map(self, mapped, pools):
        X, y = table(d=6)
        for cut in (np.s_[10:], np.s_[::2], np.s_[:, 1:4], np.s_[::3, :2], np.s_[:, 2:3]):
            pools.clear()
            assert_equal(
                quick().fit(X[cut], y[cut[0] if isinstance(cut, tuple) else cut]),
                quick().fit(mapped(X)[cut], y[cut[0] if isinstance(cut, tuple) else cut]),
            )
            assert pools == [torch.Tensor, Mapped]

    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    def test_jobs_on_maps_and_arrays_together(self, mapped, pools):
        X, y = table()
        other, labels = table(kind=np.float32)
        M = mapped(X)
        jobs = [(M, y), (other, labels), (M, 1 - y), (mapped(other), labels)]
        models = fit_together((quick(prior="auto", n_members=1), *job) for job in jobs)
        # Labels that are swapped are of another number, and so of another fleet.
        assert pools == [Mapped, Mapped]
        for model, (rows, labels) in zip(models, jobs, strict=True):
            alone = quick(prior="auto", n_members=1).fit(np.array(rows), labels)
            np.testing.assert_allclose(model.probability_, alone.probability_, atol=1e-5)
            assert model.prior_ == pytest.approx(alone.prior_, abs=1e-9)

    def test_a_cross_validation(self, mapped):
        X, y = table()
        scores = [
            cross_val_score(quick(), rows, y, scoring="roc_auc", cv=2) for rows in (X, mapped(X))
        ]
        np.testing.assert_array_equal(*scores)

    def test_a_model_on_disk(self, mapped, tmp_path):
        X, y = table()
        read = quick().fit(mapped(X), y)
        read.save(tmp_path / "model")
        again = robustpu.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_proba(mapped(X)), read.predict_proba(X))

    def test_what_is_scattered_is_held(self, mapped, pools):
        X, y = table()
        for rows in (mapped(np.asfortranarray(X)), mapped(X)[::-1]):
            quick().fit(rows, y)
        assert set(pools) == {torch.Tensor}

    def test_a_method_that_makes_rows_reads_those_of_the_file(self, mapped, pools):
        X, y = table()
        given = {"prior": 0.3, "epochs": 2, "random_state": 0}
        held, read = (GenPUClassifier(**given).fit(rows, y) for rows in (X, mapped(X)))
        assert_equal(held, read)
        assert pools == [torch.Tensor, Mapped]
        eval_set = (mapped(X), y)
        assert GenPUClassifier(**given).fit(X, y, eval_set=eval_set).selection_ == "oracle"


class TestRefusals:
    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_gaps_as_in_an_array(self, mapped, wrong):
        X, y = table()
        X[100, 2] = wrong
        told = []
        for rows in (X, mapped(X)):
            with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)") as caught:
                quick().fit(rows, y)
            told.append(str(caught.value))
        assert told[0] == told[1]
        model = quick().fit(*table())
        with pytest.raises(ValueError, match=r"Input X contains (NaN|infinity)"):
            model.predict(mapped(X))

    def test_numbers_too_large(self, mapped):
        X, y = table()
        X[100, 2] = 1e300
        with pytest.raises(ValueError, match="single precision"):
            quick(standardize=False).fit(mapped(X), y)

    def test_other_columns(self, mapped):
        X, y = table()
        with pytest.raises(ValueError, match="4 features"):
            quick().fit(X, y).predict(mapped(X[:, :3]))


@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
class TestPriorOfAFewRows:
    def test_a_sample_if_there_are_many(self, mapped, monkeypatch):
        seen = []
        estimate = training.priors.estimate

        def spy(samples):
            seen.extend(samples)
            return estimate(samples)

        monkeypatch.setattr(neural, "PRIOR_ROWS", 40)
        monkeypatch.setattr(training.priors, "estimate", spy)
        X, y = table(300)
        quick(prior="auto").fit(mapped(X), y)
        (sample,) = seen
        assert isinstance(sample.x, Mapped)
        assert sample.is_positive.sum() == 40
        assert len(sample.x) == len(sample.is_positive) == 80
        # Each row with its label.
        scale = X.std(0)
        known = {tuple(row) for row in ((X[y == 1] - X.mean(0)) / scale).astype(np.float32)}
        found = {tuple(row) for row in sample.x[:].numpy()[sample.is_positive]}
        assert found <= known

    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    def test_an_array_is_used_whole(self, monkeypatch):
        monkeypatch.setattr(neural, "PRIOR_ROWS", 40)
        X, y = table(100)
        first = quick(prior="auto").fit(X, y).prior_
        monkeypatch.setattr(neural, "PRIOR_ROWS", 10**9)
        assert quick(prior="auto").fit(X, y).prior_ == first


class TestEnsembles:
    """Trees hold what they learn from."""

    def model(self, **changes):
        trees = PUExtraTreesClassifier(n_estimators=10)
        pair = [("networks", quick(RobustPUClassifier)), ("trees", trees)]
        return PUVotingClassifier(pair, prior=0.3, random_state=0, **changes)

    def test_all_rows_if_they_are_few(self, mapped):
        X, y = table()
        held, read = self.model().fit(X, y), self.model().fit(mapped(X), y)
        assert_equal(held.estimators_[0], read.estimators_[0])
        np.testing.assert_array_equal(held.out_of_fold_, read.out_of_fold_)
        np.testing.assert_array_equal(held.predict_proba(X), read.predict_proba(mapped(X)))

    @pytest.mark.parametrize("scenario", ["case-control", "single-set"])
    def test_a_sample_if_they_are_many(self, mapped, monkeypatch, scenario):
        monkeypatch.setattr(voting, "HELD", 0)
        monkeypatch.setattr(voting, "LEAST", 100)
        seen = []
        check = PUExtraTreesClassifier.check_data

        def spy(self, X, y, sample_weight, eval_set):
            seen.append((X, y, sample_weight))
            return check(self, X, y, sample_weight, eval_set)

        monkeypatch.setattr(PUExtraTreesClassifier, "check_data", spy)
        X, y = table(400)
        weight = np.random.default_rng(0).uniform(0, 1, 400)
        weight[::5] = 0
        model = self.model(scenario=scenario).fit(mapped(X), y, weight)
        ((rows, labels, weights),) = seen
        assert rows.shape == (100, 4)
        assert labels.sum() == 50
        assert (weights > 0).all()
        scaled = weight / weight.mean()
        for kind in (0, 1):
            assert weights[labels == kind].sum() == pytest.approx(scaled[y == kind].sum())
        assert np.isfinite(model.probability_).all()
        # Rows that the trees have not seen have their plain predictions.
        networks, trees = model.estimators_
        is_seen = (X[:, None] == rows).all(2).any(1)
        expected = (networks.probability_ + trees.predict_proba(X)[:, 1]) / 2
        np.testing.assert_allclose(model.probability_[~is_seen], expected[~is_seen], rtol=1e-12)
        known = np.isfinite(model.out_of_fold_) & ~is_seen
        assert known.any()

    def test_few_labels_are_all_in_the_sample(self, mapped, monkeypatch):
        monkeypatch.setattr(voting, "HELD", 0)
        monkeypatch.setattr(voting, "LEAST", 100)
        X, y = table(400)
        y[np.flatnonzero(y)[30:]] = 0
        model = self.model().fit(mapped(X), y)
        assert model.estimators_[1].is_positive_.sum() == 30
        assert len(model.estimators_[1].is_positive_) == 100

    def test_many_labels_fill_the_sample(self, mapped, monkeypatch):
        monkeypatch.setattr(voting, "HELD", 0)
        monkeypatch.setattr(voting, "LEAST", 100)
        X, y = table(400)
        y[:] = 1
        y[::20] = 0
        model = self.model().fit(mapped(X), y)
        assert model.estimators_[1].is_positive_.sum() == 80
        assert len(model.estimators_[1].is_positive_) == 100

    def test_all_networks_read_the_file(self, mapped, pools, monkeypatch):
        monkeypatch.setattr(composition, "EPOCHS", 2)
        monkeypatch.setattr(composition, "PRETRAIN_EPOCHS", 2)
        X, y = pictures(60)
        module = partial(mlp, hidden=(4,))
        PUClassifier(prior=0.3, module=module, n_members=4, random_state=0).fit(mapped(X), y)
        assert pools == [Mapped] * 3


def anonymous():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1000 for line in lines if line.startswith("RssAnon"))


def growth(folder, shape, kind):
    """Most anonymous memory, in bytes, that a fit to a mapped file adds."""
    blocks_room.BLOCK, batches.PIECE = 1 << 18, 1 << 22
    # What is scored at a time would be a tenth of the file.
    neural.SCORE = engine.SCORE["cpu"] = 1 << 19
    X = np.lib.format.open_memmap(folder / "rows.npy", "w+", kind, shape)
    X[:50] = np.random.default_rng(0).random((50, *shape[1:])) * 200
    y = np.arange(len(X)) % 4 == 0
    model = quick(
        RobustPUClassifier,
        module=partial(mlp, hidden=(4,)),
        epochs=1,
        curriculum=Curriculum(max_rounds=1),
        batch_size=200,
        pretrain=None,
    )
    before, peak, over = anonymous(), [0], threading.Event()

    def look():
        while not over.wait(0.005):
            peak[0] = max(peak[0], anonymous())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            model.fit(X, y).predict_proba(X)
    finally:
        over.set()
        thread.join()
    return peak[0] - before


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("shape", "kind"),
    [((20_000, 2_500), np.float32), ((20_000, 1, 50, 50), np.uint8)],
    ids=["tables", "pictures"],
)
def test_the_file_is_never_in_memory(tmp_path, shape, kind):
    # A process of its own: what other tests left would count as well.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        most = pool.submit(growth, tmp_path, shape, kind).result()
    # Its inputs are 200 MB in single precision, and 400 MB in double.
    assert most < 150e6
