"""Methods: one paper a file."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robustpu.base import BasePUClassifier

_HOME = {
    "pn": ("robustpu.methods.pn", "PNClassifier"),
    "upu": ("robustpu.methods.upu", "UPUClassifier"),
    "nnpu": ("robustpu.methods.nnpu", "NNPUClassifier"),
    "pusb": ("robustpu.methods.pusb", "PUSBClassifier"),
    "pubn": ("robustpu.methods.pubn", "PUbNClassifier"),
    "pulns": ("robustpu.methods.pulns", "PULNSClassifier"),
    "p3mix-e": ("robustpu.methods.p3mix", "P3MixEClassifier"),
    "p3mix-c": ("robustpu.methods.p3mix", "P3MixCClassifier"),
    "dist-pu": ("robustpu.methods.dist_pu", "DistPUClassifier"),
    "self-pu": ("robustpu.methods.self_pu", "SelfPUClassifier"),
    "vpu": ("robustpu.methods.vpu", "VPUClassifier"),
    "tedn": ("robustpu.methods.tedn", "TEDnClassifier"),
    "lbe": ("robustpu.methods.lbe", "LBEClassifier"),
    "elkan-noto": ("robustpu.methods.elkan_noto", "ElkanNotoClassifier"),
    "bagging": ("robustpu.methods.bagging", "BaggingPUClassifier"),
    "robust-pu": ("robustpu.methods.robust_pu", "RobustPUClassifier"),
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
    return {name: getattr(import_module(home), kind) for name, (home, kind) in _HOME.items()}
