"""Which folder it is."""

import sys
from pathlib import Path

import pytest

from robustpu.datasets.folder import data_folder


def test_given_then_environment_then_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ROBUSTPU_DATA", str(tmp_path / "environment"))
    assert data_folder(tmp_path / "given") == tmp_path / "given"
    assert data_folder(str(tmp_path / "given")) == tmp_path / "given"
    assert data_folder() == tmp_path / "environment"


def test_a_tilde_is_the_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("ROBUSTPU_DATA", "~/sets")
    assert data_folder() == tmp_path / "sets"


def test_a_relative_folder_becomes_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert data_folder("sets") == Path.cwd() / "sets"


@pytest.mark.parametrize("variable", [None, ""])
@pytest.mark.parametrize(
    ("platform", "cache"),
    [
        ("linux", "xdg/robustpu"),
        ("darwin", "home/Library/Caches/robustpu"),
        ("win32", "local/robustpu"),
    ],
)
def test_the_cache_of_each_system(platform, cache, variable, tmp_path, monkeypatch):
    if variable is None:
        monkeypatch.delenv("ROBUSTPU_DATA")
    else:
        monkeypatch.setenv("ROBUSTPU_DATA", variable)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert data_folder() == tmp_path / cache


@pytest.mark.parametrize("xdg", [None, "", "relative"])
def test_a_useless_xdg_folder_is_ignored(xdg, tmp_path, monkeypatch):
    monkeypatch.delenv("ROBUSTPU_DATA")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if xdg is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert data_folder() == tmp_path / ".cache" / "robustpu"


def test_a_user_without_a_home_has_a_folder(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("ROBUSTPU_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert data_folder().is_absolute()
