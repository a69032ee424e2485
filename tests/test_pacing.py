import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from robustpu import pacing
from robustpu.pacing import PACING, Pacing

quick = settings(max_examples=40, deadline=None, derandomize=True)
every_name = pytest.mark.parametrize("name", PACING)
every_growing_name = pytest.mark.parametrize("name", sorted(PACING.keys() - {"const"}))

ends = st.floats(0.01, 10)
grows = st.integers(1, 80)
gammas = st.floats(0.01, 0.99)


def half(t, lambda0, beta, t_grow, gamma):
    return (lambda0 + beta) / 2


@every_name
@quick
@given(lambda0=ends, beta=ends, t_grow=grows, gamma=gammas)
def test_starts_at_lambda0(name, lambda0, beta, t_grow, gamma):
    assert PACING[name](0, lambda0, beta, t_grow, gamma).item() == lambda0


@every_growing_name
@quick
@given(lambda0=ends, beta=ends, t_grow=grows, gamma=gammas)
def test_reaches_beta_at_t_grow_and_stays(name, lambda0, beta, t_grow, gamma):
    late = t_grow + torch.arange(3 * t_grow)
    assert (PACING[name](late, lambda0, beta, t_grow, gamma) == beta).all()


@every_growing_name
@quick
@given(lambda0=ends, beta=ends, t_grow=grows, gamma=gammas)
def test_moves_one_way_between_its_ends(name, lambda0, beta, t_grow, gamma):
    threshold = PACING[name](torch.arange(2 * t_grow), lambda0, beta, t_grow, gamma)
    assert (threshold.diff() * math.copysign(1, beta - lambda0) >= -1e-12).all()
    assert threshold.min() >= min(lambda0, beta)
    assert threshold.max() <= max(lambda0, beta)


@every_growing_name
def test_is_short_of_beta_before_t_grow(name):
    assert PACING[name](9, 0.1, 1.0, 10, 0.5) < 1.0


@quick
@given(t=st.integers(0, 200), lambda0=ends, beta=ends, t_grow=grows, gamma=gammas)
def test_const_never_moves(t, lambda0, beta, t_grow, gamma):
    assert pacing.const(t, lambda0, beta, t_grow, gamma).item() == lambda0


@pytest.mark.parametrize(
    ("name", "t", "expected"),
    [
        ("const", 5, 1.0),
        ("linear", 5, 2.0),
        ("linear", 1, 1.2),
        ("convex", 5, 1 + math.sqrt(2)),
        ("concave", 5, 3 - math.sqrt(2)),
        ("exponential", 1, 2.5),
        ("exponential", 2, 2.875),
        ("exponential", 9, 3 - 2 * 0.25**9),
    ],
)
def test_value_by_hand(name, t, expected):
    rising = PACING[name](t, 1.0, 3.0, 10, 0.25).item()
    assert rising == pytest.approx(expected, abs=1e-12)
    falling = PACING[name](t, 3.0, 1.0, 10, 0.25).item()
    assert falling == pytest.approx(4 - expected, abs=1e-12)


def test_convex_is_the_fast_start_and_concave_the_slow_one():
    slow, steady, fast = (PACING[n](3, 0.1, 1.0, 10, 0.5) for n in ("concave", "linear", "convex"))
    assert slow < steady < fast


@every_name
def test_stacked_models_equal_one_by_one(name):
    rounds = torch.arange(12)
    lambda0 = torch.tensor([[0.1], [0.5], [3.0]])
    beta = torch.tensor([[1.0], [2.0], [1.0]])
    t_grow = torch.tensor([[1], [5], [10]])
    gamma = torch.tensor([[0.2], [0.5], [0.9]])
    stacked = PACING[name](rounds, lambda0, beta, t_grow, gamma)
    assert stacked.shape == (3, 12)
    for i in range(3):
        numbers = lambda0[i].item(), beta[i].item(), t_grow[i].item(), gamma[i].item()
        row = torch.stack([PACING[name](t, *numbers) for t in range(12)])
        torch.testing.assert_close(stacked[i], row)


@every_name
@pytest.mark.parametrize("place", range(5))
def test_the_shape_of_every_argument_counts(name, place):
    arguments = [torch.tensor(number) for number in (2.0, 0.1, 1.0, 10.0, 0.5)]
    arguments[place] = arguments[place].expand(4, 1)
    assert PACING[name](*arguments).shape == (4, 1)


@every_name
def test_numbers_follow_the_tensors_to_their_device(name):
    beta = torch.ones(3, 1, device="meta")
    assert PACING[name](2, 0.1, beta, 10, 0.5).device.type == "meta"


def test_the_threshold_is_not_a_view_of_the_callers_tensor():
    lambda0 = torch.ones(3, dtype=torch.float64)
    pacing.const(0, lambda0, 2.0, 10).zero_()
    assert (lambda0 == 1).all()


@every_name
def test_pacing_holds_the_numbers_of_its_function(name):
    held = Pacing(name, lambda0=0.2, beta=3.0, t_grow=7, gamma=0.3)
    for t in range(10):
        threshold = held(t)
        assert isinstance(threshold, float)
        assert threshold == PACING[name](t, 0.2, 3.0, 7, 0.3).item()


def test_pacing_takes_a_function():
    assert Pacing(half, lambda0=1.0, beta=2.0)(0) == 1.5


def test_pacing_defaults():
    assert Pacing()(0) == 0.1
    assert Pacing()(10) == 1.0
    assert Pacing()(5) == pytest.approx(0.55)


def test_pacing_is_cloned_with_its_parameters():
    held = Pacing(half, lambda0=1.0, beta=2.0, t_grow=3, gamma=0.1)
    copy = clone(held)
    assert copy is not held
    assert copy.get_params() == held.get_params()
    assert list(copy.get_params()) == ["beta", "gamma", "lambda0", "shape", "t_grow"]


def test_the_parameters_are_reachable_through_an_estimator():
    class Estimator(BaseEstimator):
        def __init__(self, pacing_unlabeled=None):
            self.pacing_unlabeled = pacing_unlabeled

    estimator = clone(Estimator(Pacing())).set_params(pacing_unlabeled__lambda0=0.4)
    assert estimator.get_params()["pacing_unlabeled__lambda0"] == 0.4
    assert estimator.pacing_unlabeled(0) == 0.4


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        ("lambda0", 0, "lambda0 must be a number above 0; it is 0"),
        ("lambda0", -0.1, "lambda0 must be a number above 0; it is -0.1"),
        ("lambda0", math.nan, "lambda0 must be a number above 0; it is nan"),
        ("lambda0", "low", "lambda0 must be a number above 0; it is 'low'"),
        ("beta", 0.0, "beta must be a number above 0; it is 0.0"),
        ("beta", math.inf, "beta must be a number above 0; it is inf"),
        ("beta", True, "beta must be a number above 0; it is True"),
        ("t_grow", 0, "t_grow must be a whole number at least 1; it is 0"),
        ("t_grow", 2.5, "t_grow must be a whole number at least 1; it is 2.5"),
        ("t_grow", math.inf, "t_grow must be a whole number at least 1; it is inf"),
        ("gamma", 0.0, "gamma must be a number above 0 and below 1; it is 0.0"),
        ("gamma", 1.0, "gamma must be a number above 0 and below 1; it is 1.0"),
        ("gamma", math.nan, "gamma must be a number above 0 and below 1; it is nan"),
        ("shape", "liner", r"unknown pacing 'liner': did you mean 'linear'\?"),
    ],
)
def test_a_parameter_outside_its_domain_is_refused_when_called(parameter, value, message):
    held = Pacing().set_params(**{parameter: value})
    with pytest.raises(ValueError, match=message):
        held.check()
    with pytest.raises(ValueError, match=message):
        held(0)


@pytest.mark.parametrize("t", [-1, math.nan])
def test_a_round_before_the_first_is_refused(t):
    with pytest.raises(ValueError, match=f"t must be at least 0, got {t}: count the rounds from 0"):
        Pacing()(t)


def test_resolve():
    assert pacing.resolve("exponential") is pacing.exponential
    assert pacing.resolve(half) is half
    with pytest.raises(ValueError, match="unknown pacing 'exponentail': did you mean 'expon"):
        pacing.resolve("exponentail")
