"""Data folders for tests: none by default, tiny sets in official form, and the real ones."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from robustpu.datasets.catalogue import SOURCES

LayOut = Callable[[str, dict[str, bytes]], Path]


@pytest.fixture(autouse=True)
def no_data(monkeypatch, tmp_path):
    """Whatever this machine has, a test sees only what it lays out."""
    monkeypatch.setenv("ROBUSTPU_DATA", str(tmp_path / "nothing"))


@pytest.fixture
def lay_out(monkeypatch, tmp_path) -> LayOut:
    """Write files of a set, and make them the official ones; returns the data folder."""

    def write(name: str, contents: dict[str, bytes]) -> Path:
        source, root = SOURCES[name], tmp_path / "data"
        files = []
        for file in source.files:
            content = contents.get(file.path)
            if content is not None:
                path = root / source.folder / file.path
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                checksum = "md5:" + hashlib.md5(content).hexdigest()
                file = replace(file, size=len(content), checksum=checksum)
            files.append(file)
        monkeypatch.setitem(SOURCES, name, replace(source, files=tuple(files)))
        return root

    return write


@pytest.fixture
def real() -> Callable[[str], Path]:
    """The data folder that holds a real set; skips the test where there is none."""

    def find(name: str) -> Path:
        beside = Path(__file__).parents[3] / "shared" / "data"
        source = SOURCES[name]
        inside = [*source.pictures, *(file.path for file in source.files if not file.optional)]
        for root in (Path(os.environ.get("ROBUSTPU_TEST_DATA", beside)), beside):
            if all((root / source.folder / path).exists() for path in inside):
                return root
        pytest.skip(f"no real copy of {name}: set ROBUSTPU_TEST_DATA to a data folder")

    return find
