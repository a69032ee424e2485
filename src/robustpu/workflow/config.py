"""What to fit: light, so that the command line can use it before anything heavy is imported."""

from dataclasses import dataclass
from typing import Final

DEFAULT_METHOD: Final = "auto"
# What `robustpu compare` compares if nothing is named.
COMPARED: Final = (DEFAULT_METHOD, "nnpu", "puet", "elkan-noto", "pn")
TITLES: Final = {
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
