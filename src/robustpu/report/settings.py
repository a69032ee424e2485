"""What it takes to repeat the fit."""

from collections.abc import Mapping
from html import escape
from typing import Any

from robustpu.charts.wording import took
from robustpu.results import Results


def settings(results: Results) -> str:
    """Write the command, the parameters of the method, options and versions.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A command and lists.
    """
    method, found = results.method, results.settings
    model = {
        "method": method.title,
        "class": method.class_name,
        "scenario": results.scenario,
        "seed": found.seed,
        "time": took(method.seconds),
    }
    lists = [
        _list("Model", model),
        _list("Parameters other than the defaults", method.parameters),
        _list("Options", found.options),
        _list("Versions", found.versions),
    ]
    shell = ""
    if found.command:
        shell = f'<pre tabindex="0"><code>{escape(found.command)}</code></pre>\n'
    return f'{shell}<div class="lists">\n{"".join(lists)}</div>\n'


def _list(title: str, entries: Mapping[str, Any]) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(_text(value))}</dd>\n"
        for name, value in entries.items()
        if value not in (None, "")
    )
    return f"<div><h3>{title}</h3>\n<dl>\n{rows}</dl></div>\n" if rows else ""


def _text(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
