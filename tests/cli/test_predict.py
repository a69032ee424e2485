import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from pyarrow import csv, parquet

from robustpu.workflow import open_study


def scored(path):
    return csv.read_csv(path).to_pydict()


def test_every_row_gets_its_score(run, claims, model, tmp_path):
    answer = run("predict", model, claims, "--out", tmp_path / "s.parquet")
    assert answer.exit_code == 0, answer.output
    assert "300 rows scored" in answer.stdout
    found = parquet.read_table(tmp_path / "s.parquet").to_pydict()
    assert list(found) == ["claim", "score", "flagged"]
    study = open_study(model)
    wanted = study.score(str(claims))
    assert np.array_equal(found["score"], wanted)
    assert np.array_equal(found["flagged"], wanted >= study.model.threshold_)
    assert found["claim"][:2] == ["C000", "C001"]
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]


def test_standard_input_and_output(run, claims, model):
    answer = run(
        *("predict", model, "-", "--out", "-", "--keep", "city"),
        input=claims.read_bytes(),
    )
    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[0] == '"claim","city","score","flagged"'
    assert len(lines) == 301
    assert "300 rows scored" in answer.stderr


def test_programs_get_json(run, claims, model, tmp_path):
    answer = run("predict", model, claims, "--out", tmp_path / "s.csv", "--json")
    assert json.loads(answer.stdout)["rows"] == 300
    assert answer.stderr == ""


def test_order_types_and_new_values_do_not_matter_or_are_named(run, claims, model, tmp_path):
    lines = claims.read_text().splitlines()
    head, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    cells = [dict(zip(head, row, strict=True)) for row in rows]
    for row in cells:
        row["age"] = float(row["age"]) if row["age"] else None
        row.pop("fraud"), row.pop("claim")
    other = tmp_path / "other.jsonl"
    backwards = [dict(reversed(row.items())) for row in cells]
    other.write_text("\n".join(map(json.dumps, backwards)))
    answer = run("predict", model, other, "--out", tmp_path / "o.csv")
    assert answer.exit_code == 0, answer.output
    assert "there is no column 'claim': rows are named by their numbers" in answer.stderr
    found = scored(tmp_path / "o.csv")
    assert found["row"] == [*range(1, 301)]
    assert np.allclose(found["score"], open_study(model).score(str(claims)))
    for row in cells:
        row["city"] = "Oslo"
    other.write_text("\n".join(map(json.dumps, cells)))
    answer = run("predict", model, other, "--out", tmp_path / "o.csv")
    assert "300 rows have values that were not in training, such as 'Oslo'" in answer.stderr


def test_a_missing_column_is_named_and_can_be_filled(run, claims, model, tmp_path):
    short = tmp_path / "short.csv"
    rows = [line.split(",") for line in claims.read_text().splitlines()]
    short.write_text("\n".join(",".join(row[:1] + row[2:]) for row in rows))
    given = ("predict", model, short, "--out", tmp_path / "s.csv")
    answer = run(*given)
    assert answer.exit_code == 1
    assert "no column 'amount'" in answer.stderr
    assert "--fill-columns" in answer.stderr
    assert not (tmp_path / "s.csv").exists()
    answer = run(*given, "--fill-columns")
    assert answer.exit_code == 0
    assert "rows lack this column" in answer.stderr


def test_a_model_of_a_table_without_header_reads_such_tables(run, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{n**0.5:.3f},{n % 3},{'yes' if n < 9 else 'no'}" for n in range(40)]
    path.write_text("\n".join(rows))
    fit = ("--method", "puet", "--prior", "0.1", "--quiet", "--out", tmp_path / "m")
    assert run("fit", path, "--no-header", "--label", "column 3", *fit).exit_code == 0
    assert run("predict", tmp_path / "m", path, "--out", tmp_path / "s.csv").exit_code == 0
    assert len(scored(tmp_path / "s.csv")["row"]) == 40


@pytest.mark.parametrize(
    ("data", "out", "message"),
    [
        ("none.csv", "s.csv", "does not exist"),
        ("claims", "s.doc", "unknown format. The name must end in .parquet"),
        ("claims", "no/s.csv", "does not exist: make it"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run, claims, model, tmp_path, data, out, message):
    answer = run("predict", model, claims if data == "claims" else data, "--out", tmp_path / out)
    assert answer.exit_code == 1
    assert message in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_folders_that_are_no_models(run, claims, tmp_path):
    for path in (tmp_path, tmp_path / "none", claims):
        answer = run("predict", path, claims, "--out", tmp_path / "s.csv")
        assert answer.exit_code == 1
        assert answer.stderr.startswith("Error: ")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_no_file(model, tmp_path):
    given = ["predict", str(model), "-", "--out", str(tmp_path / "s.csv"), "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-m", "robustpu", *given], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        # It waits for rows as soon as there is a file to write them to.
        started = time.monotonic()
        while not list(tmp_path.iterdir()):
            assert time.monotonic() - started < 120
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, b"Stopped.\n")
    assert list(tmp_path.iterdir()) == []


def malformed(content, random):
    """One of many ways in which a file can be wrong."""
    kind = random.randrange(7)
    place = random.randrange(len(content))
    if kind == 0:
        return content[:place]
    if kind == 1:
        return content[:place] + bytes(random.randrange(256) for _ in range(9)) + content[place:]
    if kind == 2:
        return content.replace(b",", random.choice([b";", b"\t", b",,", b"", b'"']))
    if kind == 3:
        return content[place:]
    if kind == 4:
        lines = content.splitlines()
        random.shuffle(lines)
        return b"\n".join(lines)
    if kind == 5:
        return content.replace(random.choice(b"0123456789,\n").to_bytes(), b"\x00\xff", 30)
    words = [b"amount", b"kind", b"age", b"claim", b"theft", b"C0"]
    return content.replace(random.choice(words), random.choice([*words, b"", b"[1]", b"{"]))


def test_malformed_tables_have_clean_ends(run, claims, model, tmp_path, monkeypatch):
    study = open_study(model)
    monkeypatch.setattr("robustpu.workflow.open_study", lambda path: study)
    whole = b"\n".join(claims.read_bytes().splitlines()[:40])
    codes = set()
    for seed in range(150):
        path = tmp_path / "t.csv"
        path.write_bytes(malformed(whole, random.Random(seed)))
        answer = run("predict", model, path, "--out", tmp_path / "s.csv", "--quiet")
        codes.add(answer.exit_code)
        assert answer.exit_code in (0, 1), (seed, answer.output)
        is_clean = answer.stderr.startswith("Error: ") or answer.exit_code == 0
        assert is_clean, (seed, answer.output)
        assert {each.name for each in tmp_path.iterdir()} <= {"t.csv", "s.csv"}
    assert codes == {0, 1}
