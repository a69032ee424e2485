"""What is known of a class that a folder may hold."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from robustpu.persist.expect import Expect


@dataclass(frozen=True)
class Kind:
    """A class by its module and name, and what its attributes must be after a fit.

    ``optional`` names those that are not always there. ``check`` looks at the whole, and says what
    is wrong with it, or None.
    """

    module: str
    name: str
    fitted: Mapping[str, Expect] = field(default_factory=dict)
    optional: frozenset[str] = frozenset({"feature_names_in_"})
    check: Callable[[Any], str | None] = lambda whole: None

    def load(self) -> type[Any]:
        """Import the class."""
        cls: type[Any] = getattr(import_module(self.module), self.name)
        return cls
