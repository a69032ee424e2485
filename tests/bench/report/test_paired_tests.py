import numpy as np
import pytest
from scipy.stats import PermutationMethod, ttest_1samp, wilcoxon

from robustpu.bench.report.paired_tests import FEWEST_PAIRS, mean_interval, signed_rank


@pytest.mark.parametrize("n", [1, 5, 10, 30])
def test_without_ties_it_is_scipys_exact_test(n):
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.5, 2.0):
        differences = rng.normal(shift, 1, n)
        expected = wilcoxon(differences, method="exact").pvalue
        assert signed_rank(differences) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_ties_it_is_the_permutation_test(seed):
    differences = np.round(np.random.default_rng(seed).normal(0.2, 0.3, 10), 1)
    nonzero = differences[differences != 0]
    expected = wilcoxon(nonzero, method=PermutationMethod(n_resamples=10**6)).pvalue
    assert signed_rank(differences) == pytest.approx(expected, rel=1e-9)


def test_equal_results_are_not_told_apart():
    assert signed_rank([0.0] * 10) == 1.0
    assert signed_rank([]) == 1.0


def test_rounding_does_not_break_ties():
    exact = [0.1, 0.1, 0.1, 0.1, -0.1, 0.2, 0.2]
    noisy = [3.2 - 3.1, 5.4 - 5.3, 0.3 - 0.2, 9.1 - 9.0, 7.6 - 7.7, 1.3 - 1.1, 4.6 - 4.4]
    assert len(set(map(abs, noisy))) > 2
    assert signed_rank(noisy) == signed_rank(exact)


def test_the_sign_does_not_matter():
    differences = [0.3, -0.1, 0.4, 0.2, 0.6, 0.5, 0.0]
    assert signed_rank(differences) == signed_rank([-d for d in differences])


def test_fewest_pairs_can_be_significant_and_one_less_cannot():
    assert signed_rank(range(1, FEWEST_PAIRS + 1)) < 0.05
    assert signed_rank(range(1, FEWEST_PAIRS)) > 0.05


@pytest.mark.parametrize("n", [2, 10])
def test_the_interval_is_students(n):
    differences = np.random.default_rng(n).normal(0.5, 1, n)
    expected = ttest_1samp(differences, 0).confidence_interval(0.95)
    assert mean_interval(differences.tolist()) == pytest.approx(tuple(expected), rel=1e-9)


def test_a_single_difference_has_no_interval():
    assert np.isnan(mean_interval([0.3])).all()
