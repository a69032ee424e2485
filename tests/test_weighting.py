import math

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robustpu import weighting
from robustpu.weighting import WEIGHTING

quick = settings(max_examples=30, deadline=None, derandomize=True)
every_name = pytest.mark.parametrize("name", WEIGHTING)

hardnesses = st.lists(st.floats(0, 50), min_size=1, max_size=20)


def thresholds(name):
    low, high = {"logarithmic": (0.05, 0.95), "l1l2": (1.0, 10.0)}.get(name, (0.05, 5.0))
    return st.floats(low, high)


def float64(values):
    return torch.tensor(values, dtype=torch.float64)


# R(v; λ), whose minimiser of v·d + R is the weight.
def regulariser_logarithmic(v, threshold):
    z = 1 - threshold
    return z * v - z**v / np.log(z)


def regulariser_logistic(v, threshold):
    a = 1 + np.exp(-threshold)
    return (a - v) * np.log(a - v) + v * np.log(v) - threshold * v


REGULARISER = {
    "welsch": lambda v, threshold: threshold**2 * (1 - v + v * np.log(v)),
    "hard": lambda v, threshold: -threshold * v,
    "linear": lambda v, threshold: threshold * (v**2 / 2 - v),
    "logarithmic": regulariser_logarithmic,
    "mixture2": lambda v, threshold, gamma=1.0: gamma**2 / (v + gamma / threshold),
    "logistic": regulariser_logistic,
    "polynomial": lambda v, threshold, t=3.0: threshold * (v**t / t - v),
    "cauchy": lambda v, threshold: threshold**2 * (v - 1 - np.log(v)),
    "huber": lambda v, threshold: threshold**2 * (1 / v - 1),
    "l1l2": lambda v, threshold: 1 / v + threshold * v,
}


def minimiser(objective):
    """Argmin over [0, 1] of a convex function: a grid, then finer grids around its best point."""
    low, high = 1e-12, 1.0  # some regularisers are infinite at 0
    for _ in range(4):
        grid = np.linspace(low, high, 201)
        best = int(np.argmin(objective(grid)))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 200)]
    return grid[best]


@every_name
@quick
@given(data=st.data(), d=st.floats(0, 5))
def test_is_the_minimiser_of_its_regularised_objective(name, data, d):
    threshold = data.draw(thresholds(name))
    assume(name != "hard" or abs(d - threshold) > 1e-6)
    found = minimiser(lambda v: v * d + REGULARISER[name](v, threshold))
    weight = WEIGHTING[name](float64(d), threshold).item()
    assert weight == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("mixture2", {"gamma": 0.3}),
        ("mixture2", {"gamma": 4.0}),
        ("polynomial", {"t": 1.5}),
        ("polynomial", {"t": 6.0}),
    ],
)
@quick
@given(d=st.floats(0, 5), threshold=st.floats(0.05, 5))
def test_is_the_minimiser_at_other_shape_numbers(name, numbers, d, threshold):
    found = minimiser(lambda v: v * d + REGULARISER[name](v, threshold, **numbers))
    weight = WEIGHTING[name](float64(d), threshold, **numbers).item()
    assert weight == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "d", "threshold", "expected"),
    [
        ("welsch", 0.25, 0.5, math.exp(-1)),
        ("hard", 0.5, 0.5, 0.0),
        ("hard", 0.49, 0.5, 1.0),
        ("linear", 0.3, 0.4, 0.25),
        ("logarithmic", 0.25, 0.75, 0.5),
        ("logarithmic", 0.75, 0.75, 0.0),
        ("mixture2", 0.16, 0.5, 0.5),
        ("mixture2", 0.25, 1.0, 1.0),
        ("mixture2", 1.0, 1.0, 0.0),
        ("logistic", 1.0, 1.0, (1 + math.exp(-1)) / 2),
        ("polynomial", 0.75, 1.0, 0.5),
        ("cauchy", 0.75, 0.5, 0.25),
        ("huber", 4.0, 0.5, 0.25),
        ("huber", 0.25, 0.5, 1.0),
        ("l1l2", 7.0, 2.0, 1 / 3),
    ],
)
def test_value_by_hand(name, d, threshold, expected):
    weight = WEIGHTING[name](float64(d), threshold).item()
    assert weight == pytest.approx(expected, abs=1e-12)


@every_name
@quick
@given(data=st.data(), d=hardnesses)
def test_in_the_unit_interval_and_falls_with_hardness(name, data, d):
    weight = WEIGHTING[name](torch.tensor(d).sort().values, data.draw(thresholds(name)))
    assert ((weight >= 0) & (weight <= 1)).all()
    assert (weight.diff() <= 1e-6).all()


@every_name
@quick
@given(data=st.data(), d=hardnesses)
def test_monotone_in_the_threshold(name, data, d):
    low, high = sorted([data.draw(thresholds(name)), data.draw(thresholds(name))])
    assume(name != "logarithmic" or high <= 1 - 1 / math.e)
    growth = WEIGHTING[name](float64(d), high) - WEIGHTING[name](float64(d), low)
    sign = -1 if name == "l1l2" else 1
    assert (sign * growth >= -1e-12).all()


def test_logarithmic_is_not_monotone_in_the_threshold_near_one():
    before, after = (weighting.logarithmic(float64(0.0625), threshold) for threshold in (0.6, 0.9))
    assert before > 0.8 > after


@every_name
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@quick
@given(data=st.data())
def test_exact_at_hardness_zero(name, dtype, data):
    threshold = torch.tensor(data.draw(thresholds(name)), dtype=dtype)
    weight = WEIGHTING[name](torch.zeros(9, dtype=dtype), threshold)
    expected = 1 / torch.sqrt(threshold) if name == "l1l2" else torch.ones((), dtype=dtype)
    assert torch.equal(weight, expected.expand(9))


@every_name
def test_huge_hardness_does_not_overflow(name):
    d = torch.tensor([0.0, 1e-30, 1.0, 100.0, 1e4, 1e6])
    for threshold in {"logarithmic": [1e-6, 0.999999], "l1l2": [1.0, 1e6]}.get(name, [1e-6, 1e6]):
        weight = WEIGHTING[name](d, threshold)
        assert weight.dtype == torch.float32
        assert ((weight >= 0) & (weight <= 1)).all()


@every_name
def test_vanishes_as_hardness_grows(name):
    assert WEIGHTING[name](torch.tensor(1e6), 1.0 if name == "l1l2" else 0.5) <= 1e-3


@every_name
@quick
@given(data=st.data(), d=hardnesses)
def test_stacked_models_equal_one_by_one(name, data, d):
    threshold = float64([[data.draw(thresholds(name))] for _ in range(3)])
    stacked = float64(d) * float64([[0.1], [1.0], [2.0]])
    weight = WEIGHTING[name](stacked, threshold)
    rows = [WEIGHTING[name](stacked[i], threshold[i].item()) for i in range(3)]
    torch.testing.assert_close(weight, torch.stack(rows))


@every_name
@pytest.mark.parametrize("threshold", [0, -0.5, math.nan, math.inf])
def test_a_threshold_outside_its_domain_is_refused(name, threshold):
    message = rf"threshold must lie in [(\[][01], (inf|1)\).*, got {threshold:g}"
    with pytest.raises(ValueError, match=message):
        WEIGHTING[name](torch.zeros(2), threshold)
    inside = 1.0 if name == "l1l2" else 0.5
    with pytest.raises(ValueError, match=message):
        WEIGHTING[name](torch.zeros(2, 4), torch.tensor([[inside], [threshold]]))


@pytest.mark.parametrize("threshold", [1.0, 2.0])
def test_logarithmic_names_its_pacing(threshold):
    message = rf"in \(0, 1\) for logarithmic, got {threshold:g}: .*lambda0 and beta both below 1"
    with pytest.raises(ValueError, match=message):
        weighting.logarithmic(torch.zeros(2), threshold)


def test_l1l2_names_its_pacing():
    with pytest.raises(ValueError, match=r"in \[1, inf\) for l1l2, got 0.99: pace it downwards"):
        weighting.l1l2(torch.zeros(2), 0.99)


@every_name
def test_a_negative_hardness_is_refused(name):
    with pytest.raises(ValueError, match=r"hardness must be at least 0, got -0\.5"):
        WEIGHTING[name](torch.tensor([0.0, -0.5]), 1.0 if name == "l1l2" else 0.5)


@pytest.mark.parametrize("gamma", [0, -1.0, math.nan, math.inf])
def test_mixture2_refuses_a_gamma_outside_its_domain(gamma):
    with pytest.raises(ValueError, match=rf"gamma in \(0, inf\), got {gamma:g}"):
        weighting.mixture2(torch.zeros(2), 0.5, gamma=gamma)


@pytest.mark.parametrize("t", [1, 0.5, math.nan, math.inf])
def test_polynomial_refuses_a_degree_outside_its_domain(t):
    with pytest.raises(ValueError, match=rf"t in \(1, inf\), got {t:g}"):
        weighting.polynomial(torch.zeros(2), 0.5, t=t)


def test_resolve():
    assert weighting.resolve("welsch") is weighting.welsch
    assert weighting.resolve(torch.minimum) is torch.minimum
    with pytest.raises(ValueError, match=r"unknown weighting 'welsh': did you mean 'welsch'\?"):
        weighting.resolve("welsh")
