"""Measure the size of the core and the length of the way through one default fit.

    python tools/measure.py                          # this checkout
    PYTHONPATH=OTHER/src python tools/measure.py     # another one

Core: what a default fit can reach. Not core: tables, files, data sets, benchmarks, reports,
commands, and the pretrained network.
Code lines are lines with code on them: no blank lines, comments or docstrings.
"""

import ast
import io
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import robustpu

SOURCE = Path(robustpu.__file__).parent
NOT_CORE = (
    "bench",
    "charts",
    "cli",
    "datasets",
    "page",
    "pretrained",
    "persist",
    "report",
    "study",
    "tables",
    "workflow",
    "files",
    "__main__.py",
    "demo.py",
    "mapping.py",
    "plots.py",
    "results.py",
    "study.py",
    "versions.py",
)
# The pretrained network, and readers of stored data.
NOT_CORE_FILES = ("methods/pretrained.py", "validation/arrays.py", "validation/schema.py")
LONG = 40
# Of named tuples, and of the interpreter.
PUBLIC = ("_replace", "_fields", "_asdict", "_getframe")


def main() -> None:
    """Print the table."""
    files = [path for path in sorted(SOURCE.rglob("*.py")) if _is_core(path)]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    functions = [node for tree in trees.values() for node in _functions(tree)]
    rows: list[tuple[str, Any]] = [
        ("core modules", len(files)),
        ("core code lines", sum(code_lines(path) for path in files)),
        (f"core functions over {LONG} code lines", sum(map(_is_long, functions))),
        ("private accesses across objects", sum(map(private_accesses, trees.values()))),
    ]
    rows += list(one_fit().items())
    rows += [(f"parameters of {name}", count) for name, count in parameters().items()]
    for name, value in rows:
        print(f"{name:48}{value:>8}")


def _is_core(path: Path) -> bool:
    place = path.relative_to(SOURCE)
    return place.parts[0] not in NOT_CORE and place.as_posix() not in NOT_CORE_FILES


def code_lines(path: Path) -> int:
    """Count the lines of a file that hold code."""
    return len(_lines_of_code(path.read_text(encoding="utf-8")))


def _lines_of_code(text: str) -> set[int]:
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    skipped |= {tokenize.ENCODING, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - _docstring_lines(ast.parse(text))


def _docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return lines


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _is_long(function: ast.FunctionDef) -> bool:
    inside = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return len(set(inside) - _docstring_lines(function)) > LONG


def private_accesses(tree: ast.AST) -> int:
    """Count uses of a private attribute of another object than self, cls or super()."""

    def is_other(value: ast.expr) -> bool:
        if isinstance(value, ast.Name):
            return value.id not in ("self", "cls")
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id != "super"
        return True

    return sum(
        isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and node.attr not in PUBLIC
        and is_other(node.value)
        for node in ast.walk(tree)
    )


def parameters() -> dict[str, int]:
    """Count the parameters of the classes that matter most."""
    from robustpu import all_methods

    methods = all_methods()
    names = [name for name in ("auto", "robust-pu", "robust-pu-meta", "nnpu") if name in methods]
    counts = {methods[name].__name__: len(methods[name]().get_params(False)) for name in names}
    counts["the widest class"] = max(len(kind().get_params(False)) for kind in methods.values())
    return counts


def one_fit() -> dict[str, int]:
    """Count what one default fit on a small table passes through."""
    from sklearn import base

    from robustpu import all_methods

    methods = all_methods()
    model = methods.get("auto", methods["robust-pu"])(random_state=0)
    random = np.random.RandomState(0)
    X = random.randn(150, 4)
    y = (X[:, 0] + random.randn(150) > 0.7).astype(int)
    seen: set[tuple[str, str, int]] = set()
    calls = {"check_number": 0, "clone": 0, "check_parameters": 0}
    depth = 0

    def trace(frame: Any, event: str, argument: Any) -> None:
        nonlocal depth
        if event != "call":
            return
        code = frame.f_code
        if code is base.clone.__code__:
            calls["clone"] += 1
        if str(SOURCE) not in code.co_filename:
            return
        name = code.co_name.removeprefix("_")
        if name in calls and code is not base.clone.__code__:
            calls[name] += 1
        seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))
        if code.co_name == "gradient":
            depth = max(depth, frames_from_fit(frame))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced(trace, lambda: model.fit(X, y))
    names = [entry for entry in seen if not entry[1].rpartition(".")[2].startswith("<")]
    return {
        "modules in one default fit": len({file for file, _, _ in seen}),
        "functions in one default fit": len(names),
        "frames from fit to a gradient": depth,
        **{f"calls of {name} in one default fit": count for name, count in calls.items()},
    }


def frames_from_fit(frame: Any) -> int:
    """Count the frames from here up to the user's call of fit, those of torch included."""
    count = 0
    while frame is not None and frame.f_code.co_filename != __file__:
        count += 1
        frame = frame.f_back
    return count


def traced(trace: Callable[..., None], work: Callable[[], Any]) -> None:
    """Do some work with a profiler on."""
    sys.setprofile(trace)
    try:
        work()
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    main()
