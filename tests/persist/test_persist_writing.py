"""A folder is there as a whole or not at all, whatever happens while it is written."""

import errno
import itertools
import os
import signal
import stat
import threading

import pytest
from folders import fitted, seal

import robustpu
from robustpu import ModelFolderError
from robustpu.files import drafts, locks, swap
from robustpu.persist import writing

FILES = {"SHA256SUMS": b"", "a": b"1"}
INSIDE = {"SHA256SUMS", "arrays.safetensors", "model.json"}


def everything(folder):
    return sorted(path.name for path in folder.iterdir())


def kind(folder):
    return type(robustpu.load(folder)).__name__


class TestTarget:
    def test_folders_above_are_made(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "a" / "b" / "c")
        assert set(everything(tmp_path / "a" / "b" / "c")) == INSIDE
        assert everything(tmp_path / "a" / "b") == ["c"]

    def test_a_text_is_a_path(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        robustpu.save(fitted("puet"), "model")
        assert kind("model") == "PUExtraTreesClassifier"

    def test_has_the_usual_permissions(self, tmp_path):
        (tmp_path / "usual").mkdir()
        robustpu.save(fitted("puet"), tmp_path / "model")
        usual = stat.S_IMODE((tmp_path / "usual").stat().st_mode)
        assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == usual

    def test_an_empty_folder_is_filled(self, tmp_path):
        (tmp_path / "model").mkdir()
        robustpu.save(fitted("puet"), tmp_path / "model")
        assert kind(tmp_path / "model") == "PUExtraTreesClassifier"

    def test_a_model_is_replaced_only_if_asked(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        with pytest.raises(FileExistsError, match="overwrite=True"):
            robustpu.save(fitted("nnpu"), tmp_path / "model")
        assert kind(tmp_path / "model") == "PUExtraTreesClassifier"
        robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert kind(tmp_path / "model") == "NNPUClassifier"
        assert everything(tmp_path) == ["model"]

    def test_a_damaged_model_can_be_replaced(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        (tmp_path / "model" / "arrays.safetensors").write_bytes(b"")
        (tmp_path / "model" / "model.json").unlink()
        robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert kind(tmp_path / "model") == "NNPUClassifier"

    @pytest.mark.parametrize("files", [["thesis.tex"], ["model.json", "notes"], ["SHA256SUMS"]])
    def test_a_folder_of_something_else_is_never_touched(self, files, tmp_path):
        for name in files:
            (tmp_path / name).write_text("mine")
        with pytest.raises(FileExistsError, match="not a model, and is left as it is"):
            robustpu.save(fitted("puet"), tmp_path, overwrite=True)
        assert everything(tmp_path) == sorted(files)

    def test_what_lies_beside_a_model_is_never_lost(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        (tmp_path / "model" / "notes.txt").write_text("mine")
        with pytest.raises(FileExistsError, match=r"'notes.txt', which is not part of a model"):
            robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert (tmp_path / "model" / "notes.txt").read_text() == "mine"

    def test_files_and_links_are_never_replaced(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        (tmp_path / "file").write_text("mine")
        (tmp_path / "link").symlink_to(tmp_path / "model")
        (tmp_path / "nowhere").symlink_to(tmp_path / "x")
        for name, reason in [("file", "is a file"), ("link", "a link"), ("nowhere", "a link")]:
            with pytest.raises(FileExistsError, match=reason):
                robustpu.save(fitted("nnpu"), tmp_path / name, overwrite=True)
        assert (tmp_path / "link").is_symlink()


class TestInterruptions:
    @pytest.fixture(params=[False, True], ids=["first", "replacing"])
    def before(self, request, tmp_path):
        """What is there before the interrupted save."""
        if request.param:
            robustpu.save(fitted("puet"), tmp_path / "model")
            return "PUExtraTreesClassifier"
        return None

    def after(self, folder, before):
        """The old model, or none; and nothing beside it."""
        if before is None:
            assert not everything(folder)
        else:
            assert everything(folder) == ["model"]
            assert kind(folder / "model") == before

    @pytest.mark.parametrize("at", ["_write", "_sync", "_put"])
    @pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "disk full")])
    def test_leave_the_old_model_or_none(self, at, error, before, tmp_path, monkeypatch):
        calls = []

        def fail(*given):
            calls.append(given)
            raise error

        monkeypatch.setattr(writing, at, fail)
        with pytest.raises((KeyboardInterrupt, OSError)):
            robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert calls
        self.after(tmp_path, before)

    def test_after_the_change_leave_the_new_model(self, tmp_path, monkeypatch):
        robustpu.save(fitted("puet"), tmp_path / "model")
        usual = writing.swapped

        def fail(*given):
            assert usual(*given)
            raise KeyboardInterrupt

        monkeypatch.setattr(writing, "swapped", fail)
        with pytest.raises(KeyboardInterrupt):
            robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert kind(tmp_path / "model") == "NNPUClassifier"
        assert everything(tmp_path) == ["model"]

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_killed_process_leaves_nothing_half(self, before, tmp_path):
        robustpu.save(fitted("nnpu"), tmp_path / "new")
        new = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
        found, left = [], 0
        for step in range(10):
            process = os.fork()
            if not process:
                die_at(step)
                try:
                    writing.write_folder(tmp_path / "model", new, True)
                finally:
                    os._exit(0)
            _, status = os.waitpid(process, 0)
            killed = os.WIFSIGNALED(status)
            there = (tmp_path / "model").exists()
            found.append(kind(tmp_path / "model") if there else None)
            beside = [name for name in everything(tmp_path) if name.endswith(".saving")]
            # The next one removes what the last one left, so there is never more than one.
            assert len(beside) <= killed
            left += len(beside)
        assert not killed
        assert left >= 4
        # The old one, or none, up to a step, and the new one from then on.
        changed = found.index("NNPUClassifier")
        assert changed >= 4
        assert set(found[:changed]) == {before}
        assert set(found[changed:]) == {"NNPUClassifier"}


def die_at(step):
    """Let this process be killed before the given one of the steps of writing."""
    steps = itertools.count()

    def dying(usual):
        def run(*given):
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return usual(*given)

        return run

    for module, name in (
        *((writing, name) for name in ("_write", "_sync", "_put")),
        (drafts, "remove"),
    ):
        setattr(module, name, dying(getattr(module, name)))


class TestLeftovers:
    def test_of_others_are_left(self, tmp_path):
        names = [".model.b.01234567.saving", ".model.0123.saving", ".model.01234567.saving.txt"]
        for name in names:
            (tmp_path / name).mkdir()
        robustpu.save(fitted("puet"), tmp_path / "model")
        assert everything(tmp_path) == sorted([*names, "model"])

    def test_in_use_are_left(self, tmp_path):
        used = tmp_path / ".model.01234567.saving"
        used.mkdir()
        lock = locks.lock(used)
        robustpu.save(fitted("puet"), tmp_path / "model")
        assert used.exists()
        locks.unlock(lock)
        robustpu.save(fitted("puet"), tmp_path / "model", overwrite=True)
        assert everything(tmp_path) == ["model"]

    def test_that_are_links_lead_nowhere(self, tmp_path):
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "file").write_text("mine")
        (tmp_path / ".model.01234567.saving").symlink_to(tmp_path / "mine")
        robustpu.save(fitted("puet"), tmp_path / "model")
        assert (tmp_path / "mine" / "file").read_text() == "mine"

    def test_names_with_special_characters(self, tmp_path):
        for name in ("model[1]", "a*", "ü x"):
            robustpu.save(fitted("puet"), tmp_path / name)
            (tmp_path / f".{name}.01234567.saving").mkdir()
            robustpu.save(fitted("nnpu"), tmp_path / name, overwrite=True)
            assert kind(tmp_path / name) == "NNPUClassifier"
        assert len(everything(tmp_path)) == 3


class TestWithoutExchange:
    """Where the system cannot exchange two folders."""

    @pytest.fixture(autouse=True)
    def _no_exchange(self, monkeypatch):
        monkeypatch.setattr(writing, "swapped", lambda *given: False)

    def test_a_model_is_replaced(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert kind(tmp_path / "model") == "NNPUClassifier"
        assert everything(tmp_path) == ["model"]

    def test_a_failure_half_way_is_undone(self, tmp_path, monkeypatch):
        robustpu.save(fitted("puet"), tmp_path / "model")
        usual = type(tmp_path).rename

        def fail(path, target):
            if path.name.endswith(".saving"):
                raise KeyboardInterrupt
            return usual(path, target)

        monkeypatch.setattr(type(tmp_path), "rename", fail)
        with pytest.raises(KeyboardInterrupt):
            robustpu.save(fitted("nnpu"), tmp_path / "model", overwrite=True)
        assert kind(tmp_path / "model") == "PUExtraTreesClassifier"
        assert everything(tmp_path) == ["model"]

    def test_a_model_that_was_put_aside_is_told_of(self, tmp_path):
        robustpu.save(fitted("puet"), tmp_path / "model")
        (tmp_path / "model").rename(tmp_path / ".model.01234567.earlier")
        with pytest.raises(ModelFolderError, match=r"An earlier model is in '.model.01234567.earl"):
            robustpu.load(tmp_path / "model")
        robustpu.save(fitted("nnpu"), tmp_path / "model")
        assert everything(tmp_path) == ["model"]


class TestExchange:
    def test_two_folders_change_places(self, tmp_path):
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            (tmp_path / name / name).write_text("")
        if not swap.swapped(tmp_path / "a", tmp_path / "b"):
            pytest.skip("the file system cannot exchange folders")
        assert everything(tmp_path / "a") == ["b"]
        assert everything(tmp_path / "b") == ["a"]

    def test_of_what_is_not_there_is_an_error(self, tmp_path):
        with pytest.raises(OSError, match=os.strerror(errno.ENOENT)):
            swap.swapped(tmp_path / "a", tmp_path / "b")


class TestTogether:
    def test_a_reader_always_finds_a_whole_model(self, tmp_path):
        for name in ("puet", "nnpu"):
            robustpu.save(fitted(name), tmp_path / name)
        models = [
            {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
            for name in ("puet", "nnpu")
        ]
        target = tmp_path / "model"
        writing.write_folder(target, models[0], False)
        done = threading.Event()

        def write():
            while not done.is_set():
                for files in models:
                    writing.write_folder(target, files, True)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            found = {kind(target) for _ in range(60)}
        finally:
            done.set()
            writer.join()
        assert found <= {"PUExtraTreesClassifier", "NNPUClassifier"}

    def test_of_two_writers_one_is_first(self, tmp_path, monkeypatch):
        usual = writing._sync

        def meanwhile(folder):
            usual(folder)
            monkeypatch.setattr(writing, "_sync", usual)
            writing.write_folder(tmp_path / "model", FILES, False)

        monkeypatch.setattr(writing, "_sync", meanwhile)
        with pytest.raises(FileExistsError):
            writing.write_folder(tmp_path / "model", FILES, False)
        assert everything(tmp_path) == ["model"]


def test_a_sealed_copy_is_a_model(tmp_path):
    # What seal() in these tests makes must be sound, or the tests of refusals prove nothing.
    robustpu.save(fitted("puet"), tmp_path / "model")
    before = (tmp_path / "model" / "SHA256SUMS").read_bytes()
    seal(tmp_path / "model")
    assert (tmp_path / "model" / "SHA256SUMS").read_bytes() == before
