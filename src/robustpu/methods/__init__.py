"""Methods: one paper a file."""

import json
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from robustpu.base.classifier import BasePUClassifier


class Method(NamedTuple):
    """A classifier, where it comes from, and what it needs.

    ``prior``: "yes" if training uses it, "no" if not; then it serves selection and alarms alone.
    ``labels``: "scar" if labels must be selected completely at random, "biased" if not.
    ``learner``: what it trains, "network", "any" for any scikit-learn classifier, "trees",
    "pretrained" for a network that is not trained any more, "ensemble" for several of these.
    """

    file: str
    kind: str
    paper: str
    prior: str
    labels: str
    learner: str


METHODS = {
    "auto": Method("auto", "PUClassifier", "-", "yes", "scar", "ensemble"),
    "pn": Method("pn", "PNClassifier", "-", "no", "scar", "network"),
    "upu": Method("upu", "UPUClassifier", "du Plessis et al. 2015", "yes", "scar", "network"),
    "nnpu": Method("nnpu", "NNPUClassifier", "Kiryo et al. 2017", "yes", "scar", "network"),
    "pusb": Method("pusb", "PUSBClassifier", "Kato et al. 2019", "yes", "biased", "network"),
    "pubn": Method("pubn", "PUbNClassifier", "Hsieh et al. 2019", "yes", "scar", "network"),
    "pulns": Method("pulns", "PULNSClassifier", "Luo et al. 2021", "no", "scar", "network"),
    "p3mix-e": Method("p3mix", "P3MixEClassifier", "Li et al. 2022", "no", "scar", "network"),
    "p3mix-c": Method("p3mix", "P3MixCClassifier", "Li et al. 2022", "no", "scar", "network"),
    "dist-pu": Method("dist_pu", "DistPUClassifier", "Zhao et al. 2022", "yes", "scar", "network"),
    "self-pu": Method("self_pu", "SelfPUClassifier", "Chen et al. 2020", "yes", "scar", "network"),
    "spy": Method("spy", "SpyClassifier", "Liu et al. 2002", "yes", "scar", "any"),
    "pebl": Method("pebl", "PEBLClassifier", "Yu et al. 2004", "yes", "scar", "any"),
    "genpu": Method("genpu", "GenPUClassifier", "Hou et al. 2018", "yes", "scar", "network"),
    "vpu": Method("vpu", "VPUClassifier", "Chen et al. 2020", "no", "scar", "network"),
    "tedn": Method("tedn", "TEDnClassifier", "Garg et al. 2021", "yes", "scar", "network"),
    "lbe": Method("lbe", "LBEClassifier", "Gong et al. 2021", "yes", "biased", "network"),
    "elkan-noto": Method(
        "elkan_noto", "ElkanNotoClassifier", "Elkan, Noto 2008", "yes", "scar", "any"
    ),
    "bagging": Method(
        "bagging", "BaggingPUClassifier", "Mordelet, Vert 2014", "yes", "scar", "any"
    ),
    "puet": Method("puet", "PUExtraTreesClassifier", "Wilton et al. 2022", "yes", "scar", "trees"),
    "pretrained": Method("pretrained", "PretrainedPUClassifier", "-", "no", "scar", "pretrained"),
    "robust-pu": Method(
        "robust_pu", "RobustPUClassifier", "Zhu et al. 2023", "yes", "scar", "network"
    ),
    "robust-pu-meta": Method(
        "robust_pu_meta", "RobustPUMetaClassifier", "Zhu et al. 2023", "yes", "scar", "any"
    ),
}


def all_methods() -> dict[str, "type[BasePUClassifier]"]:
    """Name the classifiers of this library.

    Returns
    -------
    methods
        Name, as in experiment files -> class.

    Examples
    --------
    >>> from robustpu import all_methods
    >>> all_methods()["nnpu"]().epochs
    100
    """
    return {
        name: getattr(import_module(_home(method)), method.kind) for name, method in METHODS.items()
    }


def fit_times() -> dict[str, float]:
    """Return the time of a fit of each method, as benchmarks/methods.py measured it.

    Returns
    -------
    times
        Name -> multiple of the time of PN.

    Examples
    --------
    >>> fit_times()["pn"]
    1.0
    """
    text = files("robustpu.methods").joinpath("times.json").read_text(encoding="utf-8")
    times: dict[str, float] = json.loads(text)
    return times


def _home(method: Method) -> str:
    return f"robustpu.methods.{method.file}"
