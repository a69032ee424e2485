"""Learning from positive and unlabelled data, as scikit-learn estimators on PyTorch.

Names are imported when they are first used, so that ``import robustpu`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from robustpu import datasets as datasets
    from robustpu import hardness as hardness
    from robustpu import metrics as metrics
    from robustpu import pacing as pacing
    from robustpu import persist as persist
    from robustpu import results as results
    from robustpu import risks as risks
    from robustpu import tables as tables
    from robustpu import weighting as weighting
    from robustpu import workflow as workflow
    from robustpu.base.classifier import ChanceWarning as ChanceWarning
    from robustpu.base.classifier import CollapseWarning as CollapseWarning
    from robustpu.curriculum import Curriculum as Curriculum
    from robustpu.methods import all_methods as all_methods
    from robustpu.methods.auto import PUClassifier as PUClassifier
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
    from robustpu.methods.pretrained import PretrainedPUClassifier as PretrainedPUClassifier
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
    from robustpu.methods.voting import PUVotingClassifier as PUVotingClassifier
    from robustpu.methods.vpu import VPUClassifier as VPUClassifier
    from robustpu.pacing import Pacing as Pacing
    from robustpu.persist import ModelFolderError as ModelFolderError
    from robustpu.persist import load as load
    from robustpu.persist import save as save
    from robustpu.persist.mapping import map_parquet as map_parquet
    from robustpu.priors.estimation import PriorWarning as PriorWarning
    from robustpu.priors.estimation import estimate_prior as estimate_prior
    from robustpu.priors.scar import ScarCheck as ScarCheck
    from robustpu.priors.scar import check_scar as check_scar
    from robustpu.split import PUData as PUData
    from robustpu.split import make_pu as make_pu
    from robustpu.training.fit import fit_together as fit_together

_HOME = {
    "BaggingPUClassifier": "robustpu.methods.bagging",
    "ChanceWarning": "robustpu.base.classifier",
    "CollapseWarning": "robustpu.base.classifier",
    "Curriculum": "robustpu.curriculum",
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
    "PUClassifier": "robustpu.methods.auto",
    "PUData": "robustpu.split",
    "PUExtraTreesClassifier": "robustpu.methods.puet",
    "PUVotingClassifier": "robustpu.methods.voting",
    "PULNSClassifier": "robustpu.methods.pulns",
    "PUSBClassifier": "robustpu.methods.pusb",
    "PUbNClassifier": "robustpu.methods.pubn",
    "Pacing": "robustpu.pacing",
    "PretrainedPUClassifier": "robustpu.methods.pretrained",
    "PriorWarning": "robustpu.priors.estimation",
    "RobustPUClassifier": "robustpu.methods.robust_pu",
    "RobustPUMetaClassifier": "robustpu.methods.robust_pu_meta",
    "ScarCheck": "robustpu.priors.scar",
    "SelfPUClassifier": "robustpu.methods.self_pu",
    "SpyClassifier": "robustpu.methods.spy",
    "TEDnClassifier": "robustpu.methods.tedn",
    "UPUClassifier": "robustpu.methods.upu",
    "VPUClassifier": "robustpu.methods.vpu",
    "all_methods": "robustpu.methods",
    "check_scar": "robustpu.priors.scar",
    "estimate_prior": "robustpu.priors.estimation",
    "fit_together": "robustpu.training.fit",
    "load": "robustpu.persist",
    "make_pu": "robustpu.split",
    "map_parquet": "robustpu.persist.mapping",
    "save": "robustpu.persist",
}
_MODULES = (
    "datasets",
    "hardness",
    "metrics",
    "pacing",
    "persist",
    "results",
    "risks",
    "tables",
    "weighting",
    "workflow",
)
# Old names of modules, which warn once.
_RENAMED = {"study": "workflow"}

__all__ = sorted([*_HOME, *_MODULES])


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"robustpu.{name}")
    if name in _RENAMED:
        import warnings

        new = _RENAMED[name]
        text = f"robustpu.{name} is now robustpu.{new}; the old name will be removed."
        warnings.warn(text, FutureWarning, stacklevel=2)
        # The next use finds the module, and warns no more.
        return globals().setdefault(name, import_module(f"robustpu.{new}"))
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
