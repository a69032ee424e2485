"""The results of a fit, as a terminal of 80 columns shows them."""

from dataclasses import replace

import pytest

from robustpu.cli.summary import summary
from robustpu.results import Alarm, TopK
from robustpu.workflow import open_study


@pytest.fixture(scope="module")
def results(model):
    return open_study(model).results


def test_it_fits_one_screen_and_leads_with_what_to_do(results):
    lines = summary(results)
    assert 20 <= len(lines) <= 34
    assert max(map(len, lines)) < 80
    assert lines[0].startswith("Start with the first ")
    text = "\n".join(lines)
    order = [text.index(words) for words in ("raised most by", "\nrows of the list", "\nrecall")]
    assert order == sorted(order)
    assert "as you said" in " ".join(lines[:3])


def test_a_share_that_is_not_known_is_in_no_sentence(results):
    prior = replace(results.prior, source="estimated", low=0.05, high=0.3, is_known=False)
    lines = summary(replace(results, prior=prior))
    assert "which these rows do not tell: of the" in " ".join(lines)
    assert "of them are positive (" not in " ".join(lines)
    shares = [line.split()[0] for line in lines if line.startswith("   ") and " % " in line]
    # From one below what is possible.
    assert float(shares[0]) < 5.0 <= float(shares[1])


def test_long_intervals_do_not_run_into_each_other(results):
    tops = [TopK(k, 0.9 * k, 0.8 * k, k) for k in (1_000, 2_000, 5_000, 10_000)]
    positive = results.data.n_positive
    data = replace(results.data, n_unlabeled=1_000_000, rows=1_000_000 + positive)
    lines = summary(replace(results, data=data, top=tuple(tops), sensitivity=()))
    intervals = next(line for line in lines if line.startswith("  90 % interval"))
    assert intervals.split("  ")[-1] == "4,000 to 5,000"
    assert max(map(len, lines)) < 80


def test_many_alarms_are_wrapped(results):
    alarms = tuple(Alarm("leak", f"Column 'c{place}': " + "gives it away " * 10) for place in "ab")
    lines = summary(replace(results, alarms=alarms))
    assert sum(line.startswith("Check: ") for line in lines) == 2
    assert max(map(len, lines)) < 80


@pytest.mark.parametrize(("low", "is_said"), [(0.49, True), (0.51, False)])
def test_a_ranking_by_chance_is_called_so(results, low, is_said):
    area = replace(results.evaluation.auc_of_labeled, low=low)
    evaluation = replace(results.evaluation, auc_of_labeled=area)
    text = " ".join(summary(replace(results, evaluation=evaluation)))
    assert ("nothing is promised" in text) == is_said
    assert ("Start with" in text) != is_said


def test_a_star_has_its_footnote_and_a_footnote_its_star(results):
    def stars(clipped):
        metrics = [
            replace(metric, clipped=metric.name == clipped) for metric in results.evaluation.metrics
        ]
        evaluation = replace(results.evaluation, metrics=tuple(metrics), remarks=("* cut",))
        lines = summary(replace(results, evaluation=evaluation))
        return any(line.endswith(" *") for line in lines), "* cut" in lines

    assert stars("recall") == (True, True)
    # That metric is not in the table of the terminal.
    assert stars("lift_at_k") == (False, False)


def test_without_an_evaluation_there_is_a_summary_all_the_same(results):
    bare = replace(results, evaluation=None, top=(), sensitivity=(), suspects=())
    assert summary(bare)[0].startswith("Start with the first rows of the list.")
