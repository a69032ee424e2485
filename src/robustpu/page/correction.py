"""How the self-correction went, round by round."""

from html import escape

from robustpu.page.axes import figure
from robustpu.page.lines import Course, Level, lines
from robustpu.page.reading import Part, number, numbers, part, parts, rows, text
from robustpu.page.ridges import ridges
from robustpu.page.wording import counted, percent


def correction(findings: Part) -> str:
    """Draw weights, thresholds, the rate of positive answers and the score, all by round.

    Below a sentence that unfolds it; unfolded already if the middle network gained by it, or if an
    alarm speaks of it.

    Parameters
    ----------
    findings
        See :func:`robustpu.page.render`.

    Returns
    -------
    html
        Cards in a fold; empty if the method has no rounds.
    """
    rounds = part(findings, "rounds")
    turns = [turn for turn in numbers(rounds, "round") if turn is not None]
    chosen = number(rounds, "chosen")
    edges = [edge for edge in numbers(rounds, "edges") if edge is not None]
    weights = [
        figure(
            f"Weights of {name} rows",
            ridges(edges, turns, rows(rounds, key), chosen, name=name, kind=kind),
            words,
        )
        for name, kind, key, words in (
            (
                "unlabelled",
                "cool",
                "weights_unlabeled",
                "Each line is a round. Hidden positives should stay at the left, near zero: they "
                "hardly count as negatives.",
            ),
            (
                "labelled positive",
                "warm",
                "weights_positive",
                "They should move to the right as the threshold grows. Those that stay at the left "
                "look like negatives.",
            ),
        )
    ]
    courses = _courses(findings, rounds, turns, chosen)
    cards = _panels("panels pair", weights) + _panels("panels", courses)
    if not cards:
        return ""
    is_open = " open" if _is_worth_seeing(findings, chosen) else ""
    return (
        f"<details{is_open}><summary>{escape(_taken(rounds))}</summary>\n"
        f'<p class="how">{escape(_explained(findings))}</p>\n{cards}</details>\n'
    )


def _is_worth_seeing(findings: Part, chosen: float | None) -> bool:
    """Whether the middle network gained by it, or an alarm is about what is seen here."""
    alarms = {text(each, "kind") for each in parts(findings, "alarms")}
    return chosen is None or chosen > 0 or "collapse" in alarms


def _panels(kind: str, cards: list[str]) -> str:
    inside = "".join(cards)
    return f'<div class="{kind}">\n{inside}</div>\n' if inside else ""


def _explained(findings: Part) -> str:
    """What is done in a round, and what came of it."""
    rounds, prior = part(findings, "rounds"), number(part(findings, "prior"), "value")
    turns = numbers(rounds, "round")
    chosen = number(rounds, "chosen")
    words = (
        "A row that is hard to call negative is probably a hidden positive. So rows are weighed by "
        "how easy they are, and the networks train on, round after round."
    )
    if chosen is None or chosen not in turns:
        return words
    words += f" The middle one of the rounds taken is {chosen:g}"
    rates = numbers(rounds, "predicted_rate")
    rate = dict(zip(turns, rates, strict=False)).get(chosen)
    if rate is None or prior is None:
        return f"{words}."
    return (
        f"{words}: it answers {percent(rate)} of the unlabelled rows positive, where "
        f"{percent(prior)} are expected."
    )


def _taken(rounds: Part) -> str:
    """How many networks gained by how many rounds."""
    counts = zip(numbers(rounds, "round"), numbers(rounds, "taken"), strict=False)
    taken = {turn: count for turn, count in counts if turn is not None and count}
    later = [turn for turn in taken if turn > 0]
    if not later and not taken:
        return "Each network takes its best round."
    everyone = counted(sum(taken.values()), "network")
    if not later:
        return f"Of {everyone} none gained by it: all are taken as they began, in round 0."
    span = f"round {min(later):g}"
    if len(later) > 1:
        span = f"rounds {min(later):g} to {max(later):g}"
    words = f"Each network takes its best round: of {everyone}, "
    if 0 not in taken:
        return f"{words}all gained by it and take {span}."
    return (
        f"{words}{counted(taken[0])} did not gain by it and stay as they began, in round 0; the "
        f"others take {span}."
    )


def _courses(findings: Part, rounds: Part, turns: list[float], chosen: float | None) -> list[str]:
    prior = part(findings, "prior")
    value, low, high = (number(prior, key) for key in ("value", "low", "high"))
    thresholds = [
        Course("unlabelled", "cool", numbers(rounds, "threshold_unlabeled")),
        Course("positive", "warm", numbers(rounds, "threshold_positive")),
    ]
    rate = [Course("answered", "warm", numbers(rounds, "predicted_rate"))]
    score = [Course("score", "cool", numbers(rounds, "score"))]
    level = None if value is None else Level("expected", value, low, high)
    return [
        figure(
            "Thresholds",
            lines(turns, thresholds, "Thresholds by round", chosen=chosen),
            "Below it a row counts as easy. It grows, so that harder rows join in.",
        ),
        figure(
            "Unlabelled rows answered positive",
            lines(turns, rate, "Share answered positive by round", level, chosen, is_share=True),
            "At the end of each round; of the last it is not noted. It should come near the share "
            "that is expected.",
        ),
        figure(
            "Score on held-out rows",
            lines(turns, score, "Score on held-out rows by round", chosen=chosen),
            "Accuracy, estimated without negatives: the mean of the networks.",
        ),
    ]
