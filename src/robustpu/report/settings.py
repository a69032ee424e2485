"""The learners, and what it takes to repeat the fit."""

from collections.abc import Mapping
from typing import Any, Final

from markupsafe import Markup

from robustpu.charts.wording import percent, took
from robustpu.report.markup import card, element, joined, strip, table
from robustpu.results import Results

TITLES: Final = {
    "logistic": "logistic regression",
    "hinges": "linear, with bends in each column",
    "laplacian": "similarity to other rows",
    "forest": "forest of decision trees",
    "boosting": "boosted decision trees",
    "extra-trees": "trees for positive and unlabelled rows",
    "robust-pu": "Robust-PU networks",
    "pretrained": "pretrained network",
}


def members(results: Results) -> Markup:
    """Write the members of the pool, the one with the largest weight first.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card; empty for other methods.
    """
    if not results.members:
        return Markup("")
    rows = [
        [TITLES.get(member.name, member.name), percent(member.weight), strip(member.weight)]
        for member in results.members
    ]
    words = (
        "Weights follow from how well each ranks known positives above unlabelled rows that it "
        "was not fitted to."
    )
    return card(
        "Learners and their weights", table(("learner", "weight", ""), rows, "weights"), words
    )


def settings(results: Results) -> Markup:
    """Write the command, the parameters of the method, options and versions.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.
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
    shell = element("pre", element("code", found.command), tabindex="0") if found.command else None
    return joined(shell, element("div", lists, class_="lists"))


def _list(title: str, entries: Mapping[str, Any]) -> Markup | None:
    rows = [
        [element("dt", name), element("dd", _text(value))]
        for name, value in entries.items()
        if value not in (None, "")
    ]
    return element("div", element("h4", title), element("dl", rows)) if rows else None


def _text(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)
