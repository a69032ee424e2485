"""Models on disk: folders without pickle, that are checked before they are used; ONNX files."""

from robustpu.persist.description import Description, describe, read_attachment
from robustpu.persist.errors import ModelFolderError
from robustpu.persist.export import to_onnx
from robustpu.persist.models import load, read_extra, save

__all__ = [
    "Description",
    "ModelFolderError",
    "describe",
    "load",
    "read_attachment",
    "read_extra",
    "save",
    "to_onnx",
]
