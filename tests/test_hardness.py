import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from robustpu import hardness
from robustpu.hardness import HARDNESS

quick = settings(max_examples=40, deadline=None, derandomize=True)
every_name = pytest.mark.parametrize("name", HARDNESS)

logits = st.lists(st.floats(-30, 30), min_size=1, max_size=20)
temperatures = st.floats(0.1, 10)

PLAIN = {
    "logistic": lambda m: np.log1p(np.exp(-m)),
    "sigmoid": lambda m: 1 / (1 + np.exp(m)),
    "crps": lambda m: 1 / (1 + np.exp(m)) ** 2,
    "brier": lambda m: 2 / (1 + np.exp(m)) ** 2,
    "focal": lambda m: np.log1p(np.exp(-m)) / (1 + np.exp(m)),
}


def float64(values):
    return torch.tensor(values, dtype=torch.float64)


def all_positive(logit):
    return torch.ones_like(logit, dtype=torch.bool)


def test_every_hardness_has_a_plain_formula():
    assert HARDNESS.keys() == PLAIN.keys()


@every_name
@quick
@given(data=st.data(), temperature=temperatures)
def test_equals_the_plain_formula(name, data, temperature):
    z = float64(data.draw(logits))
    is_positive = torch.tensor(data.draw(st.lists(st.booleans(), min_size=len(z), max_size=len(z))))
    margin = np.where(is_positive.numpy(), z.numpy(), -z.numpy()) / temperature
    d = HARDNESS[name](z, is_positive, temperature)
    np.testing.assert_allclose(d.numpy(), PLAIN[name](margin), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("logistic", math.log(2)),
        ("sigmoid", 0.5),
        ("crps", 0.25),
        ("brier", 0.5),
        ("focal", math.log(2) / 2),
    ],
)
def test_value_at_logit_zero(name, expected):
    d = HARDNESS[name](float64([0.0, 0.0]), torch.tensor([True, False]), 1.0)
    torch.testing.assert_close(d, float64([expected, expected]))


@every_name
def test_a_positive_row_with_a_low_logit_is_hard(name):
    d = HARDNESS[name](torch.tensor([-3.0, -3.0]), torch.tensor([True, False]), 1.0)
    assert d[0] > 0.8 > 0.2 > d[1] > 0


@every_name
@quick
@given(z=logits, temperature=temperatures)
def test_positive_at_z_is_as_hard_as_unlabelled_at_minus_z(name, z, temperature):
    z = float64(z)
    positive = HARDNESS[name](z, all_positive(z), temperature)
    unlabelled = HARDNESS[name](-z, ~all_positive(z), temperature)
    assert torch.equal(positive, unlabelled)


@every_name
@quick
@given(z=logits)
def test_falls_with_the_margin_and_stays_positive(name, z):
    z = float64(z).sort().values
    d = HARDNESS[name](z, all_positive(z), 1.0)
    assert (d > 0).all()
    assert (d.diff() <= 1e-12).all()


@every_name
@quick
@given(z=logits, temperature=temperatures)
def test_temperature_divides_the_logit(name, z, temperature):
    z = float64(z)
    scaled = HARDNESS[name](z, all_positive(z), temperature)
    torch.testing.assert_close(scaled, HARDNESS[name](z / temperature, all_positive(z), 1.0))


@every_name
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_logits_are_finite(name, dtype):
    z = torch.tensor([-1e4, -100.0, 100.0, 1e4], dtype=dtype)
    d = HARDNESS[name](z, all_positive(z), 1.0)
    assert d.dtype == dtype
    assert torch.isfinite(d).all()
    assert d[-1] == 0
    assert d[0] == {"logistic": 1e4, "focal": 1e4, "brier": 2}.get(name, 1)


@every_name
def test_stacked_models_equal_one_by_one(name):
    z = torch.randn(3, 7, generator=torch.Generator().manual_seed(0))
    is_positive = torch.arange(7) < 3
    temperature = torch.tensor([[0.5], [1.0], [2.0]])
    stacked = HARDNESS[name](z, is_positive, temperature)
    rows = [HARDNESS[name](z[i], is_positive, temperature[i].item()) for i in range(3)]
    torch.testing.assert_close(stacked, torch.stack(rows))


@every_name
def test_one_temperature_a_row(name):
    z = torch.tensor([1.0, -2.0, 3.0])
    is_positive = torch.tensor([True, True, False])
    d = HARDNESS[name](z, is_positive, torch.where(is_positive, 0.5, 2.0))
    torch.testing.assert_close(d[:2], HARDNESS[name](z[:2], is_positive[:2], 0.5))
    torch.testing.assert_close(d[2:], HARDNESS[name](z[2:], is_positive[2:], 2.0))


@every_name
def test_a_float64_temperature_keeps_the_dtype_of_the_logit(name):
    z = torch.zeros(2)
    assert HARDNESS[name](z, all_positive(z), float64([1.0, 2.0])).dtype == torch.float32


@every_name
@pytest.mark.parametrize("temperature", [0, -1.0, math.nan, math.inf])
def test_a_temperature_outside_its_domain_is_refused(name, temperature):
    z = torch.zeros(2)
    message = rf"temperature must lie in \(0, inf\), got {temperature:g}"
    with pytest.raises(ValueError, match=message):
        HARDNESS[name](z, all_positive(z), temperature)
    with pytest.raises(ValueError, match=message):
        HARDNESS[name](z, all_positive(z), torch.tensor([[1.0], [temperature]]))


def test_brier_is_twice_crps():
    z = torch.linspace(-5, 5, 11)
    assert torch.equal(
        hardness.brier(z, all_positive(z)), 2 * hardness.crps(z, all_positive(z), 1.0)
    )


def test_focal_takes_its_gamma():
    z = float64([-1e4, -1.0, 0.0, 1.0, 1e4])
    s = all_positive(z)
    torch.testing.assert_close(hardness.focal(z, s, gamma=0), hardness.logistic(z, s))
    by_two = hardness.logistic(z, s) * hardness.sigmoid(z, s) ** 2
    torch.testing.assert_close(hardness.focal(z, s, gamma=2.0), by_two)


@pytest.mark.parametrize("gamma", [-0.5, math.nan])
def test_focal_refuses_a_negative_gamma(gamma):
    z = torch.zeros(1)
    with pytest.raises(ValueError, match=rf"gamma in \[0, inf\), got {gamma:g}"):
        hardness.focal(z, all_positive(z), gamma=gamma)


def test_resolve():
    assert hardness.resolve("focal") is hardness.focal
    assert hardness.resolve(torch.where) is torch.where
    with pytest.raises(ValueError, match=r"unknown hardness 'logstic': did you mean 'logistic'\?"):
        hardness.resolve("logstic")
