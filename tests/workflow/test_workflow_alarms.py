"""Labels that the columns know nothing of, and thresholds that rest on an unknown share."""

import json
from dataclasses import replace

import numpy as np
import pytest

from robustpu.cli.fit import summary
from robustpu.report import render
from robustpu.results import Prior, read_results
from robustpu.workflow import fit_table
from robustpu.workflow.alarms import threshold_alarms


def frame(n_rows, n_labelled, gap, seed=0):
    """Two columns; the first half of the positives is labelled."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, 2)) + gap * (np.arange(n_rows) < 2 * n_labelled)[:, None]
    labelled = (np.arange(n_rows) < n_labelled).astype(int)
    return {"a": rows[:, 0], "b": rows[:, 1], "y": labelled}


@pytest.fixture(scope="module")
def chance():
    return fit_table(frame(680, 80, 0), label="y", method="puet", prior=0.3).results


class TestChance:
    def test_it_is_the_first_alarm_and_no_remark(self, chance):
        area = chance.evaluation.auc_of_labeled
        assert not chance.beats_chance
        assert area.low <= 0.5
        assert chance.alarms[0].kind == "chance"
        assert f"AUC {area.value:.2f} ({area.low:.2f} to {area.high:.2f}" in chance.alarms[0].text
        assert "chance" not in "".join(chance.evaluation.remarks)

    def test_nothing_is_promised(self, chance):
        words = "\n".join(summary(chance))
        assert "No ranking of the 600 unlabelled rows that is shown to beat chance" in words
        assert "most suspect rows" not in words
        assert "180" not in words
        page = render(chance)
        assert "The list may be no better than chance" in page
        assert "Start with" not in page

    def test_it_outlives_a_folder_and_older_results_have_none(self, chance):
        document = json.loads(json.dumps(chance.to_json()))
        assert not read_results(document).beats_chance
        del document["evaluation"]["auc_of_labeled"]
        assert read_results(document).beats_chance

    def test_a_real_ranking_has_no_such_alarm(self, study):
        assert study.results.beats_chance
        assert "chance" not in [alarm.kind for alarm in study.results.alarms]


def test_cross_fitted_methods_do_without_a_share():
    given = {"label": "y", "method": "elkan-noto", "threshold": 0.2}
    results = fit_table(frame(600, 90, 0.7), **given).results
    assert not results.prior.is_known
    assert [each.name for each in results.evaluation.metrics][-1] == "auc_of_labeled"
    assert results.evaluation.metrics[-1] == results.evaluation.auc_of_labeled


def test_a_precision_that_cannot_be_kept_is_an_alarm():
    unknown = Prior("estimated", 0.1, 0.01, 0.4, is_known=False)
    (alarm,) = threshold_alarms(unknown, "precision:0.4")
    assert alarm.kind == "prior"
    assert "threshold 'precision:0.4' cannot be kept" in alarm.text
    for kept in ("recall:0.8", "top:50", "prior", 0.3):
        assert threshold_alarms(unknown, kept) == []
    assert threshold_alarms(replace(unknown, is_known=True), "precision:0.4") == []


class TestScar:
    """A share and labels at random that cannot both hold are an alarm, else a note."""

    def frame(self, power):
        rng = np.random.default_rng(0)
        truth = np.arange(1500) < 300
        rows = rng.normal(size=(1500, 2)) + np.outer(truth, [4.0, 0.0])
        chance = 0.8 / (1 + np.exp(-power * rows[:, 1]))
        y = truth & (rng.random(1500) < chance)
        chance = np.where(y, chance, np.nan)
        return {"a": rows[:, 0], "b": rows[:, 1], "y": y.astype(int), "chance": chance}

    def fitted(self, frame, **given):
        return fit_table(
            frame, label="y", method="puet", prior=0.13, scenario="single-set", **given
        ).results

    def test_it_is_a_note_or_an_alarm(self):
        fair, biased = (self.fitted(self.frame(power), drop=["chance"]) for power in (0, 4))
        assert fair.scar.is_refuted is False
        assert fair.scar.most > 0.13
        assert fair.scar.text not in " ".join(summary(fair))
        assert "prior" not in [alarm.kind for alarm in fair.alarms]
        assert biased.scar.is_refuted
        assert biased.scar.most < 0.13 == biased.prior.value
        words = " ".join(" ".join(summary(biased)).split())
        assert "You gave 13.0%. Both cannot hold" in words
        assert biased.scar.text not in words
        assert read_results(json.loads(json.dumps(biased.to_json()))).scar == biased.scar

    def test_propensities_make_it_good(self):
        weighed = self.fitted(self.frame(4), propensity="chance")
        assert weighed.scar is None
        assert weighed.data.propensity == "chance"
        assert "chance" not in [column.name for column in weighed.columns]
        words = " ".join(" ".join(summary(weighed)).split())
        assert "Both cannot hold" not in words
        assert "they hold if the propensities in chance are right." in words
        assert "completely at random" not in words
        assert "if the propensities in chance are right, and" in render(weighed)
