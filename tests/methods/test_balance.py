"""Weights scaled to the shares that the classes should have."""

import pytest
import torch

from robustpu.methods.balance import balanced, factors

MASK = torch.tensor([True, False, True, False, False])
WEIGHT = torch.tensor([0.5, 1.0, 1.5, 2.0, 0.0])


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
def test_positives_get_their_share_of_the_same_sum(prior):
    answer = balanced(WEIGHT, MASK, torch.tensor(prior))
    assert answer.sum().item() == pytest.approx(5)
    assert answer[MASK].sum().item() == pytest.approx(5 * prior)
    # Within a class the ratios stay.
    assert (answer[2] / answer[0]).item() == pytest.approx(3)
    assert (answer[3] / answer[1]).item() == pytest.approx(2)
    assert answer[4] == 0


def test_each_member_has_a_prior():
    weight, mask = WEIGHT.repeat(2, 1), MASK.repeat(2, 1)
    both = balanced(weight, mask, torch.tensor([0.3, 0.6]))
    for found, prior in zip(both, (0.3, 0.6), strict=True):
        torch.testing.assert_close(found, balanced(WEIGHT, MASK, torch.tensor(prior)))


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_a_class_of_tiny_or_huge_weights(factor):
    weight = torch.where(MASK, WEIGHT * factor, WEIGHT)
    answer = balanced(weight, MASK, torch.tensor(0.5))
    assert answer.isfinite().all()
    assert (answer[MASK].sum() / answer.sum()).item() == pytest.approx(0.5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("side", [True, False])
def test_a_class_with_zero_weight_keeps_it(dtype, side):
    weight = torch.where(side == MASK, 0.0, WEIGHT).to(dtype)
    answer = balanced(weight, MASK, torch.tensor(0.25, dtype=dtype))
    torch.testing.assert_close(answer, weight * (0.75 if side else 0.25))
    assert balanced(torch.zeros(5), MASK, torch.tensor(0.25)).tolist() == [0] * 5


def test_factors():
    for masses, share in [((1.0, 3.0), 0.5), ((2.0, 0.5), 0.1)]:
        positive, negative = (a * b for a, b in zip(masses, factors(*masses, share), strict=True))
        assert positive + negative == pytest.approx(sum(masses))
        assert positive / (positive + negative) == pytest.approx(share)
