"""What every method that trains networks keeps to; one line of small settings a method."""

from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
from gaussians import table
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from torch import nn

from robustpu import (
    Curriculum,
    NNPUClassifier,
    Pacing,
    PNClassifier,
    all_methods,
    datasets,
    fit_together,
    make_pu,
)
from robustpu.base.neural import NeuralPUClassifier
from robustpu.methods import METHODS
from robustpu.pool.forests import ForestRanker
from robustpu.selection import above_prior, of_logits, oracle_accuracy
from robustpu.training import fleets

KINDS = all_methods()
LOGISTIC = {"surrogate": "logistic"}
NNPU = {
    "unlike": {"beta": 0.1, "gamma": 0.5, "balanced_prior": 0.5},
    "apart": {"surrogate": "sigmoid"},
}
MIX = {"alpha": 0.3, "start_epoch": 2, "pool_size": 3, "gamma": 0.9}
MIX |= {"unlabeled_weight": 0.7, "entropy_weight": 0.3}
BEFORE = NNPUClassifier(epochs=3, lr=1e-2, batch_size=64, **LOGISTIC)
PACING = Pacing(lambda0=0.5, beta=1.0, t_grow=2)


@dataclass(frozen=True)
class Line:
    """How a method is tried; ``unlike`` and ``apart`` together have all parameters of the method.

    ``given``: settings that learn ``table`` in a moment, in four epochs or rounds or more.
    ``unlike``: other settings that members of one fleet may have.
    ``apart``: those that they may not, each of which makes another fleet.
    ``still``: what holds the networks where they are, and ``stages``: in how many patience ends.
    ``spambase``: settings for a table of 1200 rows.
    """

    given: dict = field(default_factory=dict)
    unlike: dict = field(default_factory=dict)
    apart: dict = field(default_factory=dict)
    still: dict = field(default_factory=dict)
    stages: int = 1
    spambase: dict = field(default_factory=dict)


LINES = {
    "pn": Line(),
    "upu": Line(LOGISTIC, apart={"surrogate": "sigmoid"}, spambase=LOGISTIC),
    "nnpu": Line(LOGISTIC, **NNPU, spambase=LOGISTIC),
    "pusb": Line(**NNPU),
    "pubn": Line(unlike={"share": 0.5}),
    "pulns": Line(
        {"epochs": 1, "episodes": 3, "warm_epochs": 1, "selector_lr": 1e-2, "selector_steps": 1},
        unlike={"discount": 0.2, "final_weight": 5.0, "selector_lr": 0.03},
        apart={"episodes": 2, "warm_epochs": 2, "probe_epochs": 2, "selector_steps": 2},
        spambase={"epochs": 5, "episodes": 3},
    ),
    "p3mix-e": Line(
        {"start_epoch": 1, "pool_size": 20},
        unlike={**MIX, "early_weight": 0.5},
        apart={"mix_layer": 0},
        spambase={"epochs": 20},
    ),
    "p3mix-c": Line({"start_epoch": 1, "pool_size": 20}, unlike=MIX, apart={"mix_layer": 0}),
    "dist-pu": Line(
        {"mix_epochs": 4},
        unlike={
            "mix_lr": 1e-2,
            "entropy_weight": 0.1,
            "mix_entropy_weight": 0.1,
            "mixture_entropy_weight": 0.1,
            "mixture_weight": 1.0,
            "alpha": 1.0,
        },
        apart={"mix_epochs": 3},
        still={"mix_lr": 1e-12},
        stages=2,
        spambase={"mix_epochs": 6},
    ),
    "self-pu": Line(
        {"epochs": 5, "start_epoch": 2, "stop_epoch": 3, "every": 1},
        unlike={
            "most": 0.5,
            "most_other": 0.4,
            "sure_weight": 1.0,
            "teacher_weight": 0.5,
            "peer_weight": 0.5,
            "nearness": 0.01,
        },
        apart={"start_epoch": 1, "stop_epoch": 4, "every": 2, "decay": 0.5},
        spambase={"start_epoch": 4, "stop_epoch": 8, "every": 4},
    ),
    "genpu": Line(
        {"noise": 4, "hidden": 16, "generator_lr": 1e-2, "discriminator_lr": 1e-2},
        unlike={
            "lambda_positive": 0.5,
            "lambda_negative": 1.0,
            "generator_lr": 3e-3,
            "discriminator_lr": 1e-3,
            "penalty": 1.0,
            "real_share": 0.0,
        },
        apart={"noise": 2, "hidden": 8},
    ),
    "vpu": Line(
        unlike={"mix_weight": 1.0, "alpha": 2.0, "scenario": "case-control"},
        apart={"scenario": "single-set"},
    ),
    "tedn": Line(
        {"warm_epochs": 1},
        unlike={"prior": "auto", "damping": 0.5},
        apart={"warm_epochs": 2},
        spambase={"warm_epochs": 4},
    ),
    "lbe": Line(
        {"epochs": 1, "rounds": 4, "warm_epochs": 1, "label_lr": 1e-2},
        unlike={"label_lr": 0.1, "label_decay": 0.0},
        apart={"rounds": 3, "warm_epochs": 2, "label_module": "mlp"},
        spambase={"epochs": 5, "rounds": 4},
    ),
    "robust-pu": Line(
        {
            "epochs": 1,
            "patience": None,
            "pretrain": BEFORE,
            "curriculum": Curriculum(
                temperature_unlabeled=1.0,
                pacing_positive=PACING,
                pacing_unlabeled=PACING,
                balance=True,
                max_rounds=4,
            ),
        },
        unlike={
            "curriculum__max_rounds": 5,
            "curriculum__temperature_positive": 0.5,
            "curriculum__temperature_unlabeled": 2.0,
            "curriculum__pacing_positive": Pacing(lambda0=0.3, beta=0.6, t_grow=3),
            "curriculum__pacing_unlabeled": Pacing(lambda0=0.2, beta=0.9, t_grow=3),
        },
        apart={
            "pretrain": None,
            "curriculum__hardness": "sigmoid",
            "curriculum__weighting": "linear",
            "curriculum__balance": False,
        },
        spambase={"epochs": 2, "pretrain": NNPUClassifier(epochs=12, **LOGISTIC)},
    ),
}
# The others share no fleets; what makes each quick.
OTHERS = {
    "auto": {"members": [("forest", ForestRanker(10)), "laplacian"]},
    "spy": {},
    "pebl": {},
    "elkan-noto": {},
    "bagging": {"n_estimators": 10},
    "puet": {"n_estimators": 10},
    "pretrained": {"n_members": 1},
    "robust-pu-meta": {"estimator": LogisticRegression(), "n_members": 2},
}

every_network = pytest.mark.parametrize("name", LINES)
# Some settings are odd on purpose, and a moment is short.
pytestmark = [
    pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning"),
    pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning"),
    pytest.mark.filterwarnings("ignore::robustpu.PriorWarning"),
]


def small(name, **changes):
    if name in OTHERS:
        return KINDS[name](prior=0.5, **OTHERS[name], **changes)
    given = {"prior": 0.5, "epochs": 4, "lr": 1e-2, "batch_size": 64, "threshold": "prior"}
    given |= {"random_state": 0, **LINES[name].given, **changes}
    inner = {key: given.pop(key) for key in list(given) if "__" in key}
    return clone(KINDS[name](**given)).set_params(**inner)


def still(name, patience):
    """With rates so small the first epoch or round stays the best."""
    return small(name, lr=1e-12, patience=patience, **LINES[name].still)


def test_every_method_has_a_line():
    assert set(LINES) == {name for name, method in METHODS.items() if method.learner == "network"}
    assert set(LINES) | set(OTHERS) == set(KINDS)


@every_network
def test_every_parameter_is_tried_in_company(name):
    shared = set(NeuralPUClassifier.__dataclass_fields__)
    parameters = set(KINDS[name]().get_params(deep=False)) - shared
    if "curriculum" in parameters:
        inner = {f"curriculum__{key}" for key in Curriculum.__dataclass_fields__}
        parameters = parameters - {"curriculum"} | inner
    assert parameters <= set(LINES[name].unlike) | set(LINES[name].apart)


@every_network
def test_alone_and_in_company(name, monkeypatch):
    """Members that leave early, or with other settings, change nothing for the others."""
    sizes = []

    class Counted(fleets.Fleet):
        def __init__(self, pool, members, *rest):
            sizes.append(len(members))
            super().__init__(pool, members, *rest)

    line, (first, other) = LINES[name], (table(seed, 30, 60) for seed in (0, 1))
    unlike = {"prior": 0.3, "scenario": "single-set", "weight_decay": 0.1, "lr": 3e-3}
    unlike |= {"n_members": 2, "random_state": 2}
    jobs = [
        (small(name), *first),
        (still(name, 1).set_params(random_state=1), *other),
        (small(name, **{**unlike, **line.unlike}), *other),
        *((small(name, **{key: value}), *first) for key, value in line.apart.items()),
    ]
    alone = [clone(model).fit(X, y) for model, X, y in jobs]
    monkeypatch.setattr(fleets, "Fleet", Counted)
    for model, other in zip(fit_together(jobs), alone, strict=True):
        np.testing.assert_allclose(model.probability_, other.probability_, rtol=0, atol=1e-4)
        assert model.history_ == [pytest.approx(entry, abs=1e-4) for entry in other.history_]
        assert model.member_scores_ == pytest.approx(other.member_scores_, abs=1e-4)
    assert sizes == [4] + [1] * len(line.apart)


@every_network
@pytest.mark.parametrize("patience", [1, 2])
def test_patience(name, patience):
    history = still(name, patience).fit(*table()).history_
    assert len(history) == 1 + patience * LINES[name].stages


@pytest.mark.parametrize("name", KINDS)
def test_chance_is_that_of_random_state(name):
    X, y = table()

    def fitted(**changes):
        return small(name, **changes).fit(X, y).probability_

    one = fitted(random_state=3)
    # Neither read nor touched: the random state of the process.
    torch.manual_seed(77)
    np.random.seed(77)  # noqa: NPY002
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    np.testing.assert_array_equal(one, fitted(random_state=3))
    assert torch.equal(torch.random.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002
    # Not by the rows that are held out alone.
    one, other = (fitted(random_state=seed, validation_fraction=0) for seed in (3, 4))
    assert np.abs(one - other).max() > 1e-3


@every_network
def test_an_eval_set_selects(name):
    """By the truth the last epochs are the best, by its contrary the first."""
    X, y = table()
    rows, truth = X[y == 0], X[y == 0].sum(1) > 0
    selected = []
    for labels in (truth, ~truth):
        model = small(name).fit(X, y, eval_set=(rows, labels.astype(int)))
        assert model.selection_ == "oracle"
        best = max(entry["score"] for entry in model.history_)
        assert model.member_scores_ == pytest.approx([best])
        # What was evaluated is what is kept.
        logit = model.to_torch()(torch.tensor(rows))[:, 0].detach()[None]
        criterion, half = of_logits(oracle_accuracy, above_prior), torch.tensor([0.5])
        known = torch.tensor(labels)[None], torch.ones(1, len(rows)), half, half
        assert criterion(logit, *known).item() == pytest.approx(best, abs=1e-5)
        selected += getattr(model, model.best_name).tolist()
    assert selected[0] > selected[1]


@every_network
@pytest.mark.parametrize("labelled", [1, 2, 38])
def test_batches_without_positives_or_without_unlabelled_rows(name, labelled):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = small(name, batch_size=8).fit(X, (np.arange(40) < labelled).astype(int))
    assert model.selection_ == ("none" if labelled == 1 else "pu")
    assert np.isfinite(model.predict_proba(X)).all()


@every_network
def test_images(name):
    def network(shape):
        inside = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU()
        return nn.Sequential(*inside, nn.Flatten(), nn.Linear(4 * 4 * 4, 1))

    X = np.random.default_rng(0).normal(size=(12, 3, 6, 6)).astype(np.float32)
    model = small(name, module=network).fit(X, np.arange(12) % 2)
    assert np.isfinite(model.predict_proba(X)).all()


@every_network
@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_rows_with_zero_weight_do_not_matter(name, scenario):
    """Neither as partners or teachers, nor for predictions; and only ratios count."""
    X, y = table()
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    strange = np.where(weight[:, None] == 0, 40 - 9 * X, X)
    given = {"standardize": False, "validation_fraction": 0, "scenario": scenario}
    # The quantile of threshold="prior" counts rows.
    given |= {"threshold": 0.5}
    one, other, even = (
        small(name, **given).fit(*rows)
        for rows in ((X, y, weight), (strange, y, 7 * weight), (X, y))
    )
    torch.testing.assert_close(one.state_.flat, other.state_.flat, rtol=0, atol=1e-4)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-4)
    assert (one.state_.flat - even.state_.flat).abs().max() > 1e-3


@pytest.fixture(scope="module")
def spambase():
    """Data at two priors, and how often it errs to take unlabelled rows as negatives."""
    spam = datasets.load("spambase")
    sizes = {"n_positive": 400, "n_unlabeled": 800, "n_test": 1000, "random_state": 0}
    parts = [make_pu(spam.data, spam.target, prior=prior, **sizes) for prior in (0.4, 0.6)]
    return parts, errors(PNClassifier, parts, epochs=20)


def errors(kind, parts, **given):
    jobs = [(kind(prior=pu.prior, random_state=0, **given), pu.X, pu.y) for pu in parts]
    models = fit_together(jobs)
    return [1 - m.score(pu.X_test, pu.y_test) for m, pu in zip(models, parts, strict=True)]


@pytest.mark.parametrize("name", [name for name in LINES if name != "pn"])
def test_beats_taking_unlabelled_rows_as_negatives(name, spambase):
    parts, naive = spambase
    given = LINES[name].given if name == "robust-pu" else {}
    low, high = errors(KINDS[name], parts, **{"epochs": 12, **given, **LINES[name].spambase})
    assert low < naive[0] - 0.05
    assert high < naive[1] - 0.2
