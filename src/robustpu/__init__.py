"""Learning from positive and unlabelled data, as scikit-learn estimators on PyTorch.

Names are imported when they are first used, so that ``import robustpu`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from robustpu import datasets as datasets
    from robustpu import hardness as hardness
    from robustpu import metrics as metrics
    from robustpu import pacing as pacing
    from robustpu import persist as persist
    from robustpu import risks as risks
    from robustpu import study as study
    from robustpu import tables as tables
    from robustpu import weighting as weighting
    from robustpu.base import CollapseWarning as CollapseWarning
    from robustpu.estimation import PriorWarning as PriorWarning
    from robustpu.estimation import estimate_prior as estimate_prior
    from robustpu.labels import AmbiguousLabelWarning as AmbiguousLabelWarning
    from robustpu.mapping import map_parquet as map_parquet
    from robustpu.methods import all_methods as all_methods
    from robustpu.methods.bagging import BaggingPUClassifier as BaggingPUClassifier
    from robustpu.methods.dist_pu import DistPUClassifier as DistPUClassifier
    from robustpu.methods.elkan_noto import ElkanNotoClassifier as ElkanNotoClassifier
    from robustpu.methods.genpu import GenPUClassifier as GenPUClassifier
    from robustpu.methods.lbe import LBEClassifier as LBEClassifier
    from robustpu.methods.nnpu import NNPUClassifier as NNPUClassifier
    from robustpu.methods.p3mix import P3MixCClassifier as P3MixCClassifier
    from robustpu.methods.p3mix import P3MixEClassifier as P3MixEClassifier
    from robustpu.methods.pebl import PEBLClassifier as PEBLClassifier
    from robustpu.methods.pn import PNClassifier as PNClassifier
    from robustpu.methods.pubn import PUbNClassifier as PUbNClassifier
    from robustpu.methods.puet import PUExtraTreesClassifier as PUExtraTreesClassifier
    from robustpu.methods.pulns import PULNSClassifier as PULNSClassifier
    from robustpu.methods.pusb import PUSBClassifier as PUSBClassifier
    from robustpu.methods.robust_pu import RobustPUClassifier as RobustPUClassifier
    from robustpu.methods.robust_pu_meta import RobustPUMetaClassifier as RobustPUMetaClassifier
    from robustpu.methods.self_pu import SelfPUClassifier as SelfPUClassifier
    from robustpu.methods.spy import SpyClassifier as SpyClassifier
    from robustpu.methods.tedn import TEDnClassifier as TEDnClassifier
    from robustpu.methods.upu import UPUClassifier as UPUClassifier
    from robustpu.methods.vpu import VPUClassifier as VPUClassifier
    from robustpu.pacing import Pacing as Pacing
    from robustpu.persist import ModelFolderError as ModelFolderError
    from robustpu.persist import load as load
    from robustpu.persist import save as save
    from robustpu.split import PUData as PUData
    from robustpu.split import make_pu as make_pu
    from robustpu.together import fit_together as fit_together

_HOME = {
    "AmbiguousLabelWarning": "robustpu.labels",
    "BaggingPUClassifier": "robustpu.methods.bagging",
    "CollapseWarning": "robustpu.base",
    "DistPUClassifier": "robustpu.methods.dist_pu",
    "ElkanNotoClassifier": "robustpu.methods.elkan_noto",
    "GenPUClassifier": "robustpu.methods.genpu",
    "LBEClassifier": "robustpu.methods.lbe",
    "ModelFolderError": "robustpu.persist",
    "NNPUClassifier": "robustpu.methods.nnpu",
    "P3MixCClassifier": "robustpu.methods.p3mix",
    "P3MixEClassifier": "robustpu.methods.p3mix",
    "PEBLClassifier": "robustpu.methods.pebl",
    "PNClassifier": "robustpu.methods.pn",
    "PUData": "robustpu.split",
    "PUExtraTreesClassifier": "robustpu.methods.puet",
    "PULNSClassifier": "robustpu.methods.pulns",
    "PUSBClassifier": "robustpu.methods.pusb",
    "PUbNClassifier": "robustpu.methods.pubn",
    "Pacing": "robustpu.pacing",
    "PriorWarning": "robustpu.estimation",
    "RobustPUClassifier": "robustpu.methods.robust_pu",
    "RobustPUMetaClassifier": "robustpu.methods.robust_pu_meta",
    "SelfPUClassifier": "robustpu.methods.self_pu",
    "SpyClassifier": "robustpu.methods.spy",
    "TEDnClassifier": "robustpu.methods.tedn",
    "UPUClassifier": "robustpu.methods.upu",
    "VPUClassifier": "robustpu.methods.vpu",
    "all_methods": "robustpu.methods",
    "estimate_prior": "robustpu.estimation",
    "fit_together": "robustpu.together",
    "load": "robustpu.persist",
    "make_pu": "robustpu.split",
    "map_parquet": "robustpu.mapping",
    "save": "robustpu.persist",
}
_MODULES = (
    "datasets",
    "hardness",
    "metrics",
    "pacing",
    "persist",
    "risks",
    "study",
    "tables",
    "weighting",
)

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"robustpu.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
