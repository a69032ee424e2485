"""What `make dist` built works where there is no repository."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import robustpu

ROOT = Path(__file__).parents[1]
CHANGELOG = ROOT / "CHANGELOG.md"
NEEDED = (
    "robustpu/py.typed",
    "robustpu/datasets/bundled/LICENSE.md",
    "robustpu/datasets/bundled/shuttle.csv.xz",
    "robustpu/datasets/bundled/spambase.csv.xz",
    "robustpu/pretrained/weights.safetensors",
    "robustpu/bench/paper.json",
)


@pytest.mark.skipif(not CHANGELOG.exists(), reason="not a checkout")
def test_the_version_is_the_same_everywhere():
    version, date = re.findall(r"^## (\S+) \((\S+)\)$", CHANGELOG.read_text(), flags=re.M)[0]
    assert version == robustpu.__version__
    citation = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {version}\ndate-released: {date}\n" in citation


@pytest.fixture(scope="module")
def built():
    found = sorted((ROOT / "dist").glob(f"robustpu-{robustpu.__version__}*"))
    assert [path.suffix for path in found] == [".whl", ".gz"] or not found
    if not found:
        pytest.fail("There is nothing in dist/: run make dist.")
    return found


@pytest.fixture(scope="module")
def environment(built, tmp_path_factory):
    """The folder of programs of an environment that holds the wheel and what it needs."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--constraint", ROOT / "constraints.txt", built[0]], check=True)
    return folder / "bin"


def run(environment, folder, *command):
    """Output of a command in a folder that is not the checkout, without its paths."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [environment / command[0], *command[1:]],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.dist
def test_the_wheel_holds_all_files_of_the_package(built):
    with zipfile.ZipFile(built[0]) as archive:
        names = set(archive.namelist())
    package = ROOT / "src" / "robustpu"
    files = {
        f"robustpu/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files <= names
    assert names >= {*NEEDED}
    others = {name for name in names - files if ".dist-info/" not in name}
    assert not others


@pytest.mark.dist
def test_the_sdist_holds_what_the_tests_need(built):
    with tarfile.open(built[1]) as archive:
        names = {Path(name) for name in archive.getnames()}
    top = Path(f"robustpu-{robustpu.__version__}")
    for name in ("Makefile", "constraints.txt", "tests/conftest.py", "docs/tutorial.md"):
        assert top / name in names


@pytest.mark.dist
def test_the_demo_runs_without_the_repository(environment, tmp_path):
    place = run(environment, tmp_path, "python", "-c", "import robustpu; print(robustpu.__file__)")
    assert Path(place.strip()).is_relative_to(environment.parent)
    assert run(environment, tmp_path, "robustpu", "--version").split()[1] == robustpu.__version__
    text = run(environment, tmp_path, "robustpu", "demo")
    assert "PUClassifier" in text
    assert "Robust-PU" in text


@pytest.mark.dist
def test_pretrained_weights_are_found(environment, tmp_path):
    code = """
import numpy as np
from robustpu import PretrainedPUClassifier
random = np.random.default_rng(0)
X = random.normal(size=(60, 3)); X[:20] += 3
model = PretrainedPUClassifier(random_state=0).fit(X, np.arange(60) < 10)
print(model.predict_proba(X).shape)
"""
    assert run(environment, tmp_path, "python", "-W", "ignore", "-c", code) == "(60, 2)\n"


@pytest.mark.dist
def test_the_lowest_versions_are_those_of_the_metadata(environment, tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    code = "from importlib.metadata import requires; print(*requires('robustpu'), sep='\\n')"
    told = run(environment, tmp_path, "python", "-c", code).splitlines()
    assert {line for line in told if "extra" not in line} == {*project["dependencies"]}
