"""Where output goes: refused before the work, never two documents in one place."""

import json

import pytest
from pyarrow import csv

HOSTILE = ["=cmd|'/c calc'!A1", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "-5.25", "1e3", "plain", "a=b"]
PLAIN = ("-5.25", "1e3", "plain", "a=b")
DEFUSED = [text if text in PLAIN else f"'{text}" for text in HOSTILE]


# Were it read first, that would be the error.
ABSENT = "no such table.csv"


@pytest.mark.parametrize(
    "given",
    [
        ("fit", "{data}", "--label", "fraud", "--out", "{file}/m"),
        ("predict", "{model}", "{data}", "--out", "{file}/s.csv"),
        ("rank", "{model}", "{data}", "--out", "{file}/s.csv"),
        ("compare", "{data}", "--label", "fraud", "--out", "{file}/s.csv"),
        ("prior", "{data}", "--label", "fraud", "--picture", "{file}/s.png"),
        ("report", "{model}", "--out", "{file}/s.html"),
        ("demo", "--picture", "{file}/s.png"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_at_once(run, model, tmp_path, given):
    file = tmp_path / "file"
    file.write_text("mine")
    answer = run(*(word.format(data=ABSENT, model=model, file=file) for word in given))
    assert answer.exit_code == 1
    assert answer.stderr == f"Error: {file} is a file, and no folder: give another place.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("name", "message"),
    [("x.doc", "must end in .png"), ("no/x.png", "does not exist"), (".", "must end in .png")],
)
def test_a_picture_that_cannot_be_drawn_is_refused_at_once(run, tmp_path, name, message):
    answer = run("prior", ABSENT, "--label", "fraud", "--picture", tmp_path / name)
    assert answer.exit_code == 1
    assert message in answer.stderr


def test_without_matplotlib_a_picture_is_refused_and_the_demo_runs(run, tmp_path, monkeypatch):
    ran = []
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("robustpu.bench.demo.run", lambda **given: ran.append(given["picture"]))
    answer = run("prior", ABSENT, "--label", "fraud", "--picture", tmp_path / "x.png")
    assert answer.exit_code == 1
    assert "not installed: pip install 'robustpu[plot]'" in answer.stderr
    assert run("demo", "--picture", tmp_path / "x.png").exit_code == 0
    assert ran == [tmp_path / "x.png"]


@pytest.mark.parametrize(
    "given",
    [
        ("predict", "{model}", "{data}"),
        ("rank", "{model}", "{data}"),
        ("compare", "{data}", "--label", "fraud"),
    ],
)
def test_json_and_a_table_do_not_share_standard_output(run, claims, model, given):
    given = [word.format(data=claims, model=model) for word in given]
    answer = run(*given, "--out", "-", "--json")
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert "leave one" in answer.stderr
    before = claims.read_bytes()
    answer = run(*given, "--out", claims)
    assert answer.exit_code == 2
    assert "is the table itself" in " ".join(answer.stderr.replace("│", "").split())
    assert claims.read_bytes() == before


def test_a_comparison_on_standard_output_is_csv_alone(run, claims):
    answer = run(
        *("compare", claims, "--label", "fraud", "--id", "claim", "--prior", "0.2"),
        *("--methods", "puet", "--folds", "2", "--out", "-", "--quiet"),
    )
    lines = answer.stdout.splitlines()
    assert lines[0].startswith('"method","auc_of_labeled"')
    assert len(lines) == 2
    assert lines[1].startswith('"puet",')


@pytest.fixture
def hostile(claims, tmp_path):
    """Claims with formulas for names."""
    lines = claims.read_text().splitlines()
    rows = [line.split(",", 1)[1] for line in lines[1 : 1 + len(HOSTILE)]]
    path = tmp_path / "hostile.csv"
    path.write_text(
        "\n".join([lines[0], *(f"{a},{b}" for a, b in zip(HOSTILE, rows, strict=True))])
    )
    return path


def test_formulas_are_defused_if_asked(run, model, hostile, tmp_path):
    out = tmp_path / "s.csv"

    def ids(*more):
        assert run("predict", model, hostile, "--out", out, *more).exit_code == 0
        options = csv.ConvertOptions(column_types={"claim": "string"})
        return csv.read_csv(out, convert_options=options).column("claim").to_pylist()

    assert ids() == HOSTILE
    assert ids("--spreadsheet-safe") == DEFUSED


def test_formulas_on_the_list_are_defused(run, model, hostile, tmp_path):
    out = tmp_path / "s.tsv"
    assert run("rank", model, hostile, "--out", out, "--spreadsheet-safe").exit_code == 0
    text = out.read_text()
    assert '"\'@SUM(A1)"' in text
    assert '"=cmd' not in text


def test_only_texts_are_for_spreadsheets(run, model, claims, tmp_path):
    given = ("--out", tmp_path / "s.parquet", "--spreadsheet-safe")
    answer = run("predict", model, claims, *given)
    assert answer.exit_code == 1
    assert "leave --spreadsheet-safe out" in answer.stderr
    assert run("rank", model, claims, "--spreadsheet-safe").exit_code == 2


def test_columns_with_our_names_are_kept_apart_from_ours(run, model, claims, tmp_path):
    lines = claims.read_text().splitlines()
    path = tmp_path / "t.jsonl"

    def scored(names, *more):
        head = lines[0].replace("claim,", "", 1).split(",")
        rows = [
            dict(zip(head, line.split(",")[1:], strict=True)) | dict.fromkeys(names, "mine")
            for line in lines[1:4]
        ]
        path.write_text("\n".join(map(json.dumps, rows)))
        keep = [word for name in names for word in ("--keep", name)]
        return run("predict", model, path, "--out", "-", *keep, *more)

    found = scored(["score", "row"]).stdout.splitlines()
    assert found[0] == '"robustpu row","score","row","robustpu score","flagged"'
    assert found[1].startswith('1,"mine","mine",0')
    answer = scored(["score", "robustpu score"])
    assert answer.exit_code == 1
    assert "there is no name for the score of the model" in answer.stderr


@pytest.mark.parametrize("command", [("rank",), ("predict", "--out", "-")])
def test_an_id_that_is_not_there_is_an_error(run, model, claims, command):
    answer = run(command[0], model, claims, *command[1:], "--id", "Klaim")
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert "no column 'Klaim'. Did you mean 'claim'? It has 'claim', 'amount'" in answer.stderr


def test_notes_are_said_once_however_many_parts(run, model, claims, tmp_path, monkeypatch):
    import robustpu.workflow.scoring as scoring

    usual = scoring.iter_table
    monkeypatch.setattr(scoring, "iter_table", lambda *a, **k: usual(*a, **k, rows=50))
    other = tmp_path / "other.csv"
    other.write_text(claims.read_text().replace("claim,", "name,", 1))
    answer = run("predict", model, other, "--out", tmp_path / "s.csv", "--json")
    notes = json.loads(answer.stdout)["notes"]
    assert len(notes) == len(set(notes))
    assert sum("rows are named by their numbers" in note for note in notes) == 1


def test_model_and_table_in_the_wrong_order(run, model, claims):
    answer = run("rank", claims, model)
    assert answer.exit_code == 1
    assert "give the model first" in answer.stderr
