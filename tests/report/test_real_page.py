"""The page of a real model in a real browser."""

import numpy as np
import pytest
from chromium import chromium, complaints

from robustpu import datasets, make_pu
from robustpu.report import render

pytestmark = pytest.mark.skipif(chromium() is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def study():
    from robustpu.workflow import fit_table

    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3, random_state=0
    )
    frame = {f"column {place}": column for place, column in enumerate(np.asarray(pu.X).T[:8])}
    rows = {"ill": pu.y, "patient": [f"p{place:03}" for place in range(len(pu.y))]}
    return fit_table(
        {**frame, **rows}, label="ill", id="patient", prior=0.3, members=1, name="patients.csv"
    )


def test_it_is_quiet_in_a_browser(study, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(study.results), encoding="utf-8")
    page = browser.open(path, width=390)
    assert page.run("document.documentElement.scrollWidth") == 390
    page.run("""[...document.querySelectorAll("#list thead button")].at(-1).click()""")
    assert page.run("""document.querySelectorAll("#list tbody tr:not([hidden])").length""") == 50
    assert page.run("document.querySelectorAll('.column svg').length") >= 5
    assert complaints(page) == []
    page.close()
