"""Models on disk: folders without pickle, that are checked before they are used; ONNX files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robustpu.persist.description import Description as Description
    from robustpu.persist.description import describe as describe
    from robustpu.persist.description import read_attachment as read_attachment
    from robustpu.persist.errors import ModelFolderError as ModelFolderError
    from robustpu.persist.export import to_onnx as to_onnx
    from robustpu.persist.models import load as load
    from robustpu.persist.models import read_extra as read_extra
    from robustpu.persist.models import save as save

_HOME = {
    "Description": "description",
    "ModelFolderError": "errors",
    "describe": "description",
    "load": "models",
    "read_attachment": "description",
    "read_extra": "models",
    "save": "models",
    "to_onnx": "export",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'robustpu.persist' has no attribute {name!r}")
    return getattr(import_module(f"robustpu.persist.{_HOME[name]}"), name)
