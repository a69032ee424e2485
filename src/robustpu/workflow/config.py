"""What to fit: light, so that the command line can use it before anything heavy is imported."""

from dataclasses import dataclass
from typing import Final, Literal

Source = Literal["estimated", "given", "range", "count"]
DEFAULT_METHOD: Final = "auto"
# What `robustpu compare` compares if nothing is named.
COMPARED: Final = (DEFAULT_METHOD, "boosting", "logistic", "elkan-noto", "puet", "nnpu")
# Learners that take unlabelled rows as negatives: to be compared with, not to be fitted.
BASELINES: Final = ("boosting", "logistic")
TITLES: Final = {
    "boosting": "Boosting: unlabelled is negative",
    "logistic": "Logistic regression: unlabelled is negative",
    "auto": "Default pool",
    "pn": "PN: unlabelled is negative",
    "upu": "uPU",
    "nnpu": "nnPU",
    "pusb": "PUSB",
    "pubn": "PUbN",
    "pulns": "PULNS",
    "p3mix-e": "P3Mix-E",
    "p3mix-c": "P3Mix-C",
    "dist-pu": "Dist-PU",
    "self-pu": "Self-PU",
    "spy": "Spies",
    "pebl": "PEBL",
    "genpu": "GenPU",
    "vpu": "VPU",
    "tedn": "TEDn",
    "lbe": "LBE",
    "elkan-noto": "Elkan-Noto",
    "bagging": "PU bagging",
    "puet": "PU extra-trees",
    "pretrained": "Pretrained network",
    "robust-pu": "Robust-PU",
    "robust-pu-meta": "Robust-PU around any learner",
}

WANTED: Final = (
    "'auto', a share between 0 and 1 such as 0.2, the ends of one such as 0.02:0.05, or a count "
    "such as count:500"
)


@dataclass(frozen=True)
class FitConfig:
    """What to fit.

    Attributes
    ----------
    method
        A name of :data:`robustpu.methods.METHODS`.
    scenario, threshold
        As in :class:`robustpu.PUClassifier`.
    seed
        Seed of everything random.
    members
        Networks to average; None for the method's default.
    effort
        Of the default: a name or seconds, see :class:`robustpu.PUClassifier`.
    """

    method: str = DEFAULT_METHOD
    scenario: str = "case-control"
    threshold: float | str = 0.5
    seed: int = 0
    members: int | None = None
    effort: str | float = "default"

    @property
    def title(self) -> str:
        """The name of the method, for people."""
        return TITLES.get(self.method, self.method)


def parse_prior(asked: str | float) -> tuple[Source, tuple[float, ...]]:
    """Where the prior comes from, and its numbers: ("estimated", ()), ("given", (0.2,)).

    Examples
    --------
    >>> parse_prior("count:500"), parse_prior("0.02:0.05")
    (('count', (500.0,)), ('range', (0.02, 0.05)))
    """
    if asked == "auto":
        return "estimated", ()
    name, colon, text = str(asked).partition(":")
    try:
        if colon and name == "count" and int(text) > 0:
            return "count", (float(int(text)),)
        if colon and 0 <= float(name) < float(text) < 1:
            return "range", (float(name), float(text))
        if not colon and 0 < float(name) < 1:
            return "given", (float(name),)
    except ValueError:
        pass
    raise ValueError(f"the prior must be {WANTED}; it is {asked!r}.")
