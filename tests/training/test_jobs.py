"""Jobs fitted together are the jobs fitted apart."""

import threading
import warnings
from functools import partial

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

from robustpu import (
    CollapseWarning,
    Curriculum,
    NNPUClassifier,
    Pacing,
    PNClassifier,
    PUExtraTreesClassifier,
    PUVotingClassifier,
    RobustPUClassifier,
    UPUClassifier,
    fit_together,
)
from robustpu.fleet import Mapped
from robustpu.modules import mlp
from robustpu.training import Job
from robustpu.training import fleets as fleet_training


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Forests that estimate a prior are small: how well they do is for the tests of the priors."""
    monkeypatch.setattr("robustpu.priors.crossfit.TREES", 5)


def table(n_positive=60, n_unlabeled=60, prior=0.5, d=3, seed=0):
    """Two Gaussians in random order: rows, and 1 for labelled positives, 0 for unlabelled."""
    rng = np.random.default_rng(seed)
    above = n_positive + round(prior * n_unlabeled)
    n = n_positive + n_unlabeled
    center = np.where(np.arange(n) < above, 1.2, -1.2)
    X = rng.normal(center[:, None], 1.0, (n, d))
    y = (np.arange(n) < n_positive).astype(int)
    order = rng.permutation(n)
    return X[order], y[order]


def quick(cls=NNPUClassifier, **changes):
    """An estimator that learns `table` in a moment, and predicts as many positives as expected."""
    given = {"prior": 0.5, "epochs": 6, "lr": 1e-2, "batch_size": 32, "random_state": 0}
    given |= {"weight_decay": 0.0, "threshold": "prior"}
    if cls in (NNPUClassifier, UPUClassifier):
        given |= {"surrogate": "logistic"}
    if cls is RobustPUClassifier:
        given |= {
            "epochs": 2,
            "n_members": 2,
            "pretrain": NNPUClassifier(
                surrogate="logistic", epochs=6, lr=1e-2, weight_decay=0.0, batch_size=32
            ),
            "curriculum": Curriculum(
                max_rounds=3,
                temperature_unlabeled=1.0,
                pacing_positive=Pacing(lambda0=0.5, beta=1.0, t_grow=5),
                pacing_unlabeled=Pacing(lambda0=0.4, beta=0.8, t_grow=5),
                balance=True,
            ),
        }
    return cls(**given).set_params(**changes)


def ensemble(*others, **changes):
    """Networks, networks of another class, and others."""
    given = {"prior": 0.5, "threshold": "prior", "random_state": 0, **changes}
    members = [
        ("a", quick(n_members=2, prior=given["prior"])),
        ("b", quick(lr=3e-3, prior=given["prior"])),
        ("c", quick(UPUClassifier, prior=given["prior"])),
    ]
    return PUVotingClassifier([*members, *others], **given)


def tanh_net(shape):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.Tanh(), nn.Linear(4, 1))


def batch_norm_net(shape):
    return nn.Sequential(nn.Linear(shape[0], 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 1))


def assert_same(model, alone, X):
    """All that was learnt is equal up to rounding."""
    assert type(model) is type(alone)
    np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.probability_, alone.probability_, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.member_scores_, alone.member_scores_, atol=1e-5)
    np.testing.assert_array_equal(model.kept_, alone.kept_)
    assert model.threshold_ == pytest.approx(alone.threshold_, abs=1e-5)
    assert model.prior_ == pytest.approx(alone.prior_, abs=1e-9)
    assert model.selection_ == alone.selection_
    if isinstance(model, PUVotingClassifier):
        for part, expected in zip(model.estimators_, alone.estimators_, strict=True):
            np.testing.assert_allclose(part.probability_, expected.probability_, atol=1e-5)
        return
    assert len(model.history_) == len(alone.history_)
    for entry, expected in zip(model.history_, alone.history_, strict=True):
        assert entry == pytest.approx(expected, rel=1e-3, abs=1e-4)


def many_jobs():
    """Jobs of different sizes, classes, settings, networks, priors, weights and eval_sets."""
    X, y = table()
    other, labels = table(seed=1)
    small, few = table(n_positive=20, n_unlabeled=45, d=3, seed=2)
    wide, marks = table(d=5, seed=3)
    truth = (other.mean(1) > 0).astype(int)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    names = np.array(["?", "yes"])
    small_net = partial(mlp, hidden=(8, 8))
    return [
        (quick(), X, y),
        (quick(random_state=1, lr=3e-3, weight_decay=1e-3, warmup_epochs=2), other, labels),
        (quick(prior="auto"), X, y),
        (quick(prior="auto", random_state=3), other, labels),
        (quick(prior="auto", module="linear"), other, labels),
        (quick(prior=0.3, patience=1), X, y),
        (quick(prior=0.3, scenario="single-set"), X, y),
        (quick(epochs=4, batch_size=16), X, y),
        (quick(validation_fraction=0), X, y),
        (quick(validation_fraction=0.3, n_members=3), X, y),
        (quick(), X, y, (other, truth)),
        (quick(), X, y, (other[:50], truth[:50])),
        (quick(), X, y, None, weight),
        (quick(standardize=False), X, y),
        (quick(), small, few),
        (quick(), wide, marks),
        (quick(pos_label="yes"), X, names[y]),
        (quick(pos_label=0), X, 1 - y),
        (quick(surrogate="sigmoid"), X, y),
        (quick(beta=0.1, gamma=0.5), X, y),
        (quick(module=small_net), X, y),
        (quick(module=tanh_net), X, y),
        (quick(module=batch_norm_net), X, y),
        (quick(PNClassifier), X, y),
        (quick(PNClassifier, patience=2), other, labels),
        (quick(UPUClassifier), X, y),
        (quick(RobustPUClassifier), X, y),
        (quick(RobustPUClassifier, prior="auto"), other, labels),
        (quick(RobustPUClassifier, curriculum__temperature_unlabeled=1.5), other, labels),
        (quick(RobustPUClassifier, curriculum__max_rounds=5, patience=1), other, labels),
        (quick(RobustPUClassifier, pretrain=None), X, y),
        (quick(RobustPUClassifier, pretrain=PNClassifier(epochs=3)), X, y),
        (quick(RobustPUClassifier, curriculum__balance=False), X, y, (other, truth)),
        (quick(RobustPUClassifier, curriculum__weighting="linear"), X, y),
        (quick(RobustPUClassifier, curriculum=None), X, y, None, weight),
        # Trees with a prior that is given: that of an estimate differs by rounding, which may
        # decide between two splits that are equally good.
        (ensemble(("trees", PUExtraTreesClassifier(n_estimators=4))), X, y, None, weight),
        (ensemble(prior="auto"), other, labels, (other, truth)),
    ]


# Some jobs are odd on purpose, may collapse in their few epochs, and hold few rows out.
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
class TestEquality:
    def test_together_is_as_apart(self):
        jobs = many_jobs()
        apart = [(clone(job[0]), *job[1:]) for job in jobs]
        models = fit_together(jobs)
        assert all(model is job[0] for model, job in zip(models, jobs, strict=True))
        for model, (alone, X, y, *rest) in zip(models, apart, strict=True):
            eval_set, weight = [*rest, None, None][:2]
            assert_same(model, alone.fit(X, y, weight, eval_set=eval_set), X)

    def test_order_does_not_matter(self):
        jobs = many_jobs()[:12]
        forward = fit_together(jobs)
        backward = fit_together((clone(job[0]), *job[1:]) for job in reversed(jobs))
        for one, two, job in zip(forward, reversed(backward), jobs, strict=True):
            assert_same(two, one, job[1])

    def test_robust_pu_keeps_its_weights(self):
        X, y = table()
        other, labels = table(seed=4)
        given = quick(RobustPUClassifier)
        models = fit_together([(clone(given), X, y), (clone(given), other, labels)])
        for model, rows, marks in zip(models, (X, other), (y, labels), strict=True):
            alone = clone(given).fit(rows, marks)
            for name in ("weight_", "hardness_", "weight_path_"):
                np.testing.assert_allclose(
                    getattr(model, name), getattr(alone, name), rtol=0, atol=1e-4
                )

    def test_a_member_that_stops_leaves_the_others_alone(self):
        X, y = table()
        # With so small a rate the first epoch is the best, so patience ends the training.
        jobs = [(quick(lr=1e-9, patience=1, epochs=20), X, y), (quick(epochs=20), X, y)]
        stopped, other = fit_together(jobs)
        assert len(stopped.history_) == 2
        assert len(other.history_) == 20
        assert_same(other, quick(epochs=20).fit(X, y), X)


class TestJobs:
    def test_none(self):
        assert fit_together([]) == []
        assert fit_together(iter(())) == []

    def test_a_generator(self):
        X, y = table()
        models = fit_together((quick(random_state=seed), X, y) for seed in range(3))
        assert [model.random_state for model in models] == [0, 1, 2]
        assert_same(models[2], quick(random_state=2).fit(X, y), X)

    def test_a_generator_of_fresh_arrays(self):
        """An array that is made anew for each job is not taken for the one before."""
        jobs = ((quick(), *table(seed=seed)) for seed in range(4))
        for seed, model in enumerate(fit_together(jobs)):
            X, y = table(seed=seed)
            assert_same(model, quick().fit(X, y), X)

    def test_one_x_is_held_once(self, fleets):
        X, y = table()
        flipped = np.random.default_rng(0).permutation(y)
        fit_together(
            [(quick(random_state=s), X, labels) for s, labels in enumerate((y, flipped, y))]
        )
        fit_together([(quick(), X, y), (quick(), X.copy(), y)])
        assert [len(fleet.pool) for fleet in fleets] == [len(X), 2 * len(X)]

    def test_one_x_with_other_labels_and_scales(self):
        X, y = table()
        flipped = np.random.default_rng(0).permutation(y)
        jobs = [(quick(), X, y), (quick(), X, flipped), (quick(standardize=False), X, y)]
        models = fit_together(jobs)
        assert_same(models[0], quick().fit(X, y), X)
        assert_same(models[1], quick().fit(X, flipped), X)
        assert_same(models[2], quick(standardize=False).fit(X, y), X)

    @pytest.mark.parametrize(
        ("job", "match"),
        [
            ((quick(), *table()[:1], np.zeros(120)), "no labelled positives"),
            ((quick(), table()[0] * np.nan, table()[1]), "NaN"),
            ((quick(), *table(), (table()[0], table()[1] + 7)), "eval_set must hold true labels"),
            ((quick(), *table(), None, -np.ones(120)), "[Nn]egative"),
            ((quick(prior=2), *table()), "prior must be"),
            ((quick(prior="auto"), *table(1, 50)), "at least 2 labelled positives"),
        ],
        ids=["labels", "rows", "eval_set", "weights", "parameter", "prior"],
    )
    def test_an_error_in_one_job_names_the_problem(self, job, match):
        X, y = table()
        with pytest.raises(ValueError, match=match):
            fit_together([(quick(), X, y), job, (quick(), X, y)])

    @pytest.mark.parametrize("job", [(quick(), table()[0]), (3, *table()), quick()])
    def test_what_is_no_job(self, job):
        with pytest.raises((TypeError, ValueError), match=r"[Jj]ob|estimator"):
            fit_together([job])

    def test_one_estimator_cannot_be_two_models(self):
        X, y = table()
        model = quick()
        with pytest.raises(ValueError, match="clone"):
            fit_together([(model, X, y), (model, X[:80], y[:80])])


@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
class TestProgress:
    @pytest.mark.parametrize("slice_", [slice(0, 4), slice(20, 37)])
    def test_rises_and_ends(self, slice_):
        seen = []
        fit_together(many_jobs()[slice_], lambda done, total: seen.append((done, total)))
        done, totals = zip(*seen, strict=True)
        assert len(set(totals)) == 1
        assert done[0] == 0
        assert list(done) == sorted(done)
        assert seen[-1] == (totals[0], totals[0])

    def test_counts_epochs_of_single_networks(self):
        X, y = table()
        seen = []
        job = quick(RobustPUClassifier, patience=None)
        fit_together([(job, X, y)], lambda *now: seen.append(now))
        # 6 epochs of pre-training and 3 rounds of 2, of 2 networks; before, after, and each.
        assert seen[-1] == (24, 24)
        assert len(seen) == 1 + 12 + 1

    def test_what_early_stopping_spares_counts_as_done_when_its_fleet_ends(self):
        X, y = table()
        seen = []
        short = quick(NNPUClassifier, patience=1, epochs=200)
        other = quick(NNPUClassifier, patience=None, epochs=3, batch_size=7)
        fit_together([(short, X, y), (other, X, y)], lambda *now: seen.append(now))
        done = [now for now, _ in seen]
        assert seen[-1] == (203, 203)
        assert max(np.diff(done)) > 50
        assert done[-4:] == [201, 202, 203, 203], "the other fleet goes on from there"


@pytest.fixture
def fleets(monkeypatch):
    """Fleets that are trained, with their members and the rates that these were given."""
    seen = []

    class Recorded(fleet_training.Fleet):
        def __init__(self, pool, members, *rest):
            super().__init__(pool, members, *rest)
            self.members, self.rates = members, None
            seen.append(self)

        def start(self, risk, lr, *rest, **numbers):
            self.rates = lr
            super().start(risk, lr, *rest, **numbers)

    monkeypatch.setattr(fleet_training, "Fleet", Recorded)
    return seen


def held_out_rows(fleets, is_positive, members, fraction):
    """Rows that each member holds out."""
    X = np.arange(len(is_positive), dtype=float)[:, None]
    given = {"n_members": members, "validation_fraction": fraction}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)
        quick(PNClassifier, epochs=1, **given).fit(X, is_positive)
    (fleet,) = fleets
    nothing = np.array([], dtype=int)
    return [nothing if m.held_out is None else m.held_out.index.numpy() for m in fleet.members]


class TestHeldOut:
    # Sizes that the fraction divides, and sizes that it does not.
    @pytest.mark.parametrize(
        ("n_positive", "n_unlabeled", "fraction", "members"),
        [
            (50, 100, 0.1, 10),
            (40, 60, 0.25, 4),
            (30, 30, 0.1, 5),
            (27, 96, 0.1, 10),
            (18, 33, 0.2, 5),
        ],
    )
    def test_members_hold_out_different_rows(
        self, fleets, n_positive, n_unlabeled, fraction, members
    ):
        is_positive = np.arange(n_positive + n_unlabeled) < n_positive
        parts = held_out_rows(fleets, is_positive, members, fraction)
        rows = np.concatenate(parts)
        assert len(np.unique(rows)) == len(rows)
        for part in parts:
            assert is_positive[part].sum() == pytest.approx(fraction * n_positive, abs=1)
            assert (~is_positive[part]).sum() == pytest.approx(fraction * n_unlabeled, abs=1)

    def test_jobs_of_one_split_hold_out_the_same_rows(self, fleets):
        is_positive = np.arange(60) < 20
        X = np.random.default_rng(0).normal(size=(60, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CollapseWarning)
            fit_together(
                Job(quick(PNClassifier, epochs=1, random_state=seed), X, is_positive, split=split)
                for seed, split in ((0, 7), (1, 7), (2, 8), (0, None))
            )
        (fleet,) = fleets
        rows = [member.held_out.index.tolist() for member in fleet.members]
        assert rows[0] == rows[1]
        assert rows[0] not in rows[2:]
        assert rows[2] != rows[3]

    def test_more_members_than_that_share_rows(self, fleets):
        is_positive = np.arange(100) < 20
        parts = held_out_rows(fleets, is_positive, 25, 0.2)
        assert all(len(np.unique(part)) == len(part) == 20 for part in parts)
        # Each row about equally often.
        count = np.bincount(np.concatenate(parts), minlength=100)
        assert count.min() == count.max() == 5

    def test_few_members_of_several_estimators_hold_out_all_rows_between_them(self):
        X, y = table()
        four = [(str(lr), quick(epochs=1, n_members=3, lr=lr)) for lr in (1e-2, 3e-3, 1e-3, 5e-3)]
        model = PUVotingClassifier(four, prior=0.5, random_state=0).fit(X, y)
        assert np.isfinite(model.out_of_fold_).all()
        assert not any(np.isfinite(part.out_of_fold_).all() for part in model.estimators_)

    def test_estimators_of_an_ensemble_keep_their_numbers_of_members(self):
        X, y = table()
        sizes = (1, 3, 2)
        three = [(str(size), quick(epochs=1, n_members=size)) for size in sizes]
        model = PUVotingClassifier(three, prior=0.5, random_state=0).fit(X, y)
        assert tuple(len(part.member_scores_) for part in model.estimators_) == sizes

    @pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
    @pytest.mark.parametrize("fraction", [0.001, 0.5, 0.999])
    @pytest.mark.parametrize("n_positive", [2, 3, 50])
    def test_some_of_each_are_held_out_and_some_left(self, fleets, fraction, n_positive):
        is_positive = np.arange(60) < n_positive
        for part in held_out_rows(fleets, is_positive, 3, fraction):
            for side in (is_positive, ~is_positive):
                assert 0 < side[part].sum() < side.sum()

    @pytest.mark.parametrize(("n_positive", "fraction"), [(20, 0), (1, 0.5), (59, 0.5)])
    def test_none_if_asked_or_if_there_is_one(self, fleets, n_positive, fraction):
        is_positive = np.arange(60) < n_positive
        assert [len(part) for part in held_out_rows(fleets, is_positive, 2, fraction)] == [0, 0]

    def test_no_member_trains_on_what_it_is_scored_on(self, fleets):
        X, y = table()
        quick(n_members=5, validation_fraction=0.2).fit(X, y)
        (fleet,) = fleets
        for member in fleet.members:
            training, held_out = (
                set(member.training.index.tolist()),
                set(member.held_out.index.tolist()),
            )
            assert not training & held_out
            assert training | held_out == set(range(len(y)))
            np.testing.assert_array_equal(
                member.training.is_positive, y[member.training.index] == 1
            )
        assert len({member.seed for member in fleet.members}) == 5


class TestSharedData:
    def test_jobs_on_the_same_objects_are_checked_once(self, monkeypatch):
        X, y = table()
        count = []
        check = NNPUClassifier.check_data

        def counted(self, *given):
            count.append(self)
            return check(self, *given)

        monkeypatch.setattr(NNPUClassifier, "check_data", counted)
        eval_set = X[:20], y[:20]
        jobs = [(quick(lr=lr), X, y, eval_set) for lr in (1e-2, 3e-3, 1e-3)]
        together = fit_together(jobs)
        assert len(count) == 1
        for model, lr in zip(together, (1e-2, 3e-3, 1e-3), strict=True):
            alone = quick(lr=lr).fit(X, y, eval_set=eval_set)
            assert model.n_features_in_ == 3
            np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-5)

    def test_what_an_estimator_does_with_the_data_is_its_own(self):
        X, y = table()
        scaled, plain, swapped = fit_together(
            [
                (quick(), X, y),
                (quick(standardize=False), X, y),
                (quick(pos_label=0), X, y),
            ]
        )
        for model, alone in [
            (scaled, quick()),
            (plain, quick(standardize=False)),
            (swapped, quick(pos_label=0)),
        ]:
            alone.fit(X, y)
            np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-5)

    def test_what_one_estimator_refuses_is_refused_after_others_too(self):
        X, y = table()
        with pytest.raises(ValueError, match="mirror=True is for images"):
            fit_together([(quick(), X, y), (quick(mirror=True), X, y)])


class TestErrors:
    def jobs(self):
        X, y = table()
        return [(quick(lr=lr), X, y) for lr in (1e-2, 1e38, 3e-3)]

    def test_a_job_that_diverged_stops_the_others(self):
        with pytest.raises(ValueError, match="diverged"):
            fit_together(self.jobs())

    def test_or_its_error_is_returned(self):
        first, second, third = fit_together(self.jobs(), return_errors=True)
        assert isinstance(second, ValueError)
        assert "diverged" in str(second)
        X, _ = table()
        assert first.predict(X).shape == third.predict(X).shape == (120,)


class TestOutOfMemory:
    @pytest.fixture
    def small(self, monkeypatch):
        """Fleets of more than two members do not fit; the sizes of those that were tried."""
        tried = []

        class Small(fleet_training.Fleet):
            def __init__(self, pool, members, *rest):
                tried.append(len(members))
                super().__init__(pool, members, *rest)

            def epoch(self, weight=None):
                super().epoch(weight)
                if self.size > 2:
                    raise torch.cuda.OutOfMemoryError("CUDA out of memory")

        monkeypatch.setattr(fleet_training, "Fleet", Small)
        return tried

    def test_the_fleet_is_split_and_goes_on(self, small):
        X, y = table()
        rates = (1e-2, 3e-3, 1e-3, 5e-3, 2e-2)
        seen = []
        models = fit_together([(quick(lr=lr), X, y) for lr in rates], lambda *now: seen.append(now))
        assert max(small) == 5
        assert sorted(size for size in small if size <= 2) == [1, 2, 2]
        assert seen[-1] == (30, 30)
        assert max(done for done, _ in seen) == 30
        for model, lr in zip(models, rates, strict=True):
            alone = quick(lr=lr).fit(X, y)
            np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-5)

    def test_members_that_are_scored_together_stay_together(self, small):
        X, y = table()
        models = fit_together([(quick(n_members=2, lr=lr), X, y) for lr in (1e-2, 3e-3, 1e-3)])
        for model, lr in zip(models, (1e-2, 3e-3, 1e-3), strict=True):
            alone = quick(n_members=2, lr=lr).fit(X, y)
            np.testing.assert_allclose(model.predict_proba(X), alone.predict_proba(X), atol=1e-5)

    def test_one_network_that_does_not_fit_is_an_error(self, monkeypatch):
        class Tiny(fleet_training.Fleet):
            def epoch(self, weight=None):
                raise torch.cuda.OutOfMemoryError("CUDA out of memory")

        monkeypatch.setattr(fleet_training, "Fleet", Tiny)
        with pytest.raises(torch.cuda.OutOfMemoryError):
            quick(n_members=2).fit(*table())


@pytest.fixture
def two(monkeypatch):
    """Two devices where the user names none; both are the processor."""
    cpu = torch.device("cpu")
    monkeypatch.setattr(fleet_training, "gpus", lambda name: [cpu, cpu] if name == "auto" else [])


def on_cpu(model):
    """Name the device of an estimator, or of the networks of an ensemble."""
    for network in [each for _, each in getattr(model, "estimators", [])] or [model]:
        if hasattr(network, "device"):
            network.set_params(device="cpu")
    return model


@pytest.mark.usefixtures("two")
class TestSeveralDevices:
    def groups_of(self, fleets):
        return [{member.group for member in fleet.members} for fleet in fleets]

    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    @pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
    @pytest.mark.parametrize("some", [slice(0, 14), slice(14, 37, 2)])
    def test_results_are_those_of_one(self, some):
        jobs = many_jobs()[some]
        apart = [(on_cpu(clone(job[0])), *job[1:]) for job in jobs]
        for model, alone, job in zip(fit_together(jobs), fit_together(apart), jobs, strict=True):
            assert_same(model, alone, job[1])

    def test_members_are_split_over_devices(self, fleets):
        X, y = table()
        rates = (1e-2, 3e-3, 1e-3, 5e-3)
        fit_together((quick(lr=lr), X, y) for lr in rates)
        assert [fleet.size for fleet in fleets] == [2, 2]
        assert len(set.union(*self.groups_of(fleets))) == 4
        assert all(isinstance(fleet.pool, torch.Tensor) for fleet in fleets)

    def test_those_scored_together_stay_together(self, fleets):
        X, y = table()
        models = [quick(n_members=count) for count in (5, 1, 2)]
        fit_together((model, X, y) for model in models)
        one, other = self.groups_of(fleets)
        assert not one & other
        assert sorted(fleet.size for fleet in fleets) == [3, 5]
        fleets.clear()
        quick(n_members=6).fit(X, y)
        assert [fleet.size for fleet in fleets] == [6]

    def test_the_estimators_of_an_ensemble_are_split_too(self, fleets):
        X, y = table()
        four = [(str(lr), quick(n_members=2, lr=lr)) for lr in (1e-2, 3e-3, 1e-3, 5e-3)]
        given = {"prior": 0.5, "random_state": 0}
        model = PUVotingClassifier(four, **given).fit(X, y)
        assert [fleet.size for fleet in fleets] == [4, 4]
        assert_same(model, on_cpu(clone(model)).fit(X, y), X)

    def test_groups_that_cannot_share_a_fleet_run_side_by_side(self, fleets):
        X, y = table()
        meet = threading.Barrier(2, timeout=10)

        def net(shape):
            # The caller makes one first; then both threads have to be here at once.
            if threading.current_thread() is not threading.main_thread():
                seen.append(threading.current_thread())
            return tanh_net(shape)

        seen = []
        start = fleet_training.Fleet.start

        def wait(self, *rest, **numbers):
            meet.wait()
            start(self, *rest, **numbers)

        fleet_training.Fleet.start = wait
        fit_together((quick(epochs=epochs, module=net), X, y) for epochs in (2, 3))
        assert len(set(seen)) == 2
        assert [fleet.size for fleet in fleets] == [1, 1]

    def test_a_device_that_is_named_is_the_only_one(self, fleets):
        X, y = table()
        fit_together((quick(lr=lr, device="cpu"), X, y) for lr in (1e-2, 1e-3))
        assert [fleet.size for fleet in fleets] == [2]

    def test_a_mapped_file(self, fleets, tmp_path):
        X, y = table()
        np.save(tmp_path / "rows.npy", X)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        models = fit_together((quick(lr=lr), mapped, y) for lr in (1e-2, 1e-3))
        assert [type(fleet.pool) for fleet in fleets] == [Mapped, Mapped]
        for model, lr in zip(models, (1e-2, 1e-3), strict=True):
            assert_same(model, quick(lr=lr, device="cpu").fit(X, y), X)

    def test_progress_counts_all_and_in_the_thread_of_the_caller(self):
        X, y = table()
        seen = []
        here = threading.current_thread()

        def progress(done, total):
            assert threading.current_thread() is here
            seen.append((done, total))

        fit_together([(quick(lr=lr), X, y) for lr in (1e-2, 3e-3, 1e-3)], progress)
        assert seen[0] == (0, 18)
        assert seen[-1] == (18, 18)
        assert [done for done, _ in seen] == sorted(done for done, _ in seen)
        # Fleets of two and of one, six epochs each, and the end.
        assert len(seen) == 1 + 12 + 1

    def test_an_error_in_a_thread_reaches_the_caller(self, monkeypatch):
        class Faulty(fleet_training.Fleet):
            def epoch(self, weight=None):
                super().epoch(weight)
                if self.size == 1:
                    raise RuntimeError("a broken device")

        monkeypatch.setattr(fleet_training, "Fleet", Faulty)
        X, y = table()
        before = threading.active_count()
        with pytest.raises(RuntimeError, match="a broken device"):
            fit_together([(quick(lr=lr, epochs=500), X, y) for lr in (1e-2, 3e-3, 1e-3)])
        assert threading.active_count() == before

    def test_ctrl_c_reaches_the_caller(self):
        def progress(done, total):
            if done > 3:
                raise KeyboardInterrupt

        X, y = table()
        before = threading.active_count()
        with pytest.raises(KeyboardInterrupt):
            fit_together([(quick(lr=lr, epochs=500), X, y) for lr in (1e-2, 1e-3)], progress)
        assert threading.active_count() == before

    def test_a_fleet_that_does_not_fit_is_split_by_its_thread(self, monkeypatch):
        class Small(fleet_training.Fleet):
            def epoch(self, weight=None):
                super().epoch(weight)
                if self.size > 1:
                    raise torch.cuda.OutOfMemoryError("CUDA out of memory")

        monkeypatch.setattr(fleet_training, "Fleet", Small)
        X, y = table()
        seen = []
        rates = (1e-2, 3e-3, 1e-3, 5e-3)
        jobs = [(quick(lr=lr), X, y) for lr in rates]
        models = fit_together(jobs, lambda *now: seen.append(now))
        assert seen[-1] == (24, 24)
        assert max(done for done, _ in seen) == 24
        for model, lr in zip(models, rates, strict=True):
            assert_same(model, quick(lr=lr, device="cpu").fit(X, y), X)


def dropout_net(shape):
    return nn.Sequential(nn.Linear(*shape, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))


class TestPretrainingOnce:
    @pytest.fixture
    def pretrained(self, monkeypatch):
        """Sizes of the fleets that nnPU trained."""
        sizes = []
        train = NNPUClassifier.train.__func__

        def counted(cls, fleet, settings):
            sizes.append(fleet.size)
            return train(cls, fleet, settings)

        monkeypatch.setattr(NNPUClassifier, "train", classmethod(counted))
        return sizes

    @pytest.mark.parametrize("module", ["mlp", batch_norm_net, dropout_net])
    def test_jobs_that_differ_later_share_it(self, pretrained, module):
        X, y = table()
        rates = (1e-2, 3e-3, 1e-3)
        before = (1e-2, 1e-2, 3e-3)

        def model(rate, first):
            return quick(RobustPUClassifier, lr=rate, module=module).set_params(pretrain__lr=first)

        together = fit_together(
            [(model(rate, first), X, y) for rate, first in zip(rates, before, strict=True)]
        )
        # Two members a job, and two of the three jobs begin alike.
        assert pretrained == [4]
        for fitted, rate, first in zip(together, rates, before, strict=True):
            alone = model(rate, first).fit(X, y)
            np.testing.assert_allclose(fitted.predict_proba(X), alone.predict_proba(X), atol=1e-4)

    @pytest.mark.parametrize(
        "changes",
        [
            {"random_state": 1},
            {"prior": 0.4},
            {"scenario": "single-set"},
            {"validation_fraction": 0.101},
            {"n_members": 1},
        ],
        ids=lambda changes: next(iter(changes)),
    )
    @pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
    def test_but_not_those_that_differ_before(self, pretrained, changes):
        X, y = table()
        models = [quick(RobustPUClassifier), quick(RobustPUClassifier, **changes)]
        fit_together([(model, X, y) for model in models])
        assert sum(pretrained) == sum(model.n_members for model in models)

    def test_other_rows_are_other_rows(self, pretrained):
        fit_together([(quick(RobustPUClassifier), *table(seed=seed)) for seed in (0, 1)])
        assert pretrained == [4]

    def test_progress_still_counts_all(self):
        X, y = table()
        seen = []
        fit_together(
            [(quick(RobustPUClassifier, patience=None, lr=lr), X, y) for lr in (1e-2, 1e-3)],
            lambda *now: seen.append(now),
        )
        total = 2 * 2 * (6 + 3 * 2)
        assert seen[-2:] == [(total, total)] * 2


def test_rows_with_zero_weight_do_not_count_in_an_estimated_prior():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 3)), np.arange(400) < 100
    X[:200] += 2
    weight = np.where(np.arange(400) % 3 == 0, 0.0, 1.0)
    model = NNPUClassifier(epochs=1, standardize=False, threshold="prior", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = clone(model).fit(X, y, weight).prior_
        assert found == clone(model).fit(X[weight > 0], y[weight > 0]).prior_
        assert found != clone(model).fit(X, y).prior_
