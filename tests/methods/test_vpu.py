"""VPU: a variational risk without a prior."""

import numpy as np
import pytest
import torch
from gaussians import problem

from robustpu import VPUClassifier, fit_together
from robustpu.fleet import Batch, Fleet
from robustpu.methods.vpu import relative_to_most, variational

MASK = np.array([True, False, True, False, False, True, False])
LOGIT = np.array([0.4, -1.3, 2.1, 0.7, -0.2, -0.9, 1.6])
MIXED = np.array([0.1, 0.9, -0.6, 1.7, -0.1, 0.3, 2.2])
WEIGHT = np.array([1.0, 0.5, 2.0, 0.0, 1.5, 0.25, 3.0])
SHARE = np.array([0.3, 0.0, 1.0, 0.9, 0.2, 0.5, 0.7])


def vpu(**changes):
    given = {"prior": 0.5, "epochs": 20, "lr": 3e-3, "batch_size": 128, "random_state": 0}
    return VPUClassifier(**{**given, **changes})


# The risk.


def plain_risk(logit, mixed, mask, weight, share, mix_weight, labelled_too):
    phi, phi_mixed = 1 / (1 + np.exp(-logit)), 1 / (1 + np.exp(-mixed))
    rows = np.ones_like(mask) if labelled_too else ~mask
    risk = 0.0
    if weight[mask].sum() > 0 and weight[rows].sum() > 0:
        risk += np.log(np.average(phi[rows], weights=weight[rows]))
        risk -= np.average(np.log(phi[mask]), weights=weight[mask])
    if weight[rows].sum() > 0:
        gap = np.log(share * phi + (1 - share) * 1) - np.log(phi_mixed)
        risk += mix_weight * np.average(gap[rows] ** 2, weights=weight[rows])
    return risk


def batch_of(mask, weight, share=SHARE):
    rows = [torch.tensor(np.stack(part)) for part in (mask, weight, share)]
    half = torch.full((len(rows[0]),), 0.5, dtype=torch.float64)
    return Batch(rows[0], rows[1], half, half, {"share": rows[2]})


@pytest.mark.parametrize("labelled_too", [False, True])
@pytest.mark.parametrize("mix_weight", [0.0, 0.3])
def test_the_risk_and_its_grad(labelled_too, mix_weight):
    # A second member has other rows.
    logits = np.stack([np.r_[LOGIT, MIXED], np.r_[MIXED, LOGIT]])
    weights = [WEIGHT, np.ones(7)]
    batch = batch_of([MASK, ~MASK], weights, [SHARE, SHARE[::-1].copy()])
    leaf = torch.tensor(logits, requires_grad=True)
    factor = torch.tensor([mix_weight, 2 * mix_weight], dtype=torch.float64)
    risk = variational(leaf, batch, factor, labelled_too)
    (grad,) = torch.autograd.grad(risk.sum(), leaf)

    def plain(member, logit):
        rest = [value[member] for value in (batch.is_positive, batch.weight)]
        share = batch.columns["share"][member]
        known = [part.numpy() for part in (*rest, share)]
        return plain_risk(logit[:7], logit[7:], *known, factor[member].item(), labelled_too)

    for member in range(2):
        assert risk[member].item() == pytest.approx(plain(member, logits[member]))
        for i in range(14):
            step = np.eye(14)[i] * 1e-5
            above, below = (plain(member, logits[member] + sign * step) for sign in (1, -1))
            assert grad[member, i].item() == pytest.approx((above - below) / 2e-5, abs=1e-8)


def test_scale_does_not_matter_to_the_fit():
    log_phi = np.log(np.array([0.5, 0.1, 0.7, 0.2, 0.3, 0.6, 0.4]))

    def fit(shift):
        phi = np.exp(log_phi + shift)
        logit = np.r_[np.log(phi / (1 - phi)), MIXED]
        zero = torch.zeros(1, dtype=torch.float64)
        return variational(torch.tensor(logit)[None], batch_of([MASK], [WEIGHT]), zero, False)

    assert fit(-3.0).item() == pytest.approx(fit(0.0).item())


@pytest.mark.parametrize("labelled_too", [False, True])
@pytest.mark.parametrize("mask", [np.zeros(7, dtype=bool), np.ones(7, dtype=bool)])
def test_a_batch_without_positives_or_without_unlabelled_rows(mask, labelled_too):
    leaf = torch.tensor(np.r_[LOGIT, MIXED])[None].requires_grad_()
    factor = torch.tensor([0.3], dtype=torch.float64)
    risk = variational(leaf, batch_of([mask], [WEIGHT], [SHARE]), factor, labelled_too)
    expected = plain_risk(LOGIT, MIXED, mask, WEIGHT, SHARE, 0.3, labelled_too)
    assert risk.item() == pytest.approx(expected)
    (grad,) = torch.autograd.grad(risk.sum(), leaf)
    assert grad.isfinite().all()


def test_numbers_too_small_for_single_precision():
    """Phi is 1e-80 on U and 1e-20 on P: in logarithms that is nothing special."""
    logit = torch.where(torch.tensor(MASK), -46.0, -184.0)
    leaf = torch.cat([logit, logit])[None].requires_grad_()
    batch = batch_of([MASK], [np.ones(7)])
    single = Batch(
        batch.is_positive,
        batch.weight.float(),
        batch.prior.float(),
        batch.prior.float(),
        {"share": torch.ones(1, 7)},
    )
    risk = variational(leaf, single, torch.ones(1), False)
    assert risk.item() == pytest.approx(-184 + 46)
    (grad,) = torch.autograd.grad(risk.sum(), leaf)
    assert grad[0, :7].tolist() == pytest.approx(np.where(MASK, -1 / 3, 1 / 4).tolist(), rel=1e-5)


# Training.


def test_partners_are_labelled_positives_and_shares_are_those_of_the_rows(monkeypatch):
    pu, seen = problem(), []
    plain = Fleet.epoch

    def spy(fleet, columns, partners):
        seen.append((fleet.training, columns["share"], partners))
        plain(fleet, columns=columns, partners=partners)

    monkeypatch.setattr(Fleet, "epoch", spy)
    vpu(epochs=2, n_members=2, threshold="prior").fit(pu.X, pu.y)
    labelled = set(np.flatnonzero(pu.y == 1).tolist())
    for training, share, partners in seen:
        assert share is partners.share
        assert share.shape == training.index.shape
        for chosen, held_in in zip(partners.index, training.index, strict=True):
            assert set(chosen.tolist()) <= labelled & set(held_in.tolist())


def test_probabilities_are_relative_to_the_largest():
    pu = problem()
    model = vpu(n_members=2).fit(pu.X, pu.y)
    logit = np.stack([model.to_torch(k)(torch.tensor(pu.X)).detach().numpy() for k in range(2)])
    phi = 1 / (1 + np.exp(-logit.reshape(2, -1)))
    np.testing.assert_allclose(model.scale_, phi.max(1), rtol=1e-6)
    expected = (phi / phi.max(1, keepdims=True)).mean(0)
    np.testing.assert_allclose(model.probability_, expected, rtol=1e-6)
    # Beyond all that was seen, a probability is 1 and no more.
    far = model.predict_proba(10 * pu.X)
    assert 0 <= far.min() <= far.max() <= 1


def test_epochs_are_chosen_by_answers_relative_to_the_largest():
    phi = np.array([[0.02, 0.1, 0.06], [0.5, 0.8, 0.1]])
    everyone = torch.ones(2, 3, dtype=torch.bool)
    logit = torch.tensor(np.log(phi / (1 - phi)))
    half = torch.full((2,), 0.5)
    found = torch.sigmoid(relative_to_most(logit, everyone, torch.ones(2, 3), half))
    np.testing.assert_allclose(found, phi / phi.max(1, keepdims=True), atol=1e-9)
    # A row without weight is not the largest, whatever it answers.
    weight = torch.tensor([[1.0, 0.0, 2.0], [0.5, 0.0, 0.0]])
    found = torch.sigmoid(relative_to_most(logit, everyone, weight, half))
    np.testing.assert_allclose(found, [[1 / 3, 1, 1], [1, 1, 0.2]], atol=1e-9)
    nobody = relative_to_most(torch.full((1, 2), -1e3), everyone[:1, :2], torch.zeros(1, 2), half)
    assert not nobody.isnan().any()
    pu = problem()
    model = vpu(epochs=4, mix_weight=0).fit(pu.X, pu.y, eval_set=(pu.X_test, pu.y_test))
    assert model.selection_ == "oracle"
    phi = torch.sigmoid(model.to_torch()(torch.tensor(pu.X_test))[:, 0]).detach().numpy()
    answer = phi / phi.max()
    right = np.mean((answer >= 0.5) == pu.y_test)
    by_margin = np.mean(np.where(pu.y_test == 1, answer, 1 - answer))
    assert model.member_scores_[0] == pytest.approx(0.999 * right + 0.001 * by_margin, abs=1e-5)
    # Signs of the logits would have told something else.
    assert abs(right - np.mean((phi >= 0.5) == pu.y_test)) > 0.01


@pytest.mark.parametrize("prior", [0.3, 0.5, 0.7])
def test_learns_without_the_prior(prior):
    pu = problem(prior)
    model = vpu(prior=prior, n_members=3).fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.88
    # The prior selects, and no more.
    given = {"validation_fraction": 0, "epochs": 5, "threshold": "prior"}
    low, high = (vpu(prior=prior, **given).fit(pu.X, pu.y) for prior in (0.2, 0.8))
    assert np.array_equal(low.probability_, high.probability_)


def test_single_set_counts_labelled_rows_to_the_population():
    pu = problem(0.3, scenario="single-set")
    model = vpu(prior=pu.prior, scenario="single-set").fit(pu.X, pu.y)
    assert model.score(pu.X_test, pu.y_test) > 0.88
    other = vpu(prior=pu.prior).fit(pu.X, pu.y)
    assert model.probability_.mean() > other.probability_.mean() + 0.02
    # Jobs of the two scenarios do not mix.
    both = fit_together(
        (vpu(prior=pu.prior, scenario=scenario), pu.X, pu.y)
        for scenario in ("case-control", "single-set")
    )
    np.testing.assert_allclose(both[0].probability_, other.probability_, atol=1e-5)
    np.testing.assert_allclose(both[1].probability_, model.probability_, atol=1e-5)


@pytest.mark.parametrize("change", [{"mix_weight": 1.0}, {"alpha": 3.0}])
def test_every_parameter_counts(change):
    pu = problem()
    plain, other = (vpu(epochs=5, **extra).fit(pu.X, pu.y) for extra in ({}, change))
    assert not np.allclose(plain.probability_, other.probability_, atol=1e-3)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"mix_weight": -0.1}, "mix_weight must be a number at least 0"),
        ({"mix_weight": None}, "mix_weight must be"),
        ({"alpha": 0}, "alpha must be a number above 0"),
        ({"alpha": "0.3"}, "alpha must be"),
    ],
)
def test_what_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        vpu(**changes).fit(np.ones((4, 1)), [0, 0, 1, 1])
