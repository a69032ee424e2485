"""Members of the default pool: what each is, and from which effort on it takes part."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustpu.pool.forests import BoostingRanker, ForestRanker
from robustpu.pool.ridge import RidgeRanker
from robustpu.validation.names import suggest

Named: TypeAlias = list[tuple[str, Any]]

EFFORTS: Final = ("fast", "default", "best")


class Member(NamedTuple):
    """A learner that ranks rows, labelled (1) against unlabelled (0), and its least effort."""

    make: Callable[[], Any]
    effort: str = "fast"


# The cheapest first: with a time limit, those that come late may be left out.
MEMBERS: Final[Mapping[str, Member]] = {
    "logistic": Member(lambda: make_pipeline(StandardScaler(), LogisticRegression(C=0.01))),
    "hinges": Member(lambda: RidgeRanker("hinges")),
    "laplacian": Member(lambda: RidgeRanker("laplacian")),
    "forest": Member(lambda: ForestRanker(100), "default"),
    "boosting": Member(lambda: BoostingRanker(8), "default"),
}


def members_of(effort: str) -> list[str]:
    """Names of the members that take part in a fit of this effort.

    Examples
    --------
    >>> members_of("fast")
    ['logistic', 'hinges', 'laplacian']
    """
    limit = EFFORTS.index(effort)
    return [name for name, one in MEMBERS.items() if EFFORTS.index(one.effort) <= limit]


def named_members(members: Sequence[Any]) -> Named:
    """Make ``(name, learner)`` of names of ``MEMBERS`` and of pairs.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> [name for name, _ in named_members(["forest", ("svm", LinearSVC())])]
    ['forest', 'svm']
    """
    wanted = "members must hold names of robustpu.pool.MEMBERS, or pairs (name, classifier)"
    if isinstance(members, str) or not isinstance(members, Sequence) or not members:
        raise ValueError(f"{wanted}; it is {members!r}.")
    found: Named = []
    for entry in members:
        if isinstance(entry, str):
            if entry not in MEMBERS:
                raise ValueError(f"{wanted}; there is no {entry!r}{suggest(entry, MEMBERS)}")
            found.append((entry, MEMBERS[entry].make()))
            continue
        is_pair = isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], str)
        if not is_pair or not hasattr(entry[1], "fit"):
            raise ValueError(f"{wanted}; it holds {entry!r}.")
        found.append((entry[0], entry[1]))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError(f"members need different names; they are {', '.join(names)}.")
    return found
