"""A curriculum: hardness and weight of each row, and what it refuses."""

import numpy as np
import pytest
import torch
from sklearn.base import clone

from robustpu import Curriculum, Pacing, weighting
from robustpu.curriculum import describe_weights
from robustpu.validation.parameters import check_parameters, fleet_parameters


def curriculum(**changes):
    given = {
        "temperature_positive": 2.0,
        "temperature_unlabeled": 0.5,
        "pacing_positive": Pacing("const", lambda0=0.7),
        "pacing_unlabeled": Pacing("linear", lambda0=1.3, beta=1.5, t_grow=2),
    }
    return Curriculum(**{**given, **changes})


def rows(n=40):
    rng = np.random.default_rng(0)
    return rng.normal(0, 2, n), rng.random(n) < 0.4


class TestWeights:
    @pytest.mark.parametrize(("t", "unlabeled"), [(0, 1.3), (1, 1.4), (5, 1.5)])
    def test_formulas_of_labelled_and_unlabelled_rows(self, t, unlabeled):
        odds, is_positive = rows()
        rounds = curriculum()
        hardness, weight = rounds.apply_to_arrays(odds, is_positive, rounds.threshold(t))
        for place in range(len(odds)):
            margin = odds[place] if is_positive[place] else -odds[place]
            tau, threshold = (2.0, 0.7) if is_positive[place] else (0.5, unlabeled)
            expected = np.log1p(np.exp(-margin / tau))
            assert hardness[place] == pytest.approx(expected)
            assert weight[place] == pytest.approx(np.exp(-expected / threshold**2))

    def test_welsch_at_one_is_the_probability(self):
        odds, is_positive = rows()
        plain = Curriculum(temperature_unlabeled=1.0)
        probability = 1 / (1 + np.exp(-odds))
        expected = np.where(is_positive, probability, 1 - probability)
        np.testing.assert_allclose(
            plain.apply_to_arrays(odds, is_positive, (1.0, 1.0))[1], expected
        )

    @pytest.mark.parametrize("name", weighting.WEIGHTING)
    def test_block_by_block_is_the_same(self, name):
        given = rows()
        low = 2.0 if name == "l1l2" else 0.5
        rounds = curriculum(weighting=name)
        whole = rounds.apply_to_arrays(*given, (low, low))
        blocks = [
            rounds.apply_to_arrays(*(part[at : at + 7] for part in given), (low, low))
            for at in range(0, 40, 7)
        ]
        for found, parts in zip(whole, zip(*blocks, strict=True), strict=True):
            np.testing.assert_array_equal(np.concatenate(parts), found)

    def test_tensors_as_arrays(self):
        odds, is_positive = rows()
        tensors = curriculum().apply(torch.tensor(odds), torch.tensor(is_positive), (1.0, 2.0))
        arrays = curriculum().apply_to_arrays(odds, is_positive, (1.0, 2.0))
        for one, other in zip(tensors, arrays, strict=True):
            np.testing.assert_array_equal(one.numpy(), other)

    def test_no_rows(self):
        empty = np.zeros(0), np.zeros(0, dtype=bool)
        assert [len(part) for part in curriculum().apply_to_arrays(*empty, (1.0, 1.0))] == [0, 0]

    def test_leaves_what_it_was_given(self):
        given = rows()
        copies = [part.copy() for part in given]
        curriculum().apply_to_arrays(*given, (1.0, 1.0))
        for part, copy in zip(given, copies, strict=True):
            np.testing.assert_array_equal(part, copy)

    def test_functions_of_the_user(self):
        rounds = curriculum(
            hardness=lambda logit, is_positive, temperature: logit * temperature,
            weighting=lambda hardness, threshold: hardness + threshold,
        )
        rows = np.array([1.0, 2.0]), np.array([True, False])
        hardness, weight = rounds.apply_to_arrays(*rows, (0.7, 1.3))
        assert hardness.tolist() == [2, 1]
        assert weight == pytest.approx([2.7, 2.3])


class TestThresholds:
    def test_round_by_round(self):
        rounds = curriculum()
        assert rounds.path(3) == [(0.7, 1.3), (0.7, pytest.approx(1.4)), (0.7, 1.5)]
        assert [rounds.threshold(t) for t in range(3)] == rounds.path(3)
        assert rounds.temperature == (2.0, 0.5)

    def test_the_first_is_lambda0(self):
        assert Curriculum().threshold(0) == (0.1, 0.11)


class TestParameters:
    def test_are_those_of_an_estimator(self):
        rounds = Curriculum().set_params(pacing_positive__t_grow=20, max_rounds=3)
        assert rounds.pacing_positive.t_grow == 20
        assert Curriculum().pacing_positive.t_grow == 10
        copy = clone(rounds)
        assert repr(copy) == repr(rounds)
        assert copy.pacing_positive is not rounds.pacing_positive

    def test_of_a_fleet(self):
        assert fleet_parameters(Curriculum) == ("hardness", "weighting", "balance")

    @pytest.mark.parametrize(
        ("changes", "match"),
        [
            ({"hardness": "logitsic"}, "did you mean 'logistic'"),
            ({"weighting": "welch"}, "did you mean 'welsch'"),
            ({"weighting": None}, "unknown weighting None"),
            ({"pacing_unlabeled": Pacing("lienar")}, "did you mean 'linear'"),
            ({"pacing_unlabeled": Pacing(lambda0=0)}, "lambda0 must be a number above 0"),
            ({"pacing_positive": Pacing(beta=-1)}, "beta must be a number above 0"),
            ({"pacing_positive": Pacing(t_grow=0)}, "t_grow must be a whole number"),
            ({"pacing_positive": Pacing(gamma=1)}, "gamma must be a number above 0 and below 1"),
            ({"pacing_positive": Pacing(lambda0="low")}, "lambda0 must be"),
            ({"pacing_positive": 0.5}, "pacing_positive must be a robustpu.Pacing; it is 0.5"),
            ({"pacing_unlabeled": "linear"}, "pacing_unlabeled must be a robustpu.Pacing"),
            ({"temperature_positive": 0}, "temperature_positive must be a number above 0"),
            ({"temperature_unlabeled": -1}, "temperature_unlabeled must be a number above 0"),
            ({"balance": 1}, "balance must be True or False"),
            ({"max_rounds": 0}, "max_rounds must be a whole number"),
            ({"max_rounds": 2.5}, "max_rounds must be a whole number"),
            ({"weighting": "logarithmic"}, r"threshold must lie in \(0, 1\) for logarithmic"),
        ],
    )
    def test_what_is_refused(self, changes, match):
        with pytest.raises(ValueError, match=match):
            check_parameters(curriculum(**changes))

    def test_thresholds_that_are_never_reached_are_not_refused(self):
        late = Pacing("linear", lambda0=0.1, beta=1.0, t_grow=5)
        given = {"pacing_positive": late, "pacing_unlabeled": late, "weighting": "logarithmic"}
        check_parameters(curriculum(**given, max_rounds=5))
        with pytest.raises(ValueError, match="threshold must lie in"):
            check_parameters(curriculum(**given, max_rounds=6))


def test_describe_weights():
    weight, is_positive = np.array([0.5, 1.0, 0.25, 0.25]), np.array([True, True, False, False])
    assert describe_weights(weight, is_positive, (2.0, 1.0)) == {
        "threshold_positive": 2.0,
        "mass_positive": 1.5,
        "effective_positive": pytest.approx(1.5**2 / 1.25),
        "threshold_unlabeled": 1.0,
        "mass_unlabeled": 0.5,
        "effective_unlabeled": pytest.approx(2.0),
    }
    nobody = describe_weights(np.zeros(2), np.array([True, False]), (1.0, 1.0))
    assert nobody["effective_positive"] == 0
