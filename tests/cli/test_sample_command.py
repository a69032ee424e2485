"""The table that comes with the command."""

import csv


def test_the_sample_fits_the_other_commands(run, tmp_path):
    out = tmp_path / "claims.csv"
    answer = run("sample", out, "--rows", "400")
    assert answer.exit_code == 0, answer.output
    with out.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "claims.truth.csv").open() as file:
        truth = {row["claim"]: row["fraud"] for row in csv.DictReader(file)}
    assert len(rows) == len(truth) == 400
    known = [row["claim"] for row in rows if row["fraud"]]
    assert all(truth[claim] == "yes" for claim in known)
    assert 0 < len(known) < sum(value == "yes" for value in truth.values())
    given = ("--label", "fraud", "--id", "claim", "--method", "elkan-noto", "--prior", "0.05")
    answer = run("fit", out, *given, "--out", tmp_path / "model", "--quiet")
    assert answer.exit_code == 0, answer.output
    assert "19 columns to learn from" in " ".join(answer.stdout.split())


def test_a_table_that_is_there_is_not_replaced(run, tmp_path):
    (tmp_path / "a.truth.csv").write_text("mine")
    answer = run("sample", tmp_path / "a.csv")
    assert answer.exit_code == 1
    assert "a.truth.csv exists: give another name, or --overwrite." in answer.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a.truth.csv"]
    assert run("sample", tmp_path / "a.csv", "--rows", "100", "--overwrite").exit_code == 0
    before = (tmp_path / "a.csv").read_bytes()
    for seed, is_same in ((0, True), (1, False)):
        run("sample", tmp_path / "a.csv", "--rows", "100", "--seed", seed, "--overwrite")
        assert ((tmp_path / "a.csv").read_bytes() == before) == is_same
