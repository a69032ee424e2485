"""The description of a class that a model folder may hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from robustpu.validation.schema import Reader


@dataclass(frozen=True)
class Kind:
    """A class by its module and name, and the readers of its fitted attributes.

    ``optional`` names attributes that may be missing. ``check`` returns what is wrong with the
    object as a whole, or None.
    """

    module: str
    name: str
    fitted: Mapping[str, Reader] = field(default_factory=dict)
    optional: frozenset[str] = frozenset({"feature_names_in_"})
    check: Callable[[Any], str | None] = lambda whole: None

    def load(self) -> type[Any]:
        """Import the class."""
        cls: type[Any] = getattr(import_module(self.module), self.name)
        return cls
