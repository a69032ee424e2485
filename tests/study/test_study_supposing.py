"""What would follow from other shares of positives."""

import numpy as np
import pytest

from robustpu.page import render
from robustpu.study.judging import judge, top_section
from robustpu.study.prior import Prior
from robustpu.study.soundness import SUPPOSITION, fault
from robustpu.study.supposing import shares, suppositions_section

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
def test_precision_and_cut_are_counted_anew(scenario):
    y, score = rows()
    judged = judge(y, score, ESTIMATED, 0.6, scenario)
    found = suppositions_section(judged, ESTIMATED, 0.5, [10, 100], 2000)
    assert [own["share"] for own in found] == [0.03, 0.05, 0.1, 0.2, 0.3]
    recall, rate = (score[y == 1] >= 0.6).mean(), (score[y == 0] >= 0.6).mean()
    for own in found:
        right, answered = own["share"] * recall, rate
        if scenario == "single-set":
            # Of all rows, one in eleven is labelled.
            right, answered = (recall + 10 * right) / 11, (recall + 10 * answered) / 11
        assert own["precision"] == pytest.approx(min(1, right / answered))
        assert (score[y == 0] >= own["cut"]).sum() == pytest.approx(2000 * own["share"], abs=1)


def test_positives_in_a_list_are_in_proportion_until_all_are_right():
    y, score = rows()
    judged = judge(y, score, ESTIMATED, 0.5, "case-control")
    found = suppositions_section(judged, ESTIMATED, 0.5, [400], 2000)
    last = np.sort(score[y == 0])[-400]
    recall = (score[y == 1] >= last).mean()
    for own in found:
        assert own["expected"] == [pytest.approx(min(400, own["share"] * recall * 2000))]


def test_the_share_that_was_used_has_the_figures_of_the_page():
    y, score = rows()
    judged = judge(y, score, ESTIMATED, 0.5, "case-control")
    top = top_section(judged, 2000)
    found = suppositions_section(judged, ESTIMATED, 0.5, [own["k"] for own in top], 2000)
    (used,) = [own for own in found if own["share"] == 0.2]
    assert used["expected"] == [own["expected"] for own in top]
    assert used["precision"] == judged["precision"].value


def test_a_share_that_was_given_has_them_too_and_rows_that_were_not_judged_leave_it_out():
    y, score = rows()
    judged = judge(y, score, Prior("given", 0.2), 0.5, "case-control")
    made = suppositions_section(judged, Prior("given", 0.2), 0.5, [10], 2000)
    assert [own["share"] for own in made] == [0.03, 0.05, 0.1, 0.2, 0.3]
    assert suppositions_section(None, ESTIMATED, 0.5, [10], 2000) == []


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


def test_an_estimated_share_has_them_in_the_findings_and_on_the_page(table):
    from robustpu.study import fit_table

    given = {"label": "fraud", "id": "claim", "drop": ("filed",), "method": "elkan-noto"}
    found = fit_table(table, **given).findings
    used = [own for own in found["suppositions"] if own["share"] == found["prior"]["value"]]
    assert len(used) == 1
    assert len(found["suppositions"]) > 2
    assert all(len(own["expected"]) == len(found["top"]) for own in found["suppositions"])
    assert fault(found) is None
    assert 'class="suppositions"' in render(found)
    given_share = fit_table(table, prior=0.15, **given).findings["suppositions"]
    assert 0.15 in [own["share"] for own in given_share]


def test_suppositions_of_a_stranger_are_checked_and_those_of_old_are_not_missed(study):
    found = {**study.findings, "suppositions": [{"share": 2}]}
    assert fault(found).startswith(".suppositions[0].share is 2, expected a number from 0 to 1")
    assert SUPPOSITION({"share": 0.1, "precision": 0.5, "cut": 0.5, "expected": [1]}) is None
    old = {name: own for name, own in study.findings.items() if name != "suppositions"}
    assert fault(old) is None
