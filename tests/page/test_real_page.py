"""The page of a real model on a real table: four networks, and no estimate of the prior."""

import re

import numpy as np
import pytest
from chromium import chromium, complaints
from test_findings_page import SECTIONS, Reader

from robustpu import datasets, make_pu
from robustpu.page import render

pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def study():
    from robustpu.study import fit_table

    table = datasets.load("breast_cancer")
    pu = make_pu(
        table.data, table.target, n_positive=60, n_unlabeled=200, prior=0.3, random_state=0
    )
    frame = {f"column {place}": own for place, own in enumerate(np.asarray(pu.X).T[:8])}
    rows = {"ill": pu.y, "patient": [f"p{place:03}" for place in range(len(pu.y))]}
    return fit_table(
        {**frame, **rows}, label="ill", id="patient", prior=0.3, members=4, name="patients.csv"
    )


def test_a_real_model_fills_every_section(study):
    reader = Reader(render(study.findings))
    found = [a["id"] for a in reader.all("section") if a["id"] != "alarms"]
    assert found == SECTIONS
    assert "About 60 of the 200 unlabelled rows are positive" in reader.words
    assert "given by you" in reader.words
    assert len(re.findall(r"\bp\d{3}\b", reader.words)) >= 200
    assert not re.search(r"\b(nan|None|inf)\b", reader.words)


@pytest.mark.skipif(chromium() is None, reason="there is no Chromium")
def test_it_is_quiet_in_a_browser(study, browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(render(study.findings), encoding="utf-8")
    page = browser.open(path, width=390)
    assert page.run("document.documentElement.scrollWidth") == 390
    page.run("""[...document.querySelectorAll("#list thead button")].at(-1).click()""")
    assert page.run("""document.querySelectorAll("#list tbody tr:not([hidden])").length""") == 50
    assert complaints(page) == []
    page.close()
