import numpy as np
import pytest
import torch

from robustpu.scenario import unlabeled_prior
from robustpu.selection import (
    above_prior,
    of_logits,
    oracle_accuracy,
    positive_rates,
    proxy_accuracy,
)
from robustpu.thresholds import at_share

REPEATS = 4000
PI, RECALL, FALSE_ALARM = 0.4, 0.8, 0.3
# What a classifier with these rates gets right in the population.
ACCURACY = PI * RECALL + (1 - PI) * (1 - FALSE_ALARM)


def answers(is_positive, generator):
    """Answers of a classifier with the recall and the false alarms above."""
    rate = torch.where(is_positive, RECALL, FALSE_ALARM)
    return torch.where(torch.rand(rate.shape, generator=generator) < rate, 1.0, 0.0)


def proxy_scores(prior, population_prior):
    """Proxy accuracies of many held-out sets, in which U holds the share ``prior`` of positives."""
    generator = torch.Generator().manual_seed(0)
    truth = torch.rand(REPEATS, 150, generator=generator) < prior
    labelled = torch.arange(150) < 50
    truth[:, labelled] = True
    answer = answers(truth, generator)
    weight = torch.ones_like(answer)
    return proxy_accuracy(
        answer,
        labelled.expand_as(answer),
        weight,
        torch.tensor(prior),
        torch.tensor(population_prior),
    )


def assert_unbiased(score, expected):
    error = score.std() / len(score) ** 0.5
    assert abs(score.mean() - expected) < 4 * error
    return error


def test_proxy_accuracy_is_unbiased_in_case_control_data():
    error = assert_unbiased(proxy_scores(PI, PI), ACCURACY)
    # 2 pi sd(recall) and sd(rate): 0.8 * 0.057 and 0.05 give 0.068 a set, 0.0011 for the mean.
    assert error < 0.0015


def test_proxy_accuracy_is_unbiased_in_single_set_data():
    prior = unlabeled_prior(PI, label_frequency=0.5)
    assert_unbiased(proxy_scores(prior, PI), ACCURACY)
    # With the prior of U in the place of that of the population it would be another accuracy.
    as_if_case_control = proxy_scores(prior, prior).mean()
    assert abs(as_if_case_control - ACCURACY) > 0.01
    assert as_if_case_control == pytest.approx(
        prior * RECALL + (1 - prior) * (1 - FALSE_ALARM), abs=0.005
    )


def test_proxy_accuracy_in_case_control_data_by_hand():
    # Three of four positives found, two of five unlabelled rows predicted positive.
    logit = torch.tensor([1.0, 2.0, 0.5, -1.0, 3.0, 0.1, -1.0, -2.0, -3.0])
    labelled = torch.arange(9) < 4
    prior = torch.tensor(0.3)
    actual = proxy_accuracy((logit >= 0).float(), labelled, torch.ones(9), prior, prior)
    assert actual.item() == pytest.approx(1 + 2 * 0.3 * 0.75 - 0.3 - 0.4)


def test_proxy_accuracy_in_single_set_data_is_that_of_one_sample():
    # Card 14: 2 pi recall + mean over P and U of 1[f < 0], less pi.
    logit = torch.tensor([1.0, 2.0, -1.0, 3.0, 0.1, -1.0, -2.0, -3.0, -4.0])
    labelled = torch.arange(9) < 3
    prior = 2 / 6
    pi = (3 + prior * 6) / 9
    expected = 2 * pi * (2 / 3) + 5 / 9 - pi
    actual = proxy_accuracy(
        (logit >= 0).float(), labelled, torch.ones(9), torch.tensor(prior), torch.tensor(pi)
    )
    assert actual.item() == pytest.approx(expected)


@pytest.mark.parametrize("right", [True, False])
def test_proxy_accuracy_of_a_perfect_and_of_an_inverse_classifier(right):
    # Two of five unlabelled rows are positive, as the prior says.
    truth = torch.tensor([True, True, True, True, True, False, False, False])
    labelled = torch.arange(8) < 3
    logit = torch.where(truth == right, 1.0, -1.0)
    prior = torch.tensor(0.4)
    score = proxy_accuracy((logit >= 0).float(), labelled, torch.ones(8), prior, prior)
    assert score.item() == pytest.approx(float(right), abs=1e-6)


def test_rates_are_of_positives_and_of_unlabelled_rows():
    answer = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    labelled = torch.tensor([True, True, False, False, False, False])
    recall, rate = positive_rates(answer, labelled, torch.ones(6))
    assert (recall.item(), rate.item()) == (0.5, 0.5)


def test_weights_equal_repetition():
    times = torch.tensor([3, 1, 2, 0, 1, 4])
    answer = torch.tensor([1.0, 0.0, 1.0, 1.0, 0.0, 0.0])
    labelled = torch.tensor([True, True, False, False, False, True])
    priors = torch.tensor(0.3), torch.tensor(0.5)
    repeated = [value.repeat_interleave(times) for value in (answer, labelled)]
    for criterion in (proxy_accuracy, oracle_accuracy):
        weighted = criterion(answer, labelled, times.float(), *priors)
        torch.testing.assert_close(weighted, criterion(*repeated, torch.ones(11), *priors))


def test_oracle_accuracy_by_hand():
    # Right, wrong, right, right, wrong.
    answer = torch.tensor([1.0, 0.0, 1.0, 0.0, 1.0])
    truth = torch.tensor([True, True, True, False, False])
    any_prior = torch.tensor(0.5)
    score = oracle_accuracy(answer, truth, torch.ones(5), any_prior, any_prior)
    assert score.item() == pytest.approx(3 / 5)


def test_the_oracle_does_not_ask_for_priors():
    answer, truth = torch.tensor([1.0, 0.0]), torch.tensor([True, True])
    nothing = torch.tensor(torch.nan)
    assert oracle_accuracy(answer, truth, torch.ones(2), nothing, nothing).item() == 0.5


HALF = torch.tensor(0.5)


def scored(logit, truth, criterion=oracle_accuracy):
    truth = torch.tensor(truth)
    return of_logits(criterion)(torch.tensor(logit), truth, torch.ones(len(truth)), HALF, HALF)


def test_a_logit_of_zero_is_a_positive_answer():
    assert scored([0.0, -1e-9], [True, False]).item() == pytest.approx(1, abs=1e-3)


def test_more_right_answers_beat_any_probability():
    """A hundred rows: one row more outweighs all that the others' probabilities can give."""
    truth = [True] * 50 + [False] * 50
    sure = [9.0] * 49 + [-0.01] + [-9.0] * 50
    unsure = [0.01] * 50 + [-0.01] * 50
    first, second = (scored(logit, truth) for logit in (sure, unsure))
    assert second > first


@pytest.mark.parametrize("criterion", [proxy_accuracy, oracle_accuracy])
def test_of_equal_answers_the_surer_right_ones_win(criterion):
    truth = [True, True, False, False]
    low, high = (scored(logit, truth, criterion) for logit in ([1.0, 1, -1, -1], [2.0, 1, -1, -3]))
    assert high > low
    assert high - low < 1e-3


@pytest.mark.parametrize("criterion", [proxy_accuracy, oracle_accuracy])
def test_members_are_scored_each_by_itself(criterion):
    generator = torch.Generator().manual_seed(0)
    answer = torch.rand(3, 8, generator=generator)
    labelled = torch.stack([torch.arange(8) < k for k in (2, 3, 4)])
    weight = torch.rand(3, 8, generator=generator)
    prior, population = torch.tensor([0.2, 0.4, 0.6]), torch.tensor([0.3, 0.5, 0.6])
    stacked = criterion(answer, labelled, weight, prior, population)
    alone = [
        criterion(*member)
        for member in zip(answer, labelled, weight, prior, population, strict=True)
    ]
    torch.testing.assert_close(stacked, torch.stack(alone))


class TestAbovePrior:
    def test_the_share_of_the_population_is_above_zero(self):
        logit = torch.randn(3, 100, generator=torch.Generator().manual_seed(0))
        population = torch.arange(100).expand(3, 100) >= 20
        prior = torch.tensor([0.1, 0.5, 0.9])
        shifted = above_prior(logit, population, torch.ones(3, 100), prior)
        share = ((shifted > 0) & population).sum(1) / 80
        torch.testing.assert_close(share, prior, atol=0.01, rtol=0)

    def test_one_row_is_positive(self):
        one = torch.ones(1, 1, dtype=torch.bool)
        for prior in (0.2, 0.5):
            shifted = above_prior(torch.tensor([[-3.0]]), one, one, torch.tensor([prior]))
            assert shifted.item() == 0

    @pytest.mark.parametrize(("prior", "expected"), [(0.3, 2), (0.44, 2), (0.46, 7), (0.7, 7)])
    def test_of_equal_rows_all_or_none_are_above(self, prior, expected):
        """As thresholds.at_share has it; rows outside of the population do not count."""
        value = np.repeat([0.9, 0.5, 0.1], [2, 5, 3])
        logit = torch.tensor(np.r_[np.log(value / (1 - value)), 0.0, 0.0], dtype=torch.float32)
        population = torch.arange(12)[None] < 10
        shifted = above_prior(logit[None], population, torch.ones(1, 12), torch.tensor([prior]))
        assert ((shifted >= 0) & population).sum().item() == expected
        assert (value >= at_share(value, prior)).sum() == expected

    def test_an_oracle_evaluates_all_rows_at_the_share_of_the_population(self):
        seen = []

        def settle(logit, population, weight, prior):
            seen.append((population.tolist(), prior.item()))
            assert weight.tolist() == [[3.0, 2.0]]
            return logit

        truth, weight = torch.tensor([[True, False]]), torch.tensor([[3.0, 2.0]])
        rest = weight, torch.tensor([0.2])
        for criterion in (oracle_accuracy, proxy_accuracy):
            of_logits(criterion, settle)(torch.zeros(1, 2), truth, *rest, torch.tensor([0.6]))
        assert seen[0][0] == [[True, True]]
        assert seen[1][0] == [[False, True]]
        assert [round(prior, 3) for _, prior in seen] == [0.6, 0.2]
