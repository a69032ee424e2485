"""(TED)^n: the most positive unlabelled rows are left out, and the prior is estimated again."""

import numpy as np
import pytest
import torch
from gaussians import problem
from torch import nn

from robustpu import TEDnClassifier, priors
from robustpu.fleet import Batch, Fleet, Member, Rows, cross_entropy, cross_entropy_grad
from robustpu.methods import tedn as module
from robustpu.methods.balance import balanced
from robustpu.methods.tedn import held_out_priors
from robustpu.priors import least_positive


def tedn(**changes):
    given = {"prior": 0.5, "epochs": 20, "warm_epochs": 4, "lr": 3e-3, "random_state": 0}
    return TEDnClassifier(**{**given, **changes})


@pytest.fixture
def epochs(monkeypatch):
    """What each epoch starts from: rows, logits and weights."""
    seen = []
    plain = Fleet.epoch

    def spy(fleet, weight, *rest):
        seen.append((fleet.training, fleet.logits(), weight))
        plain(fleet, weight, *rest)

    monkeypatch.setattr(Fleet, "epoch", spy)
    return seen


# Who is left out.


def test_the_most_positive_unlabelled_rows_are_left_out():
    logit = torch.tensor([[9.0, 3.0, 1.0, 2.0, 0.0, -1.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]])
    mask = torch.tensor([[True, False, False, False, False, False], [True, True] + [False] * 4])
    kept = least_positive(logit, mask, torch.ones(2, 6), torch.tensor([0.4, 0.75]))
    # Two of five: 3 and 2. Three of four: 5, 4 and 3.
    assert kept.tolist() == [
        [True, False, True, False, True, True],
        [True, True, True, False, False, False],
    ]


@pytest.mark.parametrize(("prior", "count"), [(0.05, 0), (0.1, 1), (0.39, 3), (0.7, 7), (0.99, 9)])
def test_how_many_are_left_out(prior, count):
    logit, mask = torch.arange(10.0)[None], torch.zeros(1, 10, dtype=torch.bool)
    kept = least_positive(logit, mask, torch.ones(1, 10), torch.tensor([prior]))
    assert kept[0].tolist() == [True] * (10 - count) + [False] * count


def test_of_equals_the_first_are_left_out():
    logit, mask = torch.zeros(1, 100), torch.zeros(1, 100, dtype=torch.bool)
    kept = least_positive(logit, mask, torch.ones(1, 100), torch.tensor([0.3]))
    assert kept[0].tolist() == [False] * 30 + [True] * 70


def test_it_is_a_share_of_the_weight():
    logit = torch.tensor([[5.0, 4.0, 3.0, 2.0, 1.0]])
    mask = torch.tensor([[True, False, False, False, False]])
    weight = torch.tensor([[1.0, 2.0, 0.0, 1.0, 3.0]])
    kept = least_positive(logit, mask, weight, torch.tensor([0.4]))
    # 2.4 of 6: the row of 2 and the one of 0, but not the one of 1.
    assert kept.tolist() == [[True, False, False, True, True]]


def test_the_risk_is_the_mean_of_both_classes():
    mask = np.array([True, False, True, False, False, False])
    kept = np.array([True, True, True, False, True, True])
    logit = np.array([0.4, -1.3, 2.1, 0.7, -0.2, 1.6])
    weight = np.array([1.0, 0.5, 2.0, 3.0, 1.5, 0.25])

    def plain(logit):
        loss = np.log1p(np.exp(np.where(mask, -logit, logit)))
        rest = kept & ~mask
        both = (np.average(loss[rows], weights=weight[rows]) for rows in (mask, rest))
        # Of 6 rows, those that are left weigh 5.25.
        return sum(both) / 2 * (weight * kept).sum() / 6

    half = torch.tensor([0.5], dtype=torch.float64)
    scaled = balanced(torch.tensor(weight * kept)[None], torch.tensor(mask)[None], half)
    batch = Batch(torch.tensor(mask)[None], scaled, half, half, {})
    rows = torch.tensor(logit)[None]
    assert cross_entropy(rows, batch).item() == pytest.approx(plain(logit))
    grad = cross_entropy_grad(rows, batch)[0]
    for i in range(6):
        step = np.eye(6)[i] * 1e-5
        expected = (plain(logit + step) - plain(logit - step)) / 2e-5
        assert grad[i].item() == pytest.approx(expected, abs=1e-8)


def test_an_epoch_leaves_out_those_on_top_of_the_network_as_it_is(epochs):
    pu = problem(0.3)
    tedn(prior=0.3, epochs=6, warm_epochs=2, n_members=2, damping=0.5).fit(pu.X, pu.y)
    assert len(epochs) == 6
    for number, (training, logit, weight) in enumerate(epochs):
        unlabeled = ~training.is_positive
        for member in range(2):
            kept_weight, score = weight[member][unlabeled[member]], logit[member][unlabeled[member]]
            positive = weight[member][training.is_positive[member]]
            assert kept_weight.sum().item() == pytest.approx(positive.sum().item(), rel=1e-4)
            dropped = kept_weight == 0
            # 0.3 of the 320 that are not held out.
            assert int(dropped.sum()) == (0 if number < 2 else 96)
            if number >= 2:
                assert score[dropped].min() >= score[~dropped].max()
            assert kept_weight[~dropped].unique().numel() == 1


# The prior.


def echo(shape):
    """A network whose logit is the row's one number."""
    network = nn.Sequential(nn.Linear(1, 1))
    nn.init.ones_(network[0].weight)
    nn.init.zeros_(network[0].bias)
    return network


def held_out_fleet(scores, mask, oracle=False):
    """Two members; the second holds out the same rows with all scores turned around."""
    n = len(scores)
    pool = torch.tensor(np.r_[scores, -np.asarray(scores)], dtype=torch.float32)[:, None]
    training = Rows(torch.arange(4), torch.arange(4) < 2, torch.ones(4))
    held_out = [Rows(torch.arange(n) + k * n, torch.tensor(mask), torch.ones(n)) for k in (0, 1)]
    members = [Member(training, rows, 0.3, 0.3, k, k) for k, rows in enumerate(held_out)]
    return Fleet(pool, members, echo, oracle=oracle)


def test_the_prior_of_held_out_rows():
    rng = np.random.default_rng(0)
    positive, negative = rng.normal(4, 1, 800), rng.normal(0, 1, 300)
    scores = np.r_[positive, negative]
    mask = np.arange(1100) < 600
    fleet = held_out_fleet(scores, mask)
    found = held_out_priors(fleet)
    assert found[0].item() == pytest.approx(200 / 500, abs=0.04)
    # Turned around, negatives are above all positives: as many as possible, but not all.
    assert found[1].item() == pytest.approx(500 / 501)
    fleet.keep(torch.tensor([False, True]))
    assert held_out_priors(fleet).tolist() == found[1:].tolist()


def test_no_prior_is_found_in_the_truth_or_by_one_positive():
    scores, mask = np.linspace(-1, 1, 10), np.arange(10) >= 7
    assert held_out_priors(held_out_fleet(scores, mask)).isfinite()[0]
    assert held_out_priors(held_out_fleet(scores, mask, oracle=True)).isnan().all()
    assert held_out_priors(held_out_fleet(scores, np.arange(10) == 9)).isnan().all()


def test_the_prior_is_damped(monkeypatch):
    pu, answers = problem(), iter([0.2, 0.8, 0.0, 0.4])
    monkeypatch.setattr(module, "best_bin", lambda positive, unlabeled: next(answers))
    given = {"prior": "auto", "epochs": 6, "warm_epochs": 2, "damping": 0.75, "threshold": "prior"}
    model = tedn(**given).fit(pu.X, pu.y)
    history = [entry["prior"] for entry in model.history_]
    first = history[0]
    second = 0.75 * first + 0.25 * 0.2
    third = 0.75 * second + 0.25 * 0.8
    # An answer of 0 says that there was no bin to tell.
    expected = [first, first, second, third, third, 0.75 * third + 0.25 * 0.4]
    assert history == pytest.approx(expected)
    # Chosen with the prior of its epoch; the population is the unlabelled rows.
    best = int(np.argmax([entry["score"] for entry in model.history_]))
    assert model.prior_ == pytest.approx(history[best])
    assert model.population_prior_ == model.prior_


def test_a_given_prior_stays(monkeypatch):
    monkeypatch.setattr(module, "best_bin", lambda *scores: pytest.fail("nobody asked"))
    pu = problem()
    model = tedn(epochs=3, warm_epochs=1).fit(pu.X, pu.y)
    assert model.prior_ == 0.5
    assert {entry["prior"] for entry in model.history_} == {0.5}


def test_estimates_the_prior():
    pu = problem(0.3, distance=2)
    model = tedn(prior="auto", epochs=30, damping=0.5).fit(pu.X, pu.y)
    assert model.prior_ == pytest.approx(0.3, abs=0.12)
    assert model.score(pu.X_test, pu.y_test) > 0.9
    assert len({entry["prior"] for entry in model.history_}) > 10


def test_single_set_tells_the_prior_of_the_population():
    pu = problem(0.3, distance=2, scenario="single-set")
    model = tedn(prior="auto", scenario="single-set").fit(pu.X, pu.y)
    assert model.population_prior_ == pytest.approx((150 + 400 * model.prior_) / 550)
    assert model.score(pu.X_test, pu.y_test) > 0.88


def test_an_eval_set_leaves_the_prior_as_it_was():
    pu = problem()
    test = pu.X_test, pu.y_test
    model = tedn(prior="auto", epochs=8, warm_epochs=2).fit(pu.X, pu.y, eval_set=test)
    assert model.selection_ == "oracle"
    assert [entry["prior"] for entry in model.history_] == pytest.approx([model.prior_] * 8)
    assert model.member_scores_[0] == pytest.approx(model.score(*test), abs=2e-3)


# The whole.


@pytest.mark.parametrize("prior", [0.2, 0.5, 0.7])
def test_learns(prior):
    pu = problem(prior)
    model = tedn(prior=prior, n_members=3).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.9


@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
def test_every_parameter_counts(monkeypatch):
    # What the first estimate is does not matter here, and it takes its time.
    monkeypatch.setattr(priors, "estimate", lambda samples: [0.4] * len(samples))
    pu = problem()
    given = {"prior": "auto", "epochs": 6, "warm_epochs": 4, "validation_fraction": 0.4}
    given["threshold"] = "prior"
    plain, *others = (
        tedn(**{**given, **change}).fit(pu.X, pu.y)
        for change in ({}, {"warm_epochs": 2}, {"damping": 0.0})
    )
    # The chosen epoch may be one before they part.
    assert all(plain.history_ != other.history_ for other in others)


@pytest.mark.filterwarnings("ignore::robustpu.ChanceWarning")
@pytest.mark.filterwarnings("ignore::robustpu.CollapseWarning")
@pytest.mark.filterwarnings("ignore::robustpu.PriorWarning")
@pytest.mark.parametrize("labelled", [2, 38])
def test_the_prior_of_hardly_any_rows_of_one_class(labelled):
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (np.arange(40) < labelled).astype(int)
    model = tedn(epochs=4, warm_epochs=1, prior="auto", batch_size=8).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert 0 < model.prior_ < 1


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"warm_epochs": -1}, "warm_epochs must be a whole number at least 0"),
        ({"warm_epochs": 20}, "warm_epochs must be a whole number at least 0 and below 20"),
        ({"warm_epochs": 2.5}, "warm_epochs must be a whole number"),
        ({"damping": 1.0}, "damping must be a number at least 0 and below 1"),
        ({"damping": -0.1}, "damping must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        tedn(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
