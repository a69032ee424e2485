"""What the ranking rests on: the members of the pool, and their weights."""

from html import escape
from typing import Final

from robustpu.charts.axes import figure
from robustpu.charts.wording import percent
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


def members(results: Results) -> str:
    """Write the members of the pool, the one with the largest weight first.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        A card with a table; empty for other methods.
    """
    if not results.members:
        return ""
    body = "".join(
        f'<tr><th scope="row">{escape(TITLES.get(member.name, member.name))}</th>'
        f"<td>{percent(member.weight)}</td><td>{percent(member.auc)}</td></tr>\n"
        for member in results.members
    )
    heads = "".join(
        f'<th scope="col">{head}</th>' for head in ("learner", "weight", "AUC of known positives")
    )
    table = (
        f'<table class="plain">\n<thead><tr>{heads}</tr></thead>\n<tbody>{body}</tbody></table>\n'
    )
    return figure(
        "Learners and their weights",
        table,
        "Weights follow from how well each ranks known positives above unlabelled rows that it "
        "was not fitted to.",
    )
