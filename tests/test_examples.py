"""Every example runs, at a small size, and ends in a number or a picture."""

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tools.notebooks import NOTEBOOKS, text_of  # noqa: E402

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Capitals at the head of an example say how long it trains.
SMALL = {"EPOCHS": 2, "ROUNDS": 2, "N_MEMBERS": 1, "N_ROWS": 200, "N_TREES": 20}
SIZES = re.compile(r"^((?:[A-Z_]+, )*[A-Z_]+) = ([\d, ]+)$", flags=re.MULTILINE)

pytestmark = pytest.mark.skipif(not EXAMPLES, reason="not a checkout")


def small(found):
    names = found[1].split(", ")
    return f"{found[1]} = {', '.join(str(SMALL[name]) for name in names)}"


# Hardly trained, models collapse or are no better than chance.
@pytest.mark.filterwarnings(
    "ignore::robustpu.PriorWarning",
    "ignore::robustpu.CollapseWarning",
    "ignore::robustpu.ChanceWarning",
)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    source, n_sizes = SIZES.subn(small, path.read_text())
    assert n_sizes <= 1
    # What the gallery gives them too; it has no __file__.
    monkeypatch.setattr(sys, "argv", [str(path)])
    exec(compile(source, str(path), "exec"), {"__name__": "__main__"})
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.search(r"\d", last)
    for picture in re.findall(r'savefig\("(.*?)"', source):
        assert (tmp_path / picture).stat().st_size > 1000


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_short_and_says_what_it_shows(path):
    text = path.read_text()
    assert len(text.splitlines()) < 90
    title, underline, blank, first = text.removeprefix('"""\n').splitlines()[:4]
    assert underline == "=" * len(title)
    assert (blank, bool(first)) == ("", True)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_its_script(name):
    text = (ROOT / "examples" / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    assert text == text_of(name), "run python -m tools.notebooks"
    cells = json.loads(text)["cells"]
    code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    script = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
    script = re.sub(r'\A"""\n.*?"""\n', "", script, flags=re.DOTALL)
    script = re.sub(r"^# %%\n(#.*\n)*", "", script, flags=re.MULTILINE)
    assert code.split() == script.split()
