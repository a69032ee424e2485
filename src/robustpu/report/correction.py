"""How the self-correction went, round by round."""

from html import escape

from robustpu.charts.axes import figure
from robustpu.charts.wording import counted, percent
from robustpu.report.lines import Course, Level, lines
from robustpu.report.ridges import ridges
from robustpu.results import Prior, Results, Rounds


def correction(results: Results) -> str:
    """Draw weights, thresholds, the share of flagged rows and the score, all by round.

    All in a fold, which is open if the middle network gained by it, or if the model may have
    collapsed.

    Parameters
    ----------
    results
        See :func:`robustpu.report.render`.

    Returns
    -------
    html
        Cards in a fold; empty if the method has no rounds.
    """
    rounds = results.rounds
    if rounds is None:
        return ""
    weights = "".join(_weights(rounds))
    courses = "".join(_courses(rounds, results.prior))
    cards = _panels("panels pair", weights) + _panels("panels", courses)
    if not cards:
        return ""
    has_collapsed = "collapse" in {alarm.kind for alarm in results.alarms}
    is_open = " open" if rounds.best > 0 or has_collapsed else ""
    return (
        f"<details{is_open}><summary>{escape(_summary(rounds))}</summary>\n"
        f'<p class="how">{escape(_explained(rounds, results.prior))}</p>\n{cards}</details>\n'
    )


def _panels(kind: str, cards: str) -> str:
    return f'<div class="{kind}">\n{cards}</div>\n' if cards else ""


def _summary(rounds: Rounds) -> str:
    """Which rounds the networks keep."""
    n_best = {each.number: each.n_best for each in rounds.rounds if each.n_best}
    total = counted(sum(n_best.values()), "network")
    later = [number for number in n_best if number > 0]
    if not later:
        return f"The correction did not improve any of {total}: all keep round 0, before it."
    span = f"round {later[0]}" if len(later) == 1 else f"rounds {min(later)} to {max(later)}"
    if 0 not in n_best:
        return f"The correction improved all of {total}, which keep {span}."
    return (
        f"Each network keeps its best round: {counted(n_best[0])} of {total} keep round 0, before "
        f"the correction; the others keep {span}."
    )


def _explained(rounds: Rounds, prior: Prior) -> str:
    """What happens in a round, and what came of it."""
    words = (
        "A row that is hard to call negative is probably a hidden positive. So rows are weighted "
        "by how easy they are, and the networks train on, round after round. The middle one of "
        f"the best rounds is {rounds.best}"
    )
    flagged = next(each.flagged for each in rounds.rounds if each.number == rounds.best)
    if flagged is None:
        return f"{words}."
    return (
        f"{words}: {percent(flagged)} of the unlabelled rows are flagged after it, where "
        f"{percent(prior.value)} are expected to be positive."
    )


def _weights(rounds: Rounds) -> list[str]:
    numbers = [each.number for each in rounds.rounds]
    unlabeled = [each.weights_unlabeled for each in rounds.rounds]
    positive = [each.weights_positive for each in rounds.rounds]
    return [
        figure(
            "Weights of unlabelled rows",
            ridges(rounds.edges, numbers, unlabeled, rounds.best, name="unlabelled", kind="cool"),
            "Each line is a round. Hidden positives should stay at the left, near zero: they "
            "hardly count as negatives.",
        ),
        figure(
            "Weights of labelled positive rows",
            ridges(
                rounds.edges, numbers, positive, rounds.best, name="labelled positive", kind="warm"
            ),
            "They should move to the right as the threshold grows. Those that stay at the left "
            "look like negatives.",
        ),
    ]


def _courses(rounds: Rounds, prior: Prior) -> list[str]:
    numbers, best = [each.number for each in rounds.rounds], rounds.best
    thresholds = [
        Course("unlabelled", "cool", [each.threshold_unlabeled for each in rounds.rounds]),
        Course("positive", "warm", [each.threshold_positive for each in rounds.rounds]),
    ]
    flagged = [Course("flagged", "warm", [each.flagged for each in rounds.rounds])]
    score = [Course("score", "cool", [each.score for each in rounds.rounds])]
    level = Level("expected", prior.value, prior.low, prior.high)
    return [
        figure(
            "Thresholds",
            lines(numbers, thresholds, "Thresholds by round", best=best),
            "Below it a row counts as easy. It grows, so that harder rows are added.",
        ),
        figure(
            "Unlabelled rows that are flagged",
            lines(numbers, flagged, "Share flagged by round", level, best, is_share=True),
            "After each round; it is not measured after the last. It should approach the expected "
            "share.",
        ),
        figure(
            "Score on held-out rows",
            lines(numbers, score, "Score on held-out rows by round", best=best),
            "Accuracy, estimated without negatives: the mean of the networks.",
        ),
    ]
