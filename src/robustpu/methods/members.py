"""Members of the default pool: what each is, and from which effort on it takes part."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustpu.methods.composition import networks
from robustpu.methods.effort import EFFORTS
from robustpu.methods.pretrained import PretrainedPUClassifier
from robustpu.methods.puet import PUExtraTreesClassifier
from robustpu.methods.voting import Named, PUVotingClassifier
from robustpu.pool.crossfit import MOST
from robustpu.pool.forests import MOST_POSITIVE, BoostingRanker, ForestRanker
from robustpu.pool.ridge import RidgeRanker
from robustpu.validation.names import suggest


class Member(NamedTuple):
    """A learner by the number of rows, the least effort that it takes part in, and its cost.

    A learner of scikit-learn's kind ranks rows, labelled (1) against unlabelled (0); a classifier
    of this library also gets the prior. Only the latter have the rest: ``cost`` is the time of a
    fit, in units of that of all rankers; it is fitted to at most ``most`` labelled, and unlabelled,
    rows; and from the prior ``default_from`` on it takes part in the default effort, too.
    """

    make: Callable[[int], Any]
    effort: str
    cost: float = 0.0
    most: int = MOST
    default_from: float = 1.0


# The cheapest first: with a time limit, those that come late may be left out.
MEMBERS: Final[Mapping[str, Member]] = {
    "logistic": Member(
        lambda n: make_pipeline(StandardScaler(), LogisticRegression(C=0.01)), "fast"
    ),
    "hinges": Member(lambda n: RidgeRanker("hinges"), "fast"),
    "laplacian": Member(lambda n: RidgeRanker("laplacian"), "fast"),
    "forest": Member(lambda n: ForestRanker(100), "default"),
    "boosting": Member(lambda n: BoostingRanker(8), "default"),
    "extra-trees": Member(
        lambda n: PUExtraTreesClassifier(max_samples=MOST_POSITIVE), "default", 0.4
    ),
    # Each network holds out another eighth of the rows, so all have out-of-fold scores.
    "robust-pu": Member(
        lambda n: PUVotingClassifier(
            networks(8, n, validation_fraction=1 / 8), validation_fraction=1 / 8
        ),
        "best",
        2.0,
        most=2_000,
        # Where most unlabelled rows are positive, rankers that take them as negative do worse.
        default_from=0.5,
    ),
    "pretrained": Member(lambda n: PretrainedPUClassifier(), "best", 8.0),
}


def members_of(effort: str, prior: float = 0.0) -> list[str]:
    """Names of the members that take part in a fit of this effort, with this prior.

    Examples
    --------
    >>> members_of("fast")
    ['logistic', 'hinges', 'laplacian']
    >>> sorted({*members_of("default", 0.6)} - {*members_of("default")})
    ['robust-pu']
    """
    limit = EFFORTS.index(effort)
    return [
        name
        for name, one in MEMBERS.items()
        if EFFORTS.index(one.effort) <= limit or (effort == "default" and prior >= one.default_from)
    ]


def named_members(members: Sequence[Any], n_rows: int = 1) -> Named:
    """Make ``(name, learner)`` of names of ``MEMBERS`` and of pairs.

    Examples
    --------
    >>> from sklearn.svm import LinearSVC
    >>> [name for name, _ in named_members(["forest", ("svm", LinearSVC())])]
    ['forest', 'svm']
    """
    wanted = (
        "members must hold names of robustpu.methods.members.MEMBERS, or pairs (name, classifier)"
    )
    if isinstance(members, str) or not isinstance(members, Sequence) or not members:
        raise ValueError(f"{wanted}; it is {members!r}.")
    found: list[tuple[str, Any]] = []
    for entry in members:
        if isinstance(entry, str):
            if entry not in MEMBERS:
                raise ValueError(f"{wanted}; there is no {entry!r}{suggest(entry, MEMBERS)}")
            found.append((entry, MEMBERS[entry].make(n_rows)))
            continue
        is_pair = isinstance(entry, Sequence) and len(entry) == 2 and isinstance(entry[0], str)
        if not is_pair or isinstance(entry[1], type) or not hasattr(entry[1], "fit"):
            raise ValueError(f"{wanted}; it holds {entry!r}.")
        if not any(hasattr(entry[1], name) for name in ("decision_function", "predict_proba")):
            raise ValueError(
                f"the member {entry[0]!r} has neither decision_function nor predict_proba, so it "
                "cannot rank rows."
            )
        found.append((entry[0], entry[1]))
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        raise ValueError(f"members need different names; they are {', '.join(names)}.")
    return found
