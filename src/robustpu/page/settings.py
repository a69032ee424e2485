"""All that it takes to make the model again."""

from collections.abc import Mapping
from html import escape

from robustpu.page.reading import Part, pairs, part, text
from robustpu.page.wording import took


def settings(findings: Part) -> str:
    """Write the command, the method's parameters, options and versions.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        A command and lists; empty if nothing is known.
    """
    found, method = part(findings, "settings"), part(findings, "method")
    command = text(found, "command")
    seconds = method.get("seconds")
    own = {
        "method": text(method, "title") or text(method, "name"),
        "class": text(method, "class"),
        "scenario": text(findings, "scenario"),
        "seed": text(found, "seed"),
        "time": took(seconds) if isinstance(seconds, float) and 0 <= seconds < 1e9 else "",
    }
    lists = [
        _list("Model", own),
        _list("Parameters other than the defaults", pairs(method, "parameters")),
        _list("Options", pairs(found, "options")),
        _list("Versions", pairs(found, "versions")),
    ]
    inside = "".join(lists)
    shell = f'<pre tabindex="0"><code>{escape(command)}</code></pre>\n' if command else ""
    return shell + (f'<div class="lists">\n{inside}</div>\n' if inside else "")


def _list(title: str, found: Mapping[str, str]) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n"
        for name, value in found.items()
        if value
    )
    return f"<div><h3>{title}</h3>\n<dl>\n{rows}</dl></div>\n" if rows else ""
