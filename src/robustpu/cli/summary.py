"""The results of a fit on one screen, what can be acted on first."""

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from robustpu.cli.drawing import strip

if TYPE_CHECKING:
    from robustpu.results import Data, Metric, Results, SharePoint, TopK

WIDTH: Final = 79
METRICS: Final = {
    "precision": "precision",
    "recall": "recall",
    "auc": "AUC",
    "auc_of_labeled": "AUC of known",
}
SCENARIOS: Final = {
    "single-set": "found among these rows",
    "case-control": "added to these rows",
}
LISTS: Final = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000)
# Rows of the list, lengths of a list and shares of positives that are shown.
SUSPECTS: Final = 5
LENGTHS: Final = 4
SHARES: Final = 6
# Characters of the names of its rows, and of a value in a reason.
NAMES: Final = 18
VALUE: Final = 16


def summary(results: "Results") -> list[str]:
    """Lines of at most 79 characters: the headline, the list, how good it is, alarms, the data.

    Parameters
    ----------
    results
        Of a fit.
    """
    makers = (_headline, _list, _yield, _quality, _alarms, _data)
    parts = [make(results) for make in makers]
    return [line for part in parts if part for line in (*part, "")][:-1]


def wrapped(text: str, indent: str = "") -> list[str]:
    """A text in lines; further ones are indented.

    Examples
    --------
    >>> wrapped("a " * 41)[1]
    'a'
    """
    # Of a web address or a path nothing may be cut.
    return textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _headline(results: "Results") -> list[str]:
    from robustpu.charts.wording import CAVEAT, about, counted
    from robustpu.report.prospects import foremost
    from robustpu.scenario import from_to

    prior, rows = results.prior, counted(results.data.n_unlabeled, "unlabelled row")
    first = foremost(results.top, results.expected)
    start = "Start with the first rows of the list."
    if first is not None:
        start = f"Start with the first {first.k:,} rows of the list."
    if not results.beats_chance:
        return wrapped(
            f"No ranking of the {rows} that is shown to beat chance: nothing is promised of the "
            "list."
        )
    ends = ""
    if prior.low is not None and prior.high is not None:
        low, high = (about(share * results.data.n_unlabeled) for share in (prior.low, prior.high))
        ends = from_to(prior.low, low, high)
    if not prior.is_known:
        return wrapped(
            f"{start} How many of them are positive depends on the share of positives, which these "
            f"rows do not tell: of the {rows} {ends} may be positive. If you know the share "
            "roughly, give it, such as --prior 0.05; the list changes little. If not, check some "
            "rows: robustpu next."
        )
    if first is not None:
        start = (
            f"{start[:-1]}: about {first.expected:,.0f} of them are positive ({first.low:,.0f} to "
            f"{first.high:,.0f})."
        )
    if prior.source != "estimated":
        said = "from the range that you gave" if prior.source == "range" else "as you said"
        found = f" ({ends}, {said})" if ends else f", {said}"
        return wrapped(f"{start} Of the {rows} about {about(results.expected)} are{found}.")
    return wrapped(f"{start} Of the {rows} about {about(results.expected)} are ({ends}); {CAVEAT}.")


def _list(results: "Results") -> list[str]:
    """The first rows of the list, with their reasons."""
    suspects = results.suspects[:SUSPECTS]
    if not suspects:
        return []
    names = [suspect.id or f"row {suspect.row:,}" for suspect in suspects]
    wide = min(24, max(map(len, names)))
    lines = [f"   {'':{wide}}  score  raised most by"]
    for suspect, name in zip(suspects, names, strict=True):
        reasons = ", ".join(
            f"{each.column} = {_cut(each.value, VALUE) or '(missing)'}" for each in suspect.drivers
        )
        line = f"{suspect.rank:2} {_cut(name, wide):{wide}}  {suspect.score:5.2f}  {reasons}"
        lines.append(_cut(line, WIDTH))
    return lines


def _yield(results: "Results") -> list[str]:
    """How many positives the first rows of the list hold."""
    most = max(20.0, 2 * results.expected)
    tops = [top for top in results.top if top.k in LISTS and top.k <= most][-LENGTHS:]
    if not tops or not results.beats_chance:
        return []
    if not results.is_list_known:
        return _by_share(results, tops)
    rows = {
        "rows of the list": [f"{top.k:,}" for top in tops],
        "  positive, about": [f"{top.expected:,.0f}" for top in tops],
        "  90 % interval": [f"{top.low:,.0f} to {top.high:,.0f}" for top in tops],
    }
    wide = max(14, *(1 + len(cell) for cells in rows.values() for cell in cells))
    kept = (WIDTH - NAMES) // wide
    return [
        f"{name:{NAMES}}" + "".join(f"{cell:>{wide}}" for cell in cells[:kept])
        for name, cells in rows.items()
    ]


def _by_share(results: "Results", tops: Sequence["TopK"]) -> list[str]:
    from robustpu.charts.wording import percent

    places = [results.top.index(top) for top in tops]
    heads = "".join(f"{f'in first {top.k:,}':>15}" for top in tops)
    lines = [f"share of positives{heads}"]
    for point in _chosen(results):
        hits = "".join(f"{point.expected[place]:>15,.0f}" for place in places)
        share = percent(point.share).replace("\N{NO-BREAK SPACE}", " ")
        lines.append(f"{share:>18}{hits}")
    return lines


def _chosen(results: "Results") -> "Sequence[SharePoint]":
    """Shares to be shown: those that are possible, and one below."""
    points, low = results.sensitivity, results.prior.low or 0.0
    first = max(0, sum(point.share < low for point in points) - 1)
    return points[first:][:SHARES]


def _quality(results: "Results") -> list[str]:
    evaluation = results.evaluation
    if evaluation is None:
        return []
    found = {title: evaluation.metric(name) for name, title in METRICS.items()}
    known = {title: metric for title, metric in found.items() if metric is not None}
    remarks = [
        line
        for line in evaluation.remarks
        # The star may be that of a metric that is not shown here.
        if not line.startswith("*") or any(metric.clipped for metric in known.values())
    ]
    lines = [f"{'':13}0{'':14}0.5{'':14}1"]
    lines += [_metric_line(title, metric) for title, metric in known.items()]
    if_so = "the known positives were selected completely at random"
    if results.data.propensity is not None:
        if_so = f"the propensities in {results.data.propensity} are right"
    basis = f"Without negatives, {100 * evaluation.level:.0f} % intervals; they hold if {if_so}."
    return [*lines, *(line for text in (basis, *remarks) for line in wrapped(text, "  "))]


def _metric_line(title: str, metric: "Metric") -> str:
    drawn = strip(metric.value, metric.low, metric.high, width=32)
    star = " *" if metric.clipped else ""
    return f"{title:13}{drawn}  {metric.value:.2f}  {metric.low:.2f} to {metric.high:.2f}{star}"


def _alarms(results: "Results") -> list[str]:
    return [line for alarm in results.alarms for line in wrapped(f"Check: {alarm.text}", "  ")]


def _data(results: "Results") -> list[str]:
    from robustpu.charts.wording import counted

    data = results.data
    used = sum(column.features > 0 for column in results.columns)
    label = "" if data.label is None else f" ({data.label} = {data.positive})"
    lines = [
        f"{data.name}: {counted(data.n_positive, 'known positive')}{label} and "
        f"{counted(data.n_unlabeled, 'unlabelled row')}{_known(data)}, "
        f"{counted(used, 'column')} to learn from. "
        f"The known positives were {SCENARIOS[results.scenario]} (--scenario {results.scenario}).",
    ]
    important = [column.column for column in results.importance[:SUSPECTS]]
    if important:
        lines.append(f"Columns that count most: {', '.join(important)}.")
    return [line for text in lines for line in wrapped(text, "  ")]


def _known(data: "Data") -> str:
    """Known negatives and checked rows, if there are any."""
    from robustpu.charts.wording import counted

    words = f", {counted(data.n_negative, 'known negative')}" if data.n_negative else ""
    return words + (f" ({data.n_checked:,} rows were checked)" if data.n_checked else "")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
