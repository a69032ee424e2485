"""Pages of the methods name only what the code has."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "methods").glob("*.md"))
SOURCE = ROOT / "src" / "robustpu"

pytestmark = pytest.mark.skipif(not PAGES, reason="not a checkout")


def code_cells(text):
    """Heads and cells of the columns of tables that tell where something is in the code."""
    head, answer = None, []
    for line in text.splitlines():
        if not line.startswith("|"):
            head = None
            continue
        # A | in a formula is written \|.
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        if head is None:
            head = cells
        answer += [cell for name, cell in zip(head, cells, strict=False) if name.startswith("code")]
    return answer


def module(name):
    for place in (f"robustpu.methods.{name}", f"robustpu.{name}"):
        if importlib.util.find_spec(place):
            return importlib.import_module(place)
    return None


def resolves(name, modules):
    """Whether one of the modules, a class of these, or the module in the name has it."""
    head, _, rest = name.partition(".")
    if rest and (home := module(head)):
        found = getattr(home, rest, None)
        # Not merely imported there.
        place = getattr(found, "__module__", None) or home.__name__
        return found is not None and place.startswith(home.__name__)
    classes = [
        kind
        for each in modules
        for kind in vars(each).values()
        if inspect.isclass(kind) and kind.__module__.startswith("robustpu")
    ]
    if rest:
        return any(
            hasattr(base, rest)
            for kind in classes
            for base in kind.__mro__
            if base.__name__ == head
        )
    if name.endswith("_"):
        homes = {inspect.getmodule(base) for kind in classes for base in kind.__mro__[:-1]}
        homes = {home for home in homes if home.__name__.startswith("robustpu")}
        return any(f"self.{name} =" in inspect.getsource(home) for home in homes)
    defined = [kind for kind in classes if kind.__module__ in {m.__name__ for m in modules}]
    return any(hasattr(place, name) for place in [*modules, *defined])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_code_that_tables_name_exists(page):
    text = " ".join(code_cells(page.read_text()))
    names = set(re.findall(r"`([^`]*)`", text))
    files = {name for name in names if name.endswith(".py")}
    for name in files:
        assert (SOURCE / name).exists() or (SOURCE / "methods" / name).exists(), name
    modules = [module(Path(name).stem) for name in sorted(files | {f"{page.stem}.py"})]
    # Parameters are named with their values.
    unknown = [n for n in names - files if "=" not in n and not resolves(n, modules)]
    assert not unknown


def test_what_does_not_exist_is_found():
    (spy,) = [module("spy")]
    assert resolves("SpyClassifier.pick_negatives", [spy])
    assert resolves("calibration.boundary", [spy])
    assert resolves("_draw", [spy])
    for name in ("_threshold_at", "two_step.matching_shift", "SpyClassifier._peck", "shoft_"):
        assert not resolves(name, [spy])
