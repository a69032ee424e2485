"""The conversions agree with a table that is counted by hand, and with one another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robustpu.scenario import (
    SCENARIOS,
    check_prior,
    check_scenario,
    label_frequency,
    population_prior,
    unlabeled_prior,
)

counts = st.integers(1, 10_000)


@given(n_labeled=counts, n_hidden=counts, n_negative=counts)
def test_single_set_conversions_agree_with_counts(n_labeled, n_hidden, n_negative):
    n_unlabeled = n_hidden + n_negative
    prior = n_hidden / n_unlabeled
    population = population_prior(prior, n_labeled, n_unlabeled, "single-set")
    frequency = label_frequency(prior, n_labeled, n_unlabeled)
    assert population == pytest.approx((n_labeled + n_hidden) / (n_labeled + n_unlabeled))
    assert frequency == pytest.approx(n_labeled / (n_labeled + n_hidden))
    assert unlabeled_prior(population, frequency) == pytest.approx(prior)
    assert prior < population < 1


@given(prior=st.floats(0.01, 0.99), n_positive=counts, n_unlabeled=counts)
def test_case_control_leaves_the_prior_alone(prior, n_positive, n_unlabeled):
    assert population_prior(prior, n_positive, n_unlabeled, "case-control") == prior


def test_labelling_every_positive_leaves_none():
    assert unlabeled_prior(0.3, 1.0) == 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_known_scenarios_pass(name):
    assert check_scenario(name) == name


@pytest.mark.parametrize("name", ["case_control", "", None])
def test_unknown_scenarios_are_refused(name):
    with pytest.raises(ValueError, match=r"case-control.*single-set"):
        check_scenario(name)
    with pytest.raises(ValueError, match=r"case-control.*single-set"):
        population_prior(0.5, 1, 1, name)


@pytest.mark.parametrize("value", [0.5, np.float32(0.5), np.float64(0.5)])
def test_a_sound_prior_becomes_a_float(value):
    assert type(check_prior(value)) is float
    assert check_prior(value) == 0.5


@pytest.mark.parametrize("value", [0, 0.0, -0.1, float("nan"), None, "0.5", True, [0.5]])
def test_an_unsound_prior_is_refused(value):
    with pytest.raises(ValueError, match="share of positives among the unlabelled rows"):
        check_prior(value)


@pytest.mark.parametrize("value", [1, 1.0, 40, np.int64(400)])
def test_a_prior_of_one_or_more_is_asked_whether_it_is_a_percentage(value):
    with pytest.raises(ValueError, match="percentage, or a count"):
        check_prior(value)


def test_a_prior_below_zero_is_not_asked_that():
    with pytest.raises(ValueError, match="share of positives") as caught:
        check_prior(-40)
    assert "percentage" not in str(caught.value)
