import json
import shutil
from dataclasses import replace

import pytest

from robustpu import persist
from robustpu.workflow import open_study
from robustpu.workflow.folder import stored_parts


@pytest.fixture
def copy(model, tmp_path):
    return shutil.copytree(model, tmp_path / "copy")


def test_what_is_in_a_folder(run, model):
    answer = run("inspect", model)
    assert answer.exit_code == 0, answer.output
    for words in (
        "PU extra-trees (PUExtraTreesClassifier)",
        "fraud, 1 for positives",
        "report.html",
        persist.describe(model).checksum,
        "amount",
        "left out: it has no values",
    ):
        assert words in answer.stdout


def test_all_of_it_for_programs(run, model):
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["folder"]["kind"] == "PUExtraTreesClassifier"
    assert found["results"] == open_study(model).results.to_json()


def test_the_page_is_drawn_again(run, copy, tmp_path):
    before = (copy / "report.html").read_bytes()
    answer = run("report", copy, "--out", tmp_path / "page.html")
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "page.html").read_bytes() == before
    study = open_study(copy)
    data = replace(study.results.data, name="other.csv")
    replace(study, results=replace(study.results, data=data)).save(copy, overwrite=True)
    assert run("report", copy).exit_code == 0
    assert b"other.csv" in persist.read_attachment(copy, "report.html")


def test_damage_is_named(run, copy, tmp_path):
    page = copy / "report.html"
    page.write_bytes(page.read_bytes()[:-9])
    for command in (("inspect", copy), ("report", copy, "--out", tmp_path / "p.html")):
        answer = run(*command)
        assert answer.exit_code == 1
        assert "bytes, not" in answer.stderr
        assert "as model.json says: it was changed or damaged" in answer.stderr
    assert not (tmp_path / "p.html").exists()


@pytest.mark.parametrize("section", ["prior", "columns", "top"])
@pytest.mark.parametrize("instead", [3, [1], {"a": 1}])
def test_damaged_results_are_refused_in_a_line(run, model, tmp_path, section, instead):
    study = open_study(model)
    extra = stored_parts(study)
    extra["results"] = {**extra["results"], section: instead}
    persist.save(study.model, tmp_path / "m", extra=extra)
    for command in ("inspect", "report"):
        answer = run(command, tmp_path / "m")
        assert (answer.exit_code, answer.stdout) == (1, "")
        assert answer.stderr.startswith(f"Error: {tmp_path / 'm'}: the results are damaged: ")
        assert f"results.{section}" in answer.stderr


def test_a_folder_of_an_earlier_version_is_refused_in_a_sentence(run, model, tmp_path):
    study = open_study(model)
    extra = {"findings": {"schema": 1}, "seen": {}, "vectorizer": {}, "background": 0}
    persist.save(study.model, tmp_path / "m", extra=extra)
    answer = run("inspect", tmp_path / "m")
    assert answer.exit_code == 1
    assert "an earlier version of robustpu wrote it. Fit it again" in answer.stderr


def test_the_page_on_standard_output(run, model):
    answer = run("report", model, "--out", "-")
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert answer.stdout == (model / "report.html").read_text(encoding="utf-8")


def test_seeds_that_libraries_do_not_take_are_refused(run, claims, tmp_path):
    given = ("fit", claims, "--label", "fraud", "--out", tmp_path / "m", "--seed", 2**32)
    assert run(*given).exit_code == 2
