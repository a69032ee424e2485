"""robustpu datasets, on small sets and a real web server."""

import hashlib
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from robustpu.cli import app
from robustpu.datasets import download, fetching
from robustpu.datasets.catalogue import SOURCES
from robustpu.datasets.sources import Download, File

runner = CliRunner()


def run(*arguments):
    answer = runner.invoke(app, ["datasets", *map(str, arguments)])
    assert "Traceback" not in answer.output
    assert answer.exception is None or isinstance(answer.exception, SystemExit)
    return answer


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    """An empty data folder, named by the environment."""
    monkeypatch.setenv("ROBUSTPU_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(download, "PAUSE", 0)
    return tmp_path / "data"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def web(tmp_path, monkeypatch):
    """A folder that a web server offers; MNIST is two small files there."""
    folder = tmp_path / "web"
    folder.mkdir()
    handler = partial(Quiet, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        files, offers = [], []
        for name in ("one.gz", "two.gz"):
            content = name.encode() * 100
            (folder / name).write_bytes(content)
            file = File(name, len(content), "md5:" + hashlib.md5(content).hexdigest())
            files.append(file)
            url = f"http://127.0.0.1:{server.server_port}/{name}"
            offers.append(Download((url,), file, (file,)))
        small = replace(SOURCES["mnist"], files=tuple(files), downloads=tuple(offers))
        monkeypatch.setitem(SOURCES, "mnist", small)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield folder
        server.shutdown()
        thread.join()


def test_help():
    assert all(word in run("--help").output for word in ("list", "fetch", "verify", "path"))
    for command in ("list", "fetch", "verify", "path"):
        answer = run(command, "--help")
        assert answer.exit_code == 0
        assert "--data-dir" in answer.output
        assert "ROBUSTPU_DATA" in answer.output


def test_fetch_then_everything_knows_it(web, data):
    assert run("verify", "mnist").exit_code == 1
    answer = run("fetch", "mnist")
    assert answer.exit_code == 0
    assert f"mnist is in {data / 'mnist'}: 2 of 2 files came." in answer.output
    assert (data / "mnist" / "two.gz").read_bytes() == b"two.gz" * 100
    assert "nothing to do" in run("fetch", "mnist").output
    assert "2 of 2 files came" in run("fetch", "mnist", "--force").output
    answer = run("verify", "mnist")
    assert answer.exit_code == 0
    assert [line.split() for line in answer.output.splitlines()] == [
        ["good", "mnist", "one.gz"],
        ["good", "mnist", "two.gz"],
        ["2", "good:", str(data)],
    ]
    assert "mnist" in run("verify").output
    line = next(line for line in run("list").output.splitlines() if line.split()[:1] == ["mnist"])
    assert line.split()[-1] == "present"


def test_the_option_goes_before_the_environment(web, data, tmp_path):
    assert run("fetch", "mnist", "--data-dir", tmp_path / "other").exit_code == 0
    assert (tmp_path / "other" / "mnist" / "one.gz").exists()
    assert not data.exists()


def test_a_failure_is_one_line_and_the_next_set_is_tried(web, data):
    (web / "one.gz").unlink()
    answer = run("fetch", "mnist", "spambase")
    assert answer.exit_code == 1
    (error,) = answer.stderr.strip().splitlines()
    assert error.startswith("Error: mnist: one.gz did not come; ")
    assert "404" in error
    assert "spambase comes with robustpu: there is nothing to fetch." in answer.stdout


def test_verify_tells_damage_from_difference(web, data):
    run("fetch", "mnist")
    (data / "mnist" / "one.gz").write_bytes(b"x")
    (data / "mnist" / "two.gz").write_bytes(b"x" * 600)
    for arguments in (["mnist"], []):
        answer = run("verify", *arguments)
        assert answer.exit_code == 1
        assert "damaged  mnist            one.gz: it has 1 bytes, not 600" in answer.output
        assert "differs  mnist            two.gz: differs from the official file" in answer.output
    assert "damaged" in run("list").output
    assert run("fetch", "mnist").exit_code == 0
    assert run("verify", "mnist").exit_code == 0


def test_verify_without_names_passes_over_what_is_not_here(data):
    answer = run("verify")
    assert answer.exit_code == 0
    assert "bundled spambase.csv.xz" in answer.output
    assert "mnist" not in answer.output


def test_list_has_every_set():
    answer = run("list")
    assert answer.exit_code == 0
    assert all(name in answer.output for name in SOURCES)
    assert all(f"{source.rows:,}" in answer.output for source in SOURCES.values())
    assert "missing" in answer.output
    assert "bundled" in answer.output


def test_alzheimer_explains_the_manual_step(data):
    answer = run("fetch", "alzheimer")
    assert answer.exit_code == 1
    for words in ("Kaggle", "tourist55", "Alzheimer_s Dataset/train", str(data / "alzheimer")):
        assert words in answer.output


@pytest.mark.parametrize("command", ["fetch", "verify", "path"])
def test_an_unknown_name_is_a_usage_error_with_a_suggestion(command):
    answer = run(command, "mnsit")
    assert answer.exit_code == 2
    assert "did you mean 'mnist'" in answer.output


@pytest.mark.parametrize("arguments", [["fetch"], ["fetch", "mnist", "--nonsense"], ["nonsense"]])
def test_bad_arguments(arguments):
    assert run(*arguments).exit_code == 2


def test_a_data_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").touch()
    assert run("list", "--data-dir", tmp_path / "file").exit_code == 2


def test_path(data):
    assert run("path").output == f"{data}\n"
    assert run("path", "mnist").output == f"{data / 'mnist'}\n"
    assert run("path", "shuttle-minority").output == f"{data / 'shuttle'}\n"
    answer = run("path", "digits")
    assert answer.exit_code == 1
    assert answer.stderr == "Error: digits is part of scikit-learn and has no folder\n"


def test_an_interrupt_is_quiet(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching, "fetch", stop)
    answer = run("fetch", "mnist")
    assert answer.exit_code == 130
    assert answer.stderr.endswith("Stopped.\n")
