"""Whole sets from a real server: nothing half, whoever interrupts."""

import hashlib
import io
import os
import pickle
import signal
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robustpu.datasets import download as download_module
from robustpu.datasets.download import DownloadError
from robustpu.datasets.fetching import fetch
from robustpu.datasets.sources import Download, File, Source

CONTENTS = {"inner/a.bin": np.random.default_rng(0).bytes(400_000), "inner/b.bin": b"b" * 1000}


@pytest.fixture(autouse=True)
def no_pause(monkeypatch):
    monkeypatch.setattr(download_module, "PAUSE", 0)


def quiet(*_):
    pass


def described(path, content):
    return File(path, len(content), "md5:" + hashlib.md5(content).hexdigest())


def tar(contents):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as bundle:
        for name, content in contents.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            bundle.addfile(member, io.BytesIO(content))
    return packed.getvalue()


FILES = tuple(described(path, content) for path, content in CONTENTS.items())
PLAIN = tuple(described(Path(path).name, content) for path, content in CONTENTS.items())
ARCHIVE = tar(CONTENTS | {"inner/unwanted.bin": b"u" * 100})


def archived(url):
    offer = Download((f"{url}/all.tar.gz",), described("all.tar.gz", ARCHIVE), FILES)
    return Source("x", 1, (1,), ("n", "p"), 1, "", folder="x", files=FILES, downloads=(offer,))


def plain(url):
    offers = tuple(Download((f"{url}/{file.path}",), file, (file,)) for file in PLAIN)
    return Source("x", 1, (1,), ("n", "p"), 1, "", folder="x", files=PLAIN, downloads=offers)


def tree(root):
    """Every file below the folder but the lock, by its path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.name != ".lock"
    }


WHOLE = {f"x/{path}": content for path, content in CONTENTS.items()}
WHOLE_PLAIN = {f"x/{Path(path).name}": content for path, content in CONTENTS.items()}


@pytest.fixture
def stocked(shop):
    shop.goods = {"all.tar.gz": ARCHIVE} | {Path(p).name: c for p, c in CONTENTS.items()}
    return shop


def test_an_archive_gives_the_wanted_files_and_goes(stocked, tmp_path):
    source = archived(stocked.url)
    assert fetch(source, tmp_path, report=quiet) == list(CONTENTS)
    assert tree(tmp_path) == WHOLE


def test_plain_files(stocked, tmp_path):
    assert fetch(plain(stocked.url), tmp_path, report=quiet) == ["a.bin", "b.bin"]
    assert tree(tmp_path) == WHOLE_PLAIN


def test_a_second_fetch_has_nothing_to_do_unless_forced(stocked, tmp_path):
    source = plain(stocked.url)
    fetch(source, tmp_path, report=quiet)
    stocked.log.clear()
    assert fetch(source, tmp_path, report=quiet) == []
    assert stocked.log == []
    assert fetch(source, tmp_path, report=quiet, force=True) == ["a.bin", "b.bin"]
    assert len(stocked.log) == 2


@pytest.mark.parametrize("damage", [b"", b"c" * 1000, b"b" * 999])
def test_only_what_is_missing_or_wrong_is_brought(damage, stocked, tmp_path):
    source = plain(stocked.url)
    fetch(source, tmp_path, report=quiet)
    stocked.log.clear()
    (tmp_path / "x" / "b.bin").write_bytes(damage)
    assert fetch(source, tmp_path, report=quiet) == ["b.bin"]
    assert [path for path, *_ in stocked.log] == ["b.bin"]
    assert tree(tmp_path) == WHOLE_PLAIN


def test_a_failure_leaves_what_there_was(stocked, tmp_path):
    source = plain(stocked.url)
    fetch(source, tmp_path, report=quiet)
    stocked.goods = {"a.bin": b"x" * 400_000, "b.bin": b""}
    with pytest.raises(DownloadError, match="another checksum"):
        fetch(source, tmp_path, report=quiet, force=True)
    assert tree(tmp_path) == WHOLE_PLAIN


def test_another_form_of_the_same_files_is_tried(stocked, tmp_path):
    source = plain(stocked.url)
    (archive,) = archived(f"{stocked.url}/nowhere").downloads
    source = replace(source, downloads=(replace(archive, gives=PLAIN), *source.downloads))
    assert fetch(source, tmp_path, report=quiet) == ["a.bin", "b.bin"]
    assert tree(tmp_path) == WHOLE_PLAIN


def test_the_first_file_that_does_not_come_ends_it(shop, tmp_path):
    with pytest.raises(DownloadError, match="404"):
        fetch(plain(shop.url), tmp_path, report=quiet)
    assert len(shop.log) == 1


def test_an_archive_with_wrong_members_is_thrown_away(shop, tmp_path):
    wrong = tar(CONTENTS | {"inner/b.bin": b"wrong"})
    shop.goods["all.tar.gz"] = wrong
    source = archived(shop.url)
    offer = replace(source.downloads[0], whole=described("all.tar.gz", wrong))
    source = replace(source, downloads=(offer,))
    with pytest.raises(DownloadError, match=r"inner/b.bin in the archive is not the official"):
        fetch(source, tmp_path, report=quiet)
    assert tree(tmp_path) == {"x/inner/a.bin": CONTENTS["inner/a.bin"]}


RUN = """
import pickle, sys
from pathlib import Path
from robustpu.datasets.fetching import fetch
source, root = pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])
def report(*what):
    print(*what, flush=True)
try:
    fetch(source, root, report=report)
except OSError as error:
    sys.exit(str(error))
"""
# A disk that is full, as far as this process can tell.
LITTLE_ROOM = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
"""

on_unix = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits are Unix's")


@pytest.fixture
def start(tmp_path):
    """Begin to fetch a set into tmp_path / "data", in a process of its own."""
    started = []

    def begin(source, before=""):
        (tmp_path / "source").write_bytes(pickle.dumps(source))
        process = subprocess.Popen(
            [sys.executable, "-c", before + RUN, tmp_path / "source", tmp_path / "data"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_two_processes_at_once_share_the_work(stocked, start, tmp_path):
    stocked.delay = 0.05
    processes = [start(archived(stocked.url)) for _ in range(2)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    assert tree(tmp_path / "data") == WHOLE
    assert len(stocked.log) == 1
    assert sum("waiting for another process" in output for output, _ in outputs) <= 1


@on_unix
@pytest.mark.parametrize(("kind", "number"), [(plain, "SIGINT"), (archived, "SIGKILL")])
def test_an_interrupted_fetch_leaves_no_half_file_and_goes_on(
    kind, number, stocked, start, tmp_path
):
    # Long enough that the signal comes before the file ends, on a busy machine too.
    stocked.delay = 0.5
    process = start(kind(stocked.url))
    process.stdout.readline()
    process.stdout.readline()
    process.send_signal(signal.Signals[number])
    process.communicate(timeout=60)
    ((path, begun),) = tree(tmp_path / "data").items()
    assert path.endswith(".part")
    stocked.delay = 0
    stocked.log.clear()
    fetch(kind(stocked.url), tmp_path / "data", report=quiet)
    assert tree(tmp_path / "data") == (WHOLE if kind is archived else WHOLE_PLAIN)
    assert stocked.log[0][1] == f"bytes={len(begun)}-"


@on_unix
def test_a_full_disk_leaves_no_half_file(stocked, start, tmp_path):
    process = start(plain(stocked.url), LITTLE_ROOM)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"no room for {tmp_path / 'data' / 'x'}" in error
    assert tree(tmp_path / "data") == {"x/a.bin.part": CONTENTS["inner/a.bin"][:100_000]}
    fetch(plain(stocked.url), tmp_path / "data", report=quiet)
    assert tree(tmp_path / "data") == WHOLE_PLAIN


@on_unix
def test_a_disk_that_is_full_while_unpacking(shop, start, tmp_path):
    content = {"inner/a.bin": bytes(400_000)}
    shop.goods["all.tar.gz"] = packed = tar(content)
    files = (described("inner/a.bin", content["inner/a.bin"]),)
    offer = Download((f"{shop.url}/all.tar.gz",), described("all.tar.gz", packed), files)
    source = replace(archived(shop.url), files=files, downloads=(offer,))
    process = start(source, LITTLE_ROOM)
    _, error = process.communicate(timeout=60)
    assert "no room" in error
    assert tree(tmp_path / "data") == {"x/all.tar.gz.part": packed}
    fetch(source, tmp_path / "data", report=quiet)
    assert tree(tmp_path / "data") == {"x/inner/a.bin": content["inner/a.bin"]}
    assert len(shop.log) == 1


def test_what_a_killed_process_left_is_cleared(stocked, tmp_path):
    inner = tmp_path / "x" / "inner"
    inner.mkdir(parents=True)
    (inner / "a.bin.tmp").write_bytes(b"half")
    fetch(archived(stocked.url), tmp_path, report=quiet)
    assert tree(tmp_path) == WHOLE


def test_a_folder_with_a_name_of_any_kind(stocked, tmp_path):
    root = tmp_path / "Дані и ümlaut 数据 [1]"
    fetch(archived(stocked.url), root, report=quiet)
    assert tree(root) == WHOLE


def test_a_file_in_the_place_of_the_folder(stocked, tmp_path):
    (tmp_path / "x").touch()
    with pytest.raises(OSError, match="x"):
        fetch(plain(stocked.url), tmp_path, report=quiet)
    assert stocked.log == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(stocked, tmp_path):
    source = plain(stocked.url)
    fetch(source, tmp_path, report=quiet)
    (tmp_path / "x").chmod(0o500)
    try:
        assert fetch(source, tmp_path, report=quiet) == []
        with pytest.raises(PermissionError):
            fetch(source, tmp_path, report=quiet, force=True)
    finally:
        (tmp_path / "x").chmod(0o700)
