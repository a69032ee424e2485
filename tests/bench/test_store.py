import errno
import json
import os
import subprocess
import sys

import pytest

from robustpu.bench import store


def record(trial, **more):
    return {
        "experiment": "e",
        "dataset": "d",
        "method": "m",
        "prior": 0.2,
        "selection": "pu",
        "trial": trial,
        **more,
    }


def append(path, records):
    with store.writer(path) as write:
        write(records)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "new" / "e.jsonl"


def test_what_is_appended_is_read(path):
    append(path, [record(0), record(1)])
    append(path, [record(2)])
    assert store.read(path) == [record(0), record(1), record(2)]
    assert path.read_bytes().count(b"\n") == 3


def test_a_later_record_of_a_key_holds(path):
    append(path, [record(0, error=9), record(1)])
    append(path, [record(0, error=1)])
    assert [record.get("error") for record in store.read(path)] == [None, 1]


def test_a_last_line_that_only_lacks_its_end_is_kept(path):
    append(path, [record(0), record(1)])
    path.write_bytes(path.read_bytes()[:-1])
    assert store.read(path) == [record(0), record(1)]
    append(path, [record(2)])
    assert store.read(path) == [record(0), record(1), record(2)]


@pytest.mark.parametrize("content", ["notes\n", "notes", '{"other": 1}\n', "[1]"])
def test_a_file_of_something_else_is_not_touched(path, content):
    path.parent.mkdir()
    path.write_text(content)
    with pytest.raises(OSError, match="is not a file of records"):
        append(path, [record(0)])
    assert path.read_text() == content


def test_no_file_is_no_records(path):
    assert store.read(path) == []
    assert not path.exists()


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_torn_last_line_is_passed_over_and_cut(path, cut):
    append(path, [record(0), record(1)])
    whole = path.read_bytes()
    first = whole[: whole.index(b"\n") + 1]
    # The end of the line, its middle, its beginning, and all of it but a byte.
    length = len(whole) - len(first)
    path.write_bytes(whole[: len(whole) - max(1, cut * length // 7 - (cut == 7))])
    assert store.read(path) == [record(0)]
    append(path, [record(2)])
    assert store.read(path) == [record(0), record(2)]
    assert path.read_bytes().startswith(first)


@pytest.mark.parametrize("line", [b'{"experiment": "e", \n', b"\0\0\0\n", b"\xff\xfe\n", b"\n"])
def test_a_last_line_that_ends_but_is_not_json_is_incomplete_too(path, line):
    append(path, [record(0)])
    with path.open("ab") as file:
        file.write(line)
    assert store.read(path) == [record(0)]
    append(path, [record(1)])
    assert store.read(path) == [record(0), record(1)]


@pytest.mark.parametrize("line", ["nonsense", "12", "[]", '{"experiment": "e"}', ""])
def test_a_corrupt_line_in_the_middle_is_named(path, line):
    append(path, [record(0)])
    with path.open("a") as file:
        file.write(f"{line}\n{json.dumps(record(1))}\n")
    with pytest.raises(ValueError, match=r"e\.jsonl, line 2, is not a record"):
        store.read(path)


def test_what_is_not_a_number_is_refused_before_anything_is_written(path):
    with pytest.raises(ValueError, match="JSON"):
        append(path, [record(0), record(1, error=float("nan"))])
    assert path.read_bytes() == b""


def test_a_second_writer_is_told(path):
    hold = (
        "import sys; from pathlib import Path; from robustpu.bench import store\n"
        "with store.writer(Path(sys.argv[1])) as write:\n"
        "    write([{'experiment': 'e'}]); print('held', flush=True); sys.stdin.read()"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert other.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError, match="another run"):
            append(path, [record(0)])
        assert path.read_bytes() == b'{"experiment": "e"}\n'
        other.kill()
        other.wait()
        append(path, [record(0)])
        assert path.read_bytes().endswith(json.dumps(record(0)).encode() + b"\n")
    finally:
        other.kill()
        other.communicate()


def test_what_a_full_disk_took_is_taken_back(path, monkeypatch):
    append(path, [record(0)])
    before = path.read_bytes()
    write = os.write

    def full(file, content):
        # Half of it fits, then nothing.
        if len(content) > 40:
            return write(file, content[:40])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            append(path, [record(1)])
    assert path.read_bytes() == before
    append(path, [record(1)])
    assert store.read(path) == [record(0), record(1)]


@pytest.mark.parametrize("way", ["removed", "replaced"])
def test_a_file_that_is_taken_away_is_noticed(path, way):
    with store.writer(path) as write:
        write([record(0)])
        path.unlink()
        if way == "replaced":
            path.write_bytes(b"")
        with pytest.raises(OSError, match="removed or replaced during this run"):
            write([record(1)])


def test_a_full_disk_is_named_with_the_file_and_the_remedy(path, monkeypatch):
    def full(file, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=f"{path.name}: No space left on device.*free some space"):
        append(path, [record(0)])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no flock")
def test_a_file_system_without_locks_will_do(path, monkeypatch):
    import fcntl

    def refuse(file, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    append(path, [record(0)])
    assert store.read(path) == [record(0)]


@pytest.mark.parametrize("line", ["[" * 100_000, '{"experiment": NaN}'])
def test_odd_lines_are_named(path, line):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n{json.dumps(record(0))}\n")
    with pytest.raises(ValueError, match="line 1, is not a record"):
        store.read(path)
