"""Loading modules on first use, so that short programs load only what they need."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def loaded_when_used(package: str) -> Callable[[str], ModuleType]:
    """A `__getattr__` for a package that imports its modules on first use.

    With `__getattr__ = loaded_when_used(__name__)` in `engine/__init__.py`, `from remembrancer import engine` loads no
    module; `engine.erase.erase(...)` loads `engine.erase`.
    """

    def __getattr__(name: str) -> ModuleType:  # noqa: N807  what it becomes
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return __getattr__
