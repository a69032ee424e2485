"""Places to write files to: refused before the work, and cleaned after a kill."""

import os
import signal
import subprocess
import sys

import pytest

from robustpu.files import drafts
from robustpu.files.drafts import clean
from robustpu.files.locks import lock, unlock
from robustpu.persist.places import check_file, check_folder, whole


@pytest.fixture
def places(tmp_path):
    """A folder of all that can be in the way."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "SHA256SUMS").write_text("")
    (tmp_path / "into").symlink_to(tmp_path / "model" / "a.csv")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("folder", IsADirectoryError, "is a folder"),
        ("no/a.csv", FileNotFoundError, "does not exist: make it"),
        ("file/a.csv", NotADirectoryError, "is a file, and no folder"),
        ("pipe", FileExistsError, "no plain file"),
        ("model/a.csv", FileExistsError, "holds a model"),
        ("into", FileExistsError, "holds a model"),
        ("x" * 400, OSError, "Give another place or name"),
        # Its draft has a longer one.
        ("x" * 250, OSError, "Give another place or name"),
    ],
)
def test_files_that_cannot_be_written(places, name, error, message):
    with pytest.raises(error, match=message):
        check_file(places / name)
    assert len(list(places.iterdir())) == 5


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("file/model", NotADirectoryError, "is a file, and no folder"),
        ("file/no/model", NotADirectoryError, "is a file, and no folder"),
        ("x" * 400, OSError, "Give another place or name"),
    ],
)
def test_folders_that_cannot_be_made(places, name, error, message):
    with pytest.raises(error, match=message):
        check_folder(places / name)
    assert len(list(places.iterdir())) == 5


def test_what_the_system_refuses_is_told(tmp_path, monkeypatch):
    def refuse(path, **given):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.touch", refuse)
    for check in (check_file, check_folder):
        with pytest.raises(PermissionError, match=r"nothing can be written to .*: Permission"):
            check(tmp_path / "a.csv")


def test_a_read_only_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("mine")
    # The one who runs this may be root, who may everything.
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PermissionError, match="read-only"):
        check_file(tmp_path / "a.csv")


def test_good_places_stay_as_they_are(tmp_path):
    check_file(tmp_path / "a.csv")
    check_folder(tmp_path / "models" / "of" / "mine")
    check_folder(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.csv").symlink_to(tmp_path / "folder" / "b.csv")
    with whole(tmp_path / "a.csv") as draft:
        draft.write_text("new")
    assert (tmp_path / "a.csv").is_symlink()
    assert (tmp_path / "folder" / "b.csv").read_text() == "new"


KILLED = """
import os, signal, sys
from pathlib import Path
from robustpu.persist.places import whole
with whole(Path(sys.argv[1])) as draft:
    draft.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_goes_with_the_next(tmp_path):
    path = tmp_path / "a b.csv"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 1
    mine = [".a b.csv.0123.part.csv", ".b.csv.01234567.part.csv", ".a b.csv.01234567.part.tsv"]
    for name in mine:
        (tmp_path / name).touch()
    with whole(path) as draft:
        draft.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*mine, "a b.csv"])
    assert path.read_text() == "whole"


def test_what_another_process_writes_to_stays(tmp_path):
    used = tmp_path / ".a.csv.01234567.part.csv"
    used.touch()
    held = lock(used)
    with whole(tmp_path / "a.csv"):
        pass
    assert used.exists()
    unlock(held)
    with whole(tmp_path / "a.csv"):
        pass
    assert not used.exists()


def test_a_file_is_on_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    usual, synced = os.fsync, []

    def note(handle):
        # The content is whole by then, and the name still that of the old file.
        synced.append((os.fstat(handle).st_size, path.exists()))
        usual(handle)

    monkeypatch.setattr("os.fsync", note)
    with whole(path) as draft:
        draft.write_text("12345")
    assert synced == [(5, False)]


@pytest.mark.parametrize("is_folder", [False, True])
def test_drafts_of_the_other_kind_and_links_are_not_ours(tmp_path, is_folder):
    (tmp_path / ".a.01234567.part").mkdir()
    (tmp_path / ".a.11234567.part").touch()
    (tmp_path / ".a.21234567.part").symlink_to(tmp_path)
    (tmp_path / ".a.31234567.parts").touch()
    clean(tmp_path / "a", "part", is_folder=is_folder)
    gone = "0" if is_folder else "1"
    assert sorted(path.name[3] for path in tmp_path.iterdir()) == sorted({*"0123"} - {gone})


def test_a_draft_that_was_taken_for_left_behind_is_made_anew(tmp_path, monkeypatch):
    usual, made = drafts.lock, []

    def late(path, wait=True):
        made.append(path)
        if len(made) == 1:
            path.unlink()
        return usual(path, wait)

    monkeypatch.setattr(drafts, "lock", late)
    with drafts.reserved(tmp_path / "a", "part", is_folder=False) as draft:
        assert draft == made[1] != made[0]
    assert not list(tmp_path.iterdir())
