"""What other shares of positives would mean."""

import numpy as np
import pytest

from robustpu.report import render
from robustpu.results import Prior
from robustpu.workflow.evaluation import evaluate_scores, expected_hits
from robustpu.workflow.sensitivity import prior_sensitivity, shares

ESTIMATED = Prior("estimated", 0.2, 0.1, 0.3)


def rows(n_positive=200, n_unlabeled=2000, share=0.2, seed=0):
    """Labels and scores; 0.2 of the unlabelled rows score like the labelled ones."""
    random = np.random.default_rng(seed)
    is_hidden = np.arange(n_unlabeled) < share * n_unlabeled
    score = np.concatenate(
        [
            random.beta(6, 2, n_positive),
            np.where(is_hidden, random.beta(6, 2, n_unlabeled), random.beta(2, 6, n_unlabeled)),
        ]
    )
    return (np.arange(n_positive + n_unlabeled) < n_positive).astype(np.int64), score


@pytest.mark.parametrize("scenario", ["case-control", "single-set"])
def test_precision_and_cutoff_follow_from_the_share(scenario):
    y, score = rows()
    evaluation = evaluate_scores(y, score, ESTIMATED, 0.6, scenario)
    found = prior_sensitivity(evaluation, ESTIMATED, 0.5, [10, 100], 2000)
    assert [point.share for point in found] == [0.03, 0.05, 0.1, 0.2, 0.3]
    recall, rate = (score[y == 1] >= 0.6).mean(), (score[y == 0] >= 0.6).mean()
    for point in found:
        right, flagged = point.share * recall, rate
        if scenario == "single-set":
            # Of all rows, one in eleven is labelled.
            right, flagged = (recall + 10 * right) / 11, (recall + 10 * flagged) / 11
        assert point.precision == pytest.approx(min(1, right / flagged))
        assert (score[y == 0] >= point.cutoff).sum() == pytest.approx(2000 * point.share, abs=1)


def test_positives_in_a_list_are_in_proportion_until_all_are_right():
    y, score = rows()
    evaluation = evaluate_scores(y, score, ESTIMATED, 0.5, "case-control")
    found = prior_sensitivity(evaluation, ESTIMATED, 0.5, [400], 2000)
    last = np.sort(score[y == 0])[-400]
    recall = (score[y == 1] >= last).mean()
    for point in found:
        assert point.expected == (pytest.approx(min(400, point.share * recall * 2000)),)


def test_the_share_that_was_used_has_the_figures_of_the_page():
    y, score = rows()
    evaluation = evaluate_scores(y, score, ESTIMATED, 0.5, "case-control")
    top = expected_hits(evaluation, 2000)
    found = prior_sensitivity(evaluation, ESTIMATED, 0.5, [each.k for each in top], 2000)
    (used,) = [point for point in found if point.share == 0.2]
    assert used.expected == tuple(each.expected for each in top)
    # Intervals of a share that is given are narrower than those of an estimated one.
    known = expected_hits(evaluate_scores(y, score, Prior("given", 0.2), 0.5, "case-control"), 2000)
    assert used.low == tuple(each.low for each in known)[: len(used.low)]
    assert all(
        low <= hits <= high <= each.k
        for low, hits, high, each in zip(used.low, used.expected, used.high, top, strict=True)
    )
    assert used.precision == evaluation["precision"].value


def test_a_given_share_has_them_too_and_without_an_evaluation_there_are_none():
    y, score = rows()
    evaluation = evaluate_scores(y, score, Prior("given", 0.2), 0.5, "case-control")
    made = prior_sensitivity(evaluation, Prior("given", 0.2), 0.5, [10], 2000)
    assert [point.share for point in made] == [0.03, 0.05, 0.1, 0.2, 0.3]
    assert prior_sensitivity(None, ESTIMATED, 0.5, [10], 2000) == ()


@pytest.mark.parametrize(
    ("value", "most", "expected"),
    [
        (0.101, 0.101, [0.02, 0.03, 0.05, 0.101]),
        (0.0012, 1.0, [0.0003, 0.0005, 0.001, 0.0012, 0.002]),
        (0.9, 1.0, [0.2, 0.3, 0.5, 0.9]),
        (1e-4, 1.0, [2e-5, 3e-5, 5e-5, 1e-4, 2e-4]),
    ],
)
def test_shares_are_round_and_none_is_above_what_is_allowed(value, most, expected):
    assert shares(value, most) == expected


def test_results_and_page_have_the_share_that_was_used(study):
    results = study.results
    assert results.prior.value in [point.share for point in results.sensitivity]
    assert len(results.sensitivity) > 2
    assert "If the share were another" in render(results)
